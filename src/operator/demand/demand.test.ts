// Demand through its public surface: consumers in, roll-ups and views out. Which pods count is in the property test of
// test/operator; here are the cases that need a story: gaps in what is known, alternatives over time, overhead of nodes.

import { beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { ClusterCapacityNeeds, type NodeFacts } from '../../wire/gen/bigfleet/v1alpha1/capacity.ts';
import { decodeStrict, requirementsToWire } from '../../wire/index.ts';
import type { CapacityRequest, KubeObject, Pod } from '../kube/objects.ts';
import type { ObjectConsumer } from '../kube/reflector.ts';
import { DEFAULT_TRANSLATION } from '../pods/settings.ts';
import type { RollupParts } from './contract.ts';
import { Demand } from './demand.ts';

const NO_PARTS: RollupParts = { extraNeeds: [], nodeFacts: undefined };
const ZONE = 'topology.kubernetes.io/zone';
const PATIENCE_MS = 60_000;
const SINCE = '2026-11-18T08:00:00Z';

let clock: VirtualClock;
let managed: Set<string>;
let demand: Demand;
/** Calls of `onWaiting`. */
let urgent: number;

beforeEach(() => {
  clock = new VirtualClock(1_000_000);
  managed = new Set(['node-1']);
  urgent = 0;
  demand = new Demand('cluster', {
    mode: 'all',
    translation: { ...DEFAULT_TRANSLATION, defaultRequirements: [] },
    alternativePatienceMs: PATIENCE_MS,
    isManaged: (name) => managed.has(name),
    onWaiting: () => void urgent++,
    clock,
  });
});

function list(kind: keyof Demand['consumers'], ...objects: readonly KubeObject[]): void {
  const consumer = demand.consumers[kind] as unknown as ObjectConsumer<KubeObject>;
  consumer.listing();
  for (const object of objects) consumer.set(object);
  consumer.listed();
}

function listAll(): void {
  for (const kind of Object.keys(demand.consumers) as (keyof Demand['consumers'])[]) list(kind);
}

/** A pod that waits, unless `spec` binds it. */
function pod(name: string, spec: Partial<Pod['spec']> = {}, metadata: Partial<Pod['metadata']> = {}): Pod {
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

function owned(name: string, kind: string): Partial<Pod['metadata']> {
  return { ownerReferences: [{ apiVersion: 'apps/v1', kind, name, uid: name, controller: true }] };
}

function built(parts = NO_PARTS, timestamp = 1n) {
  const rollup = demand.build(timestamp, parts);
  if (rollup === null) throw new Error(demand.problem ?? 'no roll-up');
  const { needs, nodeFacts, timestampUnixNanos } = decodeStrict(ClusterCapacityNeeds, rollup.bytes);
  const amounts = needs.map(({ aggregateResources, minUnit }) => ({
    sum: Object.fromEntries(aggregateResources),
    unit: Object.fromEntries(minUnit),
  }));
  return { ...rollup, needs, nodeFacts, timestampUnixNanos, amounts };
}

describe('a roll-up before its interval is over', () => {
  it('given lists, then it is asked for once the last one is complete', () => {
    const kinds = Object.keys(demand.consumers) as (keyof Demand['consumers'])[];
    for (const kind of kinds.slice(0, -2)) list(kind);
    expect(urgent).toBe(0);
    for (const kind of kinds.slice(-2)) list(kind);
    expect(urgent).toBeGreaterThan(0);
  });

  it('given a pod that begins to wait, then it is asked for once; pods that run or wait on do not ask for one', () => {
    listAll();
    urgent = 0;
    demand.consumers.pods.set(pod('web-1'));
    expect(urgent).toBe(1);
    demand.consumers.pods.set(pod('web-1', {}, { labels: { changed: 'yes' } }));
    demand.consumers.pods.set(pod('web-1', { nodeName: 'node-1' }));
    demand.consumers.pods.set(pod('web-2', { nodeName: 'node-1' }));
    demand.consumers.pods.remove(pod('web-2'));
    expect(urgent).toBe(1);
  });
});

describe('a picture that is not complete', () => {
  it('given one resource that was never listed, then there is no roll-up, and the problem names it', () => {
    for (const kind of Object.keys(demand.consumers) as (keyof Demand['consumers'])[])
      if (kind !== 'capacityrequests') list(kind);
    expect(demand.build(1n, NO_PARTS)).toBeNull();
    expect(demand.problem).toContain('capacityrequests');
    list('capacityrequests');
    expect(built().rows).toBe(0);
    expect(demand.problem).toBeNull();
  });

  it('given a lost watch, then the last roll-up is repeated with a new time until the watch is back', () => {
    const state = { isCurrent: true, hasListed: true, problem: null as string | null };
    demand.observe('pods', state);
    listAll();
    demand.consumers.pods.set(pod('a'));
    expect(built().amounts).toEqual([{ sum: { cpu: '1' }, unit: { cpu: '1' } }]);
    state.isCurrent = false;
    state.problem = 'connection refused';
    demand.consumers.pods.set(pod('b'));
    const repeated = built(NO_PARTS, 9n);
    expect([repeated.isRepeated, repeated.timestampUnixNanos, repeated.amounts[0]?.sum]).toEqual([
      true,
      9n,
      { cpu: '1' },
    ]);
    expect(demand.problem).toContain('connection refused');
    state.isCurrent = true;
    expect(built().amounts[0]?.sum).toEqual({ cpu: '2' });
  });

  it('given a list in progress, then pods that it has not reached yet still count', () => {
    listAll();
    list('pods', pod('a'), pod('b'));
    expect(built().amounts[0]?.sum).toEqual({ cpu: '2' });
    demand.consumers.pods.listing();
    demand.consumers.pods.set(pod('a'));
    expect(built()).toMatchObject({ isRepeated: true, amounts: [{ sum: { cpu: '2' } }] });
    demand.consumers.pods.listed();
    expect(built()).toMatchObject({ isRepeated: false, amounts: [{ sum: { cpu: '1' } }] });
  });
});

describe('rows', () => {
  beforeEach(listAll);

  it('given the largest pod leaves, then min_unit shrinks to the largest that is left', () => {
    const sized = (name: string, cpu: string) =>
      pod(name, { containers: [{ name: 'main', resources: { requests: { cpu } } }] });
    list('pods', sized('a', '4'), sized('b', '2'), sized('c', '2'));
    expect(built().amounts).toEqual([{ sum: { cpu: '8' }, unit: { cpu: '4' } }]);
    demand.consumers.pods.remove(sized('a', '4'));
    expect(built().amounts).toEqual([{ sum: { cpu: '4' }, unit: { cpu: '2' } }]);
  });

  it('given sums beyond 2^53 that shrink again, then they are exact', () => {
    const huge = (name: string) =>
      pod(name, { containers: [{ name: 'main', resources: { requests: { memory: '9007199254740990' } } }] });
    list(
      'pods',
      huge('a'),
      huge('b'),
      pod('c', { containers: [{ name: 'main', resources: { requests: { memory: '1' } } }] }),
    );
    expect(built().amounts[0]?.sum).toEqual({ memory: '18014398509481981' });
    demand.consumers.pods.remove(huge('a'));
    demand.consumers.pods.remove(huge('b'));
    expect(built().amounts[0]?.sum).toEqual({ memory: '1' });
  });

  it('given DaemonSet and static pods, then they follow the best-ranked pod of their node', () => {
    demand.consumers.nodes.set({ metadata: { name: 'node-1' } });
    const low = pod('low', { nodeName: 'node-1', priority: 1 });
    const high = pod('high', { nodeName: 'node-1', priority: 9 });
    list(
      'pods',
      low,
      high,
      pod('agent', { nodeName: 'node-1' }, owned('agent', 'DaemonSet')),
      pod('static', { nodeName: 'node-1' }, owned('node-1', 'Node')),
    );
    const sums = () =>
      new Map(
        built().needs.map(({ priority, aggregateResources }) => [priority, aggregateResources.get('cpu')]),
      );
    expect(sums()).toEqual(
      new Map([
        [1, '1'],
        [9, '3'],
      ]),
    );
    demand.consumers.pods.remove(high);
    expect(sums()).toEqual(new Map([[1, '3']]));
    demand.consumers.pods.remove(low);
    expect(sums()).toEqual(new Map());
  });

  it('given DaemonSets, then min_unit includes those that run on a fresh node of the profile', () => {
    const daemon = (name: string, spec: Partial<Pod['spec']>) => ({
      metadata: { name, namespace: 'kube-system' },
      spec: {
        template: {
          spec: {
            containers: [{ name: 'main', resources: { requests: { cpu: '100m', memory: '64Mi' } } }],
            ...spec,
          },
        },
      },
    });
    list(
      'daemonsets',
      daemon('all', {}),
      daemon('zone-b', { nodeSelector: { [ZONE]: 'b' } }),
      daemon('linux', { nodeSelector: { 'kubernetes.io/os': 'linux' } }),
    );
    list('pods', pod('a', { nodeSelector: { [ZONE]: 'a' } }));
    expect(built().amounts).toEqual([{ sum: { cpu: '1' }, unit: { cpu: '1200m', memory: '128Mi' } }]);
  });

  it('given a node that becomes managed, then its pods count', () => {
    list('pods', pod('a', { nodeName: 'node-2' }));
    expect(built().rows).toBe(0);
    managed.add('node-2');
    demand.nodeChanged('node-2');
    expect(built().rows).toBe(1);
  });

  it('given an episode and node facts, then both are part of the roll-up', () => {
    list('pods', pod('a'));
    const [pending] = [...demand.pendingPods()];
    const nodeFacts: NodeFacts = { empty: ['m-1'], inUse: [], protected: [] };
    const episode = {
      fingerprint: pending!.row.fingerprint,
      group: 'stuck:1',
      aggregate: new Map([['cpu', 2000]]),
      minUnit: new Map([['cpu', 1000]]),
    };
    const gone = { ...episode, fingerprint: 'p=77|gone' };
    const rollup = built({ extraNeeds: [episode, gone], nodeFacts });
    expect(
      rollup.needs.map(({ group, aggregateResources }) => [group, aggregateResources.get('cpu')]),
    ).toEqual([
      ['', '1'],
      ['stuck:1', '2'],
    ]);
    expect(rollup.nodeFacts).toEqual(nodeFacts);
  });
});

describe('capacity requests', () => {
  const request = (name: string, phase?: string, labels = {}): CapacityRequest => ({
    metadata: { name, namespace: 'team', uid: `uid-${name}`, labels },
    spec: { priority: 0, resources: { cpu: '2' } },
    ...(phase === undefined ? {} : { status: { phase } }),
  });
  beforeEach(listAll);

  it('given a new request, then it counts and is returned for acknowledgement once', () => {
    list('capacityrequests', request('a'), request('b', 'Acknowledged'));
    expect(built()).toMatchObject({
      amounts: [{ sum: { cpu: '4' } }],
      acknowledge: [{ namespace: 'team', name: 'a' }],
    });
    demand.consumers.capacityrequests.set(request('a'));
    expect(built().acknowledge).toEqual([]);
  });

  it('given a request for a pod that counts, then the pod counts once and the request is acknowledged', () => {
    demand.consumers.capacityrequests.set(
      request('a', undefined, { 'bigfleet.lucy.sh/owned-by-pod': 'uid-p' }),
    );
    expect(built().amounts[0]?.sum).toEqual({ cpu: '2' });
    demand.consumers.pods.set(pod('p'));
    expect(built().amounts).toEqual([{ sum: { cpu: '1' }, unit: { cpu: '1' } }]);
    demand.consumers.pods.remove(pod('p'));
    expect(built().amounts[0]?.sum).toEqual({ cpu: '2' });
  });
});

describe('alternatives of node affinity', () => {
  const term = (key: string, value: string) => ({
    matchExpressions: [{ key, operator: 'In', values: [value] }],
  });
  const nodeSelectorTerms = [term('rack', 'r1'), term('pool', 'spot')];
  const affinity = {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  };
  const keys = () => built().needs.map(({ requirements }) => requirements[0]?.key);
  const published = (key: string, value: string, availableCount: number, costPerHour: number) => {
    const requirements = requirementsToWire([{ key, operator: 1, values: [value] }]);
    demand.availableCapacity({ requirements, availableCount, costPerHour });
  };
  beforeEach(listAll);

  it('given no prices, then pods ask for the first one, and move on when it stays short', async () => {
    list('pods', pod('a', { affinity }));
    expect(keys()).toEqual(['rack']);
    await clock.advance(PATIENCE_MS - 1);
    expect(keys()).toEqual(['rack']);
    await clock.advance(1);
    expect(keys()).toEqual(['pool']);
    await clock.advance(PATIENCE_MS);
    expect(keys()).toEqual(['rack']);
  });

  it('given published capacity, then the cheapest that is available is first', () => {
    published('rack', 'r1', 3, 2);
    published('pool', 'spot', 3, 0.5);
    list('pods', pod('a', { affinity }));
    expect(keys()).toEqual(['pool']);
  });

  it('given a row that the shard has satisfied, then pods wait for its machines', async () => {
    list('pods', pod('a', { affinity }));
    keys();
    const [{ row } = { row: { fingerprint: '', group: '' } }] = [...demand.pendingPods()];
    const verdict = {
      profileFingerprint: row.fingerprint,
      group: row.group,
      satisfied: true,
      removed: false,
    };
    demand.needVerdicts({ cycle: 1n, full: true, verdicts: [verdict] } as unknown as Parameters<
      Demand['needVerdicts']
    >[0]);
    await clock.advance(10 * PATIENCE_MS);
    expect(keys()).toEqual(['rack']);
  });

  it('given pods that run, then they count for the alternative that their node meets', () => {
    demand.consumers.nodes.set({ metadata: { name: 'node-1', labels: { pool: 'spot' } } });
    list('pods', pod('a', { affinity, nodeName: 'node-1' }));
    expect(keys()).toEqual(['pool']);
    demand.consumers.nodes.remove({ metadata: { name: 'node-1' } });
    expect(keys()).toEqual(['rack']);
  });
});

describe('views', () => {
  beforeEach(listAll);

  it('given a pod that waits, then it has its row, its amounts, its time and what cannot be expressed', () => {
    const podAntiAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: ZONE }] };
    list('pods', pod('a', { affinity: { podAntiAffinity } }));
    const [pending] = [...demand.pendingPods()];
    expect(pending).toMatchObject({
      namespace: 'team',
      name: 'a',
      uid: 'uid-a',
      unschedulableSinceMs: Date.parse(SINCE),
    });
    expect(pending?.remarks.join()).toContain('anti-affinity');
    expect(demand.podsIn(pending!.row)).toBe(1);
  });

  it('given an absurd request, a missing claim or an unreadable pod, then the others count and the reason is known', () => {
    const containers = [{ name: 'main', resources: { requests: { cpu: '99999999999999999' } } }];
    const volumes = [{ name: 'v', persistentVolumeClaim: { claimName: 'gone' } }];
    list('pods', pod('absurd', { containers }), pod('claims', { volumes }), pod('good'));
    demand.consumers.pods.set({ metadata: { name: 'broken', namespace: 'team' } } as Pod);
    demand.consumers.pods.set({} as Pod);
    expect(built().amounts).toEqual([{ sum: { cpu: '1' }, unit: { cpu: '1' } }]);
    expect([...demand.quarantined()].map(({ name, problem }) => [name, problem])).toEqual([
      ['absurd', expect.stringContaining('too large')],
      ['claims', 'It waits for the claim team/gone, which does not exist.'],
    ]);
    expect(demand.counts.unreadable).toBe(2);
    demand.consumers.persistentvolumeclaims.set({ metadata: { name: 'gone', namespace: 'team' }, spec: {} });
    expect(built().amounts[0]?.sum).toEqual({ cpu: '2' });
  });

  it('given an event of a pod that cannot be read, then what was known of it stays', () => {
    list('pods', pod('a'));
    demand.consumers.pods.set({ ...pod('a'), spec: null } as unknown as Pod);
    expect(built().rows).toBe(1);
  });

  it('given a volume that moves to another zone, then the row of its pod follows', () => {
    const volume = (zone: string) => ({
      metadata: { name: 'pv' },
      spec: {
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: ZONE, operator: 'In', values: [zone] }] }],
          },
        },
      },
    });
    demand.consumers.persistentvolumeclaims.set({
      metadata: { name: 'c', namespace: 'team' },
      spec: { volumeName: 'pv' },
    });
    list('persistentvolumes', volume('a'));
    list('pods', pod('p', { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] }));
    const zones = () =>
      built().needs.flatMap(({ requirements }) => requirements.flatMap(({ values }) => values));
    expect(zones()).toEqual(['a']);
    demand.consumers.persistentvolumes.set(volume('b'));
    expect(zones()).toEqual(['b']);
  });

  it('given annotations and budgets, then the use of a node says what protects it', () => {
    demand.consumers.nodes.set({ metadata: { name: 'node-1' } });
    const labels = { app: 'db' };
    list(
      'pods',
      pod('plain', { nodeName: 'node-1' }),
      pod('db', { nodeName: 'node-1' }, { labels }),
      pod(
        'batch',
        { nodeName: 'node-1' },
        { annotations: { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false' } },
      ),
      pod('leaving', { nodeName: 'node-1' }, { labels, deletionTimestamp: SINCE }),
      pod('agent', { nodeName: 'node-1' }, owned('agent', 'DaemonSet')),
    );
    expect(demand.useOf('node-1')).toEqual({ pods: 4, doNotDisrupt: 1, withoutBudget: 0 });
    const budget = (disruptionsAllowed: number) => ({
      metadata: { name: 'db', namespace: 'team' },
      spec: { selector: { matchLabels: labels } },
      status: { disruptionsAllowed },
    });
    demand.consumers.poddisruptionbudgets.set(budget(0));
    expect(demand.useOf('node-1')?.withoutBudget).toBe(1);
    demand.consumers.poddisruptionbudgets.set(budget(1));
    expect(demand.useOf('node-1')?.withoutBudget).toBe(0);
    expect(demand.useOf('node-9')).toBeNull();
  });

  it('given pods that the eviction API releases without room, then their budget does not protect the node', () => {
    demand.consumers.nodes.set({ metadata: { name: 'node-1' } });
    const labels = { app: 'db' };
    const budget = (name: string, currentHealthy: number, unhealthyPodEvictionPolicy?: string) =>
      demand.consumers.poddisruptionbudgets.set({
        metadata: { name, namespace: 'team' },
        spec: { selector: { matchLabels: labels }, unhealthyPodEvictionPolicy },
        status: { disruptionsAllowed: 0, currentHealthy, desiredHealthy: 2 },
      } as never);
    const withoutBudget = (phase: string, ready: string) => {
      const conditions = [{ type: 'Ready', status: ready }];
      list('pods', {
        ...pod('db', { nodeName: 'node-1' }, { labels }),
        status: { phase, conditions },
      } as never);
      return demand.useOf('node-1')?.withoutBudget;
    };
    budget('db', 2);
    expect(withoutBudget('Pending', 'False')).toBe(0);
    expect(withoutBudget('Running', 'True')).toBe(1);
    expect(withoutBudget('Running', 'False')).toBe(0);
    budget('db', 1);
    expect(demand.useOf('node-1')?.withoutBudget).toBe(1);
    budget('db', 1, 'AlwaysAllow');
    expect(demand.useOf('node-1')?.withoutBudget).toBe(0);
    // Of several budgets the eviction API refuses every running pod.
    budget('all', 2);
    expect(demand.useOf('node-1')?.withoutBudget).toBe(1);
  });
});
