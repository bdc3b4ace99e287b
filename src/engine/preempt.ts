// Phase 2: rows that Phase 1 left short take machines from rows of strictly lower priority. Nothing moves now: a
// victim drains, its target is the preemptor, and a later cycle binds it. Machines nobody counts on go first.

import type { Domains } from '../fleet/index.ts';
import { compareText, drainGraceSeconds, MachineState } from '../model/index.ts';
import type { Cycle } from './cycle.ts';
import { drainingFor, targeted } from './flight.ts';
import { domainsOf } from './gang.ts';
import { type SpreadTest, spreadTestOf } from './skew.ts';
import { NONE, TurnKind } from './turns.ts';
import type { Unmet } from './unmet.ts';
import { NO_VICTIMS, type VictimList, VictimStock } from './victims.ts';

/** A machine picked for a row. */
interface Pick {
  readonly slot: number;
  readonly graceSeconds: number;
  /** Nobody counted on it. */
  readonly excess: boolean;
}

/** What Phase 2 did for one row. */
export interface Preemption {
  readonly picks: readonly Pick[];
  /** Machines that drain for the row and those picked now cover it. */
  readonly covered: boolean;
}

/** Picks for every unmet row, by turn. */
export function preempt(cycle: Cycle): Map<number, Preemption> {
  const phase = new PhaseTwo(cycle);
  const preemptions = new Map<number, Preemption>();
  for (const unmet of cycle.unmet) preemptions.set(unmet.turn, phase.serve(unmet));
  return preemptions;
}

