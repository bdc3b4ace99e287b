// The state of one cycle: who has claimed which machine, and what each turn got, in columns by slot and by turn.

import { type Block, Blocks, type Fleet } from '../fleet/index.ts';
import { type DecisionOptions, type DomainCandidate, MachineState } from '../model/index.ts';
import { BoundIndex, BoundWalk, MineWalk } from './bound.ts';
import { Hopeless } from './hopeless.ts';
import { Pools } from './pool.ts';
import { Stocks } from './stock.ts';
import { DomainSums } from './sums.ts';
import { Foldable, NONE, TurnKind, Turns, withRoom } from './turns.ts';
import type { Unmet } from './unmet.ts';
import { type Shortage, Want } from './want.ts';

/** What became of a row: it has all it wants, it goes on to the pools with the rest, or it waits to be served there. */
export const Credit = { Covered: 0, Short: 1, Waits: 2 } as const;
export type Credit = (typeof Credit)[keyof typeof Credit];

/** What a gang saw and chose. */
export interface GangView {
  /** Domains it chose from and in which it could ever be whole, best first; worked out where it is short. */
  readonly order: readonly number[];
  /** Number of the domain; NONE for none. */
  readonly domain: number;
  readonly satisfiable: boolean;
  readonly candidates: readonly DomainCandidate[];
  /** What is missing in its domain even with everything free there; null where nothing is. */
  readonly missing: Float64Array | null;
}

/** Where a strict-spread row stands: machines per domain, and what it could take. */
export interface SpreadView {
  readonly counts: ReadonlyMap<number, number>;
  /** Classes with the key that had free fitting machines when the row was served, coming ones included. */
  readonly offers: ReadonlySet<number>;
  /** Classes with the key of which Idle or Speculative machines were left free. */
  readonly free: ReadonlySet<number>;
}

/** A row that needs the pools: what it still wants, or null if it has not been credited. */
export interface Pending {
  readonly turn: number;
  readonly shortage: Shortage | null;
  /** Of a fold: gangs without a place. */
  readonly gangs: number;
}

/**
 * Serves one cycle after the other. What it holds of clusters that do not change is kept: their turns, the index of
 * their machines, and what their rows were credited with. What came out of the pools is taken back when the next
 * cycle begins.
 */
export class Cycle {
  readonly fleet: Fleet;
  options!: DecisionOptions;
  nowMs = 0;
  readonly turns = new Turns();
  readonly bound: BoundIndex;
  readonly mine: MineWalk;
  readonly walk: BoundWalk;
  readonly #foldable: Foldable;
  readonly #hopeless: Hopeless;
  /** Clusters that have changed since the last cycle. */
  readonly #changed: Set<number>;
  pools!: Pools;
  /** What the pools hold by domain, and what the gang being served finds. */
  readonly stocks: Stocks;
  readonly sums: DomainSums;
  readonly want: Want;
  /** What will be left of `want` when machines that drain for the turn have arrived. */
  readonly #rest: Want;
  /** By slot: the claiming turn plus one; 0 for none. */
  claimedBy = new Int32Array(0);
  /** By slot: 1 if a row that waits for the pools might claim it. */
  contested = new Uint8Array(0);
  /** Patterns for which everything free in the cluster being credited is contested; those of small rows are negative. */
  readonly contestedFor = new Set<number>();

  /** Claims, in claim order: each cluster's credits in a place of their own, those of the pass behind them all. */
  claims = new Uint32Array(0);
  #claimCount = 0;
  readonly #creditBlocks = new Blocks();
  readonly #creditPlaces: (Block | undefined)[] = [];
  /** By cluster: where its credits stand, and in the same place of `unclaimed`, up to `unclaimedEnd`, what is left. */
  creditPlace = new Uint32Array(0);
  /** Configured machines that no row was credited with, cluster by cluster, in keep order. */
  unclaimed = new Uint32Array(0);
  unclaimedEnd = new Uint32Array(0);
  /** By turn: what its credit came to. */
  outcome = new Uint8Array(0);
  creditStart = new Uint32Array(0);
  creditEnd = new Uint32Array(0);
  laterStart = new Uint32Array(0);
  laterEnd = new Uint32Array(0);
  /** By cluster: rows that need the pools. */
  readonly pendingOf: (Pending[] | undefined)[] = [];
  /** By cluster: bound machines that a settled gang claims without their stamp naming it. */
  readonly restampedOf: (number[] | undefined)[] = [];

