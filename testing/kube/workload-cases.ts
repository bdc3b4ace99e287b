// Workloads on both control planes: server-side apply, custom resources, evictions with budgets, and what scheduler,
// controllers and fake kubelets do together. Declared by test/kube/*.test.ts.

import { expect } from 'vitest';
import {
  applyObject,
  EventRecorder,
  evictPod,
  type KubeObject,
  type Node,
  type Pod,
  type PodDisruptionBudget,
  pathOf,
  RESOURCES,
} from '../../src/operator/kube/index.ts';
import { eventually } from './control-plane.ts';
import { FakeKubelets, type KubeletOptions, type Machine } from './kubelet.ts';
import { type ConfigMap, configMaps, failureOf, podBody, pods } from './shared-cases.ts';
import type { Case, CaseContext } from './suite.ts';

type Things = Readonly<Record<string, unknown>> & KubeObject;

/** Nodes of one case have a label, so that pods of other cases do not run on them. */
function machine({ prefix }: CaseContext, index: number, more: Partial<Machine> = {}): Machine {
  const name = `${prefix}-n${index}`;
  return {
    name,
    providerID: `fake://${name}`,
    taints: [],
    capacity: { cpu: '4', memory: '8Gi' },
    ...more,
    labels: { case: prefix, ...more.labels },
  };
}

function kubelets(context: CaseContext, options: Partial<KubeletOptions> = {}): FakeKubelets {
  const fleet = new FakeKubelets({ client: context.plane.admin, ...options });
  fleet.start();
  context.defer(async () => {
    for (const name of fleet.nodeNames) await fleet.terminate(name);
    await fleet.stop();
  });
  return fleet;
}

function requests(cpu: string, more: object = {}): object {
  return { containers: [{ name: 'main', image: 'fake', resources: { requests: { cpu } } }], ...more };
}

function deployment(context: CaseContext, name: string, replicas: number, cpu = '500m', more: object = {}) {
  const labels = { app: name };
  const spec = requests(cpu, {
    nodeSelector: { case: context.prefix },
    terminationGracePeriodSeconds: 0,
    ...more,
  });
  return {
    metadata: { name },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  };
}

async function list(context: CaseContext, selector: string): Promise<readonly Pod[]> {
  const query = { labelSelector: selector };
  return (await context.plane.admin.list<Pod>(pods(context), { query })).items;
}

function isReady({ status, metadata }: Pod): boolean {
  const ready = (status?.conditions ?? []).some((each) => each.type === 'Ready' && each.status === 'True');
  return ready && metadata.deletionTimestamp === undefined;
}

async function readyPods(context: CaseContext, selector: string, count: number): Promise<readonly Pod[]> {
  let found: readonly Pod[] = [];
  await eventually(`${count} pods with ${selector} are ready`, async () => {
    found = await list(context, selector);
    return found.length === count && found.every(isReady);
  });
  return found;
}

async function scheduledReason(context: CaseContext, name: string): Promise<string | undefined> {
  const { status } = await context.plane.admin.get<Pod>(pods(context, name));
  return status?.conditions?.find(({ type }) => type === 'PodScheduled')?.reason;
}

const DEPLOYMENTS = (namespace: string, name?: string): string =>
  pathOf(RESOURCES.deployments, { namespace, name });

function definition(plural: string, group: string): KubeObject {
  const schema = {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} }, schema }],
    },
  } as unknown as KubeObject;
}

