// The ceiling on spending: what the shard and its clusters may still spend on machines that are purchased by the hour, as
// an input of the decision, which stops purchases there in rank order. Owned capacity (bare metal, reserved) is neither
// counted nor stopped. Read by cycles.ts before each decision; what clusters have purchased follows the commits, since a pass
// over all machines would cost milliseconds in every cycle of a large fleet.

import { withRoom } from '../../collections/columns.ts';
import type { Fleet } from '../../fleet/index.ts';
import {
  type CapacityType,
  isPurchased,
  MachineState,
  microsOf,
  type PurchaseBudget,
} from '../../model/index.ts';

export interface SpendLimits {
  /** Dollars per hour of purchased machines of the shard; Infinity: no limit. */
  readonly maxPurchasedPerHour: number;
  /** Dollars per hour of purchased machines by cluster; `EVERY_OTHER` for clusters that are not named. */
  readonly maxPurchasedPerHourOf: ReadonlyMap<string, number>;
}

/** In the place of a cluster's name: each cluster without a limit of its own. */
const EVERY_OTHER = '*';

export const NO_SPEND_LIMITS: SpendLimits = {
  maxPurchasedPerHour: Number.POSITIVE_INFINITY,
  maxPurchasedPerHourOf: new Map(),
};

/** A ledger as the ceiling reads it. */
interface Purchased {
  readonly fleet: Fleet;
  /** Failed machines that have a host, by class. */
  readonly failedHosts: { readonly byClass: ReadonlyMap<number, number> };
}

export class PurchaseBudgets {
  readonly #limits: SpendLimits;
  readonly #ledger: Purchased;
  /** null if no cluster has a limit. */
  readonly #ofClusters: PurchasedByCluster | null;

  constructor(limits: SpendLimits, ledger: Purchased) {
    this.#limits = limits;
    this.#ledger = ledger;
    this.#ofClusters = limits.maxPurchasedPerHourOf.size === 0 ? null : new PurchasedByCluster(ledger.fleet);
  }

  /** A commit has written these slots, new ones included. */
  committed(slots: readonly number[]): void {
    this.#ofClusters?.committed(slots);
  }

  /** What may still be spent, as of the last commit; undefined without a limit. */
  get left(): PurchaseBudget | undefined {
    const { maxPurchasedPerHour: limit, maxPurchasedPerHourOf: limitsOf } = this.#limits;
    const isUnlimited = limit === Number.POSITIVE_INFINITY;
    if (isUnlimited && this.#ofClusters === null) return undefined;
    return {
      shard: isUnlimited ? limit : microsOf(limit) - purchasedOf(this.#ledger),
      clusters: this.#ofClusters === null ? new Map() : this.#ofClusters.leftOf(limitsOf),
    };
  }
}

/** States in which a machine is paid for, or will be once it has been made. A Failed one is, if it has a host. */
const PAID: readonly MachineState[] = [
  MachineState.Creating,
  MachineState.Idle,
  MachineState.Configuring,
  MachineState.Configured,
  MachineState.Draining,
  MachineState.Deleting,
];
const IS_PAID: ReadonlySet<number> = new Set(PAID);

/** Micro-dollars per hour of a machine of a class; 0 if it is owned. */
function microsOfClass({ classes }: Fleet, classNumber: number): number {
  const isCounted = isPurchased(classes.capacityType[classNumber] as CapacityType);
  return isCounted ? microsOf(classes.price[classNumber]!) : 0;
}

/** Micro-dollars per hour of all purchased machines, those that are being created included. */
function purchasedOf({ fleet, failedHosts }: Purchased): number {
  const { classes, machines } = fleet;
  let sum = 0;
  for (const [c, attributes] of classes.attributes.entries()) {
    if (attributes === undefined) continue;
    let count = failedHosts.byClass.get(c) ?? 0;
    for (const state of PAID) count += machines.countOf(c, state);
    if (count > 0) sum += count * microsOfClass(fleet, c);
  }
  return sum;
}

/**
 * Micro-dollars per hour of the machines of each cluster: bound to it, leaving it, or on their way to one of its rows. Sums of
 * whole numbers stay exact however often they change, up to 2^53; if one was above, all are made again with every commit until none is.
 */
class PurchasedByCluster {
  readonly #fleet: Fleet;
  /** Slots that were overwritten or removed since the last commit. */
  readonly #written: Set<number>;
  /** By slot: what it adds to which cluster. */
  #cluster = new Uint32Array(0);
  #micros = new Float64Array(0);
  /** By cluster. */
  #sums: number[] = [];
  #isExact = true;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
    this.#written = fleet.machines.written.watch();
    this.#addAll();
  }

  committed(slots: readonly number[]): void {
    this.#reserve();
    for (const slot of slots) this.#update(slot);
    for (const slot of this.#written) this.#update(slot);
    this.#written.clear();
    if (!this.#isExact) this.#addAll();
  }

  #addAll(): void {
    this.#reserve();
    this.#sums = [];
    this.#isExact = true;
    this.#micros.fill(0);
    for (let slot = 0; slot < this.#fleet.machines.size; slot++) this.#update(slot);
  }

  leftOf(limits: SpendLimits['maxPurchasedPerHourOf']): ReadonlyMap<string, number> {
    const { clusters } = this.#fleet;
    const budgets = new Map<string, number>();
    for (const cluster of clusters.sorted()) {
      const name = clusters.nameOf(cluster);
      const limit = limits.get(name) ?? limits.get(EVERY_OTHER);
      if (limit !== undefined) budgets.set(name, microsOf(limit) - (this.#sums[cluster] ?? 0));
    }
    return budgets;
  }

  #reserve(): void {
    this.#cluster = withRoom(this.#cluster, this.#fleet.machines.size);
    this.#micros = withRoom(this.#micros, this.#fleet.machines.size);
  }

  #update(slot: number): void {
    const { keys, machines } = this.#fleet;
    const isPaid = IS_PAID.has(machines.state[slot]!);
    const cluster = isPaid ? machines.cluster[slot]! || keys.clusterOf(machines.target[slot]!) : 0;
    this.#add(slot, -this.#micros[slot]!);
    this.#cluster[slot] = cluster;
    this.#micros[slot] = cluster === 0 ? 0 : microsOfClass(this.#fleet, machines.classOf[slot]!);
    this.#add(slot, this.#micros[slot]!);
  }

  #add(slot: number, micros: number): void {
    const cluster = this.#cluster[slot]!;
    if (micros === 0) return;
    const sum = (this.#sums[cluster] ?? 0) + micros;
    this.#sums[cluster] = sum;
    if (sum > Number.MAX_SAFE_INTEGER) this.#isExact = false;
  }
}
