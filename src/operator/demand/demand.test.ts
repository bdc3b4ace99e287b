// Demand through its public surface: consumers in, roll-ups and views out. Which pods count is in the property test of
// test/operator; here are the cases that need a story: gaps in what is known, overhead of nodes, acknowledgements.

import { beforeEach, describe, expect, it } from 'vitest';
import { DemandScene, NO_PARTS, owned, pod, SINCE, ZONE } from '../../../testing/support/demand-scene.ts';
import type { NodeFacts } from '../../wire/gen/bigfleet/v1alpha1/capacity.ts';
import type { CapacityRequest } from '../kube/objects.ts';

let scene: DemandScene;
let clock: DemandScene['clock'];
let managed: DemandScene['managed'];
let demand: DemandScene['demand'];
const list: DemandScene['list'] = (kind, ...objects) => scene.list(kind, ...objects);
const built: DemandScene['built'] = (...given) => scene.built(...given);

beforeEach(() => {
  scene = new DemandScene();
  ({ clock, managed, demand } = scene);
});

describe('a roll-up before its interval is over', () => {
  it('given lists, then it is asked for once the last one is complete', () => {
    const { kinds } = scene;
    for (const kind of kinds.slice(0, -2)) list(kind);
    expect(scene.urgent).toBe(0);
    for (const kind of kinds.slice(-2)) list(kind);
    expect(scene.urgent).toBeGreaterThan(0);
  });

  it('given a pod that begins to wait, then it is asked for once; pods that run or wait on do not ask for one', () => {
    scene.listAll();
    scene.urgent = 0;
    demand.consumers.pods.set(pod('web-1'));
    expect(scene.urgent).toBe(1);
    demand.consumers.pods.set(pod('web-1', {}, { labels: { changed: 'yes' } }));
    demand.consumers.pods.set(pod('web-1', { nodeName: 'node-1' }));
    demand.consumers.pods.set(pod('web-2', { nodeName: 'node-1' }));
    demand.consumers.pods.remove(pod('web-2'));
    expect(scene.urgent).toBe(1);
  });
});

