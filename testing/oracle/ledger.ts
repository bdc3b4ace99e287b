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
  NO_REMAINDERS,
  type Profile,
  type RemainderCounts,
  type ResourceVector,
  type Spread,
  sameTermOf,
  setAside,
  strictSpreadOf,
} from '../../src/model/index.ts';
import { Budgets, isPurchase } from './budgets.ts';
import type { Domain } from './domain.ts';
import type { RemainderLists } from './remainders.ts';

/** A machine and what this decision has done with it so far. */
export interface Slot {
  readonly id: string;
  readonly machine: LedgerMachine;
  readonly offer: ResourceVector;
  /** Text of (machine's cluster, stamp's fingerprint, stamp's group), or null (R1). */
  readonly stampKey: string | null;
  readonly targetKey: string | null;
  claimedBy: Row | null;
  /** Rows that count on a part of it without claiming it. */
  readonly borrowers: Row[];
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
  readonly options: DecisionOptions;
  /** "A lender is a plain row, strict spread included, that is no fold." With sharing off there is none. */
  readonly lends: boolean;
  /** "A borrower is a lender without strict spread and without a group." */
  readonly borrows: boolean;
  /** Original Needs behind a fold, in the order of R21. */
  readonly members: readonly Need[];
  /** Place in the order of turns: the rank that "better-ranked" compares. */
  turn: number;
  readonly claims: Slot[];
  /** What it borrowed in Phase 1, in this order. */
  readonly shares: ShareOf[];
  /** Of a borrower: the remainders that it found at its turn. */
  remainders: RemainderCounts;
  /** Of a gang: every domain it chose from, best first; the first is its domain. */
  domains: readonly Domain[];
  /** False once a budget of its cluster or of the shard is spent, as of its turn: purchases are not free for it. */
  mayBuy: boolean;
  /** Whether it would have acquired more at its turn without the ceiling on spending. */
  isStopped: boolean;
  readonly picks: Slot[];
  /** Whether claims, drains and picks together cover it. */
  coveredByDrains: boolean;
}

/** A part of a machine that a row counts on without claiming the machine. */
interface ShareOf {
  readonly slot: Slot;
  readonly amount: ResourceVector;
}

export interface OracleState {
  readonly nowMs: number;
  readonly options: DecisionOptions;
  /** By id. */
  readonly slots: readonly Slot[];
  /** Key texts of live rows: rows after the fold, and members of folds. */
  readonly liveKeys: Set<string>;
  /** What rows leave over of their claims. */
  readonly remainders: RemainderLists;
  /** What machines that drain will leave over: as far as Phase 1 can tell, and with the picks of Phase 2. */
  readonly leftovers: RemainderLists;
  readonly secondList: RemainderLists;
  /** By id of a draining machine whose target's row is gone: the row that it drains for from now on. */
  readonly retargets: Map<string, NeedKey>;
  readonly budgets: Budgets;
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
      borrowers: [],
      pickedBy: null,
    };
  });
  slots.sort((a, b) => compareText(a.id, b.id));
  return {
    nowMs: input.nowMs,
    options: input.options,
    slots,
    liveKeys: new Set(),
    remainders: new Map(),
    leftovers: new Map(),
    secondList: new Map(),
    retargets: new Map(),
    budgets: new Budgets(input.options.purchaseBudget),
  };
}

