import { describe, expect, it } from 'vitest';
import { answerLists, answerTexts, type WhatIfAnswer } from './what-if-text.ts';

function compared<T>(now: T, after: T): { readonly now: T; readonly after: T } {
  return { now, after };
}

const NONE = { total: 0, items: [] };
const NEED = { id: 'web/00ff00ff00', cluster: 'web', group: '', priority: 1000 };

const ANSWER: WhatIfAnswer = {
  touched: { removed: 3, repriced: 0, added: 0, needs: 0 },
  unmatched: [],
  actions: {
    ...compared<Readonly<Record<string, number>>>({ Provision: 1 }, { Provision: 4, Delete: 0 }),
    ...{ added: NONE, dropped: NONE },
  },
  cost: compared({ perHour: 10, afterActions: 11 }, { perHour: 8, afterActions: 20 }),
  verdicts: {
    ...compared({ met: 9, unmet: 1 }, { met: 7, unmet: 3 }),
    ...{ unmet: { total: 2, items: [] }, met: NONE, changed: NONE },
  },
  disruption: compared({ preempted: 1, drained: 3, lost: 0 }, { preempted: 2, drained: 3, lost: 5 }),
  settled: null,
};

const SETTLED: NonNullable<WhatIfAnswer['settled']> = {
  remark: null,
  ...{ cycles: 4, isQuiet: true, bought: 3, bound: 2, preempted: 1, drained: 0, released: 0 },
  cost: { perHour: 12, afterActions: 12 },
  needs: { met: 9, unmet: 1 },
  ...{ unmet: NONE, met: NONE },
};

describe('sentences of the what-if box', () => {
  it('given differences, then each is a sentence, the Needs first', () => {
    expect(answerTexts(ANSWER)).toEqual([
      'The change: 3 machines gone.',
      '3 Needs would not be met, instead of 1 now.',
      'It would cost $20.00/h after the actions, instead of $11.00/h.',
      'The next cycle would buy 4 instead of 1.',
      'Machines in use: 5 lost instead of 0; 2 preempted instead of 1; 3 drained, as now.',
    ]);
  });

  it('given no differences, then the sentences say so, and none is about machines in use', () => {
    const kinds = { Provision: 1 };
    const same: WhatIfAnswer = {
      ...ANSWER,
      actions: { ...compared(kinds, kinds), added: NONE, dropped: NONE },
      verdicts: {
        ...compared({ met: 9, unmet: 1 }, { met: 9, unmet: 1 }),
        ...{ unmet: NONE, met: NONE, changed: NONE },
      },
      disruption: compared({ preempted: 0, drained: 0, lost: 0 }, { preempted: 0, drained: 0, lost: 0 }),
    };
    const text = answerTexts(same).join(' ');
    expect(text).toContain('As many Needs would be met as now: 9.');
    expect(text).toContain('as many actions of each kind as now');
    expect(text).not.toContain('Machines in use');
  });

  it('given a change that matched nothing, then that comes first', () => {
    expect(answerTexts({ ...ANSWER, unmatched: ['without[0]'] })[0]).toBe(
      'Nothing in this fleet matches without[0].',
    );
  });

  it('given a settled fleet, then its state and the moves until then are told', () => {
    expect(answerTexts({ ...ANSWER, settled: SETTLED }).at(-1)).toBe(
      'After 4 cycles: 1 Needs not met, machines: 3 bought, 2 bound, 1 preempted, $12.00/h.',
    );
  });
});

describe('lists of the what-if box', () => {
  const of = <T>(...items: readonly T[]) => ({ total: items.length, items });
  const verdict = (why: string | null, whyNow: string | null) => ({
    ...{ need: NEED, why, whyNow },
    missing: why === null ? {} : { cpu: '4' },
  });
  const action = { machine: 'm-1', cluster: 'web', need: NEED, reason: 'phase1.speculative' } as const;

  it('given nothing that differs, then there is no list', () => {
    expect(answerLists({ ...ANSWER, verdicts: { ...ANSWER.verdicts, unmet: NONE } })).toEqual([]);
  });

  it('given verdicts that differ, then each has what it lacks, the reason and the reason now', () => {
    const verdicts = {
      ...ANSWER.verdicts,
      unmet: of(verdict('none left', null)),
      met: of(verdict(null, 'too late')),
      changed: of(verdict('none left', 'frozen')),
    };
    const lists = answerLists({ ...ANSWER, verdicts });
    expect(lists.map(({ mood, items }) => [mood, items[0]!.text])).toEqual([
      ['failed', 'web/00ff00ff00 lacks 4 cores: none left'],
      ['done', 'web/00ff00ff00: now: too late'],
      ['doing', 'web/00ff00ff00 lacks 4 cores: none left; now: frozen'],
    ]);
    for (const { items } of lists) expect(items[0]!.names).toEqual([[NEED.id, '#/need/web/00ff00ff00']]);
  });

  it('given actions that differ, then each says what, for whom and why, and names its machine, Need and cluster', () => {
    const actions = {
      ...ANSWER.actions,
      added: of(
        { ...action, kind: 'Provision' } as const,
        { ...action, kind: 'Preempt', reason: 'phase2.inversion' } as const,
      ),
      dropped: of({ ...action, kind: 'Delete', cluster: '', need: null, reason: 'phase3.release' } as const),
    };
    const [, added, dropped] = answerLists({ ...ANSWER, actions });
    expect(added!.items.map(({ text }) => text)).toEqual([
      'buy m-1 for web/00ff00ff00: nothing idle fits',
      'preempt m-1 from web for web/00ff00ff00: priority 1000 goes before a lower one',
    ]);
    expect(added!.items[0]!.names).toEqual([
      ['m-1', '#/machine/m-1'],
      [NEED.id, '#/need/web/00ff00ff00'],
      ['web', '#/cluster/web'],
    ]);
    expect(dropped!.items.map(({ text }) => text)).toEqual([
      'release m-1: idle for a while, and no row needs it',
    ]);
  });

  it('given a machine that only the question has added, then it has no link', () => {
    const added = of({ ...action, kind: 'Provision', machine: 'what-if-1', need: null } as const);
    const [, list] = answerLists({ ...ANSWER, actions: { ...ANSWER.actions, added } });
    expect(list!.items[0]).toEqual({
      text: 'buy what-if-1 for web: nothing idle fits',
      names: [['web', '#/cluster/web']],
    });
  });

  it('given verdicts of the settled fleet, then they are listed after all others', () => {
    const settled = { ...SETTLED, met: of(verdict(null, 'too late')) };
    expect(answerLists({ ...ANSWER, settled }).at(-1)!.title).toBe('Needs that would be met in the end');
  });
});
