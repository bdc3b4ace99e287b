// Actions: what a plan asks the shard to do with one machine.

import type { NeedKey } from './need.ts';

/**
 * Bootstrap: Idle → bound. Provision: Speculative → created → bound. Preempt: drain for a row of higher
 * priority. Reclaim: drain, nobody needs it. Delete: give the host back.
 */
export type ActionKind = 'Bootstrap' | 'Provision' | 'Preempt' | 'Reclaim' | 'Delete';

export type ActionReason =
  | 'phase1.idle'
  | 'phase1.speculative'
  | 'phase2.inversion'
  | 'phase2.excess'
  | 'phase3.excess'
  | 'phase3.release';

export interface Action {
  readonly kind: ActionKind;
  readonly machine: string;
  /** Where to for Bootstrap and Provision, where from for Preempt and Reclaim, '' for Delete. */
  readonly cluster: string;
  readonly reason: ActionReason;
  /** Seconds to leave in; 0 unless Preempt or Reclaim. */
  readonly graceSeconds: number;
  /** Priority of the row a Preempt is for; 0 otherwise. */
  readonly preemptorPriority: number;
  /** The row it is for: Bootstrap, Provision, Preempt. It becomes the machine's in-flight target. */
  readonly need: NeedKey | null;
}
