// Phase 3: unclaimed machines leave. Reclaims are the exact complement of Phase 1's claims; nothing is computed again.
// Releases return hosts that have been Idle for longer than their hold. Called by engine.ts; reads the cycle and writes
// nothing. A picked machine is a victim of Phase 2.

import type { Cycle } from '../cycle.ts';

/** Configured machines of reported clusters that are neither claimed nor picked: by cluster, then keep order. */
export function reclaims(cycle: Cycle): number[] {
  const slots: number[] = [];
  for (const cluster of cycle.fleet.clusters.sorted()) {
    const start = cycle.credits.start[cluster] ?? 0;
    const end = cycle.credits.unclaimedConfiguredEnd[cluster] ?? 0;
    if (start === end || !cycle.isReady(cluster)) continue;
    for (let i = start; i < end; i++) {
      const slot = cycle.credits.unclaimed[i]!;
      if (cycle.claims.isFree(slot) && cycle.result.picked[slot] !== 1) slots.push(slot);
    }
  }
  return slots;
}

/** Number of Configured machines of a cluster that are neither claimed nor picked, whether or not they may be reclaimed. */
export function spareOf(cycle: Cycle, cluster: number): number {
  const end = cycle.credits.unclaimedConfiguredEnd[cluster] ?? 0;
  let count = 0;
  for (let i = cycle.credits.start[cluster] ?? 0; i < end; i++) {
    const slot = cycle.credits.unclaimed[i]!;
    if (cycle.claims.isFree(slot) && cycle.result.picked[slot] !== 1) count++;
  }
  return count;
}

/** Unclaimed Idle machines past their hold, by id. One whose `idleSinceMs` is unknown is kept. */
export function releases(cycle: Cycle): number[] {
  const { machines } = cycle.fleet;
  const slots: number[] = [];
  for (const [capacityType, hold] of cycle.options.releaseHoldSeconds) {
    const slice = machines.idleClocks[capacityType];
    if (slice === undefined || !(hold > 0)) continue;
    for (let i = slice.offset; i < slice.offset + slice.length; i++) {
      const slot = machines.arena.data[i]!;
      // Sorted by time, longest Idle first, so none behind this one is due.
      if (!(cycle.nowMs - machines.idleSinceMs[slot]! >= hold * 1000)) break;
      if (cycle.claims.isFree(slot)) slots.push(slot);
    }
  }
  return slots.sort(machines.idOrder);
}
