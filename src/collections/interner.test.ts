import { describe, expect, it } from 'vitest';
import { Interner } from './interner.ts';

describe('an interner', () => {
  it('given the same text twice, then both callers get the first value', () => {
    const interner = new Interner<{ readonly n: number }>();
    const first = { n: 1 };
    expect(interner.share('a', first)).toBe(first);
    expect(interner.share('a', { n: 1 })).toBe(first);
    expect(interner.share('b', { n: 2 })).not.toBe(first);
  });

  it('given one text looked up between many new ones, then it stays cached and the others are evicted', () => {
    const interner = new Interner<object>(10);
    const often = {};
    for (let i = 0; i < 1000; i++) {
      expect(interner.share('often', i === 0 ? often : {})).toBe(often);
      interner.share(`once ${i}`, {});
      expect(interner.length).toBeLessThanOrEqual(20);
    }
  });
});
