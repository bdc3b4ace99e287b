import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  makeProfile,
  type ProfileParts,
  type Spread,
  sameTermOf,
  strictSpreadOf,
  WhenUnsatisfiable,
  withoutSame,
} from './profile.ts';
import { Operator, type Requirement } from './requirement.ts';

const { In, NotIn, Exists, Same } = Operator;
const { DoNotSchedule, ScheduleAnyway } = WhenUnsatisfiable;

function term(key: string, operator: Operator, ...values: string[]): Requirement {
  return { key, operator, values };
}

function spread(
  topologyKey: string,
  maxSkew = 1,
  whenUnsatisfiable: WhenUnsatisfiable = DoNotSchedule,
): Spread {
  return { topologyKey, maxSkew, whenUnsatisfiable };
}

function fingerprint(parts: ProfileParts): string {
  return makeProfile(parts).fingerprint;
}

const BASE = {
  requirements: [term('zone', NotIn, 'z3', 'z1'), term('type', In, 'm5', 'c5')],
  spread: [spread('zone', 2), spread('host', 1, ScheduleAnyway)],
  priority: 1000,
  interruptionBucket: 5,
  reclamationBucket: 7,
} satisfies ProfileParts;

describe('fingerprint', () => {
  it.each<[string, ProfileParts]>([
    ['p=0|ipb=0|rpb=0|reqs=|spr=', {}],
    ['p=-5|ipb=27|rpb=1|reqs=|spr=', { priority: -5, interruptionBucket: 27, reclamationBucket: 1 }],
    ['p=0|ipb=0|rpb=0|reqs=gpu:3:;|spr=', { requirements: [term('gpu', Exists)] }],
    ['p=1000|ipb=5|rpb=7|reqs=type:1:c5,m5;zone:2:z1,z3;|spr=host:1:2;zone:2:1;', { ...BASE }],
    [
      'p=2147483647|ipb=0|rpb=0|reqs=topology.kubernetes.io/zone:1:a,b;topology.kubernetes.io/zone:5:;|spr=',
      {
        priority: 2147483647,
        requirements: [
          term('topology.kubernetes.io/zone', Same),
          term('topology.kubernetes.io/zone', In, 'b', 'a'),
        ],
      },
    ],
    [
      'p=0|ipb=0|rpb=0|reqs=a\\:b:1:c\\,d,e\\;f;|spr=g\\|h\\\\:1:1;',
      {
        requirements: [term('a:b', In, 'e;f', 'c,d')],
        spread: [spread('g|h\\')],
      },
    ],
    ['p=0|ipb=0|rpb=0|reqs=k:1:\\e;|spr=', { requirements: [term('k', In, '')] }],
    ['p=0|ipb=0|rpb=0|reqs=k:1:,a;|spr=', { requirements: [term('k', In, 'a', '')] }],
  ])('is %j', (text, parts) => {
    expect(fingerprint(parts)).toBe(text);
  });

  // Case 16 of the specification.
  it('given the same terms in another order, then the fingerprint is the same', () => {
    const reordered: ProfileParts = {
      ...BASE,
      requirements: [term('type', In, 'c5', 'm5'), term('zone', NotIn, 'z1', 'z3')],
      spread: [...BASE.spread].reverse(),
    };
    expect(fingerprint(reordered)).toBe(fingerprint(BASE));
  });

  // Case 16 of the specification.
  it('given another priority, bucket, requirement or spread term, then the fingerprint differs', () => {
    const changed: ProfileParts[] = [
      BASE,
      { ...BASE, priority: 1001 },
      { ...BASE, interruptionBucket: 6 },
      { ...BASE, reclamationBucket: 6 },
      { ...BASE, interruptionBucket: 7, reclamationBucket: 5 },
      { ...BASE, requirements: [] },
      { ...BASE, requirements: [term('zone', NotIn, 'z3', 'z1'), term('type', In, 'm5')] },
      { ...BASE, requirements: [term('zone', In, 'z3', 'z1'), term('type', In, 'm5', 'c5')] },
      { ...BASE, requirements: [term('zones', NotIn, 'z3', 'z1'), term('type', In, 'm5', 'c5')] },
      { ...BASE, spread: [] },
      { ...BASE, spread: [spread('zone', 3), spread('host', 1, ScheduleAnyway)] },
      { ...BASE, spread: [spread('zone', 2, ScheduleAnyway), spread('host', 1, ScheduleAnyway)] },
      { ...BASE, spread: [spread('rack', 2), spread('host', 1, ScheduleAnyway)] },
    ];
    expect(new Set(changed.map(fingerprint)).size).toBe(changed.length);
  });

  // Case 18 of the specification.
  it('given a value that contains the separator, then it does not collide with two values', () => {
    const one = { requirements: [term('k', In, 'a,b')] };
    const two = { requirements: [term('k', In, 'a', 'b')] };
    expect(fingerprint(one)).not.toBe(fingerprint(two));
  });

  // Case 18 of the specification.
  it('given two requirements with equal key and operator, then their order is canonical', () => {
    const x = term('k', NotIn, 'x');
    const y = term('k', NotIn, 'y');
    expect(makeProfile({ requirements: [y, x] })).toEqual(makeProfile({ requirements: [x, y] }));
  });

  it('given spread terms with one key, then their order is canonical', () => {
    const terms = [spread('k', 1), spread('k', 1, ScheduleAnyway), spread('k', 2)];
    expect(makeProfile({ spread: [...terms].reverse() }).spread).toEqual(terms);
  });

  // Case 18 of the specification.
  it('given a duplicate value, then it is removed', () => {
    const profile = makeProfile({ requirements: [term('k', In, 'm5', 'c5', 'm5')] });
    expect(profile.requirements).toEqual([term('k', In, 'c5', 'm5')]);
    expect(profile.fingerprint).toBe(fingerprint({ requirements: [term('k', In, 'c5', 'm5')] }));
  });

  it('given no values and one empty value, then they differ', () => {
    const none = fingerprint({ requirements: [term('k', Same)] });
    const empty = fingerprint({ requirements: [term('k', Same, '')] });
    const literal = fingerprint({ requirements: [term('k', Same, '\\e')] });
    expect(new Set([none, empty, literal]).size).toBe(3);
  });
});

