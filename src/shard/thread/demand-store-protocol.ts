// What the thread of the demand store and its owner tell each other. Plain data.

import type { BaselineRow, DemandChanges, FirstSeenRow } from '../hands/demand-store.ts';

export interface DemandContent {
  readonly baselines: readonly BaselineRow[];
  readonly seen: readonly FirstSeenRow[];
}

export type ToDemandStore =
  | { readonly kind: 'write'; readonly writes: readonly DemandChanges[] }
  | { readonly kind: 'close' };

export type FromDemandStore =
  | { readonly kind: 'opened'; readonly content: DemandContent }
  /** So many more writes are safe, the oldest first. */
  | { readonly kind: 'written'; readonly count: number }
  | { readonly kind: 'failed'; readonly error: unknown };
