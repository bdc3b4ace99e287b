// The ceiling on spending, a guardrail: purchases stop, in the order of the plan, where the machines that were purchased and
// those of the plan would cost more per hour than the shard, or their cluster, may spend. Later purchases stop as well,
// cheaper ones included, so that no row of a worse rank buys in place of a better one. Binding and preemption go on. Owned
// capacity (bare metal, reserved) is neither counted nor stopped. Used by guardrails.ts.

import type { Fleet } from '../../fleet/index.ts';
import { type Action, CapacityType, MachineState, type NeedKey, sameKey } from '../../model/index.ts';
import { microsOf } from '../telemetry/cost.ts';

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

/** What the limits are compared with, in whole micro-dollars per hour. */
export interface Spending {
  /** Price of a machine that the plan buys; null if it is not purchased by the hour. */
  readonly priceOf: (machine: string) => number | null;
  /** Price of all purchased machines, those that are being created included. */
  readonly ofShard: () => number;
  /** Price of the purchased machines of one cluster: bound to it, leaving it, or on their way to one of its rows. */
  readonly ofCluster: (cluster: string) => number;
  /** Whether a row is served as a whole or not at all. */
  readonly isGang: (need: NeedKey) => boolean;
}

/** Purchases that a plan may still make. */
export class SpendRoom {
  readonly #spending: Spending;
  readonly #limits: SpendLimits;
  readonly #shard: Room;
  readonly #clusters = new Map<string, Room>();
  /** By action: the price of all purchases of its gang, at the first of them. */
  readonly #gangs: ReadonlyMap<Action, number>;
  /** The gang that is being admitted: its other purchases are paid for. */
  #admitted: NeedKey | null = null;

  constructor(limits: SpendLimits, spending: Spending, actions: readonly Action[]) {
    this.#limits = limits;
    this.#spending = spending;
    const { maxPurchasedPerHour } = limits;
    const used = maxPurchasedPerHour === Number.POSITIVE_INFINITY ? 0 : spending.ofShard();
    this.#shard = new Room(maxPurchasedPerHour, used);
    this.#gangs = hasLimits(limits) ? gangPrices(actions, spending) : new Map();
  }

  /** Whether a purchase is within the limits; counts it if so. To be called once for each purchase, in the order of the plan. */
  admits(action: Action): boolean {
    if (!hasLimits(this.#limits)) return true;
    const price = this.#spending.priceOf(action.machine);
    if (price === null) return true;
    if (this.#admitted !== null && action.need !== null && sameKey(this.#admitted, action.need)) return true;
    const gangPrice = this.#gangs.get(action);
    this.#admitted = null;
    const cluster = this.#roomOf(action.cluster);
    const whole = gangPrice ?? price;
    // A purchase that its cluster may not make does not stop those of other clusters.
    if (!cluster.holds(whole) || !this.#shard.holds(whole)) return false;
    this.#shard.take(whole);
    cluster.take(whole);
    if (gangPrice !== undefined) this.#admitted = action.need;
    return true;
  }

  #roomOf(cluster: string): Room {
    let room = this.#clusters.get(cluster);
    if (room === undefined) {
      const { maxPurchasedPerHourOf: limits } = this.#limits;
      const limit = limits.get(cluster) ?? limits.get(EVERY_OTHER) ?? Number.POSITIVE_INFINITY;
      room = new Room(limit, limit === Number.POSITIVE_INFINITY ? 0 : this.#spending.ofCluster(cluster));
      this.#clusters.set(cluster, room);
    }
    return room;
  }
}

function hasLimits({ maxPurchasedPerHour, maxPurchasedPerHourOf }: SpendLimits): boolean {
  return maxPurchasedPerHour !== Number.POSITIVE_INFINITY || maxPurchasedPerHourOf.size > 0;
}

/** What is left below one limit, in micro-dollars per hour. Stops at the first purchase that does not fit. */
class Room {
  readonly #limit: number;
  #used: number;
  #hasStopped = false;

  constructor(dollarsPerHour: number, used: number) {
    this.#limit = dollarsPerHour === Number.POSITIVE_INFINITY ? dollarsPerHour : microsOf(dollarsPerHour);
    this.#used = used;
  }

  holds(price: number): boolean {
    if (this.#used + price > this.#limit) this.#hasStopped = true;
    return !this.#hasStopped;
  }

  take(price: number): void {
    this.#used += price;
  }
}

/** A gang buys all its machines or none: by its first purchase, the price of all. The purchases of a row are adjacent. */
function gangPrices(actions: readonly Action[], { isGang, priceOf }: Spending): ReadonlyMap<Action, number> {
  const prices = new Map<Action, number>();
  let first: Action | null = null;
  let need: NeedKey | null = null;
  for (const action of actions) {
    if (action.kind !== 'Provision' || action.need === null) continue;
    const price = priceOf(action.machine);
    if (price === null) continue;
    if (need === null || !sameKey(need, action.need)) {
      need = action.need;
      first = isGang(need) ? action : null;
    }
    if (first !== null) prices.set(first, (prices.get(first) ?? 0) + price);
  }
  return prices;
}

const OWNED: ReadonlySet<CapacityType> = new Set([CapacityType.BareMetal, CapacityType.Reserved]);
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

/** Spending as of the last commit. `failedHosts`: Failed machines that have a host, by class. */
export function spendingOf(
  { machines, classes, clusters, keys }: Fleet,
  failedHosts: ReadonlyMap<number, number>,
  isGang: Spending['isGang'],
): Spending {
  const microsOfClass = (c: number): number =>
    OWNED.has(classes.capacityType[c] as CapacityType) ? 0 : microsOf(classes.price[c]!);
  /** Of all clusters in one pass, since most plans buy for many. */
  let byCluster: Map<number, number> | null = null;
  return {
    isGang,
    priceOf: (machine) => {
      const c = machines.classOf[machines.slotOf(machine)!]!;
      return OWNED.has(classes.capacityType[c] as CapacityType) ? null : microsOf(classes.price[c]!);
    },
    ofShard: () => {
      let sum = 0;
      for (const [c, attributes] of classes.attributes.entries()) {
        if (attributes === undefined) continue;
        let count = failedHosts.get(c) ?? 0;
        for (const state of PAID) count += machines.countOf(c, state);
        if (count > 0) sum += count * microsOfClass(c);
      }
      return sum;
    },
    ofCluster: (cluster) => {
      byCluster ??= sumsByCluster();
      return byCluster.get(clusters.find(cluster)) ?? 0;
    },
  };

  function sumsByCluster(): Map<number, number> {
    const sums = new Map<number, number>();
    for (let slot = 0; slot < machines.size; slot++) {
      if (!IS_PAID.has(machines.state[slot]!)) continue;
      const cluster = machines.cluster[slot]! || keys.clusterOf(machines.target[slot]!);
      const micros = microsOfClass(machines.classOf[slot]!);
      if (cluster !== 0 && micros > 0) sums.set(cluster, (sums.get(cluster) ?? 0) + micros);
    }
    return sums;
  }
}
