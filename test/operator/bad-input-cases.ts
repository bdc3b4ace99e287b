// End-to-end cases about an API server that the operator cannot use as usual: revoked rights, a refused token, definitions
// of another version, slow and refused requests, and a clock that is wrong. In each the last good demand is kept, nothing
// is reclaimed, and the operator says what is wrong.

import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { type KubeObject, pathOf, RESOURCES } from '../../src/operator/kube/index.ts';
import type { ApiProxy } from '../../testing/kube/api-proxy.ts';
import type { Target } from '../../testing/kube/control-plane.ts';
import { offering } from '../e2e/shard-cloud.ts';
import { AMD64, type CaseScope, type EndToEndCase, identities } from './end-to-end-case.ts';
import { asks, KubeWorld } from './kube-world.ts';

/** Several intervals of roll-ups, cycles and reclaim holds. */
const KEPT_MS = 4_000;
const HOUR_MS = 3_600_000;

async function open(target: Target, context: CaseScope, more = {}): Promise<KubeWorld> {
  const offerings = [offering('m4', { cpu: 4, count: 6, labels: AMD64 })];
  const world = await KubeWorld.open(context, { target, clusters: ['web'], offerings, ...more });
  await world.deploy('api', 4, asks('1500m'));
  await world.runs('api', 4);
  await world.until('the shard knows all of it', async () => isDeepStrictEqual(await wants(world), ['6']));
  return world;
}

async function wants(world: KubeWorld): Promise<readonly (string | undefined)[]> {
  return (await world.world.needs('web')).map((need) => need.wants['cpu']);
}

/** The operator's current words on the watch of a resource: the last line about it. */
function saidOf(world: KubeWorld, resource: string): string {
  return world.lines.findLast((line) => line.includes(' watch ') && line.includes(`"${resource}"`)) ?? '';
}

/**
 * While the operator cannot follow the cluster and says so, pods that go withdraw nothing; when it can again, they do. Pods
 * that stay are left alone throughout.
 */
async function keptUntilRepaired(
  world: KubeWorld,
  broken: { readonly resource: string; readonly why: RegExp },
  repair: () => Promise<unknown>,
): Promise<void> {
  await world.until(`the operator says what is wrong: ${broken.why.source}`, () =>
    broken.why.test(saidOf(world, broken.resource)),
  );
  expect(await world.operatorMetric(`bigfleet_operator_watch_current{resource="${broken.resource}"}`)).toBe(
    0,
  );
  await world.deploy('api', 2, asks('1500m'));
  await world.runs('api', 2);
  const left = await identities(world, 'api');
  await world.stays('the demand is kept', KEPT_MS, async () => isDeepStrictEqual(await wants(world), ['6']));
  expect(world.world.callsOf('drain')).toEqual([]);
  expect(await world.cordoned()).toEqual([]);
  expect(await world.held()).toEqual([2, 2, 2]);
  expect(await identities(world, 'api')).toEqual(left);
  await repair();
  await world.until('the operator follows again', async () => isDeepStrictEqual(await wants(world), ['3']));
  await world.until('the machine that is not needed goes', async () => (await world.nodes()).length === 1);
  await world.runs('api', 2);
  expect(saidOf(world, broken.resource)).toContain('"problem":null');
  expect(await world.cordoned()).toEqual([]);
}

function proxyOf(world: KubeWorld): ApiProxy {
  const { proxy } = world.cluster();
  if (proxy === null) throw new Error('this cluster has no proxy');
  return proxy;
}

/** Ends all watches, as API servers do now and then. */
async function endWatches(world: KubeWorld): Promise<void> {
  const { plane } = world.cluster();
  if (plane.fake !== null) {
    plane.fake.api.watches.closeAll();
    return;
  }
  await plane.stopApiServer();
  await plane.startApiServer();
}

const REQUESTS = 'capacityrequests.bigfleet.lucy.sh';

/** The definition of CapacityRequests, served in another version only. */
function otherVersion({ metadata, spec, ...rest }: KubeObject & { readonly spec: Definition }): KubeObject {
  const [version, ...others] = spec.versions;
  const old = { ...version!, served: false };
  const next = { ...version!, name: 'v9', storage: false };
  const { name, labels } = metadata;
  return {
    ...rest,
    metadata: { name, ...(labels === undefined ? {} : { labels }) },
    spec: { ...spec, versions: [old, ...others, next] },
  } as KubeObject;
}

interface Definition {
  readonly versions: readonly {
    readonly name: string;
    readonly served: boolean;
    readonly storage: boolean;
  }[];
}

