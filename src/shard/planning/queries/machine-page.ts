// Pages of machines for display, ordered by id, by another property, or with Failed ones first. Used by answers.ts.

import { firstOf } from '../../../collections/first-of.ts';
import {
  compareText,
  isMachineState,
  MachineState,
  type MachineUser,
  meetsAll,
  type Requirement,
} from '../../../model/index.ts';
import type { MachineSort, MachineView, Page, Questions } from '../../views.ts';
import type { ControllerState } from '../controller.ts';
import { textFilter } from './machine-text.ts';
import { costSoFarOf, LISTED_LABELS, machineView } from './machine-view.ts';
import { EMPTY_PAGE, pageOf } from './pages.ts';
import { stateLabel } from './status.ts';

type Ask = Questions['machines']['ask'];

/** Prefixes of a page position in the order with Failed machines first. */
const FAILED = '0 ';
const OTHERS = '1 ';

/** `usersOf` names the rows that count on a machine; it is called for a single machine only, since it takes long. */
export function machinePage(
  state: ControllerState,
  ask: Ask,
  usersOf: (id: string) => readonly MachineUser[],
): Page<MachineView> {
  const { where, limit, after } = ask;
  const { machines } = state.ledger.fleet;
  if (where.id !== undefined) {
    const view = machineView(state, where.id, Number.POSITIVE_INFINITY, usersOf(where.id));
    if (view === null) return EMPTY_PAGE;
    const costSoFar = costSoFarOf(state, view, ask.boughtMs ?? null);
    return { items: [{ ...view, costSoFar }], total: 1, next: null };
  }
  const wanted = where.state === undefined ? null : stateOfLabel(where.state);
  if (wanted === undefined) return EMPTY_PAGE;
  const hidden = where.withForgotten === true ? new Set<number>() : forgottenSlots(state);
  const matches = labelFilter(state, where.labels ?? []);
  const hasText = where.text === undefined ? () => true : textFilter(state, where.text);
  const slots = state.ledger
    .slotsOf({ ...where, state: wanted })
    .filter((slot) => !hidden.has(slot) && matches(slot) && hasText(slot));
  if (ask.sort !== undefined) return sortedPage(state, ask, ask.sort, slots);
  if (ask.order === 'trouble' && wanted === null) return failedFirst(state, ask, slots);
  const rest = after === undefined ? slots : slots.filter(isBehind(state, after));
  return pageOf(ask, {
    entries: firstOf(rest, limit + 1, machines.idOrder).first,
    total: slots.length,
    // Not null: a slot in use is on record.
    viewOf: (slot) => machineView(state, machines.idOf(slot), LISTED_LABELS)!,
    positionOf: (slot) => machines.idOf(slot),
  });
}

/** Whether the machine of a slot meets all conditions; each class of machines is compared once. */
function labelFilter({ ledger }: ControllerState, labels: readonly Requirement[]): (slot: number) => boolean {
  if (labels.length === 0) return () => true;
  const { machines, classes } = ledger.fleet;
  const known = new Map<number, boolean>();
  return (slot) => {
    const number = machines.classOf[slot]!;
    const found = known.get(number);
    if (found !== undefined) return found;
    const meets = meetsAll(classes.attributes[number]!, labels);
    known.set(number, meets);
    return meets;
  };
}

type SortValue = string | number;

/** As of the last commit, so that a position is comparable with all machines of the next page. */
function sortValueOf({ ledger }: ControllerState, by: MachineSort['by']): (slot: number) => SortValue {
  const { machines, classes, clusters } = ledger.fleet;
  const attributesOf = (slot: number) => classes.attributes[machines.classOf[slot]!]!;
  switch (by) {
    case 'id':
      return () => '';
    case 'price':
      return (slot) => classes.price[machines.classOf[slot]!]!;
    case 'state':
      return (slot) => machines.stateOf(slot);
    case 'zone':
      return (slot) => attributesOf(slot).zone;
    case 'type':
      return (slot) => attributesOf(slot).instanceType;
    case 'cluster':
      return (slot) => clusters.nameOf(machines.cluster[slot]!);
  }
}

