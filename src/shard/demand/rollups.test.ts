// Roll-ups through the sessions: what reaches the controller, what is acknowledged, stored and reported back.

import { describe, expect, it, vi } from 'vitest';
import { ControllerScene } from '../../../testing/support/controller-scene.ts';
import {
  aClock,
  acked,
  aSlowStore,
  type Bench,
  bench,
  firstSeen,
  type Operator,
  reporting,
  rollupOf,
  wireNeed,
} from '../../../testing/support/sessions.ts';
import {
  type RollupReport,
  RollupReport_Effect,
  RollupReport_Outcome,
} from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { RollupIntake, status } from '../../wire/index.ts';
import { DEFAULT_SESSION_LIMITS } from '../sessions/limits.ts';
import { type DemandStore, MemoryDemandStore } from '../storage/demand-store.ts';
import { FORGET_AFTER_MS } from './first-seen.ts';

const START = aClock().now();

const prioritiesOf = ({ demandOf }: Bench) => demandOf('c1')?.map(({ profile }) => profile.priority);

describe('a roll-up', () => {
  it('given the first one, then the controller receives its rows with the time of the shard, and it is acknowledged', async () => {
    const made = await reporting();
    await made.report([wireNeed(1), wireNeed(2, { group: 'g' })]);
    expect(made.demandOf('c1')).toMatchObject([
      { cluster: 'c1', group: '', firstSeenMs: START, minUnit: new Map([['cpu', 1000]]) },
      { cluster: 'c1', group: 'g', firstSeenMs: START },
    ]);
    expect(acked(made.operator)).toBe(1);
  });

  it('given a controller that requests the whole one, then it receives all rows with their times, and later deltas apply', async () => {
    const made = await reporting();
    await made.sessions.repostDemand('c1');
    await made.report([wireNeed(1), wireNeed(2)]);
    await made.clock.advance(1000);
    await made.report([wireNeed(2), wireNeed(3)]);
    const before = made.demandOf('c1');
    made.events.length = 0;
    await made.sessions.repostDemand('c1');
    expect(made.events).toMatchObject([{ kind: 'demand', delta: { base: 0, version: 2 } }]);
    expect(made.demandOf('c1')).toEqual(before);
    expect(before?.map(({ firstSeenMs }) => firstSeenMs - START)).toEqual([0, 1000]);
    await made.report([wireNeed(3)]);
    expect(prioritiesOf(made)).toEqual([3]);
  });

  it('given a controller that requests the whole one while a roll-up is being written, then it is sent after that one', async () => {
    const { store, writes } = aSlowStore();
    const made = await reporting({ store });
    await made.report([wireNeed(1)]);
    const reposted = made.sessions.repostDemand('c1');
    expect(made.events.filter(({ kind }) => kind === 'demand')).toEqual([]);
    for (const written of writes) written.resolve();
    await reposted;
    expect(made.events.filter(({ kind }) => kind === 'demand')).toMatchObject([
      { delta: { base: 0, version: 1, fresh: [{}] } },
      { delta: { base: 0, version: 1, fresh: [{}] } },
    ]);
  });

  it('given a second one, then it replaces the first completely', async () => {
    const made = await reporting();
    await made.report([wireNeed(1), wireNeed(2)]);
    await made.report([wireNeed(3)]);
    expect(prioritiesOf(made)).toEqual([3]);
    await made.report([]);
    expect(prioritiesOf(made)).toEqual([]);
  });

  it('given an equal one with another timestamp, then it is acknowledged at once, without decoding and without an event', async () => {
    const made = await reporting();
    await made.report(5);
    const events = made.events.length;
    const read = vi.spyOn(RollupIntake.prototype, 'reading');
    made.operator.rollup(rollupOf('c1', 5));
    expect(acked(made.operator)).toBe(2);
    expect(read).not.toHaveBeenCalled();
    read.mockRestore();
    expect(made.events).toHaveLength(events);
    expect(made.sessions.counters).toMatchObject({ rollupsUnchanged: 1, rollupsAccepted: 1 });
  });

  it('given an equal one on the next session, then it is acknowledged at once too', async () => {
    const made = await reporting();
    await made.report(5);
    const next = made.greet('c1');
    next.rollup(rollupOf('c1', 5));
    expect(acked(next)).toBe(1);
  });

  it('given one changed row, then the other rows are the identical objects', async () => {
    const made = await reporting();
    await made.report([wireNeed(1), wireNeed(2), wireNeed(3)]);
    const before = made.demandOf('c1')!;
    await made.clock.advance(5000);
    await made.report([
      wireNeed(1),
      wireNeed(2, { aggregateResources: new Map([['cpu', '9']]) }),
      wireNeed(3),
    ]);
    const after = made.demandOf('c1')!;
    expect(after.map((need, i) => need === before[i])).toEqual([true, false, true]);
    expect(after[1]).toMatchObject({ firstSeenMs: START, aggregate: new Map([['cpu', 9000]]) });
  });

  it('given rows that were merged, then the merged row stays the identical object', async () => {
    const made = await reporting();
    await made.report([wireNeed(1), wireNeed(1), wireNeed(2)]);
    const before = made.demandOf('c1')!;
    await made.report([wireNeed(1), wireNeed(1), wireNeed(3)]);
    expect(made.demandOf('c1')![0]).toBe(before[0]);
    expect(before[0]!.aggregate.get('cpu')).toBe(8000);
  });

  it('given invalid rows, then it is refused as a whole with all its problems, without an ack, and the last demand stays', async () => {
    const made = await reporting();
    await made.report([wireNeed(1)]);
    await made.report([
      wireNeed(1),
      wireNeed(2, { aggregateResources: new Map([['cpu', 'two']]) }),
      wireNeed(3, { minUnit: new Map([['cpu', '1 2']]) }),
    ]);
    expect(acked(made.operator)).toBe(1);
    expect(prioritiesOf(made)).toEqual([1]);
    expect(made.sessions.counters.rollupsRefused).toBe(1);
    const refusal = made.lines.find(({ event }) => event === 'rollup-refused')!;
    expect(refusal).toMatchObject({ level: 'error', fields: { cluster: 'c1' } });
    expect(refusal.fields['problems']).toMatchObject([
      { code: 'BF_QUANTITY_SYNTAX', path: 'needs[1].aggregate_resources["cpu"]' },
      { code: 'BF_QUANTITY_SYNTAX', path: 'needs[2].min_unit["cpu"]' },
    ]);
    await made.report([wireNeed(1)]);
    expect(acked(made.operator)).toBe(2);
    expect(made.operator.status).toBeNull();
  });

  it.each([
    ['no id', rollupOf('', 1), 'BF_CLUSTER_EMPTY'],
    ['too many rows', rollupOf('c1', DEFAULT_SESSION_LIMITS.rollupRows + 1), 'BF_ROLLUP_LIMIT'],
  ])('given %s, then it is refused and the session continues', async (_, bytes, code) => {
    const made = await reporting();
    made.operator.rollup(bytes);
    await made.settle();
    expect(made.lines.at(-1)).toMatchObject({ event: 'rollup-refused', fields: { problems: [{ code }] } });
    expect(made.demandOf('c1')).toBeUndefined();
    expect(made.operator.status).toBeNull();
  });

  // 7.6.11 of the specification.
  it('given the id of another cluster in it, then it is refused and both clusters keep their demand', async () => {
    const made = await reporting();
    await made.report(2);
    made.greet('c2').rollup(rollupOf('c2', 3));
    await made.settle();
    made.operator.rollup(rollupOf('c2', [wireNeed(7)]));
    await made.settle();
    expect(made.lines.at(-1)).toMatchObject({
      event: 'rollup-refused',
      fields: { cluster: 'c1', problems: [{ code: 'BF_CLUSTER_MISMATCH' }] },
    });
    expect(['c1', 'c2'].map((cluster) => made.demandOf(cluster)?.length)).toEqual([2, 3]);
    expect(made.operator.status).toBeNull();
  });

  it('given malformed bytes in a valid frame, then it is refused and the session continues', async () => {
    const made = await reporting();
    made.operator.link.receive(new Uint8Array([0x12, 0x02, 0x1a, 0x05]));
    await made.settle();
    expect(made.lines.at(-1)).toMatchObject({
      event: 'rollup-refused',
      fields: { problems: [{ code: 'BF_WIRE_MALFORMED' }] },
    });
    expect(made.operator.status).toBeNull();
  });

  it('given the last one again with a timestamp of more than 64 bits, then it is refused and the session continues', async () => {
    const made = await reporting();
    // Field 2 of the frame: field 1 of the roll-up is its cluster, field 2 the timestamp.
    const rollup = (...stamp: readonly number[]): Uint8Array =>
      Uint8Array.of(0x12, 5 + stamp.length, 0x0a, 2, ...Buffer.from('c1'), 0x10, ...stamp);
    made.operator.link.receive(rollup(1));
    await made.settle();
    made.operator.link.receive(rollup(...new Uint8Array(9).fill(0xff), 0x7f));
    await made.settle();
    expect(made.lines.at(-1)).toMatchObject({
      event: 'rollup-refused',
      fields: { problems: [{ code: 'BF_WIRE_MALFORMED' }] },
    });
    made.operator.link.receive(rollup(2));
    await made.settle();
    expect(acked(made.operator)).toBe(2);
  });

  it('given several that wait, then only the newest is read, even if it equals the last accepted one', async () => {
    const made = await reporting();
    await made.report([wireNeed(1)]);
    for (const needs of [[wireNeed(2)], [wireNeed(3)], [wireNeed(1)]])
      made.operator.rollup(rollupOf('c1', needs));
    expect(acked(made.operator)).toBe(1);
    await made.settle();
    expect(prioritiesOf(made)).toEqual([1]);
    expect(acked(made.operator)).toBe(2);
    expect(made.sessions.counters.rollupsSuperseded).toBe(2);
  });

  it('given two hundred changed clusters, then an unchanged one is acknowledged before any is read, and each slice reads a few', async () => {
    let spentMs = 0;
    const clock = aClock();
    const now = clock.now.bind(clock);
    // Every call of the clock advances it by a millisecond, so that reading roll-ups takes time.
    clock.now = () => now() + spentMs++;
    const made = await reporting({ clock });
    await made.report([wireNeed(1)]);
    const others = Array.from({ length: 200 }, (_, i) => made.greet(`n${i}`));
    for (const [i, operator] of others.entries()) operator.rollup(rollupOf(`n${i}`, 400));
    made.operator.rollup(rollupOf('c1', [wireNeed(1)]));
    expect(acked(made.operator)).toBe(2);
    expect(others.filter((operator) => acked(operator) > 0)).toHaveLength(0);
    const read = vi.spyOn(RollupIntake.prototype, 'reading');
    const perSlice: number[] = [];
    const after = clock.after.bind(clock);
    clock.after = (ms, run) =>
      after(ms, () => {
        read.mockClear();
        run();
        perSlice.push(read.mock.calls.length);
      });
    await clock.advance(60_000);
    read.mockRestore();
    expect(others.filter((operator) => acked(operator) > 0)).toHaveLength(200);
    expect(Math.max(...perSlice)).toBeLessThanOrEqual(5);
  });

  it('given several changed ones within a second, then one is read, and the newest of the others a second later', async () => {
    const made = await reporting({ limits: { rollupIntervalMs: 1000 } });
    await made.report([wireNeed(1)]);
    for (const last of [2, 3, 4]) await made.report([wireNeed(last)]);
    expect([prioritiesOf(made), acked(made.operator)]).toEqual([[1], 1]);
    await made.clock.advance(999);
    expect(prioritiesOf(made)).toEqual([1]);
    await made.clock.advance(1);
    expect([prioritiesOf(made), acked(made.operator)]).toEqual([[4], 2]);
    expect(made.sessions.counters).toMatchObject({ rollupsAccepted: 2, rollupsSuperseded: 2 });
  });
});

