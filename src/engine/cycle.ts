// The state of one cycle: who has claimed which machine, and what each turn got, in columns by slot and by turn.

import type { Fleet } from '../fleet/index.ts';
import { type DecisionOptions, type DomainCandidate, MachineState } from '../model/index.ts';
import { BoundIndex, MineWalk } from './bound.ts';
import { Pools } from './pool.ts';
import { makeTurns, NONE, roomFor, TurnKind, Turns } from './turns.ts';
import { type Shortage, Want } from './want.ts';

/** What became of a row: it has all it wants, it goes on to the pools with the rest, or it waits to be served there. */
export const Credit = { Covered: 0, Short: 1, Waits: 2 } as const;
export type Credit = (typeof Credit)[keyof typeof Credit];

/** What a gang saw and chose. */
export interface GangView {
  /** Domains it chose from, best first. */
  readonly order: readonly string[];
  readonly domain: string | null;
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

/** A row that Phase 1 left short. */
export interface Unmet {
  readonly turn: number;
  readonly shortage: Shortage;
  readonly deficit: Float64Array;
  readonly spread: SpreadView | null;
  /** The last turn before this one that claimed something this one could have used; NONE for none. */
  readonly blocker: number;
}

/** Serves one cycle after the other; what it holds of the last one is good until the next begins. */
export class Cycle {
  readonly fleet: Fleet;
  options!: DecisionOptions;
  nowMs = 0;
  readonly turns = new Turns();
  readonly bound = new BoundIndex();
  readonly mine: MineWalk;
  pools!: Pools;
  readonly want: Want;
  /** What will be left of `want` when machines that drain for the turn have arrived. */
  readonly #rest: Want;
  /** By slot: the claiming turn plus one; 0 for none. */
  claimedBy = new Int32Array(0);
  /** By slot: 1 if a row that waits for the pools might claim it. */
  contested = new Uint8Array(0);

  /** Claims in the order they were made; a turn has one part of credits and one of later claims. */
  claims = new Uint32Array(0);
  #claimCount = 0;
  creditStart = new Uint32Array(0);
  creditEnd = new Uint32Array(0);
  laterStart = new Uint32Array(0);
  laterEnd = new Uint32Array(0);

  /** Turns that waited for the pools, in the order they were served. */
  pass: number[] = [];
  /** By turn: the domain of a gang that its own machines complete, by number. */
  domainOf = new Int32Array(0);
  /** Gangs that had to choose. */
  gangs = new Map<number, GangView>();
  unmet: Unmet[] = [];
  /** Bound machines whose stamp is to name the gang that claims them now. */
  restamped: number[] = [];
  /** Of a fold that could not host all: how many members have a place. */
  hosted = new Map<number, number>();
  /** By class: the last turn that took an Idle or Speculative machine of it. */
  lastTakenBy = new Int32Array(0);
  #cannotBind = new Uint8Array(0);
  #firstOfClass: Int32Array | null = null;

  constructor(fleet: Fleet) {
    this.fleet = fleet;
    this.mine = new MineWalk(fleet, this.bound, this.turns);
    this.want = new Want(fleet);
    this.#rest = new Want(fleet);
  }

  /** Starts over: nothing claimed, nobody served. */
  begin(nowMs: number, options: DecisionOptions): void {
    const { fleet, turns } = this;
    this.nowMs = nowMs;
    this.options = options;
    makeTurns(fleet, turns);
    this.bound.fill(fleet, turns);
    this.#reset();
    this.pools = new Pools(fleet, this.claimedBy);
    this.#cannotBind = new Uint8Array(fleet.clusters.size);
    for (const name of options.cannotBind) this.#cannotBind[fleet.clusters.find(name)] = 1;
  }

  #reset(): void {
    const { fleet, turns } = this;
    if (this.claimedBy.length < fleet.machines.size) {
      const room = roomFor(fleet.machines.size);
      this.claimedBy = new Int32Array(room);
      this.contested = new Uint8Array(room);
      this.claims = new Uint32Array(room);
    } else {
      this.claimedBy.fill(0);
      this.contested.fill(0);
    }
    if (this.creditStart.length < turns.kind.length) {
      this.creditStart = new Uint32Array(turns.kind.length);
      this.creditEnd = new Uint32Array(turns.kind.length);
      this.laterStart = new Uint32Array(turns.kind.length);
      this.laterEnd = new Uint32Array(turns.kind.length);
      this.domainOf = new Int32Array(turns.kind.length);
    } else {
      // Most turns never reach the pools; an old part of theirs must not look like claims.
      this.laterStart.fill(0);
      this.laterEnd.fill(0);
    }
    this.#claimCount = 0;
    this.pass = [];
    this.gangs = new Map();
    this.unmet = [];
    this.restamped = [];
    this.hosted = new Map();
    this.lastTakenBy = new Int32Array(fleet.classes.size).fill(NONE);
    this.#firstOfClass = null;
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
    this.pools.take(slot);
  }

