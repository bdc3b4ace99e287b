// Cost of each cluster and its machines by state: Configured, Configuring and Draining. One pass over the columns for
// all clusters, computed on first use and cached until the ledger or the set of machines on hold changes. Made by controller.ts; read by cluster
// pages and cost metrics.

import type { Fleet } from '../../../fleet/index.ts';
import { MachineState, microsOf, stateName } from '../../../model/index.ts';
import { type CostView, costView, noCost, ON_HOLD, PART_OF_STATE } from '../../telemetry/cost.ts';
import type { OwnedPrices } from '../../telemetry/owned-prices.ts';
import type { MachinesOnHold } from '../machines-on-hold.ts';

/** States in which a machine belongs to a cluster, in display order. */
const STATES = [MachineState.Configured, MachineState.Configuring, MachineState.Draining] as const;

interface Sums {
  readonly counts: Float64Array;
  /** Micro-dollars per hour by index in COST_PARTS. */
  readonly cost: Float64Array;
  readonly owned: Float64Array;
}

export interface ClusterMachines {
  readonly machinesByState: Readonly<Record<string, number>>;
  readonly cost: CostView;
  readonly ownedCost: CostView | null;
}

export class ClusterCosts {
  readonly #fleet: Fleet;
  readonly #ownedPrices: OwnedPrices;
  readonly #onHold: MachinesOnHold;
  #revision = -1;
  #holdVersion = -1;
  /** By cluster number; clusters without a machine have no entry. */
  #sums = new Map<number, Sums>();

  constructor(fleet: Fleet, ownedPrices: OwnedPrices, onHold: MachinesOnHold) {
    this.#fleet = fleet;
    this.#ownedPrices = ownedPrices;
    this.#onHold = onHold;
  }

  of(cluster: string): ClusterMachines {
    this.#refresh();
    const { clusters } = this.#fleet;
    return this.#view(this.#sums.get(clusters.find(cluster)));
  }

  /** Clusters with at least one machine, by name. */
  *all(): Generator<readonly [cluster: string, ClusterMachines]> {
    this.#refresh();
    const { clusters } = this.#fleet;
    for (const number of clusters.sorted()) {
      const sums = this.#sums.get(number);
      if (sums !== undefined) yield [clusters.nameOf(number), this.#view(sums)];
    }
  }

  #view(sums: Sums | undefined): ClusterMachines {
    const { counts, cost, owned } = sums ?? nothing();
    const present = STATES.filter((state) => counts[state]! > 0);
    return {
      machinesByState: Object.fromEntries(
        present.map((state) => [stateName(state).toUpperCase(), counts[state]!]),
      ),
      cost: costView(cost),
      ownedCost: this.#ownedPrices.areSet ? costView(owned) : null,
    };
  }

  #refresh(): void {
    const { machines, classes } = this.#fleet;
    if (this.#revision === machines.revision && this.#holdVersion === this.#onHold.version) return;
    this.#revision = machines.revision;
    this.#holdVersion = this.#onHold.version;
    this.#sums = new Map();
    const prices = Float64Array.from(classes.price.subarray(0, classes.size), microsOf);
    const owned = this.#ownedMicros();
    for (let slot = 0; slot < machines.size; slot++) {
      const state = machines.state[slot]!;
      const cluster = machines.cluster[slot]!;
      if (cluster === 0 || !BELONGS.has(state)) continue;
      let sums = this.#sums.get(cluster);
      if (sums === undefined) {
        sums = nothing();
        this.#sums.set(cluster, sums);
      }
      const part = this.#onHold.has(slot) ? ON_HOLD : PART_OF_STATE[state]!;
      sums.counts[state]!++;
      sums.cost[part]! += prices[machines.classOf[slot]!]!;
      sums.owned[part]! += owned[machines.classOf[slot]!]!;
    }
  }

  /** Micro-dollars per hour by class number. */
  #ownedMicros(): Float64Array {
    const { classes } = this.#fleet;
    const micros = new Float64Array(classes.size);
    if (!this.#ownedPrices.areSet) return micros;
    for (const [c, attributes] of classes.attributes.entries())
      if (attributes !== undefined) micros[c] = this.#ownedPrices.microsOf(classes.factsOf(c));
    return micros;
  }
}

const BELONGS: ReadonlySet<number> = new Set(STATES);

function nothing(): Sums {
  return { counts: new Float64Array(MachineState.Failed + 1), cost: noCost(), owned: noCost() };
}
