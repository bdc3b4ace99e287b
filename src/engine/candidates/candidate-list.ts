// Candidate lists: the classes that a pattern can use and that have free machines, in the order a row acquires them.
// The lists are kept between cycles and updated incrementally; only the cursors are reset. Used by free-machines.ts and
// domain-candidates.ts.

import { sortedBy } from '../../collections/radix.ts';
import type { Domains } from '../../fleet/index.ts';
import { NONE } from '../assign/ranked-rows.ts';
import type { Unfilled } from '../assign/unfilled.ts';
import type { ClassAvailability } from './class-availability.ts';
import { type Heaps, NOTHING_LEFT } from './class-heap.ts';

/** Which classes a step may use: all, those of one domain, or those of the domains a spread allows. */
export type ClassFilter = (classNumber: number) => boolean;

/** Sort keys of classes: the cost of a machine to a row, then its price. */
export interface CandidateOrder {
  readonly costOf: (classNumber: number) => number;
  readonly priceOf: (classNumber: number) => number;
}

const NO_CLASSES = new Uint32Array(0);

export class CandidateList {
  readonly #availability: ClassAvailability;
  readonly #order: CandidateOrder;
  readonly #fits: ClassFilter;
  /** Sorted; classes of equal cost and price are adjacent and form a group. */
  #classes: Uint32Array = NO_CLASSES;
  /** Start of each group, and the end of the last one. */
  #starts = new Uint32Array(1);
  #seen = -1;
  #parts = new Map<Domains, Map<number, CandidateList>>();

  /** By group: its heaps, created on first use. A single class needs none, and most groups are never reached. */
  #heaps: (Heaps | undefined)[] = [];
  #cycle = 0;
  /** Groups before this one are empty in this cycle. */
  #cursor = 0;

  constructor(availability: ClassAvailability, order: CandidateOrder, fits: ClassFilter) {
    this.#availability = availability;
    this.#order = order;
    this.#fits = fits;
  }

