// `bigfleet top`: keys on a simulated terminal against a served shard, and the text without a terminal.

import { PassThrough, Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noPaint } from '../../src/cli/table.ts';
import { type TopIo, type TopTiming, topCommand } from '../../src/cli/top/command.ts';
import { EMPTY, LISTS, type PressedKey, pressed, type TopModel } from '../../src/cli/top/model.ts';
import { topScreen } from '../../src/cli/top/screen.ts';
import type { MachineView } from '../../src/shard/index.ts';
import { fakePage, MACHINES } from '../../testing/support/fake-shard.ts';
import { type Served, servedShard } from './served.ts';

let served: Served;
beforeEach(async () => {
  served = await servedShard();
});
afterEach(() => served.close());

function terminal(columns = 100, rows = 30) {
  const input = Object.assign(new PassThrough(), { setRawMode: () => input });
  let text = '';
  const output = Object.assign(
    new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        text += chunk.toString();
        done();
      },
    }),
    { columns, rows },
  );
  /** The lines of the last frame. */
  const screen = (): readonly string[] =>
    text
      .slice(text.lastIndexOf('\x1b[H') + 3)
      .replaceAll('\x1b[K', '')
      .split('\r\n');
  return { input, output, screen, all: () => text };
}

/** Runs `top` on a terminal; `act` presses keys, and it must end by itself. */
async function onTerminal(
  act: (press: (keys: string) => void, until: (text: string) => Promise<readonly string[]>) => Promise<void>,
  words: readonly string[] = [],
  timing: TopTiming = {},
): Promise<string> {
  const { input, output, screen, all } = terminal();
  const streams = { input, output, intervalMs: 5, ...timing } as unknown as NonNullable<TopIo['terminal']>;
  const running = served.run((io) => topCommand({ ...io, terminal: streams }), words);
  const until = async (text: string) => {
    await expect.poll(() => screen().join('\n'), { interval: 5, timeout: 5_000 }).toContain(text);
    return screen();
  };
  await act((keys) => input.write(keys), until);
  await running;
  return all();
}

describe('bigfleet top on a terminal', () => {
  it('given keys, then it moves, opens, filters and quits, and restores the terminal', async () => {
    const text = await onTerminal(async (press, until) => {
      const first = await until('1 machines');
      expect(first[0]).toMatch(/^shard-0 {2}running/);
      expect(first).toHaveLength(30);
      expect(first.filter((line) => line.length > 100)).toEqual([]);
      press('jk');
      press('\r');
      await until('Recent events, newest first');
      press('\x1b');
      await until('machines\n');
      press('/');
      press('gpu');
      await until('1 of 3 machines match "gpu"');
      press('\r');
      press('\t');
      await until('ml/00ff00ff00');
      press('3');
      await until('prod-eu');
      press('q');
    });
    expect(text.endsWith('\x1b[?7h\x1b[?25h\x1b[?1049l')).toBe(true);
  });

  it('given a filter on a longer list than is read, then the shard searches all of it', async () => {
    const [M1] = MACHINES as [MachineView, ...MachineView[]];
    const many = Array.from({ length: 1500 }, (_, i): MachineView => ({ ...M1, id: `m-${i}` }));
    const last = { ...M1, id: 'm-last', cluster: 'rare', instanceType: 'odd' };
    served.shard.answers.machines = ({ where, ...ask }) => {
      const isFound = ({ id, instanceType, cluster }: MachineView): boolean =>
        (where.cluster ?? cluster) === cluster && `${id} ${instanceType}`.includes(where.text ?? '');
      return fakePage(ask, [...many, last].filter(isFound), ({ id }) => id);
    };
    await onTerminal(async (press, until) => {
      await until('the first 1,000 of 1,501 machines');
      for (const filter of ['m-last', 'rare', 'rare odd']) {
        press(`/${filter}\r`);
        const screen = await until(`1 of 1,501 machines match "${filter}", by name`);
        expect(screen.join('\n')).toContain('m-last');
        press('\x1b');
        await until('the first 1,000 of 1,501 machines');
      }
      press('q');
    });
  });

  it('given reads that take long, then the rest between two is ten times as long', async () => {
    let nowMs = 0;
    const rests: number[] = [];
    const timing: TopTiming = {
      intervalMs: 1000,
      now: () => (nowMs += 250),
      timer: (work, ms) => {
        rests.push(ms);
        return setTimeout(work, 1);
      },
    };
    await onTerminal(
      async (press) => {
        await expect.poll(() => rests.length, { interval: 5, timeout: 5_000 }).toBeGreaterThan(2);
        press('q');
      },
      [],
      timing,
    );
    expect(rests.slice(0, 3)).toEqual([1000, 2500, 2500]);
  });

  it('given a shard that does not answer for a while, then it says so and goes on', async () => {
    const status = served.shard.answers.status;
    await onTerminal(async (press, until) => {
      await until('1 machines');
      served.shard.answers.status = () => {
        throw new Error('The controller has stopped.');
      };
      await until('The controller has stopped.');
      served.shard.answers.status = status;
      await until('j/k move');
      press('q');
    });
  });

  it('given no shard, then it fails before the screen opens', async () => {
    const { input, output, all } = terminal();
    const streams = { input, output } as unknown as NonNullable<TopIo['terminal']>;
    await served.close();
    await expect(served.run((io) => topCommand({ ...io, terminal: streams }), [])).rejects.toThrow(
      'No shard at',
    );
    expect(all()).toBe('');
    served = await servedShard();
  });
});