/** Splits at separators that no backslash escapes. */
function split(text: string, separator: string): string[] {
  const pieces = [''];
  for (let i = 0; i < text.length; i++) {
    const c = text.charAt(i);
    if (c === separator) pieces.push('');
    else if (c === '\\') pieces[pieces.length - 1] += c + text.charAt(++i);
    else pieces[pieces.length - 1] += c;
  }
  return pieces;
}

function plain(text: string): string {
  return text.replace(/\\(.)/gs, '$1');
}

/** Decodes a fingerprint. Fingerprints are unique because this is possible. */
function decode(text: string): unknown {
  const [priority, interruption, reclamation, reqs, spr] = split(text, '|').map((part) => {
    return part.slice(part.indexOf('=') + 1);
  });
  const requirements = split(reqs!, ';')
    .slice(0, -1)
    .map((part) => {
      const [key, operator, list] = split(part, ':');
      const values = list === '' ? [] : list === '\\e' ? [''] : split(list!, ',').map(plain);
      return { key: plain(key!), operator: Number(operator), values };
    });
  const terms = split(spr!, ';')
    .slice(0, -1)
    .map((part) => {
      const [key, skew, when] = split(part, ':');
      return { topologyKey: plain(key!), maxSkew: Number(skew), whenUnsatisfiable: Number(when) };
    });
  return {
    requirements,
    spread: terms,
    priority: Number(priority),
    interruptionBucket: Number(interruption),
    reclamationBucket: Number(reclamation),
  };
}

const nasty = fc.string({ unit: fc.constantFrom(...',;:|\\\0e=a\n'.split('')), maxLength: 3 });
const parts: fc.Arbitrary<ProfileParts> = fc.record({
  requirements: fc.array(
    fc.record({
      key: nasty,
      operator: fc.constantFrom(...Object.values(Operator)),
      values: fc.array(nasty, { maxLength: 3 }),
    }),
    { maxLength: 3 },
  ),
  spread: fc.array(
    fc.record({
      topologyKey: nasty,
      maxSkew: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
      whenUnsatisfiable: fc.constantFrom(...Object.values(WhenUnsatisfiable)),
    }),
    { maxLength: 2 },
  ),
  priority: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  interruptionBucket: fc.integer({ min: 0, max: 27 }),
  reclamationBucket: fc.integer({ min: 0, max: 27 }),
});

