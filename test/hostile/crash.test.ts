// Regression tests for roll-ups that crashed the process: names of 15 MB of zeros, which every message about them
// repeated, escaped to six times their length. A shard must now report the problem in a short message and keep serving
// other clusters.

import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { varint } from '../../testing/support/wire-bytes.ts';
import { delimited, EMPTY, filling, integer, type Rope, RopeWriter, rope, text } from './frame-fuzz-rope.ts';
import { aCloud, aShard, type HostedShard, RawOperator, servingNeighbours, until } from './kit.ts';
import { megabytesInUse, settledMegabytes } from './memory.ts';
import { aRow, BareOperator } from './operator.ts';

const HUGE_BYTES = 15_000_000;
const LARGE_BYTES = 500_000;
const ANSWER_BYTES = 1_000_000;
const MEGABYTES_ABOVE_START = 100;
/** Clusters that send at the same time; the frames of all of them are in memory. */
const AT_ONCE = 4;

interface Attack {
  readonly rowsOf: (bytes: number) => Rope;
  /** Replaces the cluster's own id. */
  readonly idOf?: (bytes: number) => Rope;
  /** The event and code of the log line that names the cluster. */
  readonly event: 'rollup-refused' | 'rollup-remarks';
  readonly code: string;
}

const zeros = (bytes: number): Rope => filling('zeros', bytes);
const row = (...fields: readonly Rope[]): Rope => delimited(3, rope(...fields));
const badTerm = (key: Rope): Rope => delimited(1, rope(delimited(1, key), integer(2, [99])));
const amount = (name: Rope, quantity: string): Rope =>
  delimited(2, rope(delimited(1, name), delimited(2, text(quantity))));

/** Rows with distinct names of 200 bytes, each of zeros with a number at the end. */
function manyRows(bytes: number, rowOf: (name: Rope, i: number) => Rope): Rope {
  const nameOf = (i: number): Rope => rope(zeros(190), text(String(i).padStart(10, '0')));
  return rope(...Array.from({ length: Math.ceil(bytes / 200) }, (_, i) => rowOf(nameOf(i), i)));
}

const HUGE_NAMES: Readonly<Record<string, Attack>> = {
  'a cluster id': {
    idOf: zeros,
    rowsOf: () => EMPTY,
    event: 'rollup-refused',
    code: 'BF_CLUSTER_MISMATCH',
  },
  'a key beside an unknown operator': {
    rowsOf: (bytes) => row(badTerm(zeros(bytes))),
    event: 'rollup-remarks',
    code: 'BF_NAME_LENGTH',
  },
  'a resource beside a bad amount': {
    rowsOf: (bytes) => row(amount(zeros(bytes), 'ten')),
    event: 'rollup-remarks',
    code: 'BF_NAME_LENGTH',
  },
};

const MANY_NAMES: Readonly<Record<string, Attack>> = {
  'keys beside unknown operators': {
    rowsOf: (bytes) => manyRows(bytes, (key) => row(badTerm(key))),
    event: 'rollup-refused',
    code: 'BF_OPERATOR_UNKNOWN',
  },
  'resources beside bad amounts': {
    rowsOf: (bytes) => manyRows(bytes, (name) => row(amount(name, 'ten'))),
    event: 'rollup-refused',
    code: 'BF_QUANTITY_SYNTAX',
  },
  'resources beside amounts below zero': {
    // These are accepted and count as demand, so there are fewer. A fleet counts 16 resources: four names for all rows,
    // and the priority distinguishes rows.
    rowsOf: (bytes) =>
      manyRows(bytes / 10, (_, i) =>
        row(amount(rope(zeros(190), text(`name ${i % 4}`)), '-1'), integer(3, varint(i))),
      ),
    event: 'rollup-remarks',
    code: 'BF_QUANTITY_NEGATIVE',
  },
};

const writer = new RopeWriter();

/** A copy, because the next frame is written over this one. */
function frameOf({ idOf, rowsOf }: Attack, cluster: string, bytes: number): Uint8Array {
  const id = idOf?.(bytes) ?? text(cluster);
  return Buffer.from(writer.bytesOf(delimited(2, rope(delimited(1, id), integer(2, [1]), rowsOf(bytes)))));
}

/** Resolves when the shard has received the frame; the session stays open. */
async function sent(shard: HostedShard, cluster: string, frame: Uint8Array): Promise<BareOperator> {
  const operator = new BareOperator(shard.addresses.sessions);
  operator.hello(cluster);
  await operator.acked('hello');
  operator.write(frame);
  // A repeated hello is acknowledged at once, behind the frame.
  operator.hello(cluster);
  await operator.acked('hello', 2);
  return operator;
}

