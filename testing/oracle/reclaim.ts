// Phase 3 of the oracle, called by oracle.ts. Quoted sentences are from docs/internals/engine.md, R numbers from
// READINGS.md. Unclaimed machines leave. Bound machines are reclaimed against Phase 1's claims and nothing else; Idle
// ones are released once their hold is over.

import { compareText, MachineState } from '../../src/model/index.ts';
import { idleOrder, isReported, type OracleState, type Slot } from './ledger.ts';

/**
 * "Configured machines of reported clusters neither claimed nor picked", by cluster, then keep order, which is Idle order
 * if no row is being served (R68).
 */
export function reclaims(oracleState: OracleState): readonly Slot[] {
  return oracleState.slots
    .filter(
      (slot) =>
        slot.machine.state === MachineState.Configured &&
        slot.claimedBy === null &&
        slot.pickedBy === null &&
        isReported(oracleState, slot.machine.cluster),
    )
    .sort((a, b) => compareText(a.machine.cluster, b.machine.cluster) || idleOrder(a, b));
}

/** "Then Idle machines not claimed and past their hold, by id." No hold for a type, or no known start: kept. */
export function releases(oracleState: OracleState): readonly Slot[] {
  return oracleState.slots.filter(({ machine, claimedBy }) => {
    if (machine.state !== MachineState.Idle || claimedBy !== null || machine.idleSinceMs === null)
      return false;
    const holdSeconds = oracleState.options.releaseHoldSeconds.get(machine.capacityType) ?? 0;
    return holdSeconds > 0 && oracleState.nowMs - machine.idleSinceMs >= holdSeconds * 1000;
  });
}
