// Whether the pods of a cluster fit its machines one by one. Needs are sums, and a sum can fit where a large pod does not. Pods
// stay where they are as long as their machine does; the others are placed by priority, the largest first, on the first
// machine that meets their requirements and has room. Pure.

import {
  effectiveAllocatable,
  type LedgerMachine,
  meetsAll,
  type Profile,
  type ResourceVector,
} from '../model/index.ts';
import type { DemandPod } from './cluster-demand.ts';

interface Room {
  readonly machine: LedgerMachine;
  readonly left: Map<string, number>;
  readonly pods: DemandPod[];
}

export interface PlacementParts {
  readonly pods: readonly DemandPod[];
  readonly profileOf: (pod: DemandPod) => Profile | undefined;
  /** What DaemonSet pods take of a machine that was acquired for a profile, by fingerprint. */
  readonly daemons: (fingerprint: string) => ResourceVector;
  /** Id of the machine that a pod runs on before anything is decided; '' if it waits. */
  readonly startsOn: (pod: DemandPod) => string;
}

export class Placement {
  readonly #parts: PlacementParts;
  readonly #rooms = new Map<string, Room>();
  #pending: readonly DemandPod[];

  constructor(parts: PlacementParts) {
    this.#parts = parts;
    this.#pending = parts.pods;
  }

  /** Places what it can on the machines that the cluster has now, and returns the pods for which there is no room. */
  update(machines: readonly LedgerMachine[]): readonly DemandPod[] {
    const isFirst = this.#rooms.size === 0;
    const present = new Set(machines.map(({ id }) => id));
    const evicted: DemandPod[] = [];
    for (const [id, { pods }] of this.#rooms) {
      if (present.has(id)) continue;
      evicted.push(...pods);
      this.#rooms.delete(id);
    }
    for (const machine of machines) if (!this.#rooms.has(machine.id)) this.#add(machine);
    let waiting = [...this.#pending, ...evicted];
    if (isFirst) waiting = waiting.filter((pod) => !this.#startsInPlace(pod));
    this.#pending = this.#place(waiting);
    return this.#pending;
  }

  #add(machine: LedgerMachine): void {
    const left = new Map(effectiveAllocatable(machine));
    for (const [name, units] of this.#parts.daemons(machine.stamp?.fingerprint ?? ''))
      left.set(name, (left.get(name) ?? 0) - units);
    this.#rooms.set(machine.id, { machine, left, pods: [] });
  }

  /** A pod that runs fits its node, even if the room of the machine is estimated as too small. */
  #startsInPlace(pod: DemandPod): boolean {
    const room = this.#rooms.get(this.#parts.startsOn(pod));
    if (room === undefined) return false;
    take(room, pod);
    return true;
  }

  /** Pods of one size are equal, so once one of them does not fit a machine, none of them does. */
  #place(pods: readonly DemandPod[]): readonly DemandPod[] {
    const without: DemandPod[] = [];
    const rooms = [...this.#rooms.values()];
    for (const { alike, profile } of ordered(pods, this.#parts.profileOf)) {
      let next = 0;
      for (const room of rooms) {
        if (next === alike.length) break;
        if (!meetsAll(room.machine, profile.requirements)) continue;
        while (next < alike.length && fits(room.left, alike[next]!.resources)) take(room, alike[next++]!);
      }
      without.push(...alike.slice(next));
    }
    return without;
  }
}

interface AlikePods {
  readonly alike: readonly DemandPod[];
  readonly profile: Profile;
  readonly size: number;
}

/** Groups of equal pods: by priority, then the largest first. */
function ordered(
  pods: readonly DemandPod[],
  profileOf: (pod: DemandPod) => Profile | undefined,
): readonly AlikePods[] {
  const groups = Map.groupBy(pods, ({ fingerprint, group, resources }) => {
    const amounts = [...resources].map(([name, units]) => `${name}=${units}`).sort();
    return `${fingerprint}\n${group}\n${amounts.join()}`;
  });
  // Sizes of different resources are compared as shares of all that pods want of them.
  const wanted = new Map<string, number>();
  for (const { resources } of pods)
    for (const [name, units] of resources) wanted.set(name, (wanted.get(name) ?? 0) + units);
  return [...groups.values()]
    .flatMap((alike): AlikePods[] => {
      const [first] = alike as [DemandPod];
      const profile = profileOf(first);
      if (profile === undefined) return [];
      const size = Math.max(0, ...[...first.resources].map(([name, units]) => units / wanted.get(name)!));
      return [{ alike, profile, size }];
    })
    .sort((a, b) => b.profile.priority - a.profile.priority || b.size - a.size);
}

/** A machine that declares `pods` holds at most that number of them. */
function fits(left: ReadonlyMap<string, number>, resources: ResourceVector): boolean {
  if ((left.get('pods') ?? 1) < 1) return false;
  for (const [name, units] of resources) if ((left.get(name) ?? 0) < units) return false;
  return true;
}

function take({ left, pods }: Room, pod: DemandPod): void {
  for (const [name, units] of pod.resources) left.set(name, (left.get(name) ?? 0) - units);
  const slots = left.get('pods');
  if (slots !== undefined) left.set('pods', slots - 1);
  pods.push(pod);
}