describe('an operator that sends large roll-ups back to back', () => {
  const large = (priority: number) =>
    rollupOf('c1', [wireNeed(priority, { group: 'g'.repeat(2 * 1024 * 1024) }), wireNeed(priority + 1)]);

  it('given a roll-up that waits to be read, then receiving is paused until its reading begins', async () => {
    const made = await reporting({ limits: { rollupIntervalMs: 1000 } });
    made.operator.rollup(large(0));
    await made.settle();
    expect([made.operator.isPaused, acked(made.operator)]).toEqual([false, 1]);
    made.operator.rollup(large(10));
    await made.settle();
    expect([made.operator.isPaused, acked(made.operator)]).toEqual([true, 1]);
    await made.clock.advance(1000);
    expect([made.operator.isPaused, acked(made.operator)]).toEqual([false, 2]);
  });

  it('given a roll-up that is shed, then receiving is not paused; a small one never pauses it', async () => {
    const limits = { rollupIntervalMs: 1000, waitingBytes: 1024 * 1024 };
    const made = await reporting({ limits });
    made.operator.rollup(rollupOf('c1', 1));
    await made.settle();
    made.operator.rollup(large(0));
    expect([made.operator.isPaused, made.sessions.counters.rollupsShed]).toEqual([false, 1]);
    made.operator.rollup(rollupOf('c1', 2));
    await made.settle();
    expect([made.operator.isPaused, made.sessions.load.waiting]).toEqual([false, 1]);
  });
});

