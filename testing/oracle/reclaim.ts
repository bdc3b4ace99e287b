// Phase 3: unclaimed machines leave. Bound machines are reclaimed against Phase 1's claims and nothing else; Idle ones
// are released once their hold is over.

import { compareText, MachineState } from '../../src/model/index.ts';
import { idleOrder, isReported, type Slot, type World } from './ledger.ts';

/** "Configured machines of reported clusters neither claimed nor picked", by cluster, then keep order (R68). */
export function reclaims(world: World): readonly Slot[] {
  return world.slots
    .filter(
      (slot) =>
        slot.machine.state === MachineState.Configured &&
        slot.claimedBy === null &&
        slot.pickedBy === null &&
        isReported(world, slot.machine.cluster),
    )
    .sort((a, b) => compareText(a.machine.cluster, b.machine.cluster) || idleOrder(a, b));
}

/** "Then Idle machines not claimed and past their hold, by id." No hold for a type, or no known start: kept. */
export function releases(world: World): readonly Slot[] {
  return world.slots.filter(({ machine, claimedBy }) => {
    if (machine.state !== MachineState.Idle || claimedBy !== null || machine.idleSinceMs === null)
      return false;
    const holdSeconds = world.options.releaseHoldSeconds.get(machine.capacityType) ?? 0;
    return holdSeconds > 0 && world.nowMs - machine.idleSinceMs >= holdSeconds * 1000;
  });
}
