// Whether two solves of one fleet give the same plan. Used by engine.ts to check an incremental cycle against a full
// solve. For claims and verdicts on met rows, the columns they are derived from are compared, which takes a small part
// of the time that building both plans would take, and also finds an outdated ranked row that does not change this
// plan. Any field that a verdict on a met row gains, beyond its claims, its fold and its domain, must be compared
// here.

import type { Action, NeedKey, Verdict } from '../model/index.ts';
import type { Cycle } from './cycle.ts';
import type { Decision } from './engine.ts';
import { choiceOf } from './verdict.ts';

/** A decision and the cycle that it describes. */
export interface Solved {
  readonly cycle: Cycle;
  readonly decision: Decision;
}

export function isSamePlan(one: Solved, other: Solved): boolean {
  return (
    areSameRows(one.cycle, other.cycle) &&
    areSameActions(one.decision, other.decision) &&
    areSame([...one.decision.restamps()], [...other.decision.restamps()], isSameEntry) &&
    areSame([...one.decision.retargets()], [...other.decision.retargets()], isSameEntry) &&
    areSame(one.decision.slotsOnHold(), other.decision.slotsOnHold(), (a, b) => a === b) &&
    areSame(one.decision.unmet, other.decision.unmet, isSameVerdict)
  );
}

/**
 * Ranked rows of a cluster are in rank order; unhosted members follow the ranked rows of all clusters, in the order they
 * were served.
 */
function areSameRows(one: Cycle, other: Cycle): boolean {
  if (one.rankedRows.count !== other.rankedRows.count) return false;
  const others = other.rankedRows.all();
  for (const rankedRow of one.rankedRows.all()) {
    const twin = others.next().value!;
    if (!isSameRow(one, rankedRow, other, twin) || !areSameClaims(one, rankedRow, other, twin)) return false;
  }
  return true;
}

function isSameRow(one: Cycle, rankedRow: number, other: Cycle, twin: number): boolean {
  const [a, b] = [one.rankedRows, other.rankedRows];
  const [gang, twinGang] = [choiceOf(one, rankedRow), choiceOf(other, twin)];
  return (
    a.key[rankedRow] === b.key[twin] &&
    a.row[rankedRow] === b.row[twin] &&
    a.kind[rankedRow] === b.kind[twin] &&
    a.precedence[rankedRow] === b.precedence[twin] &&
    a.firstSeenMs[rankedRow] === b.firstSeenMs[twin] &&
    a.place[rankedRow] === b.place[twin] &&
    areSameMembers(one, rankedRow, other, twin) &&
    gang.domain === twinGang.domain &&
    gang.satisfiable === twinGang.satisfiable
  );
}

function areSameMembers(one: Cycle, rankedRow: number, other: Cycle, twin: number): boolean {
  const [a, b] = [one.rankedRows, other.rankedRows];
  if (
    a.members[rankedRow] !== b.members[twin] ||
    one.result.hosted.get(rankedRow) !== other.result.hosted.get(twin)
  )
    return false;
  let [row, twinRow] = [a.firstMember[rankedRow]!, b.firstMember[twin]!];
  for (let i = 0; i < a.members[rankedRow]!; i++) {
    if (row !== twinRow) return false;
    row = a.nextMember[row]!;
    twinRow = b.nextMember[twinRow]!;
  }
  return true;
}

/** Whether both claim the same machines in the same order, as credits and as later claims. */
function areSameClaims(one: Cycle, rankedRow: number, other: Cycle, twin: number): boolean {
  const [a, b] = [one.claims, other.claims];
  const credits = a.creditEnd[rankedRow]! - a.creditStart[rankedRow]!;
  const later = a.laterEnd[rankedRow]! - a.laterStart[rankedRow]!;
  if (credits !== b.creditEnd[twin]! - b.creditStart[twin]!) return false;
  if (later !== b.laterEnd[twin]! - b.laterStart[twin]!) return false;
  for (let i = 0; i < credits; i++) {
    if (a.slots[a.creditStart[rankedRow]! + i] !== b.slots[b.creditStart[twin]! + i]) return false;
  }
  for (let i = 0; i < later; i++) {
    if (a.slots[a.laterStart[rankedRow]! + i] !== b.slots[b.laterStart[twin]! + i]) return false;
  }
  return true;
}

/** Compared in pairs: there may be too many to hold in memory. */
function areSameActions(one: Decision, other: Decision): boolean {
  if (one.actionCount !== other.actionCount) return false;
  const others = other.eachAction();
  for (const action of one.eachAction()) if (!isSameAction(action, others.next().value!)) return false;
  return true;
}

function areSame<T>(
  ones: readonly T[],
  others: readonly T[],
  isSame: (one: T, other: T) => boolean,
): boolean {
  return ones.length === others.length && ones.every((one, i) => isSame(one, others[i]!));
}

function isSameAction(one: Action, other: Action): boolean {
  return (
    one.kind === other.kind &&
    one.machine === other.machine &&
    one.cluster === other.cluster &&
    one.reason === other.reason &&
    one.graceSeconds === other.graceSeconds &&
    one.preemptorPriority === other.preemptorPriority &&
    isSameKey(one.need, other.need)
  );
}

function isSameKey(one: NeedKey | null, other: NeedKey | null): boolean {
  return (
    one?.cluster === other?.cluster && one?.fingerprint === other?.fingerprint && one?.group === other?.group
  );
}

type Entry = readonly [machine: string, row: NeedKey];

function isSameEntry([machine, row]: Entry, [otherMachine, otherRow]: Entry): boolean {
  return machine === otherMachine && isSameKey(row, otherRow);
}

function isSameVerdict(one: Verdict, other: Verdict): boolean {
  return verdictText(one) === verdictText(other);
}

function verdictText({ deficit, shares, ...verdict }: Verdict): string {
  const amounts = shares.map(({ machine, amount }) => [machine, [...amount]]);
  return JSON.stringify([verdict, [...deficit], amounts]);
}
