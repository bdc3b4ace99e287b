import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { aCost } from '../../../testing/support/costs.ts';
import { actionOf, FakePort, PLACE, plannedOf, pointOf, STATUS } from '../../../testing/support/live-view.ts';
import { noPaint } from '../table.ts';
import { chooseView, type Surroundings } from './choose-view.ts';
import { PlainView } from './plain.ts';
import { type TerminalParts, TerminalView } from './terminal.ts';

describe('plain lines', () => {
  let nowMs: number;
  let lines: string[];

  beforeEach(() => {
    nowMs = 0;
    lines = [];
  });

  function watch(format: 'text' | 'json'): { view: PlainView; port: FakePort } {
    const clock = () => nowMs;
    const out = (text: string) => lines.push(text);
    return { view: new PlainView({ out, format, monotonicMs: clock, nowMs: clock }), port: new FakePort() };
  }

  it('are the steps, each action with its reason, failures and warnings', () => {
    const { view, port } = watch('text');
    view.step('two clouds listen');
    view.follow(port, PLACE);
    port.tell({ kind: 'action-started', action: actionOf(1) });
    port.tell({ kind: 'cycle', status: STATUS });
    port.tell({ kind: 'action-ended', action: actionOf(1, { outcome: 'success', endedMs: 2000 }) });
    port.tell({ kind: 'action-ended', action: actionOf(2, { outcome: 'fenced', endedMs: 2000 }) });
    port.tell({ kind: 'cycle', status: STATUS });
    port.tell({ kind: 'log', level: 'info', event: 'cycle-ended', fields: {} });
    port.tell({ kind: 'log', level: 'warn', event: 'list-held', fields: { provider: 'a\x1b[2J' } });
    const told = lines.map((line) => line.slice('00:00:00Z '.length));
    expect(told.filter((line) => !line.includes('not met'))).toEqual([
      'two clouds listen\n',
      'Watch it at http://127.0.0.1:7777 or here. Ctrl-C ends everything.\n',
      'Ask it in another terminal: bigfleet get shortfalls --shard http://127.0.0.1:7777\n',
      'ordered m-1 (spot, zone-a) for cluster-3: nothing idle fits\n',
      'bought m-1 (spot, zone-a) for cluster-3: nothing idle fits\n',
      'failed to buy m-2 (spot, zone-a) for cluster-3: a newer shard of this name is at work\n',
      'warn: list-held provider=a\\u001b[2J\n',
    ]);
  });

  it('given a warning after an action ended, then the action is told before it', () => {
    const { view, port } = watch('text');
    view.follow(port, PLACE);
    port.tell({ kind: 'action-ended', action: actionOf(1, { outcome: 'success', endedMs: 2000 }) });
    port.tell({ kind: 'log', level: 'warn', event: 'list-held', fields: {} });
    expect(lines.slice(-2).map((line) => line.slice('00:00:00Z '.length, -1))).toEqual([
      'bought m-1 (spot, zone-a) for cluster-3: nothing idle fits',
      'warn: list-held',
    ]);
  });

  it('tell of many actions that are alike as one', () => {
    const { view, port } = watch('text');
    view.follow(port, PLACE);
    for (let i = 0; i < 4; i++) port.tell({ kind: 'action-started', action: actionOf(i) });
    port.tell({ kind: 'cycle', status: STATUS });
    const bought = lines.filter((line) => line.includes('ordered'));
    expect(bought.map((line) => line.slice('00:00:00Z '.length))).toEqual([
      'ordered 4 machines for cluster-3: nothing idle fits\n',
    ]);
  });

  it('print the status every ten seconds', () => {
    const { view, port } = watch('text');
    view.follow(port, PLACE);
    for (; nowMs <= 20_000; nowMs += 1000) port.tell({ kind: 'cycle', status: STATUS });
    const standing = lines.filter((line) => line.includes('Needs are not met'));
    expect(standing).toHaveLength(3);
    expect(standing[0]).toContain(
      '2,650 machines, $1,234.50/h (serving $1,200.00, joining $8.50, idle $25.00, failed $1.00), 5 shortfalls. General: ',
    );
  });

  it('are whole, however long', () => {
    const { view } = watch('text');
    const step = `a fleet in ${'/very/long'.repeat(40)}`;
    view.step(step);
    expect(lines).toEqual([expect.stringMatching(/^[\d:]{8}Z a fleet.*long\n$/)]);
    expect(lines[0]).toContain(step);
  });

  it('say what a freeze holds back, once until it changes', async () => {
    const { view, port } = watch('text');
    view.follow(port, PLACE);
    const told = async (total: number) => {
      const held = {
        ...{ why: 'frozen', total, needs: 1, kinds: { Provision: total } },
        ...{ buysPerHour: 1, releasesPerHour: 0 },
      };
      const status = { ...STATUS, freezes: 1, cycle: { ...STATUS.cycle!, heldBack: [held] } };
      const actions = { items: [plannedOf(1), plannedOf(2)], total, next: null };
      port.answers['plan'] = { frozenClusters: [], actions };
      port.answers['freezes'] = { items: [{ id: 'fleet' }], total: 1, next: null };
      lines = [];
      port.tell({ kind: 'cycle', status });
      nowMs += 10_000;
      await new Promise((resolve) => setImmediate(resolve));
      return lines.map((line) => line.slice('00:00:00 '.length).trim());
    };
    const [standing, ...plan] = await told(7);
    expect(standing).toMatch(
      /^Frozen: would buy 7 \(\+\$1\.00\/h\) for 1 Need\. 5 of 2,328 Needs would not be met even then/,
    );
    expect(plan).toEqual([
      'would buy 7 (+$1.00/h), held back: it is frozen.',
      'would buy m-1 (spot, zone-a) for cluster-3: nothing idle fits (+$0.50/h); frozen by ann, because: a look',
      'would buy m-2 (spot, zone-a) for cluster-3: nothing idle fits (+$0.50/h); frozen by ann, because: a look',
      '2 of 7 actions shown, most urgent first: bigfleet get plan --shard http://127.0.0.1:7777',
    ]);
    expect(await told(7)).toHaveLength(1);
    expect(await told(8)).toHaveLength(5);
  });

  it('say once that the shard puts actions off, however many', async () => {
    const { view, port } = watch('text');
    view.follow(port, PLACE);
    for (const total of [30, 20, 10]) {
      const held = {
        ...{ why: 'capped', total, needs: 0, kinds: { Reclaim: total } },
        ...{ buysPerHour: 0, releasesPerHour: 0 },
      };
      port.answers['plan'] = { frozenClusters: [], actions: { items: [plannedOf(1)], total, next: null } };
      port.tell({ kind: 'cycle', status: { ...STATUS, cycle: { ...STATUS.cycle!, heldBack: [held] } } });
      nowMs += 10_000;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(lines.filter((line) => line.includes('would reclaim'))).toEqual([
      expect.stringContaining('would reclaim 30, held back: its cluster has just lost'),
    ]);
    expect(lines.filter((line) => line.includes('would buy'))).toEqual([]);
  });

  it('say by kind of hardware what is served, coming and unmet, and what is spare', () => {
    const { view, port } = watch('text');
    view.follow(port, PLACE);
    port.tell({ kind: 'cycle', status: { ...STATUS, ownedCost: aCost({ serving: 40, idle: 2 }) } });
    const told = lines.join('');
    expect(told).toContain(
      ' General: 1 of 2,320 Needs unmet; cpu 11,000 of 12,000 cores served, 600 coming, 400 unmet; ' +
        'memory 48 of 48 TiB served; 88 % of 12,500 cores used, 1,500 cores spare. ',
    );
    expect(told).toContain(' With gpu: 4 of 8 Needs unmet; ');
    expect(told).toContain('gpu 32 of 64 served, 32 unmet');
    expect(told).toContain(', $42.00/h owned, amortised, ');
  });

  it('are the news one a line as JSON', () => {
    const { view, port } = watch('json');
    view.step('two clouds listen');
    view.follow(port, PLACE);
    const event = { kind: 'action-started', action: actionOf(1) } as const;
    port.tell(event);
    port.tell({ kind: 'log', level: 'info', event: 'large', fields: { size: 2n ** 70n } });
    const told = lines.map((line) => JSON.parse(line) as { kind: string });
    expect(told.map(({ kind }) => kind)).toEqual(['log', 'log', 'log', 'action-started', 'log']);
    expect(told[3]).toEqual(event);
  });

  it('end when told to', () => {
    const { view, port } = watch('text');
    view.follow(port, PLACE);
    view.stop();
    expect(port.listeners.size).toBe(0);
  });
});

class FakeInput extends PassThrough {
  isRaw = false;

  setRawMode(isRaw: boolean): void {
    this.isRaw = isRaw;
  }
}

class FakeOutput extends EventEmitter {
  columns = 80;
  rows = 24;
  writableNeedDrain = false;
  written: string[] = [];

  write(text: string): void {
    this.written.push(text);
  }
}

describe('the view on a terminal', () => {
  const open = new Set<TerminalView>();
  let input: FakeInput;
  let output: FakeOutput;
  let caused: string[];
  let port: FakePort;

  beforeEach(() => {
    vi.useFakeTimers();
    input = new FakeInput();
    output = new FakeOutput();
    port = new FakePort();
    caused = [];
  });

  afterEach(() => {
    for (const view of open) view.stop();
    open.clear();
    vi.useRealTimers();
  });

  function watch(): TerminalView {
    const parts = {
      input,
      output,
      paint: noPaint,
      quit: () => caused.push('quit'),
      story: async (name: string) => {
        caused.push(name);
        if (name === 'zone-outage') throw new Error('there is one zone only');
        return `begun: ${name}`;
      },
    };
    const view = new TerminalView(parts as unknown as TerminalParts);
    open.add(view);
    view.follow(port, PLACE);
    return view;
  }

  const shown = () => output.written.join('');
  const press = async (key: string) => {
    input.write(key);
    await vi.advanceTimersByTimeAsync(300);
  };

  it('begins with what was before it was opened', async () => {
    const event = { kind: 'action-ended', action: actionOf(7, { outcome: 'success', endedMs: 2000 }) };
    port.answers['events'] = { items: [{ ...event, id: '1-1', atMs: 2000 }], total: 1, next: null };
    port.answers['series'] = { points: [pointOf(1), pointOf(61, { unmet: 5 })] };
    watch();
    port.tell({ kind: 'cycle', status: STATUS });
    await vi.advanceTimersByTimeAsync(300);
    expect(shown()).toContain('m-7 (spot, zone-a)');
    expect(shown()).toContain('unmet     5 since');
  });

  it('takes the other page of the terminal and gives the terminal back as it was', () => {
    const before = process.listenerCount('exit');
    const view = watch();
    expect(output.written[0]).toContain('\x1b[?1049h');
    expect(input.isRaw).toBe(true);
    view.stop();
    view.stop();
    expect(output.written.filter((text) => text.includes('\x1b[?1049l'))).toHaveLength(1);
    expect(output.written.at(-1)).toContain('\x1b[?25h');
    expect(input.isRaw).toBe(false);
    expect(port.listeners.size).toBe(0);
    expect(process.listenerCount('exit')).toBe(before);
  });

  it('gives the terminal back before the error of a crash is printed', () => {
    watch();
    (process as EventEmitter).emit('uncaughtExceptionMonitor', new Error('a bug'), 'uncaughtException');
    expect(output.written.at(-1)).toContain('\x1b[?1049l');
    expect(input.isRaw).toBe(false);
  });

  it('draws at most four times a second, however much happens', async () => {
    watch();
    await vi.advanceTimersByTimeAsync(1000);
    output.written = [];
    for (let ms = 0; ms < 1000; ms += 10) {
      port.tell({ kind: 'cycle', status: STATUS });
      await vi.advanceTimersByTimeAsync(10);
    }
    expect(output.written.length).toBeGreaterThan(1);
    expect(output.written.length).toBeLessThanOrEqual(4);
    expect(output.written.at(-1)).toContain('cycle 1,234');
  });

  it('draws in the new size after a resize, and not at all while the terminal is behind', async () => {
    watch();
    port.tell({ kind: 'cycle', status: STATUS });
    output.columns = 120;
    output.rows = 40;
    output.emit('resize');
    await vi.advanceTimersByTimeAsync(300);
    const lines = output.written.at(-1)!.split('\r\n');
    expect(lines).toHaveLength(40);
    // Cleared before it is written: afterwards the last character of a full line would go too.
    expect(lines.filter((line) => line.lastIndexOf('\x1b[K') > '\x1b[H'.length)).toEqual([]);
    output.writableNeedDrain = true;
    output.written = [];
    port.tell({ kind: 'cycle', status: STATUS });
    await vi.advanceTimersByTimeAsync(300);
    expect(output.written).toEqual([]);
  });

  it('causes stories by keys and shows what became of them', async () => {
    watch();
    await press('b');
    expect(shown()).toContain('begun: deploy-burst');
    await press('g');
    await press('s');
    await press('z');
    expect(caused).toEqual(['deploy-burst', 'gpu-gang', 'spot-wave', 'zone-outage']);
    await vi.advanceTimersByTimeAsync(300);
    expect(shown()).toContain('there is one zone only');
  });

  it('freezes, and unfreezes what is frozen', async () => {
    watch();
    await press('f');
    expect(port.orders).toMatchObject([{ kind: 'freeze', scope: { cluster: null, action: null } }]);
    const fleet = { id: 'fleet', who: 'x', why: 'y', cluster: null, action: null, sinceMs: 0 };
    port.answers['freezes'] = { items: [fleet], total: 1, next: null };
    port.tell({ kind: 'cycle', status: STATUS });
    await vi.advanceTimersByTimeAsync(300);
    await press('f');
    expect(port.orders[1]).toMatchObject({ kind: 'unfreeze', id: 'fleet' });
  });

  it.each(['q', '\x03', '\x04'])('ends by %j', async (key) => {
    watch();
    await press(key);
    expect(caused).toEqual(['quit']);
  });
});

describe('the view that is chosen', () => {
  /** A terminal on both ends, unless said otherwise. */
  function chosen(
    env: Record<string, string>,
    { isTTY = true, keyboard = true, output: format = 'text' as 'text' | 'json', plain = false } = {},
  ): { readonly isLive: boolean; readonly written: string } {
    const input = Object.assign(new FakeInput(), { isTTY: keyboard });
    const output = Object.assign(new FakeOutput(), { isTTY });
    const hooks = { story: async () => '', quit: () => {} };
    const surroundings = { input, output, env } as unknown as Surroundings;
    const view = chooseView({ output: format, plain }, hooks, surroundings);
    view.step('two clouds listen');
    view.stop();
    return { isLive: view instanceof TerminalView, written: output.written.join('') };
  }

  it('is the live screen on a terminal, also with an empty NO_COLOR', () => {
    expect(chosen({ TERM: 'xterm-256color' }).isLive).toBe(true);
    expect(chosen({ TERM: 'xterm', NO_COLOR: '' }).isLive).toBe(true);
  });

  it.each([
    ['NO_COLOR', { TERM: 'xterm', NO_COLOR: '1' }, {}],
    ['TERM=dumb', { TERM: 'dumb' }, {}],
    ['output to a file', { TERM: 'xterm', FORCE_COLOR: '1' }, { isTTY: false }],
    ['no keyboard', { TERM: 'xterm' }, { keyboard: false }],
    ['--plain', { TERM: 'xterm' }, { plain: true }],
    ['JSON', { TERM: 'xterm' }, { output: 'json' as const }],
  ])('given %s, then lines without any escape code', (_, env, how) => {
    const { isLive, written } = chosen(env, how);
    expect(isLive).toBe(false);
    expect(written).toContain('two clouds listen');
    expect(written).not.toContain('\x1b');
  });
});
