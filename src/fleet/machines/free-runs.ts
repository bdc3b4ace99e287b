// Many free machines at once: hidden, and brought back with the same or with other facts, at a fraction of the cost of writing
// them one by one. For what-if questions, which may be about a million machines. Called by machine-table.ts, whose columns
// and runs it writes.

import type { Slice, SlotOrder } from '../../collections/sorted-slices.ts';
import { MachineState } from '../../model/index.ts';
import type { ClassFacts } from '../tables/classes.ts';
import type { Firsts } from './firsts.ts';
import type { MachineTable } from './machine-table.ts';

const { Idle, Speculative } = MachineState;

/** Free machines of one class and state, in id order. */
export interface FreeRun {
  readonly facts: ClassFacts;
  readonly state: MachineState;
  readonly slots: readonly number[];
}

/** What of the machine table is written here. */
export interface FreeParts {
  readonly table: Pick<
    MachineTable,
    | ('arena' | 'classes' | 'classOf' | 'state' | 'ordinal' | 'idleSinceMs' | 'idOrder')
    | ('blocked' | 'target' | 'stamp')
  >;
  readonly firsts: Firsts;
  readonly sliceOf: (classNumber: number, state: MachineState) => Slice;
  readonly clocksOf: (capacityType: number) => Slice;
  readonly clockOrder: SlotOrder;
  /** Changes the counts of a class by a number of machines that are not blocked. */
  readonly count: (classNumber: number, state: MachineState, by: number) => void;
  /** Called about once a millisecond or more often; a caller that shares its cores waits in it. */
  readonly pause: () => void;
}

/** Slots that are looked at between two pauses: about a millisecond. */
const SLOTS_BETWEEN_PAUSES = 1 << 16;

/** What `takeFree` has hidden, and the slots of machines that are not free. */
export interface Taken {
  readonly runs: readonly FreeRun[];
  readonly others: readonly number[];
}

/** Whether a machine can be acquired, and nothing but its class and its id tells it apart. */
function isFree({ blocked, stamp, state, target }: FreeParts['table'], slot: number): boolean {
  if ((state[slot] !== Idle && state[slot] !== Speculative) || blocked[slot] === 1) return false;
  return target[slot] === 0 && stamp[slot] === 0;
}

/**
 * Hides those machines that are free; `placeFree` brings them back, and nothing else may write them meanwhile. `marks`: a
 * scratch array by slot, all zero before and after.
 */
export function takeFree(parts: FreeParts, slots: readonly number[], marks: Uint8Array): Taken {
  const { arena, classes, classOf, state: states } = parts.table;
  const numbers = new Set<number>();
  const free: number[] = [];
  const others: number[] = [];
  for (let i = 0; i < slots.length; i++) {
    const slot = slots[i]!;
    if (i % SLOTS_BETWEEN_PAUSES === 0) parts.pause();
    if (!isFree(parts.table, slot)) {
      others.push(slot);
      continue;
    }
    marks[slot] = 1;
    free.push(slot);
    numbers.add(classOf[slot]!);
  }
  const runs: FreeRun[] = [];
  const clocks = new Set<number>();
  for (const number of numbers) {
    parts.pause();
    const facts = classes.factsOf(number);
    for (const state of [Idle, Speculative] as const) {
      const taken = arena.takeMarked(parts.sliceOf(number, state), marks);
      if (taken.length === 0) continue;
      if (state === Idle) clocks.add(facts.capacityType);
      parts.count(number, state, -taken.length);
      runs.push({ facts, state, slots: taken });
      classes.leave(number, taken.length);
    }
    parts.firsts.leaveMarked(marks, number, classes.attributes[number] === undefined);
  }
  for (const type of clocks) arena.removeMarked(parts.clocksOf(type), marks);
  for (const slot of free) {
    marks[slot] = 0;
    states[slot] = 0;
  }
  return { runs, others };
}

/** Brings back machines that `takeFree` has hidden, with the facts of their run. */
export function placeFree(parts: FreeParts, runs: readonly FreeRun[]): void {
  const { arena, classes, classOf, state: states, ordinal, idleSinceMs, idOrder } = parts.table;
  for (const { facts, state, slots } of runs) {
    parts.pause();
    const number = classes.join(facts, slots.length);
    for (const slot of slots) {
      classOf[slot] = number;
      states[slot] = state;
    }
    parts.count(number, state, slots.length);
    parts.firsts.join(slots[0]!, number, ordinal);
    // Free machines of a class have one price and no penalty, so that every order of a run is that of the ids.
    arena.insertAll(parts.sliceOf(number, state), slots, idOrder);
    const timed = state === Idle ? slots.filter((slot) => !Number.isNaN(idleSinceMs[slot]!)) : [];
    if (timed.length > 0)
      arena.insertAll(parts.clocksOf(facts.capacityType), timed.sort(parts.clockOrder), parts.clockOrder);
  }
}