  /** Undoes all claims of a turn: a trial is over, or it has to wait. */
  undo(turn: number): void {
    for (const [start, end] of [
      [this.creditStart[turn]!, this.creditEnd[turn]!],
      [this.laterStart[turn]!, this.laterEnd[turn]!],
    ] as const) {
      for (let i = end - 1; i >= start; i--) {
        this.claimedBy[this.claims[i]!] = 0;
        this.pools.putBack(this.claims[i]!);
      }
      if (end > start) this.#claimCount = start;
    }
    this.creditEnd[turn] = this.creditStart[turn]!;
    this.laterEnd[turn] = this.laterStart[turn]!;
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

  /** Fitting machines on their way to a turn, in id order. */
  targeted(turn: number): number[] {
    const { machines, patterns } = this.fleet;
    const run = machines.targetedAt(this.turns.key[turn]!);
    if (run === undefined) return NOTHING;
    const pattern = patterns.patternOf(this.turns.pattern[turn]!);
    const slots: number[] = [];
    for (let i = run.offset; i < run.offset + run.length; i++) {
      const slot = machines.arena.data[i]!;
      if (pattern.fits(machines.classOf[slot]!)) slots.push(slot);
    }
    return slots;
  }

  /** Unclaimed Idle machines in flight for a turn, in pool order. */
  comingIdle(turn: number): number[] {
    const { machines } = this.fleet;
    const slots = this.targeted(turn).filter((slot) => {
      return machines.state[slot] === MachineState.Idle && machines.held[slot] === 0 && this.isFree(slot);
    });
    return slots.sort(machines.keepOrder);
  }

  /** Unclaimed Creating machines in flight for a turn, by id. */
  comingCreating(turn: number, withHeld: boolean): number[] {
    const { machines } = this.fleet;
    return this.targeted(turn).filter((slot) => {
      const held = machines.held[slot] === 1;
      return machines.state[slot] === MachineState.Creating && (withHeld || !held) && this.isFree(slot);
    });
  }

  /** Machines that drain for a turn and will fit it. */
  drainingFor(turn: number, withHeld: boolean): number[] {
    const { machines } = this.fleet;
    return this.targeted(turn).filter((slot) => {
      return machines.state[slot] === MachineState.Draining && (withHeld || machines.held[slot] === 0);
    });
  }

  /** The machine of a class with the smallest id, whatever its state. */
  firstOf(classNumber: number): number {
    if (this.#firstOfClass === null) {
      const { classes, machines } = this.fleet;
      const first = new Int32Array(classes.size).fill(NONE);
      for (let slot = 0; slot < machines.size; slot++) {
        if (machines.state[slot] === 0) continue;
        const known = first[machines.classOf[slot]!]!;
        if (known === NONE || machines.ordinal[slot]! < machines.ordinal[known]!)
          first[machines.classOf[slot]!] = slot;
      }
      this.#firstOfClass = first;
    }
    return this.#firstOfClass[classNumber]!;
  }

  /** Notes that a turn is short, and who was there first. */
  addUnmet(turn: number, spread: SpreadView | null): void {
    const { want } = this;
    this.unmet.push({
      turn,
      shortage: want.save(),
      deficit: want.deficit(),
      spread,
      blocker: this.#blockerOf(turn),
    });
  }

  #blockerOf(turn: number): number {
    const { machines, patterns } = this.fleet;
    const pattern = patterns.patternOf(this.turns.pattern[turn]!);
    let blocker = NONE;
    const consider = (other: number): void => {
      if (other !== turn && (blocker === NONE || this.turns.compare(this.fleet, blocker, other) < 0))
        blocker = other;
    };
    for (const c of pattern.fittingClasses())
      if (this.lastTakenBy[c] !== NONE) consider(this.lastTakenBy[c]!);
    const place = this.turns.place[turn]!;
    const runs = machines.boundOf(this.turns.cluster[turn]!);
    for (const run of runs === undefined ? [] : [runs.configured, runs.configuring]) {
      for (let i = run.offset; i < run.offset + run.length; i++) {
        const slot = machines.arena.data[i]!;
        const by = this.claimedBy[slot]! - 1;
        if (by === NONE || this.turns.place[by]! >= place) continue;
        if (machines.held[slot] === 0 && pattern.fits(machines.classOf[slot]!)) consider(by);
      }
    }
    return blocker;
  }

  /** Notes which bound machines a gang claims without their stamp naming it. */
  noteRestamps(turn: number): void {
    const { machines } = this.fleet;
    const key = this.turns.key[turn];
    for (let i = this.creditStart[turn]!; i < this.creditEnd[turn]!; i++) {
      const slot = this.claims[i]!;
      if (machines.cluster[slot] !== 0 && machines.stampKey[slot] !== key) this.restamped.push(slot);
    }
  }

  /** After a turn took from the pools: it is the last one that did, for every class it touched. */
  noteTaken(turn: number): void {
    for (let i = this.creditStart[turn]!; i < this.creditEnd[turn]!; i++)
      this.#noteTaken(turn, this.claims[i]!);
    for (let i = this.laterStart[turn]!; i < this.laterEnd[turn]!; i++)
      this.#noteTaken(turn, this.claims[i]!);
  }

  #noteTaken(turn: number, slot: number): void {
    const { machines } = this.fleet;
    const state = machines.state[slot];
    if (state === MachineState.Idle || state === MachineState.Speculative) {
      this.lastTakenBy[machines.classOf[slot]!] = turn;
    }
  }
}

const NOTHING: number[] = [];
