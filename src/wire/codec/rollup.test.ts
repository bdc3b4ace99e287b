// The roll-up reader, case by case; rollup.property.test.ts checks the same properties over random roll-ups.

import { describe, expect, test } from 'vitest';
import { entry, join, len, num } from '../../../testing/support/wire-bytes.ts';
import { type CapacityNeed, ClusterCapacityNeeds } from '../gen/bigfleet/v1alpha1/capacity.ts';
import { WireFormatError } from './errors.ts';
import { hashNeed } from './need-bytes.ts';
import { type ChangedRollup, RollupReader } from './rollup.ts';

const zone = (...values: string[]) =>
  len(1, len(1, 'zone'), num(2, 1), ...values.map((value) => len(3, value)));
const need = (priority: number, ...more: Uint8Array[]) =>
  len(3, zone('a', 'b'), entry(2, 'cpu', '10'), entry(2, 'memory', '1Gi'), num(3, priority), ...more);
const swapped = (priority: number) =>
  len(3, zone('a', 'b'), entry(2, 'memory', '1Gi'), entry(2, 'cpu', '10'), num(3, priority));
const rollup = (timestamp: bigint | number, ...needs: Uint8Array[]) =>
  join([len(1, 'c1'), num(2, timestamp), ...needs]);

type Reader = RollupReader<CapacityNeed>;

const AS_DECODED = { decoded: (decoded: CapacityNeed) => decoded };

/** A reader that has accepted a roll-up of these needs. */
function readerAfter(...needs: Uint8Array[]): { reader: Reader; first: ChangedRollup<CapacityNeed> } {
  const reader = new RollupReader(AS_DECODED);
  const first = readChanged(reader, rollup(1, ...needs));
  reader.accept(first);
  return { reader, first };
}

function readChanged(reader: Reader, bytes: Uint8Array): ChangedRollup<CapacityNeed> {
  const delta = reader.read(bytes);
  if (delta.kind !== 'changed') throw new Error('expected a changed roll-up');
  return delta;
}

const counts = ({ added, removed, kept }: ChangedRollup<CapacityNeed>) => ({ added, removed, kept });

describe('the roll-up reader, given no roll-up so far', () => {
  test('when the first roll-up arrives, then all its needs are added', () => {
    const delta = readChanged(new RollupReader(AS_DECODED), rollup(5, need(1), need(2)));
    expect(delta).toMatchObject({ clusterId: 'c1', timestampUnixNanos: 5n, added: 2, removed: 0, kept: 0 });
    expect(delta.needs).toEqual(ClusterCapacityNeeds.decode(rollup(5, need(1), need(2))).needs);
    expect([...delta.origin]).toEqual([-1, -1]);
  });

  test('when an empty roll-up arrives, then it is changed, as the first report of the cluster', () => {
    const delta = readChanged(new RollupReader(AS_DECODED), new Uint8Array());
    expect(delta).toMatchObject({ clusterId: '', timestampUnixNanos: 0n, added: 0, removed: 0, kept: 0 });
  });
});