  /** Turns that waited for the pools, in the order they were served. */
  pass: number[] = [];
  /** Gangs that had to choose. */
  gangs = new Map<number, GangView>();
  unmet: Unmet[] = [];
  /** Bound machines that a gang of the pass claims without their stamp naming it. */
  restamped: number[] = [];
  /** Of a fold that could not host all: how many members have a place. */
  hosted = new Map<number, number>();
  /** By class: the last turn that took an Idle or Speculative machine of it. */
  lastTakenBy = new Int32Array(0);
  #cannotBind = new Uint8Array(0);
  #isFirst = true;

  /** Keys of a row that somebody asked about, its own and its fold's: it is served in the pass, where it sees all. */
  readonly explained = new Set<number>();
  /** By explained turn: the last one before it that claimed something it could have used. */
  readonly explainedBlockers = new Map<number, number>();

  constructor(fleet: Fleet) {
    this.fleet = fleet;
    this.bound = new BoundIndex(fleet, this.turns);
    this.mine = new MineWalk(fleet, this.bound, this.turns);
    this.walk = new BoundWalk(fleet);
    this.#foldable = new Foldable(fleet);
    this.#hopeless = new Hopeless(this);
    this.#changed = fleet.changes.watch();
    this.stocks = new Stocks(this);
    this.sums = new DomainSums(this);
    this.want = new Want(fleet);
    this.#rest = new Want(fleet);
  }

