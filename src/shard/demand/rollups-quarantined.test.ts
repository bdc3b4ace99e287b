// Roll-ups that lose most of a cluster's demand, and demand beyond the limits of a shard.

import { describe, expect, it } from 'vitest';
import { NEED, record } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene, NO_HOLD, SETTLED_MS } from '../../../testing/support/controller-scene.ts';
import { stampOf } from '../../../testing/support/fleets.ts';
import {
  acked,
  aSlowStore,
  bench,
  firstSeen,
  quarantinedIn,
  reporting,
  rollupOf,
  wireNeed,
} from '../../../testing/support/sessions.ts';
import { MachineState } from '../../model/index.ts';
import { DEFAULT_CONTROLLER } from '../planning/options.ts';
import { type DemandStore, MemoryDemandStore } from '../storage/demand-store.ts';
import { FORGET_AFTER_MS } from './first-seen.ts';

/** A machine that was bound for a row of cluster c1. */
const SERVING = record('m', MachineState.Configured, { cluster: 'c1', stamp: stampOf(NEED) });

describe('a roll-up that loses nearly all demand', () => {
  const zeroed = Array.from({ length: 20 }, (_, i) =>
    wireNeed(i, {
      aggregateResources: new Map([
        ['cpu', '0'],
        ['memory', '0'],
      ]),
    }),
  );

  it.each([
    ['no rows', []],
    ['one row of twenty', [wireNeed(0)]],
    ['all rows with zero amounts', zeroed],
  ])('given %s, then it is quarantined twice, with an ack, and accepted the third time', async (_, needs) => {
    const made = await reporting();
    await made.report(20);
    const events = made.events.length;
    await made.report(needs);
    expect(quarantinedIn(made.sessions)).toMatchObject([{ cluster: 'c1', count: 1, baseline: { rows: 20 } }]);
    await made.report(needs);
    expect(made.events).toHaveLength(events);
    expect(acked(made.operator)).toBe(3);
    expect(made.demandOf('c1')).toHaveLength(20);
    await made.report(needs);
    expect(made.demandOf('c1')).toHaveLength(needs.length);
    expect(quarantinedIn(made.sessions)).toEqual([]);
    expect(made.lines.slice(-3).map(({ event }) => event)).toEqual([
      'rollup-held',
      'rollup-held',
      'rollup-shrunk',
    ]);
    expect(made.sessions.counters).toMatchObject({ rollupsQuarantined: 2, rollupsAccepted: 2 });
  });

  it('given the former demand in between, then the count of repetitions restarts', async () => {
    const made = await reporting();
    await made.report(20);
    for (const needs of [0, 0, 20, 0, 0, 19]) await made.report(needs);
    expect(made.demandOf('c1')).toHaveLength(19);
    expect(made.sessions.counters.rollupsQuarantined).toBe(4);
    expect(quarantinedIn(made.sessions)).toEqual([]);
  });

  it('given a baseline of nine rows, then it is accepted at once', async () => {
    const made = await reporting();
    await made.report(9);
    await made.report(0);
    expect(made.demandOf('c1')).toEqual([]);
  });

  it('given quarantine, then the missing rows do not count as absent', async () => {
    const made = await reporting();
    await made.report(20);
    await made.report(0);
    await made.clock.advance(2 * FORGET_AFTER_MS);
    await made.report(19);
    expect(new Set(Object.values(firstSeen(made)))).toEqual(new Set([0]));
  });

  it('given a restart before it, then it is quarantined too, and no machine of the cluster is reclaimed before it has reported', async () => {
    const before = await reporting();
    await before.report(20);
    before.sessions.close();
    const { store, clock } = before;
    const guardrails = { ...DEFAULT_CONTROLLER.guardrails, reclaimFraction: 1 };
    const scene = new ControllerScene({ ...NO_HOLD, guardrails }).list([SERVING]).tick(SETTLED_MS);
    const made = await reporting({
      store,
      clock,
      controller: { post: (event) => scene.controller.handle(event) },
    });
    const hasReported = () =>
      scene.controller.ask('clusters', { limit: 100 }).items.map((cluster) => cluster.hasReported);
    await made.report(0);
    expect(made.sessions.counters.rollupsQuarantined).toBe(1);
    expect(hasReported()).toEqual([false]);
    expect(scene.tick().cycles.at(-1)?.decided.Reclaim).toBe(0);
    await made.report(20);
    expect(hasReported()).toEqual([true]);
  });

  it('given a first roll-up that is still being written, then a quarantined one after it does not count as a report', async () => {
    const { store, writes } = aSlowStore();
    const scene = new ControllerScene(NO_HOLD).list([SERVING]);
    const made = await reporting({ store, controller: { post: (event) => scene.controller.handle(event) } });
    const hasReported = () =>
      scene.controller.ask('clusters', { limit: 100 }).items.map((cluster) => cluster.hasReported);
    await made.report(20);
    await made.report(0);
    expect(made.sessions.counters.rollupsQuarantined).toBe(1);
    expect(hasReported()).toEqual([false]);
    expect(acked(made.operator)).toBe(0);
    for (const { resolve } of writes) resolve();
    await made.settle();
    expect(hasReported()).toEqual([true]);
    expect(acked(made.operator)).toBe(2);
  });

  it('given a first roll-up that cannot be written, then a quarantined one after it is not acknowledged either', async () => {
    const { store, writes } = aSlowStore();
    const made = await reporting({ store });
    await made.report(20);
    await made.report(0);
    for (const { reject } of writes) reject(new Error('The disk is full.'));
    await made.settle();
    expect(acked(made.operator)).toBe(0);
  });

  it('given a person who accepts it, then it is the demand at once and the baseline of later ones', async () => {
    const made = await reporting();
    await made.report(20);
    await made.report(1);
    expect(await made.sessions.acceptQuarantined('c1')).toBe(true);
    expect(made.demandOf('c1')).toHaveLength(1);
    expect(acked(made.operator)).toBe(2);
    expect(await made.sessions.acceptQuarantined('c1')).toBe(false);
    made.operator.rollup(rollupOf('c1', 1));
    expect(acked(made.operator)).toBe(3);
  });

  it('given a person who refuses it, then neither repetition nor restart makes it accepted', async () => {
    const before = await reporting();
    await before.report(20);
    await before.report(0);
    expect(await before.sessions.refuseQuarantined('c1')).toBe(true);
    for (let i = 0; i < 5; i++) await before.report(0);
    before.sessions.close();
    const { store, clock } = before;
    const made = await reporting({ store, clock });
    for (let i = 0; i < 5; i++) await made.report(0);
    expect(made.demandOf('c1')).toBeUndefined();
    expect(quarantinedIn(made.sessions)).toMatchObject([{ isRefused: true, count: 5 }]);
    expect(await made.sessions.acceptQuarantined('c1')).toBe(true);
    expect(made.demandOf('c1')).toEqual([]);
  });

  it('given a refusal and then the former demand, then the refusal ends, also after a restart', async () => {
    const before = await reporting();
    await before.report(20);
    await before.report(0);
    await before.sessions.refuseQuarantined('c1');
    await before.report(20);
    before.sessions.close();
    const { store, clock } = before;
    const made = await reporting({ store, clock });
    for (let i = 0; i < 3; i++) await made.report(0);
    expect(made.demandOf('c1')).toEqual([]);
  });

  it('given a person who accepts it beyond the demand limit, then the call returns false and it stays quarantined', async () => {
    const before = await reporting();
    await before.report(20);
    before.sessions.close();
    const { store, clock } = before;
    const made = await reporting({ store, clock, limits: { demandRows: 5 } });
    await made.report(1);
    const other = made.greet('c2');
    other.rollup(rollupOf('c2', 5));
    await made.settle();
    expect(await made.sessions.acceptQuarantined('c1')).toBe(false);
    expect(made.demandOf('c1')).toBeUndefined();
    expect(quarantinedIn(made.sessions)).toMatchObject([{ cluster: 'c1' }]);
    other.rollup(rollupOf('c2', 4));
    await made.settle();
    expect(await made.sessions.acceptQuarantined('c1')).toBe(true);
  });

  it.each(['acceptQuarantined', 'refuseQuarantined'] as const)(
    'given a store that fails, then %s returns false and the demand stays',
    async (order) => {
      const memory = new MemoryDemandStore();
      let isFull = false;
      const store: DemandStore = {
        load: () => memory.load(),
        write: (changes) => (isFull ? Promise.reject(new Error('disk full')) : memory.write(changes)),
      };
      const made = await reporting({ store });
      await made.report(20);
      await made.report(1);
      isFull = true;
      expect(await made.sessions[order]('c1')).toBe(false);
      expect(made.demandOf('c1')).toHaveLength(20);
    },
  );

  it('given no quarantined roll-up, then accepting and refusing return false', async () => {
    const { sessions } = await bench();
    expect([await sessions.acceptQuarantined('c1'), await sessions.refuseQuarantined('c1')]).toEqual([
      false,
      false,
    ]);
  });
});