const OBJECTS: readonly Case[] = [
  {
    title: 'given server-side apply, then fields that are no longer applied go, and others stay',
    run: async (context) => {
      const { plane, namespace } = context;
      const apply = (data: object, fieldManager: string, force = false) =>
        applyObject<ConfigMap>(
          plane.admin,
          RESOURCES.configMaps,
          { metadata: { name: 'a', namespace }, data },
          { fieldManager, force },
        );
      await apply({ x: '1', y: '1' }, 'one');
      await apply({ z: '1' }, 'two');
      expect((await apply({ x: '2' }, 'one')).data).toEqual({ x: '2', z: '1' });
      const error = await failureOf(apply({ x: '3' }, 'two'));
      expect(error).toMatchObject({
        status: 409,
        reason: 'Conflict',
        causes: [{ reason: 'FieldManagerConflict' }],
      });
      expect((await apply({ x: '3' }, 'two', true)).data).toEqual({ x: '3' });
      // The first owner lost the field, and gets it back only by force.
      expect((await failureOf(apply({ x: '4' }, 'one'))).isConflict).toBe(true);
      const same = await apply({ x: '3' }, 'two');
      expect((await apply({ x: '3' }, 'two')).metadata.resourceVersion).toBe(same.metadata.resourceVersion);
      await plane.admin.patch(configMaps(context, 'a'), 'merge', { data: { w: '1' } });
      expect((await apply({ x: '3' }, 'two')).data).toEqual({ x: '3', w: '1' });
    },
  },
  {
    title: 'given apply without a field manager, then it is refused',
    run: async (context) => {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
      const error = await failureOf(context.plane.admin.patch(configMaps(context, 'a'), 'apply', body));
      expect([400, 422]).toContain(error.status);
    },
  },
  {
    title: 'given a custom resource with status, then spec and status are written separately',
    run: async (context) => {
      const { plane, namespace } = context;
      const group = `${context.prefix}.example.com`;
      const collection = `/apis/${group}/v1/namespaces/${namespace}/things`;
      expect((await failureOf(plane.admin.list(collection))).isNotFound).toBe(true);
      await plane.apply([definition('things', group)]);
      context.defer(() =>
        plane.admin.delete(pathOf(RESOURCES.customResourceDefinitions, { name: `things.${group}` })),
      );
      const thing = {
        apiVersion: `${group}/v1`,
        kind: 'Thing',
        metadata: { name: 'a' },
        spec: { size: 1 },
        status: { phase: 'X' },
      };
      const created = await plane.admin.create<Things>(collection, thing);
      expect(created['status']).toBeUndefined();
      expect(created.metadata).toMatchObject({ generation: 1 });
      const patch = { spec: { size: 2 }, status: { phase: 'Y' } };
      const main = await plane.admin.patch<Things>(`${collection}/a`, 'merge', patch);
      expect(main).toMatchObject({ spec: { size: 2 }, metadata: { generation: 2 } });
      expect(main['status']).toBeUndefined();
      const status = await plane.admin.patch<Things>(`${collection}/a/status`, 'merge', {
        spec: { size: 3 },
        status: { phase: 'Z' },
      });
      expect(status).toMatchObject({
        spec: { size: 2 },
        status: { phase: 'Z' },
        metadata: { generation: 2 },
      });
      const { resourceVersion: _version, ...metadata } = status.metadata;
      expect((await failureOf(plane.admin.update(`${collection}/a`, { ...status, metadata }))).status).toBe(
        422,
      );
      const { items } = await plane.admin.list<Things>(collection);
      expect(items).toMatchObject([{ kind: 'Thing', apiVersion: `${group}/v1`, metadata: { name: 'a' } }]);
    },
  },
  {
    title: 'given an Event recorder, then it writes changes only and continues a series',
    run: async ({ plane, namespace }) => {
      const limits = { repeatMs: 0 };
      const recorder = new EventRecorder({
        client: plane.admin,
        controller: 'bigfleet.lucy.sh/operator',
        instance: 'a',
        limits,
      });
      const other = new EventRecorder({
        client: plane.admin,
        controller: 'bigfleet.lucy.sh/operator',
        instance: 'b',
      });
      const regarding = { apiVersion: 'v1', kind: 'Pod', namespace, name: 'a', uid: 'u1' };
      const event = {
        regarding,
        type: 'Normal',
        reason: 'Waiting',
        action: 'Wait',
        note: 'for 2 machines',
      } as const;
      recorder.record(event);
      await eventually('it is written', () => recorder.counters.written === 1);
      recorder.record(event);
      await eventually('it is continued', () => recorder.counters.written === 2);
      // Another process continues the series too.
      other.record(event);
      await eventually('the other has written', () => other.counters.written === 1);
      other.record(event);
      expect(other.counters).toMatchObject({ unchanged: 1 });
      other.record({ ...event, note: 'for 1 machine' });
      await eventually('the change is written', () => other.counters.written === 2);
      expect([recorder.problem, other.problem]).toEqual([null, null]);
      const { items } = await plane.admin.list<Things>(pathOf(RESOURCES.events, { namespace }));
      expect(items.map(({ note }) => note as string).toSorted()).toEqual(['for 1 machine', 'for 2 machines']);
      expect(items.find(({ note }) => note === 'for 2 machines')).toMatchObject({ series: { count: 2 } });
    },
  },
];

