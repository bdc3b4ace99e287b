// Sharing of machines between rows of a cluster (E1 of docs/internals/engine.md): a row first borrows what better-ranked rows
// left over, and enters what its own claims leave over. Remainders depend only on claims, so they are not kept: they are
// built up while a cluster is credited, and replayed from its claims for the pass over the free machines and for
// verdicts. Part of a `Cycle`; credit.ts and serve.ts call `borrow` and `lend` for each row in its turn.

import { ColumnGroup } from '../../collections/table.ts';
import { MAX_DIMENSIONS } from '../../fleet/index.ts';
import { NO_REMAINDERS, type Profile, type RemainderCounts } from '../../model/index.ts';
import type { Cycle } from '../cycle.ts';
import { Credit } from './credits.ts';
import { drainingFor } from './in-flight.ts';
import { NONE, RowKind } from './ranked-rows.ts';
import { type Borrower, type Floor, Remainders } from './remainders.ts';
import type { Unfilled } from './unfilled.ts';

/** A part of a machine that a row borrows. */
export interface Share {
  readonly slot: number;
  readonly amount: Float64Array;
}

/** A machine that rows borrowed from, with its buckets before. */
type Lent = readonly [slot: number, interruption: number, reclamation: number];

/** What rows of one lane borrowed in the pass. */
export interface LanePart {
  readonly borrowers: readonly number[];
  readonly lent: readonly Lent[];
}

/** Called for the lenders of a cluster in rank order; an `amount` is valid during the call. */
export interface LenderVisitor {
  /** A row, before what it borrows and what it takes of its claims. */
  row(rankedRow: number): void;
  borrowed(slot: number, amount: Float64Array): void;
  filled?(slot: number, amount: Float64Array): void;
}

/** The remainders of one cluster at some point of Phase 1. */
interface ClusterRemainders {
  readonly list: Remainders;
  /** What machines that drain for better-ranked rows will leave over. */
  readonly leftovers: Remainders;
  /** First ranked row of the cluster, and by ranked row from there: the smallest remainder that it or a later row could use. */
  start: number;
  floors: Float64Array;
}

const KEEP_ALL: Floor = { amounts: new Float64Array(MAX_DIMENSIONS), at: 0 };

export class Sharing {
  readonly #cycle: Cycle;

  readonly byOption = new ColumnGroup(this);
  /** One entry: 1 if rows share machines. A column, because worker threads read it. */
  readonly isOn = this.byOption.u8();

  readonly bySlot = new ColumnGroup(this);
  /** Highest buckets of the rows that borrow from the machine, plus one; 0 for none. A loss of it would cost them as well. */
  readonly interruptionBucket = this.bySlot.u8();
  readonly reclamationBucket = this.bySlot.u8();

