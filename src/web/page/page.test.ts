import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ShardEvent, Status } from '../feed.ts';
import { timeOfDay } from '../figures.ts';
import type { Tree } from '../view.ts';
import { show } from './dom.ts';
import { FakeDocument, FakeElement, FakeNode } from './testkit.ts';

const IDS = [
  'headline',
  'about',
  'trouble',
  'notice',
  'since',
  'history',
  'events',
  'controls',
  'machines',
  'supply',
  'cost',
];
const LISTS = ['asked', 'answer', 'actions', 'failed', 'plan', 'shortfalls', 'providers', 'clusters'];

let page: FakeDocument;

beforeEach(() => {
  page = new FakeDocument([...IDS, ...LISTS]);
  vi.stubGlobal('document', page);
  vi.stubGlobal('Element', FakeElement);
  vi.stubGlobal('Node', FakeNode);
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.resetModules();
});

describe('reconciling the document', () => {
  const show_ = (parent: FakeElement, trees: readonly Tree[]) => show(parent as unknown as Element, trees);
  const item = (text: string, attributes = {}): Tree => ({ tag: 'li', attributes, children: [text] });

  it('given a changed tree, then it keeps equal nodes and updates the others', () => {
    const list = new FakeElement('ul');
    show_(list, [item('a', { class: 'doing' }), item('b')]);
    const [first] = list.childNodes;
    show_(list, [item('c')]);
    expect(list.childNodes).toHaveLength(1);
    expect(list.childNodes[0]).toBe(first);
    expect(list.textContent).toBe('c');
    expect((first as FakeElement).getAttributeNames()).toEqual([]);
  });

  it('given another kind of element, then it replaces the old one', () => {
    const place = new FakeElement('div');
    show_(place, ['text']);
    show_(place, [{ tag: 'svg', attributes: { class: 'bar' }, children: [] }]);
    expect(place.childNodes[0]).toMatchObject({ localName: 'svg' });
  });

  it('given markup in a name, then it stays text', () => {
    const place = new FakeElement('div');
    show_(place, ['<img src=x>']);
    expect(place.childNodes[0]).toBeInstanceOf(FakeNode);
    expect(place.childNodes[0]).not.toBeInstanceOf(FakeElement);
    expect(place.textContent).toBe('<img src=x>');
  });
});

/** The shard's end of the connection. */
class FakeSource {
  static readonly CLOSED = 2;
  static all: FakeSource[] = [];
  readyState = 1;
  readonly #listeners = new Map<string, (event: { data: string }) => void>();

  readonly url: string;

  constructor(url: string) {
    this.url = url;
    FakeSource.all.push(this);
  }

  addEventListener(kind: string, listener: (event: { data: string }) => void): void {
    this.#listeners.set(kind, listener);
  }

  fire(kind: string, data = ''): void {
    this.#listeners.get(kind)?.({ data });
  }

  tell(event: ShardEvent): void {
    this.fire(event.kind, JSON.stringify(event));
  }
}

const STATUS: Status = {
  shard: 'shard-0',
  epoch: 1,
  startedMs: 1_000,
  nowMs: 61_000,
  phase: 'running',
  dryRun: false,
  cycle: { number: 60, durationMs: 4, unmet: 0, admitted: {} },
  machines: 2,
  machinesByState: { CONFIGURED: 2 },
  costPerHour: 1.5,
  cost: { perHour: 1.5, byPart: { serving: 1.5 } },
  ownedCost: null,
  needs: 3,
  clusters: 1,
  sessions: 1,
  shortfalls: 0,
  escalated: 0,
  freezes: 0,
  hardware: [],
  providers: [],
};

