// Candidate lists: the classes that a pattern can use and that have free machines, in the order a row acquires them. The
// order is by price (price-list.ts) or by the price of covering what is left (coverage-list.ts). Used by
// free-machines.ts and domain-candidates.ts.

import type { KeyOf } from '../../collections/radix.ts';
import type { Domains } from '../../fleet/index.ts';
import type { Unfilled } from '../assign/unfilled.ts';
import type { SpecialIdle } from './special-idle.ts';

/** Costs of classes to a row. */
export interface CandidateOrder {
  /** Dollars per hour: of an Idle machine the price, of a Speculative one the effective cost for the row. */
  readonly costOf: KeyOf;
  readonly priceOf: KeyOf;
  /** Whether both are known to be equal. Fast path: most classes have equal price and probability. */
  readonly areAlike: (a: number, b: number) => boolean;
}

/** Free machines of one state. Lists are kept between cycles and updated incrementally. */
export interface CandidateList {
  /** Whether the first class stays first, as long as it has machines that reduce what is unfilled. */
  readonly isFixed: boolean;
  /** Applies the changes of availability since the last call. */
  refresh(): void;
  /** The class of the next machine that reduces `unfilled`, or NONE. `tentative`: the machine may be returned in this cycle. */
  next(unfilled: Unfilled, tentative: boolean): number;
  /** Negative if machines of class `a` precede those of `b` in the order for `unfilled`; 0 if only ids decide. */
  compare(a: number, b: number, unfilled: Unfilled): number;
  /** Negative if the first machine of class `a` precedes that of `b`. */
  compareFirst(a: number, b: number, unfilled: Unfilled): number;
  /** The list of each domain. */
  partsBy(domains: Domains): ReadonlyMap<number, CandidateList>;
  /** The list of one domain; empty if there is none. */
  partIn(domains: Domains, domain: number): CandidateList;
}

/** Candidates of a row. */
export class Candidates {
  readonly idle: CandidateList;
  readonly speculative: CandidateList;
  /** Idle machines that are in no list of classes. */
  readonly special: SpecialIdle;
  readonly #byDomain = new Map<Domains, CandidatesByDomain>();

  constructor(idle: CandidateList, speculative: CandidateList, special: SpecialIdle) {
    this.idle = idle;
    this.speculative = speculative;
    this.special = special;
  }

  /** The candidates of one domain. */
  in(domains: Domains, domain: number): Candidates {
    const { idle, special, speculative } = this;
    return new Candidates(idle.partIn(domains, domain), speculative.partIn(domains, domain), special);
  }

  /** The candidates of each domain that has any. */
  by(domains: Domains): ReadonlyMap<number, Candidates> {
    const idle = this.idle.partsBy(domains);
    const speculative = this.speculative.partsBy(domains);
    const known = this.#byDomain.get(domains);
    if (known?.idle === idle && known.speculative === speculative) return known.candidates;
    const candidates = new Map<number, Candidates>();
    for (const domain of new Set([...idle.keys(), ...speculative.keys()]))
      candidates.set(domain, this.in(domains, domain));
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
