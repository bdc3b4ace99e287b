// The terms of the definition over plain objects: slots (machines with the row that claims them), rows, and what
// "matches", "fits", "own", "free" and "in flight" mean. The R numbers point to READINGS.md. Used by all files of the
// oracle.

import {
  attributeOf,
  canonicalResources,
  compareRank,
  compareText,
  covers,
  type DecisionInput,
  type DecisionOptions,
  dollarsOfBucket,
  effectiveAllocatable,
  effectiveCost,
  isBound,
  keyOf,
  keyText,
  type LedgerMachine,
  MachineState,
  meetsAll,
  type Need,
  type NeedKey,
  type Profile,
  type ResourceVector,
  type Spread,
  sameTermOf,
  setAside,
  strictSpreadOf,
} from '../../src/model/index.ts';
import type { Domain } from './domain.ts';

/** A machine and what this decision has done with it so far. */
export interface Slot {
  readonly id: string;
  readonly machine: LedgerMachine;
  readonly offer: ResourceVector;
  /** Text of (machine's cluster, stamp's fingerprint, stamp's group), or null (R1). */
  readonly stampKey: string | null;
  readonly targetKey: string | null;
  claimedBy: Row | null;
  pickedBy: Row | null;
}

/** A row after the fold. Everything below `members` is written when the row is served, or in Phase 2. */
export interface Row {
  readonly kind: 'plain' | 'gang' | 'fold' | 'set-aside';
  readonly need: Need;
  readonly key: NeedKey;
  readonly text: string;
  readonly profile: Profile;
  readonly priority: number;
  readonly penaltyDollars: number;
  /** Of a fold: one gang's. */
  readonly aggregate: ResourceVector;
  readonly minUnit: ResourceVector;
  readonly spread: Spread | undefined;
  /** Key of the `Same` term of a gang. */
  readonly sameKey: string | undefined;
  /** False: credited, but acquires and preempts nothing. */
  readonly canBind: boolean;
  /** Original Needs behind a fold, in the order of R21. */
  readonly members: readonly Need[];
  /** Place in the order of turns: the rank that "better-ranked" compares. */
  turn: number;
  readonly claims: Slot[];
  /** Of a gang: every domain it chose from, best first; the first is its domain. */
  domains: readonly Domain[];
  readonly picks: Slot[];
  /** Whether claims, drains and picks together cover it. */
  coveredByDrains: boolean;
}

export interface OracleState {
  readonly nowMs: number;
  readonly options: DecisionOptions;
  /** By id. */
  readonly slots: readonly Slot[];
  /** Key texts of live rows: rows after the fold, and members of folds. */
  readonly liveKeys: Set<string>;
}

export function makeOracleState(input: DecisionInput): OracleState {
  const slots = input.machines.map((machine): Slot => {
    const { stamp, target, cluster } = machine;
    return {
      id: machine.id,
      machine,
      offer: effectiveAllocatable(machine),
      stampKey:
        stamp === null || cluster === ''
          ? null
          : keyText({ cluster, fingerprint: stamp.fingerprint, group: stamp.group }),
      targetKey: target === null ? null : keyText(target),
      claimedBy: null,
      pickedBy: null,
    };
  });
  slots.sort((a, b) => compareText(a.id, b.id));
  return { nowMs: input.nowMs, options: input.options, slots, liveKeys: new Set() };
}

/** An original Need as a row of its own: a gang if it carries `Same`, else plain; neither if it is set aside. */
export function rowOf(need: Need, options: DecisionOptions): Row {
  if (need.setAside === true) {
    const row = emptyRow(setAside(need), options);
    return { ...row, kind: 'set-aside', spread: undefined, sameKey: undefined, members: [] };
  }
  const sameKey = sameTermOf(need.profile)?.key;
  return {
    ...emptyRow(need, options),
    kind: sameKey === undefined ? 'plain' : 'gang',
    spread: strictSpreadOf(need.profile),
    sameKey,
    members: [],
  };
}

/** Gangs that any single machine can host, as one row. Its spread stays in the fingerprint but does not bind (R19). */
export function foldRow(members: readonly Need[], stripped: Profile, options: DecisionOptions): Row {
  const first = members[0]!;
  const need: Need = {
    ...first,
    profile: stripped,
    group: `fold:${canonicalResources(first.aggregate)}`,
    minUnit: first.aggregate,
    firstSeenMs: Math.min(...members.map((member) => member.firstSeenMs)),
  };
  return { ...emptyRow(need, options), kind: 'fold', spread: undefined, sameKey: undefined, members };
}

function emptyRow(
  need: Need,
  options: DecisionOptions,
): Omit<Row, 'kind' | 'spread' | 'sameKey' | 'members'> {
  const key = keyOf(need);
  return {
    need,
    key,
    text: keyText(key),
    profile: need.profile,
    priority: need.profile.priority,
    penaltyDollars: dollarsOfBucket(need.profile.interruptionBucket),
    aggregate: need.aggregate,
    minUnit: need.minUnit,
    canBind: !options.cannotBind.has(need.cluster),
    turn: Number.POSITIVE_INFINITY,
    claims: [],
    domains: [],
    picks: [],
    coveredByDrains: false,
  };
}

export const byRank = (a: Row, b: Row): number => compareRank(a.need, b.need);

export function matches(row: Row, slot: Slot): boolean {
  return meetsAll(slot.machine, row.profile.requirements);
}

export function coversMinUnit(row: Row, slot: Slot): boolean {
  return covers(slot.offer, row.minUnit);
}

