import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Attributes,
  attributeOf,
  canonicalRequirements,
  INSTANCE_TYPE_KEY,
  isOperator,
  meets,
  meetsAll,
  Operator,
  type Requirement,
  ZONE_KEY,
} from './requirement.ts';

const { In, NotIn, Exists, DoesNotExist, Same, Unspecified } = Operator;

function machine(labels: Readonly<Record<string, string>> = {}, instanceType = '', zone = ''): Attributes {
  return { instanceType, zone, labels: new Map(Object.entries(labels)) };
}

const ABSENT = machine();
const EMPTY = machine({ rack: '' });
const A = machine({ rack: 'a' });
const B = machine({ rack: 'b' });

describe('meets', () => {
  // operator, values, then: label absent, label '', label 'a', label 'b'
  it.each([
    [In, [], false, false, false, false],
    [In, ['a'], false, false, true, false],
    [In, [''], false, true, false, false],
    [In, ['a', 'b'], false, false, true, true],
    [NotIn, [], true, true, true, true],
    [NotIn, ['a'], true, true, false, true],
    [NotIn, [''], true, false, true, true],
    [NotIn, ['a', 'b'], true, true, false, false],
    [Exists, [], false, true, true, true],
    [Exists, ['a'], false, true, true, true],
    [DoesNotExist, [], true, false, false, false],
    [DoesNotExist, ['a'], true, false, false, false],
    [Same, [], false, true, true, true],
    [Same, ['a'], false, false, true, false],
    [Same, [''], false, true, false, false],
    [Same, ['a', 'b'], false, false, true, true],
    [Unspecified, [], false, false, false, false],
    [Unspecified, ['a'], false, false, false, false],
  ] as const)(
    'given operator %d with %j, then an absent label is %s, an empty one %s, a %s, b %s',
    (operator, values, absent, empty, a, b) => {
      const requirement: Requirement = { key: 'rack', operator, values };
      expect([ABSENT, EMPTY, A, B].map((m) => meets(m, requirement))).toEqual([absent, empty, a, b]);
    },
  );

  // Case 13 of the specification.
  it('given a key that the machine lacks, then In, Exists and Same fail, NotIn and DoesNotExist pass', () => {
    const passes = [In, NotIn, Exists, DoesNotExist, Same].map((operator) => {
      return meets(ABSENT, { key: 'rack', operator, values: ['a'] });
    });
    expect(passes).toEqual([false, true, false, true, false]);
  });

  // Case 13 of the specification.
  it('given Same with values [a], then a machine with b fails', () => {
    expect(meets(B, { key: 'rack', operator: Same, values: ['a'] })).toBe(false);
  });

  // Case 14 of the specification.
  it('given instance type and zone in the record, then they match without labels and take precedence over labels', () => {
    const typed = machine({ [INSTANCE_TYPE_KEY]: 'label-type', [ZONE_KEY]: 'label-zone' }, 'm5.large', 'z1');
    expect(
      meets(machine({}, 'm5.large', 'z1'), { key: INSTANCE_TYPE_KEY, operator: In, values: ['m5.large'] }),
    ).toBe(true);
    expect(meets(typed, { key: INSTANCE_TYPE_KEY, operator: In, values: ['m5.large'] })).toBe(true);
    expect(meets(typed, { key: INSTANCE_TYPE_KEY, operator: In, values: ['label-type'] })).toBe(false);
    expect(meets(typed, { key: ZONE_KEY, operator: In, values: ['z1'] })).toBe(true);
    expect(meets(typed, { key: ZONE_KEY, operator: NotIn, values: ['label-zone'] })).toBe(true);
  });

  // Case 14 of the specification.
  it('given an empty field, then the label is used; given neither, the key is absent', () => {
    const labelled = machine({ [INSTANCE_TYPE_KEY]: 'label-type', [ZONE_KEY]: 'label-zone' });
    expect(attributeOf(labelled, INSTANCE_TYPE_KEY)).toBe('label-type');
    expect(attributeOf(labelled, ZONE_KEY)).toBe('label-zone');
    expect(attributeOf(ABSENT, INSTANCE_TYPE_KEY)).toBeUndefined();
    expect(attributeOf(ABSENT, ZONE_KEY)).toBeUndefined();
    expect(meets(ABSENT, { key: ZONE_KEY, operator: Exists, values: [] })).toBe(false);
  });

  // Case 14 of the specification.
  it('given one field, then it is the value of its own key only', () => {
    const typed = machine({}, 'm5.large', '');
    expect(attributeOf(typed, ZONE_KEY)).toBeUndefined();
    expect(attributeOf(machine({}, '', 'z1'), INSTANCE_TYPE_KEY)).toBeUndefined();
    expect(attributeOf(typed, 'beta.kubernetes.io/instance-type')).toBeUndefined();
  });

  // Case 15 of the specification.
  it('given In without values or an unspecified operator, then no machine matches', () => {
    for (const m of [ABSENT, EMPTY, A]) {
      expect(meets(m, { key: 'rack', operator: In, values: [] })).toBe(false);
      expect(meets(m, { key: 'rack', operator: Unspecified, values: ['a'] })).toBe(false);
    }
  });

  // Case 15 of the specification.
  it('given a label that is present but empty, then it exists', () => {
    expect(meets(EMPTY, { key: 'rack', operator: Exists, values: [] })).toBe(true);
    expect(meets(EMPTY, { key: 'rack', operator: DoesNotExist, values: [] })).toBe(false);
  });

  it('given names of object members as keys, then only labels count', () => {
    for (const key of ['__proto__', 'constructor', 'toString', '']) {
      expect(meets(ABSENT, { key, operator: Exists, values: [] })).toBe(false);
      const labelled = { ...ABSENT, labels: new Map([[key, 'x']]) };
      expect(meets(labelled, { key, operator: In, values: ['x'] })).toBe(true);
    }
  });
});