class PhaseTwo {
  readonly #cycle: Cycle;
  readonly #picked: Uint8Array;
  /** Victims by (pattern, priority): rows that share both share the list. */
  readonly #victims = new Map<string, VictimList>();
  readonly #stock: VictimStock;
  /** By pattern of a gang: what the pools have left. Phase 2 takes nothing from them. */
  readonly #free = new Map<number, Float64Array>();

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
    this.#picked = new Uint8Array(cycle.fleet.machines.size);
    this.#stock = new VictimStock(cycle);
  }

  serve(unmet: Unmet): Preemption {
    const { turns, want } = this.#cycle;
    const { turn } = unmet;
    if (turns.kind[turn] === TurnKind.Gang) return this.#serveGang(turn);
    want.restore(turns.row[turn]!, unmet.shortage);
    const test = this.#spreadTestOf(unmet);
    for (const slot of drainingFor(this.#cycle, turn, true)) {
      const c = this.#classOf(slot);
      want.take(c, true);
      test?.count(c);
    }
    const picks: Pick[] = [];
    if (this.#cycle.canBind(turns.cluster[turn]!)) this.#pick(turn, this.#victimsOf(turn), null, test, picks);
    return { picks, covered: want.covered };
  }

  /** Picks in order until the row is covered, from the victims that `eligible` lets through. */
  #pick(
    turn: number,
    victims: VictimList,
    eligible: ((slot: number) => boolean) | null,
    test: SpreadTest | null,
    picks: Pick[],
  ): void {
    const { want } = this.#cycle;
    const priority = this.#priorityOf(turn);
    let again = true;
    // A pick can open another domain of a spread for a better victim that was passed over: look from the start again.
    while (again && !want.covered) {
      again = false;
      test?.settle(want);
      for (let i = 0; victims.has(i) && !want.covered; i++) {
        const slot = victims.slotAt(i);
        if (this.#picked[slot] === 1) continue;
        const c = this.#classOf(slot);
        if (!want.adds(c, true) || (test !== null && !test.passes(c))) continue;
        if (eligible !== null && !eligible(slot)) continue;
        this.#picked[slot] = 1;
        want.take(c, true);
        const graceSeconds = drainGraceSeconds(priority, victims.priorityAt(i));
        picks.push({ slot, graceSeconds, excess: victims.isExcess(i) });
        if (test !== null) {
          test.count(c);
          again = true;
          break;
        }
      }
    }
  }

  /** A gang preempts only what completes it: domain by domain, the first that can be completed. */
  #serveGang(turn: number): Preemption {
    const cycle = this.#cycle;
    const domains = domainsOf(cycle, turn);
    const victims = cycle.canBind(cycle.turns.cluster[turn]!) ? this.#victimsOf(turn) : NO_VICTIMS;
    const byName = new Map(domains.names.map((name, domain) => [name, domain]));
    const chosen = cycle.gangs.get(turn)!.order;
    const further = [...new Set(victims.classes.map((c) => domains.names[domains.of(c)]!))]
      .filter((name) => !chosen.includes(name))
      .sort(compareText);
    const hopeful = this.#hopeful(turn, victims);
    for (const name of [...chosen, ...further]) {
      const domain = byName.get(name)!;
      if (hopeful[domain] === 0) continue;
      const counted = this.#countDomain(turn, domain);
      const picks: Pick[] = [];
      const eligible = (slot: number): boolean => {
        return domains.of(this.#classOf(slot)) === domain && !counted.has(slot);
      };
      this.#pick(turn, victims, eligible, null, picks);
      if (cycle.want.covered) return { picks, covered: true };
      for (const { slot } of picks) this.#picked[slot] = 0;
    }
    return { picks: [], covered: false };
  }

  /**
   * By domain: 1 if it might complete a gang, counting generously everything that fits and is free, its cluster's or
   * its own, and every victim. Saves trying each rack of a fleet one by one.
   */
  #hopeful(turn: number, victims: VictimList): Uint8Array {
    const cycle = this.#cycle;
    const { classes, demand, dimensions, patterns } = cycle.fleet;
    const { count: dims, stride } = dimensions;
    const pattern = patterns.patternOf(cycle.turns.pattern[turn]!);
    const domains = domainsOf(cycle, turn);
    const want = demand.aggregate.data;
    const from = cycle.turns.row[turn]! * stride;
    const have = this.#freeOf(cycle.turns.pattern[turn]!, domains).slice();
    const add = (c: number, count: number): void => {
      const at = domains.of(c) * dims;
      for (let d = 0; d < dims; d++) have[at + d]! += classes.allocatable.data[c * stride + d]! * count;
    };
    for (const slot of targeted(cycle, turn)) add(this.#classOf(slot), 1);
    for (const slot of cycle.claimsOf(turn)) add(this.#classOf(slot), 1);
    const walk = cycle.walk.begin(cycle.turns.cluster[turn]!);
    for (let slot = walk.next(); slot !== NONE; slot = walk.next()) {
      if (cycle.isFree(slot) && pattern.fits(this.#classOf(slot))) add(this.#classOf(slot), 1);
    }
    for (const c of victims.classes) add(c, victims.countOf(c));
    const hopeful = new Uint8Array(domains.names.length).fill(1);
    for (let domain = 0; domain < hopeful.length; domain++) {
      for (let d = 0; d < dims; d++) if (have[domain * dims + d]! < want[from + d]!) hopeful[domain] = 0;
    }
    return hopeful;
  }

  /** What the pools have left for a pattern, by domain and dimension; above 2^53 rounded, and still enough. */
  #freeOf(number: number, domains: Domains): Float64Array {
    let free = this.#free.get(number);
    if (free !== undefined) return free;
    const { pools, fleet } = this.#cycle;
    const { count: dims, stride } = fleet.dimensions;
    const offered = fleet.classes.allocatable.data;
    const pattern = fleet.patterns.patternOf(number);
    free = new Float64Array(domains.names.length * dims);
    for (const c of pattern.fittingClasses()) {
      const count = pools.freeIdle(c) + pools.freeSpeculative(c);
      if (count === 0) continue;
      for (let d = 0; d < dims; d++) free[domains.of(c) * dims + d]! += offered[c * stride + d]! * count;
    }
    for (const slot of pools.freeSpecial()) {
      const c = this.#classOf(slot);
      if (!pattern.fits(c)) continue;
      for (let d = 0; d < dims; d++) free[domains.of(c) * dims + d]! += offered[c * stride + d]!;
    }
    this.#free.set(number, free);
    return free;
  }

  /** Starts from all a gang wants and counts what it has or could have in a domain without preempting anybody. */
  #countDomain(turn: number, domain: number): Set<number> {
    const cycle = this.#cycle;
    const { machines, patterns } = cycle.fleet;
    const pattern = patterns.patternOf(cycle.turns.pattern[turn]!);
    const domains = domainsOf(cycle, turn);
    const counted = new Set<number>();
    const count = (slot: number): void => {
      const c = this.#classOf(slot);
      const by = cycle.claimedBy[slot]!;
      if ((by !== 0 && by !== turn + 1) || !pattern.fits(c) || domains.of(c) !== domain) return;
      if (counted.has(slot) || this.#picked[slot] === 1) return;
      counted.add(slot);
      cycle.want.take(c, true);
    };
    cycle.beginWant(turn);
    const walk = cycle.walk.begin(cycle.turns.cluster[turn]!);
    for (let slot = walk.next(); slot !== NONE; slot = walk.next()) count(slot);
    for (const slot of targeted(cycle, turn)) {
      const state = machines.state[slot];
      const coming =
        state === MachineState.Idle || state === MachineState.Creating || state === MachineState.Draining;
      if (coming && machines.held[slot] === 0) count(slot);
    }
    // Its own claims among Idle and Speculative machines, and what nobody claims.
    for (const slot of cycle.claimsOf(turn)) count(slot);
    if (!cycle.canBind(cycle.turns.cluster[turn]!)) return counted;
    for (const slot of cycle.pools.freeSpecial()) count(slot);
    for (const c of pattern.fittingClasses()) {
      if (domains.of(c) !== domain) continue;
      const free = cycle.pools.freeIdle(c) + cycle.pools.freeSpeculative(c);
      for (let i = 0; i < free && cycle.want.adds(c, true); i++) cycle.want.take(c, true);
    }
    return counted;
  }

  #spreadTestOf({ turn, spread }: Unmet): SpreadTest | null {
    return spread === null ? null : spreadTestOf(this.#cycle, turn, spread);
  }

  #priorityOf(turn: number): number {
    return this.#cycle.fleet.demand.profiles.entryOf(this.#cycle.turns.profile[turn]!).profile.priority;
  }

  #victimsOf(turn: number): VictimList {
    const pattern = this.#cycle.turns.pattern[turn]!;
    const priority = this.#priorityOf(turn);
    const memo = `${pattern}/${priority}`;
    let victims = this.#victims.get(memo);
    if (victims === undefined) {
      victims = this.#stock.victims(pattern, priority);
      this.#victims.set(memo, victims);
    }
    return victims;
  }

  #classOf(slot: number): number {
    return this.#cycle.fleet.machines.classOf[slot]!;
  }
}
