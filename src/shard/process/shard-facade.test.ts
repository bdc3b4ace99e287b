import { describe, expect, it } from 'vitest';
import { NEED, record } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../../testing/support/controller-scene.ts';
import { fileAt, Recorded, withPath } from '../../../testing/support/journal.ts';
import { MachineState } from '../../model/index.ts';
import type { ReportView } from '../demand/cluster-demand.ts';
import type { ControllerPort } from '../events.ts';
import type { ActionView, Order } from '../views.ts';
import { ShardFacade } from './shard-facade.ts';

function facade(reports: readonly ReportView[], held: readonly string[] = [], journal: string | null = null) {
  const scene = new ControllerScene().open('c1', 'c2');
  const { controller } = scene;
  const orders: Order[] = [];
  const port: ControllerPort = {
    post: (event) => controller.handle(event),
    ask: async (name, ask) => controller.ask(name, ask),
    order: async (order) => {
      orders.push(order);
      return controller.order(order);
    },
    listen: () => () => {},
  };
  const said: string[] = [];
  const sessions = {
    reports,
    acceptQuarantined: async (cluster: string) =>
      said.push(`accept ${cluster}`) > 0 && held.includes(cluster),
    refuseQuarantined: async (cluster: string) =>
      said.push(`refuse ${cluster}`) > 0 && held.includes(cluster),
  };
  return { facade: new ShardFacade(port, sessions, journal), orders, said, scene };
}

const QUIET: ReportView = {
  ...{ cluster: 'c1', lastReportMs: 5, refusedRollups: 0, problems: null, held: null, rows: 1 },
  ...{ rowsSetAside: 0, remarks: { first: [], total: 0 } },
} as ReportView;

describe('history', () => {
  it('given a journal, then its events are the answer', async () => {
    await withPath(async (path) => {
      const file = fileAt(path);
      const recorded = new Recorded(file);
      recorded.cycle([]);
      const fields = { order: 'freeze', who: 'ann' };
      recorded.recorder.event({ kind: 'log', level: 'info', event: 'order', fields });
      recorded.recorder.flush();
      const { items } = await facade([], [], path).facade.ask('history', { limit: 10 });
      expect(items).toMatchObject([{ id: 'j1', kind: 'log', event: { event: 'order' } }]);
      file.close();
    });
  });

  it('given none, or one that is not written yet, then the events in memory are', async () => {
    for (const journal of [null, '/nowhere/journal.db']) {
      const { facade: port, scene } = facade([], [], journal);
      scene.order({ kind: 'unfreeze', id: 'fleet', who: 'ann' });
      const { items } = await port.ask('history', { limit: 10, kinds: ['log'] });
      expect(items[0]).toMatchObject({ kind: 'log', event: { event: 'order', fields: { who: 'ann' } } });
    }
  });
});

describe('the cost of one machine so far', () => {
  const HOUR_MS = 3_600_000;
  const PURCHASE: ActionView = {
    ...{ id: 'a', kind: 'Provision', machine: 'm', provider: 'p', cluster: 'c1', need: null, from: null },
    ...{ reason: 'phase1.speculative', capacityType: '', zone: '', leaving: null, errorClass: null },
    ...{ startedMs: 1, acceptedMs: 1, endedMs: 1, outcome: 'success', message: '', attempts: 1 },
  };

  it.each([
    ['in the journal', 'm', { dollars: 6 }],
    ['of another machine', 'other', null],
  ])(
    'given a purchase %s and none in memory, then it counts from there or is not known',
    async (_, machine, expected) => {
      await withPath(async (path) => {
        // Given
        const file = fileAt(path);
        const { facade: port, scene } = facade([], [], path);
        scene.list([record('m', MachineState.Idle, { pricePerHour: 2 })]).tick();
        const sinceMs = scene.hand.now() - 3 * HOUR_MS;
        const { recorder } = new Recorded(file);
        for (const endedMs of [sinceMs - HOUR_MS, sinceMs])
          recorder.event({ kind: 'action-ended', action: { ...PURCHASE, machine, endedMs } });
        recorder.event({ kind: 'action-ended', action: { ...PURCHASE, machine, outcome: 'stock_out' } });
        recorder.flush();
        // When
        const { items } = await port.ask('machines', { where: { id: 'm' }, limit: 1 });
        // Then
        expect(items[0]!.costSoFar).toEqual(expected === null ? null : { ...expected, sinceMs });
        file.close();
      });
    },
  );

  it('given no journal, then the purchase in memory counts', async () => {
    // Given
    const { facade: port, scene } = facade([]);
    scene
      .list([record('m', MachineState.Speculative, { pricePerHour: 2 })])
      .demand('c1', NEED)
      .tick();
    scene.accept('create', MachineState.Idle, { pricePerHour: 2 });
    const sinceMs = scene.hand.now();
    scene.hand.advance(HOUR_MS);
    // When
    const { items } = await port.ask('machines', { where: { id: 'm' }, limit: 1 });
    // Then
    expect(items[0]!.costSoFar).toEqual({ sinceMs, dollars: 2 });
  });
});

