import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MemoryCluster } from '../../../testing/support/memory-kube.ts';
import {
  noLog,
  RecordedEvents,
  RecordedLink,
  RecordedMetrics,
} from '../../../testing/support/operator-parts.ts';
import { verdict } from '../../../testing/support/verdicts.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import type { PendingPod } from '../demand/contract.ts';
import { KubeError } from '../kube/client.ts';
import { VerdictTable } from '../verdicts/verdict-table.ts';
import { EpisodeStore } from './episode.ts';
import { Episodes } from './episodes.ts';

const MINUTE = 60_000;
const ROW = { fingerprint: 'f1', group: '' };

class Scene {
  readonly clock = new VirtualClock(1_700_000_000_000);
  readonly cluster = new MemoryCluster(this.clock);
  readonly verdicts = new VerdictTable(this.clock);
  readonly events = new RecordedEvents();
  readonly link = new RecordedLink();
  readonly metrics = new RecordedMetrics();
  readonly emptySince = new Map<string, number>();
  pending: PendingPod[] = [];
  podsInRow = 5;
  isWritable = true;
  isCurrent = true;
  episodes!: Episodes;

  async start(): Promise<this> {
    const kube = this.cluster.client({
      before: ({ verb }) => {
        if (verb === 'patch' && !this.isWritable) throw new KubeError('no', { status: 403 });
      },
    });
    this.episodes = new Episodes({
      clock: this.clock,
      store: new EpisodeStore(kube, 'bigfleet'),
      link: this.link,
      pods: { pendingPods: () => this.pending, podsIn: () => this.podsInRow },
      verdicts: this.verdicts,
      emptySinceMs: (machine) => this.emptySince.get(machine) ?? null,
      isCurrent: () => this.isCurrent,
      events: this.events,
      log: noLog,
      metrics: this.metrics,
    });
    await this.episodes.restore();
    return this;
  }

  stuck(name: string, cpu = 1000, row = ROW): void {
    this.pending.push({
      namespace: 'a',
      name,
      uid: `uid-${name}`,
      unschedulableSinceMs: this.clock.now(),
      row,
      resources: new Map([['cpu', cpu]]),
      remarks: [],
    });
  }

  /** The verdict on a row or an episode. */
  says(group: string, more: Parameters<typeof verdict>[2] = {}, fingerprint = 'f1'): void {
    const isFirst = !this.verdicts.isLive;
    this.verdicts.apply({ cycle: 1n, full: isFirst, verdicts: [verdict(fingerprint, group, more)] });
  }

  /** Ticks every ten seconds. */
  async pass(ms: number): Promise<void> {
    for (let at = 0; at < ms; at += 10_000) {
      await this.clock.advance(10_000);
      await this.episodes.tick();
    }
  }

  groups(): readonly string[] {
    return this.episodes.extraNeeds().map(({ group }) => group);
  }
}

const MET = { satisfied: true, machines: ['m-1'], machineTotal: 1 };

