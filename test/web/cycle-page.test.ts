// The page of a past cycle against the answers of the API. The dashboard has types of its own, since it knows no other room:
// here the compiler compares them.

import { describe, expect, it } from 'vitest';
import type { CycleActionView, CyclePlanView, CycleRedecisionView } from '../../src/shard/views.ts';
import {
  decidedWhy,
  fateText,
  notListedText,
  redecisionTexts,
  waitingTexts,
} from '../../src/web/cycle-text.ts';
import { linksOf, textOf, valuesOf } from '../../src/web/page/testkit.ts';
import { cycleView, redecisionView } from '../../src/web/page/views/cycle.ts';
import { placeOf } from '../../src/web/place.ts';

const NOW_MS = 1_760_000_000_000;
const KINDS = { Bootstrap: 0, Provision: 2, Preempt: 0, Reclaim: 0, Delete: 0 };
const NEED = { id: 'ml/00ff00ff00', cluster: 'ml', group: '', priority: 7 };
const BOUGHT: CycleActionView = {
  ...{
    kind: 'Provision',
    machine: 'gpu/7',
    cluster: 'ml',
    reason: 'phase1.speculative',
    why: null,
    need: NEED,
  },
  ...{ provider: 'cloud', capacityType: 'SPOT', zone: 'a' },
};
const FROZEN: CycleActionView = {
  ...{ ...BOUGHT, kind: 'Reclaim', machine: 'm-2', reason: 'phase3.excess', why: 'frozen', need: null },
  ...{ from: NEED, leaving: { cause: 'work-ended', domain: null, goesTo: null } },
  freeze: { id: 'fleet', who: 'ann', why: 'a look' },
};
const PLAN: CyclePlanView = {
  ...{ cycle: 812, epoch: 3, atMs: NOW_MS - 60_000, durationMs: 12, digest: '8b91', unmet: 1 },
  ...{ decided: KINDS, admitted: KINDS, waiting: { capped: 1, frozen: 4 }, notListed: 3 },
  actions: { items: [BOUGHT, FROZEN], total: 9, next: 'cursor' },
};
const SIDE = { digest: '8b91', decided: KINDS, unmet: 1 };
const NONE = { total: 0, items: [] };
const { why: _, freeze: __, leaving: ___, ...AGAIN } = FROZEN;
const SAME: CycleRedecisionView = {
  ...{ cycle: 812, epoch: 3, atMs: NOW_MS, isSame: true, recorded: SIDE, again: SIDE },
  ...{ durationMs: 3, readMs: 40, cyclesRead: 1, onlyRecorded: NONE, onlyAgain: NONE },
  actions: { total: 2, items: [AGAIN] },
};
const OTHER: CycleRedecisionView = {
  ...{ ...SAME, isSame: false, again: { digest: 'ffff', decided: { ...KINDS, Provision: 1 }, unmet: 0 } },
  ...{ onlyRecorded: { total: 1, items: [BOUGHT] }, onlyAgain: { total: 2, items: [AGAIN] } },
};

const shown = (plan: { value: CyclePlanView | undefined; error: string }) =>
  cycleView({ cycle: '812', place: placeOf('#/cycle/812?epoch=3'), nowMs: NOW_MS, plan });

describe('the page of a past cycle', () => {
  it('given a plan, then it has each action with its reason and what became of it', () => {
    const text = textOf(shown({ value: PLAN, error: '' }));
    expect(text).toContain('It decided: buy 2 ; 1 Need was not met');
    expect(text).toContain('buy gpu/7 ml ml/00ff00ff00 nothing idle fits started');
    expect(text).toContain('the work it was bound for (ml/00ff00ff00) has ended');
    expect(text).toContain('held back: frozen by ann, because: a look');
    expect(text).toContain('4: it is frozen; 1: its cluster has just lost as many machines as it may');
    expect(text).toContain('2 of 9 actions shown');
  });

  it('given machines, clusters and Needs in it, then each is a link, and so are its neighbours and the next page', () => {
    expect(linksOf(shown({ value: PLAN, error: '' }))).toEqual(
      expect.arrayContaining([
        ...['#/machine/gpu%2F7', '#/cluster/ml', '#/need/ml/00ff00ff00', '#/machine/m-2'],
        ...['#/cycle/811?epoch=3', '#/cycle/813?epoch=3', '#/cycle/812?epoch=3&after=cursor'],
      ]),
    );
    const first = shown({ value: { ...PLAN, cycle: 1 }, error: '' });
    expect(linksOf(first)).not.toContain('#/cycle/0?epoch=3');
  });

  it('given a refusal, then it is shown', () => {
    const text = textOf(shown({ value: undefined, error: 'The journal does not have cycle 812.' }));
    expect(text).toBe('Cycle 812 The journal does not have cycle 812.');
    expect(valuesOf(shown({ value: undefined, error: '' }))).toEqual({});
  });
});

describe('a cycle that is decided again', () => {
  const view = (answer: CycleRedecisionView | null, error = '') =>
    redecisionView({ isBusy: false, error, answer }, PLAN);

  it('given the same plan, then it says so, and the whole plan has the reasons of the record', () => {
    const text = textOf(view(SAME)!);
    expect(text).toContain('The same plan: buy 2; 1 Need not met; digest 8b91.');
    expect(text).toContain('Reading 1 cycle of the journal took 40 ms, deciding 3.0 ms.');
    expect(text).toContain('The whole plan , the first 1 of 2');
    expect(text).toContain('(ml/00ff00ff00) has ended');
    expect(text).not.toContain('In the record only');
  });

  it('given another plan, then it has both, and the actions of one side only', () => {
    const text = textOf(view(OTHER)!);
    expect(text).toContain('Another plan.');
    expect(text).toContain('Recorded: buy 2; 1 Need not met; digest 8b91.');
    expect(text).toContain('Now: buy 1; all Needs met; digest ffff.');
    expect(text).toContain(
      '1 action of the record is not decided now; 2 actions of now are not in the record.',
    );
    expect(text).toContain('In the record only');
    expect(text).toContain('Decided now only , the first 1 of 2');
  });

  it('given equal actions and another digest, then it says where the difference is', () => {
    for (const onlyAgain of [NONE, null])
      expect(redecisionTexts({ ...OTHER, onlyRecorded: NONE, onlyAgain })).toContain(
        'No listed action differs; verdicts or claims do.',
      );
    expect(redecisionTexts({ ...OTHER, onlyAgain: null })).toContain(
      '1 action of the record is not decided now.',
    );
  });

  it('given a refusal, or no question yet, then the refusal is shown, or nothing', () => {
    expect(textOf(view(null, 'Another past cycle is being decided again.')!)).toContain('Another past cycle');
    expect(view(null)).toBeNull();
  });
});

describe('texts about a past cycle', () => {
  it('given actions without a record, then nothing is said that is not known', () => {
    expect(decidedWhy(AGAIN)).toBe('no row counts on it');
    expect(fateText(AGAIN)).toBe('');
    expect(waitingTexts({ frozen: 0 })).toEqual([]);
    expect(notListedText({ notListed: 0 })).toBe('');
    expect(notListedText(PLAN)).toContain('3 actions more');
  });
});
