// `bigfleet assess` from files and from API servers over HTTP, with its errors and its report.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ADMIN_TOKEN, ApiServer } from '../../testing/kube/api-server.ts';
import { MemoryClient } from '../../testing/kube/memory-client.ts';
import { CATALOGUE, kubectlList, node, podOn } from '../../testing/support/assess-clusters.ts';
import type { Assessment } from '../assess/index.ts';
import { type AssessIo, assessCommand } from './assess.ts';
import { exitCodeOf } from './exit-codes.ts';
import { LINE_WIDTH, noPaint } from './table.ts';

const NODES = [node('n1', 'small', 4), node('n2', 'small', 4), node('n3', 'other', 4)];
const PODS = [podOn('n1', 'a', '1'), podOn('n2', 'b', '1'), podOn('n3', 'c', '1')];
const FILES: Readonly<Record<string, string>> = {
  'prices.yaml': CATALOGUE,
  'dir/web.json': kubectlList(...NODES, ...PODS),
  'batch.json': kubectlList(node('n1', 'large', 16), podOn('n1', 'a', '1'), podOn('', 'w', '2')),
};

async function run(words: readonly string[], files: Readonly<Record<string, string>> = FILES, stepMs = 0) {
  const seen = { out: '', err: '', written: new Map<string, string>() };
  let nowMs = Date.UTC(2026, 0, 1);
  const io: AssessIo = {
    read: async (file) => files[file] ?? readFileSync(file, 'utf8'),
    write: async (file, text) => {
      if (file.startsWith('/no/')) throw new Error('ENOENT: no such file or directory');
      seen.written.set(file, text);
    },
    out: (text) => {
      seen.out += text;
    },
    err: (text) => {
      seen.err += text;
    },
    paint: noPaint,
    now: () => {
      nowMs += stepMs;
      return nowMs;
    },
  };
  const command = assessCommand(io)
    .exitOverride()
    .configureOutput({ outputError: () => {} });
  await command.parseAsync(['node', 'assess', ...words]);
  return seen;
}

async function failure(words: readonly string[], files = FILES): Promise<unknown> {
  return await run(words, files).catch((error: unknown) => error);
}

const FROM_FILES = ['--from', 'dir/web.json', '--from', 'batch.json', '--catalogue', 'prices.yaml'];

