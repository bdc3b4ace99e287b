// The machines that an assessment decides on: those that could be bought, as many of every offering as could be of use, and
// the nodes that exist. Pure.

import {
  CapacityType,
  covers,
  DEFAULT_DRAIN_SECONDS,
  effectiveAllocatable,
  type LedgerMachine,
  MachineState,
  meetsAll,
  type Need,
  type NodeUse,
} from '../model/index.ts';
import type { CatalogueEntry } from '../provider/index.ts';
import type { PricedNode } from './priced-nodes.ts';

/** Existing nodes are paid for: only their order by price matters, and any of them is cheaper than a purchase. */
const SUNK_SHARE = 1e-6;

const COMMON = {
  ...{ host: null, lastError: '', stamp: null, target: null, blocked: false, cluster: '' },
  ...{ drainSeconds: DEFAULT_DRAIN_SECONDS, idleSinceMs: null, unclaimedSinceMs: null },
} as const;

/** Machines that may be bought to serve the Needs: of each offering and zone what they would take if there were no other. */
export function purchasable(
  catalogue: readonly CatalogueEntry[],
  needs: readonly Need[],
): readonly LedgerMachine[] {
  return catalogue.flatMap((entry) =>
    entry.zones.flatMap((zone) => {
      const machine = speculative(entry, zone);
      return Array.from({ length: mostUsed(machine, needs) }, (_, i) => ({
        ...machine,
        id: `${entry.name}/${zone}/${i}`,
      }));
    }),
  );
}

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

function speculative(entry: CatalogueEntry, zone: string): LedgerMachine {
  const { allocatable, capacityType, instanceType, interruptionProbability, pricePerHour, resources } = entry;
  return {
    ...COMMON,
    ...{ id: '', instanceType, zone, capacityType, pricePerHour, interruptionProbability },
    ...{ resources, allocatable },
    labels: new Map([...DEFAULT_LABELS, ...entry.labels]),
    state: MachineState.Speculative,
  };
}

/** Pods ask for an architecture even if their authors do not know it; a catalogue that says nothing means the usual one. */
const DEFAULT_LABELS: readonly (readonly [string, string])[] = [
  ['kubernetes.io/arch', 'amd64'],
  ['kubernetes.io/os', 'linux'],
];

/** Machines that the Needs which may use it would take if they used no other; one more for each, for what is rounded. */
function mostUsed(machine: LedgerMachine, needs: readonly Need[]): number {
  const offers = effectiveAllocatable(machine);
  let machines = 0;
  for (const { aggregate, minUnit, profile, setAside } of needs) {
    if (setAside === true || !covers(offers, minUnit) || !meetsAll(machine, profile.requirements)) continue;
    let most = 1;
    for (const [name, units] of aggregate) {
      const each = offers.get(name) ?? 0;
      if (each > 0) most = Math.max(most, Math.ceil(units / each));
    }
    machines += most + 1;
  }
  return machines;
}
