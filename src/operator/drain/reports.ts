// Reports of drains to the shard. A report is open until the shard shows that it has it: a new state of the machine, a
// withdrawal or a new instruction. Open ones are sent again after each hello.

import { excerpt } from '../../model/index.ts';
import { type NodeReport, NodeReport_Kind } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { ShardLink } from '../session/contract.ts';

const MAX_REASON_BYTES = 450;
const MAX_BLOCKERS = 20;
const MAX_BLOCKER_BYTES = 280;
const MAX_OPEN = 10_000;

export interface DrainOutcome {
  readonly machine: string;
  readonly instruction: string;
  readonly node: string;
  readonly providerId: string;
  readonly reason: string;
  readonly blockedBy: readonly string[];
}

export class DrainReports {
  readonly #link: ShardLink;
  /** By machine. */
  readonly #open = new Map<string, NodeReport>();

  constructor(link: ShardLink) {
    this.#link = link;
  }

  get open(): ReadonlyMap<string, NodeReport> {
    return this.#open;
  }

  drained(outcome: DrainOutcome): void {
    this.#send(outcome, NodeReport_Kind.KIND_DRAINED);
  }

  blocked(outcome: DrainOutcome): void {
    this.#send(outcome, NodeReport_Kind.KIND_DRAIN_BLOCKED);
  }

  close(machine: string): void {
    this.#open.delete(machine);
  }

  closeInstruction(instruction: string): void {
    for (const [machine, report] of [...this.#open])
      if (report.instructionId === instruction) this.#open.delete(machine);
  }

  connected(): void {
    for (const report of this.#open.values()) this.#link.sendNodeReport(report);
  }

  #send(
    { machine, instruction, node, providerId, reason, blockedBy }: DrainOutcome,
    kind: NodeReport_Kind,
  ): void {
    const report: NodeReport = {
      machineId: machine,
      kind,
      instructionId: instruction,
      nodeName: node,
      providerId,
      reason: excerpt(reason, MAX_REASON_BYTES),
      blockedBy: blockedBy.slice(0, MAX_BLOCKERS).map((name) => excerpt(name, MAX_BLOCKER_BYTES)),
    };
    if (this.#open.size >= MAX_OPEN && !this.#open.has(machine)) {
      const oldest = this.#open.keys().next().value;
      if (oldest !== undefined) this.#open.delete(oldest);
    }
    this.#open.set(machine, report);
    // Without a connection it waits for the next hello.
    if (this.#link.isConnected) this.#link.sendNodeReport(report);
  }
}
