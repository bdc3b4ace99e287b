// The engine's input and output as plain objects, used by scenario files, the oracle and reports. The engine itself
// works on columns (src/fleet).

import type { Action } from './action.ts';
import type { ScoreWeights } from './cost.ts';
import type { CapacityType, Machine } from './machine.ts';
import type { Need, NeedKey } from './need.ts';
import type { NodeUse } from './node-facts.ts';
import type { ResourceVector } from './resources.ts';

/** A machine with the shard's own knowledge in addition to the provider's record. */
export interface LedgerMachine extends Machine {
  /** Back-off, quarantine or freeze: cannot be acquired, counts in no fold, domain or minimum. */
  readonly blocked: boolean;
  /** When it became Idle; null: unknown, so it is never released. */
  readonly idleSinceMs: number | null;
  /** Measured median drain of machines like this one, or the default. */
  readonly drainSeconds: number;
  /**
   * The time of the first cycle of the unbroken run of cycles in which no row claimed or picked it while it was Configured in
   * a cluster that had reported and was not silent; null: there is no such run, which counts as one that starts now.
   */
  readonly unclaimedSinceMs: number | null;
  /** What its cluster reported about its use; absent: unknown. Holds only while the machine is bound, and is ignored elsewhere. */
  readonly use?: NodeUse | undefined;
}

/** What a decision depends on besides machines and Needs. */
export interface DecisionOptions {
  /** Clusters that have reported since start; null: all of them. Phase 3 takes no machines of other clusters. */
  readonly readyClusters: ReadonlySet<string> | null;
  /** Clusters that cannot bind now (no session, frozen): credited, but they acquire and preempt nothing. */
  readonly cannotBind: ReadonlySet<string>;
  /**
   * Of the clusters that cannot bind, those that are not silent: they have a session, and are frozen or fail to join machines.
   * Reclaim holds go on there; absent: all of them are silent.
   */
  readonly connected?: ReadonlySet<string> | undefined;
  /** Seconds before an unclaimed Idle machine is released; with an absent or zero entry it is never released. */
  readonly releaseHoldSeconds: ReadonlyMap<CapacityType, number>;
  readonly weights: ScoreWeights;
  /**
   * Ids of bound machines that are to be replaced: plain rows without strict spread are served without them, unless that
   * leaves the row short. Clusters that cannot bind ignore it.
   */
  readonly retiring: ReadonlySet<string>;
  /** Whether a row may count on what other rows of its cluster leave over of their machines. */
  readonly sharing: 'on' | 'off';
  /** Seconds that a bound machine stays unclaimed before it is reclaimed; 0: it is reclaimed at once. */
  readonly reclaimHoldSeconds: number;
  /** How plain rows order free machines: by the price of covering what is left to cover, or by the price of the machine. */
  readonly poolOrder: 'coverage' | 'price';
  /** Whether rows take free machines with accelerators that they did not ask for after all others, or by their price. */
  readonly accelerators: 'last' | 'by-price';
  /** Resource names that count as everyday resources, although their names look like those of accelerators. */
  readonly ignoredAccelerators: ReadonlySet<string>;
  /** The ceiling on spending; absent: no limit. */
  readonly purchaseBudget?: PurchaseBudget | undefined;
}

/**
 * What may be spent on purchases beyond what is purchased already, in whole micro-dollars per hour. Negative where more is
 * purchased than allowed.
 */
export interface PurchaseBudget {
  /** Of all clusters together; Infinity: no limit. */
  readonly shard: number;
  /** By cluster; a cluster that is not named has no limit of its own. */
  readonly clusters: ReadonlyMap<string, number>;
}

/** The part of the options that says how rows share machines, in which order they acquire and when machines are given back. */
export type EconomyOptions = Pick<
  DecisionOptions,
  'sharing' | 'reclaimHoldSeconds' | 'poolOrder' | 'accelerators' | 'ignoredAccelerators'
>;

/** One row per machine, the cheapest machine first, and no patience before a reclaim. */
export const UNSHARED_OPTIONS: EconomyOptions = {
  sharing: 'off',
  reclaimHoldSeconds: 0,
  poolOrder: 'price',
  accelerators: 'by-price',
  ignoredAccelerators: new Set(),
};

