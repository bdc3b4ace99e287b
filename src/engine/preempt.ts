// Phase 2: rows that Phase 1 left short take machines from rows of strictly lower priority. Nothing moves now: a
// victim drains, its target is the preemptor, and a later cycle binds it. Machines nobody counts on go first.

import { compareText, drainGraceSeconds, MachineState, victimScore } from '../model/index.ts';
import type { Cycle, Served } from './cycle.ts';
import { boundSlots } from './serve.ts';
import { SpreadTest } from './spread.ts';

/** A machine picked for a row. */
export interface Pick {
  readonly slot: number;
  /** Number of the turn it is picked for. */
  readonly turn: number;
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

interface Victim {
  readonly slot: number;
  readonly excess: boolean;
  readonly priority: number;
  readonly score: number;
}

/** Picks for every unmet row, by turn. */
export function preempt(cycle: Cycle): Map<number, Preemption> {
  const phase = new PhaseTwo(cycle);
  const preemptions = new Map<number, Preemption>();
  for (const [number, served] of cycle.served.entries()) {
    if (!served.covered) preemptions.set(number, phase.serve(number, served));
  }
  return preemptions;
}

class PhaseTwo {
  readonly #cycle: Cycle;
  readonly #picked: Uint8Array;
  /** Victims by (pattern, priority), best first: rows that share both share the list. */
  readonly #victims = new Map<string, readonly Victim[]>();

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
    this.#picked = new Uint8Array(cycle.fleet.machines.size);
  }

