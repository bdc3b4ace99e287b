// Whether the pods of a cluster fit its machines one by one. Needs are sums, and a sum can fit where a large pod does not. Pods
// are placed by priority, the largest first, on the first machine that meets their requirements and has room. Pure.

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
  readonly room: Map<string, number>;
}

const NO_PODS: readonly DemandPod[] = [];

/**
 * The pods for which there is no room. `daemons` is what DaemonSet pods take of a machine that was acquired for a profile,
 * by fingerprint. Pods of one size are equal, so once one of them does not fit, none of them does.
 */
export function podsWithoutRoom(
  machines: readonly LedgerMachine[],
  pods: readonly DemandPod[],
  profileOf: (pod: DemandPod) => Profile | undefined,
  daemons: (fingerprint: string) => ResourceVector,
): readonly DemandPod[] {
  const rooms = machines.map((machine): Room => {
    const room = new Map(effectiveAllocatable(machine));
    for (const [name, units] of daemons(machine.stamp?.fingerprint ?? ''))
      room.set(name, (room.get(name) ?? 0) - units);
    return { machine, room };
  });
  const without: DemandPod[] = [];
  for (const { alike, profile } of ordered(pods, profileOf)) {
    const { resources } = alike[0]!;
    const eligible = rooms.filter(({ machine }) => meetsAll(machine, profile.requirements));
    let next = 0;
    for (const { room } of eligible) {
      while (next < alike.length && take(room, resources)) next++;
      if (next === alike.length) break;
    }
    without.push(...(next === 0 ? alike : next === alike.length ? NO_PODS : alike.slice(next)));
  }
  return without;
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

/** Takes the room of one pod, if there is that much. Machines that count pods have one less of them. */
function take(room: Map<string, number>, resources: ResourceVector): boolean {
  const slots = room.get('pods');
  if (slots !== undefined && slots < 1) return false;
  for (const [name, units] of resources) if ((room.get(name) ?? 0) < units) return false;
  for (const [name, units] of resources) room.set(name, room.get(name)! - units);
  if (slots !== undefined) room.set('pods', slots - 1);
  return true;
}