describe('rows beyond the limits of the shard', () => {
  const hugeRow = wireNeed(2, { aggregateResources: new Map([['memory', '1e30']]) });
  const namedRow = wireNeed(3, { group: 'g'.repeat(2_000) });

  it('given an amount beyond the exact range, then the row is set aside, the others count, and the roll-up is acknowledged', async () => {
    const made = await reporting();
    await made.report([wireNeed(1), hugeRow, namedRow]);
    expect(made.demandOf('c1')).toMatchObject([
      { profile: { priority: 1 } },
      { profile: { priority: 2 }, setAside: true, aggregate: new Map() },
    ]);
    expect(made.events.at(-1)).toMatchObject({ kind: 'demand', rowsSetAside: 2 });
    expect(acked(made.operator)).toBe(1);
    expect(made.sessions.reports[0]).toMatchObject({
      rows: 3,
      rowsSetAside: 2,
      problems: null,
      remarks: {
        total: 2,
        first: [
          { index: 1, code: 'BF_QUANTITY_OVERFLOW', path: 'needs[1].aggregate_resources["memory"]' },
          { index: 2, code: 'BF_NAME_LENGTH', path: 'needs[2].group' },
        ],
      },
    });
  });

  it('given such rows in every roll-up, then they are logged once, and again when they change', async () => {
    const made = await reporting();
    const loggedTotals = () =>
      made.lines.filter(({ event }) => event === 'rollup-remarks').map(({ fields }) => fields['total']);
    for (const rows of [[hugeRow], [hugeRow], [wireNeed(1), hugeRow], [wireNeed(1)], [wireNeed(1)]])
      await made.report(rows);
    expect(loggedTotals()).toEqual([1, 1, 0]);
  });

  it('given nearly all demand in a row that is set aside, then that is not a collapse', async () => {
    const made = await reporting();
    const small = Array.from({ length: 15 }, (_, i) =>
      wireNeed(10 + i, { aggregateResources: new Map([['cpu', '1m']]) }),
    );
    await made.report([wireNeed(2, { aggregateResources: new Map([['cpu', '1000']]) }), ...small]);
    await made.report([wireNeed(2, { aggregateResources: new Map([['cpu', '1e30']]) }), ...small]);
    expect(made.demandOf('c1')?.[0]).toMatchObject({ setAside: true });
    expect(made.sessions.counters.rollupsQuarantined).toBe(0);
  });

  it('given rows that are corrected, then they count again and keep their first-seen time', async () => {
    const made = await reporting();
    await made.report([wireNeed(2)]);
    await made.clock.advance(1000);
    await made.report([hugeRow]);
    await made.clock.advance(1000);
    await made.report([wireNeed(2)]);
    expect(made.demandOf('c1')?.[0]?.setAside).toBeUndefined();
    expect(firstSeen(made)).toEqual({ 2: 0 });
    expect(made.sessions.reports[0]).toMatchObject({ rowsSetAside: 0, remarks: { total: 0 } });
  });
});

