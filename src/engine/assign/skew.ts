// The spread test: one more machine may go to a domain that is at most maxSkew − 1 above the emptiest. Used by
// spread.ts, domain-candidates.ts, preempt.ts and verdict.ts.

import type { Domains } from '../../fleet/index.ts';
import type { Cycle } from '../cycle.ts';
import type { SpreadView } from '../views.ts';
import type { Unfilled } from './unfilled.ts';

export function spreadDomains(cycle: Cycle, rankedRow: number): Domains {
  const { demand, domains } = cycle.fleet;
  return domains.by(demand.profiles.entryOf(cycle.rankedRows.profile[rankedRow]!).spreadKey!);
}

/** Whether a domain in which the row has no machine yet has one that would reduce what is unfilled. */
type Elsewhere = (unfilled: Unfilled, test: SpreadTest) => boolean;

/** The spread test, for one row at a time: machines of the row by domain, and the minimum. */
export class SpreadTest {
  readonly #elsewhere: Elsewhere;
  #domains!: Domains;
  #maxSkew = 0;
  /** By domain. */
  readonly #counts: number[] = [];
  /** The domains that have a count, `#length` of them. */
  readonly #counted: number[] = [];
  #length = 0;
  #minimum = 0;

  constructor(elsewhere: Elsewhere) {
    this.#elsewhere = elsewhere;
  }

  /** Resets the counts for the next row. */
  begin(domains: Domains, maxSkew: number): void {
    for (let i = 0; i < this.#length; i++) this.#counts[this.#counted[i]!] = 0;
    this.#length = 0;
    this.#domains = domains;
    this.#maxSkew = maxSkew;
  }

  /** Counts a machine of the class; one without the key is not counted. */
  count(classNumber: number): void {
    const domain = this.#domains.of(classNumber);
    if (domain >= 0) this.countIn(domain, 1);
  }

  countIn(domain: number, machines: number): void {
    if (!this.hasCounted(domain)) this.#counted[this.#length++] = domain;
    this.#counts[domain] = (this.#counts[domain] ?? 0) + machines;
  }

  /** Whether the row has a machine in a domain. */
  hasCounted(domain: number): boolean {
    return (this.#counts[domain] ?? 0) > 0;
  }

  /** Machines of the row by domain. */
  counts(): ReadonlyMap<number, number> {
    const counted = this.#counted.slice(0, this.#length);
    return new Map(counted.map((domain) => [domain, this.#counts[domain]!]));
  }

  /**
   * Fixes the minimum for the next step. A domain without a machine of the row counts only while a machine there would
   * reduce what is unfilled; otherwise it would keep the row from usable machines for ever.
   */
  settle(unfilled: Unfilled): void {
    let minimum = Number.POSITIVE_INFINITY;
    for (let i = 0; i < this.#length; i++) minimum = Math.min(minimum, this.#counts[this.#counted[i]!]!);
    this.#minimum = minimum === Number.POSITIVE_INFINITY || this.#elsewhere(unfilled, this) ? 0 : minimum;
  }

  /** Whether one more machine of the class keeps the row within its skew. */
  passes(classNumber: number): boolean {
    return this.passesIn(this.#domains.of(classNumber));
  }

  passesIn(domain: number): boolean {
    return domain >= 0 && (this.#counts[domain] ?? 0) <= this.#minimum + this.#maxSkew - 1;
  }
}

/** The spread test of a row that was left short, restored from its view. */
export function spreadTestOf(cycle: Cycle, rankedRow: number, { counts, offers }: SpreadView): SpreadTest {
  const domains = spreadDomains(cycle, rankedRow);
  const test = new SpreadTest((unfilled, counted) => {
    for (const c of offers) if (!counted.hasCounted(domains.of(c)) && unfilled.adds(c, true)) return true;
    return false;
  });
  test.begin(domains, cycle.profileOf(rankedRow).maxSkew);
  for (const [domain, machines] of counts) test.countIn(domain, machines);
  return test;
}
