// What a decision is made from and what it says: the engine's input and output in plain objects. The engine
// itself works on columns (src/fleet); scenario files, the oracle and reports speak in these.

import type { Action } from './action.ts';
import type { ScoreWeights } from './cost.ts';
import type { CapacityType, Machine } from './machine.ts';
import type { Need, NeedKey } from './need.ts';
import type { ResourceVector } from './resources.ts';

/** A machine with what the shard knows beside the provider's record. */
export interface LedgerMachine extends Machine {
  /** Back-off, quarantine or freeze: cannot be acquired, counts in no fold, domain or minimum. */
  readonly held: boolean;
  /** When it became Idle, in milliseconds; null: not known, so never released. */
  readonly idleSinceMs: number | null;
  /** Measured median drain of machines like this one, or the default. */
  readonly drainSeconds: number;
}

export interface DecisionOptions {
  /** Clusters that have reported since start; null: all of them. Others lose nothing to Phase 3. */
  readonly readyClusters: ReadonlySet<string> | null;
  /** Clusters that cannot bind now (no session, frozen): credited, but they acquire and preempt nothing. */
  readonly cannotBind: ReadonlySet<string>;
  /** Seconds an unclaimed Idle machine is kept before it is given back; an absent or zero entry keeps it for ever. */
  readonly releaseHoldSeconds: ReadonlyMap<CapacityType, number>;
  readonly weights: ScoreWeights;
}

/** Everything a decision depends on. Keys of needs are unique, ids of machines are unique. */
export interface DecisionInput {
  readonly nowMs: number;
  readonly machines: readonly LedgerMachine[];
  readonly needs: readonly Need[];
  readonly options: DecisionOptions;
}

/**
 * Why a Need is not met, the first of these that applies:
 *  set-aside                it exceeds a limit of the shard, so its size is not known
 *  preempting               machines that drain for it, or were picked to, will cover it
 *  topology-unsatisfiable   a gang, and no single domain could ever complete it with what is there
 *  no-matching-supply       no machine in any state meets its requirements
 *  no-fitting-supply        machines match, none is as large as its largest pod
 *  cluster-disconnected     its cluster cannot bind now
 *  preemption-exhausted     victims were picked, but not enough of them
 *  spread-unsatisfiable     free fitting machines exist, all in domains that the skew forbids
 *  priority-starved         there is enough for it, and rows ahead of it hold what it could use
 *  insufficient-supply      there is too little of it, even if all were free, or no row ahead of it holds any
 */
export type UnmetReason =
  | 'set-aside'
  | 'preempting'
  | 'topology-unsatisfiable'
  | 'no-matching-supply'
  | 'no-fitting-supply'
  | 'cluster-disconnected'
  | 'preemption-exhausted'
  | 'spread-unsatisfiable'
  | 'priority-starved'
  | 'insufficient-supply';

/**
 * The value of each reason in the wire's enum UnmetReason (1 starved, 2 no supply, 3 topology, 4 exhausted). The enum calls
 * everything starved that is none of the others: supply that matches and is too little is not "no matching supply".
 */
export const WIRE_UNMET_REASON: Readonly<Record<UnmetReason, 1 | 2 | 3 | 4>> = {
  'set-aside': 1,
  preempting: 1,
  'topology-unsatisfiable': 3,
  'no-matching-supply': 2,
  'no-fitting-supply': 2,
  'cluster-disconnected': 1,
  'preemption-exhausted': 4,
  'spread-unsatisfiable': 3,
  'priority-starved': 1,
  'insufficient-supply': 1,
};

/** How much of a row one domain could cover: whole parts per million, `floor(1e6 × have ÷ want)` per dimension, at most 1e6. */
export interface DomainCandidate {
  readonly domain: string;
  /** Summed over the dimensions the row wants. */
  readonly coverage: number;
  /** Of the dimension covered least; 1e6 if nothing is wanted. */
  readonly worstCoverage: number;
  readonly satisfiable: boolean;
}

/** Details that only unmet Needs carry. */
export interface UnmetDetail {
  readonly reason: UnmetReason;
  /** Machines that meet the requirements (whatever their size, claims and holds), in any cluster, by state. */
  readonly matching: { readonly idle: number; readonly speculative: number; readonly configured: number };
  /** The worst-ranked row ahead of this one that claims a machine this one could have used (fitting, not held; its cluster's bound or anybody's Idle or Speculative). */
  readonly blocker: NeedKey | null;
  /** The smallest extra supply that would meet the rest: so many machines like this known one (fewest, then lowest effective cost, then id). A gang that has a domain wants them there, beyond everything the domain could give it already. */
  readonly extraSupply: { readonly count: number; readonly like: string } | null;
}

/** What a Need saw at its turn, met or not; worked out for one Need when somebody asks. */
export interface Explanation {
  /** For a gang: the best six domains it chose from. */
  readonly candidates: readonly DomainCandidate[];
  /** Machines that meet its requirements, as in UnmetDetail. */
  readonly matching: UnmetDetail['matching'];
  /** The worst-ranked row ahead of it that claims a machine it could have used. */
  readonly blocker: NeedKey | null;
}

/** The verdict on one original Need. */
export interface Verdict {
  readonly key: NeedKey;
  readonly priority: number;
  /** The fold that serves it; its claims are the fold's. */
  readonly foldedInto: NeedKey | null;
  readonly satisfied: boolean;
  /** What is missing after Phase 1; empty when satisfied. */
  readonly deficit: ResourceVector;
  /** Machines it counts on, in claim order. */
  readonly claimed: readonly string[];
  /** Of those, Idle ones it binds now. */
  readonly bootstraps: readonly string[];
  /** Of those, Speculative ones it buys now. */
  readonly provisions: readonly string[];
  /** Victims picked for it, in pick order. */
  readonly preempts: readonly string[];
  /** The domain of a gang; null for other rows and for a gang without one. '' is a domain like any other. */
  readonly domain: string | null;
  /** For a gang: whether its domain's creditable, Draining-for-it and free machines together cover it. null for other rows. */
  readonly satisfiable: boolean | null;
  /** For an unmet gang: the best six domains it chose from (worstCoverage desc, name asc). */
  readonly candidates: readonly DomainCandidate[];
  /** null when satisfied. */
  readonly unmet: UnmetDetail | null;
}

/** A whole decision. Equal inputs give equal plans, to the byte. */
export interface Plan {
  /** Phase 1 by rank and claim order; Preempts by preemptor's rank and pick order; Reclaims; Deletes. */
  readonly actions: readonly Action[];
  /** One per original Need, by rank. */
  readonly verdicts: readonly Verdict[];
  /** Which row (or fold) counts on which machine. */
  readonly claims: ReadonlyMap<string, NeedKey>;
  /** Bound machines a gang took over: their stamp now names it. */
  readonly restamps: ReadonlyMap<string, NeedKey>;
}
