// Drains of a simulated operator that announces them: which nodes it was told to drain, and what it has reported of
// them. A report is repeated after each hello until the node leaves or its drain is withdrawn. Part of operator.ts.

import type { Random } from '../../runtime/random.ts';
import {
  NodeReport,
  NodeReport_Kind,
  type ReclaimInstruction,
  type ReclaimWithdrawal,
} from '../../wire/gen/bigfleet/v1alpha1/shard.ts';

/** How a simulated operator drains. */
export interface DrainHabit {
  /** Share of drains, 0 to 1, that a disruption budget blocks until their grace is over. */
  readonly blocked: number;
}

/** A drain as it is noted on the node: a restarted operator goes on with it. */
export interface DrainNote {
  readonly instruction: string;
  /** null until the drain has ended. */
  readonly report: NodeReport | null;
}

const BUDGET = 'pdb/sim/blocked';

export class Drains {
  readonly #habit: DrainHabit;
  readonly #random: Random;
  readonly #send: (report: NodeReport) => void;
  /** By machine. */
  readonly #open: Map<string, DrainNote>;

  /** `notes` outlive a process of the operator. */
  constructor(
    habit: DrainHabit,
    random: Random,
    send: (report: NodeReport) => void,
    notes = new Map<string, DrainNote>(),
  ) {
    this.#habit = habit;
    this.#open = notes;
    this.#random = random;
    this.#send = send;
  }

  /** An instruction for a machine: returns whether a budget blocks the drain. A repeated one changes nothing. */
  started({ instructionId }: ReclaimInstruction, machine: string): boolean {
    const known = this.#open.get(machine);
    if (known?.instruction === instructionId)
      return known.report?.kind === NodeReport_Kind.KIND_DRAIN_BLOCKED;
    this.#open.set(machine, { instruction: instructionId, report: null });
    return this.#random.chance(this.#habit.blocked);
  }

  ended(machine: string, isDrained: boolean): void {
    const known = this.#open.get(machine);
    if (known === undefined) return;
    const report = reportOf(machine, known.instruction, isDrained);
    this.#open.set(machine, { ...known, report });
    this.#send(report);
  }

  /** Whether a drain has begun and not ended. */
  isUnfinished(machine: string): boolean {
    return this.#open.get(machine)?.report === null;
  }

  /** The node has left, or serves again. */
  forget(machine: string): void {
    this.#open.delete(machine);
  }

  /** Returns the machines that stay. */
  withdrawn({ instructionId, nodes }: ReclaimWithdrawal): readonly string[] {
    const staying = nodes.filter((machine) => this.#open.get(machine)?.instruction === instructionId);
    for (const machine of staying) this.#open.delete(machine);
    return staying;
  }

  /** Sends the open reports again. */
  repeat(): void {
    for (const { report } of this.#open.values()) if (report !== null) this.#send(report);
  }
}

function reportOf(machineId: string, instructionId: string, isDrained: boolean): NodeReport {
  return {
    ...NodeReport.decode(new Uint8Array()),
    ...{ machineId, instructionId },
    kind: isDrained ? NodeReport_Kind.KIND_DRAINED : NodeReport_Kind.KIND_DRAIN_BLOCKED,
    ...(isDrained ? {} : { reason: 'a budget allows no disruption', blockedBy: [BUDGET] }),
  };
}
