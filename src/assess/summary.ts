// Sentences and sums that the terminal report and the page have in common. Pure.

import type { Assessment, ClusterAssessment, FreshFleet } from './assessment.ts';
import type { StrandedResource } from './stranded.ts';

export const HOURS_PER_MONTH = 730;

/** What must be said about the prices before any figure. */
export function priceNote({ catalogue: { date, file, isInvented, source } }: Assessment): string {
  if (!isInvented) return `Prices: ${file}, from ${source}, of ${date}.`;
  return `INVENTED PRICES: ${file} names no real source of its prices. No amount in dollars here is what you pay.`;
}

/** Nodes that are in no figure, over all clusters. */
export function leftOutLines({ clusters }: Assessment): readonly string[] {
  return clusters.flatMap(({ leftOut, name }) =>
    leftOut.map(({ instanceType, nodes, reason }) => {
      const what = instanceType === '' ? reason : `${instanceType} (${reason})`;
      return `${name}: ${nodes} ${nodes === 1 ? 'node' : 'nodes'}, ${what}: left out of every figure, with the pods on them.`;
    }),
  );
}

/** What could not be read, once for all clusters that lack it. */
export function gapLines({ clusters }: Assessment): readonly string[] {
  const byText = Map.groupBy(
    clusters.flatMap(({ gaps, name }) => gaps.map((text) => ({ name, text }))),
    ({ text }) => text,
  );
  return [...byText].map(([text, all]) => {
    const names =
      all.length === clusters.length && all.length > 1
        ? 'every cluster'
        : all.map(({ name }) => name).join(', ');
    return `${names}: ${text}`;
  });
}

/** Pods that wait make the comparison harder for BigFleet; none if no pod waits. */
export function waitingLines({ clusters }: Assessment): readonly string[] {
  const pods = clusters.reduce((sum, { waitingPods }) => sum + waitingPods, 0);
  if (pods === 0) return [];
  return [`Pods that wait now and cost nothing yet: ${pods}. The fleets of BigFleet serve them too.`];
}

/** Why a fresh fleet cannot be compared as it is; none if it serves all pods. */
export function freshWarnings({ unmet, withoutRoom }: FreshFleet): readonly string[] {
  const pods = unmet.reduce((sum, each) => sum + each.pods, 0);
  return [
    ...(pods === 0
      ? []
      : [`${pods} pods get no machine of the catalogue; its cost leaves them out and is too low by theirs.`]),
    ...(withoutRoom === 0
      ? []
      : [`${withoutRoom} pods found no room on the machines of their Need; its cost is too low by theirs.`]),
  ];
}

/** Over all clusters, by resource. */
export function strandedTotals(clusters: readonly ClusterAssessment[]): readonly StrandedResource[] {
  const byResource = Map.groupBy(
    clusters.flatMap(({ stranded }) => stranded),
    ({ resource }) => resource,
  );
  return [...byResource]
    .map(([resource, all]): StrandedResource => {
      const sum = (of: (each: StrandedResource) => number): number =>
        all.reduce((total, each) => total + of(each), 0);
      return {
        resource,
        allocatable: sum(({ allocatable }) => allocatable),
        requested: sum(({ requested }) => requested),
        stranded: sum(({ stranded }) => stranded),
        dollarsPerHour: sum(({ dollarsPerHour }) => dollarsPerHour),
      };
    })
    .sort((a, b) => b.dollarsPerHour - a.dollarsPerHour || (a.resource < b.resource ? -1 : 1));
}

export const SHARING_DEFINITION =
  'Every node counts as one that exists, is paid for and stays. Alone, a cluster buys what its own nodes do not hold; together, ' +
  'a node that no pod of its cluster needs serves another cluster before anything is bought. Purchases are on demand.';
