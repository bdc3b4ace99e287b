// Phase 3: what nobody counts on leaves. Reclaims are the exact complement of Phase 1's claims; nothing is worked out
// again. Releases give back hosts that have stood Idle for longer than their hold.

import { MachineState } from '../model/index.ts';
import type { Cycle } from './cycle.ts';

/** Configured machines of reported clusters that are neither claimed nor picked: by cluster, then keep order. */
export function reclaims(cycle: Cycle, picked: ReadonlySet<number>): number[] {
  const slots: number[] = [];
  for (const cluster of cycle.fleet.clusters.sorted()) {
    const start = cycle.creditPlace[cluster] ?? 0;
    const end = cycle.unclaimedEnd[cluster] ?? 0;
    if (start === end || !cycle.isReady(cluster)) continue;
    for (let i = start; i < end; i++) {
      const slot = cycle.unclaimed[i]!;
      if (cycle.isFree(slot) && !picked.has(slot)) slots.push(slot);
    }
  }
  return slots;
}

/** Unclaimed Idle machines past their hold, by id. */
export function releases(cycle: Cycle): number[] {
  const { classes, machines } = cycle.fleet;
  const slots: number[] = [];
  for (let slot = 0; slot < machines.size; slot++) {
    if (machines.state[slot] !== MachineState.Idle || !cycle.isFree(slot)) continue;
    const hold = cycle.options.releaseHoldSeconds.get(classes.capacityTypeOf(machines.classOf[slot]!)) ?? 0;
    // Without a time the comparison is false, and the machine is kept.
    if (hold > 0 && cycle.nowMs - machines.idleSinceMs[slot]! >= hold * 1000) slots.push(slot);
  }
  return slots.sort(machines.idOrder);
}
