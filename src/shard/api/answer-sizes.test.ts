// Answers that are no pages of a list, with names as long as they may be: each stays below a megabyte, and CSV has all rows.
// A control character takes six bytes of JSON.

import { afterEach, describe, expect, it } from 'vitest';
import { record } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../../testing/support/controller-scene.ts';
import { FakeShard } from '../../../testing/support/fake-shard.ts';
import { aNeed, resources } from '../../../testing/support/fleets.ts';
import { MachineState } from '../../model/index.ts';
import { DEFAULT_CONTROLLER } from '../planning/options.ts';
import type { CostReport, CostSeries, MachineCounts, Remedies } from '../views/costs.ts';
import type { ShardPort } from '../views.ts';
import { serveApi } from './serve.ts';

const MAX_BYTES = 1_000_000;
const MINUTE_MS = 60_000;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** A name of 253 bytes that starts with a number. */
const long = (i: number): string => `${i} `.padEnd(253, '\u0001');

async function served(port: ShardPort) {
  const server = await serveApi(port, '127.0.0.1:0', { tls: null });
  cleanups.push(() => server.close());
  const text = async (path: string): Promise<string> => {
    const response = await fetch(`${server.url}${path}`);
    expect(response.status).toBe(200);
    return await response.text();
  };
  const get = async <T>(path: string): Promise<T> => {
    const body = await text(path);
    expect(Buffer.byteLength(body)).toBeLessThan(MAX_BYTES);
    return JSON.parse(body) as T;
  };
  return { text, get };
}

async function ofController({ controller }: ControllerScene) {
  return await served({
    ask: async (name, ask) => controller.ask(name, ask),
    order: async (order) => controller.order(order),
    listen: () => () => {},
  });
}

/** A machine in each of some clusters with long names. */
function scene(clusters: number, intervalMs = 1000): ControllerScene {
  const cycle = { ...DEFAULT_CONTROLLER.cycle, intervalMs };
  return new ControllerScene({ cycle }).list(
    Array.from({ length: clusters }, (_, i) =>
      record(`m-${i}`, MachineState.Configured, { cluster: long(i), pricePerHour: 1 + i / 1000 }),
    ),
  );
}

describe('answers with long names', () => {
  it('given machine counts of more names than fit, then the first of them, and the number of all', async () => {
    const { get } = await ofController(scene(1200).tick());
    const { items, total } = await get<MachineCounts>('/v1/machine-counts?by=cluster');
    expect(total).toBe(1200);
    expect(items.length).toBeGreaterThan(400);
  });

  it('given remedies of more Needs than fit, then the first of them, and the number and price of all', async () => {
    const offer = { resources: resources({ cpu: 4 }), allocatable: new Map(), pricePerHour: 2 };
    const made = new ControllerScene().list([record(long(1), MachineState.Speculative, offer)]);
    const amounts = resources({ cpu: 4 });
    for (let i = 0; i < 200; i++) {
      const cluster = long(i);
      const group = `${i}`.padEnd(1024, '\u0001');
      made.demand(cluster, aNeed({ cluster, group, priority: 9, aggregate: amounts, minUnit: amounts }));
    }
    const { get } = await ofController(made.open(...Array.from({ length: 200 }, (_, i) => long(i))).tick());
    const { items, total, perHour } = await get<Remedies>('/v1/cost/remedies');
    expect(total).toBeGreaterThan(190);
    expect(perHour).toBe(2 * total);
    expect(items.length).toBeGreaterThan(50);
    expect(items.length).toBeLessThan(total);
  });

  it('given a series, then every n-th point of the whole span, up to the last, as JSON and as CSV', async () => {
    const made = scene(12, MINUTE_MS).tick(150 * MINUTE_MS);
    const { get, text } = await ofController(made);
    const { points, names, nowMs } = await get<CostSeries>('/v1/cost/series?by=cluster');
    expect(points.length).toBeGreaterThan(20);
    expect(nowMs - points.at(-1)!.atMs).toBeLessThan(2 * MINUTE_MS);
    expect(nowMs - points[0]!.atMs).toBeGreaterThan(140 * MINUTE_MS);
    expect(names).toHaveLength(11);
    const csv = await text('/v1/cost/series?by=cluster&format=csv');
    expect(csv.trimEnd().split('\r\n')).toHaveLength(1 + points.length);
  });

  it('given a series with other names in each point, then the CSV is below a megabyte and ends with the last point', async () => {
    const points = Array.from({ length: 300 }, (_, i) => ({
      atMs: i * MINUTE_MS,
      perHour: 1,
      byName: Object.fromEntries(Array.from({ length: 10 }, (_, j) => [long(10 * i + j), 0.1])),
    }));
    const names = points.flatMap(({ byName }) => Object.keys(byName)).slice(0, 1500);
    const shard = new FakeShard();
    const series = shard.answers.costSeries({ by: 'cluster', sinceMs: 0 });
    Object.assign(shard.answers, { costSeries: () => ({ ...series, names, points }) });
    const csv = await (await served(shard)).text('/v1/cost/series?by=cluster&format=csv');
    expect(Buffer.byteLength(csv)).toBeLessThan(MAX_BYTES);
    const lines = csv.trimEnd().split('\r\n');
    expect(lines.length).toBeGreaterThan(50);
    expect(lines.at(-1)).toContain(new Date(299 * MINUTE_MS).toISOString());
  });
});

describe('CSV of the groups', () => {
  it('given more groups than one page has, then the CSV has each exactly once, and JSON pages too', async () => {
    const { get, text } = await ofController(scene(2500).tick());
    const csv = await text('/v1/cost?by=cluster&format=csv');
    const [titles, ...rows] = csv.trimEnd().split('\r\n');
    expect(titles).toMatch(/^name,machines,perHour,serving/);
    const expected = Array.from({ length: 2500 }, (_, i) => long(i)).toSorted();
    expect(rows.map((row) => row.split(',')[0])).toEqual(expected);
    const first = await get<CostReport>('/v1/cost?by=cluster&limit=10000');
    expect(first.groups.items.length).toBeLessThan(2500);
    expect(first.groups.total).toBe(2500);
  });

  it('given a cursor, then it is refused: the CSV has all groups', async () => {
    const server = await serveApi(new FakeShard(), '127.0.0.1:0', { tls: null });
    cleanups.push(() => server.close());
    const refused = await fetch(`${server.url}/v1/cost?format=csv&after=x`);
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('leave out')]);
  });

  it('given a failure after the first page, then the text is cut off', async () => {
    const shard = new FakeShard();
    const { cost } = shard.answers;
    let asked = 0;
    Object.assign(shard.answers, {
      cost: (ask: Parameters<typeof cost>[0]) => {
        if (asked++ > 0) throw new Error('gone');
        return cost({ ...ask, limit: 1 });
      },
    });
    await expect((await served(shard)).text('/v1/cost?by=cluster&format=csv')).rejects.toThrow();
  });
});
