// The parts of a cluster in a whole operator, with the fake Kubernetes API and a shard in memory, on the virtual clock.

import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeApi } from '../../../testing/kube/fake-api.ts';
import { MemoryClient } from '../../../testing/kube/memory-client.ts';
import { bootstrapRequest, fingerprintOf, MemoryShard } from '../../../testing/operator/memory-shard.ts';
import { nodeStateUpdate } from '../../../testing/support/operator-parts.ts';
import { verdict } from '../../../testing/support/verdicts.ts';
import { MachineState } from '../../model/index.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import {
  NodeReport_Kind,
  ReclaimInstruction_Kind,
  RollupReport_Effect,
  RollupReport_Outcome,
} from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { makeAuthority } from '../../wire/grpc/certificates.ts';
import type { KubeObject, PatchOptions, PatchType, RequestOptions } from '../kube/index.ts';
import { customResourceDefinitions } from '../manifests/crds.ts';
import { RealClusterParts } from './cluster-parts.ts';
import { loadSettings } from './load-settings.ts';
import { startOperator } from './operator.ts';

const CA = makeAuthority({
  name: 'example',
  notBefore: new Date('2020-01-01'),
  notAfter: new Date('2060-01-01'),
}).certificate;
const API = '/apis/bigfleet.lucy.sh/v1alpha1';

/** Notes all writes but those of the Lease. */
class RecordingClient extends MemoryClient {
  readonly writes: string[] = [];
  /** Its requests wait behind others. */
  isBusy = false;

  override get<T extends KubeObject>(path: string, options?: RequestOptions): Promise<T> {
    return this.isBusy ? new Promise(() => {}) : super.get(path, options);
  }

  override create<T extends KubeObject>(path: string, object: unknown, options?: RequestOptions): Promise<T> {
    this.#note('create', path);
    if (this.isBusy) return new Promise(() => {});
    return super.create(path, object, options);
  }

  override patch<T extends KubeObject>(
    path: string,
    type: PatchType,
    body: unknown,
    options?: PatchOptions,
  ): Promise<T> {
    this.#note('patch', path);
    if (this.isBusy) return new Promise(() => {});
    return super.patch(path, type, body, options);
  }

  override update<T extends KubeObject>(path: string, object: unknown, options?: RequestOptions): Promise<T> {
    this.#note('update', path);
    return super.update(path, object, options);
  }

  override delete(path: string, body?: unknown, options?: RequestOptions): Promise<void> {
    this.#note('delete', path);
    return super.delete(path, body, options);
  }

  #note(verb: string, path: string): void {
    if (!path.includes('/leases')) this.writes.push(`${verb} ${path}`);
  }
}

