// Names at their limits and one byte beyond, through real sessions: accepted rows are shown, rows set aside are listed
// with the reason, and nothing longer than a limit reaches the files of the shard.

import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { Random } from '../../src/runtime/random.ts';
import { NodeSelectorRequirement_Operator as Operator } from '../../src/wire/gen/bigfleet/v1alpha1/capacity.ts';
import { aCloud, aShard, type HostedShard, RawOperator, scratch, until } from './kit.ts';
import { aRow, helloFrame } from './operator.ts';

type Row = ReturnType<typeof aRow>;

interface Kind {
  readonly limit: number;
  readonly rowOf: (name: string) => Row;
  /** Expected path of the problem. */
  readonly path: string;
}

const term = (key: string, values: readonly string[] = ['a']): Row['requirements'] => [
  { key, operator: Operator.OPERATOR_IN, values: [...values] },
];

const KINDS: Readonly<Record<string, Kind>> = {
  'a key': { limit: 317, rowOf: (key) => aRow(7, { requirements: term(key) }), path: '.requirements[0].key' },
  'a value': {
    limit: 63,
    rowOf: (value) => aRow(7, { requirements: term('k', [value]) }),
    path: '.requirements[0].values',
  },
  'a resource': {
    limit: 317,
    rowOf: (name) => aRow(7, { aggregateResources: new Map([[name, '1']]) }),
    path: '.aggregate_resources',
  },
  'a resource of the largest pod': {
    limit: 317,
    rowOf: (name) => aRow(7, { minUnit: new Map([[name, '1']]) }),
    path: '.min_unit',
  },
  'a topology key': {
    limit: 317,
    rowOf: (topologyKey) => aRow(7, { spread: [{ topologyKey, maxSkew: 1, whenUnsatisfiable: 1 }] }),
    path: '.spread[0].topology_key',
  },
  'a group': { limit: 1024, rowOf: (group) => aRow(7, { group }), path: '.group' },
};

/** Texts of a number of bytes: letters, zeros, and characters of two bytes, with a letter where they do not fit. */
const SPELLINGS: Readonly<Record<string, (bytes: number) => string>> = {
  letters: (bytes) => 'n'.repeat(bytes),
  zeros: (bytes) => '\0'.repeat(bytes),
  'two-byte letters': (bytes) => 'é'.repeat(Math.floor(bytes / 2)) + 'n'.repeat(bytes % 2),
};

interface ClusterItem {
  readonly cluster: string;
  readonly needs: number;
  readonly reports: {
    readonly problems: readonly string[];
    readonly remarks: readonly string[];
    readonly remarksTotal: number;
  };
}

async function get<T>(shard: HostedShard, path: string): Promise<T> {
  const response = await fetch(`http://${shard.addresses.api}${path}`);
  expect(response.status).toBe(200);
  return (await response.json()) as T;
}

async function clusterOf(shard: HostedShard, name: string): Promise<ClusterItem | undefined> {
  const { items } = await get<{ readonly items: readonly ClusterItem[] }>(shard, '/v1/clusters');
  return items.find(({ cluster }) => cluster === name);
}

async function reported(shard: HostedShard, cluster: string, rows: readonly Row[]): Promise<RawOperator> {
  const operator = new RawOperator(shard.addresses.sessions);
  operator.hello(cluster);
  operator.rollup(cluster, rows);
  await operator.acked('rollup');
  return operator;
}

/** Bytes of the longest text or blob, by file, table and column. */
function longest(dataDir: string, file: string): [string, number][] {
  const database = new DatabaseSync(join(dataDir, file), { readOnly: true });
  try {
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
    return tables.flatMap(({ name: table }) =>
      database
        .prepare('SELECT name FROM pragma_table_info(?)')
        .all(table!)
        .map(({ name: column }): [string, number] => {
          const sql = `SELECT max(length(CAST("${String(column)}" AS BLOB))) AS bytes FROM "${String(table)}"`;
          return [
            `${file} ${String(table)}.${String(column)}`,
            Number(database.prepare(sql).get()!['bytes']),
          ];
        }),
    );
  } finally {
    database.close();
  }
}