  serve(number: number, served: Served): Preemption {
    const { want } = this.#cycle;
    const { turn } = served;
    want.restore(turn.row, served.shortage!);
    const drains = this.#cycle.drainingFor(turn, turn.kind !== 'gang');
    if (turn.kind === 'gang') return this.#serveGang(number, served);

    const test = this.#spreadTestOf(served);
    for (const slot of drains) {
      const c = this.#classOf(slot);
      want.take(c, true);
      test?.count(c);
    }
    const picks: Pick[] = [];
    if (this.#cycle.canBind(turn.cluster)) this.#pick(number, served, this.#victimsOf(served), test, picks);
    return { picks, covered: want.covered };
  }

  /** Picks in order until the row is covered. */
  #pick(
    number: number,
    served: Served,
    victims: readonly Victim[],
    test: SpreadTest | null,
    picks: Pick[],
  ): void {
    const { want } = this.#cycle;
    let again = true;
    // A pick can open another domain of a spread for a better victim that was passed over: look from the start again.
    while (again && !want.covered) {
      again = false;
      for (const victim of victims) {
        if (want.covered) break;
        if (this.#picked[victim.slot] === 1) continue;
        const c = this.#classOf(victim.slot);
        if (!want.adds(c, true) || (test !== null && !test.passes(c))) continue;
        this.#picked[victim.slot] = 1;
        want.take(c, true);
        const priority = this.#cycle.fleet.demand.profiles.entryOf(served.turn.profile).profile.priority;
        const graceSeconds = drainGraceSeconds(priority, victim.priority);
        picks.push({ slot: victim.slot, turn: number, graceSeconds, excess: victim.excess });
        if (test !== null) {
          test.count(c);
          again = true;
          break;
        }
      }
    }
  }

  /** A gang preempts only what completes it: domain by domain, the first that can be completed. */
  #serveGang(number: number, served: Served): Preemption {
    const cycle = this.#cycle;
    const { turn } = served;
    const { machines } = cycle.fleet;
    const domains = cycle.fleet.domains.by(cycle.fleet.demand.profiles.entryOf(turn.profile).sameKey!);
    const canBind = cycle.canBind(turn.cluster);
    const victims = canBind ? this.#victimsOf(served) : [];
    const byName = new Map(domains.names.map((name, domain) => [name, domain]));
    const chosen = served.gang!.order;
    const further = [...new Set(victims.map(({ slot }) => domains.names[domains.of(this.#classOf(slot))]!))]
      .filter((name) => !chosen.includes(name))
      .sort(compareText);
    for (const name of [...chosen, ...further]) {
      const domain = byName.get(name)!;
      const counted = this.#countDomain(number, served, domain);
      const eligible = victims.filter(({ slot }) => {
        return domains.of(this.#classOf(slot)) === domain && !counted.has(slot) && machines.held[slot] === 0;
      });
      const picks: Pick[] = [];
      this.#pick(number, served, eligible, null, picks);
      if (cycle.want.covered) return { picks, covered: true };
      for (const { slot } of picks) this.#picked[slot] = 0;
    }
    return { picks: [], covered: false };
  }

  /** Starts from all a gang wants and counts what it has or could have in a domain without preempting anybody. */
  #countDomain(number: number, served: Served, domain: number): Set<number> {
    const cycle = this.#cycle;
    const { turn } = served;
    const { classes, machines, patterns } = cycle.fleet;
    const pattern = patterns.patternOf(turn.pattern);
    const domains = cycle.fleet.domains.by(cycle.fleet.demand.profiles.entryOf(turn.profile).sameKey!);
    const counted = new Set<number>();
    const count = (slot: number): void => {
      if (counted.has(slot) || this.#picked[slot] === 1) return;
      counted.add(slot);
      cycle.want.take(this.#classOf(slot), true);
    };
    const usable = (slot: number): boolean => {
      const c = this.#classOf(slot);
      const by = cycle.claimedBy[slot]!;
      return (by === 0 || by === number + 1) && pattern.fits(c) && domains.of(c) === domain;
    };
    cycle.want.beginRow(turn.row);
    for (const slot of boundSlots(cycle, turn.cluster)) if (usable(slot)) count(slot);
    for (const slot of cycle.targeted(turn)) {
      const state = machines.state[slot];
      const coming =
        state === MachineState.Idle || state === MachineState.Creating || state === MachineState.Draining;
      if (coming && machines.held[slot] === 0 && usable(slot)) count(slot);
    }
    // Its own claims among Idle and Speculative machines, and what nobody claims.
    for (const slot of served.claims) if (usable(slot)) count(slot);
    if (!cycle.canBind(turn.cluster)) return counted;
    for (const slot of cycle.pools.freeSpecial()) if (usable(slot)) count(slot);
    for (let c = 0; c < classes.size; c++) {
      const free = cycle.pools.freeIdle(c) + cycle.pools.freeSpeculative(c);
      if (free === 0 || !pattern.fits(c) || domains.of(c) !== domain) continue;
      for (let i = 0; i < free && !cycle.want.covered; i++) cycle.want.take(c, true);
    }
    return counted;
  }

  #spreadTestOf(served: Served): SpreadTest | null {
    if (served.spread === null) return null;
    const { spreadKey, maxSkew } = this.#cycle.fleet.demand.profiles.entryOf(served.turn.profile);
    const { counts, domains, free } = served.spread;
    const view = { counts: new Map(counts), domains: new Set(domains), free };
    return new SpreadTest(this.#cycle.fleet.domains.by(spreadKey!), maxSkew, view);
  }

  #victimsOf(served: Served): readonly Victim[] {
    const { turn } = served;
    const { demand, machines, patterns } = this.#cycle.fleet;
    const { priority } = demand.profiles.entryOf(turn.profile).profile;
    const memo = `${turn.pattern}/${priority}`;
    let victims = this.#victims.get(memo);
    if (victims === undefined) {
      const pattern = patterns.patternOf(turn.pattern);
      const found: Victim[] = [];
      for (let slot = 0; slot < machines.size; slot++) {
        if (machines.state[slot] !== MachineState.Configured || machines.held[slot] === 1) continue;
        if (!pattern.fits(machines.classOf[slot]!)) continue;
        const victim = this.#victim(slot, priority);
        if (victim !== null) found.push(victim);
      }
      found.sort(
        (a, b) =>
          Number(b.excess) - Number(a.excess) ||
          b.score - a.score ||
          machines.ordinal[a.slot]! - machines.ordinal[b.slot]!,
      );
      victims = found;
      this.#victims.set(memo, victims);
    }
    return victims;
  }

  /** The machine as a victim of a row with this priority, or null if it is none. */
  #victim(slot: number, preemptor: number): Victim | null {
    const cycle = this.#cycle;
    const { demand, machines } = cycle.fleet;
    const { stamps } = machines;
    const stamp = machines.stamp[slot]!;
    const stamped = stamps.hasPriority[stamp] === 1;
    const ready = cycle.isReady(machines.cluster[slot]!);
    const claimant = cycle.claimedBy[slot]!;
    const drainSeconds = cycle.fleet.classes.drainSeconds[machines.classOf[slot]!]!;
    // A cluster that has not reported cannot vouch for who uses a machine: only the stamp can.
    if ((claimant === 0 || !ready) && !(stamped && stamps.priority[stamp]! < preemptor)) return null;
    let priority = stamps.priority[stamp]!;
    let interruptionDollars = stamps.interruptionDollars[stamp]!;
    let reclamationDollars = stamps.reclamationDollars[stamp]!;
    if (claimant !== 0) {
      const entry = demand.profiles.entryOf(cycle.served[claimant - 1]!.turn.profile);
      ({ interruptionDollars, reclamationDollars } = entry);
      priority = entry.profile.priority;
      if (priority >= preemptor) return null;
    }
    const score = victimScore(
      preemptor,
      { priority, drainSeconds, interruptionDollars, reclamationDollars },
      cycle.options.weights,
    );
    return { slot, excess: claimant === 0 && ready, priority, score };
  }

  #classOf(slot: number): number {
    return this.#cycle.fleet.machines.classOf[slot]!;
  }
}