/** An original Need as a row of its own: a gang if it carries `Same`, else plain; neither if it is set aside. */
export function rowOf(need: Need, options: DecisionOptions): Row {
  if (need.setAside === true) {
    const row = emptyRow(setAside(need), options);
    return { ...row, kind: 'set-aside', spread: undefined, sameKey: undefined, members: [] };
  }
  const sameKey = sameTermOf(need.profile)?.key;
  const spread = strictSpreadOf(need.profile);
  const lends = sameKey === undefined && options.sharing === 'on';
  return {
    ...emptyRow(need, options),
    kind: sameKey === undefined ? 'plain' : 'gang',
    spread,
    sameKey,
    lends,
    borrows: lends && spread === undefined && need.group === '',
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
    options,
    lends: false,
    borrows: false,
    turn: Number.POSITIVE_INFINITY,
    claims: [],
    shares: [],
    remainders: NO_REMAINDERS,
    domains: [],
    mayBuy: true,
    isStopped: false,
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

/** "A lender with a group takes no other row's machines." */
export function takesOver(row: Row): boolean {
  return !row.lends || row.key.group === '';
}

/** "Free = not blocked, not claimed by a better-ranked row", and not beyond the ceiling on spending. */
export function isFree(row: Row, slot: Slot): boolean {
  if (slot.machine.blocked || !isWithinReach(row, slot)) return false;
  return slot.claimedBy === null || slot.claimedBy.turn > row.turn;
}

/** Whether the ceiling on spending leaves the machine to the row. */
export function isWithinReach(row: Row, slot: Slot): boolean {
  return row.mayBuy || !isPurchase(slot);
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

/** Free, unclaimed and fitting Idle and Speculative machines. */
export function acquirable(oracleState: OracleState, row: Row): readonly Slot[] {
  return oracleState.slots.filter(
    (slot) =>
      (slot.machine.state === MachineState.Idle || slot.machine.state === MachineState.Speculative) &&
      slot.claimedBy === null &&
      isFree(row, slot) &&
      fits(row, slot),
  );
}

/** The value of the topology key, or undefined; '' is a value like any other. */
export function domainValue(slot: Slot, topologyKey: string): string | undefined {
  return attributeOf(slot.machine, topologyKey);
}

/** What is known about the use of a bound machine; facts about any other are void (R118). */
function useOf({ machine }: Slot): LedgerMachine['use'] {
  return isBound(machine.state) && machine.cluster !== '' ? machine.use : undefined;
}

export function isProtected(slot: Slot): boolean {
  return useOf(slot) === 'protected';
}

/** "In use before unknown before empty." Protected ones are compared only with each other here. */
function placeOfUse(slot: Slot): number {
  return ['in-use', undefined, 'empty'].indexOf(useOf(slot));
}

/** "Keep order: machines that are another live row's own last; then protected ones first; then price asc; then in use before unknown before empty; then the row's own before orphans; then reclamation penalty desc; id asc." */
function keepOrder(oracleState: OracleState, row: Row): (a: Slot, b: Slot) => number {
  return (a, b) =>
    Number(isOthersOwn(oracleState, row, a)) - Number(isOthersOwn(oracleState, row, b)) ||
    Number(isProtected(b)) - Number(isProtected(a)) ||
    a.machine.pricePerHour - b.machine.pricePerHour ||
    placeOfUse(a) - placeOfUse(b) ||
    Number(isOwn(row, b)) - Number(isOwn(row, a)) ||
    ascending(reclamationDollars(b), reclamationDollars(a)) ||
    compareText(a.id, b.id);
}

/** Configured before Configuring, keep order inside each. */
export function boundOrder(oracleState: OracleState, row: Row): (a: Slot, b: Slot) => number {
  const keep = keepOrder(oracleState, row);
  return (a, b) => b.machine.state - a.machine.state || keep(a, b);
}

/** The keep order when no row is looking: it has no owner to compare (R68). */
export function keepOrderWithoutRow(a: Slot, b: Slot): number {
  return (
    Number(isProtected(b)) - Number(isProtected(a)) ||
    a.machine.pricePerHour - b.machine.pricePerHour ||
    placeOfUse(a) - placeOfUse(b) ||
    ascending(reclamationDollars(b), reclamationDollars(a)) ||
    compareText(a.id, b.id)
  );
}

/** "Idle: price asc, reclamation penalty desc (0 unless the machine carries one), id asc." */
function idleOrder(a: Slot, b: Slot): number {
  return (
    a.machine.pricePerHour - b.machine.pricePerHour ||
    ascending(reclamationDollars(b), reclamationDollars(a)) ||
    compareText(a.id, b.id)
  );
}

export function costFor(row: Row, slot: Slot): number {
  return effectiveCost(slot.machine.pricePerHour, slot.machine.interruptionProbability, row.penaltyDollars);
}

export function reclamationDollars(slot: Slot): number {
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