describe('the report of a roll-up to its operator', () => {
  const reportsTo = (operator: Operator) =>
    operator.got('rollupReport').map(({ outcome, total, problems }) => ({
      outcome,
      total,
      problems: problems.map(({ needIndex, code, effect }) => [needIndex, code, effect]),
    }));
  const { OUTCOME_ACCEPTED, OUTCOME_HELD, OUTCOME_REFUSED } = RollupReport_Outcome;
  const { EFFECT_SET_ASIDE, EFFECT_SATURATED, EFFECT_ZEROED, EFFECT_REFUSED } = RollupReport_Effect;

  async function withReports() {
    const made = await bench();
    const operator = made.dial();
    operator.hello('c1', ['rollup-report']);
    const report = async (needs: Parameters<typeof rollupOf>[1], from = operator) => {
      from.rollup(rollupOf('c1', needs));
      await made.settle();
    };
    return { ...made, operator, report };
  }

  it('given roll-ups that are accepted, adjusted, refused and quarantined, then each change is reported, and the refused one has no ack', async () => {
    const { operator, report } = await withReports();
    const all = Array.from({ length: 20 }, (_, i) => wireNeed(i));
    const adjusted = [
      wireNeed(0, { aggregateResources: new Map([['cpu', '1e40']]) }),
      wireNeed(1, { minUnit: new Map([['cpu', '1e40']]) }),
      wireNeed(2, { aggregateResources: new Map([['cpu', '-4']]) }),
    ];
    await report(all);
    await report(adjusted.concat(all.slice(3)));
    await report([wireNeed(0, { minUnit: new Map([['cpu', 'x']]) })]);
    await report([]);
    expect(reportsTo(operator)).toEqual([
      { outcome: OUTCOME_ACCEPTED, total: 0, problems: [] },
      {
        outcome: OUTCOME_ACCEPTED,
        total: 3,
        problems: [
          [0, 'BF_QUANTITY_OVERFLOW', EFFECT_SET_ASIDE],
          [1, 'BF_QUANTITY_OVERFLOW', EFFECT_SATURATED],
          [2, 'BF_QUANTITY_NEGATIVE', EFFECT_ZEROED],
        ],
      },
      { outcome: OUTCOME_REFUSED, total: 1, problems: [[0, 'BF_QUANTITY_SYNTAX', EFFECT_REFUSED]] },
      // A quarantined roll-up changes nothing: the problems are those of the accepted one.
      expect.objectContaining({ outcome: OUTCOME_HELD, total: 3 }),
    ]);
    expect(acked(operator)).toBe(3);
  });

  it('given an equal roll-up again, then nothing is reported; on a new session it is reported once, with its timestamp', async () => {
    const { operator, report, dial } = await withReports();
    const rows = [wireNeed(0, { group: 'g'.repeat(2_000) }), wireNeed(1)];
    await report(rows);
    await report(rows);
    expect(reportsTo(operator)).toHaveLength(1);
    const next = dial();
    next.hello('c1', ['rollup-report']);
    for (let i = 0; i < 2; i++) await report([wireNeed(1)], next);
    expect(reportsTo(next)).toEqual([{ outcome: OUTCOME_ACCEPTED, total: 0, problems: [] }]);
    expect(next.got('rollupReport')[0]!.timestampUnixNanos).toBeGreaterThan(0n);
  });

  it('given sixty problems, then the first fifty are listed with texts of at most 200 bytes, and the total is sixty', async () => {
    const { operator, report } = await withReports();
    const long = 'n'.repeat(300);
    await report(
      Array.from({ length: 60 }, (_, i) =>
        wireNeed(i, { aggregateResources: new Map([[long, '-1']]), minUnit: new Map() }),
      ),
    );
    const [{ total, problems }] = operator.got('rollupReport') as [RollupReport];
    expect([total, problems.length]).toEqual([60, 50]);
    for (const { path, message } of problems)
      for (const text of [path, message])
        expect(Buffer.byteLength(text.split('… (')[0]!)).toBeLessThanOrEqual(200);
  });
});

