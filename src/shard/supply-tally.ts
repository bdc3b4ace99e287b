// The machines of a fleet in numbers: by state, what they cost, what Configured ones offer. Counted by class, in blocks
// of classes: only blocks with a class that machines came to or left are counted again, and the blocks are added up for
// whoever asks. So nothing drifts, as a running sum of prices would.

import { acceleratorsOf, HARDWARE, hardwareOf } from '../engine/index.ts';
import type { Fleet } from '../fleet/index.ts';
import { MachineState } from '../model/index.ts';
import { microsOf, noCost, PART_OF_STATE } from './cost.ts';
import { OwnedPrices } from './owned-prices.ts';

const STATES: readonly MachineState[] = Object.values(MachineState);
/** With few classes to a block there are many sums to add up; with many, a machine that moves has many counted again. */
const BLOCK = 64;

/** What some machines amount to. */
export interface Supply {
  readonly byState: Float64Array;
  /** Micro-dollars per hour by place in COST_PARTS: prices of providers, and owned machines at what was set for them. */
  readonly cost: Float64Array;
  readonly owned: Float64Array;
  /** By place in HARDWARE and by dimension: what Configured machines offer. */
  readonly offered: readonly Float64Array[];
}

export interface SupplyTallyOptions {
  /** Failed machines that have a host, by class. */
  readonly failedHosts?: { readonly byClass: ReadonlyMap<number, number> } | undefined;
  readonly ownedPrices?: OwnedPrices | undefined;
  /** Classes to a block. */
  readonly block?: number | undefined;
}

const NONE_FAILED = { byClass: new Map<number, number>() };

export class SupplyTally {
  readonly #fleet: Fleet;
  readonly #block: number;
  readonly #failedHosts: NonNullable<SupplyTallyOptions['failedHosts']>;
  readonly ownedPrices: OwnedPrices;
  /** Sums of one block of classes after the other, without Failed machines. */
  readonly #blocks: Supply[] = [];
  /** Where we stand in the log of classes whose counts have changed. */
  #seen = -1;

  constructor(fleet: Fleet, options: SupplyTallyOptions = {}) {
    this.#fleet = fleet;
    this.#block = options.block ?? BLOCK;
    this.#failedHosts = options.failedHosts ?? NONE_FAILED;
    this.ownedPrices = options.ownedPrices ?? new OwnedPrices(new Map());
  }

  /** As of the last freeze. Costs a sum over blocks of classes, however many machines there are. */
  total(): Supply {
    const { dimensions } = this.#fleet;
    this.#refresh();
    const total = nothing(dimensions.count);
    for (const { byState, cost, owned, offered } of this.#blocks) {
      addTimes(total.byState, byState, 0, byState.length, 1);
      addTimes(total.cost, cost, 0, cost.length, 1);
      addTimes(total.owned, owned, 0, owned.length, 1);
      for (const [kind, amounts] of offered.entries())
        addTimes(total.offered[kind]!, amounts, 0, amounts.length, 1);
    }
    for (const [c, count] of this.#failedHosts.byClass) this.#addCost(total, c, MachineState.Failed, count);
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
    const accelerators = acceleratorsOf(this.#fleet);
    const end = Math.min((at + 1) * this.#block, classes.size);
    for (let c = at * this.#block; c < end; c++) {
      for (const state of STATES) {
        const count = machines.countOf(c, state);
        if (count === 0) continue;
        sums.byState[state]! += count;
        if (state !== MachineState.Failed) this.#addCost(sums, c, state, count);
        if (state !== MachineState.Configured) continue;
        const { data } = classes.allocatable;
        const from = c * dimensions.stride;
        addTimes(sums.offered[hardwareOf(accelerators, data, from)]!, data, from, dimensions.count, count);
      }
    }
    return sums;
  }

  #addCost({ cost, owned }: Supply, c: number, state: MachineState, count: number): void {
    const part = PART_OF_STATE[state]!;
    if (part === -1) return;
    const { classes } = this.#fleet;
    cost[part]! += count * microsOf(classes.price[c]!);
    if (this.ownedPrices.areSet) owned[part]! += count * this.ownedPrices.microsOf(classes.factsOf(c));
  }
}

function nothing(dimensions: number): Supply {
  return {
    byState: new Float64Array(STATES.length + 1),
    cost: noCost(),
    owned: noCost(),
    offered: HARDWARE.map(() => new Float64Array(dimensions)),
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
