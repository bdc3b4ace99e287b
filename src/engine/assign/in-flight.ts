// Machines in flight: on their way to a row, found by their target. Only machines that fit the row count; one that no
// longer fits could not be bound when it arrives.

import { MachineState } from '../../model/index.ts';
import type { Cycle } from '../cycle.ts';

const NOTHING: number[] = [];

/** Fitting machines on their way to a turn, in id order. */
export function targeted(cycle: Cycle, turn: number): number[] {
  const { machines, patterns } = cycle.fleet;
  const run = machines.targetedAt(cycle.turns.key[turn]!);
  if (run === undefined) return NOTHING;
  const pattern = patterns.patternOf(cycle.turns.pattern[turn]!);
  const slots: number[] = [];
  for (let i = run.offset; i < run.offset + run.length; i++) {
    const slot = machines.arena.data[i]!;
    if (pattern.fits(machines.classOf[slot]!)) slots.push(slot);
  }
  return slots;
}

/** Fitting machines on their way to a turn that pass a test; fast path for turns without unbound ones, which are most. */
export function unboundWhere(cycle: Cycle, turn: number, test: (slot: number) => boolean): number[] {
  return cycle.turns.coming[turn] === 0 ? NOTHING : targeted(cycle, turn).filter(test);
}

/** Unclaimed Idle machines in flight for a turn, in pool order. */
export function comingIdle(cycle: Cycle, turn: number): number[] {
  const { machines } = cycle.fleet;
  const slots = unboundWhere(cycle, turn, (slot) => {
    return machines.state[slot] === MachineState.Idle && machines.held[slot] === 0 && cycle.isFree(slot);
  });
  return slots.sort(machines.keepOrder);
}

/** Unclaimed Creating machines in flight for a turn, by id. */
export function comingCreating(cycle: Cycle, turn: number, withHeld: boolean): number[] {
  const { machines } = cycle.fleet;
  return unboundWhere(cycle, turn, (slot) => {
    const held = machines.held[slot] === 1;
    return machines.state[slot] === MachineState.Creating && (withHeld || !held) && cycle.isFree(slot);
  });
}

/** Machines that drain for a turn. */
export function drainingFor(cycle: Cycle, turn: number, withHeld: boolean): number[] {
  const { machines } = cycle.fleet;
  return unboundWhere(cycle, turn, (slot) => {
    return machines.state[slot] === MachineState.Draining && (withHeld || machines.held[slot] === 0);
  });
}

/** Unclaimed Speculative machines with the turn's target: its own, though they are free machines like any other. */
export function ownSpeculative(cycle: Cycle, turn: number): number[] {
  const { machines } = cycle.fleet;
  return unboundWhere(cycle, turn, (slot) => {
    return (
      machines.state[slot] === MachineState.Speculative && machines.held[slot] === 0 && cycle.isFree(slot)
    );
  });
}
