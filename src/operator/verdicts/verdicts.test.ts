import { describe, expect, it } from 'vitest';
import { MemoryCluster } from '../../../testing/support/memory-kube.ts';
import { noLog, RecordedEvents, RecordedMetrics } from '../../../testing/support/operator-parts.ts';
import { verdict } from '../../../testing/support/verdicts.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import {
  type NeedVerdicts_Verdict,
  RollupReport_Effect,
  RollupReport_Outcome,
} from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { CountedRequest, PendingPod, RowKey, UncountedObject } from '../demand/contract.ts';
import { KubeError } from '../kube/client.ts';
import { readVerdictMap, VERDICTS_CONFIG_MAP } from './verdict-map.ts';
import { VerdictTable } from './verdict-table.ts';
import { Verdicts } from './verdicts.ts';

const MAP = `/api/v1/namespaces/ops/configmaps/${VERDICTS_CONFIG_MAP}`;
const CR = '/apis/bigfleet.lucy.sh/v1alpha1/namespaces/a/capacityrequests';
const SELF = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'ops', name: 'operator' };
const UNMET = { unmetReason: 'PRIORITY_STARVED', cause: 'starved', sentence: 'lacks 2 machines of c5.large' };

class Scene {
  readonly clock = new VirtualClock(1_700_000_000_000);
  readonly cluster = new MemoryCluster(this.clock);
  readonly events = new RecordedEvents();
  readonly metrics = new RecordedMetrics();
  pods: PendingPod[] = [];
  requests: CountedRequest[] = [];
  uncounted: UncountedObject[] = [];
  writes = 0;
  isForbidden = false;
  /** As an API server answers while the status of a CapacityRequest has no phase. */
  isPhaseMissing = false;
  readonly verdicts: Verdicts;
  #cycle = 1n;

  constructor() {
    const kube = this.cluster.client({
      before: ({ path }) => {
        if (this.isPhaseMissing && path.endsWith('/status'))
          throw new KubeError('status.phase: Required value', { status: 422 });
        if (path !== MAP) return;
        this.writes++;
        if (this.isForbidden) throw new KubeError('forbidden', { status: 403 });
      },
    });
    this.verdicts = new Verdicts({
      kube,
      clock: this.clock,
      events: this.events,
      log: noLog,
      metrics: this.metrics,
      cluster: 'c',
      namespace: 'ops',
      self: SELF,
      pods: { pendingPods: () => this.pods },
      requests: () => this.requests,
      uncounted: () => this.uncounted,
      rowAt: (index) => ({ fingerprint: `f${index}`, group: '' }),
    });
    this.verdicts.start();
  }

  pod(name: string, fingerprint = 'f1', remarks: readonly string[] = []): void {
    this.pods.push({
      namespace: 'a',
      name,
      uid: `uid-${name}`,
      unschedulableSinceMs: this.clock.now(),
      row: { fingerprint, group: '' },
      resources: new Map(),
      remarks,
    });
  }