describe('the roll-up reader, given an accepted roll-up', () => {
  const [a, b] = [need(1), need(2)];
  test.each<[string, Uint8Array, bigint]>([
    ['the same timestamp', rollup(1, a, b), 1n],
    ['another timestamp', rollup(2, a, b), 2n],
    ['a longer timestamp', rollup(2n ** 63n - 1n, a, b), 2n ** 63n - 1n],
    ['a negative timestamp', rollup(-1, a, b), -1n],
    ['no timestamp', join([len(1, 'c1'), a, b]), 0n],
    ['the timestamp at the end', join([len(1, 'c1'), a, b, num(2, 3)]), 3n],
    ['several timestamps', join([num(2, 9), len(1, 'c1'), a, num(2, 8), b, num(2, 7)]), 7n],
    ['a timestamp with a tag of two bytes', join([Uint8Array.of(0x90, 0, 4), len(1, 'c1'), a, b]), 4n],
    ['the cluster id at the end', join([a, b, len(1, 'c1')]), 0n],
    ['an unknown field', join([rollup(6, a, b), len(99, 'x')]), 6n],
    ['map entries in another order', rollup(7, swapped(1), swapped(2)), 7n],
  ])('when it is repeated with %s, then it is unchanged', (_how, bytes, timestampUnixNanos) => {
    const { reader } = readerAfter(a, b);
    expect(reader.read(bytes)).toMatchObject({ kind: 'unchanged', timestampUnixNanos });
  });

  test.each<[string, Uint8Array]>([
    ['had no timestamp', join([len(1, 'c1'), a])],
    ['had several timestamps', join([num(2, 1), len(1, 'c1'), num(2, 2), a])],
    ['had a timestamp with a tag of two bytes', join([Uint8Array.of(0x90, 0, 4), len(1, 'c1'), a])],
    ['had adjacent entries of both maps', join([len(3, entry(2, 'a', '1'), entry(8, 'a', '1'))])],
    ['was empty', new Uint8Array()],
  ])('when it %s and is repeated, then it is unchanged', (_how, bytes) => {
    const reader: Reader = new RollupReader(AS_DECODED);
    reader.accept(reader.read(bytes));
    expect(reader.read(bytes).kind).toBe('unchanged');
    expect(reader.read(join([bytes, num(2, 77)]))).toMatchObject({
      kind: 'unchanged',
      timestampUnixNanos: 77n,
    });
  });

  test('when one need changes, then only that one is added and the others are the same objects', () => {
    const { reader, first } = readerAfter(need(1), need(2), need(3));
    const delta = readChanged(reader, rollup(2, swapped(1), need(9), swapped(3)));
    expect(counts(delta)).toEqual({ added: 1, removed: 1, kept: 2 });
    expect([...delta.origin]).toEqual([0, -1, 2]);
    expect(delta.needs[0]).toBe(first.needs[0]);
    expect(delta.needs[1]?.priority).toBe(9);
    expect(delta.needs[2]).toBe(first.needs[2]);
  });

  test('when needs are inserted, removed or moved, then the origin of each kept need is its former index', () => {
    const { reader } = readerAfter(...[1, 2, 3, 4].map((p) => need(p)));
    const read = (...priorities: number[]) =>
      readChanged(reader, rollup(2, ...priorities.map((p) => swapped(p))));
    expect([...read(9, 8, 1, 2, 3, 4).origin]).toEqual([-1, -1, 0, 1, 2, 3]);
    expect([...read(1, 4).origin]).toEqual([0, 3]);
    expect([...read(9, 8, 7, 4).origin]).toEqual([-1, -1, -1, 3]);
    expect(counts(read(4, 3, 2, 1))).toEqual({ added: 0, removed: 0, kept: 4 });
    expect([...read(4, 3, 2, 1).origin]).toEqual([3, 2, 1, 0]);
    expect(counts(read())).toEqual({ added: 0, removed: 4, kept: 0 });
  });

  test('when only the cluster id differs, then it is changed and no need is added', () => {
    const { reader } = readerAfter(need(1));
    const delta = readChanged(reader, join([len(1, 'c2'), need(1)]));
    expect(delta).toMatchObject({ clusterId: 'c2', added: 0, removed: 0, kept: 1 });
  });

  test('when a need is repeated more or fewer times, then each repetition is counted', () => {
    const { reader } = readerAfter(need(1), need(1));
    const more = readChanged(reader, rollup(2, swapped(1), need(1), need(1)));
    expect(counts(more)).toEqual({ added: 1, removed: 0, kept: 2 });
    expect(more.needs.length).toBe(3);
    expect(counts(readChanged(reader, rollup(2, need(1))))).toEqual({ added: 0, removed: 1, kept: 1 });
  });
});