const PLACEMENT: readonly Case[] = [
  {
    title: 'given no node that fits, then a pod is Unschedulable, and runs when a node boots',
    run: async (context) => {
      const fleet = kubelets(context);
      const { admin } = context.plane;
      await admin.create(
        pods(context),
        podBody('a', requests('3', { nodeSelector: { case: context.prefix } })),
      );
      await eventually('it is marked', async () => (await scheduledReason(context, 'a')) === 'Unschedulable');
      await fleet.boot(machine(context, 1, { capacity: { cpu: '2', memory: '4Gi' } }));
      await fleet.boot(machine(context, 2));
      await eventually('it runs', async () => isReady(await admin.get<Pod>(pods(context, 'a'))));
      const pod = await admin.get<Pod>(pods(context, 'a'));
      expect(pod.spec.nodeName).toBe(`${context.prefix}-n2`);
      expect(pod.status?.phase).toBe('Running');
      const node = await admin.get<Node>(pathOf(RESOURCES.nodes, { name: `${context.prefix}-n2` }));
      expect(node.spec?.providerID).toBe(`fake://${context.prefix}-n2`);
    },
  },
  {
    title: 'given a node that is too small, then the message counts nodes and names the resource',
    run: async (context) => {
      const fleet = kubelets(context);
      const { admin } = context.plane;
      await fleet.boot(machine(context, 1));
      await admin.create(
        pods(context),
        podBody('a', requests('64', { nodeSelector: { case: context.prefix } })),
      );
      const message = async () =>
        (await admin.get<Pod>(pods(context, 'a'))).status?.conditions?.find(
          ({ type }) => type === 'PodScheduled',
        )?.message ?? '';
      await eventually('it is marked', async () => (await message()).includes('Insufficient cpu'));
      expect(await message()).toMatch(/^0\/\d+ nodes are available: (.+, )?\d+ Insufficient cpu/);
    },
  },
  {
    title: 'given taints, selectors, affinity and cordons, then each pod runs where it fits or waits',
    run: async (context) => {
      const fleet = kubelets(context);
      const { admin } = context.plane;
      const zone = 'topology.kubernetes.io/zone';
      await fleet.boot(machine(context, 1, { labels: { [zone]: 'z1', tier: 'gold', gen: '5' } }));
      await fleet.boot(
        machine(context, 2, {
          labels: { [zone]: 'z2' },
          taints: [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }],
        }),
      );
      await fleet.boot(machine(context, 3, { labels: { [zone]: 'z3' } }));
      await admin.patch(pathOf(RESOURCES.nodes, { name: `${context.prefix}-n3` }), 'merge', {
        spec: { unschedulable: true },
      });
      const affinity = (...terms: readonly (readonly object[])[]) => ({
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: terms.map((matchExpressions) => ({ matchExpressions })),
            },
          },
        },
      });
      const own = { nodeSelector: { case: context.prefix } };
      const expected: readonly (readonly [string, object, string | null])[] = [
        ['plain', {}, 'n1'],
        [
          'tolerant',
          {
            tolerations: [{ key: 'gpu', operator: 'Exists' }],
            nodeSelector: { ...own.nodeSelector, [zone]: 'z2' },
          },
          'n2',
        ],
        [
          'wrong-value',
          { tolerations: [{ key: 'gpu', value: 'no' }], nodeSelector: { ...own.nodeSelector, [zone]: 'z2' } },
          null,
        ],
        ['cordoned', { nodeSelector: { ...own.nodeSelector, [zone]: 'z3' } }, null],
        ['not-in', affinity([{ key: 'tier', operator: 'NotIn', values: ['gold'] }]), null],
        ['greater', affinity([{ key: 'gen', operator: 'Gt', values: ['4'] }]), 'n1'],
        ['less', affinity([{ key: 'gen', operator: 'Lt', values: ['5'] }]), null],
        [
          'second-term',
          affinity([{ key: 'tier', operator: 'DoesNotExist' }], [{ key: 'tier', operator: 'Exists' }]),
          'n1',
        ],
        [
          'both-keys',
          affinity([
            { key: 'tier', operator: 'Exists' },
            { key: 'none', operator: 'Exists' },
          ]),
          null,
        ],
      ];
      for (const [name, spec] of expected)
        await admin.create(pods(context), podBody(name, requests('100m', { ...own, ...spec })));
      for (const [name, , node] of expected) {
        if (node === null) {
          await eventually(
            `${name} waits`,
            async () => (await scheduledReason(context, name)) === 'Unschedulable',
          );
          continue;
        }
        await eventually(`${name} runs`, async () => isReady(await admin.get<Pod>(pods(context, name))));
        expect((await admin.get<Pod>(pods(context, name))).spec.nodeName).toBe(`${context.prefix}-${node}`);
      }
    },
  },
  {
    title: 'given anti-affinity, affinity to a zone and hard spread, then pods are placed by them',
    run: async (context) => {
      const fleet = kubelets(context);
      const { admin } = context.plane;
      const zone = 'topology.kubernetes.io/zone';
      for (const index of [1, 2, 3])
        await fleet.boot(machine(context, index, { labels: { [zone]: index === 3 ? 'z2' : 'z1' } }));
      const term = (app: string, topologyKey: string) => ({
        requiredDuringSchedulingIgnoredDuringExecution: [
          { labelSelector: { matchLabels: { app } }, topologyKey },
        ],
      });
      const own = { nodeSelector: { case: context.prefix } };
      const alone = { ...own, affinity: { podAntiAffinity: term('alone', 'kubernetes.io/hostname') } };
      const gang = { ...own, affinity: { podAffinity: term('gang', zone) } };
      const spread = {
        ...own,
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: zone,
            whenUnsatisfiable: 'DoNotSchedule',
            labelSelector: { matchLabels: { app: 'spread' } },
          },
        ],
      };
      for (const [app, spec, count] of [
        ['alone', alone, 3],
        ['gang', gang, 3],
        ['spread', spread, 4],
      ] as const)
        for (let i = 0; i < count; i++)
          await admin.create(pods(context), podBody(`${app}-${i}`, requests('100m', spec), { app }));
      const zoneOf = ({ spec }: Pod): string => (spec.nodeName?.endsWith('n3') === true ? 'z2' : 'z1');
      const singles = await readyPods(context, 'app=alone', 3);
      expect(new Set(singles.map(({ spec }) => spec.nodeName)).size).toBe(3);
      const members = await readyPods(context, 'app=gang', 3);
      expect(new Set(members.map(zoneOf)).size).toBe(1);
      const even = await readyPods(context, 'app=spread', 4);
      expect(even.filter((pod) => zoneOf(pod) === 'z1').length).toBe(2);
      await admin.create(pods(context), podBody('alone-3', requests('100m', alone), { app: 'alone' }));
      await eventually(
        'the fourth waits',
        async () => (await scheduledReason(context, 'alone-3')) === 'Unschedulable',
      );
    },
  },
  {
    title: 'given a Deployment, then it scales up and down and rolls over to a new template',
    run: async (context) => {
      const fleet = kubelets(context);
      const { plane, namespace } = context;
      await fleet.boot(machine(context, 1));
      await plane.admin.create(DEPLOYMENTS(namespace), deployment(context, 'web', 3));
      const before = await readyPods(context, 'app=web', 3);
      expect(before[0]?.metadata.ownerReferences).toMatchObject([{ kind: 'ReplicaSet', controller: true }]);
      await plane.admin.patch(DEPLOYMENTS(namespace, 'web'), 'merge', { spec: { replicas: 1 } });
      await readyPods(context, 'app=web', 1);
      const containers = [{ name: 'main', image: 'next', resources: { requests: { cpu: '600m' } } }];
      await plane.admin.patch(DEPLOYMENTS(namespace, 'web'), 'merge', {
        spec: { replicas: 2, template: { spec: { containers } } },
      });
      await eventually('the new template runs', async () => {
        const now = await list(context, 'app=web');
        return (
          now.length === 2 &&
          now.every((pod) => isReady(pod) && pod.spec.containers[0]?.resources?.requests?.['cpu'] === '600m')
        );
      });
      await plane.admin.delete(DEPLOYMENTS(namespace, 'web'), { propagationPolicy: 'Background' });
      await eventually('its pods are gone', async () => (await list(context, 'app=web')).length === 0);
    },
  },
  {
    title: 'given a DaemonSet, then each node gets one pod, a cordoned one too',
    run: async (context) => {
      const fleet = kubelets(context);
      const { plane, namespace } = context;
      const labels = { app: 'agent' };
      const spec = requests('100m', { nodeSelector: { case: context.prefix } });
      const set = {
        metadata: { name: 'agent' },
        spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
      };
      await fleet.boot(machine(context, 1));
      await plane.admin.patch(pathOf(RESOURCES.nodes, { name: `${context.prefix}-n1` }), 'merge', {
        spec: { unschedulable: true },
      });
      await plane.admin.create(pathOf(RESOURCES.daemonSets, { namespace }), set);
      await readyPods(context, 'app=agent', 1);
      await fleet.boot(machine(context, 2));
      const both = await readyPods(context, 'app=agent', 2);
      expect(both[0]?.metadata.ownerReferences).toMatchObject([{ kind: 'DaemonSet', controller: true }]);
    },
  },
];

