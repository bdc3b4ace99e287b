import { describe, expect, it } from 'vitest';
import { answerTexts, CHANGES, questionOf, type WhatIfAnswer } from './what-if-text.ts';

describe('questions of the what-if box', () => {
  it.each([
    ['without-spot', '', { without: [{ capacityType: 'spot' }] }],
    ['without-zone', 'a', { without: [{ zone: 'a' }] }],
    ['spot-price', '2', { prices: [{ match: { capacityType: 'spot' }, times: 2 }] }],
    ['demand', '1.5', { demand: [{ need: 'web/1', times: 1.5 }] }],
    ['priority', '7', { priorities: [{ need: 'web/1', set: 7 }] }],
    ['stock', '20:m6i.large', { stock: [{ count: 20, instanceType: 'm6i.large' }] }],
  ] as const)('given %s with “%s”, then the change is %j', (name, value, changes) => {
    expect(questionOf(name, value, { need: 'web/1', cluster: 'web' })).toEqual({ changes });
  });

  it('given the page of a cluster or of the fleet, then demand is that of the cluster or of all', () => {
    expect(questionOf('demand', '2', { cluster: 'web' })).toEqual({
      changes: { demand: [{ cluster: 'web', times: 2 }] },
    });
    expect(questionOf('demand', '2', {})).toEqual({ changes: { demand: [{ cluster: '*', times: 2 }] } });
  });

  it('given a value that is missing or makes no sense, then the reader is told', () => {
    for (const { name } of CHANGES.filter((change) => 'field' in change))
      expect(questionOf(name, '', {})).toEqual(expect.any(String));
    expect(questionOf('stock', 'many', {})).toEqual(expect.any(String));
  });
});

function compared<T>(now: T, after: T): { readonly now: T; readonly after: T } {
  return { now, after };
}

const ANSWER: WhatIfAnswer = {
  unmatched: [],
  actions: compared<Readonly<Record<string, number>>>({ Provision: 1 }, { Provision: 4, Delete: 0 }),
  cost: compared({ perHour: 10, afterActions: 11 }, { perHour: 8, afterActions: 20 }),
  verdicts: {
    ...compared({ met: 9, unmet: 1 }, { met: 7, unmet: 3 }),
    unmet: { total: 2, items: [] },
    met: { total: 0, items: [] },
  },
  disruption: compared({ preempted: 0, drained: 0, lost: 0 }, { preempted: 0, drained: 0, lost: 5 }),
  settled: null,
};

describe('answers of the what-if box', () => {
  it('given differences, then each is a sentence, the Needs first', () => {
    expect(answerTexts(ANSWER)).toEqual([
      '3 Needs would not be met, instead of 1 now.',
      'It would cost $20.00/h after the actions, instead of $11.00/h.',
      'The next cycle would buy 4 instead of 1.',
      '5 machines in use would be lost.',
    ]);
  });

  it('given a change that matched nothing, then that comes first', () => {
    expect(answerTexts({ ...ANSWER, unmatched: ['without[0]'] })[0]).toBe(
      'The change matches nothing in this fleet.',
    );
  });

  it('given a settled fleet, then its state is told', () => {
    const settled = {
      cycles: 4,
      isQuiet: true,
      bought: 3,
      cost: { perHour: 12, afterActions: 12 },
      needs: { met: 9, unmet: 1 },
    };
    expect(answerTexts({ ...ANSWER, settled }).at(-1)).toBe(
      'After 4 cycles: 1 Needs not met, 3 machines bought, $12.00/h.',
    );
  });
});
