// Needs: one row of demand. A cluster reports total amounts and the requirements on every machine; the engine, not the
// cluster, decides how many machines that takes.

import type { Profile } from './profile.ts';
import { exactSum, maximum, NO_RESOURCES, type ResourceVector } from './resources.ts';
import { compareText } from './text.ts';

/** The identity of a row, over time and on the wire. */
export interface NeedKey {
  readonly cluster: string;
  readonly fingerprint: string;
  /** Co-location group, compared for equality only; '' for none. */
  readonly group: string;
}

/** One row of demand: what pods of one profile in one cluster want together. */
export interface Need {
  readonly cluster: string;
  readonly profile: Profile;
  readonly group: string;
  /** The sum over all pods. */
  readonly aggregate: ResourceVector;
  /** The largest single pod: a machine smaller than this cannot be acquired for the row. */
  readonly minUnit: ResourceVector;
  /** Shard clock, in milliseconds, when the key was first reported. */
  readonly firstSeenMs: number;
  /**
   * The row exceeds a limit of the shard, so its size is not known: it keeps the machines that serve it and gets no
   * others. Its aggregate and min_unit are empty, and no decision reads them. Absent for an ordinary row.
   */
  readonly setAside?: true;
}

/** The row without its amounts, marked as set aside. */
export function setAside(need: Need): Need {
  return { ...need, aggregate: NO_RESOURCES, minUnit: NO_RESOURCES, setAside: true };
}

/** The key of a Need. */
export function keyOf(need: Need): NeedKey {
  return { cluster: need.cluster, fingerprint: need.profile.fingerprint, group: need.group };
}

/** Whether two keys name the same row. */
export function sameKey(a: NeedKey, b: NeedKey): boolean {
  return a.cluster === b.cluster && a.fingerprint === b.fingerprint && a.group === b.group;
}

export function compareKeys(a: NeedKey, b: NeedKey): number {
  return (
    compareText(a.cluster, b.cluster) ||
    compareText(a.fingerprint, b.fingerprint) ||
    compareText(a.group, b.group)
  );
}

/** A key as one text, for maps. Lengths in front keep it collision-free whatever the parts contain. */
export function keyText(key: NeedKey): string {
  return `${key.cluster.length}:${key.fingerprint.length}:${key.cluster}${key.fingerprint}${key.group}`;
}

/** Precedence: priority, then interruption bucket, then reclamation bucket. Positive: `a` is ahead. */
export function comparePrecedence(a: Profile, b: Profile): number {
  return (
    a.priority - b.priority ||
    a.interruptionBucket - b.interruptionBucket ||
    a.reclamationBucket - b.reclamationBucket
  );
}

/** The total order in which rows are served: precedence, then first-seen, then key. Negative: `a` is first. */
export function compareRank(a: Need, b: Need): number {
  return (
    comparePrecedence(b.profile, a.profile) ||
    a.firstSeenMs - b.firstSeenMs ||
    compareText(a.cluster, b.cluster) ||
    compareText(a.profile.fingerprint, b.profile.fingerprint) ||
    compareText(a.group, b.group)
  );
}

/**
 * Rows with equal keys become one: amounts add up, the largest pod and the earliest known sighting win. A row is set
 * aside if one of its parts is, or if their sum leaves the exact range. Input order of first appearance.
 */
export function mergeNeeds(needs: readonly Need[]): readonly Need[] {
  const merged = new Map<string, Need>();
  // Fingerprints are long and few: replacing them by numbers makes keys cheap to build and to hash.
  const numbers = new Map<string, number>();
  const numberOf = (name: string): number => {
    const known = numbers.get(name);
    if (known === undefined) numbers.set(name, numbers.size);
    return known ?? numbers.size - 1;
  };
  for (const need of needs) {
    const text = `${numberOf(need.cluster)}/${numberOf(need.profile.fingerprint)}/${need.group}`;
    const other = merged.get(text);
    merged.set(text, other === undefined ? need : mergePair(other, need));
  }
  return [...merged.values()];
}

function mergePair(a: Need, b: Need): Need {
  const firstSeenMs = earliest(a.firstSeenMs, b.firstSeenMs);
  const isSetAside = a.setAside === true || b.setAside === true;
  const aggregate = isSetAside ? undefined : exactSum(a.aggregate, b.aggregate);
  if (aggregate === undefined) return setAside({ ...a, firstSeenMs });
  return { ...a, aggregate, minUnit: maximum(a.minUnit, b.minUnit), firstSeenMs };
}

/** The earlier of two sightings, 0 meaning "not known". */
function earliest(a: number, b: number): number {
  if (a === 0 || b === 0) return Math.max(a, b);
  return Math.min(a, b);
}
