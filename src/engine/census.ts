// How many machines there are of what, whoever uses them now: counted once a cycle for each pattern that is asked
// about, because many rows that are short ask about the same.

import type { Domains, Fleet } from '../fleet/index.ts';
import { MachineState, type UnmetDetail } from '../model/index.ts';

const USABLE = [
  MachineState.Speculative,
  MachineState.Creating,
  MachineState.Idle,
  MachineState.Configuring,
  MachineState.Configured,
  MachineState.Draining,
];

export class Census {
  readonly #fleet: Fleet;
  readonly #matching = new Map<number, UnmetDetail['matching']>();
  readonly #usable = new Map<number, ReadonlyMap<number, Float64Array>>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Machines of any cluster that meet the requirements, whatever their size, claims and holds. */
  matching(pattern: number): UnmetDetail['matching'] {
    let matching = this.#matching.get(pattern);
    if (matching === undefined) {
      matching = this.#countMatching(pattern);
      this.#matching.set(pattern, matching);
    }
    return matching;
  }

  #countMatching(pattern: number): UnmetDetail['matching'] {
    const { machines, patterns } = this.#fleet;
    const matching = { idle: 0, speculative: 0, configured: 0 };
    for (const c of patterns.patternOf(pattern).matchingClasses()) {
      matching.idle += machines.counts[c * 9 + MachineState.Idle] ?? 0;
      matching.speculative += machines.counts[c * 9 + MachineState.Speculative] ?? 0;
      matching.configured += machines.counts[c * 9 + MachineState.Configured] ?? 0;
    }
    return matching;
  }

  /**
   * By domain, what all fitting machines that could ever serve offer together. A sum above 2^53 is rounded, but never
   * to below what a row may ask for. A pattern with `Same` knows one topology key.
   */
  usable(pattern: number, domains: Domains): ReadonlyMap<number, Float64Array> {
    let usable = this.#usable.get(pattern);
    if (usable === undefined) {
      usable = this.#sumUsable(pattern, domains);
      this.#usable.set(pattern, usable);
    }
    return usable;
  }

  #sumUsable(pattern: number, domains: Domains): Map<number, Float64Array> {
    const { classes, dimensions, machines, patterns } = this.#fleet;
    const { stride, count } = dimensions;
    const sums = new Map<number, Float64Array>();
    for (const c of patterns.patternOf(pattern).fittingClasses()) {
      let members = 0;
      for (const state of USABLE) members += machines.counts[c * 9 + state] ?? 0;
      let sum = sums.get(domains.of(c));
      if (sum === undefined) {
        sum = new Float64Array(count);
        sums.set(domains.of(c), sum);
      }
      for (let d = 0; d < count; d++) sum[d]! += members * classes.allocatable.data[c * stride + d]!;
    }
    return sums;
  }
}
