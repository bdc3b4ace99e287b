// The demand of one cluster as rows, before they become Needs: archetype, constraints on machines, number of pods.
// Workloads are drawn as a load driver would until the cluster has its number of rows; then rows grow or shrink by
// whole machines until they need exactly the machines bound to the cluster. The demo draws single rows
// (demand/average-demand.ts); testing/workload generates whole clusters for benchmarks.

import { Random } from '../../runtime/random.ts';
import { type Archetype, podsPerMachine } from '../catalogues/catalogue.ts';
import type { ScaleProfile } from './scale-profile.ts';
import { drawReplicas, splitExactly } from './sizing.ts';

/** Ids of random streams. */
export const STREAM = { rows: 1, placement: 2, pools: 3, churn: 4, ids: 5, planted: 6, roaming: 7 } as const;

export interface Row {
  readonly archetype: number;
  /** Bit i: the archetype's i-th instance type, or zone, is allowed. */
  types: number;
  zones: number;
  /** Index of the pod size; a row keeps that of its first workload. */
  readonly size: number;
  readonly priority: number;
  /** Whether it asks for the archetype's topology spread. */
  readonly spread: boolean;
  /** '' for plain rows. */
  readonly group: string;
  readonly firstSeenMs: number;
  pods: number;
  /** The region that its machines must be in; '' for any. */
  region: string;
  /** Planted: a largest pod in milli-cpu that no machine holds; 0 for the pod size. */
  largestPodMilli: number;
  /** Planted: only machines set apart will do. */
  setApart: boolean;
}

/** The clock of benchmarks. */
export const WORKLOAD_NOW_MS = Date.UTC(2026, 0, 1);
const OLDEST_ROW_SECONDS = 7 * 86_400;

/** Draws per requested row before concluding that the catalogue has no further distinct rows. */
const DRAWS_PER_ROW_LIMIT = 1000;

/** Lower bound of the fill of a row's last machine, so that machines slightly larger than nominal save none. */
const LEAST_FILL = 0.15;

/** The region of the n-th cluster or machine; '' without regions. */
export function regionName({ regions }: Pick<ScaleProfile, 'regions'>, n: number): string {
  return regions === 0 ? '' : `region-${n % regions}`;
}

export class RowMaker {
  readonly profile: ScaleProfile;
  readonly seed: number;
  readonly #archetypes: readonly Archetype[];
  readonly #weights: readonly number[];
  readonly #podsPerMachine: readonly number[];

  constructor(profile: ScaleProfile, seed: number) {
    this.profile = profile;
    this.seed = seed;
    const { groups, density } = profile;
    this.#archetypes = profile.catalogue.archetypes.map((a) => (groups ? a : { ...a, gang: null }));
    this.#weights = this.#archetypes.map((a) => (a.burstOnly ? 0 : a.weight));
    this.#podsPerMachine = this.#archetypes.map((a) => podsPerMachine(a, density));
  }

  archetypeOf(row: Pick<Row, 'archetype'>): Archetype {
    return this.#archetypes[row.archetype]!;
  }

  podsPerMachine(row: Pick<Row, 'archetype'>): number {
    return this.#podsPerMachine[row.archetype]!;
  }

  isGang(row: Row): boolean {
    return this.archetypeOf(row).gang !== null;
  }

  /** Whether one machine holds the gang: such rows are folded. */
  folds(row: Row): boolean {
    return this.isGang(row) && row.pods <= this.podsPerMachine(row);
  }

  machinesOf(row: Row): number {
    return Math.ceil(row.pods / this.podsPerMachine(row));
  }

  /** The rows of a cluster. Together they need exactly `machines` machines, folds counted once per machine they fill. */
  rowsOf(cluster: number, count: number, machines: number): Row[] {
    const random = new Random(this.seed, STREAM.rows, cluster);
    const rows = this.#draw(random, count);
    for (const row of rows) if (!this.isGang(row)) this.#fillLastMachine(row);
    this.#fit(random, rows, machines);
    if (this.profile.regions > 0) this.#bindToRegion(cluster, rows);
    return rows;
  }

  /** The region of a cluster; '' without regions. */
  regionOf(cluster: number): string {
    return regionName(this.profile, cluster);
  }

