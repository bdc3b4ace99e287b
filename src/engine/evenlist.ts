// What a strict-spread row already has: its bound machines, taken evenly over the domains of its key.

import type { Domains, Pattern } from '../fleet/index.ts';
import type { Cycle } from './cycle.ts';
import { NONE } from './turns.ts';
import type { Want } from './want.ts';

/** Machines of one domain that are still to be looked at, in walk order, with their place in the whole walk. */
interface Queue {
  readonly slots: number[];
  readonly places: number[];
  next: number;
  /** Machines the row has in the domain; more than any number for machines without the key, which come last. */
  count: number;
}

/** Bound machines a strict-spread row may be credited with, in walk order, taken evenly over their domains. */
export class EvenList {
  readonly #cycle: Cycle;
  readonly #turn: number;
  readonly #domains: Domains;
  readonly #pattern: Pattern;
  #queues = new Map<number, Queue>();
  #length = 0;

  constructor(cycle: Cycle, turn: number, domains: Domains) {
    this.#cycle = cycle;
    this.#turn = turn;
    this.#domains = domains;
    this.#pattern = cycle.fleet.patterns.patternOf(cycle.turns.pattern[turn]!);
  }

  /** The row's own machines and orphans that match. */
  collectMine(): void {
    this.#clear();
    const walk = this.#cycle.mine.begin(this.#turn);
    for (let slot = walk.next(); slot !== NONE; slot = walk.next()) this.#add(slot);
  }

  /** Machines of other live rows that match. With `early`, the cluster is still being credited. */
  collectOthers(early: boolean): void {
    this.#clear();
    const cycle = this.#cycle;
    const key = cycle.turns.key[this.#turn]!;
    const cluster = cycle.turns.cluster[this.#turn]!;
    const walk = early ? cycle.walkFree(cluster) : cycle.walkLeft(cluster);
    for (let slot = walk.next(); slot !== NONE; slot = walk.next()) {
      if (cycle.isAnothers(slot, key)) this.#add(slot);
    }
  }

  #clear(): void {
    this.#queues = new Map();
    this.#length = 0;
  }

  #add(slot: number): void {
    const c = this.#classOf(slot);
    if (!this.#cycle.isFree(slot) || !this.#pattern.matches(c)) return;
    const domain = this.#domains.of(c);
    let queue = this.#queues.get(domain);
    if (queue === undefined) {
      queue = {
        slots: [],
        places: [],
        next: 0,
        count: domain < 0 ? Number.MAX_SAFE_INTEGER : this.#claimsIn(domain),
      };
      this.#queues.set(domain, queue);
    }
    queue.slots.push(slot);
    queue.places.push(this.#length++);
  }

  /** Machines the row was credited with in a domain so far. */
  #claimsIn(domain: number): number {
    const { claims, creditEnd, creditStart } = this.#cycle;
    let count = 0;
    for (let i = creditStart[this.#turn]!; i < creditEnd[this.#turn]!; i++) {
      if (this.#domains.of(this.#classOf(claims[i]!)) === domain) count++;
    }
    return count;
  }

  /** Credits until the sum is covered; a machine for the largest pod before all others. False: one is contested. */
  credit(drains: readonly number[], early: boolean): boolean {
    if (this.#length === 0) return true;
    let want = this.#cycle.beyond(this.#turn, drains);
    if (want.unitMissing && !this.#claim(this.#firstUnit(want), early)) return false;
    for (;;) {
      want = this.#cycle.beyond(this.#turn, drains);
      if (want.sumCovered) return true;
      const slot = this.#next(want);
      if (slot === NONE) return true;
      if (!this.#claim(slot, early)) return false;
    }
  }

  #claim(slot: number, early: boolean): boolean {
    if (slot === NONE) return true;
    const c = this.#classOf(slot);
    if (early && this.#cycle.contests.has(c, slot)) return false;
    this.#cycle.credit(this.#turn, slot, this.#pattern.fits(c));
    this.#queues.get(this.#domains.of(c))!.count++;
    return true;
  }

  /** The first machine of the domain with the fewest claims; one without the key when no domain has more. */
  #next(want: Want): number {
    let best: Queue | undefined;
    for (const queue of this.#queues.values()) {
      // What adds nothing now never will: the row's want only shrinks.
      while (queue.next < queue.slots.length && !this.#adds(queue.slots[queue.next]!, want)) queue.next++;
      if (queue.next === queue.slots.length) continue;
      const better =
        best === undefined ||
        queue.count < best.count ||
        (queue.count === best.count && queue.places[queue.next]! < best.places[best.next]!);
      if (better) best = queue;
    }
    return best === undefined ? NONE : best.slots[best.next]!;
  }

  /** The same among machines that hold the largest pod. */
  #firstUnit(want: Want): number {
    let first = NONE;
    let place = 0;
    let fewest = Number.POSITIVE_INFINITY;
    for (const { count, places, slots } of this.#queues.values()) {
      const at = slots.findIndex((slot) => this.#pattern.fits(this.#classOf(slot)) && this.#adds(slot, want));
      if (at === -1 || count > fewest || (count === fewest && places[at]! > place)) continue;
      first = slots[at]!;
      place = places[at]!;
      fewest = count;
    }
    return first;
  }

  #adds(slot: number, want: Want): boolean {
    const c = this.#classOf(slot);
    return this.#cycle.isFree(slot) && want.adds(c, this.#pattern.fits(c));
  }

  #classOf(slot: number): number {
    return this.#cycle.fleet.machines.classOf[slot]!;
  }
}
