// The page of a past cycle against the answers of the API. The dashboard has types of its own, since it knows no other room:
// here the compiler compares them.

import { describe, expect, it } from 'vitest';
import type { CyclePlanView, CycleRedecisionView } from '../../src/shard/views.ts';
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
import { NOW_MS } from '../../testing/support/fake-shard.ts';
import {
  NO_ACTIONS,
  OTHER_PLAN,
  PAST_PLAN,
  REPEATED_ACTION,
  SAME_PLAN,
} from '../../testing/support/past-cycles.ts';

const shown = (plan: { value: CyclePlanView | undefined; error: string }) =>
  cycleView({ cycle: '812', place: placeOf('#/cycle/812?epoch=3'), nowMs: NOW_MS, plan });

describe('the page of a past cycle', () => {
  it('given a plan, then it has each action with its reason and what became of it', () => {
    const text = textOf(shown({ value: PAST_PLAN, error: '' }));
    expect(text).toContain('It decided: buy 2 ; 1 Need was not met');
    expect(text).toContain('buy gpu/7 ml ml/00ff00ff00 nothing idle fits started');
    expect(text).toContain('the work it was bound for (ml/00ff00ff00) has ended');
    expect(text).toContain('held back: frozen by ann, because: a look');
    expect(text).toContain('4: it is frozen; 1: its cluster has just lost as many machines as it may');
    expect(text).toContain('2 of 9 actions shown');
  });

  it('given machines, clusters and Needs in it, then each is a link, and so are its neighbours and the next page', () => {
    expect(linksOf(shown({ value: PAST_PLAN, error: '' }))).toEqual(
      expect.arrayContaining([
        ...['#/machine/gpu%2F7', '#/cluster/ml', '#/need/ml/00ff00ff00', '#/machine/m-2'],
        ...['#/cycle/811?epoch=3', '#/cycle/813?epoch=3', '#/cycle/812?epoch=3&after=41'],
      ]),
    );
    const first = shown({ value: { ...PAST_PLAN, cycle: 1 }, error: '' });
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
    redecisionView({ isBusy: false, error, answer }, PAST_PLAN);

  it('given the same plan, then it says so, and the whole plan has the reasons of the record', () => {
    const text = textOf(view(SAME_PLAN)!);
    expect(text).toContain('The same plan: buy 2; 1 Need not met; digest 8b91.');
    expect(text).toContain('Reading 1 cycle of the journal took 40 ms, deciding 3.0 ms.');
    expect(text).toContain('The whole plan , the first 1 of 2');
    expect(text).toContain('(ml/00ff00ff00) has ended');
    expect(text).not.toContain('In the record only');
  });

  it('given another plan, then it has both, and the actions of one side only', () => {
    const text = textOf(view(OTHER_PLAN)!);
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
    for (const onlyAgain of [NO_ACTIONS, null])
      expect(redecisionTexts({ ...OTHER_PLAN, onlyRecorded: NO_ACTIONS, onlyAgain })).toContain(
        'No listed action differs; verdicts or claims do.',
      );
    expect(redecisionTexts({ ...OTHER_PLAN, onlyAgain: null })).toContain(
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
    expect(decidedWhy(REPEATED_ACTION)).toBe('no row counts on it');
    expect(fateText(REPEATED_ACTION)).toBe('');
    expect(waitingTexts({ frozen: 0 })).toEqual([]);
    expect(notListedText({ notListed: 0 })).toBe('');
    expect(notListedText(PAST_PLAN)).toContain('3 actions more');
  });
});
