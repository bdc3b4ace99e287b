// Messages between the demand store's thread and its owner. Plain data.

import type { BaselineRow, DemandChanges, FirstSeenRow } from './demand-store.ts';

export interface DemandContent {
  readonly baselines: readonly BaselineRow[];
  readonly seen: readonly FirstSeenRow[];
}

export type ToDemandStore =
  | { readonly kind: 'write'; readonly writes: readonly DemandChanges[] }
  | { readonly kind: 'close' };

export type FromDemandStore =
  | { readonly kind: 'opened'; readonly content: DemandContent }
  /** The `count` oldest outstanding writes are durable. */
  | { readonly kind: 'written'; readonly count: number }
  | { readonly kind: 'failed'; readonly error: unknown };