describe('meetsAll', () => {
  it('given no requirements, then every machine matches; given several, then all must hold', () => {
    const inA: Requirement = { key: 'rack', operator: In, values: ['a'] };
    const noGpu: Requirement = { key: 'gpu', operator: DoesNotExist, values: [] };
    expect(meetsAll(ABSENT, [])).toBe(true);
    expect(meetsAll(A, [inA, noGpu])).toBe(true);
    expect(meetsAll(B, [noGpu, inA])).toBe(false);
    expect(meetsAll(machine({ rack: 'a', gpu: '' }), [inA, noGpu])).toBe(false);
  });
});

describe('operators', () => {
  it('have the numbers of the wire', () => {
    expect(Operator).toEqual({ Unspecified: 0, In: 1, NotIn: 2, Exists: 3, DoesNotExist: 4, Same: 5 });
    for (let n = 0; n <= 5; n++) expect(isOperator(n)).toBe(true);
    for (const n of [-1, 6, 1.5, Number.NaN]) expect(isOperator(n)).toBe(false);
  });
});

describe('canonicalRequirements', () => {
  const text = fc.constantFrom('', 'a', 'b', 'a,b', '\uffff', '\u{10000}');
  const requirement: fc.Arbitrary<Requirement> = fc.record({
    key: text,
    operator: fc.constantFrom(...Object.values(Operator)),
    values: fc.array(text, { maxLength: 4 }),
  });
  const attributes: fc.Arbitrary<Attributes> = fc
    .array(fc.tuple(text, text))
    .map((labels) => ({ instanceType: '', zone: '', labels: new Map(labels) }));

  it('sorts by key bytes, then operator number, then values', () => {
    const sorted: Requirement[] = [
      { key: 'a', operator: In, values: [] },
      { key: 'a', operator: In, values: ['x'] },
      { key: 'a', operator: In, values: ['x', 'y'] },
      { key: 'a', operator: In, values: ['y'] },
      { key: 'a', operator: Same, values: [] },
      { key: '\uffff', operator: In, values: [] },
      { key: '\u{10000}', operator: In, values: [] },
    ];
    expect(canonicalRequirements([...sorted].reverse())).toEqual(sorted);
  });

  it('given equal terms and values in any order, then the result is equal, and canonical again', () => {
    const shuffled = fc
      .array(requirement, { maxLength: 5 })
      .chain((terms) =>
        fc.tuple(fc.constant(terms), fc.shuffledSubarray(terms, { minLength: terms.length })),
      );
    fc.assert(
      fc.property(shuffled, ([terms, other]) => {
        const canonical = canonicalRequirements(terms);
        const reordered = other.map((term) => ({
          ...term,
          values: [...term.values, ...term.values].reverse(),
        }));
        expect(canonicalRequirements(reordered)).toEqual(canonical);
        expect(canonicalRequirements(canonical)).toEqual(canonical);
      }),
    );
  });

  it('given any machine, then it meets the canonical form exactly if it meets the original', () => {
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 4 }), attributes, (terms, m) => {
        expect(meetsAll(m, canonicalRequirements(terms))).toBe(meetsAll(m, terms));
      }),
      { numRuns: 500 },
    );
  });
});