  /** Of the cluster being credited. */
  readonly #credited: ClusterRemainders;
  /** Of the cluster being visited. */
  readonly #visited: ClusterRemainders;
  /** Of clusters with rows in the pass, by cluster. */
  #inPass = new Map<number, ClusterRemainders>();
  /** Ranked rows that borrowed in the pass. */
  readonly #borrowersInPass = new Set<number>();
  /** Machines that rows borrowed from in the pass, with their buckets before. */
  readonly #lentInPass: Lent[] = [];
  /** Those that the row being served uses; null if it is no lender. */
  #current: ClusterRemainders | null = null;
  /** A lender of the cluster being credited waits for the pass, so all later lenders do. */
  #waits = false;
  /** What the row being served wants beyond what it borrowed, and whether it borrowed anything. */
  readonly #want = new Float64Array(MAX_DIMENSIONS);
  #hasBorrowed = false;
  #unfilled: Unfilled | null = null;
  #profile: Profile | null = null;
  #visitor: LenderVisitor | null = null;
  /** By explained ranked row. */
  readonly #counts = new Map<number, RemainderCounts>();
  /** By cluster: shares of its ranked rows, in this cycle. */
  #sharesOf = new Map<number, ReadonlyMap<number, readonly Share[]>>();
  #claimed = new Uint32Array(16);

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
    this.#credited = this.#empty(0);
    this.#visited = this.#empty(0);
  }

  #empty(start: number): ClusterRemainders {
    const { fleet } = this.#cycle;
    return {
      list: new Remainders(fleet),
      leftovers: new Remainders(fleet),
      start,
      floors: new Float64Array(0),
    };
  }

  /** Begins a cycle; returns whether the option has changed, so that all clusters must be served again. */
  beginCycle(isOn: boolean): boolean {
    this.byOption.reserve(1);
    const changed = (this.isOn[0] === 1) !== isOn;
    this.isOn[0] = isOn ? 1 : 0;
    this.#sharesOf = new Map();
    this.#counts.clear();
    this.#current = null;
    return changed;
  }

  /** Makes room for all machines. */
  reserve(): void {
    if (this.isActive) this.bySlot.reserve(this.#cycle.fleet.machines.size);
  }

  /** Begins the pass of a lane that shares the columns with others. */
  beginLane(): void {
    this.#inPass = new Map();
    this.#borrowersInPass.clear();
    this.#lentInPass.length = 0;
    this.#current = null;
  }

  /** What rows of this lane borrowed in the pass, for the cycle that undoes it. */
  get lanePart(): LanePart {
    return { borrowers: [...this.#borrowersInPass], lent: this.#lentInPass };
  }

  /** Adds what rows of another lane borrowed. */
  merge({ borrowers, lent }: LanePart): void {
    for (const rankedRow of borrowers) this.#borrowersInPass.add(rankedRow);
    for (const entry of lent) this.#lentInPass.push(entry);
  }

  /** Undoes what the pass did. */
  undoPass(): void {
    this.#inPass = new Map();
    this.#borrowersInPass.clear();
    for (const [slot, interruption, reclamation] of this.#lentInPass.reverse()) {
      this.interruptionBucket[slot] = interruption;
      this.reclamationBucket[slot] = reclamation;
    }
    this.#lentInPass.length = 0;
  }

  get isActive(): boolean {
    return this.isOn[0] === 1;
  }

  lends(rankedRow: number): boolean {
    const kind = this.#cycle.rankedRows.kind[rankedRow];
    return this.isActive && (kind === RowKind.Plain || kind === RowKind.Spread);
  }

  /** A borrower is a lender without strict spread and without a group. */
  #borrows(rankedRow: number): boolean {
    const { kind, row } = this.#cycle.rankedRows;
    return (
      this.isActive &&
      kind[rankedRow] === RowKind.Plain &&
      this.#cycle.fleet.demand.grouped[row[rankedRow]!] === 0
    );
  }

  /** Begins crediting a cluster. */
  openCluster(cluster: number): void {
    if (!this.isActive) return;
    const remainders = this.#credited;
    const walk = this.#cycle.walk.begin(cluster);
    for (let slot = walk.next(); slot !== NONE; slot = walk.next())
      this.interruptionBucket[slot] = this.reclamationBucket[slot] = 0;
    remainders.list.clear();
    remainders.start = this.#cycle.rankedRows.start[cluster]!;
    remainders.floors = this.#floorsOf(cluster, remainders.floors);
    this.#current = remainders;
    this.#waits = false;
  }

  /**
   * Whether a lender of the cluster being credited must wait for the pass: an earlier lender waits, whose remainders are not
   * known yet; or machines are in flight for the row, which the pass decides on.
   */
  mustWait(rankedRow: number): boolean {
    return this.#waits || this.#cycle.rankedRows.hasInFlight[rankedRow] === 1;
  }

  /** A lender of the cluster being credited waits for the pass. */
  wait(): void {
    this.#waits = true;
  }

  /** Prepares the turn of a ranked row in the pass. */
  beginTurn(rankedRow: number): void {
    this.#current = this.lends(rankedRow) ? this.#remaindersInPass(rankedRow) : null;
  }

  /** Remainders at the first turn of the pass in the cluster; from there on each turn updates them. */
  #remaindersInPass(rankedRow: number): ClusterRemainders {
    const cluster = this.#cycle.rankedRows.cluster[rankedRow]!;
    let remainders = this.#inPass.get(cluster);
    if (remainders === undefined) {
      remainders = this.#empty(this.#cycle.rankedRows.start[cluster]!);
      remainders.floors = this.#floorsOf(cluster, remainders.floors);
      this.#inPass.set(cluster, remainders);
      this.#replay(cluster, remainders, true, null);
    }
    return remainders;
  }

  /**
   * Lets the row being served borrow: reduces `cycle.unfilled`, which must have been loaded for it. Call it for every lender
   * before it is credited.
   */
  borrow(rankedRow: number): void {
    const remainders = this.#current;
    if (remainders === null) return;
    this.#begin(rankedRow);
    if (!this.#borrows(rankedRow)) return;
    if (this.#cycle.isExplained(rankedRow))
      this.#counts.set(rankedRow, remainders.list.countFor(this.#borrower(rankedRow)));
    this.#borrowFrom(remainders, rankedRow, this.#cycle.unfilled);
    if (this.#hasBorrowed && remainders !== this.#credited) this.#borrowersInPass.add(rankedRow);
  }

  /** Loads what a ranked row wants. */
  #begin(rankedRow: number): void {
    const { demand, dimensions } = this.#cycle.fleet;
    const from = this.#cycle.rankedRows.row[rankedRow]! * dimensions.stride;
    for (let d = 0; d < dimensions.count; d++) this.#want[d] = demand.aggregate.data[from + d]!;
    this.#hasBorrowed = false;
  }

  #borrowFrom(
    { floors, list, start }: ClusterRemainders,
    rankedRow: number,
    unfilled: Unfilled | null,
  ): void {
    if (list.count === 0) return;
    const floor = { amounts: floors, at: (rankedRow - start) * this.#cycle.fleet.dimensions.stride };
    this.#unfilled = unfilled;
    this.#profile = this.#cycle.profileOf(rankedRow).profile;
    list.borrow(this.#borrower(rankedRow), this.#want, floor, this.#note);
  }

  readonly #note = (slot: number, amount: Float64Array): void => {
    this.#hasBorrowed = true;
    if (this.#unfilled !== null) {
      this.#unfilled.borrow(amount);
      this.#raiseBuckets(slot);
    }
    this.#visitor?.borrowed(slot, amount);
  };

  #raiseBuckets(slot: number): void {
    const interruption = this.interruptionBucket[slot]!;
    const reclamation = this.reclamationBucket[slot]!;
    if (this.#current !== this.#credited) this.#lentInPass.push([slot, interruption, reclamation]);
    this.interruptionBucket[slot] = Math.max(interruption, this.#profile!.interruptionBucket + 1);
    this.reclamationBucket[slot] = Math.max(reclamation, this.#profile!.reclamationBucket + 1);
  }

  #borrower(rankedRow: number): Borrower {
    return {
      row: this.#cycle.rankedRows.row[rankedRow]!,
      pattern: this.#cycle.patternOf(rankedRow),
      dollars: this.#cycle.profileOf(rankedRow).interruptionDollars,
    };
  }

  /** Enters what the claims of the row just served leave over. Follows `borrow` for the same row. */
  lend(rankedRow: number): void {
    const remainders = this.#current;
    if (remainders === null) return;
    this.#enter(remainders, rankedRow);
  }

  /**
   * The first claim that holds the largest pod, unless the row borrowed, then the others, each by price and id: what the row
   * takes of each depends only on the set of its claims.
   */
  #enter({ floors, list, start }: ClusterRemainders, rankedRow: number): void {
    const { stride } = this.#cycle.fleet.dimensions;
    // Only later rows can use what this one leaves over.
    const floor = { amounts: floors, at: (rankedRow + 1 - start) * stride };
    const slots = this.#claimsInOrder(rankedRow);
    if (!this.#hasBorrowed) moveFirst(slots, this.#firstWithUnit(rankedRow, slots));
    for (let i = 0; i < slots.length; i++) {
      const taken = list.fill(slots[i]!, this.#want, floor);
      this.#visitor?.filled?.(slots[i]!, taken);
    }
  }

  /** Claims of a ranked row by price, then id; valid until the next call. */
  #claimsInOrder(rankedRow: number): Uint32Array {
    const { creditEnd, creditStart, laterEnd, laterStart, slots } = this.#cycle.claims;
    const credits = creditEnd[rankedRow]! - creditStart[rankedRow]!;
    const count = credits + laterEnd[rankedRow]! - laterStart[rankedRow]!;
    if (this.#claimed.length < count) this.#claimed = new Uint32Array(2 * count);
    for (let i = 0; i < credits; i++) this.#claimed[i] = slots[creditStart[rankedRow]! + i]!;
    for (let i = credits; i < count; i++) this.#claimed[i] = slots[laterStart[rankedRow]! + i - credits]!;
    const claimed = this.#claimed.subarray(0, count);
    for (let i = 1; i < count; i++) {
      if (this.#byPrice(claimed[i - 1]!, claimed[i]!) > 0) return claimed.sort(this.#byPrice);
    }
    return claimed;
  }

  readonly #byPrice = (a: number, b: number): number => {
    const { classes, machines } = this.#cycle.fleet;
    return (
      classes.price[machines.classOf[a]!]! - classes.price[machines.classOf[b]!]! ||
      machines.ordinal[a]! - machines.ordinal[b]!
    );
  };

  /** Index of the first claim that holds the row's largest pod; 0 if there is none. */
  #firstWithUnit(rankedRow: number, slots: Uint32Array): number {
    const pattern = this.#cycle.patternOf(rankedRow);
    const { classOf } = this.#cycle.fleet.machines;
    for (let i = 0; i < slots.length; i++) if (pattern.fits(classOf[slots[i]!]!)) return i;
    return 0;
  }

  /** By ranked row of the cluster, and once more behind the last: the smallest remainder that it or a later row could use. */
  #floorsOf(cluster: number, room: Float64Array): Float64Array {
    const { end, row, start } = this.#cycle.rankedRows;
    const { demand, dimensions } = this.#cycle.fleet;
    const { count, stride } = dimensions;
    const rows = end[cluster]! - start[cluster]!;
    const floors = room.length < (rows + 1) * stride ? new Float64Array(2 * (rows + 1) * stride) : room;
    // All remainders are counted for an explained row, those that no row can use as well.
    floors.fill(this.#cycle.explains ? 0 : Number.POSITIVE_INFINITY, rows * stride, (rows + 1) * stride);
    const unit = demand.minUnit.data;
    const aggregate = demand.aggregate.data;
    for (let i = rows - 1; i >= 0; i--) {
      const rankedRow = start[cluster]! + i;
      const at = i * stride;
      const borrows = this.#borrows(rankedRow);
      const from = row[rankedRow]! * stride;
      for (let d = 0; d < count; d++) {
        const later = floors[at + stride + d]!;
        // It must have some of every dimension that the row wants.
        const needed = borrows ? Math.max(unit[from + d]!, aggregate[from + d]! > 0 ? 1 : 0) : later;
        floors[at + d] = Math.min(later, needed);
      }
    }
    return floors;
  }

  /** Repeats `borrow` and `lend` of the cluster's rows from their claims; with `untilPass`, of those before the pass. */
  #replay(
    cluster: number,
    remainders: ClusterRemainders,
    untilPass: boolean,
    visitor: LenderVisitor | null,
  ): void {
    const { credits, rankedRows } = this.#cycle;
    this.#visitor = visitor;
    for (let rankedRow = rankedRows.start[cluster]!; rankedRow < rankedRows.end[cluster]!; rankedRow++) {
      if (!this.lends(rankedRow)) continue;
      if (untilPass && credits.outcome[rankedRow] !== Credit.Covered) break;
      visitor?.row(rankedRow);
      this.#begin(rankedRow);
      if (this.#borrows(rankedRow)) this.#borrowFrom(remainders, rankedRow, null);
      this.#enter(remainders, rankedRow);
    }
    this.#visitor = null;
  }

  /** What a ranked row borrows, after Phase 1. */
  sharesOf(rankedRow: number): readonly Share[] {
    if (!this.#borrows(rankedRow)) return [];
    const cluster = this.#cycle.rankedRows.cluster[rankedRow]!;
    let ofCluster = this.#sharesOf.get(cluster);
    if (ofCluster === undefined) {
      ofCluster = this.#allShares(cluster);
      this.#sharesOf.set(cluster, ofCluster);
    }
    return ofCluster.get(rankedRow) ?? [];
  }

  #allShares(cluster: number): ReadonlyMap<number, readonly Share[]> {
    const { count } = this.#cycle.fleet.dimensions;
    const found = new Map<number, Share[]>();
    let current = 0;
    this.visit(cluster, false, {
      row: (rankedRow) => {
        current = rankedRow;
      },
      borrowed: (slot, amount) => {
        const share = { slot, amount: amount.slice(0, count) };
        const others = found.get(current);
        if (others === undefined) found.set(current, [share]);
        else others.push(share);
      },
    });
    return found;
  }

  /** Visits the lenders of a cluster after Phase 1; with `untilPass`, those before the pass. */
  visit(cluster: number, untilPass: boolean, visitor: LenderVisitor): void {
    const remainders = this.#visited;
    remainders.list.clear();
    remainders.start = this.#cycle.rankedRows.start[cluster]!;
    remainders.floors = this.#floorsOf(cluster, remainders.floors);
    this.#replay(cluster, remainders, untilPass, visitor);
  }

  /** Remainders that an explained row found in its turn. */
  countsOf(rankedRow: number): RemainderCounts {
    return this.#counts.get(rankedRow) ?? NO_REMAINDERS;
  }

  /** Whether drains of better-ranked rows will leave something over for the row being served. */
  hasLeftovers(rankedRow: number): boolean {
    return this.#current !== null && this.#current.leftovers.count > 0 && this.#borrows(rankedRow);
  }

  /** Reduces `rest` by what drains of better-ranked rows will leave over for the row being served. */
  takeLeftovers(rankedRow: number, rest: Unfilled): void {
    this.#current!.leftovers.forecast(this.#borrower(rankedRow), rest.deficit(), (_, amount) =>
      rest.borrow(amount),
    );
  }

  /**
   * After the turn of a lender in the pass: an unmet borrower will use what earlier drains leave over, and what its own
   * drains leave over is there for later rows.
   */
  forecastDrains(rankedRow: number): void {
    const remainders = this.#current;
    if (remainders === null) return;
    const drains = drainingFor(this.#cycle, rankedRow, true);
    const { unfilled } = this.#cycle;
    const usesLeftovers = this.hasLeftovers(rankedRow) && !unfilled.covered;
    if (drains.length === 0 && !usesLeftovers) return;
    const rest = this.#cycle.copyUnfilled(rankedRow);
    if (usesLeftovers)
      remainders.leftovers.borrow(this.#borrower(rankedRow), rest.deficit(), KEEP_ALL, (_, amount) =>
        rest.borrow(amount),
      );
    this.#enterArriving(remainders.leftovers, rankedRow, drains, rest.deficit(), this.#hasBorrowed);
  }

  /** Enters what machines that drain for a row will leave over, once `want` is taken of them. */
  #enterArriving(
    list: Remainders,
    rankedRow: number,
    arriving: readonly number[],
    want: Float64Array,
    hasBorrowed: boolean,
  ): void {
    const slots = Uint32Array.from(arriving).sort(this.#byPrice);
    if (!hasBorrowed) moveFirst(slots, this.#firstWithUnit(rankedRow, slots));
    for (let i = 0; i < slots.length; i++) list.fill(slots[i]!, want, KEEP_ALL);
  }

  /**
   * Phase 2: lets a row of the pass use what machines that drain for better-ranked rows will leave over. Reduces
   * `cycle.unfilled`.
   */
  borrowArriving(rankedRow: number, secondList: Remainders): void {
    const { unfilled } = this.#cycle;
    if (secondList.count === 0 || !this.#borrows(rankedRow)) return;
    secondList.borrow(this.#borrower(rankedRow), unfilled.deficit(), KEEP_ALL, (_, amount) =>
      unfilled.borrow(amount),
    );
  }

  /** Phase 2: enters what machines that drain for a row of the pass will leave over. */
  lendArriving(
    rankedRow: number,
    arriving: readonly number[],
    want: Float64Array,
    secondList: Remainders,
  ): void {
    this.#enterArriving(secondList, rankedRow, arriving, want, this.#borrowersInPass.has(rankedRow));
  }
}

/** Moves the entry at an index to the front; the others keep their order. */
function moveFirst(slots: Uint32Array, index: number): void {
  if (index === 0) return;
  const slot = slots[index]!;
  slots.copyWithin(1, 0, index);
  slots[0] = slot;
}
