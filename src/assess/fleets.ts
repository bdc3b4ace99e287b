// Sums over nodes and machines: how many of which kind, and what they cost. Pure.

import { CapacityType, type LedgerMachine } from '../model/index.ts';
import type { Fleet, TypeCount } from './assessment.ts';

export interface Priced {
  readonly instanceType: string;
  readonly capacityType: CapacityType;
  readonly pricePerHour: number;
}

const CAPACITY_NAMES: Readonly<Record<CapacityType, string>> = {
  [CapacityType.Unspecified]: 'unknown',
  [CapacityType.BareMetal]: 'bare metal',
  [CapacityType.Reserved]: 'reserved',
  [CapacityType.OnDemand]: 'on demand',
  [CapacityType.Spot]: 'spot',
};

export function fleetOfPriced(all: readonly Priced[]): Fleet {
  const types = [
    ...Map.groupBy(all, ({ capacityType, instanceType }) => `${capacityType} ${instanceType}`).values(),
  ].map((alike): TypeCount => {
    const [{ capacityType, instanceType }] = alike as [Priced];
    return {
      ...{ instanceType, capacityType: CAPACITY_NAMES[capacityType], machines: alike.length },
      dollarsPerHour: cents(alike.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0)),
    };
  });
  types.sort((a, b) => b.dollarsPerHour - a.dollarsPerHour || (a.instanceType < b.instanceType ? -1 : 1));
  const dollarsPerHour = cents(all.reduce((sum, { pricePerHour }) => sum + pricePerHour, 0));
  return { machines: all.length, dollarsPerHour, types };
}

/** Machines with the price of the catalogue; those that exist already have a lower one while decisions are made. */
export function pricesOf(
  machines: readonly LedgerMachine[],
  ofNodes: ReadonlyMap<string, Priced>,
): readonly Priced[] {
  return machines.map((machine) => ofNodes.get(machine.id) ?? machine);
}

/** Sums of prices, without the noise of binary fractions. */
export function cents(dollars: number): number {
  return Math.round(dollars * 1e6) / 1e6;
}
