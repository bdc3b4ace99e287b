import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ADMIN_TOKEN, ApiServer } from '../../../testing/kube/api-server.ts';
import { MemoryClient } from '../../../testing/kube/memory-client.ts';
import { type KubeHooks, MemoryCluster } from '../../../testing/support/memory-kube.ts';
import { KubeError } from '../../operator/kube/index.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { exitCodeOf } from '../exit-codes.ts';
import { noPaint } from '../table.ts';
import { explainCommand } from './explain.ts';
import { showPod } from './pod.ts';
import type { PodFlags } from './pod-flags.ts';

const NOW = Date.parse('2024-05-01T12:00:00Z');
const UNSCHEDULABLE = {
  phase: 'Pending',
  conditions: [
    {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      message: '0/3 nodes are available.',
      lastTransitionTime: '2024-05-01T11:50:00Z',
    },
  ],
};

function scene(more: object = {}, cut = { rows: 0, pods: 0 }) {
  const cluster = new MemoryCluster(new VirtualClock(NOW));
  const row = {
    fingerprint: 'f1',
    group: '',
    satisfied: false,
    unmetReason: 'PRIORITY_STARVED',
    cause: 'starved',
    sentence: 'lacks 2 machines of c5.large; would fit if 4 cpu were free',
    rowsAhead: 14,
    machines: ['m-1'],
    sharedMachines: [],
    machineTotal: 1,
    notConfigured: 0,
    ...more,
  };
  const map = {
    version: 2,
    cluster: 'c',
    at: '2024-05-01T11:59:50Z',
    isLive: true,
    rows: cut.rows > 0 ? [] : [row],
    keys: [['f1', '']],
    remarks: ['A remark.'],
    pods: { shop: { 'web-1': [0, Date.parse('2024-05-01T11:50:00Z') / 1000, 0] } },
    problems: [],
    episodes: [],
    cut,
  };
  cluster.put('/api/v1/namespaces/bigfleet-system/configmaps/bigfleet-verdicts', {
    metadata: { name: 'bigfleet-verdicts' },
    data: { 'verdicts.json': JSON.stringify(map) },
  });
  cluster.addPod('shop', 'web-1', '', { status: UNSCHEDULABLE });
  cluster.put('/api/v1/namespaces/shop/events/e1', {
    metadata: { name: 'e1', namespace: 'shop' },
    involvedObject: { kind: 'Pod', name: 'web-1' },
    reason: 'WaitingForMachines',
    message: 'Waiting for machines.',
    lastTimestamp: '2024-05-01T11:55:00Z',
    reportingComponent: 'bigfleet.lucy.sh/operator',
  });
  const explain = async (id: string, flags: Partial<PodFlags> = {}, hooks: KubeHooks = {}) => {
    const parts: string[] = [];
    const io = { out: (text: string) => void parts.push(text), paint: noPaint };
    await showPod(
      id,
      { output: 'text', ...flags },
      io,
      () => ({ client: cluster.client(hooks), close: () => {} }),
      NOW,
    );
    return parts.join('');
  };
  return { cluster, explain };
}

