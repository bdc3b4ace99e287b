// Actions that a provider has accepted, until the state of the machine shows their outcome: it reaches its goal,
// fails, returns, vanishes, or another actor moves it elsewhere. At most one per machine, which bounds their number.
// Part of actuation.ts.

import type { MachineStatus } from '../../fleet/index.ts';
import { type Machine, MachineState } from '../../model/index.ts';
import { isSoldOut } from '../inventory/sold-out.ts';
import type { ActionInFlight, MutationCommand } from './action-in-flight.ts';
import type { ActionOutcome } from './action-records.ts';

const { Speculative, Creating, Idle, Configuring, Configured, Draining, Deleting, Failed } = MachineState;

export class PendingActions {
  readonly #actions = new Map<string, ActionInFlight>();
  readonly #ended: (inFlight: ActionInFlight, outcome: ActionOutcome) => void;

  constructor(ended: (inFlight: ActionInFlight, outcome: ActionOutcome) => void) {
    this.#ended = ended;
  }

  get size(): number {
    return this.#actions.size;
  }

  get(machine: string): ActionInFlight | undefined {
    return this.#actions.get(machine);
  }

  values(): Iterable<ActionInFlight> {
    return this.#actions.values();
  }

  /** Adds an action when the provider accepts it; `now` is the state of its machine at that moment. */
  add(inFlight: ActionInFlight, now: MachineStatus | null, lastError: string): void {
    this.#actions.set(inFlight.action.machine, inFlight);
    this.#look(inFlight, now, lastError);
  }

  moved(machine: string, after: MachineStatus | null, seen: Machine | null): void {
    const inFlight = this.#actions.get(machine);
    if (inFlight !== undefined) this.#look(inFlight, after, seen?.lastError ?? '');
  }

  /** Ends the pending action of a machine because another action starts on it. */
  supersede(machine: string): void {
    const inFlight = this.#actions.get(machine);
    if (inFlight !== undefined) this.#end(inFlight, 'superseded');
  }

  #look(inFlight: ActionInFlight, after: MachineStatus | null, lastError: string): void {
    const outcome = outcomeOf(inFlight, after, lastError);
    if (outcome === null) return;
    if (after?.state === Failed) inFlight.message = lastError;
    else if (outcome === 'inventory_miss')
      inFlight.message = after === null ? 'The provider no longer has the machine.' : 'Its host is gone.';
    this.#end(inFlight, outcome);
  }

  #end(inFlight: ActionInFlight, outcome: ActionOutcome): void {
    this.#actions.delete(inFlight.action.machine);
    this.#ended(inFlight, outcome);
  }
}

type Sighted = MachineState | 'gone';

/**
 * The outcome of a command by the state of its machine; null: still in transition. An unlisted state means that another
 * actor moved the machine, and so does a state in `HERE` with a cluster other than the action's.
 */
const OUTCOMES: Readonly<Record<MutationCommand, ReadonlyMap<Sighted, ActionOutcome | null>>> = {
  create: new Map<Sighted, ActionOutcome | null>([
    [Creating, null],
    // Later actions may have moved it on already; in each of these states the host exists.
    ...([Idle, Configuring, Configured, Draining] as const).map((state) => [state, 'success'] as const),
    [Speculative, 'rolled_back'],
    ['gone', 'inventory_miss'],
  ]),
  configure: new Map<Sighted, ActionOutcome | null>([
    [Configuring, null],
    [Configured, 'success'],
    [Idle, 'transition_raced_to_idle'],
    [Speculative, 'inventory_miss'],
    ['gone', 'inventory_miss'],
  ]),
  drain: new Map<Sighted, ActionOutcome | null>([
    [Draining, null],
    [Idle, 'success'],
    [Configured, 'rolled_back'],
    [Speculative, 'inventory_miss'],
    ['gone', 'inventory_miss'],
  ]),
  delete: new Map<Sighted, ActionOutcome | null>([
    [Deleting, null],
    ...([Speculative, Creating, 'gone'] as const).map((state) => [state, 'success'] as const),
    [Idle, 'rolled_back'],
  ]),
};

/** By command that concerns a cluster: the states in which the machine must be in the action's cluster. */
const HERE: Readonly<Partial<Record<MutationCommand, ReadonlySet<Sighted>>>> = {
  configure: new Set<Sighted>([Configuring, Configured]),
  drain: new Set<Sighted>([Configured]),
};

/** The outcome of an action by the state of its machine; null: still in transition. */
export function outcomeOf(
  { command, action }: ActionInFlight,
  after: MachineStatus | null,
  lastError: string,
): ActionOutcome | null {
  if (after?.state === Failed) return failedAs(lastError);
  const sighted = after?.state ?? 'gone';
  const isElsewhere = HERE[command]?.has(sighted) === true && after?.cluster !== action.cluster;
  const outcome = OUTCOMES[command].get(sighted);
  return isElsewhere || outcome === undefined ? 'superseded' : outcome;
}

/** Outcome of an accepted action whose machine became Failed. */
export function failedAs(lastError: string): ActionOutcome {
  return isSoldOut(lastError) ? 'stock_out' : 'machine_failed';
}
