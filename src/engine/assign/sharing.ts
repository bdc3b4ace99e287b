// Sharing of machines between rows of a cluster (E1 of docs/internals/engine.md): a row borrows what better-ranked rows left
// over, and enters what its own claims leave over. Remainders depend only on claims: they are built up while a cluster is
// credited, and replayed for the pass and for verdicts. Part of a `Cycle`; credit.ts and serve.ts call it for each row.

import { ColumnGroup } from '../../collections/table.ts';
import { MAX_DIMENSIONS } from '../../fleet/index.ts';
import { MachineState, NO_REMAINDERS, type RemainderCounts } from '../../model/index.ts';
import type { Cycle } from '../cycle.ts';
import type { ClaimRange } from './claims.ts';
import { ClaimsByPrice, type Filled } from './claims-by-price.ts';
import { Credit } from './credits.ts';
import { drainingFor } from './in-flight.ts';
import { NONE, RowKind } from './ranked-rows.ts';
import { Borrowed, Remainders } from './remainders.ts';
import { SmallestRemainders } from './smallest-remainders.ts';
import type { Unfilled } from './unfilled.ts';

/** A part of a machine that a row borrows. */
export interface Share {
  readonly slot: number;
  readonly amount: Float64Array;
}

/** Called for the lenders of a cluster in rank order; what is passed to `filled` is valid during the call. */
export interface LenderVisitor {
  /** A row, before what it borrows and what it takes of its claims. */
  row(rankedRow: number): void;
  borrowed(slot: number, amount: Float64Array): void;
  filled?(slot: number, amount: Float64Array): void;
}

/** Two penalty buckets are one number: each plus one, in this many bits. */
const BUCKET_BITS = 5;
const ONE_BUCKET = (1 << BUCKET_BITS) - 1;
const BUCKETS_BITS = 2 * BUCKET_BITS;
const BUCKETS = (1 << BUCKETS_BITS) - 1;
/** Passes that have different bits, which are not 0, beside two times two buckets in 32 bits. */
const PASSES = (1 << (32 - 2 * BUCKETS_BITS)) - 1;

/** Floors are kept for every 16th ranked row: more would not drop much more, and each is a read that waits for memory. */
const FLOOR_BITS = 4;

const NO_SHARES: readonly Share[] = [];

export class Sharing {
  readonly #cycle: Cycle;

  readonly byOption = new ColumnGroup(this);
  /** One entry: 1 if rows share machines. A column, because worker threads read it. */
  readonly isOn = this.byOption.u8();
  /** One entry: number of the pass. What was written in an earlier pass has another one. */
  readonly passNumber = this.byOption.u32();

  readonly bySlot = new ColumnGroup(this);
  /**
   * Highest buckets of the rows that borrow from the machine, since a loss would cost them as well: those of rows that do not
   * wait for the pass in the lowest bits, then those of all rows and the number of the pass that they are valid in.
   */
  readonly lentTo = this.bySlot.u32();

  readonly byCluster = new ColumnGroup(this);
  /** 1 if rows borrow, or borrowed since the cluster was last credited, from its machines. */
  readonly lent = this.byCluster.u8();
  /** 1 if plain rows of the cluster have a group: these do not borrow. */
  readonly hasGroups = this.byCluster.u8();
  /** 1 if `floors` of its ranked rows are computed. */
  readonly hasFloors = this.byCluster.u8();

  readonly byRankedRow = new ColumnGroup(this);
  /** Of lenders of the pass with machines in flight: 1 if it borrowed there. */
  readonly borrowedInPass = this.byRankedRow.u8();

  readonly byFloor = new ColumnGroup(this);
  /** By ranked row ÷ 16 and dimension: the smallest remainder that this ranked row or a later one of its cluster could use. */
  readonly floors = this.byFloor.f64();

  /** Remainders of the cluster being credited; those of clusters in the pass; those of a replay. */
  readonly #credited: Remainders;
  readonly #inPass: Remainders;
  readonly #replayed: Remainders;
  /** Of clusters in the pass: what machines that drain for better-ranked rows will leave over. */
  readonly #arriving: Remainders;
  /** By cluster: its list in `#inPass` and in `#arriving`, or NONE; valid for one pass. */
  #listOf = new Int32Array(0);
  #arrivingOf = new Int32Array(0);
  /** Number of the pass that these lists are of. */
  #listedPass = 0;

