// Node facts of a roll-up: how they are read, their limits, and that a change of them alone is not one of the rows.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { join, len, num } from '../../../testing/support/wire-bytes.ts';
import { NodeFacts } from '../gen/bigfleet/v1alpha1/capacity.ts';
import { WireFormatError } from './errors.ts';
import { RollupIntake } from './intake.ts';
import { NodeFactsLimits, readingNodeFacts } from './node-facts.ts';
import { finished } from './steps.ts';

const readNodeFacts = (bytes: Uint8Array) => finished(readingNodeFacts(bytes));
const row = (priority: number) => len(3, num(3, priority));
const rows = (at: number) => [len(1, 'c1'), num(2, at), row(1), row(2)];
const factsField = (...parts: readonly Uint8Array[]) => len(1000, ...parts);

describe('node facts', () => {
  test('given machines of each use, then each has its use', () => {
    const bytes = join([len(1, 'e'), len(2, 'u'), len(3, len(1, 'p'), num(2, 1)), len(9, 'x')]);
    expect([...(readNodeFacts(bytes).facts ?? [])]).toEqual([
      ['e', 'empty'],
      ['u', 'in-use'],
      ['p', 'protected'],
    ]);
  });

  test('given a machine in several lists, then it is protected before in use before empty', () => {
    const entries = [len(1, 'm'), len(2, 'm'), len(3, len(1, 'm'))];
    for (const order of [entries, entries.toReversed()])
      expect(readNodeFacts(join(order)).facts?.get('m')).toBe('protected');
  });

  test('given any facts, then they are read as by a full decode', () => {
    const ids = fc.uniqueArray(fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }), { maxLength: 30 });
    fc.assert(
      fc.property(ids, fc.nat(30), fc.nat(30), (all, one, other) => {
        const [a, b] = [Math.min(one, other), Math.max(one, other)];
        const message = {
          empty: all.slice(0, a),
          inUse: all.slice(a, b),
          protected: all.slice(b).map((machineId) => ({ machineId, reason: 1 as const })),
        };
        const { facts } = readNodeFacts(NodeFacts.encode(message).finish());
        const uses = all.map((_, i) => (i < a ? 'empty' : i < b ? 'in-use' : 'protected'));
        expect(all.map((id) => facts?.get(id))).toEqual(uses);
      }),
    );
  });

  test('given more machines than the limit, or a longer id, then all are ignored with a problem', () => {
    const many = join(Array.from({ length: NodeFactsLimits.ids + 1 }, () => len(1, 'm')));
    expect(readNodeFacts(many)).toMatchObject({ facts: null, problem: { path: 'node_facts' } });
    const long = len(3, len(1, 'm'.repeat(NodeFactsLimits.id + 1)));
    expect(readNodeFacts(long)).toMatchObject({ facts: null, problem: { code: 'BF_ROLLUP_LIMIT' } });
    expect(readNodeFacts(len(1, 'm'.repeat(NodeFactsLimits.id))).problem).toBeNull();
  });

  test('given malformed bytes, then the reader throws', () => {
    for (const bytes of [Uint8Array.of(0x0a, 5, 1), len(1, Uint8Array.of(0xff)), len(3, Uint8Array.of(0x0a))])
      expect(() => readNodeFacts(bytes)).toThrow(WireFormatError);
  });
});

describe('a roll-up with node facts', () => {
  function accepted(...parts: readonly Uint8Array[]): RollupIntake {
    const intake = new RollupIntake('c1');
    const read = intake.read(join(parts));
    expect(read.kind).toBe('changed');
    intake.accept(read);
    return intake;
  }

  test('given other facts at its end, then its rows are recognised by their bytes and the facts are returned', () => {
    const intake = accepted(...rows(1), factsField(len(1, 'm')));
    for (const facts of [[], [factsField(len(2, 'm'))], [factsField(len(2, 'm')), factsField(len(1, 'n'))]]) {
      const same = intake.repeats(join([...rows(300), ...facts]));
      expect(same?.timestampUnixNanos).toBe(300n);
      expect(readNodeFacts(same!.facts).facts?.size ?? 0).toBe(facts.length);
    }
  });

  test('given other rows, an unknown field or broken facts at the end, then they are not recognised by bytes', () => {
    const intake = accepted(...rows(1), factsField(len(1, 'm')));
    expect(intake.repeats(join([...rows(2), row(3), factsField(len(1, 'm'))]))).toBeNull();
    expect(intake.repeats(join([...rows(2), len(99, 'x')]))).toBeNull();
    expect(intake.repeats(join([...rows(2), Uint8Array.of(0xc2, 0x3e, 9, 1)]))).toBeNull();
  });

  test('given facts before the rows, then a change of them is found as well, and the rows are unchanged', () => {
    const [id, stamp, a, b] = rows(1) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
    const intake = accepted(id, factsField(len(1, 'm')), stamp, a, b);
    const read = intake.read(join([id, factsField(len(2, 'm')), stamp, a, b]));
    expect(read.kind).toBe('unchanged');
    expect(read.kind === 'unchanged' && readNodeFacts(read.nodeFacts).facts?.get('m')).toBe('in-use');
  });
});
