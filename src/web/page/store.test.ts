import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { STATUS } from '../../../testing/support/live-view.ts';
import type { ShardEvent } from '../feed.ts';
import { Store } from './store.ts';

/** As much of a browser's event source as the store uses. */
class FakeSource {
  static readonly CLOSED = 2;
  static opened: FakeSource[] = [];
  readyState = 1;
  readonly url: string;
  readonly #listeners = new Map<string, (event: unknown) => void>();

  constructor(url: string) {
    this.url = url;
    FakeSource.opened.push(this);
  }

  addEventListener(kind: string, listener: (event: unknown) => void): void {
    this.#listeners.set(kind, listener);
  }

  fire(kind: string, event?: ShardEvent): void {
    this.#listeners.get(kind)?.({ data: JSON.stringify(event) });
  }
}

const BODIES: Readonly<Record<string, object>> = {
  '/v1/status': STATUS,
  '/v1/whoami': { name: 'otto', role: 'view' },
};

let asked: string[];

beforeEach(() => {
  vi.useFakeTimers();
  FakeSource.opened = [];
  asked = [];
  vi.stubGlobal('EventSource', FakeSource);
  vi.stubGlobal('fetch', async (path: string) => {
    asked.push(path.split('?', 1)[0]!);
    const body = BODIES[path] ?? { items: [], actions: { items: [] }, points: [] };
    return new Response(JSON.stringify(body));
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function opened() {
  const store = new Store();
  const told = vi.fn();
  store.listen(told);
  store.start();
  const [source] = FakeSource.opened;
  const cycle = (change = {}): void =>
    source!.fire('cycle', { kind: 'cycle', status: { ...STATUS, ...change } });
  return { store, told, source: source!, cycle };
}

describe('the live state of the dashboard', () => {
  it('given a stream, then it asks for a pace and for no actions, which may be thousands a second', () => {
    const { source } = opened();
    expect(source.url).toBe('/v1/events?since=0&kinds=cycle,loss,losses,log&pace=1000');
  });

  it('given many events within a second, then views are told once', async () => {
    const { told, cycle } = opened();
    cycle();
    await vi.advanceTimersByTimeAsync(0);
    told.mockClear();
    for (let i = 0; i < 20; i++) cycle();
    await vi.advanceTimersByTimeAsync(999);
    expect(told).toHaveBeenCalledTimes(0);
    await vi.advanceTimersByTimeAsync(2);
    expect(told).toHaveBeenCalledTimes(1);
  });

  it('given a connection, then the status is read at once, and what events do not carry after each cycle', async () => {
    const { store, source } = opened();
    source.fire('open');
    await vi.advanceTimersByTimeAsync(1_100);
    expect(store.state.live.status?.shard).toBe(STATUS.shard);
    expect(asked).toEqual(
      expect.arrayContaining(['/v1/status', '/v1/shortfalls', '/v1/freezes', '/v1/series']),
    );
  });

  it('given a slow shard, then at most one poll is in flight', async () => {
    const { cycle } = opened();
    vi.stubGlobal('fetch', (path: string) => {
      asked.push(path);
      return new Promise(() => {});
    });
    for (let i = 0; i < 5; i++) cycle();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(asked.filter((path) => path.startsWith('/v1/series'))).toHaveLength(1);
  });

  it('given a connection that breaks, then the page says so until events arrive again', async () => {
    const { store, source, cycle } = opened();
    cycle();
    source.fire('error');
    expect(store.state.trouble).toMatch(/^No connection to the shard since /);
    cycle();
    expect(store.state.trouble).toBe('');
  });

  it('given a connection, then the shard says who the page is', async () => {
    const { store, source } = opened();
    source.fire('open');
    await vi.advanceTimersByTimeAsync(0);
    expect(store.state.caller).toEqual({ name: 'otto', role: 'view' });
  });

  it('given a login that has ended, then the page is loaded again, which leads to the login', async () => {
    const { source } = opened();
    const reload = vi.fn();
    vi.stubGlobal('location', { reload });
    vi.stubGlobal('fetch', async () => new Response('{}', { status: 401 }));
    source.fire('error');
    await vi.advanceTimersByTimeAsync(0);
    expect(reload).toHaveBeenCalled();
  });

  it('given a shard that is down, then the page stays and waits', async () => {
    const { store, source } = opened();
    const reload = vi.fn();
    vi.stubGlobal('location', { reload });
    vi.stubGlobal('fetch', async () => {
      throw new TypeError('Failed to fetch');
    });
    source.fire('error');
    await vi.advanceTimersByTimeAsync(0);
    expect(reload).not.toHaveBeenCalled();
    expect(store.state.trouble).toContain('trying again');
  });

  it('given a server that refused the stream, then it is opened again', async () => {
    const { source } = opened();
    source.readyState = FakeSource.CLOSED;
    source.fire('error');
    await vi.advanceTimersByTimeAsync(2_000);
    expect(FakeSource.opened).toHaveLength(2);
  });

  it('given silence for long, then the page warns', async () => {
    const { store, cycle } = opened();
    cycle();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(store.state.trouble).toMatch(/^Nothing received from the shard since /);
  });

  it('given a restarted shard, then the page says so, and the notice goes by itself', async () => {
    const { store, cycle } = opened();
    cycle();
    cycle({ startedMs: 99 });
    expect(store.state.notice).toContain('restarted');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(store.state.notice).toBe('');
  });

  it('given the answer to an order, then views are told at once, and everything is read again', async () => {
    const { store, told, cycle } = opened();
    cycle();
    await vi.advanceTimersByTimeAsync(1_000);
    told.mockClear();
    const { tick } = store.state;
    store.notify('Frozen.');
    await vi.advanceTimersByTimeAsync(1);
    expect(told).toHaveBeenCalled();
    expect(store.state).toMatchObject({ notice: 'Frozen.', tick: tick + 1 });
  });
});
