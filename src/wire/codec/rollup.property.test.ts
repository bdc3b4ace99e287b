// The roll-up reader over random roll-ups: for every order of map entries and fields it must agree with a full decode,
// reuse the objects of unchanged needs, and refuse damaged bytes without losing the last accepted roll-up.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { entry, join, len, num } from '../../../testing/support/wire-bytes.ts';
import { type CapacityNeed, ClusterCapacityNeeds } from '../gen/bigfleet/v1alpha1/capacity.ts';
import { decodeStrict } from './decode.ts';
import { WireFormatError } from './errors.ts';
import { RollupReader, type RollupReading } from './rollup.ts';

const AS_DECODED = { decoded: (decoded: CapacityNeed) => decoded };

/** A need as runs of encoded fields, in the order of their numbers. The two maps may be in any order inside. */
interface NeedFields {
  readonly head: readonly Uint8Array[];
  readonly aggregate: readonly Uint8Array[];
  readonly middle: readonly Uint8Array[];
  readonly minUnit: readonly Uint8Array[];
  readonly tail: readonly Uint8Array[];
}

const word = fc.constantFrom('a', 'b', 'zone', 'größe', '');
const requirement = fc
  .record({ key: word, operator: fc.integer({ min: 0, max: 6 }), values: fc.array(word, { maxLength: 2 }) })
  .map(({ key, operator, values }) => len(1, len(1, key), num(2, operator), ...values.map((v) => len(3, v))));
const spread = fc.nat(2).map((skew) => len(5, len(1, 'rack'), num(2, skew), num(3, 1)));
const resources = (number: number) =>
  fc
    .uniqueArray(fc.tuple(fc.constantFrom('cpu', 'memory', 'gpu', 'disk'), fc.constantFrom('1', '2')), {
      selector: ([name]) => name,
      maxLength: 4,
    })
    .map((list) => list.map(([name, amount]) => entry(number, name, amount)));

/** Few different values, so that equal and nearly equal needs are common. */
const needFields: fc.Arbitrary<NeedFields> = fc
  .record({
    requirements: fc.array(requirement, { maxLength: 2 }),
    aggregate: resources(2),
    priority: fc.integer({ min: -1, max: 2 }),
    spreads: fc.array(spread, { maxLength: 1 }),
    bucket: fc.integer({ min: 0, max: 1 }),
    minUnit: resources(8),
    group: fc.constantFrom('', 'gang\0a'),
  })
  .map(({ requirements, aggregate, priority, spreads, bucket, minUnit, group }) => ({
    head: requirements,
    aggregate,
    middle: [num(3, priority), ...spreads, num(6, bucket), num(7, 1 - bucket)],
    minUnit,
    tail: [len(9, group)],
  }));

