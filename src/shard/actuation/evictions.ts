// Drains that wait for their cluster, as actions: when they start, what the store keeps of them, how they go on after a
// restart, and what a withdrawn one leaves behind. drain-waits.ts has the waiting itself, with its deadlines and
// reports. Part of actuation.ts.

import type { MachineStatus } from '../../fleet/index.ts';
import { type Action, type Machine, MachineState } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { NodeReported } from '../events.ts';
import type { MachineFactsStore, StoredDrain } from '../inventory/machine-facts-store.ts';
import type { MachineLedger } from '../inventory/machine-ledger.ts';
import type { ActionExecutor } from './action-executor.ts';
import { type ActionInFlight, recordOf } from './action-in-flight.ts';
import type { ActionOutcome } from './action-records.ts';
import type { ActuationObserver } from './actuation-types.ts';
import type { DrainReporters } from './drain-reporters.ts';
import { DrainWaits } from './drain-waits.ts';
import type { Instructions } from './instructions.ts';
import { outcomeOf } from './pending-actions.ts';

/**
 * Protection after a report that names nothing that holds the node, such as one that the operator does not know it: the next
 * attempt may succeed. Shorter: attempts that fail at once follow each other closely.
 */
const UNHELD_PROTECTED_MS = 60_000;

export interface EvictionsParts {
  readonly ledger: MachineLedger;
  readonly clock: Clock;
  readonly observer: ActuationObserver;
  readonly machineFacts: MachineFactsStore;
  readonly instructions: Instructions;
  readonly reporters: DrainReporters;
  /** Whether a person has declared the cluster gone for good. */
  readonly isRetired: (cluster: string) => boolean;
  /** How long a machine is protected after its drain was withdrawn. */
  readonly protectedMs: number;
  /** A function, because the executor is made after this. */
  readonly executor: () => ActionExecutor;
  /** Makes the action of a stored drain again, and moves its machine. */
  readonly begin: (drain: StoredDrain, before: MachineStatus, provider: string) => ActionInFlight;
  readonly ended: (inFlight: ActionInFlight, outcome: ActionOutcome) => void;
  readonly inFlightOf: (machine: string) => ActionInFlight | undefined;
  /** Whether the shard is shutting down, or fenced. */
  readonly isStopped: () => boolean;
  /** Whether a freeze or a quarantine covers an action. */
  readonly isHeld: (action: Action) => boolean;
}

export class Evictions {
  readonly waits: DrainWaits;
  readonly #parts: EvictionsParts;

  constructor(parts: EvictionsParts) {
    this.#parts = parts;
    const { clock, observer, reporters, isRetired } = parts;
    this.waits = new DrainWaits({
      ...{ clock, reporters, isRetired },
      proceed: (inFlight) => parts.executor().proceed(inFlight),
      withdraw: (inFlight, why, isHeld) => this.#withdraw(inFlight, why, isHeld),
      ended: (inFlight, end, broken) =>
        observer.drainWaited(recordOf(inFlight), inFlight.drainKind!, end, broken),
    });
  }

  /** Marks a drain that has to wait. The caller saves the facts before it starts the action. */
  prepare(inFlight: ActionInFlight): void {
    const { id, action, about, startedMs } = inFlight;
    if (!this.waits.mustWait(action.cluster)) return;
    inFlight.stage = 'evicting';
    const untilMs = startedMs + action.graceSeconds * 1000;
    const drain = { id, action, about, startedMs, untilMs };
    this.#parts.machineFacts.note(action.machine, { drain, protectedUntilMs: null });
  }

  /** Goes on with a drain that waited before the restart of the shard, unless the machine has left meanwhile. */
  resume(machine: string, drain: StoredDrain): void {
    const { ledger, clock, machineFacts, instructions, isStopped, isHeld, begin, executor } = this.#parts;
    if (isStopped()) return;
    if (isHeld(drain.action)) {
      // It was called off, and the process ended before that was saved.
      machineFacts.note(machine, { drain: null });
      instructions.withdraw(drain.id, drain.action, 'A freeze or a quarantine covers the action.');
      return;
    }
    const before = ledger.statusOf(machine);
    const provider = ledger.ownerOf(machine);
    const isThere = before?.state === MachineState.Configured && before.cluster === drain.action.cluster;
    if (!isThere || provider === undefined) {
      machineFacts.note(machine, { drain: null });
      return;
    }
    const inFlight = begin(drain, before, provider);
    if (this.waits.isGone(drain.action.cluster)) executor().proceed(inFlight);
    else executor().evict(inFlight, Math.max(0, (drain.untilMs - clock.now()) / 1000));
  }

  /** The action of a machine has ended, or its provider has accepted the call: nothing is left to resume. */
  letGo(machine: string): void {
    const { machineFacts } = this.#parts;
    if (machineFacts.verdictsOn(machine).drain !== null) machineFacts.note(machine, { drain: null });
  }

  isProtected(machine: string): boolean {
    const { protectedUntilMs } = this.#parts.machineFacts.verdictsOn(machine);
    return protectedUntilMs !== null && protectedUntilMs > this.#parts.clock.now();
  }

  /**
   * A report of an operator. One on a drain that no action waits for, of a machine that stays in the cluster, is answered
   * with a withdrawal: the first one did not arrive, and the node would stay cordoned.
   */
  reported(event: NodeReported): void {
    if (event.what !== 'drained' && event.what !== 'drain-blocked') return;
    const { ledger, instructions, isStopped } = this.#parts;
    if (isStopped() || this.waits.reported(event)) return;
    const { machine, cluster, instruction } = event;
    const status = ledger.statusOf(machine);
    if (status?.state !== MachineState.Configured || status.cluster !== cluster || instruction === '') return;
    instructions.withdraw(instruction, { machine, cluster }, 'The shard does not wait for this drain.');
  }

  moved(id: string, before: MachineStatus | null, after: MachineStatus | null, seen: Machine | null): void {
    this.#endWait(id, after, seen);
    if (after !== null && after.cluster !== before?.cluster) this.#leftCluster(id);
  }

  /** A provider's record has moved a machine whose drain waits: the waiting is over. */
  #endWait(id: string, after: MachineStatus | null, seen: Machine | null): void {
    const { inFlightOf, ended } = this.#parts;
    const inFlight = inFlightOf(id);
    if (inFlight?.stage !== 'evicting' || this.waits.of(id) === null) return;
    const outcome = outcomeOf(inFlight, after, seen?.lastError ?? '');
    if (outcome === null) return;
    this.waits.forget(id);
    if (after?.state === MachineState.Failed) inFlight.message = seen?.lastError ?? '';
    ended(inFlight, outcome);
  }

  /** What is known of the node of a machine ends with its place in the cluster. */
  #leftCluster(id: string): void {
    const { machineFacts } = this.#parts;
    const { protectedUntilMs, node } = machineFacts.verdictsOn(id);
    if (protectedUntilMs !== null || node !== null)
      machineFacts.note(id, { protectedUntilMs: null, node: null });
  }

  #withdraw(inFlight: ActionInFlight, why: string, isHeld: boolean): void {
    const { clock, machineFacts, executor, protectedMs } = this.#parts;
    const ms = isHeld ? protectedMs : Math.min(protectedMs, UNHELD_PROTECTED_MS);
    machineFacts.note(inFlight.action.machine, { protectedUntilMs: clock.now() + ms });
    executor().withdraw(inFlight, why);
  }
}