describe('the facade of a shard', () => {
  it('given clusters with roll-ups, then the answer includes the reports of the sessions', async () => {
    const clusters = await facade([QUIET]).facade.ask('clusters', { limit: 100 });

    expect(clusters.items).toMatchObject([
      { cluster: 'c1', reports: { lastReportMs: 5, problems: [], remarks: [], remarksTotal: 0, held: null } },
      { cluster: 'c2', reports: null },
    ]);
  });

  it('given a quarantined roll-up, then the answer has its number of rows and that of the accepted one', async () => {
    const extent = { rows: 1, totals: new Map() };
    const held = {
      cluster: 'c1',
      sinceMs: 7,
      count: 2,
      isRefused: false,
      extent,
      baseline: { ...extent, rows: 9 },
    };
    const report = { ...QUIET, held } as unknown as ReportView;
    const { items } = await facade([report]).facade.ask('clusters', { limit: 100 });

    expect(items[0]?.reports?.held).toEqual({
      sinceMs: 7,
      count: 2,
      rows: 1,
      knownRows: 9,
      isRefused: false,
    });
  });

  it('given a cluster with only refused or quarantined roll-ups, then it is listed', async () => {
    const problems = [{ path: 'needs[0]', message: 'no aggregate' }] as unknown as ReportView['problems'];
    const refused = { ...QUIET, cluster: 'c8', problems };
    const { items, total } = await facade([refused, { ...QUIET, cluster: 'c9' }]).facade.ask('clusters', {
      limit: 100,
    });

    expect(items.map(({ cluster }) => cluster)).toEqual(['c1', 'c2', 'c8']);
    expect(total).toBe(3);
    expect(items[2]).toMatchObject({
      hasSession: false,
      hasReported: false,
      needs: 0,
      reports: { problems: ['needs[0]: no aggregate'] },
    });
  });

  it('given orders, then those about roll-ups go to the sessions and all others to the controller', async () => {
    const { facade: it, orders, said } = facade([], ['c1']);

    expect(await it.order({ kind: 'accept-rollup', cluster: 'c1', who: 'ada' })).toMatchObject({
      isDone: true,
    });
    expect(await it.order({ kind: 'refuse-rollup', cluster: 'c1', who: 'ada' })).toMatchObject({
      isDone: true,
    });
    expect(await it.order({ kind: 'accept-rollup', cluster: 'c2', who: 'ada' })).toEqual({
      isDone: false,
      message: 'No roll-up of c2 is held.',
    });
    expect(await it.order({ kind: 'retry', machine: 'm', who: 'ada' })).toMatchObject({ isDone: false });

    expect(said).toEqual(['accept c1', 'refuse c1', 'accept c2']);
    expect(orders.map(({ kind }) => kind)).toEqual(['retry']);
  });

  it('given an order that fails, then its message differs from that for a cluster without a quarantined roll-up', async () => {
    const report = { ...QUIET, held: { cluster: 'c1' } } as unknown as ReportView;
    const { facade: it } = facade([report], []);

    expect(await it.order({ kind: 'accept-rollup', cluster: 'c1', who: 'ada' })).toEqual({
      isDone: false,
      message: 'A roll-up of c1 is held, but this failed; the log says why.',
    });
  });

  it('given orders about roll-ups, then the log has their author and their result', async () => {
    const { facade: it, scene } = facade([], ['c1']);

    await it.order({ kind: 'accept-rollup', cluster: 'c1', who: 'ada', why: 'half of it moved' });
    await it.order({ kind: 'refuse-rollup', cluster: 'c2', who: 'bob' });

    expect(scene.logged('order')).toMatchObject([
      { order: 'accept-rollup', cluster: 'c1', who: 'ada', why: 'half of it moved', isDone: true },
      { order: 'refuse-rollup', cluster: 'c2', who: 'bob', isDone: false },
    ]);
  });
});
