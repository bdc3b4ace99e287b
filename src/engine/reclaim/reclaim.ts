// Phase 3: unclaimed machines leave. Reclaims are the exact complement of Phase 1's claims; nothing is computed again.
// With a reclaim hold an unclaimed machine first stays on hold, in case demand returns or a machine that a row waits for
// does not arrive. Releases return hosts that have been Idle for longer than their hold. Called by engine.ts; reads the cycle
// and writes nothing. A picked machine is a victim of Phase 2.

import type { Cycle } from '../cycle.ts';
import { AwaitingRows } from './awaiting-rows.ts';

/**
 * Configured machines of reported clusters that are neither claimed nor picked: by cluster, then keep order. With a reclaim
 * hold, those whose hold has run out, unless a row of their cluster may still come to need them.
 */
export function reclaims(cycle: Cycle): number[] {
  const holdMs = cycle.options.reclaimHoldSeconds * 1000;
  if (holdMs === 0) return unclaimed(cycle, null);
  const { cluster, unclaimedSinceAtLeastMs, unclaimedSinceMs } = cycle.fleet.machines;
  // Without a clock the hold begins now. Of many machines on hold few are due, and in most cycles none.
  if (cycle.nowMs - unclaimedSinceAtLeastMs < holdMs) return [];
  const due = unclaimed(cycle, (slot) => cycle.nowMs - unclaimedSinceMs[slot]! >= holdMs);
  if (due.length === 0) return due;
  const rows = new AwaitingRows(cycle);
  return due.filter((slot) => !isSilent(cycle, cluster[slot]!) && !rows.matches(slot));
}

/** Machines on hold, in the order of `reclaims` and including those. None without a reclaim hold. */
export function onHold(cycle: Cycle): number[] {
  return cycle.options.reclaimHoldSeconds === 0 ? [] : unclaimed(cycle, null);
}

/** Whether a cluster is without contact, so that the clocks of its machines on hold do not run. */
export function isSilent({ bindable, fleet, options }: Cycle, cluster: number): boolean {
  return !bindable.has(cluster) && options.connected?.has(fleet.clusters.nameOf(cluster)) !== true;
}

/** Configured machines of reported clusters that are neither claimed nor picked and pass a test: by cluster, then keep order. */
function unclaimed(cycle: Cycle, test: ((slot: number) => boolean) | null): number[] {
  const slots: number[] = [];
  for (const cluster of cycle.fleet.clusters.sorted()) {
    const start = cycle.credits.start[cluster] ?? 0;
    const end = cycle.credits.unclaimedConfiguredEnd[cluster] ?? 0;
    if (start === end || !cycle.isReady(cluster)) continue;
    for (let i = start; i < end; i++) {
      const slot = cycle.credits.unclaimed[i]!;
      if (test !== null && !test(slot)) continue;
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
