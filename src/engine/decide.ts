// The decision engine: from a frozen fleet to a plan, as a pure function. No clock, no I/O, no randomness; equal
// fleets give equal plans to the byte. docs/engine.md says in words what this does.

import type { Fleet } from '../fleet/index.ts';
import {
  type Action,
  type DecisionOptions,
  type Explanation,
  MachineState,
  type NeedKey,
  type Plan,
  RECLAIM_GRACE_SECONDS,
  type Verdict,
} from '../model/index.ts';
import { Crew, SMALLEST_ROUND } from './crew.ts';
import { Cycle } from './cycle.ts';
import { type Preemption, preempt } from './preempt.ts';
import { reclaims, releases } from './reclaim.ts';
import { type Probe, solve } from './solve.ts';
import { NONE } from './turns.ts';
import { unmetVerdictsOf, verdictsOf } from './verdict.ts';

/**
 * What a cycle decided. Actions and unmet rows are worked out and stay; claims, restamps and verdicts are described
 * when somebody asks, which must be before the fleet changes or the next cycle begins.
 */
export class Decision {
  readonly #cycle: Cycle;
  readonly #preemptions: ReadonlyMap<number, Preemption>;
  // Actions in columns: a cold fleet has as many as machines. Names are looked up now, because numbers are given out
  // again as soon as the fleet changes.
  readonly #machines: string[] = [];
  readonly #clusters: string[] = [];
  readonly #needs: (NeedKey | null)[] = [];
  readonly #priorities: number[] = [];
  readonly #graces: number[] = [];
  readonly #kinds: Action['kind'][] = [];
  readonly #reasons: Action['reason'][] = [];
  /** Verdicts on the Needs that are not met, in the order they were served. */
  readonly unmet: readonly Verdict[];