const EVICTIONS: readonly Case[] = [
  {
    title: 'given a budget with room for one, then the second eviction waits until the first is replaced',
    run: async (context) => {
      let isHeld = false;
      const fleet = kubelets(context, { isReady: () => !isHeld });
      const { plane, namespace } = context;
      await fleet.boot(machine(context, 1));
      await plane.admin.create(DEPLOYMENTS(namespace), deployment(context, 'web', 3));
      const [first, second] = await readyPods(context, 'app=web', 3);
      const path = pathOf(RESOURCES.podDisruptionBudgets, { namespace });
      await plane.admin.create(path, {
        metadata: { name: 'web' },
        spec: { minAvailable: 2, selector: { matchLabels: { app: 'web' } } },
      });
      await eventually('the budget has room', async () => {
        const { status } = await plane.admin.get<PodDisruptionBudget>(`${path}/web`);
        return status?.disruptionsAllowed === 1;
      });
      isHeld = true;
      const evict = (pod: Pod, options = {}) =>
        evictPod(plane.admin, { namespace, name: pod.metadata.name, uid: pod.metadata.uid! }, options);
      expect(await evict(first!, { dryRun: true })).toEqual({ kind: 'evicted' });
      expect(await evict(first!)).toEqual({ kind: 'evicted' });
      const message = 'The disruption budget web needs 2 healthy pods and has 2 currently';
      // Once the controller has counted the pod that left.
      await eventually('the second is blocked', async () => {
        const outcome = await evict(second!, { dryRun: true });
        return outcome.kind === 'blocked' && outcome.message === message;
      });
      expect(await evict(second!)).toEqual({ kind: 'blocked', budget: 'web', message });
      const body = {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name: second!.metadata.name, namespace },
      };
      const error = await failureOf(
        plane.admin.create(`${pods(context, second!.metadata.name)}/eviction`, body),
      );
      expect(error).toMatchObject({
        status: 429,
        reason: 'TooManyRequests',
        isDisruptionBudget: true,
        retryAfterMs: null,
      });
      expect(error.message).toContain("Cannot evict pod as it would violate the pod's disruption budget.");
      isHeld = false;
      // Pods that are not ready are looked at again when they change.
      for (const pod of await list(context, 'app=web'))
        await plane.admin.patch(pods(context, pod.metadata.name), 'merge', {
          metadata: { annotations: { look: 'again' } },
        });
      await eventually('the second is evicted', async () => (await evict(second!)).kind === 'evicted');
    },
  },
  {
    title: 'given a pod that never ran, then it is evicted freely; a missing or replaced one is gone',
    run: async (context) => {
      const { plane, namespace } = context;
      const path = pathOf(RESOURCES.podDisruptionBudgets, { namespace });
      await plane.admin.create(path, {
        metadata: { name: 'all' },
        spec: { maxUnavailable: 0, selector: {} },
      });
      const gates = [{ name: 'example.com/wait' }];
      await plane.admin.create(pods(context), podBody('a', { schedulingGates: gates }));
      const uid = '00000000-0000-0000-0000-000000000000';
      expect(await evictPod(plane.admin, { namespace, name: 'a', uid })).toEqual({ kind: 'gone' });
      expect(await evictPod(plane.admin, { namespace, name: 'a' })).toEqual({ kind: 'evicted' });
      expect(await evictPod(plane.admin, { namespace, name: 'a' })).toEqual({ kind: 'gone' });
    },
  },
  {
    title:
      'given a pod that is not ready, then its budget releases it if enough others are, or by its policy',
    run: async (context) => {
      const fleet = kubelets(context, { isReady: ({ metadata }) => metadata.labels?.['broken'] !== 'yes' });
      const { plane, namespace } = context;
      await fleet.boot(machine(context, 1));
      const path = pathOf(RESOURCES.podDisruptionBudgets, { namespace });
      for (const [name, spec] of [
        ['enough', { minAvailable: 1 }],
        ['too-few', { minAvailable: 2 }],
        ['always', { minAvailable: 2, unhealthyPodEvictionPolicy: 'AlwaysAllow' }],
      ] as const) {
        const labels = { app: name };
        await plane.admin.create(path, {
          metadata: { name },
          spec: { ...spec, selector: { matchLabels: labels } },
        });
        for (const [pod, more] of [
          [`${name}-good`, labels],
          [`${name}-broken`, { ...labels, broken: 'yes' }],
        ] as const) {
          const body = podBody(pod) as { readonly metadata: object };
          await plane.admin.create(pods(context), { ...body, metadata: { ...body.metadata, labels: more } });
        }
        await readyPods(context, `app=${name},broken!=yes`, 1);
        await eventually('the budget counts the healthy pod and has no room', async () => {
          const { status } = await plane.admin.get<PodDisruptionBudget>(`${path}/${name}`);
          return status?.currentHealthy === 1 && status.disruptionsAllowed === 0;
        });
        await eventually('the other pod runs', async () => {
          const { status } = await plane.admin.get<Pod>(pods(context, `${name}-broken`));
          return status?.phase === 'Running';
        });
      }
      const evict = async (name: string) =>
        (await evictPod(plane.admin, { namespace, name }, { dryRun: true })).kind;
      for (const name of ['enough', 'too-few', 'always']) expect(await evict(`${name}-good`)).toBe('blocked');
      expect(await evict('enough-broken')).toBe('evicted');
      expect(await evict('too-few-broken')).toBe('blocked');
      expect(await evict('always-broken')).toBe('evicted');
    },
  },
  {
    title: 'given two budgets for one pod, then the eviction is blocked and says so',
    run: async (context) => {
      const fleet = kubelets(context);
      const { plane, namespace } = context;
      await fleet.boot(machine(context, 1));
      await plane.admin.create(DEPLOYMENTS(namespace), deployment(context, 'web', 1));
      const [pod] = await readyPods(context, 'app=web', 1);
      const path = pathOf(RESOURCES.podDisruptionBudgets, { namespace });
      for (const name of ['a', 'b'])
        await plane.admin.create(path, {
          metadata: { name },
          spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } },
        });
      await eventually('the eviction is blocked', async () => {
        const outcome = await evictPod(
          plane.admin,
          { namespace, name: pod!.metadata.name },
          { dryRun: true },
        );
        return outcome.kind === 'blocked' && outcome.message.includes('more than one');
      });
    },
  },
];

export const WORKLOAD_CASES: readonly Case[] = [...OBJECTS, ...PLACEMENT, ...EVICTIONS];
