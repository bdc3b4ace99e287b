// Credit of a strict-spread row: its bound machines, claimed evenly over the domains of its topology label. Used by spread.ts
// as `cycle.evenList`.

import { withRoom } from '../../collections/columns.ts';
import type { Domains, Pattern } from '../../fleet/index.ts';
import type { Cycle } from '../cycle.ts';
import { NONE } from './ranked-rows.ts';
import type { Unfilled } from './unfilled.ts';

/** Count of the queue of machines without the key: above any real count, since they come last. */
const LAST_OF_ALL = Number.MAX_SAFE_INTEGER;

/**
 * Bound machines that a strict-spread row may be credited with, in walk order, claimed evenly over their domains. One
 * instance serves all rows, one after another: lists per row would be most of the garbage of a cycle.
 */
export class EvenList {
  readonly #cycle: Cycle;
  #rankedRow = 0;
  #domains!: Domains;
  #pattern!: Pattern;
  /** Whether the machines are those of other live rows. */
  #areOthers = false;
  #length = 0;
  /** By position in the walk: the machine, and the position of the next one in its domain. */
  #slots = new Uint32Array(0);
  #behind = new Int32Array(0);
  /** Number of queues: one for each domain with machines, in the order they were found. */
  #queues = 0;
  #domainOf = new Int32Array(0);
  /** By queue: positions of the first machine that is still to be tested, and of the last. */
  #first = new Int32Array(0);
  #last = new Int32Array(0);
  /** By queue: number of the row's machines in the domain. */
  #counts = new Float64Array(0);
  /** By domain plus one, 0 being none: its queue plus one. */
  #queueOf = new Int32Array(0);

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
  }

  /** Prepares a row that is spread over these domains. */
  begin(rankedRow: number, domains: Domains): this {
    this.#rankedRow = rankedRow;
    this.#domains = domains;
    this.#pattern = this.#cycle.patternOf(rankedRow);
    return this;
  }

  /** Collects the row's own machines and orphans that match. */
  collectOwnAndOrphans(): void {
    this.#clear();
    this.#areOthers = false;
    const walk = this.#cycle.ownAndOrphans.begin(this.#rankedRow);
    for (let slot = walk.next(); slot !== NONE; slot = walk.next()) this.#add(slot);
  }

  /** Collects machines of other live rows that fit. With `early`, the cluster is still being credited. */
  collectOthers(early: boolean): void {
    this.#clear();
    this.#areOthers = true;
    const cycle = this.#cycle;
    const key = cycle.rankedRows.key[this.#rankedRow]!;
    const cluster = cycle.rankedRows.cluster[this.#rankedRow]!;
    const walk = early ? cycle.credits.walkUnclaimed(cluster) : cycle.credits.walkUnclaimedAtClose(cluster);
    for (let slot = walk.next(); slot !== NONE; slot = walk.next()) {
      // The fit comes first: few machines fit, and finding the owner costs more.
      if (this.#pattern.fits(this.#classOf(slot)) && cycle.isAnothers(slot, key)) this.#add(slot);
    }
  }

  #clear(): void {
    for (let queue = 0; queue < this.#queues; queue++) this.#queueOf[this.#domainOf[queue]! + 1] = 0;
    this.#queues = 0;
    this.#length = 0;
  }

  #add(slot: number): void {
    const c = this.#classOf(slot);
    if (!this.#cycle.claims.isFree(slot) || !this.#pattern.matches(c)) return;
    const place = this.#length++;
    this.#slots = withRoom(this.#slots, place + 1);
    this.#behind = withRoom(this.#behind, place + 1);
    this.#slots[place] = slot;
    this.#behind[place] = NONE;
    const domain = this.#domains.of(c);
    const known = this.#queueOf[domain + 1] ?? 0;
    if (known === 0) this.#open(domain, place);
    else {
      this.#behind[this.#last[known - 1]!] = place;
      this.#last[known - 1] = place;
    }
  }

  /** Opens a queue for a domain, with its first machine. */
  #open(domain: number, place: number): void {
    const queue = this.#queues++;
    this.#domainOf = withRoom(this.#domainOf, queue + 1);
    this.#first = withRoom(this.#first, queue + 1);
    this.#last = withRoom(this.#last, queue + 1);
    this.#counts = withRoom(this.#counts, queue + 1);
    this.#queueOf = withRoom(this.#queueOf, domain + 2);
    this.#domainOf[queue] = domain;
    this.#first[queue] = this.#last[queue] = place;
    this.#counts[queue] = domain < 0 ? LAST_OF_ALL : this.#claimsIn(domain);
    this.#queueOf[domain + 1] = queue + 1;
  }

  /** Number of machines in a domain that the row was credited with so far. */
  #claimsIn(domain: number): number {
    const { creditEnd, creditStart, slots } = this.#cycle.claims;
    let count = 0;
    for (let i = creditStart[this.#rankedRow]!; i < creditEnd[this.#rankedRow]!; i++) {
      if (this.#domains.of(this.#classOf(slots[i]!)) === domain) count++;
    }
    return count;
  }

  /**
   * Credits until the sum is covered; a machine for the largest pod comes first. Returns false if it found a contended
   * machine.
   */
  credit(drains: readonly number[], early: boolean): boolean {
    if (this.#length === 0) return true;
    let unfilled = this.#cycle.beyond(this.#rankedRow, drains);
    if (unfilled.unitMissing && !this.#claim(this.#firstUnit(unfilled), early)) return false;
    for (;;) {
      unfilled = this.#cycle.beyond(this.#rankedRow, drains);
      if (unfilled.sumCovered) return true;
      const slot = this.#next(unfilled);
      if (slot === NONE) return true;
      if (!this.#claim(slot, early)) return false;
    }
  }

  #claim(slot: number, early: boolean): boolean {
    if (slot === NONE) return true;
    const c = this.#classOf(slot);
    if (early && this.#cycle.credits.contended.has(c, slot)) return false;
    this.#cycle.credits.credit(this.#rankedRow, slot, this.#pattern.fits(c));
    if (this.#areOthers && this.#cycle.sharing.isActive)
      this.#cycle.credits.noteRestamp(this.#cycle.rankedRows.cluster[this.#rankedRow]!);
    this.#counts[this.#queueOf[this.#domains.of(c) + 1]! - 1]!++;
    return true;
  }

  /** The first machine of the domain with the fewest claims; one without the key if no domain has any left. */
  #next(unfilled: Unfilled): number {
    let best = NONE;
    for (let queue = 0; queue < this.#queues; queue++) {
      // A machine that adds nothing now never will: what is unfilled only shrinks.
      let at = this.#first[queue]!;
      while (at !== NONE && !this.#adds(this.#slots[at]!, unfilled)) at = this.#behind[at]!;
      this.#first[queue] = at;
      if (at === NONE) continue;
      const count = this.#counts[queue]!;
      const better =
        best === NONE ||
        count < this.#counts[best]! ||
        (count === this.#counts[best] && at < this.#first[best]!);
      if (better) best = queue;
    }
    return best === NONE ? NONE : this.#slots[this.#first[best]!]!;
  }

  /** Like `#next`, among machines that hold the largest pod. */
  #firstUnit(unfilled: Unfilled): number {
    let first = NONE;
    let fewest = Number.POSITIVE_INFINITY;
    for (let queue = 0; queue < this.#queues; queue++) {
      const count = this.#counts[queue]!;
      let at = this.#first[queue]!;
      while (at !== NONE && !this.#holdsUnit(this.#slots[at]!, unfilled)) at = this.#behind[at]!;
      if (at === NONE || count > fewest || (count === fewest && at > first)) continue;
      first = at;
      fewest = count;
    }
    return first === NONE ? NONE : this.#slots[first]!;
  }

  #holdsUnit(slot: number, unfilled: Unfilled): boolean {
    return this.#pattern.fits(this.#classOf(slot)) && this.#adds(slot, unfilled);
  }

  #adds(slot: number, unfilled: Unfilled): boolean {
    const c = this.#classOf(slot);
    return this.#cycle.claims.isFree(slot) && unfilled.adds(c, this.#pattern.fits(c));
  }

  #classOf(slot: number): number {
    return this.#cycle.fleet.machines.classOf[slot]!;
  }
}