describe('the roll-up reader, given needs with similar bytes', () => {
  test.each<[string, Uint8Array, Uint8Array]>([
    ['values of a requirement in another order', len(3, zone('a', 'b')), len(3, zone('b', 'a'))],
    ['requirements in another order', len(3, zone('a'), zone('b')), len(3, zone('b'), zone('a'))],
    [
      'the amounts of aggregate and min_unit exchanged',
      len(3, entry(2, 'cpu', '1'), entry(8, 'cpu', '2')),
      len(3, entry(2, 'cpu', '2'), entry(8, 'cpu', '1')),
    ],
    [
      'values exchanged between two keys',
      len(3, entry(2, 'cpu', '1'), entry(2, 'gpu', '2')),
      len(3, entry(2, 'cpu', '2'), entry(2, 'gpu', '1')),
    ],
    [
      'one entry twice instead of two entries',
      len(3, entry(2, 'cpu', '1'), entry(2, 'gpu', '2')),
      len(3, entry(2, 'cpu', '1'), entry(2, 'cpu', '1')),
    ],
    [
      'a repeated key with another last value',
      len(3, entry(2, 'cpu', '1'), entry(2, 'cpu', '2')),
      len(3, entry(2, 'cpu', '2'), entry(2, 'cpu', '1')),
    ],
    ['a repeated number with another last value', len(3, num(3, 1), num(3, 2)), len(3, num(3, 2), num(3, 1))],
  ])('when the new one has %s, then it is decoded as an added need', (_what, before, after) => {
    const { reader } = readerAfter(before);
    const delta = readChanged(reader, rollup(2, after));
    expect(counts(delta)).toEqual({ added: 1, removed: 1, kept: 0 });
    expect(delta.needs).toEqual(ClusterCapacityNeeds.decode(after).needs);
    reader.accept(delta);
    expect(reader.read(rollup(3, after)).kind).toBe('unchanged');
  });

  test('when two have the same hash, then they are still distinguished', () => {
    // Found by search. If the hash function changes, the first check fails; then search again.
    const [one, two] = [len(9, 'gang-19863'), len(9, 'gang-50303')];
    const hash = (bytes: Uint8Array) => hashNeed(new DataView(bytes.buffer), bytes, 0, bytes.length);
    expect(hash(one)).toBe(hash(two));
    const { reader } = readerAfter(need(1), len(3, one), need(2));
    const delta = readChanged(reader, rollup(2, len(3, two), need(2), need(1)));
    expect(delta.needs.map(({ group }) => group)).toEqual(['gang-50303', '', '']);
    expect(counts(delta)).toEqual({ added: 1, removed: 1, kept: 2 });
  });

  test.each<[string, Uint8Array[]]>([
    [
      'have entries between other fields',
      [entry(2, 'a', '1'), num(3, 1), entry(2, 'b', '2'), num(6, 1), entry(2, 'c', '3')],
    ],
    ['have entries longer than 127 bytes', [entry(2, 'a', 'x'.repeat(200)), entry(2, 'b', 'y'.repeat(200))]],
    ['have more than 31 entries', Array.from({ length: 50 }, (_, i) => entry(8, `r${i}`, '1'))],
    ['have a repeated key', [entry(2, 'cpu', '1'), entry(2, 'cpu', '2')]],
  ])('when the maps of one %s, then equal bytes are the same need', (_how, fields) => {
    const { reader, first } = readerAfter(need(1), len(3, ...fields));
    const again = readChanged(reader, rollup(2, len(3, ...fields), need(7)));
    expect([...again.origin]).toEqual([1, -1]);
    expect(again.needs[0]).toBe(first.needs[1]);
    const other = readChanged(reader, rollup(3, len(3, ...fields.toReversed()), need(7)));
    expect(other.needs).toEqual(
      ClusterCapacityNeeds.decode(rollup(3, len(3, ...fields.toReversed()), need(7))).needs,
    );
  });

  test('when a map of 100 entries changes its order, then the need is decoded again', () => {
    const entries = Array.from({ length: 100 }, (_, i) => entry(2, `r${i}`, `${i}`));
    const { reader } = readerAfter(len(3, ...entries));
    const delta = readChanged(reader, rollup(2, len(3, ...entries.toReversed())));
    expect(counts(delta)).toEqual({ added: 1, removed: 1, kept: 0 });
    expect(delta.needs[0]?.aggregateResources.get('r42')).toBe('42');
  });
});