describe('bigfleet assess from files', () => {
  it('given two files, then the report has both clusters, invented prices and what was left out', async () => {
    const { err, out } = await run(FROM_FILES);
    expect(out).toContain('Assessment of 2 clusters, 2026-01-01T00:00:00.000Z');
    expect(out).toMatch(/INVENTED PRICES: prices\.yaml names no real source/);
    expect(out).toMatch(/^web +2 +\$2\.00 +2 +0 +1$/m);
    expect(out).toMatch(/^batch +1 +\$3\.00 +2 +1 +1$/m);
    expect(out).toMatch(/^all +3 +\$5\.00 +4 +1 +2$/m);
    expect(out).toContain('web: 1 node, other (not in the catalogue): left out of every figure');
    expect(out).toMatch(/^BigFleet, on demand +2 +\$2\.00 +\$1,460\.00 +-\$3\.00$/m);
    expect(out).toContain('Pods that wait now and cost nothing yet: 1.');
    for (const title of ['What sharing one pool saves', 'What is stranded', 'What was not read'])
      expect(out).toContain(`\n${title}`);
    expect(err).toBe('');
    expect(out.split('\n').filter((line) => line.length > LINE_WIDTH)).toEqual([]);
  });

  it('given -o json and --html, then both have the figures', async () => {
    const { out, written } = await run([...FROM_FILES, '-o', 'json', '--html', 'report.html']);
    const assessment = JSON.parse(out) as Assessment;
    expect(assessment.catalogue).toEqual({ file: 'prices.yaml', isInvented: true, source: '', date: '' });
    expect(assessment.now.dollarsPerHour).toBe(5);
    expect(assessment.sharing).toMatchObject({ avoidedPerHour: 0 });
    expect(written.get('report.html')).toContain('$5.00');
  });

  it('given a catalogue that names source and date, then they are reported instead of the warning', async () => {
    const prices = `source: npm package prices 1.0.0\ndate: 2025-12-01\n${CATALOGUE}`;
    const { out } = await run(FROM_FILES, { ...FILES, 'prices.yaml': prices });
    expect(out).toContain('Prices: prices.yaml, from npm package prices 1.0.0, of 2025-12-01.');
    expect(out).not.toContain('INVENTED');
    const marked = await run(FROM_FILES, { ...FILES, 'prices.yaml': `invented: true\n${prices}` });
    expect(marked.out).toContain('INVENTED');
  });

  it('given steps that take long, then it prints progress; quick ones print none', async () => {
    const { err } = await run(FROM_FILES, FILES, 1500);
    expect(err).toMatch(/Adding up the pods of web …\nBigFleet on demand: cycle 1 …\n/);
    expect(err.split('\n').length).toBeGreaterThan(3);
  });

  it('given the example catalogue, then it can be used and is marked as invented', async () => {
    const file = 'examples/catalogues/invented-eu-west-1.yaml';
    const web = kubectlList(node('n1', 'm6i.large', 2), podOn('n1', 'a', '1'));
    const { out } = await run(['--from', 'web.json', '--catalogue', file], { 'web.json': web });
    expect(out).toContain('INVENTED PRICES');
    expect(out).toMatch(/^BigFleet, on demand +1 /m);
  });

  it.each([
    ['a file that does not exist', ['--from', 'gone.json'], {}, /BF_INPUT_UNREADABLE.*gone\.json/s],
    [
      'text that is not JSON',
      ['--from', 'x.json'],
      { 'x.json': 'kind: List' },
      /x\.json is not JSON.*kubectl get/s,
    ],
    [
      'one object',
      ['--from', 'x.json'],
      { 'x.json': '{"kind":"Deployment"}' },
      /It is a Deployment, not a List/,
    ],
    ['an empty list', ['--from', 'x.json'], { 'x.json': kubectlList() }, /There are no nodes in it/],
    [
      'a list without pods',
      ['--from', 'x.json'],
      { 'x.json': kubectlList(NODES[0]!) },
      /There are no pods in it/,
    ],
    [
      'a pod without a spec',
      ['--from', 'x.json'],
      { 'x.json': kubectlList(NODES[0]!, { kind: 'Pod', metadata: { name: 'a' } }) },
      /The pod \/a has no spec\.containers/,
    ],
    [
      'two files of one name',
      ['--from', 'dir/web.json', '--from', 'web.json'],
      { 'web.json': FILES['dir/web.json']! },
      /Two clusters have the name "web"/,
    ],
    ['files and contexts', ['--from', 'batch.json', '--contexts', 'a'], {}, /either --from or --contexts/],
    ['contexts without a name', ['--contexts', ','], {}, /names no context/],
    [
      'a bad catalogue',
      ['--from', 'batch.json'],
      { 'prices.yaml': 'offerings: []' },
      /prices\.yaml:\s+offerings: There must be/,
    ],
    [
      'a page that cannot be written',
      ['--from', 'batch.json', '--html', '/no/x.html'],
      {},
      /BF_OUTPUT_UNWRITABLE/,
    ],
  ] as const)('given %s, then the error says so with exit code 2', async (_, words, files, message) => {
    const error = await failure([...words, '--catalogue', 'prices.yaml'], { ...FILES, ...files });
    expect(String(error)).toMatch(message);
    expect(exitCodeOf(error)).toBe(2);
  });
});

