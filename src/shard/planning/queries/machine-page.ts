// Pages of machines for display, ordered by id or with Failed ones first. Used by answers.ts.

import { firstOf } from '../../../collections/first-of.ts';
import { compareText, isMachineState, MachineState, type MachineUser } from '../../../model/index.ts';
import type { MachineView, Page, Questions } from '../../views.ts';
import type { ControllerState } from '../controller.ts';
import { LISTED_LABELS, machineView } from './machine-view.ts';
import { pageOf } from './pages.ts';
import { stateLabel } from './status.ts';

type Ask = Questions['machines']['ask'];

/** Prefixes of a page position in the order with Failed machines first. */
const FAILED = '0 ';
const OTHERS = '1 ';
const NOTHING = { items: [], total: 0, next: null } as const;

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
    return view === null ? NOTHING : { items: [view], total: 1, next: null };
  }
  const wanted = where.state === undefined ? null : stateOfLabel(where.state);
  if (wanted === undefined) return NOTHING;
  const hidden = where.withForgotten === true ? new Set<number>() : forgottenSlots(state);
  const slots = state.ledger.slotsOf({ ...where, state: wanted }).filter((slot) => !hidden.has(slot));
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
function isBehind({ ledger }: ControllerState, id: string): (slot: number) => boolean {
  const { machines } = ledger.fleet;
  const last = machines.slotOf(id);
  if (last !== undefined) return (slot) => machines.idOrder(slot, last) > 0;
  return (slot) => compareText(machines.idOf(slot), id) > 0;
}

function forgottenSlots({ ledger, machineFacts }: ControllerState): ReadonlySet<number> {
  return new Set([...machineFacts.forgotten()].flatMap((id) => ledger.fleet.machines.slotOf(id) ?? []));
}

function stateOfLabel(label: string): MachineState | undefined {
  return Object.values(MachineState).find((state) => isMachineState(state) && stateLabel(state) === label);
}
