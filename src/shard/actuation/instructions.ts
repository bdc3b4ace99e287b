// Reclaim instructions that an operator has not acknowledged. Each is sent again to every new session of its cluster
// until it is acknowledged, so it must be withdrawn once its machine has left the cluster or is no longer draining.
// Part of actuation.ts; action-executor.ts adds one when it first calls Drain.

import type { MachineStatus } from '../../fleet/index.ts';
import { type Action, MachineState, type Stamp } from '../../model/index.ts';
import type { DrainKind, Effect } from '../events.ts';

interface Instruction {
  readonly id: string;
  readonly cluster: string;
  readonly machine: string;
}

/**
 * Only a row of higher priority preempts: at its deadline the drain goes on. An unclaimed machine on hold may be picked by
 * any row; by one that does not outrank the machine's stamp it is taken like a reclaim.
 */
export function drainKindOf(
  { kind, reason, preemptorPriority }: Pick<Action, 'kind' | 'reason' | 'preemptorPriority'>,
  stamp: Pick<Stamp, 'priority'> | null,
): DrainKind {
  if (kind === 'Reclaim') return 'reclaim';
  if (reason !== 'phase2.excess') return 'preemption';
  const priority = stamp?.priority ?? null;
  return priority !== null && priority < preemptorPriority ? 'preemption' : 'excess';
}

export class Instructions {
  readonly #emit: (effect: Effect) => void;
  readonly #byMachine = new Map<string, Instruction>();
  readonly #byId = new Map<string, Instruction>();

  constructor(emit: (effect: Effect) => void) {
    this.#emit = emit;
  }

  /** `graceSeconds`: what is left of the grace of a drain that waited before a restart. */
  give(id: string, action: Action, drainKind: DrainKind, graceSeconds = action.graceSeconds): void {
    const { cluster, machine, preemptorPriority } = action;
    const instruction = { id, cluster, machine };
    this.#byMachine.set(machine, instruction);
    this.#byId.set(id, instruction);
    const what = { cluster, machine, graceSeconds, preemptorPriority, drainKind };
    this.#emit({ kind: 'instruct-reclaim', instruction: id, ...what });
  }

  /** The machine stays in its cluster, acknowledged or not: the operator is told to uncordon the node. */
  withdraw(id: string, { cluster, machine }: Pick<Action, 'cluster' | 'machine'>, why: string): void {
    const instruction = this.#byId.get(id);
    if (instruction !== undefined) this.#end(instruction);
    this.#emit({ kind: 'withdraw-reclaim', cluster, machine, instruction: id, staysBecause: why });
  }

  acked(id: string): void {
    const instruction = this.#byId.get(id);
    if (instruction !== undefined) this.#end(instruction);
  }

  /** Withdraws the instruction unless the machine still drains from the instruction's cluster. */
  moved(machine: string, after: MachineStatus | null): void {
    const instruction = this.#byMachine.get(machine);
    if (instruction === undefined) return;
    const { id, cluster } = instruction;
    if (after?.state === MachineState.Draining && after.cluster === cluster) return;
    this.#end(instruction);
    this.#emit({ kind: 'withdraw-reclaim', cluster, machine, instruction: id, staysBecause: null });
  }

  #end({ id, machine }: Instruction): void {
    this.#byId.delete(id);
    this.#byMachine.delete(machine);
  }
}
