// Demand, engine and scheduler in one loop: rows are made from pods, the plan is carried out, pods are placed on the machines of
// their cluster, and operators open episodes for those that do not fit.

import type { Decision } from '../../src/engine/index.ts';
import { type Action, keyText, type NeedKey } from '../../src/model/index.ts';
import type { ClusterDemand, PodGroup } from './demand.ts';
import { Episodes } from './episodes.ts';
import { Placement, type Pod } from './placement.ts';
import type { Policy } from './policies.ts';
import { needOf } from './rows.ts';
import type { Scenario } from './scenario.ts';
import { SimulatedFleet } from './simulated-fleet.ts';

export interface LoopSettings {
  readonly cycleSeconds: number;
  /** At most, for each cluster; with 0 operators do not react to stuck pods. */
  readonly openEpisodes: number;
}

export interface CycleFigures {
  readonly actions: number;
  /** Machines drained although pods ran on them, by cluster. */
  readonly inUseDrains: readonly number[];
  readonly pendingPods: number;
  readonly dollarsPerHour: number;
  /** Whether machines, pods or episodes changed. */
  readonly isChanged: boolean;
}

interface ClusterLoop {
  readonly demand: ClusterDemand;
  readonly placement: Placement;
  readonly episodes: Episodes;
  /** The pods of each group, oldest first. */
  readonly pods: Map<PodGroup, Pod[]>;
  /** Whether its rows changed since they were reported. */
  isChanged: boolean;
  inUseDrains: number;
}

/** What the decision of a cycle said, as far as operators read it. */
interface Verdicts {
  readonly unmet: ReadonlySet<string>;
  /** By key of an episode: the machines it claims. */
  readonly claims: ReadonlyMap<string, readonly string[]>;
}

export class ClosedLoop {
  readonly fleet: SimulatedFleet;
  readonly #policy: Policy;
  readonly #settings: LoopSettings;
  readonly #clusters: readonly ClusterLoop[];
  readonly #byName: ReadonlyMap<string, ClusterLoop>;

  constructor(scenario: Scenario, policy: Policy, settings: LoopSettings) {
    this.fleet = new SimulatedFleet(scenario);
    this.#policy = policy;
    this.#settings = settings;
    this.#clusters = scenario.demand.map((demand) => {
      const placement = new Placement(scenario.eligibility);
      const { openEpisodes } = settings;
      const episodes = new Episodes(demand.name, { ...scenario.parameters.endToEnd, openEpisodes });
      return { demand, placement, episodes, pods: new Map(), isChanged: false, inUseDrains: 0 };
    });
    this.#byName = new Map(this.#clusters.map((cluster) => [cluster.demand.name, cluster]));
    for (const [i, { demand }] of this.#clusters.entries())
      for (const group of demand.groups) this.resize(i, group, group.pods.length);
  }

  get openEpisodes(): number {
    return this.#clusters.reduce((sum, { episodes }) => sum + episodes.open, 0);
  }

  get openedEpisodes(): number {
    return this.#clusters.reduce((sum, { episodes }) => sum + episodes.opened, 0);
  }

  /** Adds or removes pods of a group until it has `count`. The newest leave first; sizes repeat those of the group. */
  resize(clusterIndex: number, group: PodGroup, count: number): void {
    const cluster = this.#clusters[clusterIndex]!;
    const pods = cluster.pods.get(group) ?? [];
    cluster.pods.set(group, pods);
    if (pods.length !== count) cluster.isChanged = true;
    while (pods.length > count) cluster.placement.removePod(pods.pop()!);
    while (pods.length < count) {
      const amounts = group.pods[pods.length % group.pods.length]!;
      pods.push(cluster.placement.addPod(group.profile, amounts, this.fleet.nowMs));
    }
  }

  /** Reports changed rows, decides, carries out, places pods and lets operators react. */
  cycle(): CycleFigures {
    for (const cluster of this.#clusters) this.#report(cluster);
    let verdicts: Verdicts | undefined;
    const actions = this.fleet.step(this.#policy, this.#settings.cycleSeconds * 1000, (decision) => {
      verdicts = this.#verdictsOf(decision);
    });
    for (const action of actions) this.#move(action);
    let isChanged = actions.length > 0;
    for (const cluster of this.#clusters) {
      cluster.placement.schedule();
      if (this.#settings.openEpisodes > 0 && this.#react(cluster, verdicts!)) isChanged = true;
    }
    return {
      actions: actions.length,
      inUseDrains: this.#clusters.map(({ inUseDrains }) => inUseDrains),
      pendingPods: this.#clusters.reduce((sum, { placement }) => sum + placement.pending.size, 0),
      dollarsPerHour: this.fleet.dollarsPerHour,
      isChanged,
    };
  }

  #report(cluster: ClusterLoop): void {
    cluster.inUseDrains = 0;
    if (!cluster.isChanged) return;
    cluster.isChanged = false;
    const { name } = cluster.demand;
    const rows = [...cluster.pods].filter(([, pods]) => pods.length > 0);
    this.fleet.report(name, [
      ...rows.map(([group, pods]) =>
        needOf(
          name,
          group,
          pods.map(({ amounts }) => amounts),
        ),
      ),
      ...cluster.episodes.needs(),
    ]);
  }

  #verdictsOf(decision: Decision): Verdicts {
    const episodes = this.#clusters.flatMap((cluster) => cluster.episodes.keys());
    return {
      unmet: new Set(decision.unmet.map(({ key }) => keyText(key))),
      claims: new Map(episodes.map((key) => [keyText(key), decision.verdictOf(key)?.claimed ?? []])),
    };
  }

  #move({ kind, machine, cluster: name }: Action): void {
    const cluster = this.#byName.get(name);
    if (cluster === undefined) return;
    if (kind === 'Bootstrap' || kind === 'Provision') {
      cluster.placement.addNode(machine, this.fleet.hosts.get(machine)!.offering);
    } else if (cluster.placement.removeNode(machine, this.fleet.nowMs) > 0) cluster.inUseDrains++;
  }

  #react(cluster: ClusterLoop, { claims, unmet }: Verdicts): boolean {
    const { episodes, placement, pods } = cluster;
    const populated = new Set(
      [...pods].filter(([, list]) => list.length > 0).map(([{ profile }]) => profile),
    );
    const { ended, isChanged } = episodes.update({
      nowMs: this.fleet.nowMs,
      pending: placement.pending,
      claimsOf: (key: NeedKey) => {
        const text = keyText(key);
        if (unmet.has(text)) return null;
        return key.group === '' ? [] : (claims.get(text) ?? null);
      },
      podsOn: (machine) => placement.podsOn(machine),
      hasPods: (profile) => populated.has(profile),
    });
    for (const key of ended) this.fleet.endRow(key);
    if (isChanged) cluster.isChanged = true;
    return isChanged;
  }
}
