// API semantics that the operator relies on, as cases for both control planes: what passes on the real one and on the fake
// is what the fake may be trusted for. Declared by test/kube/*.test.ts.

import { expect } from 'vitest';
import {
  createLease,
  evictPod,
  getLease,
  HttpKubeClient,
  type KubeClient,
  KubeError,
  type KubeObject,
  microTime,
  type Pod,
  pathOf,
  RESOURCES,
  staticCredentials,
  updateLease,
  type WatchEvent,
} from '../../src/operator/kube/index.ts';
import { eventually, OPERATOR } from './control-plane.ts';
import type { Case, CaseContext } from './suite.ts';

export async function failureOf(promise: Promise<unknown>): Promise<KubeError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(KubeError);
  return error as KubeError;
}

export type ConfigMap = KubeObject & { readonly data?: Readonly<Record<string, string>> };

export const configMaps = ({ namespace }: CaseContext, name?: string): string =>
  pathOf(RESOURCES.configMaps, { namespace, name });
export const pods = ({ namespace }: CaseContext, name?: string): string =>
  pathOf(RESOURCES.pods, { namespace, name });

export function podBody(name: string, spec: object = {}, labels: Readonly<Record<string, string>> = {}) {
  return { metadata: { name, labels }, spec: { containers: [{ name: 'main', image: 'fake' }], ...spec } };
}

/** Events of a watch until `count` have come or it ends. */
async function collect(
  client: KubeClient,
  path: string,
  query: Readonly<Record<string, string | number | boolean>>,
  count: number,
): Promise<readonly WatchEvent<KubeObject>[]> {
  const events: WatchEvent<KubeObject>[] = [];
  const stop = new AbortController();
  if (count === 0) return events;
  for await (const event of client.watch(path, query, stop.signal)) {
    events.push(event);
    if (events.length >= count) break;
  }
  stop.abort();
  return events;
}

function texts(events: readonly WatchEvent<KubeObject>[]): readonly string[] {
  return events.map(({ type, object }) => `${type} ${(object as KubeObject).metadata?.name ?? ''}`);
}

