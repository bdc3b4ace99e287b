// What Events and conditions read of demand: CapacityRequests with their rows, and the rows of past roll-ups.

import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { ClusterCapacityNeeds } from '../../wire/gen/bigfleet/v1alpha1/capacity.ts';
import type { CapacityRequest, Pod } from '../kube/objects.ts';
import { DEFAULT_TRANSLATION } from '../pods/settings.ts';
import type { ExtraNeed } from './contract.ts';
import { Demand } from './demand.ts';

function scene(mode: 'all' | 'opt-in' = 'all') {
  const demand = new Demand('c', {
    mode,
    translation: DEFAULT_TRANSLATION,
    alternativePatienceMs: 60_000,
    joinTimeoutMs: 60_000,
    isManaged: () => false,
    clock: new VirtualClock(1_000_000),
  });
  for (const consumer of Object.values(demand.consumers)) {
    consumer.listing();
    consumer.listed();
  }
  const request = (name: string, more: Partial<CapacityRequest['metadata']> = {}, zone = 'z1'): void =>
    demand.consumers.capacityrequests.set({
      metadata: { namespace: 'ns', name, uid: `uid-${name}`, ...more },
      spec: {
        requirements: [{ key: 'topology.kubernetes.io/zone', operator: 'In', values: [zone] }],
        resources: { cpu: '1' },
        replicas: 1,
      },
    } as unknown as CapacityRequest);
  const pod = (name: string, zone: string): void =>
    demand.consumers.pods.set({
      metadata: { namespace: 'ns', name, uid: `uid-${name}`, creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: {
        containers: [{ name: 'main', resources: { requests: { cpu: '2' } } }],
        nodeSelector: { 'topology.kubernetes.io/zone': zone },
      },
      status: {
        phase: 'Pending',
        conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }],
      },
    } as unknown as Pod);
  const build = (timestamp: bigint, extraNeeds: readonly ExtraNeed[] = []) =>
    ClusterCapacityNeeds.decode(demand.build(timestamp, { extraNeeds, nodeFacts: undefined })!.bytes);
  return { demand, request, pod, build };
}

describe('CapacityRequests that are counted', () => {
  it('given requests, then each has its row, also after it was acknowledged, until it goes', () => {
    const { demand, request, build } = scene();
    request('a');
    request('b', {}, 'z2');
    request('ignored', { labels: { 'bigfleet.lucy.sh/ignore': 'true' } });
    build(1n);
    const counted = [...demand.countedRequests()];
    expect(counted.map(({ namespace, name, uid }) => [namespace, name, uid])).toEqual([
      ['ns', 'a', 'uid-a'],
      ['ns', 'b', 'uid-b'],
    ]);
    expect(counted[0]!.row).not.toEqual(counted[1]!.row);
    expect(demand.podsIn(counted[0]!.row)).toBe(1);
    demand.consumers.capacityrequests.remove({
      metadata: { namespace: 'ns', name: 'a', uid: 'uid-a' },
    } as CapacityRequest);
    expect([...demand.countedRequests()].map(({ name }) => name)).toEqual(['b']);
  });

  it('given a request of a pod that counts itself, then its row is the one of the pod', () => {
    const { demand, request, pod, build } = scene();
    request('of-web', { labels: { 'bigfleet.lucy.sh/owned-by-pod': 'uid-web' } }, 'z2');
    pod('web', 'z1');
    build(1n);
    const [pending] = demand.pendingPods();
    expect([...demand.countedRequests()].map(({ row }) => row)).toEqual([pending!.row]);
  });

  it('given mode opt-in, then a request does not count for a pod that another autoscaler serves', () => {
    const { demand, request, pod } = scene('opt-in');
    const namespace = (labels: Record<string, string>) =>
      demand.consumers.namespaces.set({ metadata: { name: 'ns', labels } });
    request('of-web', { labels: { 'bigfleet.lucy.sh/owned-by-pod': 'uid-web' } });
    request('of-none');
    pod('web', 'z1');
    const names = () => [...demand.countedRequests()].map(({ name }) => name);
    expect(names()).toEqual(['of-none']);
    namespace({ 'bigfleet.lucy.sh/opt-in': 'true' });
    expect(names()).toEqual(['of-web', 'of-none']);
    namespace({});
    expect(names()).toEqual(['of-none']);
  });
});

describe('the row at an index of a roll-up', () => {
  it('given rows that changed since, then it is the row of the roll-up with that timestamp', () => {
    const { demand, pod, build } = scene();
    pod('a', 'z1');
    pod('b', 'z2');
    const first = build(1n);
    const before = first.needs.map((_, i) => demand.rowAt(i, 1n)!);
    expect(new Set(before.map(({ fingerprint }) => fingerprint)).size).toBe(2);
    demand.consumers.pods.remove({ metadata: { namespace: 'ns', name: 'a', uid: 'uid-a' } } as Pod);
    expect(build(2n).needs).toHaveLength(1);
    expect(first.needs.map((_, i) => demand.rowAt(i, 1n))).toEqual(before);
    expect(demand.rowAt(0, 2n)).toEqual(before[1]);
    expect([demand.rowAt(1, 2n), demand.rowAt(-1, 2n), demand.rowAt(0, 3n)]).toEqual([null, null, null]);
  });

  it('given episodes, then they follow the rows, without those whose profile is gone', () => {
    const { demand, pod, build } = scene();
    pod('a', 'z1');
    build(1n);
    const { fingerprint } = demand.rowAt(0, 1n)!;
    const extra = (of: string, group: string): ExtraNeed => ({
      fingerprint: of,
      group,
      aggregate: new Map([['cpu', 1]]),
      minUnit: new Map([['cpu', 1]]),
    });
    const { needs } = build(2n, [extra('gone', 'e1'), extra(fingerprint, 'e2')]);
    expect(needs.map(({ group }) => group)).toEqual(['', 'e2']);
    expect(demand.rowAt(1, 2n)).toMatchObject({ fingerprint, group: 'e2' });
  });

  it('given many roll-ups, then only the last ones are remembered', () => {
    const { demand, pod, build } = scene();
    pod('a', 'z1');
    for (let i = 1n; i <= 20n; i++) build(i);
    expect([demand.rowAt(0, 12n), demand.rowAt(0, 13n)?.group]).toEqual([null, '']);
  });
});
