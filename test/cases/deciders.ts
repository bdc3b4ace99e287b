// Engine and oracle as deciders: the tests of this folder run every case with each of them.

import { decide as engine } from '../../src/engine/index.ts';
import { fleetOf } from '../../src/fleet/index.ts';
import type { DecisionInput, Plan } from '../../src/model/index.ts';
import { decide as oracle } from '../../testing/oracle/oracle.ts';

export interface Decider {
  readonly name: string;
  readonly decide: (input: DecisionInput) => Plan;
}

export const DECIDERS: readonly Decider[] = [
  { name: 'oracle', decide: oracle },
  { name: 'engine', decide: (input) => engine(fleetOf(input), input.nowMs, input.options) },
];