export const BAD_INPUT_CASES: readonly EndToEndCase[] = [
  {
    title: 'given an operator whose rights are revoked, then it keeps its demand until it has them again',
    run: async (target, context) => {
      const world = await open(target, context, { isRefused: true });
      const { admin } = world.cluster().plane;
      const path = pathOf(RESOURCES.clusterRoleBindings, { name: 'bigfleet-operator' });
      const { apiVersion, kind, metadata, ...rest } = await admin.get(path);
      await admin.delete(path);
      await endWatches(world);
      await keptUntilRepaired(world, { resource: 'pods', why: /403 Forbidden.*cannot (list|watch)/ }, () =>
        world
          .cluster()
          .plane.apply([
            { ...rest, apiVersion, kind, metadata: { name: metadata.name } } as unknown as KubeObject,
          ]),
      );
    },
  },
  {
    title: 'given a token that expires, then the demand is kept until the next one is in its file',
    run: async (target, context) => {
      const world = await open(target, context);
      const writeToken = await world.cluster().plane.rotateToken();
      await keptUntilRepaired(world, { resource: 'pods', why: /401 Unauthorized.*token/ }, async () =>
        writeToken(),
      );
    },
  },
  {
    title:
      'given CapacityRequests of another version only, then the demand is kept until ours is served again',
    run: async (target, context) => {
      const world = await open(target, context);
      const { plane } = world.cluster();
      const path = pathOf(RESOURCES.customResourceDefinitions, { name: REQUESTS });
      const { apiVersion, kind, metadata, spec } = await plane.admin.get<
        KubeObject & { readonly spec: Definition }
      >(path);
      const labels = metadata.labels === undefined ? {} : { labels: metadata.labels };
      const ours = { apiVersion, kind, metadata: { name: REQUESTS, ...labels }, spec } as KubeObject & {
        readonly spec: Definition;
      };
      await plane.apply([otherVersion(ours)]);
      await endWatches(world);
      await keptUntilRepaired(
        world,
        { resource: 'capacityrequests', why: /404.*capacityrequests|capacityrequests.*404/ },
        () => plane.apply([ours]),
      );
    },
  },
  {
    title:
      'given an API server that refuses lists and watches with 429, then the demand is kept until it serves',
    run: async (target, context) => {
      const world = await open(target, context, { hasProxy: true });
      const proxy = proxyOf(world);
      proxy.refuses = ({ path }) => path === '/api/v1/pods';
      proxy.breakConnections();
      await keptUntilRepaired(world, { resource: 'pods', why: /429 TooManyRequests/ }, async () => {
        proxy.refuses = () => false;
      });
    },
  },
  {
    title:
      'given an API server that takes seconds for each answer, then pods still get their machines, and keep them',
    run: async (target, context) => {
      const world = await open(target, context, { hasProxy: true });
      const before = await identities(world, 'api');
      const proxy = proxyOf(world);
      proxy.delayMs = 1_500;
      proxy.breakConnections();
      await world.deploy('api', 6, asks('1500m'));
      await world.runs('api', 6);
      proxy.delayMs = 0;
      expect(await identities(world, 'api')).toEqual(expect.arrayContaining([...before]));
      expect(world.bought).toBe(3);
      expect(world.world.callsOf('drain')).toEqual([]);
      expect(await world.cordoned()).toEqual([]);
    },
  },
  ...[HOUR_MS, -HOUR_MS].map(
    (skewMs): EndToEndCase => ({
      title: `given an API server whose clock is an hour ${skewMs > 0 ? 'ahead' : 'behind'}, then pods get what they need and a node is drained as usual`,
      only: 'fake',
      run: async (target, context) => {
        // Leases are written by the clock of the kubelets.
        const plane = { nodeMonitorGraceSeconds: 1_000_000 };
        const world = await open(target, context, { plane });
        world.cluster().plane.fake!.api.faults.settings.clockSkewMs = skewMs;
        const before = await identities(world, 'api');
        await world.deploy('api', 6, asks('1500m'));
        await world.runs('api', 6);
        await world.stays('nothing is cordoned', KEPT_MS, async () => (await world.cordoned()).length === 0);
        expect(await identities(world, 'api')).toEqual(expect.arrayContaining([...before]));
        // Pods that seem to wait since an hour ago would get a machine for themselves at once.
        expect(world.bought).toBe(3);
        expect(world.lines.filter((line) => line.includes('episode.opened'))).toEqual([]);
        await world.deploy('api', 2, asks('1500m'));
        await world.until('one node is left', async () => (await world.nodes()).length === 1);
        await world.runs('api', 2);
        expect(await world.cordoned()).toEqual([]);
      },
    }),
  ),
];
