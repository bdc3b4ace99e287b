// The machines of a fleet in numbers: by state, what they cost, what Configured ones offer. Counted by class, in blocks
// of classes: only blocks with a class that machines came to or left are counted again, and the blocks are added up for
// whoever asks. So nothing drifts, as a running sum of prices would.

import type { Fleet } from '../fleet/index.ts';
import { MachineState } from '../model/index.ts';

const STATES: readonly MachineState[] = Object.values(MachineState);
/** With few classes to a block there are many sums to add up; with many, a machine that moves has many counted again. */
const BLOCK = 64;

/** What some machines come to. */
export interface Supply {
  readonly byState: Float64Array;
  costPerHour: number;
  /** By dimension: what Configured machines offer. */
  readonly offered: Float64Array;
}

export class SupplyTally {
  readonly #fleet: Fleet;
  readonly #block: number;
  /** Sums of one block of classes after the other. */
  readonly #blocks: Supply[] = [];
  /** Where we stand in the log of classes whose counts have changed. */
  #seen = -1;

  constructor(fleet: Fleet, block = BLOCK) {
    this.#fleet = fleet;
    this.#block = block;
  }

  total(): Supply {
    const { dimensions } = this.#fleet;
    this.#refresh();
    const total = nothing(dimensions.count);
    for (const { byState, costPerHour, offered } of this.#blocks) {
      total.costPerHour += costPerHour;
      addTimes(total.byState, byState, 0, byState.length, 1);
      addTimes(total.offered, offered, 0, offered.length, 1);
    }
    return total;
  }

  #refresh(): void {
    const { machines, classes } = this.#fleet;
    const changed = machines.counted.since(this.#seen);
    this.#seen = machines.counted.end;
    const stale = new Set(changed?.map((c) => Math.floor(c / this.#block)));
    const blocks = Math.ceil(classes.size / this.#block);
    for (let at = 0; at < blocks; at++) {
      if (changed === null || at >= this.#blocks.length || stale.has(at)) this.#blocks[at] = this.#count(at);
    }
  }

  #count(at: number): Supply {
    const { machines, classes, dimensions } = this.#fleet;
    const sums = nothing(dimensions.count);
    const end = Math.min((at + 1) * this.#block, classes.size);
    for (let c = at * this.#block; c < end; c++) {
      for (const state of STATES) {
        const count = machines.countOf(c, state);
        if (count === 0) continue;
        sums.byState[state]! += count;
        // Failed ones may still have their host; only a Speculative machine surely costs nothing.
        if (state !== MachineState.Speculative) sums.costPerHour += count * classes.price[c]!;
        if (state === MachineState.Configured)
          addTimes(sums.offered, classes.allocatable.data, c * dimensions.stride, dimensions.count, count);
      }
    }
    return sums;
  }
}

function nothing(dimensions: number): Supply {
  return {
    byState: new Float64Array(STATES.length + 1),
    costPerHour: 0,
    offered: new Float64Array(dimensions),
  };
}

function addTimes(
  sums: Float64Array,
  vectors: ArrayLike<number>,
  from: number,
  length: number,
  times: number,
): void {
  for (let d = 0; d < length; d++) sums[d]! += vectors[from + d]! * times;
}