describe('bigfleet assess with a kubeconfig', () => {
  const USER = { name: 'reader', groups: [] };

  async function scene() {
    const server = await ApiServer.start();
    const folder = mkdtempSync(join(tmpdir(), 'bigfleet-assess-'));
    onTestFinished(async () => {
      rmSync(folder, { recursive: true });
      await server.stop();
    });
    server.api.addToken('reader', USER);
    const client = new MemoryClient(server.api);
    for (const each of NODES.slice(0, 2)) await client.create('/api/v1/nodes', each);
    for (const { metadata, spec } of PODS.slice(0, 2)) {
      const containers = spec.containers.map((container) => ({ ...container, image: 'x' }));
      await client.create('/api/v1/namespaces/default/pods', {
        metadata: { name: metadata.name },
        spec: { ...spec, containers },
      });
    }
    const context = (name: string, user: string) => ({ name, context: { cluster: 'c', user } });
    const file = join(folder, 'config');
    writeFileSync(
      file,
      JSON.stringify({
        clusters: [{ name: 'c', cluster: { server: server.url } }],
        users: [ADMIN_TOKEN, 'reader'].map((token) => ({ name: token, user: { token } })),
        contexts: [context('east', ADMIN_TOKEN), context('west', ADMIN_TOKEN), context('limited', 'reader')],
        'current-context': 'east',
      }),
    );
    const allow = async (...resources: readonly string[]) => {
      const rbac = '/apis/rbac.authorization.k8s.io/v1';
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'reader' };
      await client.create(`${rbac}/clusterroles`, {
        metadata: { name: 'reader' },
        rules: [{ apiGroups: [''], resources, verbs: ['list'] }],
      });
      await client.create(`${rbac}/clusterrolebindings`, {
        metadata: { name: 'reader' },
        roleRef,
        subjects: [{ kind: 'User', name: 'reader' }],
      });
    };
    const words = ['--kubeconfig', file, '--catalogue', 'prices.yaml'];
    server.api.counts.clear();
    return { server, allow, words };
  }

  it('given two contexts, then each is one cluster; resources are listed once and nothing else is called', async () => {
    const { server, words } = await scene();
    const { out } = await run([...words, '--contexts', 'east,west']);
    expect(out).toMatch(/^east +2 +\$2\.00 +2 +0 /m);
    expect(out).toMatch(/^west +2 +\$2\.00 +2 +0 /m);
    expect(out).not.toContain('What was not read');
    const resources = ['daemonsets', 'namespaces', 'nodes', 'persistentvolumeclaims', 'persistentvolumes'];
    const all = [...resources, 'poddisruptionbudgets', 'pods', 'priorityclasses'];
    expect(server.api.counts).toEqual(new Map(all.map((each) => [`list ${each}`, 2])));
  });

  it('given no --contexts, then the current one is assessed, by its name', async () => {
    const { words } = await scene();
    const { out } = await run(words);
    expect(out).toContain('Assessment of 1 cluster,');
    expect(out).toMatch(/^east +2 +\$2\.00 /m);
  });

  it('given a user without the right to list pods, then the error names it with exit code 1', async () => {
    const { allow, words } = await scene();
    await allow('nodes');
    const error = await failure([...words, '--contexts', 'limited']);
    expect(String(error)).toContain('In cluster limited there is no right to list pods in all namespaces');
    expect(exitCodeOf(error)).toBe(1);
  });

  it('given a user who may list pods and nodes only, then it says what else it lacks', async () => {
    const { allow, words } = await scene();
    await allow('nodes', 'pods');
    const { out } = await run([...words, '--contexts', 'limited']);
    expect(out).toMatch(/^limited +2 +\$2\.00/m);
    expect(out).toContain(
      'Not readable: no right to list daemonsets.apps in all namespaces, so machines are sized',
    );
  });

  it('given a context that does not exist, then nothing is read, exit code 2; given no answer, then 1', async () => {
    const { server, words } = await scene();
    const unknown = await failure([...words, '--contexts', 'east,nort']);
    expect(String(unknown)).toMatch(/no context named nort/);
    expect(exitCodeOf(unknown)).toBe(2);
    expect([...server.api.counts]).toEqual([]);
    await server.stop();
    const down = await failure([...words, '--contexts', 'east']);
    expect(String(down)).toContain('The API server of cluster east does not answer');
    expect(exitCodeOf(down)).toBe(1);
  });
});
