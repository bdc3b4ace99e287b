// The what-if box of the dashboard against what-if answers of the engine. The dashboard has types of its own for answers, since
// it knows no other room: here the compiler compares them, and every question of the box is asked.

import { describe, expect, it } from 'vitest';
import { MachineState } from '../../src/model/index.ts';
import { validate } from '../../src/runtime/validation.ts';
import { answerTexts, CHANGES, questionOf, type WhatIfAnswer as Shown } from '../../src/web/what-if-text.ts';
import { whatIfOn } from '../../src/whatif/index.ts';
import { WHAT_IF_REQUEST } from '../../src/whatif/request.ts';
import { aMachine, aNeed, anInput, resources } from '../../testing/support/fleets.ts';

/** A value that makes sense for each question. */
const VALUES: Readonly<Record<string, string>> = {
  'without-spot': '',
  'without-zone': 'za',
  'without-provider': 'fake',
  'spot-price': '2',
  demand: '1.5',
  priority: '1000',
  stock: '2:standard',
};

/** Changes that match nothing in the fleet below. */
const FOUND_NOTHING: Readonly<Record<string, readonly string[]>> = {
  'without-spot': ['without[0]'],
  'without-provider': ['without[0]'],
  'spot-price': ['prices[0]'],
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
      const question = questionOf(name, VALUES[name]!, about);
      const request = validate(WHAT_IF_REQUEST, { ...(question as object), settle });
      if (!request.ok) throw new Error(JSON.stringify(request.problems));
      const answer: Shown = whatIfOn(INPUT, request.value, ({ cluster }) => `${cluster}/1`);
      expect(answer.unmatched).toEqual(FOUND_NOTHING[name] ?? []);
      const texts = answerTexts(answer);
      expect(texts.join(' ')).toContain('It would cost');
      expect(texts.join(' ')).not.toMatch(/undefined|NaN/);
      expect(answer.settled !== null).toBe(settle);
    },
  );
});