const WRITES: readonly Case[] = [
  {
    title: 'given an object, when it is created twice, then the second is AlreadyExists',
    run: async (context) => {
      const { admin } = context.plane;
      const created = await admin.create<ConfigMap>(configMaps(context), {
        metadata: { name: 'a' },
        data: { x: '1' },
      });
      expect(created).toMatchObject({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'a', namespace: context.namespace },
      });
      expect(created.metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
      expect(created.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      const error = await failureOf(admin.create(configMaps(context), { metadata: { name: 'a' } }));
      expect(error).toMatchObject({ status: 409, reason: 'AlreadyExists' });
    },
  },
  {
    title: 'given no object, then reading and deleting it is NotFound',
    run: async (context) => {
      const { admin } = context.plane;
      const path = configMaps(context, 'a');
      for (const request of [() => admin.get(path), () => admin.delete(path)]) {
        const error = await failureOf(request());
        expect(error).toMatchObject({ status: 404, reason: 'NotFound' });
        expect(error.message).toContain('configmaps "a" not found');
      }
    },
  },
  {
    title: 'given generateName, then each object gets a name of its own',
    run: async (context) => {
      const { admin } = context.plane;
      const make = () => admin.create<ConfigMap>(configMaps(context), { metadata: { generateName: 'x-' } });
      const [a, b] = await Promise.all([make(), make()]);
      expect(a.metadata.name).toMatch(/^x-[a-z0-9]{5}$/);
      expect(a.metadata.name).not.toBe(b.metadata.name);
    },
  },
  {
    title: 'given an object that changed since it was read, then an update is a Conflict',
    run: async (context) => {
      const { admin } = context.plane;
      const read = await admin.create<ConfigMap>(configMaps(context), { metadata: { name: 'a' } });
      await admin.patch(configMaps(context, 'a'), 'merge', { data: { x: '1' } });
      const error = await failureOf(admin.update(configMaps(context, 'a'), { ...read, data: { x: '2' } }));
      expect(error).toMatchObject({ status: 409, reason: 'Conflict' });
    },
  },
  {
    title: 'given a patch that changes nothing, then the resource version stays',
    run: async (context) => {
      const { admin } = context.plane;
      await admin.create(configMaps(context), { metadata: { name: 'a' }, data: { x: '1' } });
      const patch = () => admin.patch<ConfigMap>(configMaps(context, 'a'), 'merge', { data: { x: '1' } });
      const first = await patch();
      expect((await patch()).metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    },
  },
  {
    title:
      'given a merge patch with null and a JSON patch, then fields go and change; a test that fails is refused',
    run: async (context) => {
      const { admin } = context.plane;
      await admin.create(configMaps(context), { metadata: { name: 'a' }, data: { x: '1', y: '2' } });
      const path = configMaps(context, 'a');
      expect(await admin.patch<ConfigMap>(path, 'merge', { data: { x: null } })).toMatchObject({
        data: { y: '2' },
      });
      const operations = [
        { op: 'test', path: '/data/y', value: '2' },
        { op: 'replace', path: '/data/y', value: '3' },
        { op: 'add', path: '/metadata/annotations', value: { 'a/b': 'c' } },
      ];
      expect((await admin.patch<ConfigMap>(path, 'json', operations)).data).toEqual({ y: '3' });
      expect((await failureOf(admin.patch(path, 'json', operations))).status).toBe(422);
    },
  },
  {
    title: 'given a version in a merge patch, then it is a precondition',
    run: async (context) => {
      const { admin } = context.plane;
      const { metadata } = await admin.create<ConfigMap>(configMaps(context), { metadata: { name: 'a' } });
      const { resourceVersion } = metadata;
      const patch = { metadata: { resourceVersion }, data: { x: '1' } };
      await admin.patch(configMaps(context, 'a'), 'merge', patch);
      const again = { ...patch, data: { x: '2' } };
      expect((await failureOf(admin.patch(configMaps(context, 'a'), 'merge', again))).isConflict).toBe(true);
    },
  },
  {
    title: 'given a dry run, then nothing is created',
    run: async (context) => {
      const { admin } = context.plane;
      await admin.create(configMaps(context), { metadata: { name: 'a' } }, { query: { dryRun: 'All' } });
      expect((await failureOf(admin.get(configMaps(context, 'a')))).isNotFound).toBe(true);
    },
  },
  {
    title: 'given no such namespace, then a create is NotFound',
    run: async ({ plane }) => {
      const path = pathOf(RESOURCES.configMaps, { namespace: 'missing' });
      expect((await failureOf(plane.admin.create(path, { metadata: { name: 'a' } }))).isNotFound).toBe(true);
    },
  },
  {
    title: 'given a name that is not valid, then a create is Invalid',
    run: async (context) => {
      const error = await failureOf(
        context.plane.admin.create(configMaps(context), { metadata: { name: 'A_b' } }),
      );
      expect(error).toMatchObject({ status: 422, reason: 'Invalid' });
    },
  },
  {
    title: 'given finalizers, then a deleted object stays until they are removed',
    run: async (context) => {
      const { admin } = context.plane;
      const path = configMaps(context, 'a');
      await admin.create(configMaps(context), { metadata: { name: 'a', finalizers: ['example.com/x'] } });
      await admin.delete(path);
      const deleted = await admin.get<ConfigMap>(path);
      expect(deleted.metadata.deletionTimestamp).toBeDefined();
      await admin.patch(path, 'merge', { metadata: { finalizers: null } });
      expect((await failureOf(admin.get(path))).isNotFound).toBe(true);
    },
  },
  {
    title: 'given a precondition with another uid, then a delete is a Conflict that says so',
    run: async (context) => {
      const { admin } = context.plane;
      await admin.create(configMaps(context), { metadata: { name: 'a' } });
      const preconditions = { uid: '00000000-0000-0000-0000-000000000000' };
      const error = await failureOf(admin.delete(configMaps(context, 'a'), { preconditions }));
      expect(error.isConflict).toBe(true);
      expect(error.message).toMatch(/UID in (the )?precondition/);
    },
  },
];

const READS: readonly Case[] = [
  {
    title: 'given 25 objects, when they are listed in pages of 10, then the pages are of one version',
    run: async (context) => {
      const { admin } = context.plane;
      const names = Array.from({ length: 25 }, (_, i) => `c${String(i).padStart(2, '0')}`);
      await Promise.all(
        names.map((name) =>
          admin.create(configMaps(context), { metadata: { name, labels: { own: 'yes' } } }),
        ),
      );
      const seen: string[] = [];
      const versions = new Set<string>();
      let token: string | undefined;
      let pages = 0;
      do {
        const query = { limit: 10, continue: token, labelSelector: 'own=yes' };
        const page = await admin.list<ConfigMap>(configMaps(context), { query });
        seen.push(...page.items.map(({ metadata }) => metadata.name));
        versions.add(page.metadata.resourceVersion);
        token = page.metadata.continue;
        // What is created meanwhile is not in this list.
        if (pages++ === 0)
          await admin.create(configMaps(context), { metadata: { name: 'c05a', labels: { own: 'yes' } } });
      } while (token !== undefined && token !== '');
      expect(pages).toBe(3);
      expect(seen).toEqual(names);
      expect(versions.size).toBe(1);
    },
  },
  {
    title: 'given a continue token that is not one, then the list fails with 400 or 410',
    run: async (context) => {
      const error = await failureOf(
        context.plane.admin.list(configMaps(context), { query: { limit: 1, continue: 'zzz' } }),
      );
      expect([400, 410]).toContain(error.status);
    },
  },
  {
    title: 'given label selectors, then they select by equality, sets and existence',
    run: async (context) => {
      const { admin } = context.plane;
      const labels: Readonly<Record<string, Record<string, string>>> = {
        a: { x: '1' },
        b: { x: '2', y: '' },
        c: { z: '1' },
      };
      for (const [name, each] of Object.entries(labels))
        await admin.create(configMaps(context), { metadata: { name, labels: { own: 'yes', ...each } } });
      const selected = async (labelSelector: string) =>
        (await admin.list(configMaps(context), { query: { labelSelector } })).items
          .map(({ metadata }) => metadata.name)
          .join('');
      expect(await selected('own=yes,x=1')).toBe('a');
      expect(await selected('own=yes,x!=1')).toBe('bc');
      expect(await selected('own=yes,x in (1,2)')).toBe('ab');
      expect(await selected('own=yes,x notin (1)')).toBe('bc');
      expect(await selected('own=yes,y')).toBe('b');
      expect(await selected('own=yes,!x')).toBe('c');
    },
  },
  {
    title: 'given field selectors on pods, then they select by node, name and phase; others are refused',
    run: async (context) => {
      const { admin } = context.plane;
      const node = `${context.prefix}-node`;
      await admin.create(pods(context), podBody('a', { nodeName: node }));
      await admin.create(pods(context), podBody('b', { schedulingGates: [{ name: 'example.com/wait' }] }));
      const selected = async (fieldSelector: string) =>
        (await admin.list(pods(context), { query: { fieldSelector } })).items
          .map(({ metadata }) => metadata.name)
          .join('');
      expect(await selected(`spec.nodeName=${node}`)).toBe('a');
      expect(await selected('spec.nodeName=')).toBe('b');
      expect(await selected('spec.nodeName!=')).toBe('a');
      expect(await selected('metadata.name=b')).toBe('b');
      expect(await selected('status.phase=Pending')).toBe('ab');
      const error = await failureOf(
        admin.list(pods(context), { query: { fieldSelector: 'spec.hostname=a' } }),
      );
      expect(error.status).toBe(400);
    },
  },
  {
    title: 'given a resource that is not installed, then it is NotFound',
    run: async ({ plane }) => {
      expect((await failureOf(plane.admin.list('/apis/example.com/v1/things'))).isNotFound).toBe(true);
    },
  },
  {
    title: 'given changes, when a watch begins at an earlier version, then it sees all of them in order',
    run: async (context) => {
      const { admin } = context.plane;
      const query = { labelSelector: 'own=yes' };
      const { metadata } = await admin.list(configMaps(context), { query });
      await admin.create(configMaps(context), { metadata: { name: 'a', labels: { own: 'yes' } } });
      await admin.patch(configMaps(context, 'a'), 'merge', { data: { x: '1' } });
      await admin.delete(configMaps(context, 'a'));
      const from = { ...query, resourceVersion: metadata.resourceVersion };
      const events = await collect(admin, configMaps(context), from, 3);
      expect(texts(events)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a']);
      const versions = events.map(({ object }) => Number((object as KubeObject).metadata.resourceVersion));
      expect(versions).toEqual(versions.toSorted((a, b) => a - b));
      expect(new Set(versions).size).toBe(3);
      // Resumed after the first event, it sees the others.
      const rest = await collect(
        admin,
        configMaps(context),
        { ...query, resourceVersion: String(versions[0]) },
        2,
      );
      expect(texts(rest)).toEqual(['MODIFIED a', 'DELETED a']);
    },
  },
  {
    title: 'given an object that ceases to match the selector of a watch, then it is deleted for that watch',
    run: async (context) => {
      const { admin } = context.plane;
      const query = { labelSelector: 'own=yes' };
      const { metadata } = await admin.list(configMaps(context), { query });
      await admin.create(configMaps(context), { metadata: { name: 'a' } });
      await admin.patch(configMaps(context, 'a'), 'merge', { metadata: { labels: { own: 'yes' } } });
      await admin.patch(configMaps(context, 'a'), 'merge', { metadata: { labels: { own: null } } });
      const from = { ...query, resourceVersion: metadata.resourceVersion };
      expect(texts(await collect(admin, configMaps(context), from, 2))).toEqual(['ADDED a', 'DELETED a']);
    },
  },
  {
    title: 'given a watch with a timeout, then it ends normally, after a bookmark',
    run: async (context) => {
      const { admin, target } = context.plane;
      const { metadata } = await admin.list(configMaps(context));
      const { resourceVersion } = metadata;
      // A busy API server may be seconds late with a bookmark; the fake sends one at the end of each watch.
      const query = {
        resourceVersion,
        timeoutSeconds: target === 'fake' ? 2 : 30,
        allowWatchBookmarks: true,
      };
      // A bookmark tells that versions have moved on, which objects elsewhere cause.
      const elsewhere = pathOf(RESOURCES.configMaps, { namespace: 'default' });
      const timer = setInterval(() => {
        admin.create(elsewhere, { metadata: { generateName: 'x-' } }).catch(() => {});
      }, 300);
      context.defer(() => clearInterval(timer));
      const events = await collect(admin, configMaps(context), query, 1_000);
      expect(events.at(-1)?.type).toBe('BOOKMARK');
      const { object } = events.at(-1)!;
      expect(Number((object as KubeObject).metadata.resourceVersion)).toBeGreaterThanOrEqual(
        Number(resourceVersion),
      );
    },
  },
];

const POLICIES: readonly Case[] = [
  {
    title: 'given a token that is not known, then the answer is 401 and names the credentials',
    run: async ({ plane, defer }) => {
      const connection = {
        ...plane.connection(),
        credentials: staticCredentials({ token: 'no' }, 'the token of the case'),
      };
      const client = new HttpKubeClient({ connection, userAgent: 'test' });
      defer(() => client.close());
      const error = await failureOf(client.list('/api/v1/pods'));
      expect(error).toMatchObject({ status: 401, reason: 'Unauthorized' });
      expect(error.message).toContain('the token of the case');
    },
  },
  {
    title: 'given a ClusterRole bound to the service account, then it has these rights and no others',
    run: async (context) => {
      const { plane, prefix, namespace } = context;
      const client = plane.client('operator');
      const { name } = OPERATOR;
      const error = await failureOf(client.list('/api/v1/pods'));
      expect(error).toMatchObject({ status: 403, reason: 'Forbidden' });
      expect(error.message).toContain(
        `pods is forbidden: User "${name}" cannot list resource "pods" in API group "" at the cluster scope`,
      );
      const subjects = [{ kind: 'ServiceAccount', name: 'bigfleet-operator', namespace: 'bigfleet-system' }];
      const apiGroup = 'rbac.authorization.k8s.io';
      await plane.apply([
        {
          apiVersion: `${apiGroup}/v1`,
          kind: 'ClusterRole',
          metadata: { name: prefix },
          rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['list', 'get'] }],
        },
        {
          apiVersion: `${apiGroup}/v1`,
          kind: 'ClusterRoleBinding',
          metadata: { name: prefix },
          roleRef: { apiGroup, kind: 'ClusterRole', name: prefix },
          subjects,
        },
        {
          apiVersion: `${apiGroup}/v1`,
          kind: 'Role',
          metadata: { name: prefix, namespace },
          rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'], resourceNames: ['mine'] }],
        },
        {
          apiVersion: `${apiGroup}/v1`,
          kind: 'RoleBinding',
          metadata: { name: prefix, namespace },
          roleRef: { apiGroup, kind: 'Role', name: prefix },
          subjects,
        },
      ] as unknown as KubeObject[]);
      context.defer(() => plane.admin.delete(pathOf(RESOURCES.clusterRoleBindings, { name: prefix })));
      await eventually(
        'the rights are in force',
        async () => (await client.list('/api/v1/pods').catch(() => null)) !== null,
      );
      await plane.admin.create(pods(context), podBody('a'));
      await client.get(pods(context, 'a'));
      expect((await failureOf(client.delete(pods(context, 'a')))).status).toBe(403);
      const eviction = await failureOf(evictPod(client, { namespace, name: 'a' }));
      expect(eviction.message).toContain('cannot create resource "pods/eviction"');
      // Only the named object: allowed, but it does not exist.
      await eventually(
        'the role is in force',
        async () => (await failureOf(client.get(configMaps(context, 'mine')))).isNotFound,
      );
      expect((await failureOf(client.get(configMaps(context, 'other')))).status).toBe(403);
      const review = (verb: string) => ({
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes: { verb, resource: 'pods' } },
      });
      const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
      expect(await plane.admin.create(path, review('delete'))).toMatchObject({ status: { allowed: true } });
    },
  },
  {
    title: 'given a Lease, then it is created once, renewed by its version, and a second writer conflicts',
    run: async ({ plane, namespace }) => {
      const { admin } = plane;
      expect(await getLease(admin, namespace, 'leader')).toBeNull();
      const spec = {
        holderIdentity: 'a',
        leaseDurationSeconds: 15,
        renewTime: microTime(Date.now()),
        leaseTransitions: 0,
      };
      const lease = await createLease(admin, namespace, 'leader', spec);
      expect((await failureOf(createLease(admin, namespace, 'leader', spec))).isConflict).toBe(true);
      const renewed = await updateLease(admin, lease, { ...spec, renewTime: microTime(Date.now() + 5_000) });
      expect((await failureOf(updateLease(admin, lease, { ...spec, holderIdentity: 'b' }))).isConflict).toBe(
        true,
      );
      const read = await getLease(admin, namespace, 'leader');
      expect(read?.spec).toEqual(renewed.spec);
      const { resourceVersion: _version, ...metadata } = lease.metadata;
      const blind = await failureOf(updateLease(admin, { ...lease, metadata }, spec));
      expect(blind.status).toBe(422);
    },
  },
  {
    title: 'given an Event of events.k8s.io, then it is found by its subject through v1 as well',
    run: async ({ plane, namespace }) => {
      const { admin } = plane;
      const regarding = { apiVersion: 'v1', kind: 'Pod', namespace, name: 'a', uid: 'u1' };
      const event = {
        metadata: { name: 'a.1' },
        eventTime: microTime(Date.now()),
        reportingController: 'bigfleet.lucy.sh/operator',
        reportingInstance: 'test',
        action: 'Wait',
        reason: 'WaitingForMachines',
        type: 'Normal',
        note: 'waiting for 2 machines',
        regarding,
      };
      await admin.create(pathOf(RESOURCES.events, { namespace }), event);
      const fieldSelector = 'involvedObject.name=a,involvedObject.uid=u1';
      const { items } = await admin.list(`/api/v1/namespaces/${namespace}/events`, {
        query: { fieldSelector },
      });
      expect(items).toMatchObject([
        { reason: 'WaitingForMachines', message: 'waiting for 2 machines', involvedObject: { kind: 'Pod' } },
      ]);
      const { action: _action, ...incomplete } = event;
      const path = pathOf(RESOURCES.events, { namespace });
      const error = await failureOf(admin.create(path, { ...incomplete, metadata: { name: 'a.2' } }));
      expect(error.status).toBe(422);
    },
  },
  {
    title: 'given a pod, then priority, requests and tolerations are filled in; a missing class is refused',
    run: async (context) => {
      const { plane, prefix } = context;
      const name = `${prefix}-high`;
      await plane.admin.create(pathOf(RESOURCES.priorityClasses), {
        metadata: { name },
        value: 1000,
        description: 'x',
      });
      context.defer(() => plane.admin.delete(pathOf(RESOURCES.priorityClasses, { name })));
      const containers = [
        {
          name: 'main',
          image: 'x',
          resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m' } },
        },
      ];
      // The classes are read from a cache, which may lag behind.
      let pod: Pod | undefined;
      await eventually('the class is known', async () => {
        const spec = { containers, priorityClassName: name, schedulingGates: [{ name: 'example.com/wait' }] };
        pod = (await plane.admin.create(pods(context), podBody('a', spec)).catch(() => undefined)) as
          | Pod
          | undefined;
        return pod !== undefined;
      });
      expect(pod?.spec.priority).toBe(1000);
      expect(pod?.spec.containers[0]?.resources?.requests).toEqual({ cpu: '500m', memory: '1Gi' });
      expect(pod?.spec.tolerations?.map(({ key }) => key)).toEqual([
        'node.kubernetes.io/not-ready',
        'node.kubernetes.io/unreachable',
      ]);
      expect(pod?.status).toMatchObject({ phase: 'Pending' });
      expect(pod?.status?.conditions).toMatchObject([
        { type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' },
      ]);
      const error = await failureOf(
        plane.admin.create(pods(context), podBody('b', { priorityClassName: 'missing' })),
      );
      expect(error.status).toBe(403);
    },
  },
  {
    title:
      'given deletions, then a pod that no node runs is deleted at once, and one on a node waits for its kubelet',
    run: async (context) => {
      const { admin } = context.plane;
      await admin.create(pods(context), podBody('free', { schedulingGates: [{ name: 'example.com/wait' }] }));
      await admin.delete(pods(context, 'free'));
      expect((await failureOf(admin.get(pods(context, 'free')))).isNotFound).toBe(true);
      const node = `${context.prefix}-node`;
      await admin.create(pathOf(RESOURCES.nodes), { metadata: { name: node } });
      context.defer(() => admin.delete(pathOf(RESOURCES.nodes, { name: node })));
      await admin.create(
        pods(context),
        podBody('bound', { nodeName: node, terminationGracePeriodSeconds: 7 }),
      );
      await admin.delete(pods(context, 'bound'));
      const { metadata } = await admin.get<Pod>(pods(context, 'bound'));
      expect(metadata).toMatchObject({ deletionGracePeriodSeconds: 7 });
      const leftMs = Date.parse(metadata.deletionTimestamp ?? '') - Date.now();
      expect(leftMs).toBeGreaterThan(0);
      expect(leftMs).toBeLessThan(8_000);
      await admin.delete(pods(context, 'bound'), { gracePeriodSeconds: 0 });
      expect((await failureOf(admin.get(pods(context, 'bound')))).isNotFound).toBe(true);
    },
  },
];

/** Last, because it restarts a real API server. */
const EXPIRY: Case = {
  title: 'given a version that has been compacted, then a watch ends with 410',
  run: async (context) => {
    const { plane } = context;
    const { metadata } = await plane.admin.list(configMaps(context));
    await plane.admin.create(configMaps(context), { metadata: { name: 'a' } });
    await plane.compact();
    const { resourceVersion } = metadata;
    const events = await collect(plane.admin, configMaps(context), { resourceVersion }, 1);
    expect(events).toMatchObject([{ type: 'ERROR', object: { code: 410, reason: 'Expired' } }]);
  },
};

export const API_CASES: readonly Case[] = [...WRITES, ...READS, ...POLICIES, EXPIRY];
