import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { aCost } from '../../../testing/support/costs.ts';
import { actionOf, FakePort, PLACE, plannedOf, pointOf, STATUS } from '../../../testing/support/live-view.ts';
import { noPaint } from '../table.ts';
import { chooseView, type ViewEnvironment } from './choose-view.ts';
import { PlainView } from './plain.ts';
import { type TerminalParts, TerminalView } from './terminal.ts';

describe('the plain view', () => {
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

  it('given events, then it prints steps, actions with their reasons, failures and warnings', () => {
    const { view, port } = watch('text');
    view.step('two clouds listen');
    view.follow(port, PLACE);
    port.publish({ kind: 'action-started', action: actionOf(1) });
    port.publish({ kind: 'cycle', status: STATUS });
    port.publish({ kind: 'action-ended', action: actionOf(1, { outcome: 'success', endedMs: 2000 }) });
    port.publish({ kind: 'action-ended', action: actionOf(2, { outcome: 'fenced', endedMs: 2000 }) });
    port.publish({ kind: 'cycle', status: STATUS });
    port.publish({ kind: 'log', level: 'info', event: 'cycle-ended', fields: {} });
    port.publish({ kind: 'log', level: 'warn', event: 'list-held', fields: { provider: 'a\x1b[2J' } });
    const printed = lines.map((line) => line.slice('00:00:00Z '.length));
    expect(printed.filter((line) => !line.includes('not met'))).toEqual([
      'two clouds listen\n',
      'Watch it at http://127.0.0.1:7777 or here. Ctrl-C ends everything.\n',
      'Query it from another terminal: bigfleet get shortfalls --shard http://127.0.0.1:7777\n',
      'ordered m-1 (spot, zone-a) for cluster-3: nothing idle fits\n',
      'bought m-1 (spot, zone-a) for cluster-3: nothing idle fits\n',
      'failed to buy m-2 (spot, zone-a) for cluster-3: a newer shard of this name is at work\n',
      'warn: list-held provider=a\\u001b[2J\n',
    ]);
  });

  it('given a warning after an action ended, then the action is printed first', () => {
    const { view, port } = watch('text');
    view.follow(port, PLACE);
    port.publish({ kind: 'action-ended', action: actionOf(1, { outcome: 'success', endedMs: 2000 }) });
    port.publish({ kind: 'log', level: 'warn', event: 'list-held', fields: {} });
    expect(lines.slice(-2).map((line) => line.slice('00:00:00Z '.length, -1))).toEqual([
      'bought m-1 (spot, zone-a) for cluster-3: nothing idle fits',
      'warn: list-held',
    ]);
  });

  it('given many similar actions, then they share one line', () => {
    const { view, port } = watch('text');
    view.follow(port, PLACE);
    for (let i = 0; i < 4; i++) port.publish({ kind: 'action-started', action: actionOf(i) });
    port.publish({ kind: 'cycle', status: STATUS });
    const bought = lines.filter((line) => line.includes('ordered'));
    expect(bought.map((line) => line.slice('00:00:00Z '.length))).toEqual([
      'ordered 4 machines for cluster-3: nothing idle fits\n',
    ]);
  });

  it('given cycles, then it prints the status every ten seconds', () => {
    const { view, port } = watch('text');
    view.follow(port, PLACE);
    for (; nowMs <= 20_000; nowMs += 1000) port.publish({ kind: 'cycle', status: STATUS });
    const statusLines = lines.filter((line) => line.includes('Needs are not met'));
    expect(statusLines).toHaveLength(3);
    expect(statusLines[0]).toContain(
      '2,650 machines, $1,234.50/h (serving $1,200.00, joining $8.50, idle $25.00, failed $1.00), 5 shortfalls. General: ',
    );
  });

  it('given a long text, then it stays on one line', () => {
    const { view } = watch('text');
    const step = `a fleet in ${'/very/long'.repeat(40)}`;
    view.step(step);
    expect(lines).toEqual([expect.stringMatching(/^[\d:]{8}Z a fleet.*long\n$/)]);
    expect(lines[0]).toContain(step);
  });

  it('given a freeze, then it prints held-back actions once, until they change', async () => {
    const { view, port } = watch('text');
    view.follow(port, PLACE);
    const printed = async (total: number) => {
      const held = {
        ...{ why: 'frozen', total, needs: 1, kinds: { Provision: total } },
        ...{ buysPerHour: 1, releasesPerHour: 0 },
      };
      const status = { ...STATUS, freezes: 1, cycle: { ...STATUS.cycle!, heldBack: [held] } };
      const actions = { items: [plannedOf(1), plannedOf(2)], total, next: null };
      port.answers['plan'] = { frozenClusters: [], actions };
      port.answers['freezes'] = { items: [{ id: 'fleet' }], total: 1, next: null };
      lines = [];
      port.publish({ kind: 'cycle', status });
      nowMs += 10_000;
      await new Promise((resolve) => setImmediate(resolve));
      return lines.map((line) => line.slice('00:00:00 '.length).trim());
    };
    const [statusLines, ...plan] = await printed(7);
    expect(statusLines).toMatch(
      /^Frozen: would buy 7 \(\+\$1\.00\/h\) for 1 Need\. 5 of 2,328 Needs would not be met even then/,
    );
    expect(plan).toEqual([
      'would buy 7 (+$1.00/h), held back: it is frozen.',
      'would buy m-1 (spot, zone-a) for cluster-3: nothing idle fits (+$0.50/h); frozen by ann, because: a look',
      'would buy m-2 (spot, zone-a) for cluster-3: nothing idle fits (+$0.50/h); frozen by ann, because: a look',
      '2 of 7 actions shown, most urgent first: bigfleet get plan --shard http://127.0.0.1:7777',
    ]);
    expect(await printed(7)).toHaveLength(1);
    expect(await printed(8)).toHaveLength(5);
  });

  it('given actions that the shard defers, then it prints that once', async () => {
    const { view, port } = watch('text');
    view.follow(port, PLACE);
    for (const total of [30, 20, 10]) {
      const held = {
        ...{ why: 'capped', total, needs: 0, kinds: { Reclaim: total } },
        ...{ buysPerHour: 0, releasesPerHour: 0 },
      };
      port.answers['plan'] = { frozenClusters: [], actions: { items: [plannedOf(1)], total, next: null } };
      port.publish({ kind: 'cycle', status: { ...STATUS, cycle: { ...STATUS.cycle!, heldBack: [held] } } });
      nowMs += 10_000;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(lines.filter((line) => line.includes('would reclaim'))).toEqual([
      expect.stringContaining('would reclaim 30, held back: its cluster has just lost'),
    ]);
    expect(lines.filter((line) => line.includes('would buy'))).toEqual([]);
  });

  it('given a status, then it prints served, coming, unmet and spare capacity by kind of hardware', () => {
    const { view, port } = watch('text');
    view.follow(port, PLACE);
    port.publish({ kind: 'cycle', status: { ...STATUS, ownedCost: aCost({ serving: 40, idle: 2 }) } });
    const printed = lines.join('');
    expect(printed).toContain(
      ' General: 1 of 2,320 Needs unmet; cpu 11,000 of 12,000 cores served, 600 coming, 400 unmet; ' +
        'memory 48 of 48 TiB served; 88 % of 12,500 cores used, 1,500 cores spare. ',
    );
    expect(printed).toContain(' With gpu: 4 of 8 Needs unmet; ');
    expect(printed).toContain('gpu 32 of 64 served, 32 unmet');
    expect(printed).toContain(', $42.00/h owned, amortised, ');
  });

  it('given JSON, then it prints one event per line', () => {
    const { view, port } = watch('json');
    view.step('two clouds listen');
    view.follow(port, PLACE);
    const event = { kind: 'action-started', action: actionOf(1) } as const;
    port.publish(event);
    port.publish({ kind: 'log', level: 'info', event: 'large', fields: { size: 2n ** 70n } });
    const printed = lines.map((line) => JSON.parse(line) as { kind: string });
    expect(printed.map(({ kind }) => kind)).toEqual(['log', 'log', 'log', 'action-started', 'log']);
    expect(printed[3]).toEqual(event);
  });

  it('given stop, then it prints nothing more', () => {
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
      runScenario: async (name: string) => {
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

  it('given past events, then it shows them when it opens', async () => {
    const event = { kind: 'action-ended', action: actionOf(7, { outcome: 'success', endedMs: 2000 }) };
    port.answers['events'] = { items: [{ ...event, id: '1-1', atMs: 2000 }], total: 1, next: null };
    port.answers['series'] = { points: [pointOf(1), pointOf(61, { unmet: 5 })] };
    watch();
    port.publish({ kind: 'cycle', status: STATUS });
    await vi.advanceTimersByTimeAsync(300);
    expect(shown()).toContain('m-7 (spot, zone-a)');
    expect(shown()).toContain('unmet     5 since');
  });

  it('given its start and its end, then it uses the alternate screen and restores the terminal', () => {
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

  it('given a crash, then it restores the terminal before the error is printed', () => {
    watch();
    (process as EventEmitter).emit('uncaughtExceptionMonitor', new Error('a bug'), 'uncaughtException');
    expect(output.written.at(-1)).toContain('\x1b[?1049l');
    expect(input.isRaw).toBe(false);
  });

  it('given many events, then it draws at most four times a second', async () => {
    watch();
    await vi.advanceTimersByTimeAsync(1000);
    output.written = [];
    for (let ms = 0; ms < 1000; ms += 10) {
      port.publish({ kind: 'cycle', status: STATUS });
      await vi.advanceTimersByTimeAsync(10);
    }
    expect(output.written.length).toBeGreaterThan(1);
    expect(output.written.length).toBeLessThanOrEqual(4);
    expect(output.written.at(-1)).toContain('cycle 1,234');
  });

  it('given a resize, then it draws in the new size; given a terminal that is behind, then it skips frames', async () => {
    watch();
    port.publish({ kind: 'cycle', status: STATUS });
    output.columns = 120;
    output.rows = 40;
    output.emit('resize');
    await vi.advanceTimersByTimeAsync(300);
    const lines = output.written.at(-1)!.split('\r\n');
    expect(lines).toHaveLength(40);
    // Cleared before it is written: clearing afterwards would erase the last character of a full line.
    expect(lines.filter((line) => line.lastIndexOf('\x1b[K') > '\x1b[H'.length)).toEqual([]);
    output.writableNeedDrain = true;
    output.written = [];
    port.publish({ kind: 'cycle', status: STATUS });
    await vi.advanceTimersByTimeAsync(300);
    expect(output.written).toEqual([]);
  });

  it('given a key of a demo scenario, then it starts it and shows the answer', async () => {
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

  it('given the key f, then it freezes the fleet, and unfreezes it the next time', async () => {
    watch();
    await press('f');
    expect(port.orders).toMatchObject([{ kind: 'freeze', scope: { cluster: null, action: null } }]);
    const fleet = { id: 'fleet', who: 'x', why: 'y', cluster: null, action: null, sinceMs: 0, untilMs: null };
    port.answers['freezes'] = { items: [fleet], total: 1, next: null };
    port.publish({ kind: 'cycle', status: STATUS });
    await vi.advanceTimersByTimeAsync(300);
    await press('f');
    expect(port.orders[1]).toMatchObject({ kind: 'unfreeze', id: 'fleet' });
  });

  it.each(['q', '\x03', '\x04'])('given the key %j, then it ends', async (key) => {
    watch();
    await press(key);
    expect(caused).toEqual(['quit']);
  });
});

describe('the choice of a view', () => {
  /** By default, input and output are terminals. */
  function chosen(
    env: Record<string, string>,
    { isTTY = true, keyboard = true, output: format = 'text' as 'text' | 'json', plain = false } = {},
  ): { readonly isLive: boolean; readonly written: string } {
    const input = Object.assign(new FakeInput(), { isTTY: keyboard });
    const output = Object.assign(new FakeOutput(), { isTTY });
    const hooks = { runScenario: async () => '', quit: () => {} };
    const environment = { input, output, env } as unknown as ViewEnvironment;
    const view = chooseView({ output: format, plain }, hooks, environment);
    view.step('two clouds listen');
    view.stop();
    return { isLive: view instanceof TerminalView, written: output.written.join('') };
  }

  it('given a terminal, also with an empty NO_COLOR, then it is the live screen', () => {
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
  ])('given %s, then it is plain lines without escape codes', (_, env, how) => {
    const { isLive, written } = chosen(env, how);
    expect(isLive).toBe(false);
    expect(written).toContain('two clouds listen');
    expect(written).not.toContain('\x1b');
  });
});