/** Rows share machines and buy by what covers; an unclaimed machine is kept for ten minutes, longer than most boots take. */
export const SHARED_OPTIONS: EconomyOptions = {
  sharing: 'on',
  reclaimHoldSeconds: 600,
  poolOrder: 'coverage',
  accelerators: 'last',
  ignoredAccelerators: new Set(),
};

/** The options of a shard or a scenario that sets none of them. */
export const DEFAULT_ECONOMY_OPTIONS: EconomyOptions = { ...SHARED_OPTIONS };

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
 *  topology-unsatisfiable   a gang, and no single domain could complete it with all its machines, failed ones included
 *  no-matching-supply       no machine in any state meets its requirements
 *  no-fitting-supply        machines match, none is as large as its largest pod
 *  cluster-disconnected     its cluster cannot bind now
 *  spend-limit              the ceiling on spending keeps it from machines that could be bought for it
 *  preemption-exhausted     victims were picked, but not enough of them
 *  spread-unsatisfiable     free fitting machines exist, all in domains that the skew forbids
 *  insufficient-supply      the fitting machines of all states together are too few
 * The last five are about fitting machines that other rows use, that have failed or that cannot be acquired now. The reason
 * is the largest of the three groups; the first group counts only if it would be enough:
 *  priority-starved         better-ranked rows claim what it could use
 *  claimed-by-equals        rows of its priority and penalties that came first claim what it could use
 *  claimed-elsewhere        other clusters use it, and no row of a lower priority does; or it is on its way
 *  supply-failed            machines that fit have failed
 *  supply-blocked           machines that fit are in back-off, quarantined, frozen, sold out or being returned
 */
export type UnmetReason =
  | 'set-aside'
  | 'preempting'
  | 'topology-unsatisfiable'
  | 'no-matching-supply'
  | 'no-fitting-supply'
  | 'cluster-disconnected'
  | 'spend-limit'
  | 'preemption-exhausted'
  | 'spread-unsatisfiable'
  | 'insufficient-supply'
  | 'priority-starved'
  | 'claimed-by-equals'
  | 'claimed-elsewhere'
  | 'supply-failed'
  | 'supply-blocked';

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
  'spend-limit': 1,
  'preemption-exhausted': 4,
  'spread-unsatisfiable': 3,
  'insufficient-supply': 1,
  'priority-starved': 1,
  'claimed-by-equals': 1,
  'claimed-elsewhere': 1,
  'supply-failed': 1,
  'supply-blocked': 1,
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

/** Machines that meet the requirements and hold the largest pod, in any state and any cluster. */
export interface FittingSupply {
  readonly total: number;
  readonly failed: number;
  /** Held (back-off, quarantine, freeze, sold out), not claimed by the Need, and not Failed or Deleting. */
  readonly blocked: number;
  readonly deleting: number;
}

/** Details that only unmet Needs carry. */
export interface UnmetDetail {
  readonly reason: UnmetReason;
  /** Machines that meet the requirements (whatever their size, claims and holds), in any cluster, by state. */
  readonly matching: { readonly idle: number; readonly speculative: number; readonly configured: number };
  readonly fitting: FittingSupply;
  /**
   * The worst-ranked row ahead of this one that claims a machine this one could have used: fitting, not blocked, and either
   * bound to its cluster or Idle or Speculative.
   */
  readonly blocker: NeedKey | null;
  /**
   * The smallest extra supply that would meet the rest: `count` machines like the known machine `like`, chosen by fewest,
   * then lowest effective cost, then id. A gang that has a domain needs them in that domain, in addition to everything the
   * domain could already provide. It is about the Need alone: other Needs may acquire the machines first, and strict spread
   * may forbid that many in one domain. null where no machine would help, such as for a cluster that cannot bind.
   */
  readonly extraSupply: { readonly count: number; readonly like: string } | null;
}

/** The supply a Need found when it was served, met or not; computed on request, for one Need. */
export interface Explanation {
  /** For a gang: the best six domains it chose from. */
  readonly candidates: readonly DomainCandidate[];
  /** Machines that meet its requirements, as in UnmetDetail. */
  readonly matching: UnmetDetail['matching'];
  /** The worst-ranked row ahead of it that claims a machine it could have used. */
  readonly blocker: NeedKey | null;
  readonly obstacles: Obstacles;
}

