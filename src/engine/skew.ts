// The spread test: one more machine may go to a domain that is at most maxSkew − 1 above the emptiest.

import type { Domains } from '../fleet/index.ts';
import type { Cycle } from './cycle.ts';
import type { SpreadView } from './views.ts';
import type { Want } from './want.ts';

export function spreadDomains(cycle: Cycle, turn: number): Domains {
  const { demand, domains } = cycle.fleet;
  return domains.by(demand.profiles.entryOf(cycle.turns.profile[turn]!).spreadKey!);
}

/** Whether a domain in which the row has no machine yet has something that would bring it nearer. */
type Elsewhere = (want: Want, counts: ReadonlyMap<number, number>) => boolean;

/** The spread test of one row: how many machines each domain has, and what the emptiest is. */
export class SpreadTest {
  readonly #domains: Domains;
  readonly #maxSkew: number;
  readonly #elsewhere: Elsewhere;
  readonly counts: Map<number, number>;
  #minimum = 0;

  constructor(cycle: Cycle, turn: number, counts: ReadonlyMap<number, number>, elsewhere: Elsewhere) {
    this.#domains = spreadDomains(cycle, turn);
    this.#maxSkew = cycle.fleet.demand.profiles.entryOf(cycle.turns.profile[turn]!).maxSkew;
    // Copying nothing takes longer than making something new.
    this.counts = counts.size === 0 ? new Map() : new Map(counts);
    this.#elsewhere = elsewhere;
  }

  /** Counts a machine of the class; one without the key counts nowhere. */
  count(classNumber: number): void {
    const domain = this.#domains.of(classNumber);
    if (domain >= 0) this.counts.set(domain, this.#countIn(domain) + 1);
  }

  #countIn(domain: number): number {
    return this.counts.get(domain) ?? 0;
  }

  /**
   * Settles the minimum for the next step. A domain without a machine of the row counts only while something there
   * would bring the row nearer; otherwise it would keep the row from machines it can use for ever.
   */
  settle(want: Want): void {
    let minimum = Number.POSITIVE_INFINITY;
    for (const count of this.counts.values()) minimum = Math.min(minimum, count);
    this.#minimum = minimum === Number.POSITIVE_INFINITY || this.#elsewhere(want, this.counts) ? 0 : minimum;
  }

  /** Whether one more machine of the class keeps the row even. */
  passes(classNumber: number): boolean {
    return this.passesIn(this.#domains.of(classNumber));
  }

  passesIn(domain: number): boolean {
    return domain >= 0 && this.#countIn(domain) <= this.#minimum + this.#maxSkew - 1;
  }
}

/** The spread test of a row that was left short, as it stood then. */
export function spreadTestOf(cycle: Cycle, turn: number, { counts, offers }: SpreadView): SpreadTest {
  const domains = spreadDomains(cycle, turn);
  return new SpreadTest(cycle, turn, counts, (want, counted) => {
    for (const c of offers) if (!counted.has(domains.of(c)) && want.adds(c, true)) return true;
    return false;
  });
}
