// Phase 3 of the oracle, called by oracle.ts. Quoted sentences are from docs/internals/engine.md, R numbers from
// READINGS.md. Unclaimed machines leave: bound ones once their hold is over and no row of their cluster waits for a machine,
// Idle ones once their release hold is over.

import { compareText, MachineState } from '../../src/model/index.ts';
import { isReported, keepOrderWithoutRow, matches, type OracleState, type Row, type Slot } from './ledger.ts';
import { Shortage } from './shortage.ts';

/** "Configured machines of reported clusters neither claimed nor picked." With a reclaim hold they are *on hold* (E5). */
function unclaimed(oracleState: OracleState): readonly Slot[] {
  return oracleState.slots.filter(
    (slot) =>
      slot.machine.state === MachineState.Configured &&
      slot.claimedBy === null &&
      slot.pickedBy === null &&
      isReported(oracleState, slot.machine.cluster),
  );
}

/**
 * The machines on hold whose clock runs, reclaimed ones included, since "what a guardrail or pause cuts keeps its clock"
 * (R103). "Cleared … while the cluster is unreported or without session", but not by a freeze (R122).
 */
export function onHold(oracleState: OracleState): ReadonlyMap<string, number> {
  const { cannotBind, connected, reclaimHoldSeconds } = oracleState.options;
  if (reclaimHoldSeconds === 0) return new Map();
  return new Map(
    unclaimed(oracleState)
      .filter(({ machine }) => !cannotBind.has(machine.cluster) || connected?.has(machine.cluster) === true)
      .map(({ id, machine }) => [id, machine.unclaimedSinceMs ?? oracleState.nowMs]),
  );
}

/** By cluster, then keep order, without its owner's part since no row is being served (R68). */
export function reclaims(oracleState: OracleState, rows: readonly Row[]): readonly Slot[] {
  const holdMs = oracleState.options.reclaimHoldSeconds * 1000;
  const since = onHold(oracleState);
  return unclaimed(oracleState)
    .filter((slot) => {
      if (holdMs === 0) return true;
      // "Absent means `now`", so where no clock runs the hold does not run out.
      const age = oracleState.nowMs - (since.get(slot.id) ?? oracleState.nowMs);
      return age >= holdMs && !rows.some((row) => mayComeToNeed(row, slot));
    })
    .sort((a, b) => compareText(a.machine.cluster, b.machine.cluster) || keepOrderWithoutRow(a, b));
}

/**
 * "No row of its cluster that it matches is short or counts, by claim or share, on a machine not yet Configured": until
 * what is on its way has arrived, the machine may still be wanted.
 */
function mayComeToNeed(row: Row, slot: Slot): boolean {
  if (row.key.cluster !== slot.machine.cluster || !matches(row, slot)) return false;
  // A row that is set aside has no deficit (R104).
  if (row.kind !== 'set-aside' && Shortage.of(row, row.claims).deficit().size > 0) return true;
  const countsOn = [...row.claims, ...row.shares.map((share) => share.slot)];
  return countsOn.some(({ machine }) => machine.state !== MachineState.Configured);
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
