// Test support: what the documentation takes for granted beside a running demo: a Kubernetes API server with two contexts,
// files of the reader, and a shard that carries out every order. Used by reader.ts.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { serveApi } from '../../src/shard/index.ts';
import { ADMIN_TOKEN, ApiServer } from '../../testing/kube/api-server.ts';
import { MemoryClient } from '../../testing/kube/memory-client.ts';
import { kubectlList, node, podOn } from '../../testing/support/assess-clusters.ts';
import { FakeShard } from '../../testing/support/fake-shard.ts';

export interface Surroundings {
  /** Answers every order with success: a demo has no cluster that is gone, and no quarantined roll-up. */
  readonly ordersUrl: string;
  /** Where kubectl finds the clusters prod-eu, the current one, and prod-us. */
  readonly kubeconfig: string;
  stop(): Promise<void>;
}

const UNSCHEDULABLE = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'No room.' };

export async function startSurroundings(): Promise<Surroundings> {
  const shard = await serveApi(new FakeShard(), '127.0.0.1:0', { tls: null });
  const kube = await ApiServer.start();
  const client = new MemoryClient(kube.api);
  await client.create('/api/v1/nodes', node('n1', 'm6i.xlarge', 4));
  for (const namespace of ['shop', 'try-bigfleet'])
    await client.create('/api/v1/namespaces', { metadata: { name: namespace } });
  for (const [namespace, name] of [
    ['shop', 'web-1'],
    ['try-bigfleet', 'big'],
  ]) {
    const container = { name: 'main', image: 'x', resources: { requests: { cpu: '1', memory: '1Gi' } } };
    const path = `/api/v1/namespaces/${namespace}/pods`;
    await client.create(path, { metadata: { name }, spec: { containers: [container] } });
    const status = { phase: 'Pending', conditions: [UNSCHEDULABLE] };
    await client.patch(`${path}/${name}/status`, 'merge', { status });
  }
  const context = (name: string) => ({ name, context: { cluster: 'c', user: 'admin' } });
  const kubeconfig = {
    clusters: [{ name: 'c', cluster: { server: kube.url } }],
    users: [{ name: 'admin', user: { token: ADMIN_TOKEN } }],
    contexts: [context('prod-eu'), context('prod-us')],
    'current-context': 'prod-eu',
  };
  return {
    ordersUrl: shard.url,
    kubeconfig: JSON.stringify(kubeconfig),
    stop: async () => {
      await shard.close();
      await kube.stop();
    },
  };
}

/** Two Needs of the cluster that examples name, and a machine for one of them. */
const FLEET = JSON.stringify({
  now: '2026-01-01T12:00:00Z',
  machines: [{ id: 'm-1', state: 'idle', pricePerHour: 1, resources: { cpu: 16, memory: '64Gi' } }],
  needs: [
    { cluster: 'prod-eu', priority: 100, aggregateResources: { cpu: 8 } },
    { cluster: 'web', priority: 10, aggregateResources: { cpu: 64 } },
  ],
});
const SHARD = `listen: 127.0.0.1:7780
api: 127.0.0.1:8780
dataDir: own
providers: [{ name: fake, address: 127.0.0.1:9000 }]
`;
const OPERATOR = `cluster: web
shard: { addresses: 127.0.0.1:7780 }
bootstrap: { mode: tokens }
`;
const SCENARIO_FILES = ['fleet.yaml', 'fleet.json', 'large.json'];
const KUBECTL_FILES = ['prod-eu.json', 'prod.json', 'batch.json'];

/** A file with the problems that a page shows. */
const WRONG_FLEET = `now: 2026-02-30T12:00:00Z
machines: [{ id: m-1, state: running, resources: { cpu: 4 cores } }]
needs: [{ cluster: web, priority: 1, interruptionPenalty: high, aggregateResources: { cpu: -1 } }]
`;

/** Writes what the reader of a page has in a folder, which is the home too. Files that the page shows replace these. */
export function writeOwnFiles(folder: string, page: string, { kubeconfig }: Surroundings): void {
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  for (const path of ['.kube', '.config/fish/completions', '.local/share/bash-completion/completions'])
    mkdirSync(join(folder, path), { recursive: true });
  write('.kube/config', kubeconfig);
  for (const name of SCENARIO_FILES) write(name, FLEET);
  const list = kubectlList(node('n1', 'm6i.xlarge', 4), podOn('n1', 'a', '1'), podOn('', 'b', '2'));
  for (const name of KUBECTL_FILES) write(name, list);
  write('my-catalogue.yaml', readFileSync('examples/catalogues/invented-eu-west-1.yaml', 'utf8'));
  write('changes.yaml', 'without:\n  - { capacityType: spot }\n');
  write('shard.yaml', SHARD);
  write('operator.yaml', OPERATOR);
  for (const name of ['fleet.crt', 'me.crt', 'me.key']) write(name, '');
  if (page === 'docs/reference/decide.md') write('fleet.yaml', WRONG_FLEET);
  write('token', '0123456789abcdef0123456789abcdef\n');
}