function compareValues(a: SortValue, b: SortValue): number {
  return typeof a === 'number' && typeof b === 'number' ? a - b : compareText(String(a), String(b));
}

/** Machines by a property, then by id. A position has both. */
function sortedPage(
  state: ControllerState,
  ask: Ask,
  { by, isDescending }: MachineSort,
  slots: readonly number[],
): Page<MachineView> {
  const { machines } = state.ledger.fleet;
  const value = sortValueOf(state, by);
  const sign = isDescending ? -1 : 1;
  const last = ask.after === undefined ? null : sortedPositionIn(ask.after);
  const isBehindLast = last === null ? () => true : isBehind(state, last.id, sign);
  const isNext = (slot: number): boolean => {
    const order = last === null ? 1 : sign * compareValues(value(slot), last.value);
    return order > 0 || (order === 0 && isBehindLast(slot));
  };
  const compare = (a: number, b: number): number =>
    sign * (compareValues(value(a), value(b)) || machines.idOrder(a, b));
  return pageOf(ask, {
    entries: firstOf(slots.filter(isNext), ask.limit + 1, compare).first,
    total: slots.length,
    viewOf: (slot) => machineView(state, machines.idOf(slot), LISTED_LABELS)!,
    positionOf: (slot) => sortedPosition({ value: value(slot), id: machines.idOf(slot) }),
  });
}

interface SortedPosition {
  readonly value: SortValue;
  readonly id: string;
}

function sortedPosition({ value, id }: SortedPosition): string {
  return JSON.stringify([value, id]);
}

function sortedPositionIn(position: string): SortedPosition {
  const [value, id] = JSON.parse(position) as [SortValue, string];
  return { value, id };
}

/** Failed machines by id, then the others by id. A position is a prefix for the group and the id. */
function failedFirst(state: ControllerState, ask: Ask, slots: readonly number[]): Page<MachineView> {
  const { where, limit, after } = ask;
  const { ledger } = state;
  const { machines } = ledger.fleet;
  const failed = new Set(ledger.slotsOf({ ...where, state: MachineState.Failed }));
  const [first, others] = [
    slots.filter((slot) => failed.has(slot)),
    slots.filter((slot) => !failed.has(slot)),
  ];
  const isAmongOthers = after?.startsWith(OTHERS) ?? false;
  const isNext = after === undefined ? () => true : isBehind(state, after.slice(OTHERS.length));
  const inOrder = (some: readonly number[]) => firstOf(some, limit + 1, machines.idOrder).first;
  const entries = isAmongOthers
    ? inOrder(others.filter(isNext))
    : [...inOrder(first.filter(isNext)), ...inOrder(others)];
  return pageOf(ask, {
    entries,
    total: slots.length,
    viewOf: (slot) => machineView(state, machines.idOf(slot), LISTED_LABELS)!,
    positionOf: (slot) => `${failed.has(slot) ? FAILED : OTHERS}${machines.idOf(slot)}`,
  });
}

/** Whether a machine comes after the one with this id, which may have been removed since. */
function isBehind({ ledger }: ControllerState, id: string, sign: 1 | -1 = 1): (slot: number) => boolean {
  const { machines } = ledger.fleet;
  const last = machines.slotOf(id);
  if (last !== undefined) return (slot) => sign * machines.idOrder(slot, last) > 0;
  return (slot) => sign * compareText(machines.idOf(slot), id) > 0;
}

function forgottenSlots({ ledger, machineFacts }: ControllerState): ReadonlySet<number> {
  return new Set([...machineFacts.forgotten()].flatMap((id) => ledger.fleet.machines.slotOf(id) ?? []));
}

function stateOfLabel(label: string): MachineState | undefined {
  return Object.values(MachineState).find((state) => isMachineState(state) && stateLabel(state) === label);
}
