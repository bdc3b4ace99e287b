// Messages between the main thread (demand-store-thread.ts) and the demand store's thread (demand-store-worker.ts).

import type { Traffic } from '../../runtime/message-exchange.ts';
import type { BaselineRow, DemandChanges, FirstSeenRow } from './demand-store.ts';

export interface DemandContent {
  readonly baselines: readonly BaselineRow[];
  readonly seen: readonly FirstSeenRow[];
}

/** A request is answered when its changes are durable. */
export interface ToDemandStore extends Traffic {
  readonly item: { readonly kind: 'close' };
  readonly request: DemandChanges;
  readonly answer: undefined;
}

export interface FromDemandStore extends Traffic {
  readonly item: { readonly kind: 'opened'; readonly content: DemandContent };
  readonly request: never;
}
