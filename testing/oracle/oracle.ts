// The oracle: one decision, solved one row at a time over plain objects. It is the definition as code, has no index and
// no shortcut, and shares nothing with the engine but the model; the engine must agree with it to the byte. Where the
// definition leaves a choice, READINGS.md says which one applies. Tests and `npm run verify:oracle` compare the engine
// with it.

import {
  type Action,
  compareText,
  type DecisionInput,
  isBound,
  MachineState,
  type NeedKey,
  type Obstacles,
  type Plan,
  RECLAIM_GRACE_SECONDS,
} from '../../src/model/index.ts';
import { foldNeeds } from './fold.ts';
import { isOthersOwn, makeOracleState, type OracleState, type Row, type Slot } from './ledger.ts';
import { obstaclesOf } from './obstacles.ts';
import { graceOf, isExcess, preemptFor } from './preempt.ts';
import { onHold, reclaims, releases } from './reclaim.ts';
import { solveRows } from './solve.ts';
import { servingRows, verdictsOf } from './verdict.ts';

/** What keeps machines from each original Need, by the text of its key. */
export function obstacles(input: DecisionInput): ReadonlyMap<string, Obstacles> {
  const { oracleState, rows } = solved(input);
  const servedBy = servingRows(rows);
  return new Map([...servedBy].map(([text, row]) => [text, obstaclesOf(oracleState, rows, row)]));
}

function solved(input: DecisionInput): { readonly oracleState: OracleState; readonly rows: readonly Row[] } {
  const oracleState = makeOracleState(input);
  const rows = solveRows(oracleState, foldNeeds(oracleState, input.needs));
  preemptFor(oracleState, rows);
  return { oracleState, rows };
}

export function decide(input: DecisionInput): Plan {
  const { oracleState, rows } = solved(input);

  // "Plan order: Phase 1 by rank, inside a row by claim order; Preempts by preemptor's rank and pick order;
  // Reclaims; Deletes."
  const actions: Action[] = [
    ...rows.flatMap((row) => row.claims.flatMap((slot) => acquisition(row, slot))),
    ...rows.flatMap((row) => row.picks.map((slot) => preempt(oracleState, row, slot))),
    ...reclaims(oracleState, rows).map((slot) => reclaim(slot)),
    ...releases(oracleState).map((slot) => release(slot)),
  ];
  const claims = new Map<string, NeedKey>();
  const restamps = new Map<string, NeedKey>();
  for (const row of rows) {
    for (const slot of row.claims) {
      claims.set(slot.id, row.key);
      // "Bound machines it [a gang] claims are re-stamped with its fingerprint and group" (R39), and what a lender claims of
      // another's (R112).
      const foreign =
        isBound(slot.machine.state) &&
        slot.stampKey !== row.text &&
        (row.kind === 'gang' || (row.lends && isOthersOwn(oracleState, row, slot)));
      if (foreign) restamps.set(slot.id, row.key);
    }
  }
  return {
    actions,
    verdicts: verdictsOf(oracleState, input.needs, rows),
    claims,
    restamps,
    retargets: new Map([...oracleState.retargets].sort(([a], [b]) => compareText(a, b))),
    onHold: onHold(oracleState),
  };
}

/** Idle → Bootstrap, Speculative → Provision; anything else is in flight or bound already. */
function acquisition(row: Row, slot: Slot): readonly Action[] {
  const { state } = slot.machine;
  // A cluster that cannot bind keeps its in-flight Idle machines reserved, without an action (R31).
  if (!row.canBind) return [];
  const to = {
    machine: slot.id,
    cluster: row.key.cluster,
    graceSeconds: 0,
    preemptorPriority: 0,
    need: row.key,
  };
  if (state === MachineState.Idle) return [{ kind: 'Bootstrap', reason: 'phase1.idle', ...to }];
  if (state === MachineState.Speculative) return [{ kind: 'Provision', reason: 'phase1.speculative', ...to }];
  return [];
}

function preempt(oracleState: OracleState, row: Row, slot: Slot): Action {
  return {
    kind: 'Preempt',
    machine: slot.id,
    cluster: slot.machine.cluster,
    reason: isExcess(oracleState, slot) ? 'phase2.excess' : 'phase2.inversion',
    graceSeconds: graceOf(oracleState, row, slot),
    preemptorPriority: row.priority,
    need: row.key,
  };
}

function reclaim(slot: Slot): Action {
  return {
    kind: 'Reclaim',
    machine: slot.id,
    cluster: slot.machine.cluster,
    reason: 'phase3.excess',
    graceSeconds: RECLAIM_GRACE_SECONDS,
    preemptorPriority: 0,
    need: null,
  };
}

function release(slot: Slot): Action {
  return {
    kind: 'Delete',
    machine: slot.id,
    cluster: '',
    reason: 'phase3.release',
    graceSeconds: 0,
    preemptorPriority: 0,
    need: null,
  };
}