describe('the roll-up reader, between read and accept', () => {
  test('given a roll-up that is not accepted, then the next one is compared with the last accepted one', () => {
    const { reader } = readerAfter(need(1));
    readChanged(reader, rollup(2, need(5)));
    expect(reader.read(rollup(3, need(1))).kind).toBe('unchanged');
    expect(counts(readChanged(reader, rollup(4, need(5))))).toEqual({ added: 1, removed: 1, kept: 0 });
  });

  test('given a roll-up, when it is accepted after another one was read, then accept throws', () => {
    const { reader } = readerAfter(need(1));
    const stale = readChanged(reader, rollup(2, need(5)));
    reader.read(rollup(3, need(6)));
    expect(() => reader.accept(stale)).toThrow('last read()');
  });

  test('given an accepted roll-up, when the caller overwrites its buffer, then the reader still has its bytes', () => {
    const reader: Reader = new RollupReader(AS_DECODED);
    const buffer = rollup(1, need(1));
    reader.accept(reader.read(buffer));
    buffer.fill(0);
    expect(reader.read(rollup(2, need(1))).kind).toBe('unchanged');
  });

  test('given a converter that throws, then read throws its error and the last accepted roll-up is kept', () => {
    const reader = new RollupReader({
      decoded: (decoded) => {
        if (decoded.priority === 13) throw new Error('not 13');
        return decoded.priority;
      },
    });
    reader.accept(reader.read(rollup(1, need(1))));
    expect(() => reader.read(rollup(2, need(13)))).toThrow('not 13');
    expect(reader.read(rollup(3, need(1))).kind).toBe('unchanged');
  });
});

describe('the roll-up reader, given a converter', () => {
  test('then it is called for added needs only, with their index', () => {
    const calls: [number, number][] = [];
    const reader = new RollupReader({
      decoded: (decoded, index) => {
        calls.push([decoded.priority, index]);
        return { kept: decoded.priority };
      },
    });
    reader.accept(reader.read(rollup(1, need(1), need(2))));
    const delta = reader.read(rollup(2, swapped(1), need(3), swapped(2)));
    expect(delta).toMatchObject({ needs: [{ kept: 1 }, { kept: 3 }, { kept: 2 }] });
    expect(calls).toEqual([
      [1, 0],
      [2, 1],
      [3, 1],
    ]);
  });
});

describe('the roll-up reader, given malformed bytes', () => {
  const good = rollup(1, need(1, len(5, len(1, 'rack'), num(2, 1), num(3, 1))), need(2, len(9, 'gang')));

  test.each<[string, Uint8Array]>([
    ['a zero byte between needs', join([need(1), Uint8Array.of(0), need(2)])],
    ['a text longer than its requirement', len(3, len(1, Uint8Array.of(0x0a, 5, 1)), len(9, 'group'))],
    ['a text longer than its map entry', len(3, len(2, Uint8Array.of(0x0a, 9)), len(9, 'longgroup'))],
    ['a zero byte in a spread', len(3, len(5, Uint8Array.of(0)))],
    ['text in a need that is not UTF-8', len(3, len(9, Uint8Array.of(0xc0)))],
    ['a cluster id that is not UTF-8', len(1, Uint8Array.of(0xff))],
    ['a cluster id that is not UTF-8 before one that is', join([len(1, Uint8Array.of(0xff)), len(1, 'c1')])],
    ['a timestamp of 70 bits', Uint8Array.of(0x10, ...Array(9).fill(0xff), 0x7f)],
    [
      'a timestamp of 70 bits in an otherwise equal roll-up',
      (() => {
        const stamp = Uint8Array.of(0x10, ...Array(9).fill(0xff), 0x7f);
        return join([len(1, 'c1'), stamp, good.subarray(6)]);
      })(),
    ],
  ])('when there is %s, then read throws and the last accepted roll-up is kept', (_what, bytes) => {
    const reader: Reader = new RollupReader(AS_DECODED);
    reader.accept(reader.read(good));
    expect(() => reader.read(bytes)).toThrow(WireFormatError);
    expect(reader.read(good).kind).toBe('unchanged');
  });

  test('when the error is in a nested message, then its offset is counted from the start of the roll-up', () => {
    const bytes = rollup(1, need(1), len(3, len(9, Uint8Array.of(0x61, 0xff))));
    const reader: Reader = new RollupReader(AS_DECODED);
    expect(() => reader.read(bytes)).toThrow(expect.objectContaining({ offset: bytes.length }));
  });
});
