// How much of what rows want is served, on its way and missing, by resource and kind of hardware; and how much of the
// resources of Configured machines rows use. Computed from what rows take of machines in a cycle, by claim or by share
// (takings.ts). Only clusters that the cycle served again, and rows that needed free machines, are read; the sums of all others are unchanged. The shard
// calls it after each cycle (planning/cycles.ts), for `/v1/status`.

import type { FleetView } from '../fleet/index.ts';
import { MachineState } from '../model/index.ts';
import { Credit } from './assign/credits.ts';
import { RowKind } from './assign/ranked-rows.ts';
import type { Cycle } from './cycle.ts';
import { acceleratorsOf, HARDWARE, hardwareOf } from './hardware.ts';
import { needsOf, type RowsOfCluster, Takings, type TakingsVisitor } from './takings.ts';

/** Parts of the sums. The first four are by kind of what the row wants, and `wanted` is the sum of the other three. */
const PARTS = ['wanted', 'served', 'coming', 'unmet', 'used'] as const;
type Part = (typeof PARTS)[number];
const [WANTED, SERVED, COMING, UNMET, USED] = PARTS.map((_, i) => i) as [
  number,
  number,
  number,
  number,
  number,
];
/** After the parts, by kind: the number of rows, and of unmet rows. */
const COUNTS = 2;
const KINDS = HARDWARE.length;
/** Machines of several kinds of hardware, or that do not serve yet. */
const MIXED = -1;

/**
 * By dimension. `served`: by Configured machines. `coming`: by machines that are joining, being bought or about to be.
 * `used`: what rows of any kind use of the resources of Configured machines of this kind.
 */
type ServedResources = Readonly<Record<Part, Float64Array>>;

/** Result for the rows that want one kind of hardware. */
export interface ServedHardware extends ServedResources {
  readonly needs: number;
  readonly unmetNeeds: number;
}

export class ServedTally {
  /** By cluster: sums over the rows that needed no free machines. */
  readonly #settled = new Map<number, Float64Array>();
  #stride = 0;
  /** The cycle observed last, and its number. */
  #cycle: Cycle | null = null;
  #number = 0;
  #account: Account | null = null;