describe('bigfleet explain pod', () => {
  it('given a pod that waits, then it says why, with the verdict, remarks and Events', async () => {
    const text = await scene().explain('shop/web-1');
    expect(text).toContain(
      'Waiting for machines: lacks 2 machines of c5.large; would fit if 4 cpu were free',
    );
    for (const part of ['14 rows are', '0/3 nodes', '10m', 'A remark.', 'WaitingForMachines', 'm-1'])
      expect(text).toContain(part);
  });

  it('given a Need that only borrows, then the machine it shares is named', async () => {
    const row = { satisfied: true, machines: [], machineTotal: 0, sharedMachines: ['m-9'], notConfigured: 1 };
    const text = await scene(row).explain('shop/web-1');
    expect(text).toContain('Waiting for 1 of 1 machine to join the cluster.');
    expect(text).toContain('0, and shares m-9; 1 not joined yet');
  });

  it('given -o json, then the output is the whole explanation', async () => {
    const text = await scene().explain('shop/web-1', { output: 'json' });
    expect(JSON.parse(text)).toMatchObject({ situation: 'waiting', row: { rowsAhead: 14 }, gaps: [] });
  });

  it.each([
    ['running', { node: 'n1' }, 'It is on node n1, machine m-7.'],
    ['elsewhere', { node: 'n2' }, 'which BigFleet does not manage'],
    ['gated', { spec: { schedulingGates: [{ name: 'x' }] } }, 'scheduling gates'],
    ['new', {}, 'has not marked it Unschedulable'],
    ['done', { node: 'n1', status: { phase: 'Succeeded' } }, 'It has ended (Succeeded)'],
    ['ignored', { status: UNSCHEDULABLE }, 'does not count it'],
  ])('given a pod that is %s, then it says so', async (name, facts, words) => {
    const { cluster, explain } = scene();
    cluster.addNode('n1', { metadata: { name: 'n1', labels: { 'bigfleet.lucy.sh/machine': 'm-7' } } });
    cluster.addNode('n2');
    const {
      node = '',
      spec = {},
      status = { phase: 'Pending' },
    } = facts as { node?: string; spec?: object; status?: object };
    cluster.addPod('shop', name, node, {
      spec: { containers: [], nodeName: node, ...spec },
      status,
    } as never);
    expect(await explain(`shop/${name}`)).toContain(words);
  });

  it('given more pods than the operator could list, then it does not claim that an unlisted one is not counted', async () => {
    const { cluster, explain } = scene({}, { rows: 0, pods: 4000 });
    cluster.addPod('shop', 'web-2', '', { status: UNSCHEDULABLE });
    const text = await explain('shop/web-2');
    expect(text).toMatch(/lists 1 waiting pod; 4000\s+more\s+did\s+not\s+fit/);
    expect(text).not.toMatch(/does not count it|opted out/);
    expect(JSON.parse(await explain('shop/web-2', { output: 'json' })).situation).toBe('not-listed');
  });

  it('given a row whose verdict the operator could not list, then it does not say that there is none', async () => {
    const text = await scene({}, { rows: 7, pods: 0 }).explain('shop/web-1');
    expect(text).toMatch(/7 verdicts did not fit/);
    expect(text).not.toContain('sent no verdict');
  });

  it('given a user who may not read nodes or the ConfigMap, then these are named and the rest is shown', async () => {
    const forbidden: KubeHooks = {
      before: ({ path }) => {
        if (path.includes('configmaps')) throw new KubeError('forbidden', { status: 403 });
      },
    };
    const text = await scene().explain('shop/web-1', {}, forbidden);
    expect(text).toContain('ConfigMap bigfleet-system/bigfleet-verdicts: no right to read it.');
    expect(text).toContain('0/3 nodes');
  });

  it('given no such pod or no name of one, then the exit code is 2; given no answer, then 1', async () => {
    const { explain } = scene();
    const failure = async (id: string, hooks: KubeHooks = {}) =>
      await explain(id, {}, hooks).catch((error: unknown) => error);
    for (const id of ['shop/none', 'a/b/c', '/x', 'x/']) expect(exitCodeOf(await failure(id))).toBe(2);
    const down = await failure('shop/web-1', {
      before: () => {
        throw new KubeError('connect ECONNREFUSED', { status: 0 });
      },
    });
    expect(exitCodeOf(down)).toBe(1);
    expect(String(down)).toContain('BF_KUBE_FAILED');
  });
});

describe('bigfleet explain pod with a kubeconfig', () => {
  async function cluster() {
    const server = await ApiServer.start({ tls: true });
    const folder = mkdtempSync(join(tmpdir(), 'bigfleet-explain-'));
    onTestFinished(async () => {
      rmSync(folder, { recursive: true });
      await server.stop();
    });
    const kubeconfig = (token: string): string => {
      const ca = Buffer.from(server.ca!).toString('base64');
      const config = {
        clusters: [{ name: 'c', cluster: { server: server.url, 'certificate-authority-data': ca } }],
        users: [{ name: 'u', user: { token } }],
        contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'here',
      };
      const path = join(folder, `${token}.json`);
      writeFileSync(path, JSON.stringify(config));
      return path;
    };
    return { server, kubeconfig };
  }

  async function explain(...words: readonly string[]): Promise<string> {
    const parts: string[] = [];
    const command = explainCommand({ out: (text) => void parts.push(text), paint: noPaint });
    await command.parseAsync(['node', 'explain', 'pod', ...words]);
    return parts.join('');
  }

  it('given a file, then the pod is read from its API server, with the rights of its user', async () => {
    const { server, kubeconfig } = await cluster();
    await new MemoryClient(server.api).create('/api/v1/namespaces/default/pods', {
      metadata: { name: 'web-1' },
      spec: { containers: [{ name: 'main', image: 'x' }] },
    });
    const path = kubeconfig(ADMIN_TOKEN);
    expect(await explain('web-1', '--kubeconfig', path)).toContain('has not marked it Unschedulable');
    expect(await explain('web-1', '--kubeconfig', path, '--context', 'here')).toContain('Pod default/web-1');
    await expect(explain('web-2', '--kubeconfig', path)).rejects.toThrow('There is no pod "web-2"');
    await expect(explain('web-1', '--kubeconfig', kubeconfig('wrong'))).rejects.toThrow(
      /BF_KUBE_FAILED.*refused \(401\)/,
    );
  });

  it('given a context that is missing, or an API server that is down, then the error says so', async () => {
    const { server, kubeconfig } = await cluster();
    const path = kubeconfig(ADMIN_TOKEN);
    await expect(explain('web-1', '--kubeconfig', path, '--context', 'there')).rejects.toThrow('there');
    await server.stop();
    await expect(explain('web-1', '--kubeconfig', path)).rejects.toThrow(/BF_KUBE_FAILED.*does not answer/);
  });
});
