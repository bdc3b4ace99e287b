// A fleet that serves given clusters: decided until it is settled, then checked pod by pod. Pods that fit nowhere although the
// Need of their row is met become a Need of their own, as the operator reports them, until all fit. Pure.

import {
  keyOf,
  keyText,
  type LedgerMachine,
  MachineState,
  maximum,
  type Need,
  NO_RESOURCES,
  Operator,
  type Profile,
  type ResourceVector,
  unmetText,
} from '../model/index.ts';
import type { ClusterDemand, DemandPod } from './cluster-demand.ts';
import { nodeId } from './machines.ts';
import { Placement } from './placement.ts';
import type { PurchasableMachines } from './purchasable-machines.ts';
import { SimulatedFleet } from './simulated-fleet.ts';

export interface NamedDemand {
  readonly name: string;
  readonly demand: ClusterDemand;
}

/** A Need that is not met, with the pods behind it. */
export interface UnmetPods {
  readonly cluster: string;
  readonly pods: number;
  /** What its Need requires of machines. */
  readonly wants: string;
  readonly reason: string;
}

export interface SettledFleet {
  /** All machines that exist, free ones included. */
  readonly machines: readonly LedgerMachine[];
  readonly unmet: readonly UnmetPods[];
  /** Pods that fitted no machine when the number of rounds was used up. */
  readonly withoutRoom: number;
  /** Dollars per hour of bought machines after each cycle. */
  readonly course: readonly number[];
}

/** Rounds of placing pods; each adds machines for those that fitted nowhere. */
const MAX_ROUNDS = 12;

export function settledFleet(
  clusters: readonly NamedDemand[],
  existing: readonly LedgerMachine[],
  purchasable: PurchasableMachines,
  nowMs: number,
  progress: (cycle: number) => void,
): SettledFleet {
  const fleet = new SimulatedFleet(nowMs, purchasable);
  let needs = clusters.flatMap(({ demand }) => demand.needs);
  const profiles = new Map(needs.map(({ profile }) => [profile.fingerprint, profile]));
  fleet.add(existing);
  fleet.add(purchasable.forNeeds(needs));
  fleet.report(needs);
  const placements = new Map(
    clusters.map(({ demand, name }) => [
      name,
      new Placement({
        pods: demand.pods,
        profileOf: ({ fingerprint }) => profiles.get(fingerprint),
        daemons: demand.daemonsOnFreshNode,
        startsOn: ({ node }) => (node === '' ? '' : nodeId(name, node)),
      }),
    ]),
  );
  const course: number[] = [];
  const settle = (): void =>
    fleet.settle(() => {
      course.push(boughtPerHour(fleet.machines));
      progress(fleet.cycles);
    });
  settle();
  let stuck = stuckPods(clusters, fleet, profiles, placements);
  for (let round = 0; round < MAX_ROUNDS && stuck.length > 0; round++) {
    const added = stuck.map((each, i) => needOf(each, `stuck:${round}.${i}`, nowMs));
    fleet.add(purchasable.forNeeds(added));
    needs = [...needs, ...added];
    fleet.report(needs);
    settle();
    stuck = stuckPods(clusters, fleet, profiles, placements);
  }
  return {
    machines: [...fleet.machines].filter(({ state }) => state !== MachineState.Speculative),
    unmet: unmetOf(clusters, needs, fleet),
    withoutRoom: stuck.reduce((sum, { pods }) => sum + pods.length, 0),
    course,
  };
}

interface StuckPods {
  readonly cluster: string;
  readonly profile: Profile;
  readonly pods: readonly DemandPod[];
  readonly daemons: ResourceVector;
}

/** Pods without room whose own Need is met; a Need that is not met says so itself. */
function stuckPods(
  clusters: readonly NamedDemand[],
  fleet: SimulatedFleet,
  profiles: ReadonlyMap<string, Profile>,
  placements: ReadonlyMap<string, Placement>,
): readonly StuckPods[] {
  const unmet = unmetKeys(fleet);
  return clusters.flatMap(({ demand, name }) => {
    const bound = [...fleet.machines].filter(
      ({ cluster, state }) => state === MachineState.Configured && cluster === name,
    );
    const without = placements
      .get(name)!
      .update(bound)
      .filter(({ fingerprint, group }) => !unmet.has(keyText({ cluster: name, fingerprint, group })));
    return [...Map.groupBy(without, ({ fingerprint }) => fingerprint)].map(([fingerprint, pods]) => {
      const daemons = demand.daemonsOnFreshNode(fingerprint);
      return { cluster: name, profile: profiles.get(fingerprint)!, pods, daemons };
    });
  });
}

function needOf({ cluster, daemons, pods, profile }: StuckPods, group: string, nowMs: number): Need {
  const largest = pods.reduce((most, { resources }) => maximum(most, resources), NO_RESOURCES);
  return {
    ...{ cluster, profile, group, firstSeenMs: nowMs },
    aggregate: sumOf(pods.map(({ resources }) => resources)),
    minUnit: sumOf([largest, daemons]),
  };
}

function sumOf(vectors: readonly ResourceVector[]): ResourceVector {
  const sum = new Map<string, number>();
  for (const vector of vectors)
    for (const [name, units] of vector)
      sum.set(name, Math.min(Number.MAX_SAFE_INTEGER, (sum.get(name) ?? 0) + units));
  return sum;
}

function unmetKeys({ plan }: SimulatedFleet): ReadonlySet<string> {
  return new Set((plan?.verdicts ?? []).filter(({ satisfied }) => !satisfied).map(({ key }) => keyText(key)));
}

function unmetOf(
  clusters: readonly NamedDemand[],
  needs: readonly Need[],
  { plan }: SimulatedFleet,
): readonly UnmetPods[] {
  const pods = new Map<string, number>();
  for (const { demand, name } of clusters)
    for (const pod of demand.pods) {
      const key = keyText({ cluster: name, fingerprint: pod.fingerprint, group: pod.group });
      pods.set(key, (pods.get(key) ?? 0) + 1);
    }
  const wants = new Map(needs.map((need) => [keyText(keyOf(need)), wantsText(need)]));
  return (plan?.verdicts ?? [])
    .flatMap(({ key, satisfied, unmet }): UnmetPods[] => {
      const text = keyText(key);
      // The pods of a row for stuck pods are counted as pods without room.
      if (satisfied || unmet === null || !pods.has(text)) return [];
      return [
        {
          ...{ cluster: key.cluster, pods: pods.get(text)!, wants: wants.get(text) ?? '' },
          reason: unmetText(unmet.reason, unmet.fitting),
        },
      ];
    })
    .sort((a, b) => b.pods - a.pods);
}

function boughtPerHour(machines: Iterable<LedgerMachine>): number {
  let dollars = 0;
  for (const { id, pricePerHour, state } of machines)
    if (state !== MachineState.Speculative && !id.startsWith('node/')) dollars += pricePerHour;
  return dollars;
}

const OPERATOR_WORDS: Readonly<Record<Operator, string>> = {
  [Operator.Unspecified]: '?',
  [Operator.In]: 'in',
  [Operator.NotIn]: 'not in',
  [Operator.Exists]: 'exists',
  [Operator.DoesNotExist]: 'does not exist',
  [Operator.Same]: 'the same',
};

function wantsText({ profile }: Need): string {
  return profile.requirements
    .map(({ key, operator, values }) => `${key} ${OPERATOR_WORDS[operator]} ${values.join(', ')}`.trim())
    .join('; ');
}