describe('names at their limits', () => {
  it.each(Object.keys(KINDS))(
    'given %s at the limit, then it is accepted and shown, and beyond it the row is set aside with its reason',
    async (what) => {
      const { limit, rowOf, path } = KINDS[what]!;
      const shard = await aShard({ cloud: await aCloud() });
      for (const [spelling, spell] of Object.entries(SPELLINGS)) {
        const within = `within-${spelling.length}`;
        await reported(shard, within, [rowOf(spell(limit)), aRow(1)]);
        await until(async () => (await clusterOf(shard, within))?.needs === 2);
        expect((await clusterOf(shard, within))?.reports).toMatchObject({ problems: [], remarksTotal: 0 });
        const shown = async () => await get<{ items: unknown[] }>(shard, `/v1/needs?cluster=${within}`);
        // Needs are listed with the verdict of a cycle, and the first one may wait for the cloud.
        await until(async () => (await shown()).items.length === 2);
        expect(JSON.stringify(await shown()).length).toBeLessThan(20_000);

        const beyond = `beyond-${spelling.length}`;
        await reported(shard, beyond, [rowOf(spell(limit + 1)), aRow(1)]);
        await until(async () => ((await clusterOf(shard, beyond))?.needs ?? 0) > 0);
        expect((await clusterOf(shard, beyond))?.reports).toMatchObject({
          problems: [],
          remarks: [`set-aside: needs[0]${path}: ${limit + 1} bytes, the limit is ${limit}.`],
          remarksTotal: 1,
        });
      }
    },
  );

  it('given a cluster id at the limit, then it is served, and beyond it neither hello nor roll-up is accepted', async () => {
    const shard = await aShard({ cloud: await aCloud() });
    for (const spell of Object.values(SPELLINGS)) {
      const within = spell(253);
      const operator = await reported(shard, within, [aRow(1)]);
      await until(async () => (await clusterOf(shard, within))?.needs === 1);
      operator.rollup(spell(254), [aRow(2)]);
      await until(async () => (await clusterOf(shard, within))?.reports.problems.length === 1);
      expect((await clusterOf(shard, within))?.reports.problems).toEqual([
        'cluster_id: The cluster id has 254 bytes, the limit is 253.',
      ]);
      const beyond = new RawOperator(shard.addresses.sessions);
      beyond.hello(spell(254));
      expect(await beyond.ended).toMatchObject({
        code: status.INVALID_ARGUMENT,
        details: expect.stringContaining('The cluster id has 254 bytes, the limit is 253.'),
      });
      operator.close();
    }
  });
});

/** Characters that do not compress. */
function noise(characters: number): string {
  const random = new Random(1);
  let text = '';
  while (text.length < characters) text += random.next32().toString(36);
  return text.slice(0, characters);
}

/** A row of nearly as many bytes as a row may have; each comma in its values is escaped in a fingerprint. */
const LARGEST = aRow(9, {
  group: 'g'.repeat(1024),
  requirements: term(
    'k'.repeat(317),
    Array.from({ length: 4096 }, (_, i) => String(i).padStart(63, ',')),
  ),
  // Four, because a fleet counts 16 resources.
  aggregateResources: new Map(['r', 's', 't', 'u'].map((name) => [name.padEnd(317, '\0'), '1'])),
});

/** Bytes that a column may have: limits of names, times six where JSON escapes them, times two in a fingerprint. */
const MOST_BYTES: Readonly<Record<string, number>> = {
  'demand.db baselines.cluster': 253,
  'demand.db baselines.totals': 16 * (6 * 317 + 32),
  'demand.db seen.cluster': 253,
  'demand.db seen.grouped': 1024,
  'demand.db seen.fingerprint': 2 * 512 * 1024,
  'journal.db events.cluster': 6 * 253 + 2,
  'journal.db events.need': 6 * 253 + 100,
  'journal.db events.body': 64 * 1024,
  // Compressed; all demand at once.
  'journal.db cycles.input': 200_000,
  'brain.db machines.facts': 16 * 1024,
};
const MOST_BYTES_ELSEWHERE = 1_000;

describe('the files of a shard', () => {
  it('given names at their limits, beyond them and of megabytes, then no text in them exceeds its limit', async () => {
    const dataDir = scratch();
    const shard = await aShard({ cloud: await aCloud(), dataDir });
    const megabytes = noise(2_000_000);
    const rowsOf = (nameOf: (limit: number) => string): Row[] =>
      Object.values(KINDS).map(({ limit, rowOf }) => rowOf(nameOf(limit)));
    await reported(shard, 'n'.repeat(253), [...rowsOf((limit) => 'n'.repeat(limit)), aRow(1)]);
    await reported(shard, 'beyond', [...rowsOf((limit) => noise(limit + 1)), aRow(1)]);
    await reported(shard, 'largest', [LARGEST]);
    const operator = await reported(shard, 'huge', [...rowsOf(() => megabytes), aRow(1)]);
    operator.rollup(megabytes, []);
    await until(async () => (await clusterOf(shard, 'huge'))?.reports.problems.length === 1);
    operator.rollup('huge', [aRow(1, { aggregateResources: new Map([['cpu', megabytes]]) })]);
    operator.write(helloFrame(megabytes));
    expect((await operator.ended).code).toBe(status.INVALID_ARGUMENT);
    await until(async () => (await clusterOf(shard, 'largest'))?.needs === 1);
    await until(async () => (await shard.metric('bigfleet_shard_rollups_waiting')) === 0);
    await shard.stop();

    const found = ['brain.db', 'demand.db', 'journal.db'].flatMap((file) => longest(dataDir, file));
    expect(found.filter(([column, bytes]) => bytes > (MOST_BYTES[column] ?? MOST_BYTES_ELSEWHERE))).toEqual(
      [],
    );
    // The names at their limits are in the files, so the test has written what it checks.
    expect(Object.fromEntries(found)).toMatchObject({
      'demand.db seen.cluster': 253,
      'demand.db seen.grouped': 1024,
      'demand.db seen.fingerprint': expect.toSatisfy((bytes: number) => bytes > 300_000),
    });
  });
});
