// Machines in transitional states: how long each may take, what becomes of one that takes longer, and how long such
// passages usually are. Part of actuation.ts, which passes on every change of a machine.

import type { MachineStatus } from '../../fleet/index.ts';
import { type Machine, MachineState, RECLAIM_GRACE_SECONDS, stateName } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { MachineLedger } from '../inventory/machine-ledger.ts';
import type { ActuationLimits, TransitionalState } from './actuation-limits.ts';
import type { ActuationObserver, InTransition } from './actuation-types.ts';
import type { CallScheduler } from './call-scheduler.ts';
import { Deadlines } from './deadlines.ts';
import { DrainTimes } from './drain-times.ts';
import { PassageTimes } from './passage-times.ts';

export interface TransitionsParts {
  readonly ledger: MachineLedger;
  readonly scheduler: CallScheduler;
  readonly clock: Clock;
  readonly observer: ActuationObserver;
  readonly deadlineMs: ActuationLimits['deadlineMs'];
  /** Whether an action that no provider has accepted yet owns the machine. */
  readonly isInFlight: (machine: string) => boolean;
  readonly isStopped: () => boolean;
}

export class Transitions {
  readonly #parts: TransitionsParts;
  readonly #deadlines: Deadlines;
  readonly #drainTimes: DrainTimes;
  readonly #passageTimes = new PassageTimes();
  /** By machine: the state whose deadline it exceeded. It counts as Failed until the provider reports another state. */
  readonly #stuck = new Map<string, TransitionalState>();
  /** By machine: grace period in seconds of the drain in flight. */
  readonly #grace = new Map<string, number>();

  constructor(parts: TransitionsParts) {
    this.#parts = parts;
    this.#drainTimes = new DrainTimes((instanceType, seconds) =>
      parts.ledger.append({ kind: 'drain-seconds', of: { instanceType }, seconds }),
    );
    this.#deadlines = new Deadlines({
      clock: parts.clock,
      allowedMs: (id, state) => this.#allowedMs(id, state),
      overdue: (id, state, sinceMs) => this.#overdue(id, state, sinceMs),
      leftTransition: (id, from, to, seconds) => this.#leftTransition(id, from, to, seconds),
    });
  }

  /** The state that a machine did not leave in time; undefined if there is none. */
  stuckIn(machine: string): TransitionalState | undefined {
    return this.#stuck.get(machine);
  }

  notStuck(machine: string): void {
    this.#stuck.delete(machine);
  }

  /** A drain begins; its grace is added to the deadline. */
  draining(machine: string, graceSeconds: number): void {
    this.#grace.set(machine, graceSeconds);
  }

  moved(id: string, after: MachineStatus | null, seen: Machine | null): void {
    this.#deadlines.moved(id, after);
    if (after?.state !== MachineState.Draining) this.#grace.delete(id);
    if (after === null || (seen !== null && seen.state !== MachineState.Failed)) this.#stuck.delete(id);
  }

  /** The transitional state of a machine with its start and expected end; null if it is in a stable state. */
  passageOf(machine: string): InTransition | null {
    const passage = this.#deadlines.passageOf(machine);
    if (passage === null) return null;
    const { state, sinceMs } = passage;
    const usualMs = this.#passageTimes.usualMs(this.#parts.ledger.ownerOf(machine) ?? '', state);
    return { state, sinceMs, expectedByMs: usualMs === null ? null : sinceMs + usualMs };
  }

  #allowedMs(id: string, state: TransitionalState): number {
    const allowed = this.#parts.deadlineMs[state];
    if (state !== MachineState.Draining) return allowed;
    return allowed + (this.#grace.get(id) ?? RECLAIM_GRACE_SECONDS) * 1000;
  }

  #leftTransition(id: string, from: TransitionalState, to: MachineState, seconds: number): void {
    this.#parts.observer.leftTransition(id, from, to, seconds);
    const provider = this.#parts.ledger.ownerOf(id);
    if (provider !== undefined && to !== MachineState.Failed) this.#passageTimes.add(provider, from, seconds);
    if (from !== MachineState.Draining || to !== MachineState.Idle) return;
    const record = this.#parts.ledger.recordOf(id);
    if (record !== null) this.#drainTimes.add(record.instanceType, seconds);
  }

  /** The deadline of a transitional state expired: a Get decides what to do with the machine. */
  #overdue(id: string, state: TransitionalState, sinceMs: number): void {
    const { scheduler, ledger, clock, isInFlight, isStopped } = this.#parts;
    const provider = ledger.ownerOf(id);
    // An unaccepted action has its own timeouts and attempt limit.
    if (isInFlight(id) || provider === undefined || isStopped()) {
      this.#deadlines.extend(id);
      return;
    }
    scheduler.submit({
      provider,
      machine: id,
      request: { command: 'get' },
      ended: (outcome, began) => {
        const isStale = isInFlight(id) || !scheduler.isCurrent(id, began);
        if (isStale || ledger.statusOf(id)?.state !== state) return;
        if (outcome.kind === 'unknown-machine') ledger.lose(id);
        else if (outcome.kind !== 'found') this.#deadlines.extend(id);
        else if (outcome.machine.state !== state) ledger.observe(outcome.machine, provider, clock.now());
        else this.#failHere(outcome.machine, provider, state, (clock.now() - sinceMs) / 1000);
      },
    });
  }

  /** The provider neither ends nor fails the transition, so the shard records Failed: no row may count on the machine. */
  #failHere(machine: Machine, provider: string, state: TransitionalState, seconds: number): void {
    const { ledger, clock, observer } = this.#parts;
    const lastError = `The machine has been ${stateName(state)} for ${Math.round(seconds)} s.`;
    ledger.observe({ ...machine, state: MachineState.Failed, lastError }, provider, clock.now());
    this.#stuck.set(machine.id, state);
    observer.overdue(machine.id, state, seconds);
  }
}
