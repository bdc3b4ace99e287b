// How much of what rows want is served, on its way and missing, by resource and kind of hardware; and how much of the
// resources of Configured machines rows use. Computed from the claims of a cycle, row by row. Only clusters that the
// cycle served again, and rows that needed free machines, are read; the sums of all others are unchanged. The shard
// calls it after each cycle (planning/cycles.ts), for `/v1/status`.

import type { FleetView } from '../fleet/index.ts';
import { MachineState } from '../model/index.ts';
import { Credit } from './assign/credits.ts';
import { RowKind } from './assign/ranked-rows.ts';
import { hostedGangs } from './assign/unfilled.ts';
import type { Cycle } from './cycle.ts';
import { acceleratorsOf, HARDWARE, hardwareOf } from './hardware.ts';

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

  /** By index in HARDWARE. Slots of `without` are claimed, but not acquired; only rows that needed free machines claim them. */
  observe(cycle: Cycle, without: ReadonlySet<number>): readonly ServedHardware[] {
    const { fleet } = cycle;
    const { stride } = fleet.dimensions;
    const isNext = cycle === this.#cycle && cycle.number === this.#number + 1 && stride === this.#stride;
    if (!isNext) this.#settled.clear();
    this.#cycle = cycle;
    this.#number = cycle.number;
    this.#stride = stride;
    const account = new Account(cycle, without);
    for (const cluster of isNext ? cycle.served : fleet.clusters.sorted()) this.#settle(account, cluster);
    account.sums = emptySums(stride);
    for (const sums of this.#settled.values())
      for (let i = 0; i < sums.length; i++) account.sums[i]! += sums[i]!;
    for (const rankedRow of openRankedRows(cycle)) account.add(rankedRow);
    return HARDWARE.map((_, kind) => viewOf(account.sums, kind, fleet));
  }

  #settle(account: Account, cluster: number): void {
    const { credits, rankedRows } = account.cycle;
    account.sums = emptySums(this.#stride);
    const [start, end] = [rankedRows.start[cluster]!, rankedRows.end[cluster]!];
    for (let rankedRow = start; rankedRow < end; rankedRow++)
      if (credits.outcome[rankedRow] === Credit.Covered) account.add(rankedRow);
    if (start === end) this.#settled.delete(cluster);
    else this.#settled.set(cluster, account.sums);
  }
}

/** Ranked rows of the cycle that needed free machines. */
function* openRankedRows({ credits, fleet, rankedRows, result }: Cycle): Generator<number> {
  for (const cluster of fleet.clusters.sorted()) {
    for (let i = rankedRows.start[cluster]!; i < credits.pendingEnd[cluster]!; i++) yield credits.pending[i]!;
  }
  for (const unhosted of result.unhosted.values()) yield* unhosted;
}

/** Adds ranked rows to `sums`. */
class Account {
  readonly cycle: Cycle;
  sums: Float64Array = new Float64Array(0);
  readonly #without: ReadonlySet<number>;
  readonly #accelerators: readonly number[];
  readonly #deficits: ReadonlyMap<number, Float64Array>;
  /** By dimension: what the claims of the ranked row have yet to cover. */
  readonly #left: Float64Array;

  constructor(cycle: Cycle, without: ReadonlySet<number>) {
    this.cycle = cycle;
    this.#without = without;
    this.#accelerators = acceleratorsOf(cycle.fleet);
    this.#deficits = new Map(cycle.result.unmet.map(({ rankedRow, deficit }) => [rankedRow, deficit]));
    this.#left = new Float64Array(cycle.fleet.dimensions.stride);
  }

  add(rankedRow: number): void {
    const { fleet, rankedRows, result } = this.cycle;
    const { stride, count } = fleet.dimensions;
    const aggregate = fleet.demand.aggregate.data;
    const from = rankedRows.row[rankedRow]! * stride;
    const kind = hardwareOf(this.#accelerators, aggregate, from);
    const isSetAside = rankedRows.kind[rankedRow] === RowKind.SetAside;
    // Members that a fold does not host have ranked rows of their own.
    const needs =
      rankedRows.kind[rankedRow] === RowKind.Fold
        ? (result.hosted.get(rankedRow) ?? rankedRows.members[rankedRow]!)
        : 1;
    const deficit = this.#deficits.get(rankedRow);
    const counts = PARTS.length * KINDS * stride + kind * COUNTS;
    this.sums[counts]! += needs;
    if (isSetAside || deficit !== undefined) this.sums[counts + 1]! += needs;
    // The amounts of a row that is set aside are unknown.
    if (isSetAside) return;
    for (let d = 0; d < count; d++) {
      const wanted = aggregate[from + d]! * needs;
      // A row may lack a whole largest pod although its machines cover the sum.
      const missing = Math.min(wanted, deficit?.[d] ?? 0);
      this.#left[d] = wanted - missing;
      this.#addTo(WANTED, kind, d, wanted);
      this.#addTo(UNMET, kind, d, missing);
    }
    this.#addClaims(rankedRow, kind);
    if (deficit === undefined) this.sums[counts + 1]! += this.#lostNeeds(rankedRow, needs);
    for (let d = 0; d < count; d++) this.#addTo(UNMET, kind, d, this.#left[d]!);
  }

  /** How many of the Needs of a met ranked row are not met, because machines that they count on are not acquired. */
  #lostNeeds(rankedRow: number, needs: number): number {
    const { claims, fleet, rankedRows } = this.cycle;
    if (this.#without.size === 0) return 0;
    const slots = claims.of(rankedRow);
    const kept = slots.filter((slot) => !this.#without.has(slot));
    if (kept.length === slots.length) return 0;
    if (rankedRows.kind[rankedRow] !== RowKind.Fold) return 1;
    const row = rankedRows.row[rankedRow]!;
    const hosted = kept.reduce(
      (sum, slot) => sum + hostedGangs(fleet, fleet.machines.classOf[slot]!, row),
      0,
    );
    return Math.max(0, needs - hosted);
  }

  #addClaims(rankedRow: number, kind: number): void {
    const { slots, creditStart, creditEnd, laterStart, laterEnd } = this.cycle.claims;
    for (let i = creditStart[rankedRow]!; i < creditEnd[rankedRow]!; i++)
      this.#addClaim(rankedRow, kind, slots[i]!);
    for (let i = laterStart[rankedRow]!; i < laterEnd[rankedRow]!; i++)
      this.#addClaim(rankedRow, kind, slots[i]!);
  }

  #addClaim(rankedRow: number, kind: number, slot: number): void {
    if (this.#without.has(slot)) return;
    const { fleet, rankedRows } = this.cycle;
    const { machines, classes, demand, dimensions } = fleet;
    const offered = classes.allocatable.data;
    const c = machines.classOf[slot]!;
    const isServing = machines.state[slot] === MachineState.Configured;
    const hardware = hardwareOf(this.#accelerators, offered, c * dimensions.stride);
    const row = rankedRows.row[rankedRow]!;
    // A fold counts whole gangs; the remainder of a machine serves none.
    const gangs = rankedRows.kind[rankedRow] === RowKind.Fold ? hostedGangs(fleet, c, row) : null;
    for (let d = 0; d < dimensions.count; d++) {
      const left = this.#left[d]!;
      if (left === 0) continue;
      const room =
        gangs === null
          ? offered[c * dimensions.stride + d]!
          : gangs * demand.aggregate.data[row * dimensions.stride + d]!;
      const taken = Math.min(left, room);
      this.#left[d] = left - taken;
      this.#addTo(isServing ? SERVED : COMING, kind, d, taken);
      if (isServing) this.#addTo(USED, hardware, d, taken);
    }
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
