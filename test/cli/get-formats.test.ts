// `bigfleet get`: names of nouns, formats, selectors, sorting and watching.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { RemoteIo } from '../../src/cli/remote/flags.ts';
import { getCommand } from '../../src/cli/remote/get.ts';
import { Operator } from '../../src/model/index.ts';
import type { EventView, MachineView } from '../../src/shard/index.ts';
import { recentHistory } from '../../src/shard/planning/queries/recent-history.ts';
import { EVENTS, fakePage, MACHINES, NOW_MS, SHORTFALL } from '../../testing/support/fake-shard.ts';
import { type Served, servedShard } from './served.ts';

let served: Served;
beforeEach(async () => {
  served = await servedShard();
});
afterEach(() => served.close());

const get = (...words: string[]) => served.run(getCommand, words);

const NOUNS: readonly (readonly [string, string, string])[] = [
  ['machines', 'machine', 'mc'],
  ['needs', 'need', 'nd'],
  ['clusters', 'cluster', 'cl'],
  ['shortfalls', 'shortfall', 'sf'],
  ['actions', 'action', 'ac'],
  ['events', 'event', 'ev'],
  ['providers', 'provider', 'pv'],
  ['freezes', 'freeze', 'fz'],
];

describe('nouns', () => {
  it.each(NOUNS)('given %s, then %s and %s are the same list', async (noun, singular, short) => {
    const list = await get(noun);
    expect(list).not.toMatch(/^No /);
    expect(await get(singular)).toBe(list);
    expect(await get(short)).toBe(list);
  });

  it.each(NOUNS)('given %s, then every format has the same items', async (noun) => {
    const json = JSON.parse(await get(noun, '-o', 'json')) as object;
    expect(parse(await get(noun, '-o', 'yaml'))).toEqual(json);
    const names = (await get(noun, '-o', 'name')).trim().split('\n');
    const csv = (await get(noun, '-o', 'csv')).trim().split('\n');
    expect(csv).toHaveLength(names.length + 1);
    expect(await get(noun, '-o', 'csv', '--no-headers')).toBe(
      csv
        .slice(1)
        .map((line) => `${line}\n`)
        .join(''),
    );
    const headers = (await get(noun)).split('\n')[0]!;
    expect(await get(noun, '--no-headers')).not.toContain(headers);
  });

  it('given one object, then lists of names are refused', async () => {
    await expect(get('status', '-o', 'csv')).rejects.toThrow('Allowed choices are table, wide, json, yaml');
  });

  const NAMED: readonly (readonly [string, string])[] = [
    ['machine', 'm-1'],
    ['need', 'ml/00ff00ff00'],
    ['cluster', 'ml'],
    ['shortfall', 'ml/00ff00ff00'],
    ['action', 'a-1'],
    ['provider', 'metal'],
    ['freeze', 'action:buy'],
  ];

  it.each(NAMED)('given %s %s, then every format has this one', async (noun, name) => {
    const plural = JSON.parse(await get(noun, '-o', 'json')) as object;
    const { items } = ('actions' in plural ? plural.actions : plural) as { items: readonly object[] };
    const item = JSON.parse(await get(noun, name, '-o', 'json')) as object;
    expect(items).toContainEqual(item);
    expect(parse(await get(noun, name, '-o', 'yaml'))).toEqual(item);
    expect(await get(noun, name, '-o', 'name')).toBe(`${noun}/${name}\n`);
    const list = (await get(noun, '-o', 'csv')).split('\n');
    const csv = (await get(noun, name, '-o', 'csv')).trimEnd().split('\n');
    expect(csv).toHaveLength(2);
    expect(list).toEqual(expect.arrayContaining(csv));
    expect((await get(noun, name)).split('\n')[0]).not.toBe('');
  });

  it('given a name that no item has, then it says so', async () => {
    await expect(get('provider', 'nowhere')).rejects.toThrow('There is no provider nowhere.');
    await expect(get('machine', 'nowhere')).rejects.toThrow('There is no machine nowhere.');
    await expect(get('need', 'ml/0000000000')).rejects.toThrow('There is no Need ml/0000000000.');
    await expect(get('need', 'nowhere')).rejects.toThrow('not a Need, which is CLUSTER/TEN-HEX-DIGITS');
  });

  it('given one Need or cluster, then no list of them is read', async () => {
    const { asked } = served.shard;
    await get('need', 'ml/00ff00ff00', '-o', 'json');
    expect(asked.splice(0)).toEqual([{ name: 'explain', ask: { need: 'ml/00ff00ff00' } }]);
    await get('cluster', 'ml', '-o', 'json');
    expect(asked.splice(0)).toEqual([{ name: 'clusters', ask: { cluster: 'ml', limit: 1 } }]);
  });

  it('given one shortfall of many, then pages are read up to it', async () => {
    const many = Array.from({ length: 9 }, (_, i) => ({ ...SHORTFALL, id: `ml/000000000${i}` }));
    served.shard.answers.shortfalls = (ask) => fakePage({ ...ask, limit: 2 }, many, ({ id }) => id.slice(-1));
    expect(await get('shortfall', 'ml/0000000004', '-o', 'name')).toBe('shortfall/ml/0000000004\n');
    expect(served.shard.asked).toHaveLength(3);
  });
});

