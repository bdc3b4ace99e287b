// Planted changes: a quiet fleet in which a known number of things went wrong, so that a benchmark can check that the
// engine does exactly what must be done. Each kind of change has clusters of its own, because a surplus next to a loss
// would cancel it. Used by workload.ts; the benchmarks compare plans with its `ExpectedActions`. By cluster number
// modulo four:
//   0  losses       a machine of a plain row has failed                  → one Bootstrap each
//   1  surpluses    a row needs one machine less                         → one Reclaim each
//   2  shortfalls   a pod larger than any machine; a gang larger than any rack → unmet, no action
//      preemptors   a row of the highest priority needs one machine more, of those set apart → one Preempt each
//   3  victims      a machine of a row of lower priority is set apart
//      gang losses  one machine of a gang has failed                     → one Bootstrap or Provision in its rack

import { chosen, type RowObjects } from '../../src/demo/workload/row-objects.ts';
import type { ClusterPlan, Holding, Row, RowMaker } from '../../src/demo/workload/rows.ts';
import { compareRank, covers } from '../../src/model/index.ts';
import { type Match, PoolIndex } from './pool-index.ts';
import type { MachineMaker, Site } from './workload-machines.ts';

export interface ExpectedActions {
  readonly bootstraps: number;
  readonly provisions: number;
  readonly preempts: number;
  readonly reclaims: number;
  readonly deletes: number;
  /** Rows that end the cycle unmet: shortfalls, and preemptors whose machines have yet to drain. */
  readonly unmet: number;
}

export const NOTHING_EXPECTED: ExpectedActions = {
  bootstraps: 0,
  provisions: 0,
  preempts: 0,
  reclaims: 0,
  deletes: 0,
  unmet: 0,
};

/** How many changes of a kind a cluster gets at most. */
const PER_CLUSTER = 4;
const GANGS_PER_CLUSTER = 2;
/** More pods than any rack has machines for, yet few enough that their memory is counted exactly. */
const GANG_BEYOND_ANY_RACK = 20_000;

type Kind = 'loss' | 'gangLoss' | 'surplus' | 'largePod' | 'largeGang' | 'preemptor' | 'victim';
interface Change {
  readonly kind: Kind;
  /** Index among the cluster's holdings. */
  readonly holding: number;
}

export class Planting {
  readonly #maker: RowMaker;
  readonly #rowObjects: RowObjects;
  readonly #machines: MachineMaker;
  readonly #changes: Change[][] = [];
  readonly #idle: PoolIndex;
  readonly #speculative: PoolIndex;
  readonly expected: ExpectedActions;