  // The row being served: its list, or NONE if it is not a lender, and that of machines that will have drained.
  #lists: Remainders;
  #list = NONE;
  #arrivingList = NONE;
  /** A lender of the cluster being credited waits for the pass, so all later lenders do. */
  #waits = false;
  /** What it borrowed, and what it wants beyond that. */
  #borrowed = new Borrowed();
  readonly #want = new Float64Array(MAX_DIMENSIONS);
  /** By cluster: what the row borrowed whose turn is suspended; objects that are not in use. */
  #suspended: (Borrowed | undefined)[] = [];
  readonly #spare: Borrowed[] = [];
  /** Of machines that will have drained. */
  readonly #borrowedArriving = new Borrowed();

  readonly #claims: ClaimsByPrice;
  readonly #smallest: SmallestRemainders;
  #stride = 0;
  /** By explained ranked row. */
  readonly #counts = new Map<number, RemainderCounts>();
  /** By cluster: shares of its ranked rows, in this cycle. */
  #sharesOf = new Map<number, ReadonlyMap<number, readonly Share[]>>();

  constructor(cycle: Cycle) {
    const { fleet } = cycle;
    this.#cycle = cycle;
    this.#credited = new Remainders(fleet);
    this.#inPass = new Remainders(fleet);
    this.#replayed = new Remainders(fleet);
    this.#arriving = new Remainders(fleet);
    this.#lists = this.#credited;
    this.#claims = new ClaimsByPrice(cycle);
    this.#smallest = new SmallestRemainders(fleet);
  }