describe('bigfleet top without a terminal', () => {
  it.each(LISTS)('given %s, then it is printed once, as text', async (list) => {
    const text = await served.run((io) => topCommand({ ...io, terminal: null }), ['--list', list]);
    expect(text).toMatch(/^shard-0 {2}running/);
    expect(text).toContain(` ${list}\n`);
    expect(text).not.toContain('\x1b');
  });
});

describe('keys', () => {
  const cells = (text: string) => [{ text }];
  const model: TopModel = {
    ...EMPTY,
    url: 'http://x',
    content: {
      name: 'machines',
      columns: [{ header: 'MACHINE' }],
      rows: Array.from({ length: 50 }, (_, i) => ({
        cells: cells(`m-${i}`),
        subject: { kind: 'machine', name: `m-${i}` } as const,
      })),
      total: 700,
    },
  };
  const key = (name: string, text = name): PressedKey => ({ name, text, ctrl: false });
  const having = (...keys: PressedKey[]) => keys.reduce((at, each) => pressed(at, each, 10).model, model);

  it('given steps beyond the ends, then the cursor stays on a row', () => {
    expect(having(key('up')).cursor).toBe(0);
    expect(having(key('g', 'G')).cursor).toBe(49);
    expect(having(key('pagedown'), key('pageup'), key('j')).cursor).toBe(1);
  });

  it('given a filter, then enter opens the row that it leaves', () => {
    const typing = having(key('/', '/'), key('4', '4'), key('7', '7'), key('return'));
    expect(typing).toMatchObject({ filter: '47', isTyping: false, cursor: 0 });
    expect(pressed(typing, key('return'), 10).wants).toEqual({ kind: 'machine', name: 'm-47' });
  });

  it('given letters while typing, then they are text, not commands', () => {
    expect(having(key('/', '/'), key('q'), key('backspace'), key('j'))).toMatchObject({
      filter: 'j',
      cursor: 0,
    });
    expect(pressed(model, { name: 'c', text: '', ctrl: true }, 10).wants).toBe('quit');
  });

  it.each([
    [40, 10],
    [80, 24],
    [200, 60],
  ])('given a terminal of %i × %i, then it fits, and the selected row is on it', (width, height) => {
    const at = having(key('g', 'G'));
    const lines = topScreen(at, { width, height, paint: noPaint });
    expect(lines.length).toBeLessThanOrEqual(height);
    expect(lines.filter((line) => line.length > width)).toEqual([]);
    expect(lines.join('\n')).toContain('m-49');
    expect(lines.join('\n')).toContain('the first 50 of 700');
  });
});