  /** By index in HARDWARE. */
  observe(cycle: Cycle): readonly ServedHardware[] {
    const { fleet } = cycle;
    const { stride } = fleet.dimensions;
    const isNext = cycle === this.#cycle && cycle.number === this.#number + 1 && stride === this.#stride;
    if (!isNext) this.#settled.clear();
    this.#cycle = cycle;
    this.#number = cycle.number;
    this.#stride = stride;
    const takings = new Takings(cycle);
    const account = new Account(cycle);
    this.#account = account;
    for (const cluster of isNext ? cycle.served : fleet.clusters.sorted()) {
      account.sums = emptySums(stride);
      this.#add(takings, cluster, 'settled', account);
      const { start, end } = cycle.rankedRows;
      if (start[cluster] === end[cluster]) this.#settled.delete(cluster);
      else this.#settled.set(cluster, account.sums);
    }
    account.sums = emptySums(stride);
    for (const sums of this.#settled.values())
      for (let i = 0; i < sums.length; i++) account.sums[i]! += sums[i]!;
    for (const cluster of fleet.clusters.sorted()) this.#add(takings, cluster, 'open', account);
    return HARDWARE.map((_, kind) => viewOf(account.sums, kind, fleet));
  }

  /**
   * What the rows of one cluster use of the resources of Configured machines, by index in HARDWARE: its part of `used` of the
   * last observation. Rows use Configured machines of their own cluster only.
   */
  usedOf(cycle: Cycle, cluster: number): readonly Float64Array[] {
    if (cycle !== this.#cycle || cycle.number !== this.#number) this.observe(cycle);
    const account = this.#account!;
    account.sums = emptySums(this.#stride);
    this.#add(new Takings(cycle), cluster, 'open', account);
    const settled = this.#settled.get(cluster) ?? [];
    for (let i = 0; i < settled.length; i++) account.sums[i]! += settled[i]!;
    return HARDWARE.map((_, kind) => viewOf(account.sums, kind, cycle.fleet).used);
  }

  #add(takings: Takings, cluster: number, rows: RowsOfCluster, account: Account): void {
    takings.visitOthers(cluster, rows, account);
    // What each row takes of which machine is found by repeating the sharing of the cluster, which is needed only where the
    // machines differ in what they count for.
    if (!account.addLendersAlike(cluster, rows)) takings.visitLenders(cluster, rows, account);
  }
}

/** Adds ranked rows to `sums`. */
class Account implements TakingsVisitor {
  sums: Float64Array = new Float64Array(0);
  readonly #cycle: Cycle;
  readonly #accelerators: readonly number[];
  readonly #deficits: ReadonlyMap<number, Float64Array>;
  // The ranked row being added.
  #kind = 0;
  /** By dimension: what it has yet to take of its machines. */
  readonly #left: Float64Array;

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
    this.#accelerators = acceleratorsOf(cycle.fleet);
    this.#deficits = new Map(cycle.result.unmet.map(({ rankedRow, deficit }) => [rankedRow, deficit]));
    this.#left = new Float64Array(cycle.fleet.dimensions.stride);
  }

  begin(rankedRow: number): void {
    const { fleet, rankedRows } = this.#cycle;
    const { stride, count } = fleet.dimensions;
    const aggregate = fleet.demand.aggregate.data;
    const from = rankedRows.row[rankedRow]! * stride;
    const isSetAside = rankedRows.kind[rankedRow] === RowKind.SetAside;
    const needs = needsOf(this.#cycle, rankedRow);
    const deficit = this.#deficits.get(rankedRow);
    this.#kind = hardwareOf(this.#accelerators, aggregate, from);
    this.sums[this.#counts]! += needs;
    this.sums[this.#counts + 1]! += isSetAside || deficit !== undefined ? needs : 0;
    for (let d = 0; d < count; d++) {
      // The amounts of a row that is set aside are unknown.
      const wanted = isSetAside ? 0 : aggregate[from + d]! * needs;
      // A row may lack a whole largest pod although its machines cover the sum.
      const missing = Math.min(wanted, deficit?.[d] ?? 0);
      this.#left[d] = wanted - missing;
      this.#addTo(WANTED, this.#kind, d, wanted);
      this.#addTo(UNMET, this.#kind, d, missing);
    }
  }

  take(slot: number, amount: Float64Array): void {
    const { classes, dimensions, machines } = this.#cycle.fleet;
    const isServing = machines.state[slot] === MachineState.Configured;
    const offered = classes.allocatable.data;
    const hardware = hardwareOf(this.#accelerators, offered, machines.classOf[slot]! * dimensions.stride);
    for (let d = 0; d < dimensions.count; d++) {
      const taken = Math.min(this.#left[d]!, amount[d]!);
      if (taken === 0) continue;
      this.#left[d]! -= taken;
      this.#addTo(isServing ? SERVED : COMING, this.#kind, d, taken);
      if (isServing) this.#addTo(USED, hardware, d, taken);
    }
  }

  /**
   * Adds the rows of a cluster that share, if all machines that such rows of the cluster claim are Configured and of one
   * kind of hardware: then all that these rows have is served by that kind. Returns whether it is so.
   */
  addLendersAlike(cluster: number, rows: RowsOfCluster): boolean {
    const { credits, fleet, rankedRows, sharing } = this.#cycle;
    if (!sharing.isActive) return true;
    const isSettled = rows === 'settled';
    if (!isSettled && rankedRows.start[cluster] === credits.pendingEnd[cluster]) return true;
    const lenders: number[] = [];
    let hardware: number | null = null;
    for (let rankedRow = rankedRows.start[cluster]!; rankedRow < rankedRows.end[cluster]!; rankedRow++) {
      if (!sharing.lends(rankedRow)) continue;
      const isOfRows = (credits.outcome[rankedRow] === Credit.Covered) === isSettled;
      if (isOfRows) lenders.push(rankedRow);
      // Settled rows borrow from settled ones only.
      else if (isSettled) continue;
      hardware = this.#hardwareServing(rankedRow, hardware);
      if (hardware === MIXED) return false;
    }
    for (const rankedRow of lenders) {
      this.begin(rankedRow);
      for (let d = 0; d < fleet.dimensions.count; d++) {
        // Without a claim in the cluster there is nothing left to serve.
        if (hardware !== null) this.#addTo(USED, hardware, d, this.#left[d]!);
        this.#addTo(SERVED, this.#kind, d, this.#left[d]!);
      }
    }
    return true;
  }

  /** The hardware of the machines that a row claims, if they are Configured and of kind `before`, unless that is null; else `MIXED`. */
  #hardwareServing(rankedRow: number, before: number | null): number | null {
    const { claims, fleet } = this.#cycle;
    const { slots, creditStart, creditEnd, laterStart, laterEnd } = claims;
    const { classOf, state } = fleet.machines;
    if (laterEnd[rankedRow]! > laterStart[rankedRow]!) return MIXED;
    let hardware = before;
    for (let i = creditStart[rankedRow]!; i < creditEnd[rankedRow]!; i++) {
      const slot = slots[i]!;
      if (state[slot] !== MachineState.Configured) return MIXED;
      const from = classOf[slot]! * fleet.dimensions.stride;
      const of = hardwareOf(this.#accelerators, fleet.classes.allocatable.data, from);
      if (hardware !== null && of !== hardware) return MIXED;
      hardware = of;
    }
    return hardware;
  }

  end(): void {
    for (let d = 0; d < this.#cycle.fleet.dimensions.count; d++)
      this.#addTo(UNMET, this.#kind, d, this.#left[d]!);
  }

  /** Index of the number of rows of this kind; the number of unmet ones follows. */
  get #counts(): number {
    return PARTS.length * KINDS * this.#left.length + this.#kind * COUNTS;
  }

  #addTo(part: number, kind: number, d: number, amount: number): void {
    this.sums[(part * KINDS + kind) * this.#left.length + d]! += amount;
  }
}

function emptySums(stride: number): Float64Array {
  return new Float64Array(PARTS.length * KINDS * stride + KINDS * COUNTS);
}

function viewOf(
  sums: Float64Array,
  kind: number,
  { dimensions: { stride, count } }: FleetView,
): ServedHardware {
  const parts = PARTS.map((part, i) => {
    const from = (i * KINDS + kind) * stride;
    return [part, sums.slice(from, from + count)] as const;
  });
  const counts = PARTS.length * KINDS * stride + kind * COUNTS;
  return {
    ...(Object.fromEntries(parts) as Record<Part, Float64Array>),
    needs: sums[counts]!,
    unmetNeeds: sums[counts + 1]!,
  };
}
