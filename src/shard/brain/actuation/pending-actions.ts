// Actions that a provider has accepted, until the machine shows what became of them: it reaches the state it was to
// reach, fails, goes back, vanishes, or is taken elsewhere. One for each machine at most, so there are never more than
// machines.

import type { Standing } from '../../../fleet/index.ts';
import { type Machine, MachineState } from '../../../model/index.ts';
import { looksSoldOut } from '../../sold-out.ts';
import type { ActionOutcome } from './records.ts';
import type { MutationCommand, Task } from './task.ts';

const { Speculative, Creating, Idle, Configuring, Configured, Draining, Deleting, Failed } = MachineState;

export class PendingActions {
  readonly #tasks = new Map<string, Task>();
  readonly #ended: (task: Task, outcome: ActionOutcome) => void;

  constructor(ended: (task: Task, outcome: ActionOutcome) => void) {
    this.#ended = ended;
  }

  get size(): number {
    return this.#tasks.size;
  }

  get(machine: string): Task | undefined {
    return this.#tasks.get(machine);
  }

  values(): Iterable<Task> {
    return this.#tasks.values();
  }

  /** Takes an action over as the provider accepts it; `now` is how its machine is then. */
  add(task: Task, now: Standing | null, lastError: string): void {
    this.#tasks.set(task.action.machine, task);
    this.#look(task, now, lastError);
  }

  moved(machine: string, after: Standing | null, seen: Machine | null): void {
    const task = this.#tasks.get(machine);
    if (task !== undefined) this.#look(task, after, seen?.lastError ?? '');
  }

  /** Another action has the machine now. */
  supersede(machine: string): void {
    const task = this.#tasks.get(machine);
    if (task !== undefined) this.#end(task, 'superseded');
  }

  #look(task: Task, after: Standing | null, lastError: string): void {
    const outcome = outcomeOf(task, after, lastError);
    if (outcome === null) return;
    if (after?.state === Failed) task.message = lastError;
    else if (outcome === 'inventory_miss')
      task.message = after === null ? 'The provider no longer has the machine.' : 'Its host is gone.';
    this.#end(task, outcome);
  }

  #end(task: Task, outcome: ActionOutcome): void {
    this.#tasks.delete(task.action.machine);
    this.#ended(task, outcome);
  }
}

/** What a machine's state means for each command: null is still on its way. `gone`: the provider does not have it. */
const OUTCOMES: Readonly<
  Record<MutationCommand, (after: Standing | null, task: Task) => ActionOutcome | null>
> = {
  create: (after) => {
    switch (after?.state) {
      case undefined:
        return 'inventory_miss';
      case Creating:
        return null;
      case Speculative:
        return 'rolled_back';
      case Deleting:
        return 'superseded';
      default:
        // Whatever is done with it, there is a host.
        return 'success';
    }
  },
  configure: (after, { action }) => {
    switch (after?.state) {
      case undefined:
      case Speculative:
        return 'inventory_miss';
      case Configuring:
        return after!.cluster === action.cluster ? null : 'superseded';
      case Configured:
        return after!.cluster === action.cluster ? 'success' : 'superseded';
      case Idle:
        return 'transition_raced_to_idle';
      default:
        return 'superseded';
    }
  },
  drain: (after, { action }) => {
    switch (after?.state) {
      case undefined:
      case Speculative:
        return 'inventory_miss';
      case Draining:
        return null;
      case Idle:
        return 'success';
      case Configured:
        return after!.cluster === action.cluster ? 'rolled_back' : 'superseded';
      default:
        return 'superseded';
    }
  },
  delete: (after) => {
    switch (after?.state) {
      case undefined:
      case Speculative:
      case Creating:
        return 'success';
      case Deleting:
        return null;
      case Idle:
        return 'rolled_back';
      default:
        return 'superseded';
    }
  },
};

function outcomeOf(task: Task, after: Standing | null, lastError: string): ActionOutcome | null {
  if (after?.state === Failed) return failedAs(lastError);
  return OUTCOMES[task.command](after, task);
}

/** The provider took the order, and the machine failed. */
function failedAs(lastError: string): ActionOutcome {
  return looksSoldOut(lastError) ? 'stock_out' : 'machine_failed';
}
