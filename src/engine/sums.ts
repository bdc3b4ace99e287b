// What a gang finds in each domain, added up: all of it, what it may be credited with, what is its own. The choice of a
// domain compares these sums, in whole parts per million of what the gang wants.

import { ExactSums, partsPerMillion } from './coverage.ts';
import type { Cycle } from './cycle.ts';

/** What a machine counts towards, beside the joint sum of its domain. */
export const Towards = { Joint: 0, Idle: 1, Creditable: 2 } as const;

/** Machines a gang finds, by domain. Amounts are capped at what it wants, except the uncapped total. */
export class DomainSums {
  readonly #offered: Float64Array;
  readonly #stride: number;
  /** Dimensions the gang wants something of, and how much. */
  readonly #dims: number[] = [];
  readonly #wants: number[] = [];
  readonly #dimensionCount: number;
  /** The domains looked at, by number, and the place of each among them; -1 for all others. */
  readonly scope: readonly number[];
  readonly #places: Int32Array;
  readonly counts: Int32Array;
  /** Of those, machines that may be credited. */
  readonly credits: Int32Array;
  readonly own: Float64Array;
  readonly creditable: Float64Array;
  readonly creditableAndIdle: Float64Array;
  readonly joint: Float64Array;
  readonly #total: ExactSums;

  constructor(cycle: Cycle, turn: number, scope: readonly number[], domainCount: number) {
    const { stride, count } = cycle.fleet.dimensions;
    const from = cycle.turns.row[turn]! * stride;
    for (let d = 0; d < count; d++) {
      const wanted = cycle.fleet.demand.aggregate.data[from + d]!;
      if (wanted === 0) continue;
      this.#dims.push(d);
      this.#wants.push(wanted);
    }
    this.#offered = cycle.fleet.classes.allocatable.data;
    this.#stride = stride;
    this.#dimensionCount = count;
    this.scope = scope;
    this.#places = new Int32Array(domainCount).fill(-1);
    for (const [place, domain] of scope.entries()) this.#places[domain] = place;
    this.counts = new Int32Array(scope.length);
    this.credits = new Int32Array(scope.length);
    const cells = scope.length * this.#dims.length;
    this.own = new Float64Array(cells);
    this.creditable = new Float64Array(cells);
    this.creditableAndIdle = new Float64Array(cells);
    this.joint = new Float64Array(cells);
    this.#total = new ExactSums(cells);
  }

  /** Counts `count` machines of a class in a domain, if that is looked at. */
  add(domain: number, classNumber: number, count: number, towards: number): void {
    const place = this.#places[domain]!;
    if (place === -1) return;
    this.counts[place]! += count;
    if (towards === Towards.Creditable) this.credits[place]! += count;
    const { length } = this.#dims;
    for (let i = 0; i < length; i++) {
      const amount = this.#offered[classNumber * this.#stride + this.#dims[i]!]!;
      if (amount === 0) continue;
      const at = place * length + i;
      const want = this.#wants[i]!;
      this.#total.add(at, amount, count);
      this.joint[at] = Math.min(want, this.joint[at]! + amount * count);
      if (towards === Towards.Joint) continue;
      this.creditableAndIdle[at] = Math.min(want, this.creditableAndIdle[at]! + amount * count);
      if (towards === Towards.Creditable)
        this.creditable[at] = Math.min(want, this.creditable[at]! + amount * count);
    }
  }

  /** Marks a counted machine as the gang's own. */
  addOwn(domain: number, classNumber: number): void {
    const place = this.#places[domain]!;
    if (place === -1) return;
    const { length } = this.#dims;
    for (let i = 0; i < length; i++) {
      const amount = this.#offered[classNumber * this.#stride + this.#dims[i]!]!;
      const at = place * length + i;
      this.own[at] = Math.min(this.#wants[i]!, this.own[at]! + amount);
    }
  }

  satisfies(place: number): boolean {
    const { length } = this.#dims;
    for (let i = 0; i < length; i++) if (this.joint[place * length + i]! < this.#wants[i]!) return false;
    return true;
  }

  /** Sum over the dimensions, in parts per million. */
  coverage(place: number, sum: Float64Array): number {
    const { length } = this.#dims;
    let ppm = 0;
    for (let i = 0; i < length; i++) ppm += partsPerMillion(sum[place * length + i]!, this.#wants[i]!);
    return ppm;
  }

  worstCoverage(place: number): number {
    const { length } = this.#dims;
    let worst = 1_000_000;
    for (let i = 0; i < length; i++) {
      worst = Math.min(worst, partsPerMillion(this.joint[place * length + i]!, this.#wants[i]!));
    }
    return worst;
  }

  /** What the joint sum lacks, by dimension of the fleet; null if nothing. */
  missing(place: number): Float64Array | null {
    if (this.satisfies(place)) return null;
    const missing = new Float64Array(this.#dimensionCount);
    for (const [i, d] of this.#dims.entries()) {
      missing[d] = this.#wants[i]! - this.joint[place * this.#dims.length + i]!;
    }
    return missing;
  }

  uncapped(place: number): bigint {
    let ppm = 0n;
    for (const [i, want] of this.#wants.entries()) {
      ppm += this.#total.partsPerMillion(place * this.#dims.length + i, want);
    }
    return ppm;
  }
}
