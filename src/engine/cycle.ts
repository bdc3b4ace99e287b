// The state of one cycle: who has claimed which machine, and what each turn got. Rows are served one after the other,
// so the claims of a turn lie next to each other.

import type { Fleet } from '../fleet/index.ts';
import { type DecisionOptions, MachineState } from '../model/index.ts';
import { Pools } from './pool.ts';
import type { Turn } from './turns.ts';
import { type Shortage, Want } from './want.ts';

/** What the gang of a turn saw and chose. */
export interface GangView {
  /** Domains it chose from, best first. */
  readonly order: readonly string[];
  readonly domain: string | null;
  readonly satisfiable: boolean;
  readonly candidates: readonly {
    domain: string;
    coverage: number;
    worstCoverage: number;
    satisfiable: boolean;
  }[];
}

/** Where a strict-spread row stands: machines per domain, and the domains its minimum runs over. */
export interface SpreadView {
  readonly counts: Map<number, number>;
  readonly domains: Set<number>;
  /** Classes with the key of which fitting Idle or Speculative machines were left free, if the row is short. */
  readonly free: Set<number>;
}

/** The outcome of one turn. */
export interface Served {
  readonly turn: Turn;
  /** Slots claimed, in claim order. */
  readonly claims: readonly number[];
  /** Idle machines to bind and Speculative ones to buy, in claim order. */
  readonly acquired: readonly number[];
  readonly covered: boolean;
  /** What is still missing; null when covered. */
  readonly shortage: Shortage | null;
  readonly deficit: Float64Array | null;
  readonly gang: GangView | null;
  readonly spread: SpreadView | null;
  /** Of a fold: how many members have a place. */
  readonly hosted: number;
  /** The last turn before this one that claimed something this one could have used; -1 for none. */
  readonly blocker: number;
}

export class Cycle {
  readonly fleet: Fleet;
  readonly options: DecisionOptions;
  readonly nowMs: number;
  /** By slot: number of the claiming turn plus one; 0 for none. */
  readonly claimedBy: Int32Array;
  /** By key: 1 if a live row has it. */
  readonly live: Uint8Array;
  readonly pools: Pools;
  readonly want: Want;
  readonly served: Served[] = [];
  /** By class: the last turn that took an Idle or Speculative machine of it; -1 for none. */
  readonly lastTakenBy: Int32Array;
  readonly #cannotBind: Uint8Array;

  constructor(fleet: Fleet, options: DecisionOptions, nowMs: number, turns: readonly Turn[]) {
    this.fleet = fleet;
    this.options = options;
    this.nowMs = nowMs;
    this.claimedBy = new Int32Array(fleet.machines.size);
    this.live = new Uint8Array(fleet.keys.size);
    this.lastTakenBy = new Int32Array(fleet.classes.size).fill(-1);
    this.pools = new Pools(fleet, this.claimedBy);
    this.want = new Want(fleet);
    for (const turn of turns) {
      this.live[turn.key] = 1;
      for (const row of turn.members) this.live[fleet.demand.key[row]!] = 1;
    }
    this.#cannotBind = new Uint8Array(fleet.clusters.size);
    for (const name of options.cannotBind) this.#cannotBind[fleet.clusters.find(name)] = 1;
    this.#cannotBind[0] = 0;
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
    return this.live[machines.stampKey[slot]!] === 1 || this.live[machines.target[slot]!] === 1;
  }

  /** Idle machines in flight for a row (pool order), then Creating ones (id order): fitting and unclaimed. */
  inFlight(
    turn: Turn,
    heldCreating: boolean,
  ): { readonly idle: readonly number[]; readonly creating: readonly number[] } {
    const { machines } = this.fleet;
    const idle: number[] = [];
    const creating: number[] = [];
    for (const slot of this.targeted(turn)) {
      if (!this.isFree(slot)) continue;
      const held = machines.held[slot] === 1;
      if (machines.state[slot] === MachineState.Idle && !held) idle.push(slot);
      else if (machines.state[slot] === MachineState.Creating && (heldCreating || !held)) creating.push(slot);
    }
    return { idle: idle.sort(machines.keepOrder), creating };
  }

  /** Machines that drain for a row and will fit it. */
  drainingFor(turn: Turn, withHeld: boolean): number[] {
    const { machines } = this.fleet;
    return this.targeted(turn).filter(
      (slot) => machines.state[slot] === MachineState.Draining && (withHeld || machines.held[slot] === 0),
    );
  }

  /** Fitting machines on their way to a row, in id order. */
  targeted(turn: Turn): number[] {
    const { machines, patterns } = this.fleet;
    const run = machines.targetedAt(turn.key);
    if (run === undefined) return [];
    const pattern = patterns.patternOf(turn.pattern);
    const slots: number[] = [];
    for (let i = run.offset; i < run.offset + run.length; i++) {
      const slot = machines.arena.data[i]!;
      if (pattern.fits(machines.classOf[slot]!)) slots.push(slot);
    }
    return slots;
  }
}