/** Few characters and fixed numbers, so that equal and nearly equal profiles are common. */
const alike: fc.Arbitrary<ProfileParts> = fc.record({
  requirements: fc.array(
    fc.record({
      key: fc.constantFrom('', ':', 'k'),
      operator: fc.constantFrom(In, Same),
      values: fc.array(fc.constantFrom('', ',', '\\', '\\e', 'e'), { maxLength: 2 }),
    }),
    { maxLength: 2 },
  ),
  spread: fc.array(
    fc.record({
      topologyKey: fc.constantFrom('k', ':'),
      maxSkew: fc.constantFrom(1, 2),
      whenUnsatisfiable: fc.constantFrom(DoNotSchedule, ScheduleAnyway),
    }),
    { maxLength: 2 },
  ),
});

/** A profile without order: its terms as a multiset, their values as sets. */
function meaning({ requirements = [], spread = [], ...numbers }: ProfileParts): string {
  const terms = requirements.map(({ key, operator, values }) => {
    return JSON.stringify([key, operator, [...new Set(values)].sort()]);
  });
  const spreads = spread.map((s) => JSON.stringify([s.topologyKey, s.maxSkew, s.whenUnsatisfiable]));
  return JSON.stringify([terms.sort(), spreads.sort(), numbers]);
}

describe('fingerprints of any profiles', () => {
  it('given any profile, then its fingerprint decodes to the canonical profile', () => {
    fc.assert(
      fc.property(parts, (given) => {
        const { fingerprint: text, ...canonical } = makeProfile(given);
        expect(decode(text)).toEqual(canonical);
      }),
      { numRuns: 2000 },
    );
  });

  it('given any two profiles, then their fingerprints are equal exactly if the profiles are', () => {
    fc.assert(
      fc.property(fc.oneof(fc.tuple(alike, alike), fc.tuple(parts, parts)), ([a, b]) => {
        expect(fingerprint(a) === fingerprint(b)).toBe(meaning(a) === meaning(b));
      }),
      { numRuns: 5000 },
    );
  });

  it('given a canonical profile, then making it canonical again changes nothing', () => {
    fc.assert(
      fc.property(parts, (given) => {
        expect(makeProfile(makeProfile(given))).toEqual(makeProfile(given));
      }),
    );
  });
});

describe('terms that the engine reads', () => {
  it('given several Same terms, then the first in canonical order is returned', () => {
    const profile = makeProfile({
      requirements: [term('z', Same), term('b', In, 'x'), term('rack', Same, 'r1')],
    });
    expect(sameTermOf(profile)).toEqual(term('rack', Same, 'r1'));
    expect(sameTermOf(makeProfile({ requirements: [term('a', In, 'x')] }))).toBeUndefined();
  });

  it('given several spread terms, then the first strict one by topology key is returned', () => {
    const profile = makeProfile({
      spread: [spread('zone', 3), spread('a', 1, ScheduleAnyway), spread('host', 2)],
    });
    expect(strictSpreadOf(profile)).toEqual(spread('host', 2));
    expect(strictSpreadOf(makeProfile({ spread: [spread('a', 1, ScheduleAnyway)] }))).toBeUndefined();
    expect(
      strictSpreadOf(makeProfile({ spread: [spread('a', 1, WhenUnsatisfiable.Unspecified)] })),
    ).toBeUndefined();
  });

  it('given Same and strict spread, then the spread is ignored', () => {
    const profile = makeProfile({ requirements: [term('rack', Same)], spread: [spread('zone')] });
    expect(strictSpreadOf(profile)).toBeUndefined();
    expect(strictSpreadOf(withoutSame(profile))).toEqual(spread('zone'));
  });

  it('given a gang, when Same is removed, then all other terms stay', () => {
    const profile = makeProfile({
      ...BASE,
      requirements: [...BASE.requirements, term('rack', Same), term('row', Same)],
    });
    expect(withoutSame(profile)).toEqual(makeProfile(BASE));
    expect(withoutSame(makeProfile(BASE))).toEqual(makeProfile(BASE));
  });
});