describe('episodes of stuck pods', () => {
  it('given pods unschedulable for T beside a met Need, then an episode asks for them once more', async () => {
    const s = await new Scene().start();
    s.says('', MET);
    s.stuck('p1', 1000);
    s.stuck('p2', 3000);
    await s.pass(4 * MINUTE + 50_000);
    expect(s.groups()).toEqual([]);
    await s.pass(10_000);
    expect(s.episodes.extraNeeds()).toEqual([
      {
        fingerprint: 'f1',
        group: 'stuck:1700000300',
        aggregate: new Map([['cpu', 4000]]),
        minUnit: new Map([['cpu', 3000]]),
      },
    ]);
    expect(s.events.reasons()).toEqual(['StuckPod', 'StuckPod']);
    expect(s.metrics.values.get('bigfleet_operator_episodes_open')).toBe(1);
    expect(s.link.rollups).toBe(1);
    await s.pass(30 * MINUTE);
    expect(s.groups()).toHaveLength(1);
  });

  it.each([
    ['not met', { satisfied: false }],
    ['met with machines that still join', { satisfied: true, machineTotal: 1, notConfigured: 1 }],
  ])('given a Need that is %s, then its pods are not stuck', async (_, more) => {
    const s = await new Scene().start();
    s.says('', more);
    s.stuck('p1');
    await s.pass(20 * MINUTE);
    expect(s.groups()).toEqual([]);
  });

  it('given a Need that is met only now, then its pods get T from then on', async () => {
    const s = await new Scene().start();
    s.says('', { satisfied: false });
    s.stuck('p1');
    await s.pass(20 * MINUTE);
    s.says('', MET);
    await s.pass(4 * MINUTE);
    expect(s.groups()).toEqual([]);
    await s.pass(2 * MINUTE);
    expect(s.groups()).toHaveLength(1);
  });

  it('given pods that came while a watch was lost, then they get T from its return on', async () => {
    const s = await new Scene().start();
    s.says('', MET);
    s.isCurrent = false;
    s.stuck('p1');
    await s.pass(20 * MINUTE);
    // The next roll-up has these pods, and the shard answers that the Need is not met, but only after a while.
    s.isCurrent = true;
    await s.pass(4 * MINUTE);
    expect(s.groups()).toEqual([]);
    await s.pass(2 * MINUTE);
    expect(s.groups()).toHaveLength(1);
  });

  async function opened(): Promise<Scene & { group: string }> {
    const s = await new Scene().start();
    s.says('', MET);
    s.stuck('p1');
    await s.pass(5 * MINUTE);
    return Object.assign(s, { group: s.groups()[0]! });
  }

  it('given pods that run on the machine of the episode, then it stays open, however long', async () => {
    const s = await opened();
    s.says(s.group, { satisfied: true, machines: ['m-9'], machineTotal: 1 });
    s.pending = [];
    await s.pass(60 * MINUTE);
    expect(s.groups()).toEqual([s.group]);
  });

  it('given that every machine of its own verdict is empty for two minutes, then it ends', async () => {
    const s = await opened();
    s.pending = [];
    s.says(s.group, { satisfied: true, machines: ['m-8', 'm-9'], machineTotal: 2 });
    // Another machine of the cluster that is empty does not count.
    s.emptySince.set('m-1', s.clock.now());
    s.emptySince.set('m-8', s.clock.now());
    await s.pass(10 * MINUTE);
    expect(s.groups()).toHaveLength(1);
    s.emptySince.set('m-9', s.clock.now());
    await s.pass(MINUTE + 50_000);
    expect(s.groups()).toHaveLength(1);
    await s.pass(10_000);
    expect(s.groups()).toEqual([]);
    expect(s.metrics.values.get('bigfleet_operator_episodes_total empty')).toBe(1);
  });

  it('given a row without pods, then its episode ends', async () => {
    const s = await opened();
    s.pending = [];
    s.podsInRow = 0;
    await s.pass(10_000);
    expect(s.groups()).toEqual([]);
  });

  it('given an episode that gets no machine and pods that run all the same, then it ends after two minutes', async () => {
    const s = await opened();
    s.says(s.group, { satisfied: false });
    await s.pass(10 * MINUTE);
    expect(s.groups()).toHaveLength(1);
    s.pending = [];
    await s.pass(2 * MINUTE + 10_000);
    expect(s.groups()).toEqual([]);
  });

  it('given pods that are still stuck T after their episode was met, then a new one opens', async () => {
    const s = await opened();
    s.says(s.group, { satisfied: true, machines: ['m-9'], machineTotal: 1, notConfigured: 1 });
    await s.pass(10 * MINUTE);
    expect(s.groups()).toHaveLength(1);
    s.says(s.group, { satisfied: true, machines: ['m-9'], machineTotal: 1 });
    await s.pass(4 * MINUTE + 50_000);
    expect(s.groups()).toHaveLength(1);
    await s.pass(20_000);
    expect(s.groups()).toHaveLength(2);
  });

  it('given a pod that no episode helps, then episodes come ever more slowly', async () => {
    const s = await new Scene().start();
    s.says('', MET);
    s.stuck('p1');
    const opens: number[] = [];
    for (let minute = 0; minute < 6 * 60; minute++) {
      await s.pass(MINUTE);
      for (const group of s.groups()) {
        if (s.emptySince.has(group)) continue;
        opens.push(minute);
        s.emptySince.set(group, s.clock.now());
        s.says(group, { satisfied: true, machines: [group], machineTotal: 1 });
      }
    }
    expect(opens.length).toBeGreaterThan(5);
    expect(opens.length).toBeLessThan(16);
  });

  it('given many stuck rows, then at most 20 episodes and 50 machines are open', async () => {
    const s = await new Scene().start();
    for (let i = 0; i < 30; i++) {
      s.says('', MET, `f${i}`);
      for (let n = 0; n < 4; n++) s.stuck(`p${i}-${n}`, 1000, { fingerprint: `f${i}`, group: '' });
    }
    await s.pass(10 * MINUTE);
    expect(s.groups().length).toBeLessThanOrEqual(20);
    const pods = s.episodes
      .extraNeeds()
      .reduce((sum, { aggregate }) => sum + aggregate.get('cpu')! / 1000, 0);
    expect(pods).toBe(50);
    expect(new Set(s.groups()).size).toBe(s.groups().length);
  });

  it('given a restart, then open episodes go on under the same group', async () => {
    const s = await opened();
    const needs = s.episodes.extraNeeds();
    await s.start();
    expect(s.episodes.extraNeeds()).toEqual(needs);
    s.says(s.group, { satisfied: true, machines: ['m-9'], machineTotal: 1 });
    await s.pass(2 * MINUTE);
    expect(s.groups()).toEqual([s.group]);
  });

  it('given a ConfigMap that cannot be written, then the episode is not asked for until it can', async () => {
    const s = await new Scene().start();
    s.isWritable = false;
    s.says('', MET);
    s.stuck('p1');
    await s.pass(6 * MINUTE);
    expect(s.groups()).toEqual([]);
    s.isWritable = true;
    await s.pass(10_000);
    expect(s.groups()).toHaveLength(1);
  });

  it('given a ConfigMap that another program has spoilt, then the operator starts without episodes', async () => {
    const s = new Scene();
    s.cluster.put('/api/v1/namespaces/bigfleet/configmaps/bigfleet-episodes', {
      metadata: { name: 'bigfleet-episodes' },
      data: { 'episodes.json': '{"version":1,"episodes":[{"group":"x"}]}' },
    });
    await s.start();
    expect(s.episodes.isRestored).toBe(true);
    expect(s.groups()).toEqual([]);
  });

  it('given a shard without verdicts, then stuck pods get one Event and no episode', async () => {
    const s = await opened();
    s.link.features = new Set();
    s.stuck('p2');
    await s.pass(20 * MINUTE);
    expect(s.groups()).toEqual([]);
    expect(s.events.all.slice(1).map(({ on, type }) => `${type} ${on}`)).toEqual([
      'Warning Pod a/p1',
      'Warning Pod a/p2',
    ]);
  });

  it('given no session, then nothing opens or ends', async () => {
    const s = await opened();
    s.link.isConnected = false;
    s.podsInRow = 0;
    await s.pass(10 * MINUTE);
    expect(s.groups()).toEqual([s.group]);
  });

  it('given any course of verdicts and pods, then the bounds hold and each group is unique', async () => {
    const step = fc.record({
      row: fc.nat(3),
      pods: fc.nat(8),
      satisfied: fc.boolean(),
      empty: fc.boolean(),
      minutes: fc.integer({ min: 1, max: 8 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
        const s = await new Scene().start();
        const seen = new Set<string>();
        let open: ReadonlySet<string> = new Set();
        for (const [i, { row, pods, satisfied, empty, minutes }] of steps.entries()) {
          const key = { fingerprint: `f${row}`, group: '' };
          s.pending = s.pending.filter((pod) => pod.row.fingerprint !== key.fingerprint);
          for (let n = 0; n < pods; n++) s.stuck(`p${i}-${n}`, 1000, key);
          s.says('', { ...MET, satisfied }, key.fingerprint);
          await s.pass(minutes * MINUTE);
          const needs = s.episodes.extraNeeds();
          const groups = new Set(needs.map(({ group }) => group));
          for (const group of groups) {
            expect(open.has(group) || !seen.has(group)).toBe(true);
            seen.add(group);
          }
          open = groups;
          let machines = 0;
          for (const { fingerprint, group, aggregate } of needs) {
            const total = Math.ceil(aggregate.get('cpu')! / 2000);
            machines += total;
            const names = Array.from({ length: total }, (_, m) => `${group}-${m}`);
            s.says(group, { satisfied: true, machines: names, machineTotal: total }, fingerprint);
            if (empty) for (const name of names) s.emptySince.set(name, s.clock.now());
          }
          expect(needs.length).toBeLessThanOrEqual(20);
          expect(machines).toBeLessThanOrEqual(50);
        }
      }),
      { numRuns: 40 },
    );
  });
});
