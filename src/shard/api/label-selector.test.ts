import { describe, expect, it } from 'vitest';
import { meetsAll } from '../../model/index.ts';
import { labelSelector } from './label-selector.ts';

const MACHINE = {
  instanceType: 'm6i.large',
  zone: 'zone-a',
  labels: new Map([
    ['rack', 'r1'],
    ['example.com/team', 'web'],
    ['empty', ''],
  ]),
};

function matches(selector: string): boolean | string {
  const result = labelSelector(selector);
  return typeof result === 'string' ? result : meetsAll(MACHINE, result);
}

describe('a label selector', () => {
  it.each<readonly [string, boolean]>([
    ['rack=r1', true],
    ['rack==r1', true],
    ['rack = r2', false],
    ['rack!=r2', true],
    ['missing!=x', true],
    ['rack in (r1, r2)', true],
    ['rack notin (r1,r2)', false],
    ['missing notin (x)', true],
    ['rack', true],
    ['missing', false],
    ['!missing', true],
    ['!rack', false],
    ['empty=', true],
    ['example.com/team=web,rack in (r0,r1),!missing', true],
    ['example.com/team=web,rack in (r0,r2)', false],
    ['topology.kubernetes.io/zone=zone-a', true],
    ['node.kubernetes.io/instance-type in (m6i.large)', true],
  ])('given %s, then it is %s', (selector, expected) => {
    expect(matches(selector)).toBe(expected);
  });

  it.each(['rack=r1,', 'a=b=c', 'rack in r1', '=r1', 'a b', '!', 'rack in (r 1)', 'x>1'])(
    'given %j, then it is refused with the forms that there are',
    (selector) => {
      expect(matches(selector)).toContain('key notin (a,b)');
    },
  );

  it('given too many terms, then it is refused', () => {
    expect(matches(Array.from({ length: 51 }, (_, i) => `k${i}`).join(','))).toBe('has more than 50 terms');
  });
});
