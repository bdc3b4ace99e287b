// Pages of clusters for display, by name or with troubled ones first: session, demand, machines and cost. Used by
// answers.ts.

import { acceleratorsOf, type Decision, HARDWARE, hardwareOf } from '../../../engine/index.ts';
import type { Fleet } from '../../../fleet/index.ts';
import { compareText, excerpt } from '../../../model/index.ts';
import { roundedShare, usedShareOf } from '../../telemetry/used-share.ts';
import type { Answer, ClusterView, Questions, SetAsideView } from '../../views.ts';
import type { ControllerState } from '../controller.ts';
import type { Cycles } from '../cycles.ts';
import type { IncompleteCluster } from '../incomplete-demand.ts';
import type { Retirement } from '../retirements.ts';
import { offsetOf, pageOf } from './pages.ts';

type Ask = Questions['clusters']['ask'];

/** Bytes shown of an operator's error for a bootstrap request. */
const MAX_WHY_BYTES = 1000;

export function clusterPage(state: ControllerState, cycles: Cycles, ask: Ask): Answer<'clusters'> {
  const decided = cycles.decision?.decided ?? null;
  const names = namesOf(state, ask);
  const { after } = ask;
  if (ask.order === 'trouble') {
    const skip = offsetOf(ask);
    return pageOf(ask, {
      entries: troubledClustersFirst(names, state, decided, ask).slice(skip),
      total: names.length,
      viewOf: viewerOf(state, cycles),
      positionOf: (_, count) => String(skip + count),
    });
  }
  return pageOf(ask, {
    entries: after === undefined ? names : names.filter((name) => compareText(name, after) > 0),
    total: names.length,
    viewOf: viewerOf(state, cycles),
    positionOf: (name) => name,
  });
}

function namesOf({ ledger, sessions }: ControllerState, { cluster, alsoNamed = [] }: Ask): readonly string[] {
  const { clusters } = ledger.fleet;
  const known = clusters.sorted().map((number) => clusters.nameOf(number));
  const names = new Set([...known, ...sessions.keys(), ...alsoNamed]);
  if (cluster !== undefined) return names.has(cluster) ? [cluster] : [];
  return [...names].sort(compareText);
}

/** Clusters with the most unmet Needs first, then others in trouble, then the rest; ties by name. */
function troubledClustersFirst(
  names: readonly string[],
  { sessions, actuation, incomplete }: ControllerState,
  decided: Decision | null,
  { alsoNamed = [] }: Ask,
): readonly string[] {
  const unmet = unmetByCluster(decided);
  const others = new Set([...alsoNamed, ...actuation.mutedClusters.map(({ cluster }) => cluster)]);
  const isInTrouble = (name: string): boolean =>
    !sessions.has(name) || others.has(name) || incomplete.of(name).rows > 0;
  const rank = (name: string): number => (unmet.get(name) ?? 0) + (isInTrouble(name) ? 0.5 : 0);
  const ranks = new Map(names.map((name) => [name, rank(name)]));
  return [...names].sort((a, b) => ranks.get(b)! - ranks.get(a)! || compareText(a, b));
}

function unmetByCluster(decided: Decision | null): ReadonlyMap<string, number> {
  const unmet = new Map<string, number>();
  for (const { key } of decided?.unmet ?? []) unmet.set(key.cluster, (unmet.get(key.cluster) ?? 0) + 1);
  return unmet;
}

function viewerOf(state: ControllerState, cycles: Cycles): (cluster: string) => ClusterView {
  const decided = cycles.decision?.decided ?? null;
  const { ledger, sessions, reported, freezes, actuation, incomplete, clusterCosts, retirements } = state;
  const { fleet } = ledger;
  const unmet = unmetByCluster(decided);
  const muted = new Map(actuation.mutedClusters.map(({ cluster, why }) => [cluster, why]));
  const frozen = new Map(freezes.list().map((freeze) => [freeze.cluster, freeze]));
  return (cluster) => {
    const hasSession = sessions.has(cluster);
    const freeze = frozen.get(cluster) ?? frozen.get(null) ?? null;
    const why = excerpt(muted.get(cluster) ?? '', MAX_WHY_BYTES);
    const cannotBind = hasSession ? why : 'It has no session.';
    const { machinesByState, cost, ownedCost } = clusterCosts.of(cluster);
    return {
      ...{ cluster, hasSession, hasReported: reported.has(cluster) },
      needs: fleet.demand.rowsOf(fleet.clusters.find(cluster)).length,
      unmet: unmet.get(cluster) ?? 0,
      ...{ machinesByState, costPerHour: cost.perHour, cost, ownedCost },
      usedShare: usedShareOfCluster(fleet, cluster, cycles.usedOf(cluster)),
      setAside: setAsideView(incomplete.of(cluster), decided?.spareOf(cluster) ?? 0),
      ...{ freeze, retired: retiredView(retirements.of(cluster)), cannotBind, reports: null },
    };
  };
}

/** By kind of hardware with serving machines of the cluster; empty before the first decision. */
function usedShareOfCluster(
  fleet: Fleet,
  cluster: string,
  used: readonly Float64Array[] | null,
): ClusterView['usedShare'] {
  const { classes, clusters, dimensions, machines } = fleet;
  const bound = machines.boundOf(clusters.find(cluster));
  if (used === null || bound === undefined) return {};
  const accelerators = acceleratorsOf(fleet);
  const offered = HARDWARE.map(() => new Float64Array(dimensions.count));
  const { data } = classes.allocatable;
  const { offset, length } = bound.configured;
  for (let i = offset; i < offset + length; i++) {
    const from = machines.classOf[machines.arena.data[i]!]! * dimensions.stride;
    const sums = offered[hardwareOf(accelerators, data, from)]!;
    for (let d = 0; d < sums.length; d++) sums[d]! += data[from + d]!;
  }
  return Object.fromEntries(
    HARDWARE.flatMap((kind, i) => {
      const most = usedShareOf(used[i]!, offered[i]!);
      return most === null ? [] : [[kind, roundedShare(most.share)]];
    }),
  );
}

function retiredView(retirement: Retirement | null): ClusterView['retired'] {
  if (retirement === null) return null;
  const { who, why, sinceMs } = retirement;
  return { who: excerpt(who, MAX_WHY_BYTES), why: excerpt(why, MAX_WHY_BYTES), sinceMs };
}

function setAsideView({ rows, isLifted, resource }: IncompleteCluster, spare: number): SetAsideView | null {
  if (rows === 0) return null;
  const unknownResource = resource === '' ? null : excerpt(resource);
  return { rows, isLifted, machinesKept: isLifted ? 0 : spare, unknownResource };
}
