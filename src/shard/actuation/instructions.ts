// Reclaim instructions that an operator has not acknowledged. Each is sent again to every new session of its cluster
// until it is acknowledged, so it must be withdrawn once its machine has left the cluster or is no longer draining.
// Part of actuation.ts; action-executor.ts adds one when it first calls Drain.

import type { MachineStatus } from '../../fleet/index.ts';
import { type Action, MachineState } from '../../model/index.ts';
import type { Effect } from '../events.ts';

interface Instruction {
  readonly id: string;
  readonly cluster: string;
  readonly machine: string;
}

export class Instructions {
  readonly #emit: (effect: Effect) => void;
  readonly #byMachine = new Map<string, Instruction>();
  readonly #byId = new Map<string, Instruction>();

  constructor(emit: (effect: Effect) => void) {
    this.#emit = emit;
  }

  give(id: string, { cluster, machine, graceSeconds, preemptorPriority }: Action): void {
    const instruction = { id, cluster, machine };
    this.#byMachine.set(machine, instruction);
    this.#byId.set(id, instruction);
    const what = { cluster, machine, graceSeconds, preemptorPriority };
    this.#emit({ kind: 'instruct-reclaim', instruction: id, ...what });
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
    this.#emit({ kind: 'withdraw-reclaim', cluster, instruction: id });
  }

  #end({ id, machine }: Instruction): void {
    this.#byId.delete(id);
    this.#byMachine.delete(machine);
  }
}
