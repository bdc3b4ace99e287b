// `bigfleet get`: names of nouns, formats, selectors, sorting and watching.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { getCommand } from '../../src/cli/remote/get.ts';
import { Operator } from '../../src/model/index.ts';
import type { MachineView } from '../../src/shard/index.ts';
import { fakePage, MACHINES } from '../../testing/support/fake-shard.ts';
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
    await expect(get('machines', 'm-1', '-o', 'name')).rejects.toThrow('-o name is for lists');
  });

  it('given the name of an item, then it is the only row; given another, then there is none', async () => {
    expect(await get('clusters', 'ml', '-o', 'name')).toBe('cluster/ml\n');
    await expect(get('provider', 'nowhere')).rejects.toThrow('There is no provider nowhere.');
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
  async function watching(words: readonly string[], ...steps: (() => void)[]): Promise<string> {
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
    return await served.run(getCommand, [...words, '-w'], { watch: () => ({ ended, intervalMs: 1 }) });
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