  /**
   * Takes back what the last pass claimed, and makes the turns and the index of every cluster that changed. Returns
   * those clusters: they are to be credited again. With `everything` all of them are.
   */
  begin(nowMs: number, options: DecisionOptions, everything: boolean): readonly number[] {
    const { fleet, turns } = this;
    this.nowMs = nowMs;
    this.options = options;
    this.#takeBackPass();
    turns.beginCycle(fleet);
    this.claimedBy = withRoom(this.claimedBy, fleet.machines.size);
    this.contested = withRoom(this.contested, fleet.machines.size);
    this.stocks.beginCycle();
    const dirty = this.#dirty(everything);
    for (const cluster of dirty) this.#forget(cluster);
    for (const cluster of dirty) turns.make(fleet, this.#foldable, cluster);
    for (const cluster of dirty) this.bound.index(cluster);
    this.#hopeless.mark();
    this.#reserveTurns();
    for (const cluster of dirty) this.#placeCredits(cluster);
    this.pools = new Pools(fleet, this.claimedBy);
    this.lastTakenBy = new Int32Array(fleet.classes.size).fill(NONE);
    this.#cannotBind = new Uint8Array(fleet.clusters.size);
    for (const name of options.cannotBind) this.#cannotBind[fleet.clusters.find(name)] = 1;
    return dirty;
  }

  /** Forgets all claims: a cycle broke off, and nobody can tell how far it got. The next one begins from nothing. */
  reset(): void {
    for (const column of [this.creditStart, this.creditEnd, this.laterStart, this.laterEnd]) column.fill(0);
    this.claimedBy.fill(0);
    this.#claimCount = 0;
    this.pass = [];
    this.#isFirst = true;
  }

  #dirty(everything: boolean): number[] {
    const changed = this.#changed;
    const { clusters } = this.fleet;
    const flipped = this.#foldable.refresh();
    const dirty =
      everything || this.#isFirst
        ? [...clusters.sorted()]
        : [...new Set([...changed, ...flipped, ...this.#hopeless.flipped(changed), ...this.bound.entangled])];
    this.#isFirst = false;
    changed.clear();
    return dirty;
  }

  #takeBackPass(): void {
    for (let i = this.#creditBlocks.end; i < this.#claimCount; i++) this.claimedBy[this.claims[i]!] = 0;
    for (const turn of this.pass) {
      this.laterStart[turn] = 0;
      this.laterEnd[turn] = 0;
      if (this.creditStart[turn]! < this.#creditBlocks.end) continue;
      this.creditStart[turn] = 0;
      this.creditEnd[turn] = 0;
    }
    this.pass = [];
    this.gangs = new Map();
    this.unmet = [];
    this.restamped = [];
    this.hosted = new Map();
  }

  #forget(cluster: number): void {
    const { start, end } = this.turns;
    for (let turn = start[cluster]!; turn < end[cluster]!; turn++) {
      for (let i = this.creditStart[turn]!; i < this.creditEnd[turn]!; i++)
        this.claimedBy[this.claims[i]!] = 0;
      this.creditStart[turn] = 0;
      this.creditEnd[turn] = 0;
    }
    const place = this.#creditPlaces[cluster];
    if (place !== undefined) this.#creditBlocks.giveBack(place);
    this.#creditPlaces[cluster] = undefined;
    this.pendingOf[cluster] = undefined;
    this.restampedOf[cluster] = undefined;
    this.turns.forget(cluster);
  }

  #reserveTurns(): void {
    const { limit } = this.turns;
    this.creditStart = withRoom(this.creditStart, limit);
    this.creditEnd = withRoom(this.creditEnd, limit);
    this.laterStart = withRoom(this.laterStart, limit);
    this.laterEnd = withRoom(this.laterEnd, limit);
    this.outcome = withRoom(this.outcome, limit);
  }

  /** Finds room for a cluster's credits: only bound machines are claimed, so there is room for as many. */
  #placeCredits(cluster: number): void {
    const { clusters, machines } = this.fleet;
    this.walk.locate(cluster);
    const runs = machines.boundOf(cluster);
    const place = this.#creditBlocks.take(
      runs === undefined ? 0 : runs.configured.length + runs.configuring.length,
    );
    this.#creditPlaces[cluster] = place;
    this.claims = withRoom(this.claims, this.#creditBlocks.end);
    this.unclaimed = withRoom(this.unclaimed, this.#creditBlocks.end);
    this.creditPlace = withRoom(this.creditPlace, clusters.size);
    this.unclaimedEnd = withRoom(this.unclaimedEnd, clusters.size);
    this.creditPlace[cluster] = place.offset;
    this.unclaimedEnd[cluster] = place.offset;
  }

  /** Takes back all credits of a cluster, however far they got. */
  uncredit(cluster: number): void {
    const { start, end } = this.turns;
    const walk = this.walk.begin(cluster);
    for (let slot = walk.next(); slot !== NONE; slot = walk.next()) this.claimedBy[slot] = 0;
    this.creditStart.fill(0, start[cluster], end[cluster]);
    this.creditEnd.fill(0, start[cluster], end[cluster]);
  }

  /** Makes ready to credit a cluster. */
  openCluster(cluster: number): void {
    this.contestedFor.clear();
    this.#claimCount = this.creditPlace[cluster]!;
    const walk = this.walk.begin(cluster);
    for (let slot = walk.next(); slot !== NONE; slot = walk.next()) this.contested[slot] = 0;
  }

  /** Notes what is left of a cluster's Configured machines when all its rows are credited. */
  closeCluster(cluster: number): void {
    const slots = this.fleet.machines.arena.data;
    let end = this.creditPlace[cluster]!;
    for (let i = this.walk.runs[cluster * 4]!; i < this.walk.runs[cluster * 4 + 1]!; i++) {
      if (this.claimedBy[slots[i]!] === 0) this.unclaimed[end++] = slots[i]!;
    }
    this.unclaimedEnd[cluster] = end;
  }

  /** Gathers the rows of a credited cluster that need the pools, and machines that settled gangs took over. */
  gather(cluster: number): void {
    const { turns } = this;
    const pending: Pending[] = [];
    const restamped: number[] = [];
    for (let turn = turns.start[cluster]!; turn < turns.end[cluster]!; turn++) {
      const outcome = this.outcome[turn];
      if (outcome === Credit.Waits) pending.push({ turn, shortage: null, gangs: 0 });
      else if (outcome === Credit.Short) pending.push(this.#shortOf(turn));
      else if (turns.kind[turn] === TurnKind.Gang) this.noteRestamps(turn, restamped);
    }
    this.pendingOf[cluster] = pending;
    this.restampedOf[cluster] = restamped.length === 0 ? undefined : restamped;
  }

  /** What a row lacks beyond its credits. */
  #shortOf(turn: number): Pending {
    const { machines, patterns } = this.fleet;
    const pattern = patterns.patternOf(this.turns.pattern[turn]!);
    this.beginWant(turn);
    for (let i = this.creditStart[turn]!; i < this.creditEnd[turn]!; i++) {
      const classNumber = machines.classOf[this.claims[i]!]!;
      this.want.take(classNumber, pattern.fits(classNumber));
    }
    return { turn, shortage: this.want.save(), gangs: this.want.gangsLeft };
  }

  /** Makes ready for the pass over the pools: its claims stand behind all credits. */
  openPass(): void {
    this.#claimCount = this.#creditBlocks.end;
    this.claims = withRoom(this.claims, this.#creditBlocks.end + this.fleet.machines.size);
  }

  /** Notes that no domain could hold a gang. The next cycle credits the cluster again if this one did not know. */
  noteHopeless(turn: number): void {
    if (this.#hopeless.note(turn)) this.#changed.add(this.turns.cluster[turn]!);
  }

  /** A turn for a member that its fold cannot host. */
  addUnhosted(row: number, fold: number, behind: number): number {
    const turn = this.turns.addUnhosted(this.fleet, row, fold, behind);
    this.#reserveTurns();
    this.creditStart[turn] = this.creditEnd[turn] = this.laterStart[turn] = this.laterEnd[turn] = 0;
    return turn;
  }

  isExplained(turn: number): boolean {
    return this.explained.size > 0 && this.explained.has(this.turns.key[turn]!);
  }

  canBind(cluster: number): boolean {
    return this.#cannotBind[cluster] === 0;
  }

  isReady(cluster: number): boolean {
    const { readyClusters } = this.options;
    return readyClusters === null || readyClusters.has(this.fleet.clusters.nameOf(cluster));
  }

  isFree(slot: number): boolean {
    return this.claimedBy[slot] === 0;
  }

  /** Bound to the row, or on its way to it. */
  isOwn(slot: number, key: number): boolean {
    const { machines } = this.fleet;
    return machines.stampKey[slot] === key || machines.target[slot] === key;
  }

  /** Somebody else's who is still here: taken only when nothing else is left. */
  isAnothers(slot: number, key: number): boolean {
    if (this.isOwn(slot, key)) return false;
    const { machines } = this.fleet;
    return (
      this.turns.ofKey[machines.stampKey[slot]!] !== NONE || this.turns.ofKey[machines.target[slot]!] !== NONE
    );
  }

  /** Loads what a turn wants into `want`. */
  beginWant(turn: number): void {
    if (this.turns.kind[turn] === TurnKind.Fold)
      this.want.beginFold(this.turns.row[turn]!, this.turns.members[turn]!);
    else this.want.beginRow(this.turns.row[turn]!);
  }

  /**
   * What a turn wants beyond the machines that drain for it. Machines of other rows are taken only for that, or two
   * rows would hand machines to and fro while one of them waits.
   */
  beyond(turn: number, drains: readonly number[]): Want {
    if (drains.length === 0) return this.want;
    const rest = this.#rest;
    if (this.turns.kind[turn] === TurnKind.Fold) rest.beginFold(this.turns.row[turn]!, this.want.gangsLeft);
    else rest.restore(this.turns.row[turn]!, this.want.save());
    for (const slot of drains) rest.take(this.fleet.machines.classOf[slot]!, true);
    return rest;
  }

  /** Opens the list of a turn's credits, or of its later claims; claims go there until another list is opened. */
  openCredits(turn: number): void {
    this.creditStart[turn] = this.#claimCount;
    this.creditEnd[turn] = this.#claimCount;
  }

  openLater(turn: number): void {
    this.laterStart[turn] = this.#claimCount;
    this.laterEnd[turn] = this.#claimCount;
  }

  /** Counts a bound or coming machine for a turn. */
  credit(turn: number, slot: number, fits: boolean): void {
    this.want.take(this.fleet.machines.classOf[slot]!, fits);
    this.claimedBy[slot] = turn + 1;
    this.claims[this.#claimCount++] = slot;
    this.creditEnd[turn] = this.#claimCount;
  }

  /** Counts an Idle or Speculative machine, taken from the pools, for a turn. */
  take(turn: number, slot: number): void {
    const classNumber = this.fleet.machines.classOf[slot]!;
    this.want.take(classNumber, true);
    this.claimedBy[slot] = turn + 1;
    this.claims[this.#claimCount++] = slot;
    this.laterEnd[turn] = this.#claimCount;
    this.takeOut(slot);
  }

  /** Takes a claimed machine off the pools if it stands there. */
  takeOut(slot: number): void {
    this.pools.take(slot);
    this.stocks.touch(slot);
  }

  /** Undoes the credits of a turn that has to wait; nothing of them came from the pools. */
  dropCredits(turn: number): void {
    for (let i = this.creditStart[turn]!; i < this.creditEnd[turn]!; i++) this.claimedBy[this.claims[i]!] = 0;
    this.#claimCount = this.creditStart[turn]!;
    this.creditEnd[turn] = this.creditStart[turn]!;
  }

  /** Undoes all claims of the turn being served, those from the pools in reverse order. */
  undo(turn: number): void {
    for (let i = this.#claimCount - 1; i >= this.creditStart[turn]!; i--) {
      this.claimedBy[this.claims[i]!] = 0;
      this.pools.putBack(this.claims[i]!);
      this.stocks.touch(this.claims[i]!);
    }
    this.#claimCount = this.creditStart[turn]!;
    this.creditEnd[turn] = this.creditStart[turn]!;
    this.laterStart[turn] = this.creditStart[turn]!;
    this.laterEnd[turn] = this.creditStart[turn]!;
  }

  /** Slots a turn counts on, in claim order. */
  claimsOf(turn: number): number[] {
    return [
      ...this.claims.subarray(this.creditStart[turn], this.creditEnd[turn]),
      ...this.claims.subarray(this.laterStart[turn], this.laterEnd[turn]),
    ];
  }

  /** Idle machines to bind and Speculative ones to buy for a turn, in claim order; none where the cluster cannot bind. */
  acquiredOf(turn: number): number[] {
    if (!this.canBind(this.turns.cluster[turn]!)) return [];
    const { machines } = this.fleet;
    return this.claimsOf(turn).filter((slot) => {
      return machines.state[slot] === MachineState.Idle || machines.state[slot] === MachineState.Speculative;
    });
  }

  /** Notes which bound machines a gang claims without their stamp naming it. */
  noteRestamps(turn: number, restamped: number[]): void {
    const { machines } = this.fleet;
    const key = this.turns.key[turn];
    for (let i = this.creditStart[turn]!; i < this.creditEnd[turn]!; i++) {
      const slot = this.claims[i]!;
      if (machines.cluster[slot] !== 0 && machines.stampKey[slot] !== key) restamped.push(slot);
    }
  }
}
