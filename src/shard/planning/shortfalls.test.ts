import { describe, expect, it } from 'vitest';
import { aNeed } from '../../../testing/support/fleets.ts';
import { anUnmetVerdict } from '../../../testing/support/plans.ts';
import { keyOf, keyText, type Need, type NeedKey, type Profile, type Verdict } from '../../model/index.ts';
import { Shortfalls } from './shortfalls.ts';

const NEED = aNeed();

function profilesOf(...needs: readonly Need[]): (key: NeedKey) => Profile {
  const profiles = new Map(needs.map((need) => [keyText(keyOf(need)), need.profile]));
  return (key) => profiles.get(keyText(key))!;
}

/** Observes `cycles` cycles, each with these rows short. */
function shortFor(cycles: number, needs: readonly Need[], shortfalls = new Shortfalls()): Shortfalls {
  for (let i = 0; i < cycles; i++) observe(shortfalls, needs);
  return shortfalls;
}

function observe(shortfalls: Shortfalls, needs: readonly Need[], verdict = starved): void {
  shortfalls.observe(needs.map(verdict), profilesOf(...needs));
}

function starved(need: Need): Verdict {
  return anUnmetVerdict(need, 'priority-starved');
}

function preempting(need: Need): Verdict {
  return anUnmetVerdict(need, 'preempting');
}

describe('shortfalls', () => {
  it('given an unmet row, then it has the missing amounts, the reason and the age', () => {
    expect(shortFor(1, [NEED]).top()).toMatchObject([
      {
        key: keyOf(NEED),
        profile: NEED.profile,
        deficit: NEED.aggregate,
        reason: 'priority-starved',
        ageCycles: 1,
        isEscalated: false,
      },
    ]);
  });

  it('given an escalated row, then it is reported once, and again after it was met in between', () => {
    const shortfalls = new Shortfalls();
    const reportedFor = (needs: readonly Need[]): number =>
      shortfalls.observe(needs.map(starved), profilesOf(...needs)).escalated.length;
    const rows = [...Array.from({ length: 8 }, () => [NEED]), [], ...Array.from({ length: 6 }, () => [NEED])];
    expect(rows.map(reportedFor)).toEqual([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
  });

  it('given consecutive cycles, then the age counts them, and it is escalated after five', () => {
    expect(shortFor(5, [NEED]).top()).toMatchObject([{ ageCycles: 5, isEscalated: false }]);
    expect(shortFor(6, [NEED]).top()).toMatchObject([{ ageCycles: 6, isEscalated: true }]);
  });

  it('given one that is met, then it is dropped and starts over', () => {
    const shortfalls = shortFor(7, [NEED]);
    observe(shortfalls, []);
    expect(shortfalls.gauges.total).toBe(0);
    expect(shortfalls.unmetCyclesOf(keyOf(NEED))).toBe(0);

    observe(shortfalls, [NEED]);

    expect(shortfalls.top()).toMatchObject([{ ageCycles: 1 }]);
  });

  it('given rows of one profile in other clusters and gangs, then they are separate', () => {
    const gang = aNeed({ group: 'g' });
    const elsewhere = aNeed({ cluster: 'c2' });
    const shortfalls = shortFor(3, [NEED, gang]);
    observe(shortfalls, [NEED, gang, elsewhere]);

    expect(shortfalls.top().map(({ key, ageCycles }) => [key.cluster, key.group, ageCycles])).toEqual([
      ['c1', '', 4],
      ['c1', 'g', 4],
      ['c2', '', 1],
    ]);
  });

  it('given a row that draining machines will cover, then it is unmet, but not a shortfall', () => {
    const shortfalls = new Shortfalls();
    observe(shortfalls, [NEED], preempting);
    observe(shortfalls, [NEED], preempting);

    expect(shortfalls.top()).toEqual([]);
    expect(shortfalls.gauges.total).toBe(0);
    expect(shortfalls.unmetCyclesOf(keyOf(NEED))).toBe(2);

    observe(shortfalls, [NEED]);

    expect(shortfalls.top()).toMatchObject([{ ageCycles: 1 }]);
    expect(shortfalls.unmetCyclesOf(keyOf(NEED))).toBe(3);
  });

  it('given many, then the highest priority comes first, then the oldest, at most a hundred', () => {
    const urgent = aNeed({ priority: 9 });
    const old = aNeed({ priority: 1, group: 'old' });
    const many = Array.from({ length: 200 }, (_, i) => aNeed({ priority: 1, group: `young${i}` }));
    const shortfalls = shortFor(3, [old]);
    observe(shortfalls, [...many, old, urgent]);

    const top = shortfalls.top();

    expect(top).toHaveLength(100);
    expect(top.slice(0, 2).map(({ key }) => key)).toEqual([keyOf(urgent), keyOf(old)]);
    expect(shortfalls.gauges.total).toBe(202);
  });

  it.each([
    [1, '1-9'],
    [9, '1-9'],
    [10, '10-59'],
    [59, '10-59'],
    [60, '60-299'],
    [299, '60-299'],
    [300, '300+'],
  ] as const)('given %i cycles, then it counts as %s', (cycles, bucket) => {
    const { byAge, total } = shortFor(cycles, [NEED]).gauges;

    expect(byAge[bucket]).toBe(1);
    expect(total).toBe(1);
  });

  it.each([
    [99, 'other'],
    [-5, 'other'],
    [100, 'batch'],
    [999, 'batch'],
    [1000, 'service'],
    [999_999, 'service'],
    [1_000_000, 'critical'],
  ] as const)('given priority %i, then its class is %s', (priority, name) => {
    expect(shortFor(1, [aNeed({ priority })]).gauges.byPriorityClass[name]).toBe(1);
  });

  it('given more than the limit, then the lowest ranks are counted, but do not age', () => {
    const needs = Array.from({ length: 5 }, (_, i) => aNeed({ priority: 9 - i }));
    const shortfalls = shortFor(20, needs, new Shortfalls(3));

    expect(shortfalls.top().map(({ profile }) => profile.priority)).toEqual([9, 8, 7]);
    expect(shortfalls.gauges).toMatchObject({ total: 5, byAge: { '10-59': 3, '1-9': 2 } });
  });
});
