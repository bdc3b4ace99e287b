// The demand of a cluster for tests: objects in as a reflector passes them, roll-ups out, on a virtual clock.

import { expect } from 'vitest';
import type { RollupParts } from '../../src/operator/demand/contract.ts';
import { Demand } from '../../src/operator/demand/demand.ts';
import type { DemandOptions } from '../../src/operator/demand/pod-demand.ts';
import type { KubeObject, Pod } from '../../src/operator/kube/objects.ts';
import type { ObjectConsumer } from '../../src/operator/kube/reflector.ts';
import { DEFAULT_TRANSLATION } from '../../src/operator/pods/settings.ts';
import { VirtualClock } from '../../src/runtime/virtual-clock.ts';
import { ClusterCapacityNeeds } from '../../src/wire/gen/bigfleet/v1alpha1/capacity.ts';
import { decodeStrict } from '../../src/wire/index.ts';

export const NO_PARTS: RollupParts = { extraNeeds: [], nodeFacts: undefined };
export const ZONE = 'topology.kubernetes.io/zone';
export const PATIENCE_MS = 60_000;
export const JOIN_MS = 90_000;
/** When pods that wait were marked Unschedulable. */
export const SINCE = '2026-11-18T08:00:00Z';

type Kind = keyof Demand['consumers'];

export class DemandScene {
  readonly clock = new VirtualClock(1_000_000);
  /** Names of nodes. */
  readonly managed = new Set(['node-1']);
  readonly logged: Readonly<Record<string, unknown>>[] = [];
  readonly demand: Demand;
  /** Calls of `onWaiting`. */
  urgent = 0;

  constructor(options: Partial<DemandOptions> = {}) {
    this.demand = new Demand('cluster', {
      mode: 'all',
      translation: { ...DEFAULT_TRANSLATION, defaultRequirements: [] },
      alternativePatienceMs: PATIENCE_MS,
      joinTimeoutMs: JOIN_MS,
      isManaged: (name) => this.managed.has(name),
      onWaiting: () => void this.urgent++,
      clock: this.clock,
      log: (level, event, fields) => void this.logged.push({ level, event, ...fields }),
      ...options,
    });
  }

  get kinds(): readonly Kind[] {
    return Object.keys(this.demand.consumers) as Kind[];
  }

  list(kind: Kind, ...objects: readonly KubeObject[]): void {
    const consumer = this.demand.consumers[kind] as unknown as ObjectConsumer<KubeObject>;
    consumer.listing();
    for (const object of objects) consumer.set(object);
    consumer.listed();
  }

  listAll(): this {
    for (const kind of this.kinds) this.list(kind);
    return this;
  }

  built(parts = NO_PARTS, timestamp = 1n) {
    const rollup = this.demand.build(timestamp, parts);
    expect(rollup, this.demand.problem ?? '').not.toBeNull();
    const { needs, nodeFacts, timestampUnixNanos } = decodeStrict(ClusterCapacityNeeds, rollup!.bytes);
    const amounts = needs.map(({ aggregateResources, minUnit }) => ({
      sum: Object.fromEntries(aggregateResources),
      unit: Object.fromEntries(minUnit),
    }));
    return { ...rollup!, needs, nodeFacts, timestampUnixNanos, amounts };
  }
}

/** A pod that waits, unless `spec` binds it. */
export function pod(
  name: string,
  spec: Partial<Pod['spec']> = {},
  metadata: Partial<Pod['metadata']> = {},
): Pod {
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    lastTransitionTime: SINCE,
  };
  return {
    metadata: { name, namespace: 'team', uid: `uid-${name}`, ...metadata },
    spec: { containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }], ...spec },
    status: { conditions: spec.nodeName === undefined ? [condition] : [] },
  };
}

export function owned(name: string, kind: string): Partial<Pod['metadata']> {
  return { ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid: name, controller: true }] };
}
