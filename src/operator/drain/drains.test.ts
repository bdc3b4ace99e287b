import { describe, expect, it } from 'vitest';
import {
  DrainScene,
  KIND_EXCESS,
  KIND_PREEMPTION,
  KIND_UNSPECIFIED,
} from '../../../testing/support/drain-scene.ts';
import { nodeStateUpdate } from '../../../testing/support/operator-parts.ts';
import { MachineState } from '../../model/index.ts';
import { NodeReport_Kind } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { KubeError } from '../kube/client.ts';
import { DRAIN_ANNOTATION, DRAIN_FAILED_ANNOTATION } from '../nodes/node-table.ts';
import { drainFailedUntilMs } from './record.ts';

const { KIND_DRAINED, KIND_DRAIN_BLOCKED } = NodeReport_Kind;
const WEB = { app: 'web' };
const HOLD = { 'bigfleet.lucy.sh/do-not-disrupt': 'true' };

function scene(): DrainScene {
  const made = new DrainScene();
  made.node('n1');
  return made;
}

function pod(labels: Record<string, string> = {}, more: object = {}) {
  return { metadata: { name: '', labels, ...more } } as never;
}

describe('a reclaim', () => {
  it('given a node with pods, then it is cordoned and acknowledged, emptied and reported', async () => {
    const s = scene();
    s.cluster.addPod('a', 'p1', 'n1');
    s.cluster.addPod('a', 'p2', 'n1');
    s.start();
    s.instruct('i1', ['n1']);
    await s.clock.advance(0);
    expect(s.link.acks).toEqual([{ instructionId: 'i1', nodesStarted: 1 }]);
    expect(s.isCordoned('n1')).toBe(true);
    await s.clock.advance(10_000);
    expect([...s.evicted()].sort()).toEqual(['a/p1', 'a/p2']);
    expect(s.link.reports).toMatchObject([
      { machineId: 'm-n1', kind: KIND_DRAINED, instructionId: 'i1', nodeName: 'n1' },
    ]);
    expect(s.events.reasons()).toEqual(['DrainStarted', 'Drained']);
    expect(s.isCordoned('n1')).toBe(true);
  });

  it('given a machine id instead of a node name, then the node of that machine is drained', async () => {
    const s = scene();
    s.start();
    s.instruct('i1', ['m-n1']);
    await s.clock.advance(5_000);
    expect(s.link.reports).toMatchObject([{ machineId: 'm-n1', kind: KIND_DRAINED }]);
  });

  it('given pods of DaemonSets, static and finished ones, then they stay', async () => {
    const s = scene();
    const owned = (kind: string) => pod({}, { ownerReferences: [{ kind, controller: true }] });
    s.cluster.addPod('a', 'daemon', 'n1', owned('DaemonSet'));
    s.cluster.addPod('a', 'static', 'n1', pod({}, { annotations: { 'kubernetes.io/config.mirror': 'x' } }));
    s.cluster.addPod('a', 'done', 'n1', { status: { phase: 'Succeeded' } });
    s.cluster.addPod('a', 'work', 'n1', owned('ReplicaSet'));
    s.start();
    s.instruct('i1', ['n1']);
    await s.clock.advance(10_000);
    expect(s.evicted()).toEqual(['a/work']);
    expect(s.link.reports).toMatchObject([{ kind: KIND_DRAINED }]);
  });

  it('given a node that does not exist, then it is checked twice and reported as drained', async () => {
    const s = scene();
    s.start();
    s.instruct('i1', ['m-none']);
    await s.clock.advance(1_000);
    expect(s.link.reports).toEqual([]);
    await s.clock.advance(2_000);
    expect(s.link.acks).toHaveLength(1);
    expect(s.link.reports).toMatchObject([{ machineId: 'm-none', kind: KIND_DRAINED }]);
  });

  it('given a node that BigFleet does not manage, then it is left alone', async () => {
    const s = scene();
    s.cluster.addNode('control-plane');
    s.cluster.addPod('a', 'p1', 'control-plane');
    s.start();
    s.instruct('i1', ['control-plane']);
    await s.clock.advance(10_000);
    expect(s.evicted()).toEqual([]);
    expect(s.isCordoned('control-plane')).toBe(false);
    expect(s.link.reports).toMatchObject([{ kind: KIND_DRAIN_BLOCKED }]);
  });

  it('given a budget without room until the grace ends, then the node is uncordoned, named and protected for 30 min', async () => {
    const s = scene();
    s.cluster.addPod('a', 'web-1', 'n1', pod(WEB));
    s.cluster.addPod('a', 'free', 'n1');
    s.cluster.addBudget('a', 'web', WEB, 0);
    s.start();
    s.instruct('i1', ['n1']);
    await s.clock.advance(595_000);
    expect(s.isCordoned('n1')).toBe(true);
    await s.clock.advance(3_000);
    expect(s.isCordoned('n1')).toBe(false);
    expect(s.getNode('n1').metadata.annotations?.[DRAIN_ANNOTATION]).toBeUndefined();
    expect(s.link.reports).toMatchObject([
      { kind: KIND_DRAIN_BLOCKED, instructionId: 'i1', blockedBy: ['pdb/a/web'] },
    ]);
    expect(s.events.reasons()).toEqual(['DrainStarted', 'DrainBlocked', 'DrainFailed']);
    expect(s.events.all[1]?.message).toContain('pdb/a/web');
    // Nothing was moved for a drain that failed.
    expect(s.evicted()).toEqual([]);
    const drainFailed = s.getNode('n1').metadata.annotations![DRAIN_FAILED_ANNOTATION]!;
    const leftMs = drainFailedUntilMs({ drainFailed }) - s.clock.now();
    expect(Math.round(leftMs / 60_000)).toBe(30);
    // The shard repeats an instruction whose report it has not seen: it does not begin again.
    s.instruct('i1', ['n1']);
    await s.clock.advance(5_000);
    expect(s.isCordoned('n1')).toBe(false);
    expect(s.link.reports).toHaveLength(2);
  });

  it('given a budget that gets room later, then the drain finishes with the budget respected', async () => {
    const s = scene();
    s.cluster.addPod('a', 'web-1', 'n1', pod(WEB));
    s.cluster.addPod('a', 'free', 'n1');
    s.cluster.addBudget('a', 'web', WEB, 0);
    s.start();
    s.instruct('i1', ['n1']);
    await s.clock.advance(120_000);
    expect(s.metrics.values.get('bigfleet_operator_drain_blocked_by pdb')).toBe(1);
    s.cluster.setAllowed('a', 'web', 1);
    await s.clock.advance(60_000);
    expect(s.evicted()).toEqual(['a/web-1', 'a/free']);
    expect(s.link.reports).toMatchObject([{ kind: KIND_DRAINED }]);
    expect(s.metrics.values.get('bigfleet_operator_drain_blocked_by pdb')).toBe(0);
    // A budget whose status shows no room is not asked.
    expect(s.metrics.values.get('bigfleet_operator_evictions_total budget')).toBeUndefined();
  });

  it.each([
    HOLD,
    { 'karpenter.sh/do-not-disrupt': 'true' },
    { 'bigfleet.lucy.sh/do-not-disrupt': 'yes' },
    { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false' },
  ])('given a pod with %j, then nothing is evicted and the pod is named', async (annotations) => {
    const s = scene();
    s.cluster.addPod('a', 'held', 'n1', pod({}, { annotations }));
    s.cluster.addPod('a', 'free', 'n1');
    s.start();
    s.instruct('i1', ['n1']);
    await s.clock.advance(605_000);
    expect(s.evicted()).toEqual([]);
    expect(s.link.reports).toMatchObject([{ kind: KIND_DRAIN_BLOCKED, blockedBy: ['pod/a/held'] }]);
    expect(s.isCordoned('n1')).toBe(false);
  });

  it('given a shorter limit than the grace, then a reclaim and an excess end at the limit and a preemption does not', async () => {
    const s = scene();
    for (const node of ['n2', 'n3']) s.node(node);
    for (const node of ['n1', 'n2', 'n3']) s.cluster.addPod('a', `web-${node}`, node, pod(WEB));
    s.cluster.addBudget('a', 'web', WEB, 0);
    s.start({}, { settings: { maxReclaimMs: 60_000 } });
    s.instruct('i1', ['n1']);
    s.instruct('i2', ['n2'], { kind: KIND_PREEMPTION });
    s.instruct('i3', ['n3'], { kind: KIND_EXCESS, preemptorPriority: 5 });
    await s.clock.advance(58_000);
    expect(['n1', 'n2', 'n3'].map((node) => s.isCordoned(node))).toEqual([true, true, true]);
    await s.clock.advance(4_000);
    expect(['n1', 'n2', 'n3'].map((node) => s.isCordoned(node))).toEqual([false, true, false]);
  });

  it.each([
    ['with pods', HOLD, ['free']],
    ['without pods', HOLD, []],
    ['of cluster-autoscaler', { 'cluster-autoscaler.kubernetes.io/scale-down-disabled': 'true' }, ['free']],
  ])(
    'given a node that must not be disrupted, %s, then it is named and given up at the deadline',
    async (_, annotations, pods) => {
      const s = new DrainScene();
      s.node('n1', { annotations });
      for (const name of pods) s.cluster.addPod('a', name, 'n1');
      s.start();
      s.instruct('i1', ['n1'], { gracePeriodSeconds: 60n });
      await s.clock.advance(30_000);
      expect(s.metrics.values.get('bigfleet_operator_drain_blocked_by node')).toBe(1);
      await s.clock.advance(35_000);
      expect(s.evicted()).toEqual([]);
      expect(s.link.reports).toMatchObject([{ kind: KIND_DRAIN_BLOCKED, blockedBy: ['node/n1'] }]);
      expect(s.isCordoned('n1')).toBe(false);
    },
  );

  it('given a node that a person had cordoned, then it stays cordoned after the drain fails', async () => {
    const s = new DrainScene();
    s.node('n1', { spec: { unschedulable: true } });
    s.cluster.addPod('a', 'held', 'n1', pod({}, { annotations: HOLD }));
    s.start();
    s.instruct('i1', ['n1'], { gracePeriodSeconds: 60n });
    await s.clock.advance(65_000);
    expect(s.link.reports).toMatchObject([{ kind: KIND_DRAIN_BLOCKED }]);
    expect(s.isCordoned('n1')).toBe(true);
  });

  it('given pods that take longer to end than the grace, then the drain waits for them', async () => {
    const s = scene();
    s.cluster.addPod('a', 'slow', 'n1', { spec: { containers: [], terminationGracePeriodSeconds: 300 } });
    s.start();
    s.instruct('i1', ['n1'], { gracePeriodSeconds: 60n });
    await s.clock.advance(200_000);
    expect(s.link.reports).toEqual([]);
    expect(s.isCordoned('n1')).toBe(true);
    await s.clock.advance(120_000);
    expect(s.link.reports).toMatchObject([{ kind: KIND_DRAINED }]);
  });

  it('given a withdrawal, then the node is uncordoned and no further pod is evicted', async () => {
    const s = scene();
    s.cluster.addPod('a', 'web-1', 'n1', pod(WEB));
    s.cluster.addPod('a', 'web-2', 'n1', pod(WEB));
    s.cluster.addBudget('a', 'web', WEB, 1);
    s.start();
    s.instruct('i1', ['n1']);
    await s.clock.advance(10_000);
    s.drains.reclaimWithdrawal({ instructionId: 'i1', nodes: ['m-n1'], reason: 'needed again' });
    s.cluster.setAllowed('a', 'web', 1);
    await s.clock.advance(60_000);
    expect(s.evicted()).toHaveLength(1);
    expect(s.isCordoned('n1')).toBe(false);
    expect(s.events.reasons()).toContain('DrainWithdrawn');
    expect(s.link.reports).toEqual([]);
  });

  it('given a withdrawal while the cordon is under way, then the node does not stay cordoned', async () => {
    const s = scene();
    s.cluster.addPod('a', 'p1', 'n1');
    let isSlow = true;
    s.start({
      after: async ({ verb }) => {
        if (verb !== 'patch' || !isSlow) return;
        isSlow = false;
        await new Promise<void>((resolve) => s.clock.after(5_000, resolve));
      },
    });
    s.instruct('i1', ['n1']);
    await s.clock.advance(1_000);
    s.drains.reclaimWithdrawal({ instructionId: 'i1', nodes: ['n1'], reason: '' });
    await s.clock.advance(60_000);
    expect(s.isCordoned('n1')).toBe(false);
    expect(s.evicted()).toEqual([]);
  });
});

describe('a preemption', () => {
  it('given budgets and held pods at the deadline, then it goes on and names the budgets it broke', async () => {
    const s = scene();
    s.cluster.addPod('a', 'web-1', 'n1', pod(WEB));
    s.cluster.addPod('a', 'held', 'n1', pod({}, { annotations: HOLD }));
    s.cluster.addPod('a', 'free', 'n1');
    s.cluster.addBudget('a', 'web', WEB, 0);
    s.start();
    s.instruct('i1', ['n1'], { kind: KIND_PREEMPTION, gracePeriodSeconds: 120n });
    await s.clock.advance(109_000);
    expect(s.evicted()).toEqual(['a/free']);
    await s.clock.advance(10_000);
    expect(s.evicted()).toEqual(['a/free', 'a/held']);
    expect(s.cluster.deletions).toEqual(['/api/v1/namespaces/a/pods/web-1']);
    // The shard is told what blocks while the drain waits, and what was broken at its end.
    expect(s.link.reports).toMatchObject([
      { kind: KIND_DRAIN_BLOCKED, blockedBy: ['pdb/a/web', 'pod/a/held'] },
      { kind: KIND_DRAINED, blockedBy: ['pdb/a/web'] },
    ]);
    expect(s.link.reports[1]?.reason).toContain('pdb/a/web');
    expect(s.events.all.find(({ reason }) => reason === 'BudgetBroken')?.message).toContain('pdb/a/web');
    expect(s.isCordoned('n1')).toBe(true);
  });

  it('given no kind and a priority, which is a preemption of the reference, then it goes on at its deadline too', async () => {
    const given = { kind: KIND_UNSPECIFIED, preemptorPriority: -5 };
    const s = scene();
    s.cluster.addPod('a', 'held', 'n1', pod({}, { annotations: HOLD }));
    s.start();
    s.instruct('i1', ['n1'], { ...given, gracePeriodSeconds: 60n });
    await s.clock.advance(49_000);
    expect(s.evicted()).toEqual([]);
    await s.clock.advance(10_000);
    expect(s.link.reports).toMatchObject([
      { kind: KIND_DRAIN_BLOCKED, blockedBy: ['pod/a/held'] },
      { kind: KIND_DRAINED },
    ]);
  });

  it('given a kubelet that no longer answers, then the drain ends a minute after the pods should have', async () => {
    const s = scene();
    s.cluster.addPod('a', 'p1', 'n1', pod({}, { finalizers: ['x'] }));
    s.start();
    s.instruct('i1', ['n1'], { kind: KIND_PREEMPTION, gracePeriodSeconds: 30n });
    await s.clock.advance(80_000);
    expect(s.link.reports).toEqual([]);
    await s.clock.advance(40_000);
    expect(s.link.reports).toMatchObject([{ kind: KIND_DRAINED }]);
    expect(s.link.reports[0]?.reason).toContain('do not end');
  });

  it('given a pod of two budgets, which the eviction API never evicts, then it is deleted at the deadline', async () => {
    const s = scene();
    s.cluster.addPod('a', 'web-1', 'n1', pod(WEB));
    s.cluster.addBudget('a', 'web', WEB, 5);
    s.cluster.addBudget('a', 'all', {}, 5);
    s.start();
    s.instruct('i1', ['n1'], { kind: KIND_PREEMPTION, gracePeriodSeconds: 60n });
    await s.clock.advance(49_000);
    expect(s.metrics.values.get('bigfleet_operator_evictions_total failed')).toBeUndefined();
    await s.clock.advance(10_000);
    expect(s.link.reports.at(-1)).toMatchObject({
      kind: KIND_DRAINED,
      blockedBy: ['pdb/a/all', 'pdb/a/web'],
    });
  });
});

describe('budgets shared between nodes', () => {
  it('given three nodes with pods of one budget with room for one, then pods leave one at a time', async () => {
    const s = new DrainScene();
    for (const n of [1, 2, 3]) {
      s.node(`n${n}`);
      s.cluster.addPod('a', `web-${n}`, `n${n}`, pod(WEB));
    }
    s.cluster.addBudget('a', 'web', WEB, 1);
    // The replacement of an evicted pod is ready after 20 s.
    let refill = 0;
    const calls: string[] = [];
    s.start({
      after: ({ verb, path }) => {
        if (verb !== 'evict') return;
        calls.push(path);
        refill++;
        s.clock.after(20_000, () => {
          refill--;
          s.cluster.setAllowed('a', 'web', 1);
        });
        expect(refill).toBe(1);
      },
    });
    s.instruct('i1', ['n1']);
    s.instruct('i2', ['n2', 'n3']);
    await s.clock.advance(200_000);
    expect(calls).toHaveLength(3);
    expect(s.link.reports.map(({ kind }) => kind)).toEqual([KIND_DRAINED, KIND_DRAINED, KIND_DRAINED]);
  });

  it('given a preemption and a reclaim that want the same room, then the preemption gets it', async () => {
    const s = new DrainScene();
    for (const n of [1, 2]) {
      s.node(`n${n}`);
      s.cluster.addPod('a', `web-${n}`, `n${n}`, pod(WEB));
    }
    s.cluster.addBudget('a', 'web', WEB, 0);
    s.start();
    s.instruct('i1', ['n1']);
    s.instruct('i2', ['n2'], { kind: KIND_PREEMPTION });
    await s.clock.advance(20_000);
    s.cluster.setAllowed('a', 'web', 1);
    await s.clock.advance(60_000);
    expect(s.evicted()).toEqual(['a/web-2']);
  });

  it('given a status that promises room the API refuses, then attempts back off and end when it accepts', async () => {
    const s = scene();
    s.cluster.addPod('a', 'web-1', 'n1', pod(WEB));
    s.cluster.addBudget('a', 'web', WEB, 1);
    let refusals = 0;
    s.start({
      before: ({ verb }) => {
        if (verb !== 'evict' || s.clock.now() > 1_700_000_300_000) return;
        refusals++;
        throw new KubeError('no', { status: 429, causes: [{ reason: 'DisruptionBudget' }] });
      },
    });
    s.instruct('i1', ['n1']);
    await s.clock.advance(400_000);
    expect(refusals).toBeLessThan(25);
    expect(s.link.reports).toMatchObject([{ kind: KIND_DRAINED }]);
  });

  it('given a busy API server, then a plain 429 is not taken for a budget', async () => {
    const s = scene();
    s.cluster.addPod('a', 'p1', 'n1');
    let busy = 3;
    s.start({
      before: ({ verb }) => {
        if (verb === 'evict' && busy-- > 0) throw new KubeError('busy', { status: 429 });
      },
    });
    s.instruct('i1', ['n1']);
    await s.clock.advance(120_000);
    expect(s.metrics.values.get('bigfleet_operator_evictions_total failed')).toBe(3);
    expect(s.link.reports).toMatchObject([{ kind: KIND_DRAINED }]);
  });
});

describe('restarts and sessions', () => {
  it('given a restart, then the drain goes on with the remaining time once the shard repeats the instruction', async () => {
    const s = scene();
    s.cluster.addPod('a', 'web-1', 'n1', pod(WEB));
    s.cluster.addBudget('a', 'web', WEB, 0);
    s.start();
    s.instruct('i1', ['n1']);
    await s.clock.advance(400_000);
    s.drains.stop();
    s.start();
    s.drains.connected();
    s.instruct('i1', ['n1']);
    await s.clock.advance(190_000);
    expect(s.link.reports).toEqual([]);
    await s.clock.advance(20_000);
    expect(s.link.reports).toMatchObject([{ kind: KIND_DRAIN_BLOCKED, blockedBy: ['pdb/a/web'] }]);
  });

  it('given no connection, then nothing is evicted, and a reclaim ends at its deadline with the node uncordoned', async () => {
    const s = scene();
    s.cluster.addPod('a', 'web-1', 'n1', pod(WEB));
    s.cluster.addBudget('a', 'web', WEB, 0);
    s.start();
    s.instruct('i1', ['n1']);
    await s.clock.advance(60_000);
    s.link.isConnected = false;
    s.drains.disconnected();
    s.cluster.setAllowed('a', 'web', 1);
    await s.clock.advance(600_000);
    expect(s.evicted()).toEqual([]);
    expect(s.isCordoned('n1')).toBe(false);
    expect(s.link.reports).toEqual([]);
    s.link.isConnected = true;
    s.drains.connected();
    expect(s.link.reports).toMatchObject([{ kind: KIND_DRAIN_BLOCKED }]);
  });

  it('given a session in which the shard does not repeat the instruction, then the node is uncordoned after the resync', async () => {
    const s = scene();
    s.cluster.addPod('a', 'p1', 'n1');
    s.start();
    s.instruct('i1', ['n1']);
    await s.clock.advance(0);
    s.drains.stop();
    s.start();
    s.drains.connected();
    s.drains.resynced();
    await s.clock.advance(29_000);
    expect(s.isCordoned('n1')).toBe(true);
    await s.clock.advance(5_000);
    expect(s.isCordoned('n1')).toBe(false);
    expect(s.link.reports.at(-1)).toMatchObject({ kind: KIND_DRAIN_BLOCKED, instructionId: 'i1' });
  });

  it('given a record that cannot be read, then the node is uncordoned after the resync', async () => {
    const s = new DrainScene();
    s.node('n1', { annotations: { [DRAIN_ANNOTATION]: '{"kind":7' }, spec: { unschedulable: true } });
    s.start();
    s.drains.connected();
    s.drains.resynced();
    await s.clock.advance(40_000);
    expect(s.isCordoned('n1')).toBe(false);
    expect(s.getNode('n1').metadata.annotations).toEqual({});
  });

  it('given a lost answer to the write that the node is drained, and then to a read, then DRAINED is still reported', async () => {
    const s = scene();
    const lost = new KubeError('connection lost', { status: 0 });
    let isMarked = false;
    let failures = 0;
    s.start({
      before: async ({ verb }) => {
        if (isMarked && verb === 'list' && failures++ === 0) throw lost;
      },
      after: async ({ verb, body }) => {
        if (isMarked || verb !== 'patch' || !JSON.stringify(body).includes('drained')) return;
        isMarked = true;
        throw lost;
      },
    });
    s.instruct('i1', ['n1']);
    await s.clock.advance(60_000);
    expect(failures).toBeGreaterThan(0);
    expect(s.link.reports).toMatchObject([{ machineId: 'm-n1', kind: KIND_DRAINED }]);
  });

  it('given a drained node and a restart, then DRAINED is reported again after the hello', async () => {
    const s = scene();
    s.start();
    s.instruct('i1', ['n1']);
    await s.clock.advance(5_000);
    s.drains.stop();
    s.start();
    s.drains.connected();
    expect(s.link.reports.map(({ kind }) => kind)).toEqual([KIND_DRAINED, KIND_DRAINED]);
  });

  it('given a shard that does not report a machine with pods after a hello, then its Node stays and is uncordoned', async () => {
    const s = scene();
    s.cluster.addPod('a', 'held', 'n1', pod({}, { annotations: HOLD }));
    s.start();
    s.instruct('i1', ['n1']);
    await s.clock.advance(1_000);
    s.drains.connected();
    s.states.delete('m-n1');
    s.drains.machineUnreported('m-n1');
    s.drains.resynced();
    await s.clock.advance(40_000);
    expect(s.getNode('n1')).toBeDefined();
    expect(s.isCordoned('n1')).toBe(false);
  });

  it('given a node uncordoned by hand during a drain, then it is cordoned again', async () => {
    const s = scene();
    s.cluster.addPod('a', 'held', 'n1', pod({}, { annotations: HOLD }));
    s.start();
    s.instruct('i1', ['n1']);
    await s.clock.advance(1_000);
    s.cluster.put('/api/v1/nodes/n1', { ...s.getNode('n1'), spec: {} });
    await s.clock.advance(20_000);
    expect(s.isCordoned('n1')).toBe(true);
  });

  it('given an API server that fails for a minute, then the drain starts and is acknowledged afterwards', async () => {
    const s = scene();
    s.cluster.addPod('a', 'p1', 'n1');
    s.start({
      before: () => {
        if (s.clock.now() < 1_700_000_060_000) throw new KubeError('down', { status: 0 });
      },
    });
    s.instruct('i1', ['n1']);
    await s.clock.advance(59_000);
    expect(s.link.acks).toEqual([]);
    await s.clock.advance(30_000);
    expect(s.link.acks).toHaveLength(1);
    expect(s.link.reports).toMatchObject([{ kind: KIND_DRAINED }]);
  });
});

describe('a shard without drain reports', () => {
  function legacy(): DrainScene {
    const s = scene();
    s.link.features = new Set();
    return s;
  }

  it('given pods that a budget holds, then they are tried until the deadline and left to the provider', async () => {
    const s = legacy();
    s.cluster.addPod('a', 'web-1', 'n1', pod(WEB));
    s.cluster.addPod('a', 'free', 'n1');
    s.cluster.addBudget('a', 'web', WEB, 0);
    s.start();
    s.instruct('i1', ['n1'], { kind: KIND_UNSPECIFIED, gracePeriodSeconds: 60n });
    await s.clock.advance(120_000);
    expect(s.evicted()).toEqual(['a/free']);
    expect(s.cluster.deletions).toEqual([]);
    // The machine leaves: the node stays cordoned.
    expect(s.isCordoned('n1')).toBe(true);
    expect(s.events.reasons()).toContain('DrainEnded');
  });

  it('given a connection that breaks, then the evictions go on, since the provider has been called', async () => {
    const s = legacy();
    s.cluster.addPod('a', 'web-1', 'n1', pod(WEB));
    s.cluster.addBudget('a', 'web', WEB, 0);
    s.start();
    s.instruct('i1', ['n1']);
    await s.clock.advance(0);
    s.link.isConnected = false;
    s.drains.disconnected();
    s.cluster.setAllowed('a', 'web', 1);
    await s.clock.advance(20_000);
    expect(s.evicted()).toEqual(['a/web-1']);
  });

  it('given a machine that the shard reports as Configured again, then its node is uncordoned', async () => {
    const s = legacy();
    s.cluster.addPod('a', 'held', 'n1', pod({}, { annotations: HOLD }));
    s.start();
    s.instruct('i1', ['n1'], { kind: KIND_UNSPECIFIED });
    await s.clock.advance(1_000);
    s.drains.nodeStateUpdate(nodeStateUpdate('m-n1', MachineState.Draining));
    s.drains.nodeStateUpdate(nodeStateUpdate('m-n1', MachineState.Configured));
    await s.clock.advance(1_000);
    expect(s.isCordoned('n1')).toBe(false);
  });
});
