// Lists over HTTP, of a real controller with more items than fit one answer.

import { afterEach, describe, expect, it } from 'vitest';
import { record } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../../testing/support/controller-scene.ts';
import { aNeed, resources } from '../../../testing/support/fleets.ts';
import { MachineState, Operator } from '../../model/index.ts';
import type { ReportView } from '../demand/cluster-demand.ts';
import type { ControllerPort } from '../events.ts';
import { ShardFacade } from '../process/shard-facade.ts';
import type { ClusterView, MachineView, NeedExplanation, NeedView, Page } from '../views.ts';
import { serveApi } from './serve.ts';

const { Idle } = MachineState;
const MAX_BYTES = 1_000_000;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** A text of `bytes` bytes that starts with a number. */
const wide = (i: number, bytes: number): string => String(i).padEnd(bytes, 'x');

async function served({ controller }: ControllerScene, reports: readonly ReportView[] = []) {
  const port: ControllerPort = {
    post: (event) => controller.handle(event),
    ask: async (name, ask) => controller.ask(name, ask),
    order: async (order) => controller.order(order),
    listen: () => () => {},
  };
  const sessions = { reports, acceptQuarantined: async () => false, refuseQuarantined: async () => false };
  const server = await serveApi(new ShardFacade(port, sessions), '127.0.0.1:0', { tls: null });
  cleanups.push(() => server.close());
  const get = async <T>(path: string): Promise<T> => {
    const text = await (await fetch(`${server.url}${path}`)).text();
    expect(Buffer.byteLength(text)).toBeLessThan(MAX_BYTES);
    return JSON.parse(text) as T;
  };
  /** Every page of a list. */
  const pages = async <T>(path: string): Promise<Page<T>[]> => {
    const all: Page<T>[] = [];
    for (let after: string | null = ''; after !== null; ) {
      const cursor: string = after === '' ? '' : `${path.includes('?') ? '&' : '?'}after=${after}`;
      const page = await get<Page<T>>(`${path}${cursor}`);
      expect(page.items.length).toBeGreaterThan(0);
      all.push(page);
      after = page.next;
    }
    return all;
  };
  return { get, pages, url: server.url };
}

function itemsOf<T>(pages: readonly Page<T>[]): T[] {
  return pages.flatMap(({ items }) => items);
}

describe('machines over HTTP', () => {
  it('given 2,000 with 64 labels of the greatest length, then pages below a megabyte have each exactly once', async () => {
    const labels = new Map(Array.from({ length: 64 }, (_, i) => [wide(i, 317), wide(i, 63)]));
    const ids = Array.from({ length: 2_000 }, (_, i) => `m-${String(i).padStart(5, '0')}`);
    const scene = new ControllerScene();
    for (let from = 0; from < ids.length; from += 1000)
      scene.list(ids.slice(from, from + 1000).map((id) => record(id, Idle, { labels }))).tick();
    const { pages } = await served(scene);
    const all = await pages<MachineView>('/v1/machines?limit=10000');
    expect(itemsOf(all).map(({ id }) => id)).toEqual(ids);
    expect(new Set(all.map(({ total }) => total))).toEqual(new Set([2_000]));
    // Pages are nearly full: each ends where the next machine would not fit.
    expect(all.length).toBeLessThan(64);
  });

  it('given many labels, then a list has the first 64 and the number of the others, and a single machine has all', async () => {
    const labels = new Map(Array.from({ length: 256 }, (_, i) => [wide(i, 317), '\u0001'.repeat(63)]));
    const scene = new ControllerScene().list([record('m', Idle, { labels })]).tick();
    const { get } = await served(scene);
    const { items } = await get<Page<MachineView>>('/v1/machines');
    expect(Object.keys(items[0]!.labels)).toHaveLength(64);
    expect(items[0]!.labelsNotShown).toBe(192);
    const one = await get<MachineView>('/v1/machines/m');
    expect(new Map(Object.entries(one.labels))).toEqual(labels);
    expect(one.labelsNotShown).toBe(0);
  });

  it('given changes between two pages, then each machine that remained appears once', async () => {
    const scene = new ControllerScene().list(['b', 'd', 'f', 'h'].map((id) => record(id, Idle))).tick();
    const { get } = await served(scene);
    const first = await get<Page<MachineView>>('/v1/machines?limit=2');
    expect(first.items.map(({ id }) => id)).toEqual(['b', 'd']);
    scene
      .tick(600_000)
      .list([record('a', Idle), record('e', Idle)], 'p', ['d'])
      .tick();
    const second = await get<Page<MachineView>>(`/v1/machines?after=${first.next}`);
    expect(second.items.map(({ id }) => id)).toEqual(['e', 'f', 'h']);
    expect(second.next).toBeNull();
  });
});