describe('demand beyond the limits of a shard', () => {
  it('given clusters at the limit of rows, then another is shed without an ack, until one of them shrinks', async () => {
    const { greet, sessions, settle, demandOf } = await bench({ limits: { demandRows: 100 } });
    const [first, second] = [greet('c1'), greet('c2')];
    first.rollup(rollupOf('c1', 60));
    second.rollup(rollupOf('c2', 40));
    await settle();
    expect(sessions.load).toMatchObject({ rows: 100, waiting: 0, waitingBytes: 0 });
    const third = greet('c3');
    third.rollup(rollupOf('c3', 1));
    second.rollup(rollupOf('c2', 41));
    await settle();
    expect([third.acks, second.acks]).toEqual([['hello'], ['hello', 'rollup']]);
    expect(sessions.counters).toMatchObject({ rollupsShed: 2, rollupsRefused: 2 });
    expect(demandOf('c2')).toHaveLength(40);
    expect(sessions.reports.find(({ cluster }) => cluster === 'c3')!.problems).toMatchObject([
      {
        code: 'BF_DEMAND_LIMIT',
        path: 'needs',
        message: '1 rows, and beside the other clusters there is room for 0.',
      },
    ]);
    first.rollup(rollupOf('c1', 50));
    third.rollup(rollupOf('c3', 10));
    await settle();
    expect(demandOf('c3')).toHaveLength(10);
    expect(sessions.load.rows).toBe(100);
  });

  it('given few large rows, then the limit of bytes applies, to a quarantined roll-up too', async () => {
    const big = rollupOf('c1', 20);
    const small = rollupOf('c1', 1);
    const { greet, sessions, settle } = await bench({
      limits: { demandBytes: big.length + small.length + 10 },
    });
    const operator = greet('c1');
    operator.rollup(big);
    await settle();
    operator.rollup(small);
    await settle();
    expect(sessions.load.bytes).toBe(big.length + small.length);
    const other = greet('c2');
    other.rollup(rollupOf('c2', 5));
    await settle();
    expect(other.acks).toEqual(['hello']);
    expect(await sessions.acceptQuarantined('c1')).toBe(true);
    expect(sessions.load).toMatchObject({ rows: 1, bytes: small.length });
  });

  it('given a cluster that repeatedly loses and restores its demand, then bytes of quarantined roll-ups are released', async () => {
    const big = rollupOf('c1', 20);
    const { greet, sessions, settle } = await bench({ limits: { demandBytes: 3 * big.length } });
    const operator = greet('c1');
    for (let i = 0; i < 200; i++) {
      operator.rollup(rollupOf('c1', 20));
      await settle();
      operator.rollup(rollupOf('c1', 1));
      await settle();
    }
    operator.rollup(big);
    await settle();
    expect(sessions.counters).toMatchObject({
      rollupsQuarantined: 200,
      rollupsUnchanged: 200,
      rollupsShed: 0,
    });
    expect(sessions.load.bytes).toBe(big.length);
    const other = greet('c2');
    other.rollup(rollupOf('c2', 20));
    await settle();
    expect(other.acks).toEqual(['hello', 'rollup']);
  });

  it('given more roll-ups than may wait, then the rest is shed without an ack, and accepted when sent again', async () => {
    const one = rollupOf('c0', 10).length;
    const { greet, sessions, settle, lines } = await bench({ limits: { waitingBytes: 3 * one } });
    const operators = Array.from({ length: 10 }, (_, i) => greet(`c${i}`));
    for (const [i, operator] of operators.entries()) operator.rollup(rollupOf(`c${i}`, 10));
    expect(sessions.load.waiting).toBeLessThanOrEqual(3);
    await settle();
    const accepted = operators.filter((operator) => acked(operator) > 0).length;
    expect(accepted + sessions.counters.rollupsShed).toBe(10);
    expect(sessions.counters.rollupsShed).toBeGreaterThan(6);
    expect(lines.some(({ event }) => event === 'rollup-shed')).toBe(true);
    for (const [i, operator] of operators.entries()) {
      operator.rollup(rollupOf(`c${i}`, 10));
      await settle();
    }
    expect(operators.every(({ acks }) => acks.includes('rollup'))).toBe(true);
    expect(sessions.load).toMatchObject({ waiting: 0, waitingBytes: 0 });
  });
});