/** A small seeded generator of orders; fast-check draws the seed. */
function shuffler(seed: number) {
  let state = seed >>> 0;
  const below = (limit: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  const shuffle = <T>(list: readonly T[]): T[] => {
    const out = [...list];
    for (let i = out.length - 1; i > 0; i--) {
      const j = below(i + 1);
      [out[i], out[j]] = [out[j]!, out[i]!];
    }
    return out;
  };
  /** Merges two lists at random, each in its own order. */
  const weave = <T>(a: readonly T[], b: readonly T[]): T[] => {
    const out: T[] = [];
    for (let i = 0, j = 0; i < a.length || j < b.length; ) {
      out.push(j === b.length || (i < a.length && below(2) === 0) ? a[i++]! : b[j++]!);
    }
    return out;
  };
  return { below, shuffle, weave };
}

type Shuffler = ReturnType<typeof shuffler>;

/** Fields as an encoder writes them: in the order of their numbers, maps in any order inside. */
const inOrder = ({ head, aggregate, middle, minUnit, tail }: NeedFields, { shuffle }: Shuffler) => [
  ...head,
  ...shuffle(aggregate),
  ...middle,
  ...shuffle(minUnit),
  ...tail,
];

/** Fields as no encoder writes them but every decoder must read them. */
const scattered = ({ head, aggregate, middle, minUnit, tail }: NeedFields, { shuffle }: Shuffler) =>
  shuffle([...head, ...aggregate, ...middle, ...minUnit, ...tail]);

/** Encodes with the cluster id and any number of timestamps anywhere between the needs. */
function encode(needs: readonly NeedFields[], seed: number, fieldsOf = inOrder): Uint8Array {
  const order = shuffler(seed);
  const entries = needs.map((need) => len(3, ...fieldsOf(need, order)));
  const stamps = Array.from({ length: order.below(3) }, () => num(2, order.below(1e9)));
  return join(order.weave([len(1, 'c1'), ...stamps], entries));
}

/** A need as text that does not depend on the order of its map entries. */
const identity = (need: CapacityNeed) =>
  JSON.stringify(need, (_key, value) => (value instanceof Map ? [...value].map(String).toSorted() : value));

/** Size of the intersection of two multisets. */
function common(a: readonly string[], b: readonly string[]): number {
  const left = new Map<string, number>();
  for (const item of a) left.set(item, (left.get(item) ?? 0) + 1);
  let count = 0;
  for (const item of b) {
    const have = left.get(item) ?? 0;
    if (have > 0) count++;
    left.set(item, have - 1);
  }
  return count;
}

/** A need that the generator never makes. */
const OTHER: NeedFields = { head: [], aggregate: [], middle: [], minUnit: [], tail: [len(9, 'other')] };

const steps = fc.array(
  fc.record({
    needs: fc.array(needFields, { maxLength: 6 }),
    /** Indexes of needs of the accepted roll-up that this one repeats. */
    again: fc.array(fc.nat(20), { maxLength: 8 }),
    repeat: fc.boolean(),
    seed: fc.nat(),
    accept: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6 },
);

describe('the roll-up reader, given any sequence of roll-ups', () => {
  test('then each is read as by a full decode, and unchanged needs are the same objects', () => {
    fc.assert(
      fc.property(steps, (sequence) => {
        const reader = new RollupReader(AS_DECODED);
        let fields: readonly NeedFields[] = [];
        let accepted: readonly CapacityNeed[] | undefined;
        for (const step of sequence) {
          const back = step.again.flatMap((place) => fields[place] ?? []);
          const now = step.repeat ? fields : shuffler(step.seed).shuffle([...back, ...step.needs]);
          const bytes = encode(now, step.seed);
          const whole = decodeStrict(ClusterCapacityNeeds, bytes);
          const delta = reader.read(bytes);
          expect(delta.timestampUnixNanos).toBe(whole.timestampUnixNanos);
          if (delta.kind === 'unchanged') {
            expect(accepted).toEqual(whole.needs);
            continue;
          }
          if (delta.kind === 'refused') expect.fail(delta.problems[0]?.message);
          expect(delta.clusterId).toBe(whole.clusterId);
          expect(delta.needs).toEqual(whole.needs);
          expect(accepted?.map(identity)).not.toEqual(whole.needs.map(identity));
          const before = accepted ?? [];
          for (const [i, at] of delta.origin.entries()) {
            if (at >= 0) expect(delta.needs[i]).toBe(before[at]);
          }
          const kept = common(before.map(identity), whole.needs.map(identity));
          expect(delta).toMatchObject({
            kept,
            added: whole.needs.length - kept,
            removed: before.length - kept,
          });
          expect([...delta.origin].filter((at) => at >= 0).length).toBe(kept);
          expect(new Set([...delta.origin].filter((at) => at >= 0)).size).toBe(kept);
          if (step.accept) {
            reader.accept(delta);
            accepted = delta.needs;
            fields = now;
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  test('when one need of many changes, then exactly one is added and one removed', () => {
    fc.assert(
      fc.property(
        fc.array(needFields, { minLength: 1, maxLength: 12 }),
        fc.nat(),
        fc.nat(),
        (needs, place, seed) => {
          const reader = new RollupReader(AS_DECODED);
          reader.accept(reader.read(encode(needs, seed)));
          const changed = needs.with(place % needs.length, OTHER);
          const delta = reader.read(encode(changed, seed + 1));
          expect(delta).toMatchObject({ added: 1, removed: 1, kept: needs.length - 1 });
        },
      ),
      { numRuns: 300 },
    );
  });

  test('when fields are in an order that no encoder writes, then they are read as by a full decode', () => {
    fc.assert(
      fc.property(fc.array(needFields, { maxLength: 5 }), fc.nat(), fc.boolean(), (needs, seed, first) => {
        const reader = new RollupReader(AS_DECODED);
        const before = encode(needs, seed, first ? scattered : inOrder);
        reader.accept(reader.read(before));
        const bytes = encode(needs, seed + 1, scattered);
        const delta = reader.read(bytes);
        const known = decodeStrict(ClusterCapacityNeeds, before).needs;
        expect(delta.kind === 'changed' ? delta.needs : known).toEqual(
          decodeStrict(ClusterCapacityNeeds, bytes).needs,
        );
      }),
      { numRuns: 500 },
    );
  });
});

describe('the roll-up reader, given damaged roll-ups', () => {
  /** Reads damaged bytes; if they are still a message, they must read as a full decode reads them. */
  function expectSafe(reader: RollupReader<CapacityNeed>, damaged: Uint8Array, good: Uint8Array): void {
    let delta: RollupReading<CapacityNeed> | undefined;
    try {
      delta = reader.read(damaged);
    } catch (error) {
      expect(error).toBeInstanceOf(WireFormatError);
    }
    if (delta !== undefined) {
      const whole = decodeStrict(ClusterCapacityNeeds, damaged);
      const needs = delta.kind === 'changed' ? delta.needs : decodeStrict(ClusterCapacityNeeds, good).needs;
      expect(needs).toEqual(whole.needs);
      expect(delta.timestampUnixNanos).toBe(whole.timestampUnixNanos);
    }
    expect(reader.read(good).kind).toBe('unchanged');
  }

  test('when one is truncated at any byte, then it is refused or read as by a full decode, and the last accepted one is kept', () => {
    fc.assert(
      fc.property(fc.array(needFields, { minLength: 1, maxLength: 3 }), fc.nat(), (needs, seed) => {
        const good = encode(needs, seed);
        const reader = new RollupReader(AS_DECODED);
        reader.accept(reader.read(good));
        const other = encode(needs, seed + 1, seed % 2 === 0 ? inOrder : scattered);
        for (let cut = 0; cut < other.length; cut++) expectSafe(reader, other.subarray(0, cut), good);
      }),
      { numRuns: 30 },
    );
  });

  test('when bytes are overwritten, then it is refused or read as by a full decode, and the last accepted one is kept', () => {
    const edits = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(
        fc.array(needFields, { minLength: 1, maxLength: 4 }),
        fc.nat(),
        edits,
        (needs, seed, list) => {
          const good = encode(needs, seed);
          const reader = new RollupReader(AS_DECODED);
          reader.accept(reader.read(good));
          const damaged = encode(needs, seed + 1);
          for (const [at, byte] of list) damaged[at % damaged.length] = byte;
          expectSafe(reader, damaged, good);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