describe('the status of clusters', () => {
  it('given accepted, refused and quarantined roll-ups, then the status of the cluster has their numbers, times and problems', async () => {
    const made = await reporting();
    const view = () => made.sessions.reports.find(({ cluster }) => cluster === 'c1');
    expect(view()).toBeUndefined();
    await made.report([wireNeed(1, { minUnit: new Map([['cpu', 'x']]) })]);
    expect(view()).toMatchObject({
      rows: null,
      refusedRollups: 1,
      lastReportMs: START,
      problems: [{ path: 'needs[0].min_unit["cpu"]' }],
    });
    await made.clock.advance(5000);
    await made.report(20);
    expect(view()).toMatchObject({ rows: 20, problems: null, lastReportMs: START + 5000, held: null });
    await made.report(0);
    expect(view()).toMatchObject({ rows: 20, refusedRollups: 1, held: { count: 1, extent: { rows: 0 } } });
    await made.clock.advance(5000);
    await made.report(20);
    expect(view()).toMatchObject({ lastReportMs: START + 10_000, held: null });
  });

  it('given a restart, then a cluster that has not reported yet is listed', async () => {
    const before = await reporting();
    await before.report(20);
    before.sessions.close();
    const { sessions } = await bench({ store: before.store });
    expect(sessions.reports).toMatchObject([{ cluster: 'c1', rows: null, lastReportMs: null }]);
  });
});

