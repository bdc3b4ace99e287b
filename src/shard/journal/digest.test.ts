import { describe, expect, it } from 'vitest';
import { aNeed, resources } from '../../../testing/support/fleets.ts';
import { anAction, anUnmetVerdict } from '../../../testing/support/plans.ts';
import { keyOf } from '../../model/index.ts';
import { type Decided, digestOf } from './digest.ts';

const NEED = aNeed({ cluster: 'c1', group: 'g' });
const NOTHING: Decided = { actions: [], restamps: new Map(), retargets: new Map(), unmet: [], claims: null };
const DECIDED: Decided = {
  actions: [anAction('Bootstrap', 'm1', { need: keyOf(NEED) }), anAction('Reclaim', 'm2')],
  restamps: new Map([['m3', keyOf(NEED)]]),
  retargets: new Map(),
  unmet: [anUnmetVerdict(NEED, 'priority-starved', { deficit: resources({ cpu: 1, memory: 2 }) })],
  claims: new Map([['m1', keyOf(NEED)]]),
};

describe('digestOf', () => {
  it('given the same decision, then the digest is the same sixteen hexadecimal digits', () => {
    expect(digestOf(DECIDED)).toMatch(/^[0-9a-f]{16}$/);
    expect(digestOf({ ...DECIDED })).toBe(digestOf(DECIDED));
  });

  it('given resources in another order, then the digest is the same', () => {
    const deficit = resources({ memory: 2, cpu: 1 });
    const unmet = [anUnmetVerdict(NEED, 'priority-starved', { deficit })];
    expect(digestOf({ ...DECIDED, unmet })).toBe(digestOf(DECIDED));
  });

  it.each<[string, Partial<Decided>]>([
    ['an action less', { actions: [...DECIDED.actions].slice(1) }],
    ['another order', { actions: [...DECIDED.actions].reverse() }],
    ['another grace', { actions: [...DECIDED.actions].map((action) => ({ ...action, graceSeconds: 1 })) }],
    ['another machine', { restamps: new Map([['m4', keyOf(NEED)]]) }],
    ['a re-target', { retargets: new Map([['m5', keyOf(NEED)]]) }],
    ['another row', { claims: new Map([['m1', { ...keyOf(NEED), group: 'h' }]]) }],
    ['no claims', { claims: null }],
    ['another reason', { unmet: [anUnmetVerdict(NEED, 'no-fitting-supply')] }],
    [
      'amounts of other resources',
      { unmet: [anUnmetVerdict(NEED, 'priority-starved', { deficit: resources({ cpu: 2, memory: 1 }) })] },
    ],
    ['nothing', NOTHING],
  ])('given %s, then the digest is different', (_, change) => {
    expect(digestOf({ ...DECIDED, ...change })).not.toBe(digestOf(DECIDED));
  });
});