describe('Needs over HTTP', () => {
  const VALUES = Array.from({ length: 4096 }, (_, i) => wide(i, 63));

  it('given 100 with 4,096 values of 63 bytes each, then pages and explanations are below a megabyte', async () => {
    const needs = Array.from({ length: 100 }, (_, i) =>
      aNeed({ requirements: [{ key: `k${i}`, operator: Operator.In, values: VALUES }], firstSeenMs: i + 1 }),
    );
    const scene = new ControllerScene()
      .list([])
      .open('c1')
      .demand('c1', ...needs)
      .tick();
    const { get, pages } = await served(scene);
    const all = itemsOf(await pages<NeedView>('/v1/needs?limit=30'));
    expect(all.map(({ requirements }) => requirements[0]!.split(' ')[0])).toEqual(
      needs.map((_, i) => `k${i}`),
    );
    expect(new Set(all.map(({ id }) => id)).size).toBe(100);
    for (const { requirements, fingerprint } of all) {
      expect(requirements[0]).toMatch(/^k\d+ In \d+x+, [\dx, ]+ and 409[34] more$/);
      expect(fingerprint.length).toBeLessThan(300);
    }
    const unmet = itemsOf(await pages<NeedView>('/v1/needs?unmet=true&limit=30'));
    expect(unmet.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
    expect(itemsOf(await pages('/v1/shortfalls?limit=30'))).toHaveLength(100);
    const { need } = await get<NeedExplanation>(`/v1/needs/${all[0]!.id}`);
    expect(need.requirements[0]!.split(', ')).toHaveLength(100);
    expect(need.requirements[0]).toMatch(/ and 3996 more$/);
  });

  it('given requirements that are short each and long together, then the explanation is below a megabyte', async () => {
    const requirements = Array.from({ length: 64 }, (_, i) => ({
      ...{ key: wide(i, 317), operator: Operator.NotIn },
      values: Array.from({ length: 64 }, (_, j) => String.fromCharCode(1 + (j % 31)).repeat(63)).map(
        (value, j) => `${j}${value}`.slice(0, 63),
      ),
    }));
    const scene = new ControllerScene().list([]).open('c1').demand('c1', aNeed({ requirements })).tick();
    const { get } = await served(scene);
    const { items } = await get<Page<NeedView>>('/v1/needs');
    expect(items[0]!.requirements.length).toBeGreaterThan(1);
    const { need } = await get<NeedExplanation>(`/v1/needs/${items[0]!.id}`);
    expect(need.requirements.at(-1)).toMatch(/^… \d+ more requirements$/);
  });

  it('given a Need that counts on thousands of machines, then its explanation has the first ids and their number', async () => {
    const machines = Array.from({ length: 3000 }, (_, i) => record(wide(i, 253), Idle));
    const need = aNeed({ aggregate: resources({ cpu: 4 * 3000 }) });
    const scene = new ControllerScene().list(machines).open('c1').demand('c1', need).tick();
    const { get } = await served(scene);
    const { items } = await get<Page<NeedView>>('/v1/needs');
    expect(items[0]).toMatchObject({ claimed: 3000 });
    const story = await get<NeedExplanation>(`/v1/needs/${items[0]!.id}`);
    expect(story.claimedTotal).toBe(3000);
    expect(story.claimed.length).toBeGreaterThan(100);
    expect(story.claimed.length).toBeLessThanOrEqual(1000);
  });
});

describe('clusters over HTTP', () => {
  it('given thousands whose roll-ups were refused, known or not, then pages have each exactly once', async () => {
    const problem = (i: number) => ({
      code: 'BF_QUANTITY_SYNTAX',
      path: `needs[${i}]`,
      message: wide(i, 5_000),
    });
    const names = Array.from({ length: 900 }, (_, i) => wide(10_000 + i, 253));
    const reports = names.map((cluster) => ({
      ...{ cluster, lastReportMs: 1, rows: null, refusedRollups: 1, held: null },
      problems: Array.from({ length: 50 }, (_, i) => problem(i)),
      rowsSetAside: 60,
      remarks: {
        first: Array.from({ length: 50 }, (_, i) => ({ ...problem(i), effect: 'set-aside' })),
        total: 60,
      },
    })) as unknown as readonly ReportView[];
    const scene = new ControllerScene()
      .list([])
      .open(...names.filter((_, i) => i % 3 === 0))
      .tick();
    const { pages } = await served(scene, reports);
    const all = await pages<ClusterView>('/v1/clusters');
    expect(itemsOf(all).map(({ cluster }) => cluster)).toEqual(names);
    expect(itemsOf(all).filter(({ hasSession }) => hasSession)).toHaveLength(300);
    expect(new Set(all.map(({ total }) => total))).toEqual(new Set([900]));
    for (const { reports } of itemsOf(all)) expect(reports?.problems).toHaveLength(10);
  }, 60_000);
});

describe('freezes over HTTP', () => {
  it('given thousands with long reasons, then pages have each exactly once, and one is found by its id', async () => {
    const scene = new ControllerScene().list([]);
    const clusters = Array.from({ length: 2000 }, (_, i) => wide(i, 1000));
    for (const cluster of clusters)
      scene.order({ kind: 'freeze', scope: { cluster, action: null }, who: 'ann', why: 'w'.repeat(1000) });
    const { get, pages } = await served(scene);
    const all = itemsOf(await pages<{ cluster: string }>('/v1/freezes'));
    expect(all.map(({ cluster }) => cluster).toSorted()).toEqual(clusters.toSorted());
    const found = await get<Page<unknown>>(`/v1/freezes?id=${encodeURIComponent(`cluster:${clusters[1]}`)}`);
    expect(found).toMatchObject({ items: [{ cluster: clusters[1] }], total: 1, next: null });
  });
});

describe('the end of a freeze over HTTP', () => {
  const order = async (url: string, body: object): Promise<Response> =>
    await fetch(`${url}/v1/freezes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ who: 'ann', why: 'w', ...body }),
    });

  it('given a time, then the list has the end by the clock of the shard; given none, then null', async () => {
    const scene = new ControllerScene().list([]);
    const { get, url } = await served(scene);
    expect((await order(url, { cluster: 'a', forSeconds: 60 })).status).toBe(200);
    expect((await order(url, { cluster: 'b', forSeconds: null })).status).toBe(200);
    const { items } = await get<Page<{ cluster: string }>>('/v1/freezes');
    const untilMs = scene.hand.now() + 60_000;
    expect(items).toMatchObject([
      { cluster: 'a', untilMs },
      { cluster: 'b', untilMs: null },
    ]);
  });

  it.each([0, -1, 1.5, 31_622_401, '3600', true])(
    'given %j seconds, then the refusal says what there may be, and nothing is frozen',
    async (forSeconds) => {
      const { get, url } = await served(new ControllerScene().list([]));
      const refused = await order(url, { forSeconds });
      expect(refused.status).toBe(400);
      expect(await refused.text()).toContain('must be a whole number of seconds from 1 to 31622400.');
      expect(await get('/v1/freezes')).toMatchObject({ total: 0 });
    },
  );
});

describe('cursors over HTTP', () => {
  const cursor = (text: string): string => Buffer.from(text).toString('base64url');

  it.each([
    ['a text that is not a cursor', 'nonsense'],
    ['characters that cursors do not have', '%00%ff'],
    ['a cursor of another list', cursor('needs:5')],
    ['a cursor of an unknown list', cursor('constructor:5')],
    ['a cursor without a position', cursor('machines:')],
    ['a cursor with trailing characters', `${cursor('machines:m-1')}=`],
  ])('given %s, then 400', async (_, after) => {
    const { url } = await served(new ControllerScene().list([record('m-1', Idle)]).tick());
    const response = await fetch(`${url}/v1/machines?after=${after}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining('"after"') } });
  });

  it.each([
    'needs:-1',
    'needs:1e9',
    'needs:99999999999',
    'shortfalls:x',
    'freezes:x',
    'actions:5',
    'waiting:',
  ])('given the position "%s", then 400', async (text) => {
    const { url } = await served(new ControllerScene().list([]));
    const list = text.startsWith('waiting') ? 'actions' : text.split(':')[0];
    expect((await fetch(`${url}/v1/${list}?after=${cursor(text)}`)).status).toBe(400);
  });
});

describe('refusals over HTTP', () => {
  it.each([
    ['GET', `/v1/${'x'.repeat(10_000)}`],
    ['GET', `/v1/machines/${'x'.repeat(10_000)}`],
    ['GET', `/v1/machines/%ff${'x'.repeat(10_000)}`],
    ['GET', `/v1/machines?${'x'.repeat(10_000)}=1`],
    ['GET', `/v1/machines?state=${'x'.repeat(900)}`],
    ['GET', `/v1/needs/${'x'.repeat(5_000)}/${'y'.repeat(5_000)}`],
    ['PUT', `/v1/machines/${'x'.repeat(10_000)}`],
    ['DELETE', `/v1/freezes/${'x'.repeat(10_000)}?who=a`],
  ])('given %s with a long text, then the refusal quotes only an excerpt', async (method, path) => {
    const { url } = await served(new ControllerScene().list([]));
    const response = await fetch(`${url}${path}`, { method });
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect((await response.text()).length).toBeLessThan(700);
  });
});
