// Totals over the machines of a fleet: counts by state, cost, and the resources of Configured machines. Sums are
// cached by blocks of classes. Only blocks with a class whose counts changed are recomputed, and the blocks are summed
// on every read: a running sum of prices would drift. Made by planning/controller.ts; read by the status and by
// cost-metrics.ts.

import { acceleratorsOf, HARDWARE, hardwareOf } from '../../engine/index.ts';
import type { Fleet } from '../../fleet/index.ts';
import { MachineState, microsOf } from '../../model/index.ts';
import { noCost, ON_HOLD, PART_OF_STATE, SERVING } from './cost.ts';
import { OwnedPrices } from './owned-prices.ts';

const STATES: readonly MachineState[] = Object.values(MachineState);
/** Classes per block. Smaller blocks mean more sums per read; larger ones more classes recomputed per changed machine. */
const BLOCK = 64;

/** Totals over a set of machines. */
export interface Supply {
  readonly byState: Float64Array;
  /** Micro-dollars per hour by index in COST_PARTS: `cost` at providers' prices, `owned` at configured prices. */
  readonly cost: Float64Array;
  readonly owned: Float64Array;
  /** By index in HARDWARE and by dimension: allocatable resources of Configured machines. */
  readonly offered: readonly Float64Array[];
}

export interface SupplyTallyOptions {
  /** Failed machines that have a host, by class. */
  readonly failedHosts?: { readonly byClass: ReadonlyMap<number, number> } | undefined;
  /** Configured machines on hold, by class. */
  readonly onHold?: { readonly byClass: ReadonlyMap<number, number> } | undefined;
  readonly ownedPrices?: OwnedPrices | undefined;
  /** Classes per block. */
  readonly block?: number | undefined;
}

const NONE = { byClass: new Map<number, number>() };

export class SupplyTally {
  readonly #fleet: Fleet;
  readonly #block: number;
  readonly #failedHosts: NonNullable<SupplyTallyOptions['failedHosts']>;
  readonly #onHold: NonNullable<SupplyTallyOptions['onHold']>;
  readonly ownedPrices: OwnedPrices;
  /** Cached sums by block; their costs leave out Failed machines, and count machines on hold as serving. */
  readonly #blocks: Supply[] = [];
  /** Position in the log of classes whose counts changed, up to which the blocks are current. */
  #seen = -1;

  constructor(fleet: Fleet, options: SupplyTallyOptions = {}) {
    this.#fleet = fleet;
    this.#block = options.block ?? BLOCK;
    this.#failedHosts = options.failedHosts ?? NONE;
    this.#onHold = options.onHold ?? NONE;
    this.ownedPrices = options.ownedPrices ?? new OwnedPrices(new Map());
  }

  /** Totals as of the last commit. O(blocks of classes), independent of the number of machines. */
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
    const failed = PART_OF_STATE[MachineState.Failed]!;
    for (const [c, count] of this.#failedHosts.byClass) this.#addCost(total, c, failed, count);
    for (const [c, count] of this.#onHold.byClass) {
      this.#addCost(total, c, ON_HOLD, count);
      this.#addCost(total, c, SERVING, -count);
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
    const accelerators = acceleratorsOf(this.#fleet);
    const end = Math.min((at + 1) * this.#block, classes.size);
    for (let c = at * this.#block; c < end; c++) {
      for (const state of STATES) {
        const count = machines.countOf(c, state);
        if (count === 0) continue;
        sums.byState[state]! += count;
        if (state !== MachineState.Failed) this.#addCost(sums, c, PART_OF_STATE[state]!, count);
        if (state !== MachineState.Configured) continue;
        const { data } = classes.allocatable;
        const from = c * dimensions.stride;
        addTimes(sums.offered[hardwareOf(accelerators, data, from)]!, data, from, dimensions.count, count);
      }
    }
    return sums;
  }

  /** `part`: a place in COST_PARTS, or -1 for machines without a host. */
  #addCost({ cost, owned }: Supply, c: number, part: number, count: number): void {
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