  #bindToRegion(cluster: number, rows: readonly Row[]): void {
    const random = new Random(this.seed, STREAM.roaming, cluster);
    // Gangs of one kind roam together, so that those that fold stay one row.
    const roams = new Map<string, boolean>();
    for (const row of rows) {
      const kind = `${row.archetype}/${row.types}/${row.zones}/${row.priority}/${row.spread}`;
      let isFree = roams.get(kind);
      if (isFree === undefined) {
        isFree = random.chance(this.profile.roaming);
        roams.set(kind, isFree);
      }
      row.region = isFree ? '' : this.regionOf(cluster);
    }
  }

  #draw(random: Random, count: number): Row[] {
    const rows = new Map<string, Row>();
    for (let draws = 0; rows.size < count; draws++) {
      if (draws > count * DRAWS_PER_ROW_LIMIT) {
        const { name } = this.profile.catalogue;
        throw new Error(`Catalogue ${name} gives ${rows.size} different rows per cluster, not ${count}.`);
      }
      const row = this.drawRow(random, random.weighted(this.#weights), `${draws}`);
      const key = `${row.archetype}/${row.types}/${row.zones}/${row.priority}/${row.spread}/${row.group}`;
      const known = rows.get(key);
      if (known === undefined) rows.set(key, row);
      else known.pods += row.pods;
    }
    return [...rows.values()];
  }

  /**
   * One workload. Plain ones allow any set of their types and zones, which gives the many fingerprints of a real fleet;
   * gangs allow all their types and one zone or all.
   */
  drawRow(random: Random, archetype: number, name: string): Row {
    const of = this.#archetypes[archetype]!;
    const allTypes = (1 << of.instanceTypes.length) - 1;
    const allZones = (1 << of.zones.length) - 1;
    const zone = random.below(of.zones.length + 1);
    const gangZones = zone === of.zones.length ? allZones : 1 << zone;
    return {
      archetype,
      types: of.gang === null ? random.between(1, allTypes) : allTypes,
      zones: of.gang === null ? random.between(1, allZones) : gangZones,
      size: random.weighted(of.sizes.map(({ weight }) => weight)),
      priority: random.pick(of.priorities),
      spread: of.spread !== null && random.chance(of.spread.probability),
      group: of.gang === null ? '' : `${of.name}-${name}`,
      firstSeenMs: WORKLOAD_NOW_MS - random.below(OLDEST_ROW_SECONDS) * 1000,
      pods: drawReplicas(random, of),
      region: '',
      largestPodMilli: 0,
      setApart: false,
    };
  }

  #fillLastMachine(row: Row): void {
    const each = this.podsPerMachine(row);
    const full = (this.machinesOf(row) - 1) * each;
    row.pods = Math.max(row.pods, full + Math.ceil(LEAST_FILL * each));
  }

  /** Grows and shrinks plain rows by whole machines, always where the archetype is furthest from its share. */
  #fit(random: Random, rows: readonly Row[], machines: number): void {
    const archetypes = this.#archetypes;
    const target = splitExactly(archetypes, this.profile.density, machines);
    const have = archetypes.map(() => 0);
    const plain: Row[][] = archetypes.map(() => []);
    for (const { kind, row, machines: count } of holdingsOf(this, rows)) {
      have[row.archetype]! += count;
      if (kind === 'plain') plain[row.archetype]!.push(row);
    }
    let excess = have.reduce((sum, count) => sum + count, 0) - machines;
    const by = (i: number): number => have[i]! - target[i]!;
    const furthest = (usable: readonly number[], sign: 1 | -1): number =>
      usable.reduce((best, i) => (sign * by(i) > sign * by(best) ? i : best), usable[0]!);

    while (excess !== 0) {
      const sign = excess > 0 ? 1 : -1;
      const usable = archetypes
        .map((_, i) => i)
        .filter((i) => plain[i]!.some((row) => sign < 0 || this.machinesOf(row) > 1));
      if (usable.length === 0) {
        throw new Error(
          `The rows of a cluster of ${this.profile.name} cannot be fitted to ${machines} machines.`,
        );
      }
      const archetype = furthest(usable, sign);
      const list = plain[archetype]!;
      const row =
        sign < 0
          ? random.pick(list)
          : list.reduce((largest, other) => (other.pods > largest.pods ? other : largest));
      row.pods -= sign * this.podsPerMachine(row);
      have[archetype]! -= sign;
      excess -= sign;
    }
  }
}

/** Machines bound for one row, or for all equal gangs that are folded into one. */
export interface Holding {
  readonly kind: 'plain' | 'gang' | 'fold';
  /** The row; of a fold, its first member. */
  readonly row: Row;
  readonly members: readonly Row[];
  readonly machines: number;
  /** Planted: how many of them have just failed, and how many are set apart. */
  lost: number;
  setApart: number;
}

export interface ClusterPlan {
  readonly rows: readonly Row[];
  readonly holdings: readonly Holding[];
}

export function holdingsOf(maker: RowMaker, rows: readonly Row[]): Holding[] {
  const holdings: Holding[] = [];
  const folds = new Map<string, Row[]>();
  for (const row of rows) {
    if (!maker.isGang(row)) {
      holdings.push(holding('plain', row, [], maker.machinesOf(row)));
    } else if (!maker.folds(row)) {
      holdings.push(holding('gang', row, [], maker.machinesOf(row)));
    } else {
      const key = `${row.archetype}/${row.types}/${row.zones}/${row.priority}/${row.size}/${row.pods}`;
      const members = folds.get(key);
      if (members === undefined) folds.set(key, [row]);
      else members.push(row);
    }
  }
  for (const members of folds.values()) {
    const row = members[0]!;
    const perMachine = Math.floor(maker.podsPerMachine(row) / row.pods);
    holdings.push(holding('fold', row, members, Math.ceil(members.length / perMachine)));
  }
  return holdings;
}

function holding(kind: Holding['kind'], row: Row, members: readonly Row[], machines: number): Holding {
  return { kind, row, members, machines, lost: 0, setApart: 0 };
}
