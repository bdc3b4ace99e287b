// The fold: gangs that one machine can host whole become one row per (cluster, fingerprint without `Same`, aggregate).
// Everything else stays the row it was. The first step of oracle.ts.

import {
  canonicalResources,
  compareText,
  covers,
  isZero,
  keyOf,
  keyText,
  MachineState,
  type Need,
  type Profile,
  withoutSame,
} from '../../src/model/index.ts';
import { byRank, foldRow, isOwn, matches, type OracleState, type Row, rowOf, type Slot } from './ledger.ts';

/** All rows after the fold, in rank order. Also fills in which keys are live. */
export function foldNeeds(oracleState: OracleState, needs: readonly Need[]): readonly Row[] {
  const rows: Row[] = [];
  const groups = new Map<string, { readonly stripped: Profile; readonly members: Need[] }>();
  for (const need of needs) {
    // "Live row": a row after the fold, or a member of a fold; so every original Need is one.
    oracleState.liveKeys.add(keyText(keyOf(need)));
    const row = rowOf(need, oracleState.options);
    if (row.kind !== 'gang' || !folds(oracleState, row)) {
      rows.push(row);
      continue;
    }
    // "Rows equal in (cluster, fingerprint without `Same`, aggregate) become one row."
    const stripped = withoutSame(need.profile);
    const aggregate = canonicalResources(need.aggregate);
    const text = keyText({ cluster: need.cluster, fingerprint: stripped.fingerprint, group: aggregate });
    const group = groups.get(text) ?? { stripped, members: [] };
    group.members.push(need);
    groups.set(text, group);
  }
  for (const { stripped, members } of groups.values()) {
    const fold = foldRow(members.sort(byHosting), stripped, oracleState.options);
    oracleState.liveKeys.add(fold.text);
    rows.push(fold);
  }
  return rows.sort(byRank);
}

/**
 * "A `Same` row folds iff it owns no machine and some machine not blocked, Failed or Deleting matches its full
 * profile and covers its whole aggregate." Ownership is by stamp or target in any state (R2, R14).
 */
function folds(oracleState: OracleState, row: Row): boolean {
  // Folded, it would be served by a machine that cannot host its largest piece (R113).
  if (!isZero(row.aggregate) && !covers(row.aggregate, row.minUnit)) return false;
  if (oracleState.slots.some((slot) => isOwn(row, slot))) return false;
  return oracleState.slots.some(
    (slot) =>
      !slot.machine.blocked &&
      standsForFold(row, slot) &&
      covers(slot.offer, row.aggregate) &&
      matches(row, slot),
  );
}

/** "Configured or Configuring in its cluster, or Idle, Speculative, Creating or Draining anywhere." */
function standsForFold(row: Row, slot: Slot): boolean {
  switch (slot.machine.state) {
    case MachineState.Configured:
    case MachineState.Configuring:
      return slot.machine.cluster === row.key.cluster;
    case MachineState.Idle:
    case MachineState.Speculative:
    case MachineState.Creating:
    case MachineState.Draining:
      return true;
    case MachineState.Deleting:
    case MachineState.Failed:
      return false;
  }
}

/** Order in which members are hosted: "members that no machine hosts (latest first-seen, then group)" are the tail (R21). */
function byHosting(a: Need, b: Need): number {
  return (
    a.firstSeenMs - b.firstSeenMs ||
    compareText(a.group, b.group) ||
    compareText(a.profile.fingerprint, b.profile.fingerprint)
  );
}