describe('stored demand', () => {
  // 7.6.10 of the specification.
  it('given a cluster that reports often, with timestamps of its own clock, then each row keeps the time of its first report', async () => {
    const made = await reporting();
    for (const last of [1, 2, 3]) {
      await made.report(Array.from({ length: last }, (_, i) => wireNeed(i + 1)));
      await made.clock.advance(1000);
    }
    expect(firstSeen(made)).toEqual({ 1: 0, 2: 1000, 3: 2000 });
  });

  // 5.2.21 of the specification.
  it('given clusters that report alternately, then the one that was seen first stays first in rank', async () => {
    const scene = new ControllerScene().list([]);
    const made = await bench({ controller: { post: (event) => scene.controller.handle(event) } });
    const operators = ['late', 'early'].map((cluster) => [cluster, made.greet(cluster)] as const);
    const order = async (turn: number, [cluster, operator]: (typeof operators)[number]) => {
      const aggregateResources = new Map([['cpu', `${turn + 1}`]]);
      operator.rollup(rollupOf(cluster, [wireNeed(9, { aggregateResources })]));
      await made.clock.advance(1000);
      const { items } = scene.tick().controller.ask('needs', { onlyUnmet: false, limit: 9 });
      return items.map((need) => need.cluster);
    };
    expect(await order(0, operators[1]!)).toEqual(['early']);
    for (let turn = 1; turn < 6; turn++) {
      expect(await order(turn, operators[(turn + 1) % 2]!)).toEqual(['early', 'late']);
    }
  });

  it('given a row that ends and returns within ten minutes, then it keeps its first-seen time; later it has a new one', async () => {
    const made = await reporting();
    await made.report([wireNeed(1), wireNeed(2)]);
    await made.clock.advance(1000);
    await made.report([wireNeed(1)]);
    await made.clock.advance(FORGET_AFTER_MS - 1);
    await made.report([wireNeed(1), wireNeed(2)]);
    expect(firstSeen(made)).toEqual({ 1: 0, 2: 0 });
    await made.report([wireNeed(1)]);
    await made.clock.advance(FORGET_AFTER_MS);
    await made.report([wireNeed(1), wireNeed(2)]);
    expect(firstSeen(made)).toEqual({ 1: 0, 2: 1000 + 2 * FORGET_AFTER_MS - 1 });
  });

  it('given rows of equal profiles in different groups, then each has its own first-seen time', async () => {
    const made = await reporting();
    await made.report([wireNeed(1)]);
    await made.clock.advance(1000);
    await made.report([wireNeed(1), wireNeed(1, { group: 'g' })]);
    expect(made.demandOf('c1')!.map(({ group, firstSeenMs }) => [group, firstSeenMs - START])).toEqual([
      ['', 0],
      ['g', 1000],
    ]);
  });

  it('given a restart, then first-seen times and absences are restored', async () => {
    const before = await reporting();
    await before.report([wireNeed(1), wireNeed(2), wireNeed(3)]);
    await before.clock.advance(1000);
    await before.report([wireNeed(1)]);
    before.sessions.close();
    const { store, clock } = before;
    await clock.advance(FORGET_AFTER_MS - 1);
    const soon = await reporting({ store, clock });
    await soon.report([wireNeed(1), wireNeed(2), wireNeed(4)]);
    expect(firstSeen(soon)).toEqual({ 1: 0, 2: 0, 4: 1000 + FORGET_AFTER_MS - 1 });
    soon.sessions.close();
    await clock.advance(10 * FORGET_AFTER_MS);
    const late = await reporting({ store, clock });
    await late.report([wireNeed(1), wireNeed(2), wireNeed(3)]);
    expect(firstSeen(late)).toMatchObject({ 1: 0, 2: 0, 3: clock.now() - START });
  });

  it('given rows absent for more than ten minutes, then the store deletes them without another roll-up', async () => {
    const made = await reporting();
    await made.report([wireNeed(1), wireNeed(2)]);
    await made.report([wireNeed(1)]);
    expect([...(await made.store.load()).seen]).toHaveLength(2);
    await made.clock.advance(FORGET_AFTER_MS + 60_000);
    expect([...(await made.store.load()).seen].map(({ absentSinceMs }) => absentSinceMs)).toEqual([null]);
  });

  it('given a slow store, then a roll-up is neither applied nor acknowledged before it is written', async () => {
    const { store, writes } = aSlowStore();
    const made = await reporting({ store });
    await made.report([wireNeed(1)]);
    expect([acked(made.operator), made.demandOf('c1')]).toEqual([0, undefined]);
    writes.at(-1)!.resolve();
    await made.settle();
    expect([acked(made.operator), prioritiesOf(made)]).toEqual([1, [1]]);
  });

  it('given an equal roll-up before the first is written, then neither is acknowledged until the first is', async () => {
    const { store, writes } = aSlowStore();
    const made = await reporting({ store });
    await made.report([wireNeed(1)]);
    await made.report([wireNeed(1)]);
    expect([acked(made.operator), made.demandOf('c1')]).toEqual([0, undefined]);
    writes.at(-1)!.resolve();
    await made.settle();
    expect([acked(made.operator), prioritiesOf(made)]).toEqual([2, [1]]);
    made.operator.rollup(rollupOf('c1', [wireNeed(1)]));
    expect(acked(made.operator)).toBe(3);
  });

  it('given an equal roll-up after one that could not be written, then it is not acknowledged', async () => {
    let fail: (error: Error) => void = () => {};
    const store: DemandStore = {
      load: () => new MemoryDemandStore().load(),
      write: () => new Promise((_, reject) => (fail = reject)),
    };
    const made = await reporting({ store });
    await made.report([wireNeed(1)]);
    await made.report([wireNeed(1)]);
    fail(new Error('disk full'));
    await made.settle();
    expect([acked(made.operator), made.demandOf('c1')]).toEqual([0, undefined]);
  });

  it('given a store that fails, then nothing is applied or acknowledged, and all sessions end with the reason in the log', async () => {
    const store: DemandStore = {
      load: () => new MemoryDemandStore().load(),
      write: () => Promise.reject(new Error('disk full')),
    };
    const failures: unknown[] = [];
    const made = await reporting({ store, onFailure: (error) => failures.push(error) });
    await made.report([wireNeed(1)]);
    expect(made.operator.status).toMatchObject({ code: status.UNAVAILABLE });
    expect([acked(made.operator), made.demandOf('c1')]).toEqual([0, undefined]);
    expect(made.lines.find(({ event }) => event === 'store-failed')).toMatchObject({ level: 'error' });
    expect([failures.length, made.sessions.counters.storeFailures]).toEqual([1, 1]);
  });
});