describe('a picture that is not complete', () => {
  it('given one resource that was never listed, then there is no roll-up, and the problem names it', () => {
    for (const kind of scene.kinds) if (kind !== 'capacityrequests') list(kind);
    expect(demand.build(1n, NO_PARTS)).toBeNull();
    expect(demand.problem).toContain('capacityrequests');
    list('capacityrequests');
    expect(built().rows).toBe(0);
    expect(demand.problem).toBeNull();
  });

  it('given a lost watch, then the last roll-up is repeated with a new time until the watch is back', () => {
    const state = { isCurrent: true, hasListed: true, problem: null as string | null };
    demand.observe('pods', state);
    scene.listAll();
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
    scene.listAll();
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
  beforeEach(() => void scene.listAll());

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

  it('given DaemonSet pods that opt out, alone or with their namespace, then they count with their node all the same', () => {
    demand.consumers.nodes.set({ metadata: { name: 'node-1' } });
    const ignore = { 'bigfleet.lucy.sh/ignore': 'true' };
    const agent = owned('agent', 'DaemonSet');
    list('namespaces', { metadata: { name: 'system', labels: ignore } });
    list(
      'pods',
      pod('a', { nodeName: 'node-1' }),
      pod('alone', { nodeName: 'node-1' }, { ...agent, labels: ignore }),
      pod('with', { nodeName: 'node-1' }, { ...agent, namespace: 'system' }),
    );
    expect(built().amounts).toEqual([{ sum: { cpu: '3' }, unit: { cpu: '1' } }]);
  });

  it('given a node whose DaemonSet pods request nothing, then a row that is left and returns before a roll-up stays', () => {
    const idle = { containers: [{ name: 'proxy' }], nodeName: 'node-1' };
    const sized = (name: string, cpu: string, priority = 0) =>
      pod(name, {
        containers: [{ name: 'main', resources: { requests: { cpu } } }],
        nodeName: 'node-1',
        priority,
      });
    demand.consumers.nodes.set({ metadata: { name: 'node-1' } });
    list('pods', sized('db', '1'), pod('proxy', idle, owned('proxy', 'DaemonSet')));
    expect(built().amounts).toEqual([{ sum: { cpu: '1' }, unit: { cpu: '1' } }]);
    // A resize of the only pod of the row.
    demand.consumers.pods.set(sized('db', '3'));
    expect(built().amounts).toEqual([{ sum: { cpu: '3' }, unit: { cpu: '3' } }]);
    // One that is made again under its name, with a row of another number in between.
    demand.consumers.pods.remove(sized('db', '3'));
    demand.consumers.pods.set(sized('other', '5', 7));
    demand.consumers.pods.set({
      ...sized('db', '2'),
      metadata: { name: 'db', namespace: 'team', uid: 'new' },
    });
    expect(built().amounts.map(({ sum }) => sum)).toEqual([{ cpu: '5' }, { cpu: '2' }]);
    expect(built().amounts).toHaveLength(2);
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
  beforeEach(() => void scene.listAll());

  it('given a new request, then it counts and is returned for acknowledgement once', () => {
    list('capacityrequests', request('a'), request('b', 'Acknowledged'));
    expect(built()).toMatchObject({
      amounts: [{ sum: { cpu: '4' } }],
      acknowledge: [{ namespace: 'team', name: 'a' }],
    });
    demand.consumers.capacityrequests.set(request('a'));
    expect(built().acknowledge).toEqual([]);
  });

  it('given an acknowledgement that was never written, then the request is returned again after a while', async () => {
    list('capacityrequests', request('a'));
    const names = () => built().acknowledge.map(({ name }) => name);
    expect(names()).toEqual(['a']);
    await clock.advance(5 * 60_000 - 1);
    expect(names()).toEqual([]);
    await clock.advance(1);
    expect(names()).toEqual(['a']);
    demand.consumers.capacityrequests.set(request('a', 'Acknowledged'));
    await clock.advance(60 * 60_000);
    expect(names()).toEqual([]);
    // Its producer has put it back.
    demand.consumers.capacityrequests.set(request('a', 'Pending'));
    expect(names()).toEqual(['a']);
  });

  it('given a new term, then requests whose status does not say Acknowledged are returned at once', () => {
    list('capacityrequests', request('a'), request('b'));
    expect(built().acknowledge).toHaveLength(2);
    demand.consumers.capacityrequests.set(request('b', 'Acknowledged'));
    demand.newTerm();
    expect(built().acknowledge.map(({ name }) => name)).toEqual(['a']);
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

describe('views', () => {
  beforeEach(() => void scene.listAll());

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

  it('given a change of a pod, a node or a budget, then only the nodes concerned are said to have changed', () => {
    const { nodes, poddisruptionbudgets } = demand.consumers;
    const labels = { app: 'db' };
    const budget = (disruptionsAllowed: number, unrelated = {}) =>
      poddisruptionbudgets.set({
        metadata: { name: 'db', namespace: 'team', ...unrelated },
        spec: { selector: { matchLabels: labels } },
        status: { disruptionsAllowed },
      });
    const changed = () => [...demand.takeChangedUse()].sort();
    for (const name of ['node-1', 'node-2', 'node-3']) nodes.set({ metadata: { name } });
    list('pods', pod('db', { nodeName: 'node-1' }, { labels }), pod('web', { nodeName: 'node-2' }));
    expect(changed()).toEqual(['node-1', 'node-2', 'node-3']);
    budget(0);
    expect(changed()).toEqual(['node-1']);
    budget(0, { resourceVersion: '2' });
    expect(changed()).toEqual([]);
    budget(1);
    expect(changed()).toEqual(['node-1']);
    nodes.remove({ metadata: { name: 'node-3' } });
    list('pods', pod('db', { nodeName: 'node-1' }, { labels }));
    expect(changed()).toEqual(['node-2', 'node-3']);
  });
});

describe('all pods, for an assessment', () => {
  beforeEach(() => void scene.listAll());

  it('given pods that run, wait, end and belong to others, then those that count are named with row and remarks', () => {
    const term = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'db' } } };
    const apart = {
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
    };
    list(
      'pods',
      pod('runs', { nodeName: 'node-1', ...apart }),
      pod('waits'),
      pod('elsewhere', { nodeName: 'node-2' }),
      pod('agent', { nodeName: 'node-1' }, owned('agent', 'DaemonSet')),
      pod('odd', {
        nodeName: 'node-1',
        containers: [{ name: 'main', resources: { requests: { cpu: 'x' } } }],
      }),
    );
    const found = new Map([...demand.countedPods()].map((each) => [each.uid, each]));
    expect([...found.keys()].sort()).toEqual(['uid-odd', 'uid-runs', 'uid-waits']);
    expect(found.get('uid-runs')).toMatchObject({ problem: null, resources: new Map([['cpu', 1000]]) });
    expect(found.get('uid-runs')!.row).not.toBeNull();
    expect(found.get('uid-runs')!.remarks).toHaveLength(1);
    expect(found.get('uid-waits')!.remarks).toEqual([]);
    expect(found.get('uid-odd')).toMatchObject({
      row: null,
      problem: expect.stringContaining('not a quantity'),
    });
  });

  it('given a DaemonSet, then its requests on a fresh node are known for each row', () => {
    const template = { spec: { containers: [{ name: 'main', resources: { requests: { cpu: '1' } } }] } };
    list('daemonsets', { metadata: { name: 'agent', namespace: 'team' }, spec: { template } } as never);
    list('pods', pod('a', { nodeName: 'node-1' }));
    const [counted] = [...demand.countedPods()];
    expect(demand.daemonsOnFreshNode(counted!.row!.fingerprint)).toEqual(new Map([['cpu', 1000]]));
    expect(demand.daemonsOnFreshNode('unknown')).toEqual(new Map());
  });
});