/** One roll-up of each of `count` clusters, a few at once. Resolves when all have been accepted or refused. */
async function sendAll(
  shard: HostedShard,
  prefix: string,
  count: number,
  attacks: readonly Attack[],
  bytes: number,
): Promise<void> {
  for (let first = 0; first < count; first += AT_ONCE) {
    const numbers = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, i) => first + i);
    const operators = await Promise.all(
      numbers.map((i) => {
        const cluster = `${prefix}-${i}`;
        return sent(shard, cluster, frameOf(attacks[i % attacks.length]!, cluster, bytes));
      }),
    );
    await until(async () => (await shard.metric('bigfleet_shard_rollups_waiting')) === 0);
    for (const operator of operators) operator.close();
  }
}

/** All items of a list of the API, page by page, each below a megabyte. */
async function listed(shard: HostedShard, path: string): Promise<readonly { readonly cluster: string }[]> {
  const items: { readonly cluster: string }[] = [];
  for (let after: string | null | undefined = ''; typeof after === 'string'; ) {
    const query = after === '' ? '' : `?after=${encodeURIComponent(after)}`;
    const response = await fetch(`http://${shard.addresses.api}${path}${query}`);
    const text = await response.text();
    expect([path, response.status]).toEqual([path, 200]);
    expect(Buffer.byteLength(text)).toBeLessThan(ANSWER_BYTES);
    const page = JSON.parse(text) as { items: typeof items; next?: string | null };
    items.push(...page.items);
    after = page.next;
  }
  return items;
}

/** The API answers, and another cluster can begin a session and report. */
async function expectServing(shard: HostedShard, cluster: string): Promise<void> {
  const operator = new RawOperator(shard.addresses.sessions);
  operator.hello(cluster);
  operator.rollup(cluster, [aRow(1)]);
  await operator.acked('rollup');
  await until(async () => (await listed(shard, '/v1/needs')).some((need) => need.cluster === cluster));
  expect((await listed(shard, '/v1/clusters')).map((each) => each.cluster)).toContain(cluster);
}

describe('names of megabytes', () => {
  it('given two hundred clusters with all kinds of them, then the API answers and memory returns to its level before', async () => {
    const shard = await aShard({ cloud: await aCloud() });
    const attacks = [...Object.values(HUGE_NAMES), ...Object.values(MANY_NAMES)];
    // The first frame of each kind allocates test buffers and compiled code, which are retained.
    await sendAll(shard, 'warm', attacks.length, attacks, LARGE_BYTES);
    await expectServing(shard, 'before');
    const startMegabytes = megabytesInUse();
    await servingNeighbours(shard, () => sendAll(shard, 'hostile', 200, attacks, LARGE_BYTES));
    await expectServing(shard, 'after');
    const clusters = (await listed(shard, '/v1/clusters')).map((each) => each.cluster);
    expect(clusters).toEqual(expect.arrayContaining(Array.from({ length: 200 }, (_, i) => `hostile-${i}`)));
    for (const { event, code } of attacks)
      expect(shard.lines.filter((line) => line.event === event).map(({ fields }) => fields)).toContainEqual(
        expect.objectContaining({
          problems: expect.arrayContaining([expect.objectContaining({ code })]),
        }),
      );
    const bound = startMegabytes + MEGABYTES_ABOVE_START;
    expect(await settledMegabytes(bound)).toBeLessThan(bound);
  });

  it('given forty more clusters with names of 15 MB, then each gets a short message and all other clusters are served', async () => {
    const shard = await aShard({ cloud: await aCloud() });
    const attacks = Object.values(HUGE_NAMES);
    await servingNeighbours(shard, async () => {
      await sendAll(shard, 'first', 20, attacks, HUGE_BYTES);
      await expectServing(shard, 'late');
      await sendAll(shard, 'second', 20, attacks, HUGE_BYTES);
    });
    await expectServing(shard, 'last');
    for (const prefix of ['first', 'second'])
      for (let i = 0; i < 20; i++) {
        const { event, code } = attacks[i % attacks.length]!;
        const line = shard.lines.find(
          (each) => each.event === event && each.fields['cluster'] === `${prefix}-${i}`,
        );
        expect(line?.fields['problems'], `${prefix}-${i}`).toMatchObject([{ code }]);
      }
    expect(Math.max(...shard.lines.map((line) => inspect(line).length))).toBeLessThan(2_000);
  });
});