function cluster() {
  const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const api = new FakeApi({ clock });
  api.admin('POST', '/api/v1/namespaces', { metadata: { name: 'ops' } });
  for (const crd of customResourceDefinitions())
    api.admin('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);

  async function replica(name: string) {
    const shard = new MemoryShard();
    const client = new RecordingClient(api);
    const urgentClient = new RecordingClient(api);
    const lines: string[] = [];
    const settings = loadSettings({
      file: { path: 'x', text: 'bootstrap: { mode: tokens, endpoint: "api:6443" }' },
      flags: {
        cluster: 'web',
        'shard.addresses': '127.0.0.1:1',
        listen: '127.0.0.1:0',
        'kubernetes.namespace': 'ops',
      },
    });
    if (!settings.ok) throw new Error(JSON.stringify(settings.problems));
    const operator = await startOperator(settings.value, {
      log: (_, event) => void lines.push(event),
      clock,
      dialer: shard,
      env: { POD_NAME: name },
      seed: name.charCodeAt(0),
      factories: {
        connect: () => ({
          client,
          urgentClient,
          leaseClient: new RecordingClient(api),
          server: 'https://10.0.0.1:443',
          caBundle: CA,
          isInCluster: true,
          origin: 'memory',
          close: () => {},
        }),
        parts: (context) => new RealClusterParts(context),
      },
    });
    // The Lease is released on the virtual clock, which nothing advances at the end of a test.
    onTestFinished(() => void operator.stop());
    await clock.advance(100);
    return { operator, shard, lines, client, writes: client.writes };
  }

  const addPod = (name: string, spec: object = {}): void => {
    const path = '/api/v1/namespaces/default/pods';
    api.admin('POST', path, {
      metadata: { name },
      spec: { containers: [{ name: 'main', image: 'x', resources: { requests: { cpu: '2' } } }], ...spec },
    });
    const condition = {
      type: 'PodScheduled',
      status: 'False',
      reason: 'Unschedulable',
      lastTransitionTime: new Date(clock.now()).toISOString(),
    };
    api.admin(
      'PATCH',
      `${path}/${name}/status`,
      { status: { phase: 'Pending', conditions: [condition] } },
      'application/merge-patch+json',
    );
  };
  /** A node with the label of machine `m-NAME`, or known to the shard by its provider id alone. */
  const addNode = (name: string, isLabelled: boolean): void =>
    void api.admin('POST', '/api/v1/nodes', {
      metadata: { name, labels: isLabelled ? { 'bigfleet.lucy.sh/machine': `m-${name}` } : {} },
      spec: { providerID: `cloud:///${name}` },
      status: { allocatable: { cpu: '4' } },
    });
  const addRunning = (name: string, nodeName: string): void => {
    const path = '/api/v1/namespaces/default/pods';
    const containers = [{ name: 'main', image: 'x', resources: { requests: { cpu: '2' } } }];
    api.admin('POST', path, { metadata: { name, labels: { app: name } }, spec: { nodeName, containers } });
    const type = 'application/merge-patch+json';
    api.admin('PATCH', `${path}/${name}/status`, { status: { phase: 'Running' } }, type);
  };
  /** A budget of the pods with this name that allows no disruption. */
  const addBudget = (name: string): void => {
    const path = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
    api.admin('POST', path, {
      metadata: { name },
      spec: { minAvailable: 1, selector: { matchLabels: { app: name } } },
    });
    const type = 'application/merge-patch+json';
    api.admin('PATCH', `${path}/${name}/status`, { status: { disruptionsAllowed: 0 } }, type);
  };
  const addRequest = (name: string): void =>
    void api.admin('POST', `${API}/namespaces/default/capacityrequests`, {
      metadata: { name },
      spec: { priority: 0, resources: { cpu: '1' } },
    });
  const statusOf = (name: string) =>
    (api.admin('GET', `${API}/namespaces/default/capacityrequests/${name}`) as { status?: object }).status;
  const eventsOn = (name: string): readonly string[] =>
    api.store
      .all('events')
      .filter((event) => (event['regarding'] as { name: string }).name === name)
      .map((event) => event['reason'] as string);
  return { clock, api, replica, addPod, addNode, addRunning, addBudget, addRequest, statusOf, eventsOn };
}

/** Accepts the session, then the roll-up that the operator sends. Returns the fingerprint of its first row. */
async function accept(shard: MemoryShard, clock: VirtualClock): Promise<string> {
  shard.last.ackHello();
  await clock.advance(2_000);
  const { timestampUnixNanos, needs } = shard.last.rollups.at(-1)!;
  shard.last.ackRollup(timestampUnixNanos);
  await clock.advance(1_000);
  return needs[0] === undefined ? '' : fingerprintOf(needs[0]);
}

describe('a standby', () => {
  it('given a leader, then it follows the objects of the cluster, writes nothing and opens no session', async () => {
    const { clock, replica, addPod, addRequest } = cluster();
    await replica('a');
    const standby = await replica('b');
    addPod('web-1');
    addRequest('r');
    await clock.advance(30_000);
    expect(standby.operator.isLeader).toBe(false);
    expect(standby.shard.connections).toEqual([]);
    const response = await fetch(`http://${standby.operator.address}/readyz`);
    expect(response.status).toBe(200);
    const metrics = await (await fetch(`http://${standby.operator.address}/metrics`)).text();
    expect(metrics).toContain('bigfleet_operator_objects 2\n');
    expect(metrics).toContain('bigfleet_operator_watch_lists{resource="pods"} 1\n');
    expect(standby.writes).toEqual([]);
  });
});

describe('a take-over', () => {
  it('given nodes that are empty and protected for minutes, then the first roll-up of the new leader says so too', async () => {
    const { clock, replica, addNode, addRunning, addBudget } = cluster();
    addNode('empty', true);
    addNode('kept', true);
    addRunning('web', 'kept');
    addBudget('web');
    const first = await replica('a');
    const second = await replica('b');
    await accept(first.shard, clock);
    for (let seconds = 0; seconds < 180; seconds += 10) {
      await clock.advance(10_000);
      first.shard.last.ackRollup();
    }
    const facts = first.shard.last.rollups.at(-1)!.nodeFacts;
    const kept = [{ machineId: 'm-kept' }];
    expect(facts).toMatchObject({ empty: ['m-empty'], inUse: [], protected: kept });
    await clock.until(first.operator.stop());
    await clock.advance(20_000);
    await accept(second.shard, clock);
    expect(second.shard.last.rollups[0]!.nodeFacts).toEqual(facts);
  });

  it('given budgets that are listed late at a start, then no node is reported as in use that they protect', async () => {
    const { clock, api, replica, addNode, addRunning, addBudget } = cluster();
    addNode('kept', true);
    addRunning('web', 'kept');
    addBudget('web');
    const end = api.faults.add({
      when: ({ resource }) => resource === 'poddisruptionbudgets',
      answer: { status: 500 },
    });
    const { shard } = await replica('a');
    await accept(shard, clock);
    expect(shard.last.rollups[0]!.nodeFacts).toMatchObject({ inUse: [], protected: [] });
    end();
    await clock.advance(40_000);
    const { nodeFacts } = shard.last.rollups.at(-1)!;
    expect(nodeFacts).toMatchObject({ inUse: [], protected: [{ machineId: 'm-kept' }] });
  });
});

describe('nodes that the shard ties to machines', () => {
  it('given a node that has no label yet, then the first roll-up waits for the shard to name its machine', async () => {
    const { clock, replica, addNode, addRunning } = cluster();
    addNode('n', false);
    addRunning('web', 'n');
    const { shard } = await replica('a');
    shard.last.ackHello();
    await clock.advance(200);
    const update = nodeStateUpdate('m-n', MachineState.Configured, { providerId: 'n' });
    shard.last.tell({ $case: 'nodeStateUpdate', value: update });
    await clock.advance(3_000);
    expect(shard.last.rollups.map(({ needs }) => needs.length)).toEqual([1]);
  });

  it('given a node of another node group, then the first roll-up waits for a second, and for ten while machines are reported', async () => {
    const { clock, replica, addNode } = cluster();
    addNode('other', false);
    const { shard } = await replica('a');
    shard.last.ackHello();
    await clock.advance(1_500);
    expect(shard.last.rollups).toHaveLength(1);
    shard.last.drop();
    await clock.advance(5_000);
    const next = shard.last;
    next.ackHello();
    for (let i = 0; i < 40; i++) {
      expect(next.rollups.length > 0).toBe(i >= 20);
      const update = nodeStateUpdate(`m-${i}`, MachineState.Configuring);
      next.tell({ $case: 'nodeStateUpdate', value: update });
      await clock.advance(500);
    }
  });

  it('given a node with pods whose machine is named later, then the shard has its pods within two seconds', async () => {
    const { clock, replica, addNode, addRunning } = cluster();
    addNode('n', false);
    addRunning('web', 'n');
    const { shard } = await replica('a');
    await accept(shard, clock);
    expect(shard.last.rollups.at(-1)!.needs).toHaveLength(0);
    const before = shard.last.rollups.length;
    const update = nodeStateUpdate('m-n', MachineState.Configured, { providerId: 'n' });
    shard.last.tell({ $case: 'nodeStateUpdate', value: update });
    await clock.advance(2_000);
    expect(shard.last.rollups.slice(before).map(({ needs }) => needs.length)).toEqual([1]);
  });
});

describe('a Node that is removed while pods are on it', () => {
  const minutes = async (shard: MemoryShard, clock: VirtualClock, count: number): Promise<void> => {
    for (let i = 0; i < count * 6; i++) {
      await clock.advance(10_000);
      shard.last.ackRollup();
    }
  };

  it('given pods that Kubernetes has not collected yet, then they count for two minutes', async () => {
    const { clock, api, replica, addNode, addRunning } = cluster();
    addNode('n', true);
    addRunning('web', 'n');
    const { shard } = await replica('a');
    await accept(shard, clock);
    expect(shard.last.rollups.at(-1)!.needs).toHaveLength(1);
    api.admin('DELETE', '/api/v1/nodes/n');
    await minutes(shard, clock, 1);
    expect(shard.last.rollups.at(-1)!.needs).toMatchObject([{ aggregateResources: new Map([['cpu', '2']]) }]);
    await minutes(shard, clock, 2);
    expect(shard.last.rollups.at(-1)!.needs).toEqual([]);
  });

  it('given a new Node of that name which BigFleet does not manage, then pods on it do not count', async () => {
    const { clock, api, replica, addNode, addRunning } = cluster();
    addNode('n', true);
    addRunning('web', 'n');
    const { shard } = await replica('a');
    await accept(shard, clock);
    api.admin('DELETE', '/api/v1/nodes/n');
    await clock.advance(1_000);
    addNode('n', false);
    await minutes(shard, clock, 1);
    expect(shard.last.rollups.at(-1)!.needs).toEqual([]);
  });
});

describe('the replica that leads', () => {
  it('given a CapacityRequest, then it is acknowledged after its roll-up was, and the verdict is its condition', async () => {
    const { clock, replica, addRequest, statusOf } = cluster();
    addRequest('r');
    const { shard, operator } = await replica('a');
    shard.last.ackHello();
    await clock.advance(5_000);
    const [rollup] = shard.last.rollups;
    expect(rollup!.needs).toHaveLength(1);
    const metrics = async () => (await fetch(`http://${operator.address}/metrics`)).text();
    expect(await metrics()).toContain('bigfleet_operator_nodes_reported{fact="protected"} 0\n');
    expect(statusOf('r')).toBeUndefined();
    shard.last.ackRollup(rollup!.timestampUnixNanos);
    await clock.advance(1_000);
    expect(statusOf('r')).toMatchObject({ phase: 'Acknowledged' });
    expect(await metrics()).toContain('bigfleet_operator_acknowledge_duration_seconds_count 1\n');
    expect(await metrics()).toContain('bigfleet_operator_dispatch_inflight 0\n');
    const met = verdict(fingerprintOf(rollup!.needs[0]!), '', { satisfied: true, machineTotal: 1 });
    shard.last.tell({ $case: 'needVerdicts', value: { cycle: 1n, full: true, verdicts: [met] } });
    await clock.advance(15_000);
    expect(statusOf('r')).toMatchObject({
      phase: 'Acknowledged',
      conditions: [{ type: 'Satisfied', status: 'True', reason: 'MachinesReady' }],
    });
  });

  it('given a pod that begins to wait, then the shard knows within two seconds, not at the next interval', async () => {
    const { clock, replica, addPod } = cluster();
    const { shard } = await replica('a');
    await accept(shard, clock);
    const before = shard.last.rollups.length;
    addPod('web-1');
    await clock.advance(2_000);
    expect(shard.last.rollups.slice(before).map(({ needs }) => needs.length)).toEqual([1]);
  });

  it('given a row that the shard has set aside, then its pods get an Event', async () => {
    const { clock, replica, addPod, eventsOn } = cluster();
    addPod('web-1');
    const { shard } = await replica('a');
    await accept(shard, clock);
    const { timestampUnixNanos } = shard.last.rollups[0]!;
    const problem = {
      needIndex: 0,
      code: 'BF_QUANTITY_SYNTAX',
      path: 'needs[0]',
      message: 'Too large.',
      effect: RollupReport_Effect.EFFECT_SET_ASIDE,
    };
    const outcome = RollupReport_Outcome.OUTCOME_ACCEPTED;
    shard.last.tell({
      $case: 'rollupReport',
      value: { timestampUnixNanos, outcome, total: 1, problems: [problem] },
    });
    await clock.advance(15_000);
    expect(eventsOn('web-1')).toContain('RowSetAside');
  });

  it('given episodes of an earlier leader, then its first roll-up has them', async () => {
    const { clock, api, replica, addPod } = cluster();
    addPod('web-1');
    const first = await replica('a');
    const fingerprint = await accept(first.shard, clock);
    await clock.until(first.operator.stop());
    const amounts = { aggregate: { cpu: 2000 }, minUnit: { cpu: 2000 } };
    const episode = {
      fingerprint,
      rowGroup: '',
      group: 'stuck:1',
      openedMs: clock.now(),
      pods: [],
      ...amounts,
    };
    api.admin('POST', '/api/v1/namespaces/ops/configmaps', {
      metadata: { name: 'bigfleet-episodes' },
      data: { 'episodes.json': JSON.stringify({ version: 1, episodes: [episode], attempts: {} }) },
    });
    const { shard } = await replica('b');
    await clock.advance(20_000);
    await accept(shard, clock);
    expect(shard.last.rollups[0]!.needs.map(({ group }) => group)).toEqual(['', 'stuck:1']);
  });

  it('given a client with a long queue after a take-over, then drains and bootstrap tokens do not wait for it', async () => {
    const { clock, api, replica, addNode } = cluster();
    addNode('n', true);
    const { shard, client } = await replica('a');
    shard.last.ackHello();
    shard.last.tell({
      $case: 'nodeStateUpdate',
      value: nodeStateUpdate('m-n', MachineState.Configured, { providerId: 'n' }),
    });
    await clock.advance(1_000);
    client.isBusy = true;
    const instruction = {
      ...{ instructionId: 'i1', nodes: ['n'], gracePeriodSeconds: 60n },
      ...{ preemptorPriority: 5, kind: ReclaimInstruction_Kind.KIND_PREEMPTION },
    };
    shard.last.tell({ $case: 'reclaimInstruction', value: instruction });
    shard.last.tell({ $case: 'bootstrapRequest', value: bootstrapRequest() });
    await clock.advance(5_000);
    const { spec } = api.admin('GET', '/api/v1/nodes/n') as { spec?: { unschedulable?: boolean } };
    expect(spec?.unschedulable).toBe(true);
    expect(shard.last.of('nodeReport')).toMatchObject([{ kind: NodeReport_Kind.KIND_DRAINED }]);
    expect(shard.last.of('bootstrapResponse')).toMatchObject([{ error: '' }]);
  });

  it('given the loss of its Lease, then its session ends, and it writes nothing any more', async () => {
    const { clock, api, replica, addPod, addRequest } = cluster();
    const { operator, shard, writes } = await replica('a');
    await accept(shard, clock);
    addRequest('r');
    await clock.advance(30_000);
    expect(writes).toContain('patch /api/v1/namespaces/ops/configmaps/bigfleet-verdicts');
    api.faults.add({ when: ({ resource }) => resource === 'leases', answer: { status: 500 } });
    const connection = shard.last;
    await clock.advance(12_000);
    expect(operator.isLeader).toBe(false);
    expect(connection.isClosed).toBe(true);
    const before = writes.length;
    addPod('web-1');
    connection.ackRollup(connection.rollups.at(-1)!.timestampUnixNanos);
    await clock.advance(10 * 60_000);
    expect(writes.slice(before)).toEqual([]);
    expect(shard.last).toBe(connection);
  });

  it('given a term that ended before the shard acknowledged, then the same replica acknowledges in its next one', async () => {
    const { clock, api, replica, addRequest, statusOf } = cluster();
    addRequest('r');
    const { operator, shard } = await replica('a');
    shard.last.ackHello();
    await clock.advance(1_000);
    expect(shard.last.rollups[0]!.needs).toHaveLength(1);
    const end = api.faults.add({ when: ({ resource }) => resource === 'leases', answer: { status: 500 } });
    await clock.advance(12_000);
    expect(operator.isLeader).toBe(false);
    end();
    const { length } = shard.connections;
    while (shard.connections.length === length) await clock.advance(1_000);
    expect(operator.isLeader).toBe(true);
    await accept(shard, clock);
    expect(statusOf('r')).toMatchObject({ phase: 'Acknowledged' });
  });

  it.each([
    ['verdicts', undefined, 6 * 60_000],
    ['no verdicts', [] as readonly string[], 31 * 60_000],
  ])(
    'given a shard with %s and a pod with alternatives, then the pod asks for the next one when its row stays short',
    async (_, features, longMs) => {
      const { clock, replica, addPod } = cluster();
      const term = (key: string) => ({ matchExpressions: [{ key, operator: 'Exists' }] });
      const nodeSelectorTerms = [term('rack'), term('pool')];
      addPod('web-1', {
        affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
      });
      const { shard } = await replica('a');
      shard.last.ackHello(features);
      await clock.advance(2_000);
      const asked = () =>
        shard.last.rollups.at(-1)!.needs.flatMap(({ requirements }) => requirements.map(({ key }) => key));
      expect(asked()).toContain('rack');
      const unmet = verdict(fingerprintOf(shard.last.rollups[0]!.needs[0]!), '', { satisfied: false });
      shard.last.tell({ $case: 'needVerdicts', value: { cycle: 1n, full: true, verdicts: [unmet] } });
      for (let ms = 0; ms < longMs - 2 * 60_000; ms += 10_000) {
        shard.last.ackRollup();
        await clock.advance(10_000);
      }
      expect(asked()).toContain('rack');
      for (let ms = 0; ms < 3 * 60_000; ms += 10_000) {
        shard.last.ackRollup();
        await clock.advance(10_000);
      }
      expect(asked()).toContain('pool');
    },
  );

  it('given an API server that fails at take-over, then the session begins when it answers, and no machine is lost', async () => {
    const { clock, api, replica, addPod } = cluster();
    addPod('web-1');
    const end = api.faults.add({ when: ({ resource }) => resource === 'upcomingnodes', answer: 'reset' });
    const { shard, lines, operator } = await replica('a');
    await clock.advance(20_000);
    expect(operator.isLeader).toBe(true);
    expect(lines.filter((line) => line === 'take-over-failed').length).toBeGreaterThan(2);
    expect(shard.connections).toEqual([]);
    end();
    for (let seconds = 0; seconds < 40 && shard.connections.length === 0; seconds++)
      await clock.advance(1_000);
    expect(shard.connections).toHaveLength(1);
    shard.last.ackHello();
    shard.last.tell({ $case: 'nodeStateUpdate', value: nodeStateUpdate('m-1', MachineState.Configuring) });
    await clock.advance(90_000);
    expect(shard.last.rollups[0]!.needs).toHaveLength(1);
    const upcoming = api.admin('GET', `${API}/upcomingnodes`) as unknown as { items: readonly unknown[] };
    expect(upcoming.items).toHaveLength(1);
  });
});
