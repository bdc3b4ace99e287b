import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_UNITS } from './quantity.ts';
import {
  add,
  canonicalResources,
  covers,
  formatResources,
  hasForeignAccelerator,
  isAccelerator,
  isZero,
  maximum,
  NO_RESOURCES,
  type ResourceVector,
  scale,
  subtract,
} from './resources.ts';

const GI = 2 ** 30;
const NAMES = [
  'cpu',
  'memory',
  'nvidia.com/gpu',
  '__proto__',
  'constructor',
  'toString',
  '',
  'a=1,b',
  'a',
  '\\',
  '10',
];

function vector(amounts: Readonly<Record<string, number>>): ResourceVector {
  return new Map(Object.entries(amounts));
}

/** A vector as its non-zero amounts: absent and zero mean the same. */
function amounts(v: ResourceVector): ReadonlyMap<string, number> {
  return new Map([...v].filter(([, units]) => units !== 0));
}

const vectors = fc
  .array(fc.tuple(fc.constantFrom(...NAMES), fc.oneof(fc.nat({ max: 3 }), fc.nat({ max: 2 ** 40 }))), {
    maxLength: 6,
  })
  .map((entries): ResourceVector => new Map(entries));

describe('resource vectors', () => {
  // Case 20 of the specification.
  it('given 10 pods of 1 cpu and 4 Gi and a machine of 16 cpu and 32 Gi, then 8 Gi are missing', () => {
    const aggregate = scale(vector({ cpu: 1000, memory: 4 * GI }), 10);
    const machine = vector({ cpu: 16_000, memory: 32 * GI });
    const deficit = subtract(aggregate, machine);
    expect(deficit).toEqual(vector({ cpu: 0, memory: 8 * GI }));
    expect(isZero(deficit)).toBe(false);
    expect(covers(machine, aggregate)).toBe(false);
    expect(formatResources(deficit)).toEqual({ memory: '8Gi' });
  });

  // Case 21 of the specification.
  it('given an empty or all-zero demand, then any vector covers it', () => {
    expect(covers(vector({ cpu: 4 }), NO_RESOURCES)).toBe(true);
    expect(covers(vector({ cpu: 4 }), vector({ cpu: 0 }))).toBe(true);
    expect(covers(NO_RESOURCES, vector({ cpu: 0 }))).toBe(true);
    expect(covers(NO_RESOURCES, NO_RESOURCES)).toBe(true);
  });

  // Case 21 of the specification.
  it('given the empty vector, then it is zero, does not cover 1 cpu, and has no deficit', () => {
    expect(covers(NO_RESOURCES, vector({ cpu: 1 }))).toBe(false);
    expect(isZero(NO_RESOURCES)).toBe(true);
    expect(isZero(vector({ cpu: 0, memory: 0 }))).toBe(true);
    expect(isZero(vector({ cpu: 0, memory: 1 }))).toBe(false);
    expect(isZero(subtract(NO_RESOURCES, vector({ cpu: 4 })))).toBe(true);
  });

  it('given a larger subtrahend, when subtracted, then the difference is zero, without new dimensions', () => {
    expect(subtract(vector({ cpu: 1 }), vector({ cpu: 5, memory: 9 }))).toEqual(vector({ cpu: 0 }));
  });

  it('given n of zero or less, when scaled, then the vector is empty', () => {
    for (const n of [0, -0, -1, Number.NEGATIVE_INFINITY]) expect(scale(vector({ cpu: 5 }), n).size).toBe(0);
    expect(scale(vector({ cpu: 5 }), 3)).toEqual(vector({ cpu: 15 }));
  });

  it('given a sum or product beyond the exact range, then it is refused with the name of the resource', () => {
    const full = vector({ cpu: MAX_UNITS });
    expect(add(full, vector({ cpu: 0 }))).toEqual(full);
    expect(() => add(full, vector({ cpu: 1 }))).toThrow(/^BF_QUANTITY_OVERFLOW: .*cpu/);
    expect(() => scale(full, 2)).toThrow('BF_QUANTITY_OVERFLOW');
    expect(() => scale(new Map([['\x1b[2J', MAX_UNITS]]), 2)).toThrow(
      'The amount of \\u001b[2J is too large',
    );
    expect(() => scale(full, Number.NaN)).toThrow('BF_QUANTITY_OVERFLOW');
  });

  it('given names of object members, then they are ordinary resources', () => {
    const odd: ResourceVector = new Map([
      ['__proto__', 1],
      ['constructor', 2],
    ]);
    expect(covers(NO_RESOURCES, odd)).toBe(false);
    expect(add(odd, odd).get('__proto__')).toBe(2);
    const written = formatResources(odd);
    expect(Object.keys(written)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(written)).toBe(Object.prototype);
  });
});

describe('isAccelerator', () => {
  it.each([
    ['nvidia.com/gpu', true],
    ['google.com/tpu', true],
    ['cpu', false],
    ['memory', false],
    ['ephemeral-storage', false],
    ['hugepages-2Mi', false],
    ['kubernetes.io/batch-cpu', false],
    ['node.kubernetes.io/thing', false],
  ])('given %s, then it returns %s', (resource, expected) => {
    expect(isAccelerator(resource)).toBe(expected);
  });
});

