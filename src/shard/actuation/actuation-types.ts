// Types of actuation's interface: its dependencies (`ActuationParts`, given by planning/controller.ts), its events for
// metrics and logs (`ActuationObserver`, telemetry/observers.ts) and its refusals (planning/cycles.ts). No code.

import type { Action, MachineState, NeedKey, Profile } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { DrainKind, Effect } from '../events.ts';
import type { MachineFactsStore } from '../inventory/machine-facts-store.ts';
import type { MachineLedger } from '../inventory/machine-ledger.ts';
import type { ActionOutcome, ActionRecord } from './action-records.ts';
import type { ActuationLimits, TransitionalState } from './actuation-limits.ts';
import type { CallScheduler } from './call-scheduler.ts';
import type { DrainReporterStore } from './drain-reporters.ts';
import type { DrainEnd } from './drain-waits.ts';

/**
 * Why an action was refused. The ledger is unchanged, so the next cycle may decide the action again. These are also words
 * of the API (`heldBack`) and the journal, so they do not change.
 */
export type Refusal =
  /** Another action on the machine is in flight. */
  | 'deduped'
  /** The provider's queue already has `queuePerProvider` actions. */
  | 'dropped'
  /** The machine is blocked (see blocked-machines.ts), or its provider is being probed after a denial. */
  | 'held'
  /** The shard was fenced or is shutting down. */
  | 'stopped'
  | Extract<ActionOutcome, 'stale_state' | 'inventory_miss' | 'missing_profile' | 'no_session'>;

/** A machine in a transitional state. */
export interface InTransition {
  readonly state: TransitionalState;
  readonly sinceMs: number;
  /** `sinceMs` plus the provider's median time in this state; null if no median is known. */
  readonly expectedByMs: number | null;
}

export interface RefusedAction {
  readonly action: Action;
  readonly why: Refusal;
}

/** For metrics and logs. */
export interface ActuationObserver {
  started(record: ActionRecord): void;
  ended(record: ActionRecord): void;
  /** A machine left the transitional state `from` after `seconds`. */
  leftTransition(machine: string, from: TransitionalState, to: MachineState, seconds: number): void;
  bootstrapAnswered(seconds: number): void;
  /** A drain that waited for its cluster goes on, or does not. `brokenBudgets`: those that a preemption did not respect. */
  drainWaited(record: ActionRecord, kind: DrainKind, end: DrainEnd, brokenBudgets: readonly string[]): void;
  /** A machine exceeded the deadline of a transitional state, and the shard records it as Failed. */
  overdue(machine: string, state: TransitionalState, seconds: number): void;
}

export interface ActuationParts {
  readonly ledger: MachineLedger;
  readonly scheduler: CallScheduler;
  readonly machineFacts: MachineFactsStore;
  readonly drainReporters: DrainReporterStore;
  /** Whether a person has declared the cluster gone for good. */
  readonly isRetired: (cluster: string) => boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: (effect: Effect) => void;
  /** The profile of a row, or of the rows of a fold; undefined if no cluster reports the row. */
  readonly profileOf: (key: NeedKey) => Profile | undefined;
  readonly limits: ActuationLimits;
  readonly observer: ActuationObserver;
  /** Prefix of action ids: an id must not repeat one from an earlier start of the shard. */
  readonly epoch: bigint;
}