  /** All classes on the candidate list. */
  get groups(): readonly Uint32Array[] {
    return [this.#classes];
  }

  /** Applies the changes of availability since the last call. */
  refresh(): void {
    const { changes } = this.#availability;
    if (this.#seen === changes.end) return;
    const changed = changes.since(this.#seen);
    if (changed === null) this.#fill();
    else this.#follow(changed);
    this.#seen = changes.end;
  }

  #fill(): void {
    const found: number[] = [];
    for (let c = 0; c < this.#availability.size; c++)
      if (this.#availability.holds(c) && this.#fits(c)) found.push(c);
    this.#arrange(sortedBy(Uint32Array.from(found), this.#order.costOf, this.#order.priceOf));
  }

  #follow(changed: readonly number[]): void {
    const coming = [...new Set(changed)].filter((c) => this.#availability.holds(c) && this.#fits(c));
    const staying = this.#classes.filter((c) => !this.#availability.changedSince(this.#seen, c));
    if (coming.length === 0 && staying.length === this.#classes.length) return;
    coming.sort((a, b) => this.compare(a, b));
    const merged = new Uint32Array(staying.length + coming.length);
    let next = 0;
    for (let i = 0, at = 0; at < merged.length; at++) {
      const comes =
        next < coming.length && (i === staying.length || this.compare(coming[next]!, staying[i]!) < 0);
      merged[at] = comes ? coming[next++]! : staying[i++]!;
    }
    this.#arrange(merged);
  }

  /** Negative if machines of class `a` are taken before those of `b`; 0 if only ids decide. */
  compare(a: number, b: number): number {
    const { costOf, priceOf } = this.#order;
    // Infinite costs are equal; their difference is not a number.
    return costOf(a) === costOf(b) ? priceOf(a) - priceOf(b) : costOf(a) - costOf(b);
  }

  #arrange(classes: Uint32Array): void {
    const starts: number[] = [];
    for (let i = 0; i < classes.length; i++) {
      if (i === 0 || this.compare(classes[i - 1]!, classes[i]!) !== 0) starts.push(i);
    }
    starts.push(classes.length);
    this.#classes = classes;
    this.#starts = Uint32Array.from(starts);
    this.#heaps = [];
    this.#parts = new Map();
    this.#cursor = 0;
  }

  /** The candidate list of each domain. */
  partsBy(domains: Domains): ReadonlyMap<number, CandidateList> {
    const known = this.#parts.get(domains);
    if (known !== undefined) return known;
    const parts = this.#makeParts(domains);
    this.#parts.set(domains, parts);
    return parts;
  }

  #makeParts(domains: Domains): Map<number, CandidateList> {
    const parts = new Map<number, CandidateList>();
    for (const [domain, classes] of Map.groupBy(this.#classes, (c) => domains.of(c))) {
      const part = new CandidateList(this.#availability, this.#order, this.#fits);
      part.#arrange(Uint32Array.from(classes));
      parts.set(domain, part);
    }
    return parts;
  }

  /** The candidate list of one domain; empty if there is none. */
  partIn(domains: Domains, domain: number): CandidateList {
    return (
      this.partsBy(domains).get(domain) ?? new CandidateList(this.#availability, this.#order, this.#fits)
    );
  }

  /**
   * The class of the next machine that reduces `unfilled`, or NONE. A tentative claim does not move the cursor, since its
   * machines may be returned.
   */
  next(unfilled: Unfilled, allowed: ClassFilter | null, tentative: boolean): number {
    if (this.#cycle !== this.#availability.cycle) {
      this.#cycle = this.#availability.cycle;
      this.#cursor = 0;
    }
    for (let group = this.#cursor; group < this.#starts.length - 1; group++) {
      let found = tentative ? this.#lowest(group, null, null) : this.#first(group);
      if (found === NONE) {
        if (group === this.#cursor && !tentative) this.#cursor++;
        continue;
      }
      if (!unfilled.adds(found, true) || (allowed !== null && !allowed(found)))
        found = this.#lowest(group, unfilled, allowed);
      if (found !== NONE) return found;
    }
    return NONE;
  }

  /** The class of a group with the lowest first machine; NONE if nothing is left. */
  #first(group: number): number {
    if (this.#starts[group + 1]! - this.#starts[group]! === 1) return this.#lowest(group, null, null);
    return this.#heapsOf(group).first(this.#availability.cycle);
  }

  #heapsOf(group: number): Heaps {
    let heaps = this.#heaps[group];
    if (heaps === undefined) {
      heaps = this.#availability.heapsOf(
        this.#classes.subarray(this.#starts[group], this.#starts[group + 1]),
      );
      this.#heaps[group] = heaps;
    }
    return heaps;
  }

  /** The class of a group with the lowest first machine among those that `unfilled` and `allowed` accept. */
  #lowest(group: number, unfilled: Unfilled | null, allowed: ClassFilter | null): number {
    let lowest = NONE;
    let ordinal = NOTHING_LEFT;
    for (let i = this.#starts[group]!; i < this.#starts[group + 1]!; i++) {
      const c = this.#classes[i]!;
      const first = this.#availability.firstOrdinalOf(c);
      if (first >= ordinal) continue;
      if ((unfilled !== null && !unfilled.adds(c, true)) || (allowed !== null && !allowed(c))) continue;
      lowest = c;
      ordinal = first;
    }
    return lowest;
  }
}

/** Candidates of a row. */
export class Candidates {
  readonly pattern: number;
  readonly idle: CandidateList;
  readonly speculative: CandidateList;
  readonly #byDomain = new Map<Domains, CandidatesByDomain>();

  constructor(pattern: number, idle: CandidateList, speculative: CandidateList) {
    this.pattern = pattern;
    this.idle = idle;
    this.speculative = speculative;
  }

  /** The candidates of each domain that has any. */
  by(domains: Domains): ReadonlyMap<number, Candidates> {
    const idle = this.idle.partsBy(domains);
    const speculative = this.speculative.partsBy(domains);
    const known = this.#byDomain.get(domains);
    if (known?.idle === idle && known.speculative === speculative) return known.candidates;
    const candidates = new Map<number, Candidates>();
    for (const domain of new Set([...idle.keys(), ...speculative.keys()])) {
      const parts = [this.idle.partIn(domains, domain), this.speculative.partIn(domains, domain)] as const;
      candidates.set(domain, new Candidates(this.pattern, ...parts));
    }
    this.#byDomain.set(domains, { idle, speculative, candidates });
    return candidates;
  }
}

interface CandidatesByDomain {
  /** The parts that `candidates` was built from, for validation of the cache. */
  readonly idle: ReadonlyMap<number, CandidateList>;
  readonly speculative: ReadonlyMap<number, CandidateList>;
  readonly candidates: ReadonlyMap<number, Candidates>;
}