  says(full: boolean, ...verdicts: readonly NeedVerdicts_Verdict[]): void {
    this.verdicts.needVerdicts({ cycle: this.#cycle++, full, verdicts });
  }

  messages(): readonly string[] {
    return this.events.all.map(({ on, reason, message }) => `${on} ${reason}: ${message}`);
  }
}

describe('the table of verdicts', () => {
  const row = (fingerprint: string): RowKey => ({ fingerprint, group: '' });

  it('given full, changed and removed frames, then it has the current verdicts and since when rows are met', async () => {
    const clock = new VirtualClock(1000);
    const table = new VerdictTable(clock);
    expect(table.hasProfile('f1')).toBeNull();
    table.apply({ cycle: 7n, full: true, verdicts: [verdict('f1', '', { satisfied: true })] });
    table.apply({ cycle: 7n, full: false, verdicts: [verdict('f2', '')] });
    expect([table.get(row('f1'))?.metSinceMs, table.get(row('f2'))?.metSinceMs]).toEqual([1000, null]);
    await clock.advance(500);
    table.apply({
      cycle: 8n,
      full: false,
      verdicts: [verdict('f2', '', { satisfied: true, notConfigured: 1 })],
    });
    expect(table.get(row('f2'))?.metSinceMs).toBeNull();
    table.apply({ cycle: 9n, full: false, verdicts: [verdict('f2', '', { satisfied: true })] });
    expect(table.get(row('f2'))?.metSinceMs).toBe(1500);
    await clock.advance(500);
    // A new session sends all again, in two frames: rows that were met stay met since then.
    table.disconnected();
    expect(table.isLive).toBe(false);
    table.apply({ cycle: 20n, full: true, verdicts: [verdict('f1', '', { satisfied: true })] });
    table.apply({ cycle: 20n, full: false, verdicts: [verdict('f2', '', { satisfied: true })] });
    expect([table.get(row('f1'))?.metSinceMs, table.get(row('f2'))?.metSinceMs]).toEqual([1000, 1500]);
    table.apply({ cycle: 21n, full: false, verdicts: [verdict('f1', '', { removed: true })] });
    expect([table.size, table.hasProfile('f1'), table.hasProfile('f2')]).toEqual([1, false, true]);
    table.apply({ cycle: 30n, full: true, verdicts: [] });
    expect([table.size, table.hasProfile('f2')]).toEqual([0, false]);
  });
});

const R1 = { kind: 'CapacityRequest', namespace: 'a', name: 'r1', uid: 'u' } as const;

describe('Events on pods that wait', () => {
  it('given a verdict, then the pod says why it waits, and again only when that changes', async () => {
    const s = new Scene();
    s.pod('p1');
    s.says(true, verdict('f1', '', { ...UNMET, rowsAhead: 14 }));
    await s.clock.advance(60_000);
    expect(s.messages()).toEqual([
      'Pod a/p1 WaitingForMachines: Waiting for machines: lacks 2 machines of c5.large; 14 rows are ahead.',
    ]);
    s.says(false, verdict('f1', '', { satisfied: true, machineTotal: 3, notConfigured: 2 }));
    await s.clock.advance(10_000);
    s.says(false, verdict('f1', '', { satisfied: true, machineTotal: 3 }));
    await s.clock.advance(10_000);
    expect(s.events.reasons()).toEqual(['WaitingForMachines', 'MachinesJoining', 'MachinesReady']);
    expect(s.messages()[1]).toContain('2 of 3 machines');
  });

  it('given figures that change with every cycle, then the Event is rephrased every five minutes at most', async () => {
    const s = new Scene();
    s.pod('p1');
    s.says(true, verdict('f1', '', UNMET));
    for (let i = 1; i <= 60; i++) {
      s.says(false, verdict('f1', '', { ...UNMET, rowsAhead: i }));
      await s.clock.advance(10_000);
    }
    expect(s.events.all.length).toBeLessThanOrEqual(3);
  });

  it('given verdicts of a session that has ended, then nothing is said', async () => {
    const s = new Scene();
    s.says(true, verdict('f1', '', UNMET));
    s.verdicts.disconnected();
    s.pod('p1');
    await s.clock.advance(60_000);
    expect(s.events.all).toEqual([]);
  });

  it('given remarks of the translation, then the pod gets them once; given an object that is not counted, then its problem', async () => {
    const s = new Scene();
    s.pod('p1', 'f1', ['Anti-affinity is counted as one pod per machine.']);
    s.uncounted = [{ ...R1, problem: 'Gt is not supported.', isUnreadable: false }];
    await s.clock.advance(300_000);
    expect(s.messages()).toEqual([
      'Pod a/p1 NotExpressed: Anti-affinity is counted as one pod per machine.',
      'CapacityRequest a/r1 NotCounted: Gt is not supported.',
    ]);
  });

  it('given objects that cannot be read, then each gets an Event, and again only when the reason changes', async () => {
    const s = new Scene();
    // The pod counts as it was before, so it also waits for a verdict.
    s.pod('p1');
    s.says(true, verdict('f1', '', UNMET));
    const p1 = { kind: 'Pod', namespace: 'a', name: 'p1', uid: 'uid-p1' } as const;
    s.uncounted = [
      { ...p1, problem: 'It has no spec.', isUnreadable: true },
      { ...R1, problem: 'Its spec.resources is missing.', isUnreadable: true },
    ];
    await s.clock.advance(30 * 60_000);
    expect(s.messages()).toEqual([
      expect.stringContaining('Pod a/p1 WaitingForMachines'),
      'Pod a/p1 NotReadable: It has no spec.',
      'CapacityRequest a/r1 NotReadable: Its spec.resources is missing.',
    ]);
    s.uncounted = [{ ...R1, problem: 'Its spec.priority is a text.', isUnreadable: true }];
    await s.clock.advance(60_000);
    expect(s.messages().slice(3)).toEqual(['CapacityRequest a/r1 NotReadable: Its spec.priority is a text.']);
  });

  it('given a thousand pods of one row, then a tick writes at most 100 Events, and all pods get one in the end', async () => {
    const s = new Scene();
    for (let i = 0; i < 1000; i++) s.pod(`p${i}`);
    s.says(true, verdict('f1', '', UNMET));
    await s.clock.advance(10_000);
    expect(s.events.all).toHaveLength(100);
    await s.clock.advance(120_000);
    expect(s.events.all).toHaveLength(1000);
  });

  it('given reasons that change with every tick, then each pod has an Event, and none has more than its share', async () => {
    const s = new Scene();
    for (let i = 0; i < 500; i++) s.pod(`p${i}`);
    for (let tick = 0; tick < 12; tick++) {
      s.says(
        tick === 0,
        verdict('f1', '', { ...UNMET, cause: `cause-${tick}`, sentence: `sentence ${tick}` }),
      );
      await s.clock.advance(10_000);
    }
    const counts = Map.groupBy(s.events.all, ({ on }) => on);
    expect(counts.size).toBe(500);
    expect(Math.max(...[...counts.values()].map(({ length }) => length))).toBeLessThanOrEqual(3);
  });
});

describe('CapacityRequests', () => {
  const request = (name: string): CountedRequest => ({
    namespace: 'a',
    name,
    uid: `uid-${name}`,
    row: { fingerprint: 'f1', group: '' },
  });

  it('given our CRD, then the condition Satisfied follows the verdict', async () => {
    const s = new Scene();
    s.cluster.put(`${CR}/r1`, { metadata: { name: 'r1' }, status: { phase: 'Acknowledged' } });
    s.requests = [request('r1')];
    s.says(true, verdict('f1', '', UNMET));
    await s.clock.advance(10_000);
    expect(s.cluster.get(`${CR}/r1`)).toMatchObject({
      status: {
        phase: 'Acknowledged',
        conditions: [{ type: 'Satisfied', status: 'False', reason: 'WaitingForMachines' }],
      },
    });
    s.says(false, verdict('f1', '', { satisfied: true, machineTotal: 1 }));
    await s.clock.advance(10_000);
    expect(s.cluster.get(`${CR}/r1`)).toMatchObject({ status: { conditions: [{ status: 'True' }] } });
    expect(s.events.all).toEqual([]);
  });

  it('given a request that is not acknowledged yet, then the condition is written when it is', async () => {
    const s = new Scene();
    s.cluster.put(`${CR}/r1`, { metadata: { name: 'r1' } });
    s.requests = [request('r1')];
    s.isPhaseMissing = true;
    s.says(true, verdict('f1', '', UNMET));
    await s.clock.advance(15_000);
    s.isPhaseMissing = false;
    await s.clock.advance(45_000);
    expect(s.cluster.get(`${CR}/r1`)).toMatchObject({
      status: { conditions: [{ type: 'Satisfied', status: 'False' }] },
    });
  });

  it("given the reference's CRD, whose status has no conditions, then an Event says the same", async () => {
    const s = new Scene();
    s.cluster.prunedStatus.set(CR, ['phase', 'acknowledgedAt']);
    for (const name of ['r1', 'r2']) {
      s.cluster.put(`${CR}/${name}`, { metadata: { name }, status: { phase: 'Acknowledged' } });
      s.requests.push(request(name));
    }
    s.says(true, verdict('f1', '', UNMET));
    await s.clock.advance(60_000);
    expect(s.events.all.map(({ on }) => on)).toEqual(['CapacityRequest a/r1', 'CapacityRequest a/r2']);
  });
});

describe('reports on roll-ups', () => {
  const problem = {
    needIndex: 3,
    code: 'BF_X',
    path: 'needs[3]',
    message: 'too large',
    effect: RollupReport_Effect.EFFECT_SET_ASIDE,
  };

  it('given a row set aside, then an Event on the operator and on the pods of the row, once', () => {
    const s = new Scene();
    s.pod('p1', 'f3');
    s.pod('p2', 'f1');
    const report = {
      timestampUnixNanos: 1n,
      outcome: RollupReport_Outcome.OUTCOME_ACCEPTED,
      total: 1,
      problems: [problem],
    };
    s.verdicts.rollupReport(report);
    s.verdicts.rollupReport({ ...report, timestampUnixNanos: 2n });
    expect(s.events.all.map(({ on, reason }) => `${on} ${reason}`)).toEqual([
      'Deployment ops/operator RollupRemarks',
      'Pod a/p1 RowSetAside',
    ]);
    s.verdicts.rollupReport({ ...report, total: 0, problems: [] });
    expect(s.events.reasons().at(-1)).toBe('RollupAccepted');
  });

  it('given a refused roll-up, then the Event names outcome and problem', () => {
    const s = new Scene();
    s.verdicts.rollupReport({
      timestampUnixNanos: 1n,
      outcome: RollupReport_Outcome.OUTCOME_REFUSED,
      total: 70,
      problems: [{ ...problem, effect: RollupReport_Effect.EFFECT_REFUSED }],
    });
    expect(s.events.all).toMatchObject([{ type: 'Warning', reason: 'RollupNotAccepted' }]);
    expect(s.events.all[0]?.message).toMatch(/refused.*70 problems: needs\[3\]: too large/);
  });
});

describe('the ConfigMap of verdicts', () => {
  it('given pods and verdicts, then it has both, and is written only when they change, at most every ten seconds', async () => {
    const s = new Scene();
    s.pod('p1', 'f1', ['A remark.']);
    s.says(true, verdict('f1', '', UNMET), verdict('f2', '', { satisfied: true }));
    await s.clock.advance(120_000);
    expect(s.writes).toBe(1);
    const map = await readVerdictMap(s.cluster.client(), 'ops');
    expect(map).toMatchObject({
      cluster: 'c',
      isLive: true,
      rows: [{ fingerprint: 'f1', sentence: UNMET.sentence }, { fingerprint: 'f2' }],
    });
    expect(map?.pods.get('a/p1')).toMatchObject({ fingerprint: 'f1', group: '', remarks: ['A remark.'] });
    s.says(false, verdict('f2', '', { satisfied: false }));
    for (let i = 0; i < 5; i++) s.verdicts.tick();
    await s.clock.advance(10_000);
    expect(s.writes).toBe(2);
  });

  it('given more than fits, then rows that pods wait for come first and the rest is counted', async () => {
    const s = new Scene();
    s.pod('p1', 'f9999');
    const long = 'x'.repeat(450);
    const all = Array.from({ length: 10_000 }, (_, i) =>
      verdict(`f${i}`, '', { sentence: long, satisfied: i % 2 === 0 }),
    );
    for (let i = 0; i < all.length; i += 1000) s.says(i === 0, ...all.slice(i, i + 1000));
    await s.clock.advance(10_000);
    const text = JSON.stringify(s.cluster.get(MAP));
    expect(text.length).toBeLessThan(1_000_000);
    const map = (await readVerdictMap(s.cluster.client(), 'ops'))!;
    expect(map.rows[0]?.fingerprint).toBe('f9999');
    expect(map.cut.rows + map.rows.length).toBe(10_000);
  });

  it('given a backlog of 6,000 pods with remarks, then all are listed; of one of 60,000 the rest is counted', async () => {
    const s = new Scene();
    const add = (from: number, to: number) => {
      for (let i = from; i < to; i++)
        s.pod(`checkout-7d9fd5c8b6-${i}`, `f${i % 300}`, ['A remark.', `R${i % 5}`]);
    };
    add(0, 6000);
    s.says(true, verdict('f1', '', UNMET));
    await s.clock.advance(10_000);
    const map = (await readVerdictMap(s.cluster.client(), 'ops'))!;
    expect([map.pods.size, map.cut.pods]).toEqual([6000, 0]);
    expect(map.pods.get('a/checkout-7d9fd5c8b6-301')).toEqual({
      ...{ fingerprint: 'f1', group: '', remarks: ['A remark.', 'R1'] },
      since: new Date(Math.floor(s.pods[301]!.unschedulableSinceMs / 1000) * 1000).toISOString(),
    });
    add(6000, 60_000);
    await s.clock.advance(10_000);
    const full = (await readVerdictMap(s.cluster.client(), 'ops'))!;
    expect(full.cut.pods + full.pods.size).toBe(60_000);
    expect(JSON.stringify(s.cluster.get(MAP)).length).toBeLessThan(700_000);
  });

  it('given no right to write it, then it is tried again a minute later', async () => {
    const s = new Scene();
    s.isForbidden = true;
    s.says(true, verdict('f1', '', UNMET));
    await s.clock.advance(130_000);
    expect(s.writes).toBe(3);
    expect(s.metrics.values.get('bigfleet_operator_verdict_map_failures_total')).toBe(3);
  });

  it('given a ConfigMap of another version or spoilt, then it reads as none', async () => {
    const s = new Scene();
    for (const data of [{ 'verdicts.json': '{"version":2}' }, { 'verdicts.json': '{' }, {}, undefined]) {
      s.cluster.put(MAP, { metadata: { name: VERDICTS_CONFIG_MAP }, data });
      expect(await readVerdictMap(s.cluster.client(), 'ops')).toBeNull();
    }
  });
});