/** "A machine fits a row if it matches and covers min_unit." */
export function fits(row: Row, slot: Slot): boolean {
  return coversMinUnit(row, slot) && matches(row, slot);
}

/** "Own = stamp or target is the row's key." */
export function isOwn(row: Row, slot: Slot): boolean {
  return slot.stampKey === row.text || slot.targetKey === row.text;
}

/** Another live row's own; what is this row's own is never another's (R4). */
export function isOthersOwn(oracleState: OracleState, row: Row, slot: Slot): boolean {
  if (isOwn(row, slot)) return false;
  const { stampKey, targetKey } = slot;
  return (
    (stampKey !== null && oracleState.liveKeys.has(stampKey)) ||
    (targetKey !== null && oracleState.liveKeys.has(targetKey))
  );
}

/** "Free = not blocked, not claimed by a better-ranked row." */
export function isFree(row: Row, slot: Slot): boolean {
  return !slot.machine.blocked && (slot.claimedBy === null || slot.claimedBy.turn > row.turn);
}

/** "In flight for a row = its target is the row's key", in the given state. */
export function inFlight(row: Row, slot: Slot, state: MachineState): boolean {
  return slot.targetKey === row.text && slot.machine.state === state;
}

/** Unclaimed machines bound to the row's cluster that meet its requirements, blocked ones included (R7). */
export function creditableBound(oracleState: OracleState, row: Row): readonly Slot[] {
  return oracleState.slots.filter(
    (slot) =>
      isBound(slot.machine.state) &&
      slot.machine.cluster === row.key.cluster &&
      slot.claimedBy === null &&
      matches(row, slot),
  );
}

/** Idle in flight for the row, fitting and free, in pool order. */
export function idleInFlight(oracleState: OracleState, row: Row): readonly Slot[] {
  return oracleState.slots
    .filter(
      (slot) =>
        inFlight(row, slot, MachineState.Idle) &&
        slot.claimedBy === null &&
        isFree(row, slot) &&
        fits(row, slot),
    )
    .sort(idleOrder);
}

/** Creating in flight for the row and fitting, by id. */
export function creatingInFlight(oracleState: OracleState, row: Row): readonly Slot[] {
  return oracleState.slots.filter(
    (slot) => inFlight(row, slot, MachineState.Creating) && slot.claimedBy === null && fits(row, slot),
  );
}

/** Machines Draining for the row that will fit it (R53), by id. */
export function drainingFor(oracleState: OracleState, row: Row): readonly Slot[] {
  return oracleState.slots.filter((slot) => inFlight(row, slot, MachineState.Draining) && fits(row, slot));
}

/** Free, unclaimed and fitting machines of a pool, in its order. */
export function acquirable(
  oracleState: OracleState,
  row: Row,
  state: typeof MachineState.Idle | typeof MachineState.Speculative,
): readonly Slot[] {
  return oracleState.slots
    .filter(
      (slot) =>
        slot.machine.state === state && slot.claimedBy === null && isFree(row, slot) && fits(row, slot),
    )
    .sort(state === MachineState.Idle ? idleOrder : speculativeOrder(row));
}

/** The value of the topology key, or undefined; '' is a value like any other. */
export function domainValue(slot: Slot, topologyKey: string): string | undefined {
  return attributeOf(slot.machine, topologyKey);
}

/** "Keep order: machines that are another live row's own last; then price asc; then the row's own before orphans; then reclamation penalty desc; id asc." */
function keepOrder(oracleState: OracleState, row: Row): (a: Slot, b: Slot) => number {
  return (a, b) =>
    Number(isOthersOwn(oracleState, row, a)) - Number(isOthersOwn(oracleState, row, b)) ||
    a.machine.pricePerHour - b.machine.pricePerHour ||
    Number(isOwn(row, b)) - Number(isOwn(row, a)) ||
    ascending(reclamationDollars(b), reclamationDollars(a)) ||
    compareText(a.id, b.id);
}

/** Configured before Configuring, keep order inside each. */
export function boundOrder(oracleState: OracleState, row: Row): (a: Slot, b: Slot) => number {
  const keep = keepOrder(oracleState, row);
  return (a, b) => b.machine.state - a.machine.state || keep(a, b);
}

/** "Idle: price asc, reclamation penalty desc (0 unless the machine carries one), id asc." It is also the keep order when no row is looking (R68). */
export function idleOrder(a: Slot, b: Slot): number {
  return (
    a.machine.pricePerHour - b.machine.pricePerHour ||
    ascending(reclamationDollars(b), reclamationDollars(a)) ||
    compareText(a.id, b.id)
  );
}

/** "Speculative: effective cost asc, price asc, id asc." */
function speculativeOrder(row: Row): (a: Slot, b: Slot) => number {
  return (a, b) =>
    ascending(costFor(row, a), costFor(row, b)) ||
    a.machine.pricePerHour - b.machine.pricePerHour ||
    compareText(a.id, b.id);
}

export function costFor(row: Row, slot: Slot): number {
  return effectiveCost(slot.machine.pricePerHour, slot.machine.interruptionProbability, row.penaltyDollars);
}

function reclamationDollars(slot: Slot): number {
  return slot.machine.stamp?.reclamationPenaltyDollars ?? 0;
}

/** Compares numbers that may be infinite, where a difference would not be a number. */
export function ascending(a: number, b: number): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

export function isReported(oracleState: OracleState, cluster: string): boolean {
  return oracleState.options.readyClusters === null || oracleState.options.readyClusters.has(cluster);
}
