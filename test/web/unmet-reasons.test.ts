// The filter of the page Needs against the reasons of the engine, which pages do not import.

import { expect, it } from 'vitest';
import * as model from '../../src/model/index.ts';
import { UNMET_REASONS } from '../../src/web/unmet-reasons.ts';

it('given the reasons of the engine, then the page has each as a filter', () => {
  expect(UNMET_REASONS).toEqual(model.UNMET_REASONS);
});
