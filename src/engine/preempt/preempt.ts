// Phase 2: rows that Phase 1 left short preempt machines of rows of strictly lower priority, and machines on hold. Nothing
// moves now: a victim drains, its target is the preemptor, and a later cycle binds it. Unclaimed machines go first. Called
// by engine.ts.

import type { ReadonlyColumn } from '../../collections/table.ts';
import { compareText, drainGraceSeconds, MachineState, RECLAIM_GRACE_SECONDS } from '../../model/index.ts';
import { domainsOf } from '../assign/gang.ts';
import { adoptableBy, drainingFor, targeted } from '../assign/in-flight.ts';
import { isPurchasedClass } from '../assign/purchases.ts';
import { NONE, RowKind } from '../assign/ranked-rows.ts';
import { Remainders } from '../assign/remainders.ts';
import { type SpreadTest, spreadTestOf } from '../assign/skew.ts';
import type { Cycle } from '../cycle.ts';
import type { Unmet } from '../unmet.ts';
import { VictimAvailability } from './victim-availability.ts';
import { NO_VICTIMS, type VictimList, Victims } from './victims.ts';

interface Pick {
  readonly slot: number;
  readonly graceSeconds: number;
  /** Unclaimed, in a cluster that has reported. */
  readonly excess: boolean;
}

/** Result of Phase 2 for one row. */
export interface Preemption {
  readonly picks: readonly Pick[];
  /** Whether machines that drain for the row, and those picked now, cover it. */
  readonly covered: boolean;
  /** A gang that no domain could complete even with all its machines. */
  readonly infeasible: boolean;
}

const NO_PURCHASES: ReadonlyMap<number, number> = new Map();
const NOTHING: Preemption = { picks: [], covered: false, infeasible: false };
const INFEASIBLE: Preemption = { picks: [], covered: false, infeasible: true };

/** Picks for every unmet row, by ranked row. */
export function preempt(cycle: Cycle): Map<number, Preemption> {
  const preemptions = new Map<number, Preemption>();
  if (cycle.result.unmet.length === 0) return preemptions;
  const phase = new PhaseTwo(cycle);
  for (const turn of turnsOf(cycle)) {
    if (typeof turn === 'number') phase.lendDrains(turn);
    else preemptions.set(turn.rankedRow, phase.serve(turn));
  }
  return preemptions;
}

/** Unmet rows in the order they were served; with sharing also met lenders that machines drain for, by ranked row. */
function turnsOf(cycle: Cycle): readonly (Unmet | number)[] {
  const { pass, rankedRows, result, sharing } = cycle;
  if (!sharing.isActive) return result.unmet;
  const isUnmet = new Set(result.unmet.map(({ rankedRow }) => rankedRow));
  const turns: (Unmet | number)[] = [...result.unmet];
  for (let place = 0; place < pass.count; place++) {
    const rankedRow = pass.rankedRow[place]!;
    if (rankedRows.hasInFlight[rankedRow] === 0 || isUnmet.has(rankedRow) || !sharing.lends(rankedRow))
      continue;
    if (drainingFor(cycle, rankedRow, true).length > 0) turns.push(rankedRow);
  }
  if (turns.length === result.unmet.length) return turns;
  const rowOf = (turn: Unmet | number): number => (typeof turn === 'number' ? turn : turn.rankedRow);
  return turns.sort((a, b) => rankedRows.compare(rowOf(a), rowOf(b)));
}

