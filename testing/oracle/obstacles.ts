// What keeps each machine that meets a row's requirements from serving it, by the definition of ObstacleCause: slot by
// slot, after Phases 1 and 2. Called by oracle.ts for one row.

import {
  CLAIMED_CAUSES,
  comparePrecedence,
  MAX_CLAIMANTS,
  MachineState,
  OBSTACLE_CAUSES,
  type ObstacleCause,
  type Obstacles,
} from '../../src/model/index.ts';
import { coversMinUnit, matches, type OracleState, type Row, type Slot } from './ledger.ts';

export function obstaclesOf(oracleState: OracleState, rows: readonly Row[], row: Row): Obstacles {
  const seen = oracleState.slots
    .filter((slot) => matches(row, slot))
    .map((slot) => ({ slot, user: userOf(rows, slot) }));
  const others = seen.filter(({ user }) => user !== row);
  const causes = others.map(({ slot, user }) => ({ cause: causeOf(row, slot, user), user }));
  const counts = OBSTACLE_CAUSES.map((cause) => [cause, causes.filter((of) => of.cause === cause).length]);
  const claimants = CLAIMED_CAUSES.map((cause) =>
    rows
      .map((claimant) => ({
        claimant,
        machines: causes.filter((of) => of.user === claimant && of.cause === cause).length,
      }))
      .filter(({ machines }) => machines > 0)
      .sort((a, b) => b.machines - a.machines || a.claimant.turn - b.claimant.turn)
      .map(({ claimant: { key, profile }, machines }) => ({
        cause,
        key,
        priority: profile.priority,
        machines,
      })),
  );
  return {
    own: seen.length - others.length,
    machines: Object.fromEntries(counts),
    claimants: claimants.flatMap((of) => of.slice(0, MAX_CLAIMANTS)),
    claimantsTotal: Object.fromEntries(
      CLAIMED_CAUSES.map((cause, i) => [cause, claimants[i]!.length]),
    ) as Obstacles['claimantsTotal'],
    remainders: row.remainders,
  };
}

function causeOf(row: Row, slot: Slot, user: Row | null): ObstacleCause {
  const { state, blocked } = slot.machine;
  if (!coversMinUnit(row, slot)) return 'too-small';
  if (state === MachineState.Failed) return 'failed';
  if (blocked) return 'blocked';
  if (user === null)
    return state === MachineState.Idle || state === MachineState.Speculative ? 'unused' : 'in-transit';
  const order = comparePrecedence(user.profile, row.profile);
  if (order > 0) return 'claimed-by-better';
  return order === 0 ? 'claimed-by-equals' : 'claimed-by-worse';
}

/** The row that picked it, claims it, or that it is in flight for. */
function userOf(rows: readonly Row[], slot: Slot): Row | null {
  const picker = rows.find(({ picks }) => picks.includes(slot));
  if (picker !== undefined) return picker;
  if (slot.claimedBy !== null) return slot.claimedBy;
  const { state } = slot.machine;
  const isComing =
    state === MachineState.Idle || state === MachineState.Creating || state === MachineState.Draining;
  return isComing ? (rows.find(({ text }) => text === slot.targetKey) ?? null) : null;
}