  /** Begins a cycle; returns whether all clusters must be served again, because the option or the layout has changed. */
  beginCycle(isOn: boolean): boolean {
    this.byOption.reserve(1);
    const { stride } = this.#cycle.fleet.dimensions;
    const changed = (this.isOn[0] === 1) !== isOn || (isOn && this.#stride !== stride);
    this.isOn[0] = isOn ? 1 : 0;
    this.#stride = stride;
    this.#sharesOf = new Map();
    this.#counts.clear();
    this.#list = NONE;
    return changed;
  }

  /** Makes room for all machines and clusters. */
  reserveMachines(): void {
    if (!this.isActive) return;
    this.bySlot.reserve(this.#cycle.fleet.machines.size);
    this.byCluster.reserve(this.#cycle.fleet.clusters.size);
  }

  /** Makes room for all ranked rows. */
  reserveRows(): void {
    if (!this.isActive) return;
    const { limit } = this.#cycle.rankedRows;
    this.byRankedRow.reserve(limit);
    this.byFloor.reserve(((limit >> FLOOR_BITS) + 1) * this.#stride);
  }

  /** Forgets which rows borrow from a machine that was written. */
  forget(slot: number): void {
    this.lentTo[slot] = 0;
  }

  /** Forgets which rows borrow from any machine. */
  forgetAll(): void {
    this.lentTo.fill(0);
    this.lent.fill(0);
  }

  /** Undoes what the pass did. */
  undoPass(): void {
    this.passNumber[0]!++;
    // From here on the low bits are used again.
    if (this.#passBits === 1)
      for (let slot = 0; slot < this.lentTo.length; slot++) this.lentTo[slot]! &= BUCKETS;
  }

  /** The pass as it is recorded beside buckets, never 0. */
  get #passBits(): number {
    return (this.passNumber[0]! % PASSES) + 1;
  }

  get isActive(): boolean {
    return this.isOn[0] === 1;
  }

  lends(rankedRow: number): boolean {
    const kind = this.#cycle.rankedRows.kind[rankedRow];
    return this.isActive && (kind === RowKind.Plain || kind === RowKind.Spread);
  }

  /**
   * Whether a row may be credited with machines of other rows. A lender with a group may not: its cluster reports it to get
   * further machines.
   */
  takesOver(rankedRow: number): boolean {
    return (
      !this.lends(rankedRow) || this.#cycle.fleet.demand.grouped[this.#cycle.rankedRows.row[rankedRow]!] === 0
    );
  }

  /** A borrower is a lender without strict spread and without a group. */
  #borrows(rankedRow: number): boolean {
    const { cluster, kind, row } = this.#cycle.rankedRows;
    if (!this.isActive || kind[rankedRow] !== RowKind.Plain) return false;
    // Groups of plain rows are rare, and reading the row's would wait for memory.
    return (
      this.hasGroups[cluster[rankedRow]!] === 0 || this.#cycle.fleet.demand.grouped[row[rankedRow]!] === 0
    );
  }

  /** Begins crediting a cluster. */
  openCluster(cluster: number): void {
    if (!this.isActive) return;
    if (this.lent[cluster] === 1) {
      const walk = this.#cycle.walk.begin(cluster);
      for (let slot = walk.next(); slot !== NONE; slot = walk.next()) this.lentTo[slot] = 0;
    }
    this.lent[cluster] = 0;
    this.hasFloors[cluster] = 0;
    this.hasGroups[cluster] = this.#hasGroupedRow(cluster) ? 1 : 0;
    this.#credited.clear();
    this.#lists = this.#credited;
    this.#list = this.#credited.open();
    this.#arrivingList = NONE;
    this.#waits = false;
  }

  #hasGroupedRow(cluster: number): boolean {
    const { end, kind, row, start } = this.#cycle.rankedRows;
    const { grouped } = this.#cycle.fleet.demand;
    for (let rankedRow = start[cluster]!; rankedRow < end[cluster]!; rankedRow++)
      if (kind[rankedRow] === RowKind.Plain && grouped[row[rankedRow]!] === 1) return true;
    return false;
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
    this.beginElsewhere();
    if (!this.lends(rankedRow)) return;
    if (this.#listedPass !== this.passNumber[0]) this.#beginPass();
    const cluster = this.#cycle.rankedRows.cluster[rankedRow]!;
    this.#lists = this.#inPass;
    this.#list = this.#listOf[cluster]!;
    if (this.#list === NONE) this.#openInPass(cluster);
    this.#arrivingList = this.#arrivingOf[cluster]!;
  }

  /** Drops the lists of the last pass; a thread may not have taken part in some. */
  #beginPass(): void {
    // A worker thread does not know the names of clusters.
    const size = this.#cycle.rankedRows.start.length;
    this.#listedPass = this.passNumber[0]!;
    this.#inPass.clear();
    this.#arriving.clear();
    this.#listOf = new Int32Array(size).fill(NONE);
    this.#arrivingOf = new Int32Array(size).fill(NONE);
    this.#suspended = [];
  }

  /** Remainders at the first turn of the pass in a cluster; from there on each turn updates them. */
  #openInPass(cluster: number): void {
    this.#list = this.#inPass.open();
    this.#listOf[cluster] = this.#list;
    this.#replay(cluster, true, null);
    this.#borrowed.clear();
  }

  /** Interrupts the turn of a ranked row that has borrowed: other rows have turns before it goes on. */
  suspendTurn(rankedRow: number): void {
    if (this.#borrowed.count === 0) return;
    this.#suspended[this.#cycle.rankedRows.cluster[rankedRow]!] = this.#borrowed;
    this.#borrowed = this.#spare.pop() ?? new Borrowed();
  }

  /** Continues a turn that was suspended: reduces `cycle.unfilled`, which must have been loaded for it, as `borrow` did. */
  resumeTurn(rankedRow: number): void {
    this.#resume(rankedRow);
    if (this.#borrowed.count > 0) this.#cycle.unfilled.borrow(this.#borrowed.sum);
  }

  /**
   * Ends a turn that was suspended, after another lane has acquired the machines in a part of `claims.slots` for the row:
   * enters what the row leaves over.
   */
  endSuspended(rankedRow: number, { from, to }: ClaimRange): void {
    this.#resume(rankedRow);
    this.#enter(rankedRow, this.#claims.loadFrom(rankedRow, from, to));
  }

  /** Begins the turn of a row whose cluster another lane serves: the remainders are there. */
  beginElsewhere(): void {
    this.#list = NONE;
    this.#arrivingList = NONE;
    this.#borrowed.clear();
  }

  #resume(rankedRow: number): void {
    this.beginTurn(rankedRow);
    const cluster = this.#cycle.rankedRows.cluster[rankedRow]!;
    const borrowed = this.#suspended[cluster];
    if (borrowed === undefined) return;
    this.#spare.push(this.#borrowed);
    this.#suspended[cluster] = undefined;
    this.#borrowed = borrowed;
    this.#loadWant(rankedRow);
    for (let d = 0; d < this.#cycle.fleet.dimensions.count; d++) this.#want[d]! -= borrowed.sum[d]!;
  }

  /** With sharing: reads what the turn of a ranked row in the pass will read first; returns a number without meaning. */
  prefetch(rankedRow: number): number {
    if (this.#listedPass !== this.passNumber[0]) return 0;
    const list = this.#listOf[this.#cycle.rankedRows.cluster[rankedRow]!]!;
    return list === NONE ? 0 : this.#inPass.prefetch(list);
  }

  /**
   * Lets the row being served borrow: reduces `cycle.unfilled`, which must have been loaded for it. Call it for every lender
   * before it is credited.
   */
  borrow(rankedRow: number): void {
    if (this.#list === NONE) return;
    const isPass = this.#lists === this.#inPass;
    const borrows = this.#borrows(rankedRow);
    if (borrows && this.#cycle.explains && this.#cycle.isExplained(rankedRow)) this.#count(rankedRow);
    this.#borrowed.clear();
    if (borrows) this.#borrowFrom(rankedRow);
    const hasBorrowed = this.#borrowed.count > 0;
    if (isPass && this.#cycle.rankedRows.hasInFlight[rankedRow] === 1)
      this.borrowedInPass[rankedRow] = hasBorrowed ? 1 : 0;
    if (!hasBorrowed) return;
    this.#cycle.unfilled.borrow(this.#borrowed.sum);
    this.#raiseBuckets(rankedRow, isPass);
  }

  #count(rankedRow: number): void {
    const row = this.#cycle.rankedRows.row[rankedRow]!;
    this.#counts.set(rankedRow, this.#lists.countFor(this.#list, row, this.#cycle.patternOf(rankedRow)));
  }

  /** Lets a row take from its list. What it still wants is in `#want`, unless it borrowed nothing. */
  #borrowFrom(rankedRow: number): void {
    const lists = this.#lists;
    if (lists.isEmpty(this.#list)) return;
    if (lists.isLong(this.#list)) this.#sweep(rankedRow);
    this.#loadWant(rankedRow);
    this.#borrowOf(lists, this.#list, rankedRow, this.#want, true, this.#borrowed);
  }

  #borrowOf(
    lists: Remainders,
    list: number,
    rankedRow: number,
    want: Float64Array,
    takes: boolean,
    borrowed: Borrowed,
  ): void {
    const { pattern, row } = this.#cycle.rankedRows;
    const { interruptionDollars } = this.#cycle.profileOf(rankedRow);
    const needed = this.#smallest.of(row[rankedRow]!, pattern[rankedRow]!);
    lists.borrow(list, this.#cycle.patternOf(rankedRow), interruptionDollars, needed, want, takes, borrowed);
  }

  /** Loads the whole aggregate of a ranked row. */
  #loadWant(rankedRow: number): void {
    const { demand, dimensions } = this.#cycle.fleet;
    const from = this.#cycle.rankedRows.row[rankedRow]! * dimensions.stride;
    for (let d = 0; d < dimensions.count; d++) this.#want[d] = demand.aggregate.data[from + d]!;
  }

  /** Records the buckets of a row at all machines that it borrows from and that may become victims: they are Configured. */
  #raiseBuckets(rankedRow: number, isPass: boolean): void {
    const cluster = this.#cycle.rankedRows.cluster[rankedRow]!;
    // Without bound machines there is no victim, and reading the state of a machine would wait for memory.
    if (this.#cycle.walk.countOf(cluster) === 0) return;
    const { interruptionBucket, reclamationBucket } = this.#cycle.profileOf(rankedRow).profile;
    const { state } = this.#cycle.fleet.machines;
    const buckets = ((interruptionBucket + 1) << BUCKET_BITS) + reclamationBucket + 1;
    for (let i = 0; i < this.#borrowed.count; i++) {
      const slot = this.#borrowed.slotAt(i);
      if (state[slot] !== MachineState.Configured) continue;
      const raised = highest(this.bucketsOf(slot), buckets);
      const before = this.lentTo[slot]! & BUCKETS;
      this.lentTo[slot] = isPass
        ? (((this.#passBits << BUCKETS_BITS) | raised) << BUCKETS_BITS) | before
        : raised;
    }
    this.lent[cluster] = 1;
  }

  /** Highest buckets of the rows that borrow from a machine, for `bucketsIn`; 0 for none. */
  bucketsOf(slot: number): number {
    if (!this.isActive) return 0;
    const lentTo = this.lentTo[slot]!;
    const isOfPass = lentTo >>> (2 * BUCKETS_BITS) === this.#passBits;
    return (isOfPass ? lentTo >>> BUCKETS_BITS : lentTo) & BUCKETS;
  }

  /** Whether rows may borrow from machines that are bound to the cluster. */
  lendsIn(cluster: number): boolean {
    return this.isActive && this.lent[cluster] === 1;
  }

  /** Enters what the claims of the row just served leave over. Follows `borrow` for the same row. */
  lend(rankedRow: number): void {
    if (this.#list !== NONE) this.#enter(rankedRow, this.#claims.load(rankedRow));
  }

  /** What the row takes of each of its claims depends only on their set, not on the order of claiming. */
  #enter(rankedRow: number, count: number, filled?: Filled): void {
    if (count === 0) return;
    const hasBorrowed = this.#borrowed.count > 0;
    if (!hasBorrowed) this.#loadWant(rankedRow);
    this.#claims.fill(rankedRow, hasBorrowed, this.#lists, this.#list, this.#want, filled);
  }

  /** Drops remainders that no row from this one on can use. All are counted for an explained row. */
  #sweep(rankedRow: number): void {
    const { cluster, start } = this.#cycle.rankedRows;
    const first = (rankedRow >> FLOOR_BITS) << FLOOR_BITS;
    if (first < start[cluster[rankedRow]!]! || this.#cycle.explains) return;
    if (this.hasFloors[cluster[rankedRow]!] === 0) this.#computeFloors(cluster[rankedRow]!);
    const { stride } = this.#cycle.fleet.dimensions;
    this.#lists.sweep(this.#list, this.floors, (rankedRow >> FLOOR_BITS) * stride);
  }

  #computeFloors(cluster: number): void {
    const { end, pattern, row, start } = this.#cycle.rankedRows;
    const { count, stride } = this.#cycle.fleet.dimensions;
    const least = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
    for (let rankedRow = end[cluster]! - 1; rankedRow >= start[cluster]!; rankedRow--) {
      if (this.#borrows(rankedRow)) {
        const needed = this.#smallest.of(row[rankedRow]!, pattern[rankedRow]!);
        for (let d = 0; d < count; d++) least[d] = Math.min(least[d]!, needed[d]!);
      }
      if (rankedRow % (1 << FLOOR_BITS) !== 0) continue;
      for (let d = 0; d < count; d++) this.floors[(rankedRow >> FLOOR_BITS) * stride + d] = least[d]!;
    }
    this.hasFloors[cluster] = 1;
  }

  /** Repeats `borrow` and `lend` of the cluster's rows from their claims; with `untilPass`, of those before the pass. */
  #replay(cluster: number, untilPass: boolean, visitor: LenderVisitor | null): void {
    const { credits, rankedRows } = this.#cycle;
    const filled: Filled | undefined =
      visitor?.filled === undefined ? undefined : (slot, amount) => visitor.filled!(slot, amount);
    for (let rankedRow = rankedRows.start[cluster]!; rankedRow < rankedRows.end[cluster]!; rankedRow++) {
      if (!this.lends(rankedRow)) continue;
      // Behind a row that waits only rows that want nothing are covered.
      if (untilPass && credits.outcome[rankedRow] !== Credit.Covered) continue;
      this.#borrowed.clear();
      if (this.#borrows(rankedRow)) this.#borrowFrom(rankedRow);
      if (visitor !== null) {
        visitor.row(rankedRow);
        for (const { slot, amount } of this.sharesOfTurn()) visitor.borrowed(slot, amount);
      }
      this.#enter(rankedRow, this.#claims.load(rankedRow), filled);
    }
  }

  /** Visits the lenders of a cluster after Phase 1; with `untilPass`, those before the pass. */
  visit(cluster: number, untilPass: boolean, visitor: LenderVisitor): void {
    this.#replayed.clear();
    this.#lists = this.#replayed;
    this.#list = this.#replayed.open();
    this.#replay(cluster, untilPass, visitor);
    this.#list = NONE;
    this.#borrowed.clear();
  }

  /** What the row being served borrows. */
  sharesOfTurn(): readonly Share[] {
    const { count } = this.#borrowed;
    // Without sharing no turn is begun, and `#borrowed` may be of an earlier cycle.
    if (!this.isActive || count === 0) return NO_SHARES;
    const dimensions = this.#cycle.fleet.dimensions.count;
    return Array.from({ length: count }, (_, i) => {
      return { slot: this.#borrowed.slotAt(i), amount: this.#borrowed.amountAt(i, dimensions) };
    });
  }

  /** What a ranked row borrows, after Phase 1. */
  sharesOf(rankedRow: number): readonly Share[] {
    if (!this.#borrows(rankedRow)) return NO_SHARES;
    const cluster = this.#cycle.rankedRows.cluster[rankedRow]!;
    let ofCluster = this.#sharesOf.get(cluster);
    if (ofCluster === undefined) {
      ofCluster = this.#allShares(cluster);
      this.#sharesOf.set(cluster, ofCluster);
    }
    return ofCluster.get(rankedRow) ?? NO_SHARES;
  }

  #allShares(cluster: number): ReadonlyMap<number, readonly Share[]> {
    const found = new Map<number, Share[]>();
    let current = NONE;
    this.visit(cluster, false, {
      row: (rankedRow) => {
        current = rankedRow;
      },
      borrowed: (slot, amount) => {
        const others = found.get(current);
        if (others === undefined) found.set(current, [{ slot, amount }]);
        else others.push({ slot, amount });
      },
    });
    return found;
  }

  /** Remainders that an explained row found in its turn. */
  countsOf(rankedRow: number): RemainderCounts {
    return this.#counts.get(rankedRow) ?? NO_REMAINDERS;
  }

  /** Whether drains of better-ranked rows will leave something over for the row being served. */
  hasLeftovers(rankedRow: number): boolean {
    return (
      this.#arrivingList !== NONE && !this.#arriving.isEmpty(this.#arrivingList) && this.#borrows(rankedRow)
    );
  }

  /** Reduces `rest` by what drains of better-ranked rows will leave over for the row being served. */
  takeLeftovers(rankedRow: number, rest: Unfilled): void {
    this.#reduce(rest, this.#arriving, this.#arrivingList, rankedRow, false);
  }

  #reduce(unfilled: Unfilled, lists: Remainders, list: number, rankedRow: number, takes: boolean): void {
    const borrowed = this.#borrowedArriving;
    borrowed.clear();
    this.#borrowOf(lists, list, rankedRow, unfilled.deficit(), takes, borrowed);
    if (borrowed.count > 0) unfilled.borrow(borrowed.sum);
  }

  /**
   * After the turn of a lender in the pass: an unmet borrower will use what earlier drains leave over, and what its own
   * drains leave over is there for later rows.
   */
  forecastDrains(rankedRow: number): void {
    if (this.#list === NONE) return;
    const usesLeftovers = this.hasLeftovers(rankedRow) && !this.#cycle.unfilled.covered;
    if (this.#cycle.rankedRows.hasInFlight[rankedRow] === 0 && !usesLeftovers) return;
    const drains = drainingFor(this.#cycle, rankedRow, true);
    if (drains.length === 0 && !usesLeftovers) return;
    const rest = this.#cycle.copyUnfilled(rankedRow);
    if (usesLeftovers) this.#reduce(rest, this.#arriving, this.#arrivingList, rankedRow, true);
    if (drains.length === 0) return;
    const cluster = this.#cycle.rankedRows.cluster[rankedRow]!;
    if (this.#arrivingList === NONE) this.#arrivingList = this.#arrivingOf[cluster] = this.#arriving.open();
    this.#claims.loadList(drains);
    this.#claims.fill(
      rankedRow,
      this.#borrowed.count > 0,
      this.#arriving,
      this.#arrivingList,
      rest.deficit(),
    );
  }

  /**
   * Phase 2: lets a row of the pass use what machines that drain for better-ranked rows will leave over. Reduces
   * `cycle.unfilled`.
   */
  borrowArriving(rankedRow: number, lists: Remainders, list: number): void {
    if (lists.isEmpty(list) || !this.#borrows(rankedRow)) return;
    this.#reduce(this.#cycle.unfilled, lists, list, rankedRow, true);
  }

  /** Phase 2: enters what machines that drain for a row of the pass will leave over; `hasBorrowed`: in the pass. */
  lendArriving(
    rankedRow: number,
    hasBorrowed: boolean,
    arriving: readonly number[],
    want: Float64Array,
    lists: Remainders,
    list: number,
  ): void {
    this.#claims.loadList(arriving);
    this.#claims.fill(rankedRow, hasBorrowed, lists, list, want);
  }
}

/** The higher of both buckets in two numbers of `Sharing.bucketsOf`. */
function highest(a: number, b: number): number {
  return Math.max(a & ~ONE_BUCKET, b & ~ONE_BUCKET) | Math.max(a & ONE_BUCKET, b & ONE_BUCKET);
}

/** The penalty buckets in a number of `Sharing.bucketsOf`. */
export function bucketsIn(buckets: number): { readonly interruption: number; readonly reclamation: number } {
  return {
    interruption: Math.max(0, (buckets >> BUCKET_BITS) - 1),
    reclamation: Math.max(0, (buckets & ONE_BUCKET) - 1),
  };
}