describe('the page', () => {
  let asked: { method: string; path: string; body: unknown }[];
  let answers: Record<string, unknown>;

  beforeEach(async () => {
    vi.useFakeTimers();
    FakeSource.all = [];
    asked = [];
    answers = {
      '/v1/status': STATUS,
      '/v1/shortfalls?limit=20': { items: [] },
      '/v1/clusters?order=trouble&limit=100': { items: [], total: 0 },
      '/v1/machines?state=FAILED&limit=10': { items: [], total: 0 },
      '/v1/freezes?id=fleet': { items: [] },
      '/v1/series?since=0': { points: [] },
      '/v1/plan?limit=20': { frozenClusters: [], actions: { items: [], total: 0 } },
    };
    vi.stubGlobal('EventSource', FakeSource);
    vi.stubGlobal('fetch', async (path: string, how?: { method: string; body?: string }) => {
      asked.push({ method: how?.method ?? 'GET', path, body: JSON.parse(how?.body ?? 'null') });
      return {
        ok: path in answers,
        status: path in answers ? 200 : 404,
        json: async () => answers[path] ?? {},
      };
    });
    await import('./main.ts');
  });

  const source = () => FakeSource.all.at(-1)!;
  const buttons = () => page.getElementById('controls')!.childNodes as FakeElement[];
  const connect = async () => {
    source().fire('open');
    await vi.advanceTimersByTimeAsync(300);
  };

  it('given a shard outside the demo, when it connects, then it shows the state, without buttons for scenarios', async () => {
    await connect();
    expect(page.textOf('headline')).toBe('All 3 Needs of 1 cluster are met; nothing to do.');
    expect(page.textOf('cost')).toContain('$1.50/h');
    expect(buttons().map((button) => button.textContent)).toEqual(['Freeze the fleet']);
  });

  it('given a shard with a past, when it connects, then it shows the last hour, actions and events with their times', async () => {
    const point = { costPerHour: 1, machinesByState: {}, needs: 3, unmet: 2, begun: 4, failed: 1 };
    answers['/v1/series?since=0'] = {
      points: [
        { ...point, atMs: 1_000, unmet: 0 },
        { ...point, atMs: 11_000 },
      ],
    };
    expect(source().url).toBe('/v1/events?since=0');
    await connect();
    source().tell({ kind: 'cycle', status: { ...STATUS, cycle: { ...STATUS.cycle!, unmet: 2 } } });
    source().tell({ kind: 'log', level: 'error', event: 'list-held', fields: {}, id: '1-1', atMs: 5_000 });
    await vi.advanceTimersByTimeAsync(300);
    expect(page.textOf('history')).toContain(`2 now, since ${timeOfDay(11_000)} (50 s)`);
    expect(page.textOf('events')).toBe(`${timeOfDay(5_000)} list-held`);
    answers['/v1/series?since=11000'] = { points: [{ ...point, atMs: 21_000, unmet: 0 }] };
    source().tell({ kind: 'cycle', status: STATUS });
    await vi.advanceTimersByTimeAsync(300);
    expect(page.textOf('history')).toContain('none now; highest 2');
  });

  it('given demo scenarios, then each has a button, which starts it', async () => {
    answers['/up/stories'] = ['deploy-burst', 'spot-wave'];
    answers['/up/stories/spot-wave'] = { message: 'Three machines will go.' };
    await connect();
    expect(buttons().map((button) => button.textContent)).toEqual([
      'Deploy burst',
      'Spot wave',
      'Freeze the fleet',
    ]);
    page.click(buttons()[1]);
    await vi.advanceTimersByTimeAsync(300);
    expect(asked).toContainEqual({ method: 'POST', path: '/up/stories/spot-wave', body: {} });
    expect(page.textOf('notice')).toBe('Three machines will go.');
    await vi.advanceTimersByTimeAsync(9_000);
    expect(page.textOf('notice')).toBe('');
  });

  it('given its button, then it freezes the fleet, and unfreezes it the next time', async () => {
    await connect();
    page.click(buttons()[0]);
    answers['/v1/freezes?id=fleet'] = { items: [{ id: 'fleet', who: 'web page', why: '' }] };
    source().tell({ kind: 'cycle', status: STATUS });
    await vi.advanceTimersByTimeAsync(600);
    expect(asked).toContainEqual(expect.objectContaining({ method: 'POST', path: '/v1/freezes' }));
    expect(buttons()[0]!.textContent).toBe('Unfreeze the fleet');
    expect(page.textOf('headline')).toMatch(/^Frozen/);
    page.click(buttons()[0]);
    expect(asked).toContainEqual(
      expect.objectContaining({ method: 'DELETE', path: '/v1/freezes/fleet?who=web%20page' }),
    );
  });

  it('given the name of a machine, when it is asked about, then it shows who uses it', async () => {
    const machine = { id: 'm-1', state: 'CONFIGURED', cluster: 'shop', pricePerHour: 1.5, lastError: '' };
    const usage = { sentence: 'shop/00ff00ff00 takes 6 cpu, 2 cpu left over' };
    answers['/v1/machines/m-1'] = { ...machine, usage, unclaimed: null, held: null };
    await connect();
    page.submit('asked', ' m-1 ');
    await vi.advanceTimersByTimeAsync(300);
    expect(page.getElementById('answer')!.childNodes.map((node) => node.textContent)).toEqual([
      'm-1: serving in shop, $1.50/h',
      usage.sentence,
    ]);
    page.submit('asked', '');
    page.submit('asked', 'shop/00ff00ff00');
    await vi.advanceTimersByTimeAsync(300);
    expect(asked.slice(-2).map(({ path }) => path)).toEqual([
      '/v1/needs/shop/00ff00ff00',
      '/v1/machines/shop%2F00ff00ff00',
    ]);
    expect(page.textOf('answer')).toBe('There is no machine and no Need shop/00ff00ff00.');
  });

  it('given a lost connection and a restarted shard, then it shows both', async () => {
    await connect();
    source().readyState = FakeSource.CLOSED;
    source().fire('error');
    await vi.advanceTimersByTimeAsync(300);
    expect(page.textOf('trouble')).toMatch(/^No connection to the shard since .*; trying again\.$/);
    expect(buttons()[0]!.getAttribute('disabled')).toBe('');
    await vi.advanceTimersByTimeAsync(2_000);
    expect(FakeSource.all).toHaveLength(2);
    answers['/v1/status'] = { ...STATUS, startedMs: 50_000 };
    await connect();
    expect(page.textOf('trouble')).toBe('');
    expect(page.textOf('notice')).toBe('The shard was restarted; this is the new one.');
  });

  it('given a connection without events, then it shows that', async () => {
    await connect();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(page.textOf('trouble')).toMatch(/^Nothing received/);
  });

  it('given very many actions, then the document does not grow', async () => {
    await connect();
    for (let i = 0; i < 500; i++) {
      source().tell({
        kind: 'action-started',
        action: {
          id: `a-${i}`,
          kind: 'Provision',
          machine: `m-${i}`,
          provider: 'cloud',
          cluster: 'c',
          need: null,
          reason: 'phase1.speculative',
          startedMs: i,
          endedMs: null,
          outcome: null,
          message: '',
        },
      });
    }
    await vi.advanceTimersByTimeAsync(300);
    const { childNodes } = page.getElementById('actions')!;
    expect(childNodes).toHaveLength(21);
    expect(childNodes[20]!.textContent).toBe('20 of 200 actions shown, newest first');
    expect(childNodes[0]!.textContent).toContain('ordered m-499 for c: nothing idle fits');
  });
});
