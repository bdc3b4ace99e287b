// The what-if box of the dashboard against what-if answers of the engine. The dashboard has types of its own for answers, since
// it knows no other room: here the compiler compares them, and every question of the box is asked.

import { describe, expect, it } from 'vitest';
import { MachineState } from '../../src/model/index.ts';
import { validate } from '../../src/runtime/validation.ts';
import { CHANGES, questionOf } from '../../src/web/what-if-question.ts';
import { answerLists, answerTexts, type WhatIfAnswer as Shown } from '../../src/web/what-if-text.ts';
import { whatIfOn } from '../../src/whatif/index.ts';
import { WHAT_IF_REQUEST } from '../../src/whatif/request.ts';
import { aMachine, aNeed, anInput, resources } from '../../testing/support/fleets.ts';

/** Values that make sense for the fields of all questions. */
const VALUES: Readonly<Record<string, string>> = {
  ...{ zone: 'za', provider: 'fake', instanceType: 'standard' },
  ...{ machines: 'standard', amount: '$0.5', chance: '10%' },
  ...{ count: '2', type: 'standard', stockZone: 'zb' },
  ...{ factor: '1.5', priority: '1000' },
  ...{ reclaimHold: '10m', maxPurchasedPerHour: '500' },
  document: JSON.stringify({
    prices: [{ match: { name: '*' }, times: 2 }],
    demand: [{ cluster: 'c*', times: 2 }],
    options: { sharing: 'off' },
  }),
};

/** Changes that match nothing in the fleet below. */
const FOUND_NOTHING: Readonly<Record<string, readonly string[]>> = {
  'without-spot': ['without[0]'],
  'without-provider': ['without[0]'],
};

const INPUT = anInput(
  [aMachine('m-1', MachineState.Speculative), aMachine('m-2', MachineState.Speculative)],
  [aNeed({ aggregate: resources({ cpu: 4 }), minUnit: resources({ cpu: 4 }) })],
);

describe('the what-if box', () => {
  const places = [{}, { cluster: 'c1' }, { need: 'c1/1', cluster: 'c1' }];
  const questions = CHANGES.flatMap(({ name }) =>
    places.flatMap((about) => [false, true].map((settle) => [name, about, settle] as const)),
  );

  it.each(questions)(
    'given the question %s on the page of %j, settled: %s, then the engine answers it in sentences',
    (name, about, settle) => {
      const question = questionOf(name, VALUES, about);
      const request = validate(WHAT_IF_REQUEST, { ...(question as object), settle });
      if (!request.ok) throw new Error(JSON.stringify(request.problems));
      const answer: Shown = whatIfOn(INPUT, request.value, ({ cluster }) => `${cluster}/1`);
      expect(answer.unmatched).toEqual(FOUND_NOTHING[name] ?? []);
      const texts = [
        ...answerTexts(answer),
        ...answerLists(answer).flatMap(({ items }) => items.map(({ text }) => text)),
      ];
      expect(texts.join(' ')).toContain('It would cost');
      expect(texts.join(' ')).not.toMatch(/undefined|NaN|\[object/);
      expect(answer.settled !== null).toBe(settle);
    },
  );

  it('given a choice of a field, then the engine knows it', () => {
    for (const { name, fields } of CHANGES)
      for (const { name: field, choices = [] } of fields)
        for (const choice of choices)
          expect(validate(WHAT_IF_REQUEST, questionOf(name, { [field]: choice }, {})).ok, choice).toBe(true);
  });

  it('given a machine that is gone, then the page shows the actions that are no longer taken for it', () => {
    const question = questionOf('without-instanceType', VALUES, {});
    const request = validate(WHAT_IF_REQUEST, question);
    if (!request.ok) throw new Error(JSON.stringify(request.problems));
    const lists = answerLists(whatIfOn(INPUT, request.value, ({ cluster }) => `${cluster}/1`));
    expect(lists.map(({ title }) => title)).toEqual([
      'Needs that would no longer be met',
      'Actions that would no longer be taken',
    ]);
  });
});
