// One cluster served by itself: what its rows would claim, and what that would cost, if some of its machines were to be
// replaced. Rows of other clusters are not served, so all free machines are available to it. Used by proposal.ts.

import type { FleetView } from '../../fleet/index.ts';
import { type CapacityType, type DecisionOptions, dollarsOfBucket, MachineState } from '../../model/index.ts';
import { serveCluster } from '../assign/credit.ts';
import { RowKind } from '../assign/ranked-rows.ts';
import { bucketsIn } from '../assign/sharing.ts';
import { Cycle } from '../cycle.ts';
import { Lanes } from '../parallel/lanes.ts';
import { SMALLEST_STEP, WorkerPool } from '../parallel/worker-pool.ts';

/** A row of the cluster; rows come in rank order. */
interface RowOutcome {
  /** Slots that it claims. */
  readonly claimed: readonly number[];
  readonly dollarsPerHour: number;
  /** Whether its machines may be replaced: a plain row without strict spread and without a group. */
  readonly isRenewable: boolean;
}

/** What the cluster would be like. */
interface Outcome {
  readonly rows: readonly RowOutcome[];
  readonly dollarsPerHour: number;
  readonly claimed: ReadonlySet<number>;
  readonly isMet: boolean;
  /** Whether it would bind Idle machines that are released before long if no row takes them. */
  readonly takesLeftovers: boolean;
}

export class WhatIf {
  readonly #cycle: Cycle;
  readonly #lanes: Lanes;
  #cluster = 0;
  #nowMs = 0;
  #options!: DecisionOptions;

  /** Its columns have room for all machines, so it is kept from cluster to cluster. */
  constructor(fleet: FleetView) {
    this.#cycle = new Cycle(fleet, null, false);
    const alone = new WorkerPool(this.#cycle, 1, SMALLEST_STEP);
    this.#lanes = new Lanes(this.#cycle, alone, { lanes: 1, retries: 0 });
  }

  /** Prepares questions about a cluster. Call `close` after them, before the fleet changes. */
  open(cluster: number, nowMs: number, options: DecisionOptions): void {
    this.#cluster = cluster;
    this.#nowMs = nowMs;
    this.#options = options;
    this.#cycle.foldable.refreshAnswers();
  }

  close(): void {
    this.#cycle.endOnly(this.#cluster);
  }

  /** Serves the cluster without these machines; null if that depends on rows of other clusters. */
  without(slots: Iterable<number>): Outcome | null {
    const cycle = this.#cycle;
    const retiring = new Set(Array.from(slots, (slot) => cycle.fleet.machines.idOf(slot)));
    cycle.beginOnly(this.#cluster, this.#nowMs, { ...this.#options, retiring });
    serveCluster(cycle, this.#cluster);
    if (cycle.credits.deferred[this.#cluster] === 1) {
      // Which rows fold may have been unknown; now it is known.
      cycle.foldable.answer();
      cycle.credits.undo(this.#cluster);
      serveCluster(cycle, this.#cluster);
    }
    if (cycle.credits.deferred[this.#cluster] === 1) return null;
    cycle.pass.open();
    this.#lanes.serve();
    return this.#outcome();
  }

  /** Dollars that a drain of a machine costs the row that claims it, or a row that borrows of it, in the last outcome. */
  reclamationDollars(slot: number): number {
    const { claims, sharing } = this.#cycle;
    const claimant = this.#cycle.profileOf(claims.claimedBy[slot]! - 1).reclamationDollars;
    return Math.max(claimant, dollarsOfBucket(bucketsIn(sharing.bucketsOf(slot)).reclamation));
  }

  /** Whether a machine is paid by the hour for as long as a cluster has it. Others are paid for in any case. */
  isPurchased(slot: number): boolean {
    const { classes, machines } = this.#cycle.fleet;
    const type = classes.capacityType[machines.classOf[slot]!] as CapacityType;
    return (this.#options.releaseHoldSeconds.get(type) ?? 0) > 0;
  }

  #outcome(): Outcome {
    const { fleet, rankedRows, result } = this.#cycle;
    const rows: RowOutcome[] = [];
    const claimed = new Set<number>();
    let dollarsPerHour = 0;
    for (let row = rankedRows.start[this.#cluster]!; row < rankedRows.end[this.#cluster]!; row++) {
      const outcome = this.#rowOutcome(row);
      rows.push(outcome);
      dollarsPerHour += outcome.dollarsPerHour;
      for (const slot of outcome.claimed) claimed.add(slot);
    }
    const takesLeftovers = [...claimed].some(
      (slot) => fleet.machines.state[slot] === MachineState.Idle && this.isPurchased(slot),
    );
    return { rows, dollarsPerHour, claimed, isMet: result.unmet.length === 0, takesLeftovers };
  }

  #rowOutcome(rankedRow: number): RowOutcome {
    const { claims, fleet, rankedRows } = this.#cycle;
    const { interruptionDollars } = this.#cycle.profileOf(rankedRow);
    const claimed = claims.of(rankedRow);
    let dollarsPerHour = 0;
    for (const slot of claimed) dollarsPerHour += this.#dollarsOf(slot, interruptionDollars);
    const isRenewable =
      rankedRows.kind[rankedRow] === RowKind.Plain && fleet.demand.grouped[rankedRows.row[rankedRow]!] === 0;
    return { claimed, dollarsPerHour, isRenewable };
  }

  /** The effective cost of a purchased machine; the price alone for a row that must not be interrupted. */
  #dollarsOf(slot: number, interruptionDollars: number): number {
    if (!this.isPurchased(slot)) return 0;
    const { classes, machines } = this.#cycle.fleet;
    const classNumber = machines.classOf[slot]!;
    const price = classes.price[classNumber]!;
    if (interruptionDollars === Number.POSITIVE_INFINITY) return price;
    return price + classes.probability[classNumber]! * interruptionDollars;
  }
}
