// What only a real control plane can show of the installation: its manifests as an API server sees them, and bootstrap
// tokens with which a machine authenticates.

import { spawnSync } from 'node:child_process';
import { expect } from 'vitest';
import { parseAllDocuments } from 'yaml';
import {
  HttpKubeClient,
  KubeError,
  type KubeObject,
  pathOf,
  RESOURCES,
  staticCredentials,
} from '../../src/operator/kube/index.ts';
import { type ControlPlane, startControlPlane } from '../../testing/kube/control-plane.ts';
import { offering } from '../e2e/shard-cloud.ts';
import { bareEnvironment } from '../e2e/shard-process.ts';
import { AMD64, type EndToEndCase } from './end-to-end-case.ts';
import { asks, KubeWorld } from './kube-world.ts';

const NAMESPACE = 'bigfleet-system';
const PODS = pathOf(RESOURCES.pods, { namespace: NAMESPACE });
const DRY_RUN = { dryRun: 'All' } as const;
const DRY_CREATE = { query: DRY_RUN };

/** What the command prints, as objects. */
function printed(...flags: readonly string[]): readonly KubeObject[] {
  const args = ['src/cli/main.ts', 'operator', 'manifests', '--cluster', 'web', ...flags];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env: bareEnvironment() });
  const documents = parseAllDocuments(stdout).map((each) => each.toJS() as KubeObject);
  expect(documents.length, stderr).toBeGreaterThan(5);
  return documents;
}

async function refusalOf(request: Promise<unknown>): Promise<KubeError> {
  const error = await request.then(
    () => null,
    (cause: unknown) => cause,
  );
  if (!(error instanceof KubeError)) throw new Error(`it was not refused: ${String(error)}`);
  return error;
}

interface Template {
  readonly spec: { readonly template: { readonly metadata: object; readonly spec: object } };
}

async function tokenClient(plane: ControlPlane, token: string): Promise<HttpKubeClient> {
  const credentials = staticCredentials({ token }, 'the bootstrap token');
  return new HttpKubeClient({ connection: { ...plane.connection(), credentials }, userAgent: 'node' });
}

const REVIEWS = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const REVIEW = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };

export const INSTALL_CASES: readonly EndToEndCase[] = [
  {
    title:
      'given the printed manifests of each mode, then the API server accepts all of them, and the restricted namespace their pod',
    only: 'real',
    run: async (target, { onTestFinished }) => {
      const plane = await startControlPlane(target);
      onTestFinished(() => plane.stop());
      const modes = [
        ['--shard', 'shard.example:7780'],
        ['--shard', 'shard.example:7780', '--mode', 'tokens', '--endpoint', 'api.example:6443', '--opt-in'],
        ['--shard', '10.0.0.5:7780', '--insecure', '--replicas', '1'],
      ];
      for (const flags of modes) {
        const all = printed(...flags);
        const first = all.filter(({ kind }) =>
          ['CustomResourceDefinition', 'Namespace', 'ServiceAccount'].includes(kind ?? ''),
        );
        // What the others refer to must exist, as it does when they are applied in order.
        await plane.apply(first);
        await plane.apply(all, DRY_RUN);
        const deployment = all.find(({ kind }) => kind === 'Deployment') as KubeObject & Template;
        const { metadata, spec } = deployment.spec.template;
        const pod = { metadata: { ...metadata, name: 'pod' }, spec };
        await plane.admin.create(PODS, pod as KubeObject, DRY_CREATE);
        expect((await plane.admin.list(PODS)).items).toEqual([]);
      }
      // The namespace does enforce it: a pod without a security context is refused.
      const containers = [{ name: 'main', image: 'fake' }];
      const plain = { metadata: { name: 'plain' }, spec: { containers } } as unknown as KubeObject;
      const refusal = await refusalOf(plane.admin.create(PODS, plain, DRY_CREATE));
      expect(refusal.status).toBe(403);
      expect(refusal.message).toContain('violates PodSecurity "restricted');
    },
  },
  {
    title:
      'given mode tokens, then a machine authenticates with its token until its node has joined, and never after it',
    only: 'real',
    run: async (target, context) => {
      const world = await KubeWorld.open(context, {
        target,
        clusters: ['web'],
        offerings: [offering('m4', { cpu: 4, count: 2, labels: AMD64 })],
        mode: 'tokens',
      });
      const { plane } = world.cluster();
      const { promise: after, resolve: boot } = Promise.withResolvers<void>();
      context.onTestFinished(() => boot());
      world.hosts.boot = { after };
      await world.deploy('api', 1, asks('1'));
      await world.until('a machine has its user data', () => world.hosts.userData.size === 1);
      const [userData] = world.hosts.userData.values();
      const token = userData?.token ?? '';
      expect(token).toMatch(/^[a-z0-9]{6}\.[a-z0-9]{16}$/);
      const client = await tokenClient(plane, token);
      context.onTestFinished(() => client.close());
      const secret = `/api/v1/namespaces/kube-system/secrets/bootstrap-token-${token.slice(0, 6)}`;
      expect((await plane.admin.get(secret)).metadata.name).toBe(`bootstrap-token-${token.slice(0, 6)}`);
      // The API server reads Secrets from a cache, which may lag behind.
      await world.until('the token is accepted', async () => {
        const review = await client.create(REVIEWS, REVIEW as KubeObject);
        const { status } = review as KubeObject & {
          readonly status: {
            readonly userInfo: { readonly username: string; readonly groups: readonly string[] };
          };
        };
        expect(status.userInfo).toMatchObject({
          username: `system:bootstrap:${token.slice(0, 6)}`,
          groups: expect.arrayContaining(['system:bootstrappers:kubeadm:default-node-token']) as string[],
        });
        return true;
      });
      // It lets a node join, and grants nothing else.
      expect((await refusalOf(client.list('/api/v1/nodes'))).status).toBe(403);
      boot();
      await world.runs('api', 1);
      await world.until('the Secret is gone', async () => {
        const { items } = await plane.admin.list('/api/v1/namespaces/kube-system/secrets');
        return items.every(({ metadata }) => !metadata.name.startsWith('bootstrap-token-'));
      });
      await world.until('the token is refused', async () => {
        const refusal = await refusalOf(client.create(REVIEWS, REVIEW as KubeObject));
        return refusal.status === 401;
      });
    },
  },
];