  constructor(
    maker: RowMaker,
    rowObjects: RowObjects,
    machines: MachineMaker,
    planOf: (cluster: number) => ClusterPlan,
  ) {
    this.#maker = maker;
    this.#rowObjects = rowObjects;
    this.#machines = machines;
    this.#idle = new PoolIndex(rowObjects, machines.poolSites('idle'));
    this.#speculative = new PoolIndex(rowObjects, machines.poolSites('speculative'));
    const count = { bootstraps: 0, provisions: 0, preempts: 0, reclaims: 0, deletes: 0, unmet: 0 };
    const { clusters } = maker.profile;
    for (let cluster = 0; cluster < clusters; cluster++) {
      const role = cluster % 4;
      const plan = planOf(cluster);
      const changes: Change[] = [];
      if (role === 0) changes.push(...this.#losses(plan));
      if (role === 1) changes.push(...this.#surpluses(plan));
      if (role === 2) changes.push(...this.#shortfalls(plan));
      if (role === 3) changes.push(...this.#gangLosses(cluster, plan, count));
      this.#changes.push(changes);
      if (role === 0) count.bootstraps += changes.length;
      if (role === 1) count.reclaims += changes.length;
      if (role === 2) count.unmet += changes.length;
    }
    const inversions = this.#inversions(planOf);
    count.preempts += inversions;
    count.unmet += inversions;
    this.expected = count;
  }

  apply(cluster: number, plan: ClusterPlan): void {
    for (const change of this.#changes[cluster]!) this.#apply(change.kind, plan.holdings[change.holding]!);
  }

  #apply(kind: Kind, holding: Holding): void {
    const { row } = holding;
    const each = this.#maker.podsPerMachine(row);
    const of = this.#maker.archetypeOf(row);
    switch (kind) {
      case 'loss':
      case 'gangLoss':
        holding.lost = 1;
        return;
      case 'surplus':
        row.pods -= each;
        return;
      case 'largePod':
        row.largestPodMilli = (this.#rowObjects.shapeOf(row).get('cpu') ?? 0) * 1.02;
        return;
      case 'largeGang':
        row.pods = GANG_BEYOND_ANY_RACK;
        return;
      case 'preemptor':
        row.pods += each;
        row.types = (1 << of.instanceTypes.length) - 1;
        row.zones = (1 << of.zones.length) - 1;
        row.setApart = true;
        holding.setApart = holding.machines;
        return;
      case 'victim':
        holding.setApart = 1;
        return;
    }
  }

  /**
   * Rows that replace a lost machine by exactly one Idle one: no worse-ranked row of the cluster has a machine they
   * could use (they would take that one, and the count would depend on sizes), and any Idle machine they may get covers
   * what the loss leaves open.
   */
  #losses({ holdings }: ClusterPlan): Change[] {
    const enough = Math.ceil(this.#maker.profile.clusters / 4) * PER_CLUSTER;
    return this.#pick(holdings, PER_CLUSTER, 'loss', ({ kind, row, machines }) => {
      if (kind !== 'plain' || this.#strict(row)) return false;
      const left = row.pods - (machines - 1) * this.#maker.podsPerMachine(row);
      const match = this.#matcher(row);
      if (
        !this.#idle.covers(match, this.#rowObjects.amount(row, 1), this.#rowObjects.amount(row, left), enough)
      )
        return false;
      const need = this.#rowObjects.needOf(row, '');
      return holdings.every((other) => {
        if (other.row === row || !this.#overlap(row, other.row)) return true;
        return compareRank(this.#rowObjects.needOf(other.row, ''), need) < 0;
      });
    });
  }

  #surpluses({ holdings }: ClusterPlan): Change[] {
    return this.#pick(
      holdings,
      PER_CLUSTER,
      'surplus',
      ({ kind, machines }) => kind === 'plain' && machines > 1,
    );
  }

  #shortfalls({ holdings }: ClusterPlan): Change[] {
    const largePods = this.#pick(holdings, 1, 'largePod', ({ kind, row, machines }) => {
      if (kind !== 'plain' || machines < 2 || this.#strict(row)) return false;
      // Its types belong to this archetype alone, so that no machine of another is large enough.
      const types = new Set(chosen(this.#maker.archetypeOf(row).instanceTypes, row.types));
      const others = this.#maker.profile.catalogue.archetypes.filter((_, i) => i !== row.archetype);
      if (others.some((other) => other.instanceTypes.some((type) => types.has(type)))) return false;
      const shape = this.#rowObjects.shapeOf(row).get('cpu') ?? 0;
      return (
        shape > 0 &&
        this.#maker.archetypeOf(row).sizes.every((_, size) => {
          return (this.#rowObjects.shapeOf({ archetype: row.archetype, size }).get('cpu') ?? 0) <= shape;
        })
      );
    });
    const largeGangs = this.#pick(holdings, 1, 'largeGang', ({ kind, row }) => {
      return kind === 'gang' && this.#maker.archetypeOf(row).gang?.domain === 'rack';
    });
    return [...largePods, ...largeGangs];
  }

  /**
   * Gangs that only the pools of their own rack can complete again: no other machine of the cluster is in that rack,
   * and no other rack of the cluster offers as much as the gang still has.
   */
  #gangLosses(
    cluster: number,
    { holdings }: ClusterPlan,
    count: { bootstraps: number; provisions: number },
  ): Change[] {
    const sites = this.#sitesOf(cluster, holdings);
    return this.#pick(holdings, GANGS_PER_CLUSTER, 'gangLoss', (holding) => {
      const { kind, row, machines } = holding;
      if (kind !== 'gang' || this.#maker.archetypeOf(row).gang?.domain !== 'rack') return false;
      const types = new Set(chosen(this.#maker.archetypeOf(row).instanceTypes, row.types));
      const home = sites.get(holding)![0]!;
      const elsewhere = new Map<string, number>();
      for (const [other, places] of sites) {
        if (other === holding) continue;
        for (const { type, zone, rack } of places) {
          const key = `${zone}/${rack}`;
          if (types.has(type)) elsewhere.set(key, (elsewhere.get(key) ?? 0) + 1);
        }
      }
      if (elsewhere.has(`${home.zone}/${home.rack}`)) return false;
      if (Math.max(0, ...elsewhere.values()) >= machines - 1) return false;
      const pod = this.#rowObjects.amount(row, 1);
      if (this.#idle.takeFrom(types, home, pod)) {
        count.bootstraps++;
        return true;
      }
      if (this.#idle.had(types, home) || !this.#speculative.takeFrom(types, home, pod)) return false;
      count.provisions++;
      return true;
    });
  }

  #sitesOf(cluster: number, holdings: readonly Holding[]): Map<Holding, Site[]> {
    const placement = this.#machines.placement(cluster);
    return new Map(holdings.map((holding) => [holding, [...this.#machines.boundSites(holding, placement)]]));
  }

  /** Pairs a preemptor with a victim, at most one per cluster. Any victim must suit any preemptor. */
  #inversions(planOf: (cluster: number) => ClusterPlan): number {
    const { clusters, catalogue } = this.#maker.profile;
    const steady = catalogue.archetypes
      .map((of, archetype) => ({ of, archetype }))
      .filter(({ of }) => !of.burstOnly);
    const highest = Math.max(...steady.flatMap(({ of }) => of.priorities));
    const top = steady.find(({ of }) => of.gang === null && of.priorities.includes(highest));
    if (top === undefined) return 0;
    const shapes = top.of.sizes.map((_, size) =>
      this.#rowObjects.shapeOf({ archetype: top.archetype, size }),
    );
    const preemptors: [number, Change][] = [];
    const victims: [number, Change][] = [];
    for (let cluster = 2; cluster < clusters; cluster += 4) {
      // With more than one machine a strict spread might forbid the victim's zone.
      const [change] = this.#pick(planOf(cluster).holdings, 1, 'preemptor', ({ row, machines }) => {
        return row.archetype === top.archetype && (machines === 1 || !this.#strict(row));
      });
      if (change !== undefined) preemptors.push([cluster, change]);
    }
    for (let cluster = 3; cluster < clusters; cluster += 4) {
      const [change] = this.#pick(planOf(cluster).holdings, 1, 'victim', ({ kind, row }) => {
        if (kind !== 'plain' || row.priority >= highest) return false;
        const types = chosen(this.#maker.archetypeOf(row).instanceTypes, row.types);
        const suits = types.every((type) => top.of.instanceTypes.includes(type));
        return suits && shapes.every((shape) => covers(this.#rowObjects.shapeOf(row), shape));
      });
      if (change !== undefined) victims.push([cluster, change]);
    }
    const pairs = Math.min(preemptors.length, victims.length);
    for (const [cluster, change] of [...preemptors.slice(0, pairs), ...victims.slice(0, pairs)]) {
      this.#changes[cluster]!.push(change);
    }
    return pairs;
  }

  #strict(row: Row): boolean {
    return row.spread && this.#maker.archetypeOf(row).spread?.strict === true;
  }

  /** Whether a machine bound for `other` could also serve `row`. */
  #overlap(row: Row, other: Row): boolean {
    const match = this.#matcher(row);
    const { instanceTypes, zones } = this.#maker.archetypeOf(other);
    return (
      chosen(instanceTypes, other.types).some((type) => match.types.has(type)) &&
      chosen(zones, other.zones).some((zone) => match.zones.has(zone))
    );
  }

  #matcher(row: Row): Match {
    const { instanceTypes, zones } = this.#maker.archetypeOf(row);
    return { types: new Set(chosen(instanceTypes, row.types)), zones: new Set(chosen(zones, row.zones)) };
  }

  /** The first holdings that qualify, at most `most`. */
  #pick(
    holdings: readonly Holding[],
    most: number,
    kind: Kind,
    qualifies: (holding: Holding) => boolean,
  ): Change[] {
    const changes: Change[] = [];
    for (const [i, holding] of holdings.entries()) {
      if (changes.length === most) break;
      if (qualifies(holding)) changes.push({ kind, holding: i });
    }
    return changes;
  }
}