  constructor(cycle: Cycle, probe: Probe) {
    this.#cycle = cycle;
    this.#preemptions = preempt(cycle);
    probe('preempt');
    const picked = new Set<number>();
    for (const { picks } of this.#preemptions.values()) for (const { slot } of picks) picked.add(slot);
    const leaving = reclaims(cycle, picked);
    const released = releases(cycle);
    probe('reclaim');
    this.#collect(leaving, released);
    this.unmet = unmetVerdictsOf(cycle, this.#preemptions);
    probe('plan');
  }

  get actionCount(): number {
    return this.#machines.length;
  }

  /** Rows after the fold. */
  get rows(): number {
    return this.#cycle.turns.count;
  }

  /** Actions by kind. */
  get counts(): Readonly<Record<Action['kind'], number>> {
    const counts = { Bootstrap: 0, Provision: 0, Preempt: 0, Reclaim: 0, Delete: 0 };
    for (const kind of this.#kinds) counts[kind]++;
    return counts;
  }

  /** Phase 1 by rank, inside a row by claim order; Preempts by rank and pick order; Reclaims; Deletes. */
  actions(): Action[] {
    return this.#machines.map((_, i) => this.#actionAt(i));
  }

  /** Which row (or fold) counts on which machine. */
  claims(): Map<string, NeedKey> {
    const { keys, machines } = this.#cycle.fleet;
    const claims = new Map<string, NeedKey>();
    for (const turn of this.#cycle.turns.inOrder(this.#cycle.fleet)) {
      const need = keys.keyOf(this.#cycle.turns.key[turn]!);
      for (const slot of this.#cycle.claimsOf(turn)) claims.set(machines.idOf(slot), need);
    }
    return claims;
  }

  /** Bound machines a gang took over. */
  restamps(): Map<string, NeedKey> {
    const { claimedBy, turns } = this.#cycle;
    const { keys, machines } = this.#cycle.fleet;
    const restamps = new Map<string, NeedKey>();
    const restamped = [...this.#cycle.restampedOf.flatMap((slots) => slots ?? []), ...this.#cycle.restamped];
    const turnOf = (slot: number): number => claimedBy[slot]! - 1;
    // A turn's machines were noted in claim order; the sort keeps that.
    const inOrder = restamped.toSorted((a, b) => turns.compare(this.#cycle.fleet, turnOf(a), turnOf(b)));
    for (const slot of inOrder) restamps.set(machines.idOf(slot), keys.keyOf(turns.key[turnOf(slot)]!));
    return restamps;
  }

  /** One verdict per Need, by rank. */
  verdicts(): Verdict[] {
    return verdictsOf(this.#cycle, this.#preemptions);
  }

  plan(): Plan {
    return {
      actions: this.actions(),
      verdicts: this.verdicts(),
      claims: this.claims(),
      restamps: this.restamps(),
    };
  }

  #collect(leaving: readonly number[], released: readonly number[]): void {
    const cycle = this.#cycle;
    const { machines } = cycle.fleet;
    for (const turn of cycle.pass) {
      for (const slot of cycle.acquiredOf(turn)) {
        if (machines.state[slot] === MachineState.Idle) this.#add('Bootstrap', 'phase1.idle', slot, turn, 0);
        else this.#add('Provision', 'phase1.speculative', slot, turn, 0);
      }
    }
    for (const [turn, { picks }] of this.#preemptions) {
      for (const { slot, graceSeconds, excess } of picks) {
        this.#add('Preempt', excess ? 'phase2.excess' : 'phase2.inversion', slot, turn, graceSeconds);
      }
    }
    for (const slot of leaving) {
      this.#add('Reclaim', 'phase3.excess', slot, NONE, RECLAIM_GRACE_SECONDS);
    }
    for (const slot of released) this.#add('Delete', 'phase3.release', slot, NONE, 0);
  }

  #add(kind: Action['kind'], reason: Action['reason'], slot: number, turn: number, grace: number): void {
    const { turns } = this.#cycle;
    const { clusters, demand, keys, machines } = this.#cycle.fleet;
    const need = turn === NONE ? null : keys.keyOf(turns.key[turn]!);
    const leaves = kind === 'Preempt' || kind === 'Reclaim';
    this.#kinds.push(kind);
    this.#reasons.push(reason);
    this.#machines.push(machines.idOf(slot));
    this.#clusters.push(leaves ? clusters.nameOf(machines.cluster[slot]!) : (need?.cluster ?? ''));
    this.#needs.push(need);
    const preempts = kind === 'Preempt';
    this.#priorities.push(preempts ? demand.profiles.entryOf(turns.profile[turn]!).profile.priority : 0);
    this.#graces.push(grace);
  }

  #actionAt(i: number): Action {
    return {
      kind: this.#kinds[i]!,
      machine: this.#machines[i]!,
      cluster: this.#clusters[i]!,
      reason: this.#reasons[i]!,
      graceSeconds: this.#graces[i]!,
      preemptorPriority: this.#priorities[i]!,
      need: this.#needs[i]!,
    };
  }
}

export interface EngineOptions {
  /** Threads that share the work of crediting clusters; 1 starts none. The plan is the same for any number. */
  readonly workers?: number;
  /** Rounds of fewer clusters are credited without waking the other threads. */
  readonly smallestRound?: number;
}

/** How one cycle is run; none of it changes the result. */
export interface CycleOptions {
  /** Keep nothing from the cycle before. */
  readonly everything?: boolean;
  readonly probe?: Probe;
}

const noProbe: Probe = () => {};

/**
 * Decides cycle after cycle over one fleet. Clusters that have not changed keep what their rows were credited with,
 * with exactly the result of deciding everything anew.
 */
export class Engine {
  readonly #cycle: Cycle;
  readonly #crew: Crew;

  constructor(fleet: Fleet, { workers = 1, smallestRound = SMALLEST_ROUND }: EngineOptions = {}) {
    this.#cycle = new Cycle(fleet);
    this.#crew = new Crew(this.#cycle, workers, smallestRound);
  }

  /** Threads that would share the next cycle: fewer than asked for while some are still coming up. */
  get threads(): number {
    return this.#crew.ready;
  }

  /** Why threads were given up, if any were; their work is done by the others. */
  get threadFailures(): readonly string[] {
    return this.#crew.failures;
  }

  /** Ends the worker threads; cycles go on without them. */
  async close(): Promise<void> {
    await this.#crew.close();
  }

  /** One cycle: Phases 1, 2 and 3. */
  decide(
    nowMs: number,
    options: DecisionOptions,
    { everything = false, probe = noProbe }: CycleOptions = {},
  ): Decision {
    try {
      solve(this.#cycle, this.#crew, nowMs, options, everything, probe);
      return new Decision(this.#cycle, probe);
    } catch (error) {
      this.#cycle.reset();
      throw error;
    }
  }
}

/** One cycle over a fleet, described in full. */
export function decide(fleet: Fleet, nowMs: number, options: DecisionOptions): Plan {
  return new Engine(fleet).decide(nowMs, options).plan();
}

/**
 * What one Need saw at its turn, met or not; null if nobody reported it. A cycle of its own, in which the row waits for
 * the pass over the pools: the plan is the same, but there the row looks at everything.
 */
export function explain(
  fleet: Fleet,
  nowMs: number,
  options: DecisionOptions,
  key: NeedKey,
): Explanation | null {
  const { clusters, demand, keys } = fleet;
  const { offset, length } = demand.rowsOf(clusters.find(key.cluster));
  const number = keys.find(key);
  let row = offset;
  while (row < offset + length && demand.key[row] !== number) row++;
  if (row === offset + length) return null;
  const cycle = new Cycle(fleet);
  cycle.explained.add(number);
  if (demand.same[row] === 1) cycle.explained.add(demand.foldKey[row]!);
  solve(cycle, new Crew(cycle, 1, SMALLEST_ROUND), nowMs, options, true, noProbe);
  // The row's own turn, or that of the fold that hosts it; other rows of that fold may have turns of their own.
  const own = cycle.turns.ofKey[number]!;
  const turn = own === NONE ? cycle.turns.ofKey[demand.foldKey[row]!]! : own;
  const blocker = cycle.explainedBlockers.get(turn) ?? NONE;
  return {
    candidates: cycle.gangs.get(turn)?.candidates ?? [],
    matching: cycle.census.matching(demand.pattern[row]!),
    blocker: blocker === NONE ? null : keys.keyOf(cycle.turns.key[blocker]!),
  };
}
