// The nodes that exist as machines of an assessment; purchasable-machines.ts has those that could be bought. Pure.

import {
  CapacityType,
  DEFAULT_DRAIN_SECONDS,
  type LedgerMachine,
  MachineState,
  type NodeUse,
} from '../model/index.ts';
import type { CatalogueEntry } from '../provider/index.ts';
import type { PricedNode } from './priced-nodes.ts';

/** Existing nodes are paid for: only their order by price matters, and any of them is cheaper than a purchase. */
const SUNK_SHARE = 1e-6;

/** Of every machine at first. */
export const COMMON = {
  ...{ host: null, lastError: '', stamp: null, target: null, blocked: false, cluster: '' },
  ...{ drainSeconds: DEFAULT_DRAIN_SECONDS, idleSinceMs: null, unclaimedSinceMs: null },
} as const;

/** Whether a machine like this may be returned; others stay whether they are used or not. */
export function isRented({ capacityType }: Pick<CatalogueEntry, 'capacityType'>): boolean {
  return capacityType === CapacityType.OnDemand || capacityType === CapacityType.Spot;
}

/** A node as a machine that is bound to its cluster and never returned. */
export function boundMachine(cluster: string, node: PricedNode, use: NodeUse | undefined): LedgerMachine {
  const id = nodeId(cluster, node.name);
  return {
    ...existing(id, node),
    state: MachineState.Configured,
    cluster,
    pricePerHour: node.offering.pricePerHour * SUNK_SHARE,
    ...(use === undefined ? {} : { use }),
  };
}

/** A node as a free machine that is never returned. */
export function idleMachine(cluster: string, node: PricedNode, nowMs: number): LedgerMachine {
  const id = nodeId(cluster, node.name);
  return {
    ...existing(id, node),
    state: MachineState.Idle,
    pricePerHour: node.offering.pricePerHour * SUNK_SHARE,
    idleSinceMs: nowMs,
  };
}

export function nodeId(cluster: string, node: string): string {
  return `node/${cluster}/${node}`;
}

function existing(id: string, node: PricedNode): Omit<LedgerMachine, 'state' | 'pricePerHour'> {
  const { allocatable, instanceType, labels, offering, zone } = node;
  return {
    ...COMMON,
    ...{ id, instanceType, zone, labels, allocatable, resources: allocatable },
    host: { provider: 'assess', ref: id },
    capacityType: CapacityType.BareMetal,
    interruptionProbability: offering.interruptionProbability,
  };
}