/**
 * What keeps a machine that meets the requirements from serving the Need, the first that applies:
 *  too-small            it cannot hold the largest pod
 *  failed               it is Failed
 *  blocked              it is held: back-off, quarantine, freeze, sold out, provider unreachable
 *  claimed-by-better    a row of higher priority or penalties claims it, picked it, or is its target
 *  claimed-by-equals    a row of the same priority and penalties does
 *  claimed-by-worse     a row of lower priority or penalties does, and Phase 2 could not or need not take it
 *  in-transit           Creating, Configuring, Draining, Deleting or about to be reclaimed, for no row
 *  unused               Idle or Speculative, and no row claims it: the Need cannot take it (cluster, skew, domain)
 */
export const OBSTACLE_CAUSES = [
  'too-small',
  'failed',
  'blocked',
  'claimed-by-better',
  'claimed-by-equals',
  'claimed-by-worse',
  'in-transit',
  'unused',
] as const;
/** One of `OBSTACLE_CAUSES`. */
export type ObstacleCause = (typeof OBSTACLE_CAUSES)[number];

/** Every machine that meets the requirements of a Need, by what keeps it from serving the Need. */
export interface Obstacles {
  /** Machines the Need has or gets: claimed by it, draining for it or picked for it. */
  readonly own: number;
  readonly machines: Readonly<Record<ObstacleCause, number>>;
  /** The rows behind each claimed cause, most machines first, then best rank: at most `MAX_CLAIMANTS` for a cause. */
  readonly claimants: readonly Claimant[];
  /** How many such rows there are. */
  readonly claimantsTotal: Readonly<Record<ClaimedCause, number>>;
  readonly remainders: RemainderCounts;
}

/** What a row that may share found of other rows' machines in its cluster at its turn; both 0 for a row that may not. */
export interface RemainderCounts {
  /** Remainders of machines that meet its requirements. */
  readonly matching: number;
  /** Of those, remainders that hold its largest pod. */
  readonly holdingUnit: number;
}

/** The remainders of a row that may not share. */
export const NO_REMAINDERS: RemainderCounts = { matching: 0, holdingUnit: 0 };

/** The causes of `OBSTACLE_CAUSES` behind which there is a row that claims the machine. */
export const CLAIMED_CAUSES = ['claimed-by-better', 'claimed-by-equals', 'claimed-by-worse'] as const;
/** One of `CLAIMED_CAUSES`. */
export type ClaimedCause = (typeof CLAIMED_CAUSES)[number];

/** A row that claims machines which another Need could have used. */
export interface Claimant {
  readonly cause: ClaimedCause;
  readonly key: NeedKey;
  readonly priority: number;
  readonly machines: number;
}

/** Claimants named for one cause in an explanation. */
export const MAX_CLAIMANTS = 5;

/** A part of a machine that a row counts on although another row of its cluster claims the machine. */
export interface Share {
  readonly machine: string;
  /** Dimensions above zero, names in order. */
  readonly amount: ResourceVector;
}

/** A row that counts on a machine. */
export interface MachineUser {
  /** Key of the row, or of the fold. */
  readonly key: NeedKey;
  readonly priority: number;
  /** It borrows from the machine, which another row of its cluster claims. */
  readonly isShare: boolean;
  /** What it takes of the machine: dimensions above zero, names in order; null for a row whose size is not known. */
  readonly amount: ResourceVector | null;
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
  /** Ids of machines that it claims, in claim order. */
  readonly claimed: readonly string[];
  /** What it counts on of machines that other rows of its cluster claim, in the order it borrowed. */
  readonly shares: readonly Share[];
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
  /** By machine id: the row or fold that claims it. */
  readonly claims: ReadonlyMap<string, NeedKey>;
  /** By machine id: the row that took over a bound machine, whose stamp now names the row. */
  readonly restamps: ReadonlyMap<string, NeedKey>;
  /** By id of a draining machine whose target's row is gone: the row it drains for from now on. By id. */
  readonly retargets: ReadonlyMap<string, NeedKey>;
  /**
   * By machine id: since when it is on hold, for each machine on hold after this cycle whose clock runs. By id; empty if
   * there is no reclaim hold.
   */
  readonly onHold: ReadonlyMap<string, number>;
}