class PhaseTwo {
  readonly #cycle: Cycle;
  readonly #picked: ReadonlyColumn<Uint8Array>;
  /** Victims by (pattern, priority): rows that share both share the list. */
  readonly #victims = new Map<string, VictimList>();
  #availability: VictimAvailability | null = null;
  /** By cluster: its list of what machines that drain for its rows will leave over. */
  readonly #secondLists = new Map<number, number>();
  readonly #remainders: Remainders;

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
    cycle.result.reservePicks(cycle.fleet.machines.size);
    this.#picked = cycle.result.picked;
    this.#remainders = new Remainders(cycle.fleet);
    this.#remainders.clear();
  }

  serve(unmet: Unmet): Preemption {
    const { rankedRows, unfilled } = this.#cycle;
    const { rankedRow } = unmet;
    if (rankedRows.kind[rankedRow] === RowKind.SetAside) return NOTHING;
    if (rankedRows.kind[rankedRow] === RowKind.Gang) {
      // One domain must have enough machines, claimed or not.
      const possible = this.#cycle.availability
        .of(rankedRow)
        .domainsThatCouldCover(rankedRows.row[rankedRow]!);
      return possible.length > 0 ? this.#serveGang(rankedRow) : INFEASIBLE;
    }
    const { sharing } = this.#cycle;
    const lends = sharing.lends(rankedRow);
    unfilled.restore(rankedRows.row[rankedRow]!, unmet.shortage);
    if (lends) sharing.borrowArriving(rankedRow, this.#remainders, this.#secondListOf(rankedRow));
    const want = lends ? unfilled.deficit() : null;
    const test = this.#spreadTestOf(unmet);
    const arriving = drainingFor(this.#cycle, rankedRow, true).slice();
    for (const slot of arriving) {
      const c = this.#classOf(slot);
      unfilled.take(c, true);
      test?.count(c);
    }
    if (lends) this.#adopt(rankedRow, test, arriving);
    const picks: Pick[] = [];
    if (this.#cycle.canBind(rankedRow)) this.#pick(rankedRow, this.#victimsOf(rankedRow), null, test, picks);
    if (want !== null) {
      for (const { slot } of picks) arriving.push(slot);
      this.#lendArriving(rankedRow, unmet.shares.length > 0, arriving, want);
    }
    return picks.length === 0 && !unfilled.covered
      ? NOTHING
      : { picks, covered: unfilled.covered, infeasible: false };
  }

  /** Machines that drain for a row that is met are left over for later rows. */
  lendDrains(rankedRow: number): void {
    const want = new Float64Array(this.#cycle.fleet.dimensions.count);
    const drains = drainingFor(this.#cycle, rankedRow, true);
    this.#lendArriving(rankedRow, this.#cycle.sharing.borrowedInPass[rankedRow] === 1, drains, want);
  }

  #lendArriving(
    rankedRow: number,
    hasBorrowed: boolean,
    arriving: readonly number[],
    want: Float64Array,
  ): void {
    const list = this.#secondListOf(rankedRow);
    this.#cycle.sharing.lendArriving(rankedRow, hasBorrowed, arriving, want, this.#remainders, list);
  }

  #secondListOf(rankedRow: number): number {
    const cluster = this.#cycle.rankedRows.cluster[rankedRow]!;
    let list = this.#secondLists.get(cluster);
    if (list === undefined) {
      list = this.#remainders.open();
      this.#secondLists.set(cluster, list);
    }
    return list;
  }

  /** Takes over machines of the row's cluster that drain for a row which is gone: they are re-targeted to this one. */
  #adopt(rankedRow: number, test: SpreadTest | null, arriving: number[]): void {
    const { result, unfilled } = this.#cycle;
    const slots = adoptableBy(this.#cycle, rankedRow);
    while (slots.length > 0 && !unfilled.covered) {
      test?.settle(unfilled);
      const next = slots.find((slot) => {
        const c = this.#classOf(slot);
        if (result.retargets.has(slot) || !unfilled.adds(c, true)) return false;
        return test === null || test.passes(c);
      });
      if (next === undefined) return;
      result.retarget(next, rankedRow);
      arriving.push(next);
      unfilled.take(this.#classOf(next), true);
      test?.count(this.#classOf(next));
    }
  }

  /** Picks in order until the row is covered, from the victims that pass `eligible`. */
  #pick(
    rankedRow: number,
    victims: VictimList,
    eligible: ((slot: number) => boolean) | null,
    test: SpreadTest | null,
    picks: Pick[],
  ): void {
    const { unfilled } = this.#cycle;
    if (unfilled.covered) return;
    const priority = this.#priorityOf(rankedRow);
    const first = victims.first(this.#picked);
    let again = true;
    // A pick can open another domain of a spread for a better victim that was passed over: start from the first again.
    while (again && !unfilled.covered) {
      again = false;
      test?.settle(unfilled);
      for (let i = first; victims.has(i) && !unfilled.covered; i++) {
        const slot = victims.slotAt(i);
        if (this.#picked[slot] === 1) continue;
        const c = this.#classOf(slot);
        if (!unfilled.adds(c, true) || (test !== null && !test.passes(c))) continue;
        if (eligible !== null && !eligible(slot)) continue;
        this.#cycle.result.pick(slot);
        unfilled.take(c, true);
        const excess = victims.isExcess(i);
        const graceSeconds =
          excess && this.#cycle.options.reclaimHoldSeconds > 0
            ? RECLAIM_GRACE_SECONDS
            : drainGraceSeconds(priority, victims.priorityAt(i));
        picks.push({ slot, graceSeconds, excess });
        if (test !== null) {
          test.count(c);
          again = true;
          break;
        }
      }
    }
  }

  /** A gang preempts only if that completes it, in the first domain where it does. */
  #serveGang(rankedRow: number): Preemption {
    const cycle = this.#cycle;
    const { purchases } = cycle;
    const domains = domainsOf(cycle, rankedRow);
    for (const domain of this.#hopeful(rankedRow)) {
      // It would need all of them, or it would need no victim.
      const bought = purchases.areLimited ? this.#purchasesIn(rankedRow, domain) : NO_PURCHASES;
      const mayBuy = purchases.hasLeftFor(rankedRow, bought);
      const counted = this.#countDomain(rankedRow, domain, mayBuy ? NO_PURCHASES : bought);
      const picks: Pick[] = [];
      const eligible = (slot: number): boolean => {
        return domains.of(this.#classOf(slot)) === domain && !counted.has(slot);
      };
      this.#pick(rankedRow, this.#victimsOfGang(rankedRow), eligible, null, picks);
      if (cycle.unfilled.covered) {
        if (mayBuy && picks.length > 0) purchases.reserve(rankedRow, bought);
        return { picks, covered: true, infeasible: false };
      }
      for (const { slot } of picks) cycle.result.unpick(slot);
    }
    return NOTHING;
  }

  /** By class: purchases that a gang could make in a domain. */
  #purchasesIn(rankedRow: number, domain: number): ReadonlyMap<number, number> {
    const { availability, fleet, freeMachines, purchases } = this.#cycle;
    const found = new Map<number, number>();
    if (purchases.areWithheld(rankedRow)) return found;
    for (const c of availability.of(rankedRow).classesIn(domain)) {
      const machines = isPurchasedClass(fleet, c) ? freeMachines.freeSpeculative(c) : 0;
      if (machines > 0) found.set(c, machines);
    }
    return found;
  }

  /**
   * Domains that might complete a gang, by an upper bound: everything that fits and is free, its cluster's or its own, and
   * every victim. First the domains it chose from in its own ranking, then those with victims only, by name. Saves trying
   * each rack of a fleet one by one.
   */
  #hopeful(rankedRow: number): number[] {
    const cycle = this.#cycle;
    const possible = cycle.availability.of(rankedRow).domainsThatCouldCover(cycle.rankedRows.row[rankedRow]!);
    if (possible.length === 0) return [];
    const { names } = domainsOf(cycle, rankedRow);
    const chosen = cycle.result.gangs.get(rankedRow)!.order;
    const tried = new Set(chosen);
    const further = possible
      .filter((domain) => !tried.has(domain))
      .sort((a, b) => compareText(names[a]!, names[b]!));
    const { demand, dimensions } = cycle.fleet;
    const have = this.#generously(rankedRow);
    const wanted = demand.aggregate.data;
    const from = cycle.rankedRows.row[rankedRow]! * dimensions.stride;
    return [...chosen, ...further].filter((domain) => {
      for (let d = 0; d < dimensions.count; d++) {
        if (have[domain * dimensions.count + d]! < wanted[from + d]!) return false;
      }
      return true;
    });
  }

  /** By domain and dimension: upper bound of what a gang could claim or preempt; some machines count twice. */
  #generously(rankedRow: number): Float64Array {
    const cycle = this.#cycle;
    const { classes, dimensions, patterns } = cycle.fleet;
    const { count: dims, stride } = dimensions;
    const pattern = patterns.patternOf(cycle.rankedRows.pattern[rankedRow]!);
    const availability = cycle.availability.of(rankedRow);
    availability.refreshAll();
    const have = availability.free.slice();
    const add = (c: number, count: number): void => {
      const at = availability.domains.of(c) * dims;
      for (let d = 0; d < dims; d++) have[at + d]! += classes.allocatable.data[c * stride + d]! * count;
    };
    for (const slot of targeted(cycle, rankedRow)) add(this.#classOf(slot), 1);
    for (const slot of cycle.claims.of(rankedRow)) add(this.#classOf(slot), 1);
    const walk = cycle.walk.begin(cycle.rankedRows.cluster[rankedRow]!);
    for (let slot = walk.next(); slot !== NONE; slot = walk.next()) {
      if (cycle.claims.isFree(slot) && pattern.fits(this.#classOf(slot))) add(this.#classOf(slot), 1);
    }
    const victims = this.#victimsOfGang(rankedRow);
    for (const c of victims.classes) add(c, victims.countOf(c));
    return have;
  }

  /**
   * Starts from the whole aggregate of a gang and subtracts what it has or could claim in a domain without a preemption, but
   * for some purchases.
   */
  #countDomain(rankedRow: number, domain: number, without: ReadonlyMap<number, number>): Set<number> {
    const cycle = this.#cycle;
    const { machines, patterns } = cycle.fleet;
    const pattern = patterns.patternOf(cycle.rankedRows.pattern[rankedRow]!);
    const domains = domainsOf(cycle, rankedRow);
    const counted = new Set<number>();
    const count = (slot: number): void => {
      const c = this.#classOf(slot);
      const by = cycle.claims.claimedBy[slot]!;
      if ((by !== 0 && by !== rankedRow + 1) || !pattern.fits(c) || domains.of(c) !== domain) return;
      if (counted.has(slot) || this.#picked[slot] === 1) return;
      counted.add(slot);
      cycle.unfilled.take(c, true);
    };
    cycle.beginUnfilled(rankedRow);
    const walk = cycle.walk.begin(cycle.rankedRows.cluster[rankedRow]!);
    for (let slot = walk.next(); slot !== NONE; slot = walk.next()) count(slot);
    for (const slot of targeted(cycle, rankedRow)) {
      const state = machines.state[slot];
      const inFlight =
        state === MachineState.Idle || state === MachineState.Creating || state === MachineState.Draining;
      if (inFlight && machines.blocked[slot] === 0) count(slot);
    }
    // Its own claims among Idle and Speculative machines, and unclaimed ones.
    for (const slot of cycle.claims.of(rankedRow)) count(slot);
    if (!cycle.canBind(rankedRow)) return counted;
    for (const slot of cycle.availability.of(rankedRow).specialIn(domain)) count(slot);
    for (const c of cycle.availability.of(rankedRow).classesIn(domain)) {
      const free = cycle.freeFor(rankedRow, c) - (without.get(c) ?? 0);
      for (let i = 0; i < free && cycle.unfilled.adds(c, true); i++) cycle.unfilled.take(c, true);
    }
    return counted;
  }

  #victimsOfGang(rankedRow: number): VictimList {
    return this.#cycle.canBind(rankedRow) ? this.#victimsOf(rankedRow) : NO_VICTIMS;
  }

  #spreadTestOf({ rankedRow, spread }: Unmet): SpreadTest | null {
    return spread === null ? null : spreadTestOf(this.#cycle, rankedRow, spread);
  }

  #priorityOf(rankedRow: number): number {
    return this.#cycle.fleet.demand.profiles.entryOf(this.#cycle.rankedRows.profile[rankedRow]!).profile
      .priority;
  }

  #victimsOf(rankedRow: number): VictimList {
    const pattern = this.#cycle.rankedRows.pattern[rankedRow]!;
    const priority = this.#priorityOf(rankedRow);
    const memo = `${pattern}/${priority}`;
    let victims = this.#victims.get(memo);
    if (victims === undefined) {
      this.#availability ??= new VictimAvailability(this.#cycle);
      victims = new Victims(this.#availability, pattern, priority);
      this.#victims.set(memo, victims);
    }
    return victims;
  }

  #classOf(slot: number): number {
    return this.#cycle.fleet.machines.classOf[slot]!;
  }
}