describe('names and values', () => {
  it('given machines, then names have the kind', async () => {
    expect(await get('machines', '-o', 'name')).toBe('machine/m-1\nmachine/m-2\nmachine/gpu/7\n');
  });

  it('given texts with commas and quotes, then CSV quotes them', async () => {
    const odd = { ...MACHINES[0]!, id: 'a,"b"' };
    served.shard.answers.machines = (ask) => fakePage(ask, [odd], ({ id }) => id);
    expect(await get('machines', '-o', 'csv', '--no-headers')).toMatch(/^"a,""b""",configured,prod-eu,/);
  });

  it('given texts that a spreadsheet or a terminal would act on, then names and CSV disarm them', async () => {
    const hostile = { ...MACHINES[0]!, id: '=1+cmd|A0', cluster: '@x', lastError: '\u001b[31mred\r\n-1' };
    served.shard.answers.machines = (ask) => fakePage(ask, [hostile], ({ id }) => id);
    const csv = await get('machines', '-o', 'csv', '--no-headers');
    expect(csv).toMatch(/^'=1\+cmd\|A0,configured,'@x,bm\.large,eu-1a,bare-metal,\$1\.50,/);
    expect(csv).toMatch(/,\\u001b\[31mred\\u000d\\u000a-1\n$/);
    const renamed = { ...hostile, id: 'm\u001b[2J\n1' };
    served.shard.answers.machines = (ask) => fakePage(ask, [renamed], ({ id }) => id);
    expect(await get('machines', '-o', 'name')).toBe('machine/m\\u001b[2J\\u000a1\n');
  });
});

describe('selecting and sorting', () => {
  it('given a label selector, then the shard applies it', async () => {
    await get('machines', '-l', 'rack in (r1,r2)');
    expect(served.shard.asked[0]).toMatchObject({
      name: 'machines',
      ask: { where: { labels: [{ key: 'rack', operator: Operator.In, values: ['r1', 'r2'] }] } },
    });
    await expect(get('machines', '-l', 'a b')).rejects.toThrow('key notin (a,b)');
  });

  it.each(['status', ...NOUNS.slice(1).map(([noun]) => noun)])(
    'given a label selector for %s, then the refusal says that machines alone have labels',
    async (noun) => {
      await expect(get(noun, '-l', 'rack=r1')).rejects.toThrow(`"get ${noun}" has no -l`);
      expect(served.shard.asked).toEqual([]);
    },
  );

  it('given a field of machines that the shard sorts by, then it sorts', async () => {
    await get('machines', '--sort-by', '-pricePerHour', '-o', 'json');
    expect(served.shard.asked[0]).toMatchObject({ ask: { sort: { by: 'price', isDescending: true } } });
  });

  it('given another field, then the list is sorted before it is cut', async () => {
    expect(await get('machines', '--sort-by', 'interruptionProbability', '-o', 'name')).toMatch(/gpu\/7\n$/);
    expect(
      await get('machines', '--sort-by', '-.interruptionProbability', '--limit', '1', '-o', 'name'),
    ).toBe('machine/gpu/7\n');
    expect(await get('clusters', '--sort-by', '-cost.perHour', '-o', 'name')).toBe(
      'cluster/ml\ncluster/prod-eu\n',
    );
  });

  it('given an order, then the remark on what is left out names it', async () => {
    expect(await get('machines', '--limit', '1')).toContain('1 of 3 machines shown, Failed first;');
    expect(await get('machines', '--limit', '1', '--sort-by', '-price')).toContain(
      '1 of 3 machines shown, by -price;',
    );
    expect(await get('clusters', '--limit', '1', '--sort-by', 'needs')).toContain('shown, by needs;');
  });

  it('given no items to show, then the number is refused', async () => {
    await expect(get('events', '--limit', '0')).rejects.toThrow('It must be at least 1.');
  });

  it('given items without the field, then they come last in either direction', async () => {
    const idle = 'machine/m-2';
    for (const field of ['idleSinceMs', '-idleSinceMs'])
      expect(await get('machines', '--sort-by', field, '-o', 'name')).toMatch(new RegExp(`^${idle}\n`));
  });

  it('given an unknown field, then the known ones are named', async () => {
    await expect(get('clusters', '--sort-by', 'colour')).rejects.toThrow(/no field "colour".*hasSession/);
  });
});

describe('watching', () => {
  /** The output of a command that watches, while `steps` change the shard between its reads. */
  async function watching(
    words: readonly string[],
    ...[first, ...others]: readonly ((() => void) | Partial<RemoteIo>)[]
  ): Promise<string> {
    const io = typeof first === 'function' ? {} : first;
    const steps = [first, ...others].filter((each) => typeof each === 'function');
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const { shard } = served;
    const status = shard.answers.status;
    let reads = 0;
    // Each round of a watch ends with the question for the status.
    shard.answers.status = (ask) => {
      const step = steps[reads++];
      if (step === undefined) end();
      else step();
      return status(ask);
    };
    return await served.run(getCommand, [...words, '-w'], { ...io, watch: () => ({ ended, intervalMs: 1 }) });
  }

  const serve = (machines: readonly MachineView[]) => {
    served.shard.answers.machines = (ask) => fakePage(ask, machines, ({ id }) => `1 ${id}`);
  };
  const [M1, M2] = [MACHINES[0]!, MACHINES[1]!];

  it('given machines that come, change and go, then only these are printed, in the same columns', async () => {
    serve([M1]);
    const text = await watching(
      ['machines'],
      () => {},
      () => serve([M1, M2]),
      () => serve([{ ...M1, state: 'DRAINING' }, M2]),
      () => serve([M2]),
      () => {},
    );
    const rows = text.trimEnd().split('\n');
    expect(rows.map((row) => row.split(/ +/).slice(0, 3).join(' '))).toEqual([
      'CHANGE MACHINE STATE',
      'added m-1 configured',
      'added m-2 idle',
      'changed m-1 draining',
      'gone m-1 draining',
    ]);
    expect(new Set(rows.map((row) => row.search(/(?<=^\S+ +)\S/)))).toHaveLength(1);
  });

  it('given JSON, then each change is an object on a line', async () => {
    serve([M1]);
    const text = await watching(
      ['mc', '-o', 'json'],
      () => {},
      () => serve([]),
      () => {},
    );
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as object),
    ).toMatchObject([
      { type: 'ADDED', item: { id: 'm-1' } },
      { type: 'GONE', item: { id: 'm-1' } },
    ]);
  });

  it('given a change of a sentence with an age alone, then nothing is printed', async () => {
    const holds = (sentence: string): MachineView => ({
      ...M1,
      unclaimed: { sinceMs: 1, holdEndsMs: 2, waitsFor: 'hold', sentence },
    });
    serve([holds('for 1 min')]);
    const text = await watching(
      ['mc', '-o', 'name'],
      () => {},
      () => serve([holds('for 2 min')]),
      () => {},
    );
    expect(text).toBe('machine/m-1\n');
  });

  it('given one machine, then a row for each change of it, until it is gone', async () => {
    serve([M1]);
    const text = await watching(
      ['machine', 'm-1'],
      () => serve([{ ...M1, state: 'DRAINING' }]),
      () => {},
      () => serve([]),
      () => {},
    );
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((row) => row.split(/ +/).slice(0, 3).join(' ')),
    ).toEqual(['CHANGE MACHINE STATE', 'added m-1 configured', 'changed m-1 draining', 'gone m-1 draining']);
  });

  it('given a list that is longer than the limit, then only what surely came or went is printed', async () => {
    const [A, B, C, D, E] = ['a', 'b', 'c', 'd', 'e'].map((id): MachineView => ({ ...M1, id })) as [
      MachineView,
      ...MachineView[],
    ];
    let remarks = '';
    serve([A, C!, D!, E!]);
    const text = await watching(
      ['machines', '--limit', '3', '-o', 'json'],
      { err: (part) => (remarks += part) },
      () => {},
      // It comes, and pushes another one out.
      () => serve([A, B!, C!, D!, E!]),
      () => serve([A, B!, { ...C!, state: 'DRAINING' }, D!, E!]),
      // It goes, and another one moves up.
      () => serve([B!, { ...C!, state: 'DRAINING' }, D!, E!]),
      () => {},
    );
    const rows = text.trim().split('\n');
    const changes = rows.map((line) => JSON.parse(line) as { type: string; item: MachineView });
    expect(changes.map(({ type, item }) => `${type} ${item.id}`)).toEqual([
      ...['ADDED a', 'ADDED c', 'ADDED d'],
      ...['ADDED b', 'CHANGED c', 'GONE a'],
    ]);
    expect(remarks).toBe(
      'The first 3 of 4 machines are watched, what comes and goes behind them is not shown: --limit 4 watches all.\n',
    );
  });

  it('given a cut list for people or in another order, then no machine that moves in it is added or gone', async () => {
    const three = ['a', 'b', 'c'].map((id): MachineView => ({ ...M1, id }));
    const failed = { ...three[2]!, state: 'FAILED' as const };
    serve(three);
    const table = await watching(
      ['machines', '--limit', '2', '--no-headers'],
      { err: () => {} },
      () => {},
      () => {},
    );
    expect(table.trim().split('\n')).toHaveLength(2);
    expect(served.shard.asked.filter(({ name }) => name === 'machines')[0]!.ask).not.toHaveProperty(
      'order',
      'trouble',
    );
    const sorted = await watching(
      ['machines', '--limit', '2', '--sort-by', 'state', '-o', 'name'],
      { err: () => {} },
      () => serve([failed, ...three.slice(0, 2)]),
      () => {},
    );
    expect(sorted).toBe('machine/a\nmachine/b\n');
  });

  it('given reads that take long, then the rest between two is ten times as long', async () => {
    let nowMs = 0;
    const rests: number[] = [];
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const watch = () => ({
      ...{ ended, intervalMs: 1000 },
      now: () => nowMs,
      pause: async (ms: number) => {
        if (rests.push(ms) === 2) end();
      },
    });
    served.shard.answers.machines = (ask) => {
      nowMs += rests.length === 0 ? 50 : 400;
      return fakePage(ask, [M1], ({ id }) => id);
    };
    await served.run(getCommand, ['machines', '-w'], { watch });
    expect(rests).toEqual([1000, 4000]);
  });

  it('given a name that no item has, then the watch ends', async () => {
    await expect(watching(['need', 'ml/0000000000'])).rejects.toThrow('There is no Need ml/0000000000.');
  });

  it('given one Need as JSON, then its changes are objects on lines', async () => {
    const text = await watching(['need', 'ml/00ff00ff00', '-o', 'json'], () => {});
    expect(JSON.parse(text)).toMatchObject({ type: 'ADDED', item: { id: 'ml/00ff00ff00', isMet: false } });
  });

  /** `total` events, a second apart; the newest happens now. */
  const happened = (total: number): readonly EventView[] =>
    Array.from({ length: total }, (_, i) => ({
      ...{ id: `3-${i + 1}`, atMs: NOW_MS - (total - i) * 10, kind: 'log', level: 'info' },
      ...{ event: 'provider-breaker', fields: { provider: 'cloud', state: 'open' } },
    }));
  const record = (events: readonly EventView[]) => {
    served.shard.answers.history = (ask) => recentHistory(events, ask);
  };
  const names = (from: number, to: number): string =>
    Array.from({ length: to - from + 1 }, (_, i) => `event/3-${from + i}\n`).join('');

  it('given more events between two reads than a list has, then none is left out', async () => {
    record(happened(60));
    const text = await watching(
      ['events', '-o', 'name'],
      () => record(happened(400)),
      () => {},
      () => record(happened(401)),
      () => {},
    );
    expect(text).toBe(names(11, 401));
  });

  it('given no event that matches, then those that come are shown, and older ones are not read again', async () => {
    record([]);
    const text = await watching(
      ['events', '--machine', 'm-1', '-o', 'name'],
      () => record(EVENTS.map((event) => ({ ...event, atMs: NOW_MS }))),
      () => {},
    );
    expect(text).toBe('event/3-1\n');
    const asks = served.shard.asked.filter(({ name }) => name === 'history').map(({ ask }) => ask);
    expect(asks.slice(1)).toMatchObject([{ sinceMs: NOW_MS - 60_000 }, { sinceMs: NOW_MS - 60_000 }]);
  });

  it('given more new events than a watch reads, then it says that some are left out', async () => {
    record([]);
    let remarks = '';
    const text = await watching(['events', '-o', 'name'], { err: (part) => (remarks += part) }, () => {
      const many = happened(10_500).map((event) => ({ ...event, atMs: NOW_MS }));
      record(many);
    });
    expect(remarks).toBe('More than 10,000 events at a time: the oldest are left out.\n');
    expect(text).toBe(names(501, 10_500));
  });

  it('given events, then they are in the order of time, each once', async () => {
    const text = await watching(
      ['events', '-o', 'name'],
      () => {},
      () => {},
      () => {},
    );
    expect(text).toBe('event/3-1\nevent/3-2\n');
  });

  it('given status, then it is printed again when it changes', async () => {
    const text = await watching(
      ['status', '-o', 'json'],
      () => {},
      () => {},
      () => {},
    );
    expect(text.match(/"shard"/g)).toHaveLength(1);
  });
});

describe('events', () => {
  it('given conditions, then the shard applies them', async () => {
    expect(await get('events', '--machine', 'm-1', '--kind', 'action,loss')).toMatch(
      /action +bound m-1 to prod-eu/,
    );
    expect(served.shard.asked[0]).toMatchObject({
      name: 'history',
      ask: { machine: 'm-1', kinds: ['action', 'loss'], limit: 50 },
    });
    await get('events', '--since', '2026-03-01T12:00:00Z');
    expect(served.shard.asked.at(-2)).toMatchObject({ ask: { sinceMs: Date.UTC(2026, 2, 1, 12) } });
  });

  it('given an empty page with a next one, then it reads on', async () => {
    const history = served.shard.answers.history;
    served.shard.answers.history = (ask) =>
      ask.after === undefined ? { items: [], next: 'j5' } : history({ ...ask, after: undefined });
    expect(await get('events', '-o', 'name')).toBe('event/3-2\nevent/3-1\n');
  });
});
