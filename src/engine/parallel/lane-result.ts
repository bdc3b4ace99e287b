// What a lane found in the pass, as far as it is not in shared columns: the cycle of the pass takes it over when all lanes
// have ended. Threads number the domains of a topology key each by themselves, so what comes from another thread names
// them. Used by lanes.ts and shared-state.ts.

import type { Domains } from '../../fleet/index.ts';
import type { ClaimRange } from '../assign/claims.ts';
import { domainsOf } from '../assign/gang.ts';
import { NONE } from '../assign/ranked-rows.ts';
import type { Share } from '../assign/sharing.ts';
import { spreadDomains } from '../assign/skew.ts';
import type { Cycle } from '../cycle.ts';
import { type CycleStats, MODES, type ModeStats, PATHS, type PathStats } from '../stats.ts';
import type { Unmet } from '../unmet.ts';
import type { GangView } from '../views.ts';
import type { ClusterLane } from './cluster-lane.ts';
import type { Lane } from './lane.ts';

export interface LaneResult {
  /** Ranked rows in the order they were served, and their places in rank order. */
  readonly rankedRows: Uint32Array;
  readonly positions: Float64Array;
  readonly claims: ClaimRange;
  readonly unmet: readonly Unmet[];
  readonly gangs: readonly (readonly [number, GangView])[];
  readonly hosted: readonly (readonly [number, number])[];
  readonly unhosted: readonly (readonly [number, readonly number[]])[];
  readonly restamped: readonly number[];
  readonly infeasible: readonly number[];
  readonly takenClasses: readonly number[];
  readonly paths: readonly PathStats[];
  readonly modes: readonly LaneModeStats[];
  /** By unmet ranked row that another lane has recorded: what it borrows. */
  readonly shares: readonly (readonly [number, readonly Share[]])[];
  /** Milliseconds for which a cluster lane did not wait. */
  readonly busyMs: number;
  /** Names of domains by gang or strict-spread row, in place of their numbers; null on the thread of the cycle. */
  readonly names: ReadonlyMap<number, readonly string[]> | null;
}

type LaneModeStats = Pick<ModeStats, 'proposals' | 'commits' | 'conflicts' | 'exhausted'>;

/** The result of a lane; `named`: it is read on another thread. */
export function resultOf(lane: Lane | ClusterLane, named: boolean): LaneResult {
  const { cycle, claimsStart } = lane;
  const { blockers, claims, pass, result, stats } = cycle;
  return {
    rankedRows: pass.rankedRow.slice(0, pass.count),
    positions: pass.position.slice(0, pass.count),
    claims: { from: claimsStart, to: claims.count },
    unmet: result.unmet,
    gangs: [...result.gangs],
    hosted: [...result.hosted],
    unhosted: [...result.unhosted],
    restamped: result.restampedInPass,
    infeasible: result.infeasible,
    takenClasses: blockers.takenClasses,
    paths: PATHS.map((path) => stats.paths[path]),
    modes: MODES.map((mode) => {
      const { commits, conflicts, exhausted, proposals } = stats.modes[mode];
      return { commits, conflicts, exhausted, proposals };
    }),
    shares: 'shares' in lane ? lane.shares : [],
    busyMs: 'clock' in lane ? lane.clock.busyMs : 0,
    names: named ? namesOf(cycle) : null,
  };
}

/** The names of all domains by number, for every topology key that the result has numbers of. */
function namesOf(cycle: Cycle): ReadonlyMap<number, readonly string[]> {
  const names = new Map<number, readonly string[]>();
  const byKey = new Map<Domains, readonly string[]>();
  const add = (rankedRow: number, domains: Domains): void => {
    // The same list for all rows of a key: it is then transferred once.
    let list = byKey.get(domains);
    if (list === undefined) {
      list = [...domains.names];
      byKey.set(domains, list);
    }
    names.set(rankedRow, list);
  };
  for (const gang of cycle.result.gangs.keys()) add(gang, domainsOf(cycle, gang));
  for (const { rankedRow, spread } of cycle.result.unmet)
    if (spread !== null) add(rankedRow, spreadDomains(cycle, rankedRow));
  return names;
}

/** Adds the results of other lanes to the cycle of the pass, in which lane 0 served its rows. */
export function mergeResults(cycle: Cycle, results: readonly LaneResult[]): void {
  const { blockers, claims, pass, rankedRows, result } = cycle;
  claims.adopt(results.map((lane) => lane.claims));
  for (const lane of results) {
    pass.merge(lane.rankedRows, lane.positions);
    blockers.merge(lane.takenClasses);
    result.addRestamped(lane.restamped);
    for (const gang of lane.infeasible) result.addInfeasible(gang);
    for (const [fold, members] of lane.hosted) result.setHosted(fold, members);
    for (const [cluster, members] of lane.unhosted)
      for (const member of members) result.addUnhosted(cluster, member);
    for (const [gang, view] of lane.gangs) result.chooseDomain(gang, numbered(cycle, gang, view, lane.names));
    addStats(cycle.stats, lane);
  }
  const unmet = [
    ...result.unmet,
    ...results.flatMap((lane) => lane.unmet.map((row) => numberedRow(cycle, row, lane.names))),
  ];
  unmet.sort((a, b) => rankedRows.compare(a.rankedRow, b.rankedRow));
  const shares = new Map(results.flatMap((lane) => lane.shares));
  result.replaceUnmet(
    unmet.map((row) => (shares.has(row.rankedRow) ? { ...row, shares: shares.get(row.rankedRow)! } : row)),
  );
}

function numbered(cycle: Cycle, gang: number, view: GangView, names: LaneResult['names']): GangView {
  if (names === null) return view;
  const domains = domainsOf(cycle, gang);
  const numberOf = (domain: number): number =>
    domain === NONE ? NONE : domains.numberOf(names.get(gang)![domain]!);
  return { ...view, domain: numberOf(view.domain), order: view.order.map(numberOf) };
}

function numberedRow(cycle: Cycle, row: Unmet, names: LaneResult['names']): Unmet {
  const { rankedRow, spread } = row;
  if (names === null || spread === null) return row;
  const domains = spreadDomains(cycle, rankedRow);
  const counts = new Map(
    [...spread.counts].map(([domain, count]) => [domains.numberOf(names.get(rankedRow)![domain]!), count]),
  );
  return { ...row, spread: { ...spread, counts } };
}

function addStats(stats: CycleStats, { modes, paths }: LaneResult): void {
  for (const [i, path] of PATHS.entries()) stats.paths[path].rows += paths[i]!.rows;
  for (const [i, mode] of MODES.entries()) {
    const sum = stats.modes[mode];
    sum.proposals += modes[i]!.proposals;
    sum.commits += modes[i]!.commits;
    sum.conflicts += modes[i]!.conflicts;
    sum.exhausted += modes[i]!.exhausted;
  }
}