describe('hasForeignAccelerator', () => {
  const host = vector({ cpu: 8, 'nvidia.com/gpu': 2, 'example.com/nic': 0, 'kubernetes.io/batch-cpu': 4 });

  it.each([
    ['that asks for none', { cpu: 4 }, {}, [], true],
    ['whose aggregate wants some', { cpu: 4, 'nvidia.com/gpu': 1 }, {}, [], false],
    ['whose largest pod wants some', { cpu: 4 }, { 'nvidia.com/gpu': 1 }, [], false],
    ['that names it with a zero', { cpu: 4, 'nvidia.com/gpu': 0 }, {}, [], true],
    ['that asks for another one', { 'example.com/nic': 1 }, {}, [], true],
    ['that asks for none, where it is ignored', { cpu: 4 }, {}, ['nvidia.com/gpu'], false],
  ])('given a row %s, then a host with GPUs has a foreign accelerator: %#', (_, want, unit, ignored, is) => {
    expect(hasForeignAccelerator(host, vector(want), vector(unit), new Set(ignored))).toBe(is);
  });
});

describe('canonicalResources', () => {
  it('given any vector, then names are sorted and zeros are omitted', () => {
    expect(canonicalResources(vector({ memory: 16 * GI, cpu: 4000, pods: 0 }))).toBe(
      'cpu=4000,memory=17179869184',
    );
    expect(canonicalResources(NO_RESOURCES)).toBe('');
  });

  it('given names with separators, then they are escaped', () => {
    expect(canonicalResources(vector({ 'a=1,b': 2 }))).toBe('a\\=1\\,b=2');
    expect(canonicalResources(vector({ a: 1, b: 2 }))).toBe('a=1,b=2');
  });

  it('given any two vectors, then their texts are equal exactly if their amounts are', () => {
    fc.assert(
      fc.property(vectors, vectors, (a, b) => {
        const same = covers(a, b) && covers(b, a);
        expect(canonicalResources(a) === canonicalResources(b)).toBe(same);
        expect(canonicalResources(new Map([...a].reverse()))).toBe(canonicalResources(a));
      }),
      { numRuns: 500 },
    );
  });
});

describe('algebra of vectors', () => {
  const law = (predicate: (a: ResourceVector, b: ResourceVector, c: ResourceVector) => void): void => {
    fc.assert(
      fc.property(vectors, vectors, vectors, (a, b, c) => {
        const before = [a, b, c].map((v) => new Map(v));
        predicate(a, b, c);
        expect([a, b, c]).toEqual(before);
      }),
    );
  };

  it('addition commutes, associates and has the empty vector as zero', () => {
    law((a, b, c) => {
      expect(amounts(add(a, b))).toEqual(amounts(add(b, a)));
      expect(amounts(add(add(a, b), c))).toEqual(amounts(add(a, add(b, c))));
      expect(add(a, NO_RESOURCES)).toEqual(a);
      for (const name of NAMES) {
        expect(add(a, b).get(name) ?? 0).toBe((a.get(name) ?? 0) + (b.get(name) ?? 0));
      }
    });
  });

  it('subtraction inverts addition, is never negative, and is zero exactly if covered', () => {
    law((a, b) => {
      expect(amounts(subtract(add(a, b), b))).toEqual(amounts(a));
      expect(isZero(subtract(a, b))).toBe(covers(b, a));
      expect(isZero(subtract(a, a))).toBe(true);
      expect(covers(add(subtract(a, b), b), a)).toBe(true);
      for (const units of subtract(a, b).values()) expect(units).toBeGreaterThanOrEqual(0);
    });
  });

  it('the maximum commutes, associates, is idempotent and is the least vector that covers both', () => {
    law((a, b, c) => {
      expect(amounts(maximum(a, b))).toEqual(amounts(maximum(b, a)));
      expect(amounts(maximum(maximum(a, b), c))).toEqual(amounts(maximum(a, maximum(b, c))));
      expect(maximum(a, a)).toEqual(a);
      expect(covers(maximum(a, b), a) && covers(maximum(a, b), b)).toBe(true);
      if (covers(c, a) && covers(c, b)) expect(covers(c, maximum(a, b))).toBe(true);
    });
  });

  it('covering is a partial order that addition preserves', () => {
    law((a, b, c) => {
      expect(covers(a, a)).toBe(true);
      expect(covers(add(a, b), a)).toBe(true);
      if (covers(a, b) && covers(b, c)) expect(covers(a, c)).toBe(true);
      if (covers(a, b)) expect(covers(add(a, c), add(b, c))).toBe(true);
      if (covers(a, b) && covers(b, a)) expect(amounts(a)).toEqual(amounts(b));
    });
  });

  it('scaling by n equals n additions', () => {
    fc.assert(
      fc.property(vectors, fc.integer({ min: 0, max: 6 }), (v, n) => {
        const sum = Array.from({ length: n }).reduce<ResourceVector>((total) => add(total, v), NO_RESOURCES);
        expect(amounts(scale(v, n))).toEqual(amounts(sum));
      }),
    );
  });
});
