// What machines that the fleet owns cost to own: the price of a host spread over its life, as configured by its owner.
// Providers price such machines at 0, because releasing one saves nothing, and decisions use that price. This price is
// for display only: it answers what a cluster on bare metal costs, is shown apart from what is paid by the hour, and
// enters no decision. Used by machine-tally.ts and by cluster costs.

import { CapacityType, microsOf } from '../../model/index.ts';

/** Names of kinds of capacity that a fleet owns, as the setting has them. */
const OWNED_CAPACITY = {
  'bare-metal': CapacityType.BareMetal,
  reserved: CapacityType.Reserved,
} as const;

/** What tells whether, and at which price, a machine is owned. */
export interface OwnedFacts {
  readonly capacityType: CapacityType;
  readonly instanceType: string;
  readonly pricePerHour: number;
}

export class OwnedPrices {
  readonly #byName: ReadonlyMap<string, number>;

  /** Dollars per hour by instance type, and by `bare-metal` and `reserved` for all other types. */
  constructor(byName: ReadonlyMap<string, number>) {
    this.#byName = byName;
  }

  get areSet(): boolean {
    return this.#byName.size > 0;
  }

  /** Micro-dollars per hour; 0 for a machine that is not owned, and for one with a price, which is paid by the hour. */
  microsOf({ capacityType, instanceType, pricePerHour }: OwnedFacts): number {
    const name = OWNED_NAMES.get(capacityType);
    if (name === undefined || pricePerHour > 0) return 0;
    return microsOf(this.#byName.get(instanceType) ?? this.#byName.get(name) ?? 0);
  }
}

const OWNED_NAMES = new Map<CapacityType, string>(
  Object.entries(OWNED_CAPACITY).map(([name, type]) => [type, name]),
);
