// The cost of a fleet per hour, by use of its machines: the one definition for every surface. A machine costs its
// price while it has a host (`hasHost` of machine.ts) and nothing otherwise: what could be bought, what is being bought
// and what failed before a host came up is not paid for. Sums are whole micro-dollars, so that parts add up to their
// total exactly, in any order, up to nine billion dollars per hour. Used by status, cluster costs, metrics and the
// view schema, and by what-if questions.

import { dollarsOfMicros } from './cost.ts';
import { MachineState } from './machine.ts';

/**
 * What a machine with a host is used for. `onHold`: nothing, but the reclaim hold keeps it. `failed`: nothing, but it still
 * has its host.
 */
export const COST_PARTS = ['serving', 'onHold', 'joining', 'idle', 'draining', 'deleting', 'failed'] as const;
export type CostPart = (typeof COST_PARTS)[number];

/** In dollars per hour, each a whole number of micro-dollars. */
export interface CostView {
  /** The sum of `byPart`. */
  readonly perHour: number;
  readonly byPart: Readonly<Record<CostPart, number>>;
}

/** Place in COST_PARTS by state; -1: a machine in that state has no host. A Failed one may have none, too. */
export const PART_OF_STATE: readonly number[] = (() => {
  const parts: Readonly<Record<MachineState, CostPart | null>> = {
    [MachineState.Speculative]: null,
    [MachineState.Creating]: null,
    [MachineState.Idle]: 'idle',
    [MachineState.Configuring]: 'joining',
    [MachineState.Configured]: 'serving',
    [MachineState.Draining]: 'draining',
    [MachineState.Deleting]: 'deleting',
    [MachineState.Failed]: 'failed',
  };
  const places = new Array<number>(Object.keys(parts).length + 1).fill(-1);
  for (const state of Object.values(MachineState)) {
    const part = parts[state];
    if (part !== null) places[state] = COST_PARTS.indexOf(part);
  }
  return places;
})();

/** Places in COST_PARTS of Configured machines: those that rows count on, and those that the reclaim hold keeps. */
export const SERVING = COST_PARTS.indexOf('serving');
export const ON_HOLD = COST_PARTS.indexOf('onHold');

export function noCost(): Float64Array {
  return new Float64Array(COST_PARTS.length);
}

/** `micros` by place in COST_PARTS. */
export function costView(micros: Float64Array): CostView {
  const byPart = Object.fromEntries(COST_PARTS.map((part, i) => [part, dollarsOfMicros(micros[i]!)]));
  return {
    perHour: dollarsOfMicros(micros.reduce((sum, part) => sum + part, 0)),
    byPart: byPart as Record<CostPart, number>,
  };
}
