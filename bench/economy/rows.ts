// Pods as the rows that an operator reports: the sum of the pods of a profile, and per resource its largest pod.

import type { Need } from '../../src/model/index.ts';
import { type Amounts, largest, NOTHING, sumOf, vectorOf } from './amounts.ts';
import type { ClusterDemand, PodGroup } from './demand.ts';

/** The time at which every simulation begins; rows are first seen then. */
export const START_MS = Date.UTC(2026, 0, 1);

export function needOf(
  cluster: string,
  { profile }: Pick<PodGroup, 'profile'>,
  pods: readonly Amounts[],
  group = '',
  firstSeenMs = START_MS,
): Need {
  return {
    cluster,
    profile,
    group,
    aggregate: vectorOf(sumOf(pods)),
    minUnit: vectorOf(pods.reduce(largest, NOTHING)),
    firstSeenMs,
  };
}

export function needsOf({ name, groups }: ClusterDemand): Need[] {
  return groups.map((group) => needOf(name, group, group.pods));
}
