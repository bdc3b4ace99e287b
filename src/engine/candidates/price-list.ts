// A candidate list in price order: cost, then price, then id. The groups are walked with a cursor, which is reset in each
// cycle. Made by candidate-tier.ts.

import type { Domains } from '../../fleet/index.ts';
import { NONE } from '../assign/ranked-rows.ts';
import type { Unfilled } from '../assign/unfilled.ts';
import type { CandidateList, CandidateOrder } from './candidate-list.ts';
import type { ClassAvailability } from './class-availability.ts';
import { type ClassFilter, ClassGroups } from './class-groups.ts';

export class PriceList implements CandidateList {
  readonly isFixed = true;
  readonly #order: CandidateOrder;
  readonly #groups: ClassGroups;
  #parts = new Map<Domains, Map<number, PriceList>>();
  #cycle = 0;
  /** Groups before this one are empty in this cycle. */
  #cursor = 0;

  constructor(order: CandidateOrder, groups: ClassGroups) {
    this.#order = order;
    this.#groups = groups;
  }

  static of(availability: ClassAvailability, order: CandidateOrder, fits: ClassFilter): PriceList {
    const keys = [order.costOf, order.priceOf];
    return new PriceList(order, new ClassGroups(availability, () => keys, fits));
  }

  refresh(): void {
    if (!this.#groups.refresh()) return;
    this.#parts = new Map();
    this.#cursor = 0;
  }

  compare(a: number, b: number): number {
    const { areAlike, costOf, priceOf } = this.#order;
    if (areAlike(a, b)) return 0;
    // Infinite costs are equal; their difference is not a number.
    return costOf(a) === costOf(b) ? priceOf(a) - priceOf(b) : costOf(a) - costOf(b);
  }

  compareFirst(a: number, b: number): number {
    const { availability } = this.#groups;
    return this.compare(a, b) || availability.firstOrdinalOf(a) - availability.firstOrdinalOf(b);
  }

  partsBy(domains: Domains): ReadonlyMap<number, PriceList> {
    let parts = this.#parts.get(domains);
    if (parts === undefined) {
      parts = new Map();
      for (const [domain, groups] of this.#groups.partsBy(domains))
        parts.set(domain, new PriceList(this.#order, groups));
      this.#parts.set(domains, parts);
    }
    return parts;
  }

  partIn(domains: Domains, domain: number): PriceList {
    return this.partsBy(domains).get(domain) ?? new PriceList(this.#order, this.#groups.none());
  }

  /** A tentative claim does not move the cursor, since its machines may be returned. */
  next(unfilled: Unfilled, tentative: boolean): number {
    const groups = this.#groups;
    if (this.#cycle !== groups.availability.cycle) {
      this.#cycle = groups.availability.cycle;
      this.#cursor = 0;
    }
    for (let group = this.#cursor; group < groups.count; group++) {
      let found = groups.firstIn(group, tentative);
      if (found === NONE) {
        if (group === this.#cursor && !tentative) this.#cursor++;
        continue;
      }
      if (!unfilled.adds(found, true)) found = groups.lowestIn(group, (c) => unfilled.adds(c, true));
      if (found !== NONE) return found;
    }
    return NONE;
  }
}
