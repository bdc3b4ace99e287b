import { describe, expect, it } from 'vitest';
import { loadProfile } from '../../bench/profiles/load.ts';
import { WORKLOAD_NOW_MS } from '../../src/demo/workload/rows.ts';
import { decide } from '../../src/engine/index.ts';
import {
  type ActionKind,
  DEFAULT_SCORE_WEIGHTS,
  type DecisionOptions,
  UNSHARED_OPTIONS,
} from '../../src/model/index.ts';
import { type Beginning, Workload } from './workload.ts';
import type { ExpectedActions } from './workload-planted.ts';

const OPTIONS: DecisionOptions = {
  readyClusters: null,
  cannotBind: new Set(),
  retiring: new Set(),
  releaseHoldSeconds: new Map(),
  weights: DEFAULT_SCORE_WEIGHTS,
  ...UNSHARED_OPTIONS,
};

/** The actions of one cycle on a fleet, and the expected ones. */
function outcome(name: string, seed: number, beginning: Beginning): [ExpectedActions, ExpectedActions] {
  const workload = new Workload(loadProfile(name), seed, beginning);
  const { actions, verdicts } = decide(workload.newFleet(), WORKLOAD_NOW_MS, OPTIONS);
  const count = (kind: ActionKind) => actions.filter((action) => action.kind === kind).length;
  const done: ExpectedActions = {
    bootstraps: count('Bootstrap'),
    provisions: count('Provision'),
    preempts: count('Preempt'),
    reclaims: count('Reclaim'),
    deletes: count('Delete'),
    unmet: verdicts.filter(({ satisfied }) => !satisfied).length,
  };
  return [done, workload.expected!];
}

describe('a quiet fleet', () => {
  it.each(['dev-50', 'dev-500', 'scaleway-50k', 'uber-5k', 'uber-5k-racks'])(
    'given %s, then a cycle has no action',
    (name) => {
      const [done, expected] = outcome(name, 1, 'quiet');
      expect(done).toEqual(expected);
      expect(Object.values(done)).toEqual([0, 0, 0, 0, 0, 0]);
    },
  );
});

describe('planted changes', () => {
  it.each([
    ['dev-50', 1],
    ['dev-500', 1],
    ['scaleway-50k', 1],
    ['uber-5k', 1],
    ['uber-5k', 2],
    ['uber-5k', 3],
    ['uber-5k', 4],
    ['uber-5k-racks', 1],
  ] as const)(
    'given %s with seed %i, then the actions are exactly those of the planted changes',
    (name, seed) => {
      const [done, expected] = outcome(name, seed, 'full');
      expect(done).toEqual(expected);
    },
  );

  it('given the realistic ladder, then every kind of change is planted', () => {
    const expected = new Workload(loadProfile('uber-5k'), 1, 'full').expected!;
    expect(expected.bootstraps).toBeGreaterThanOrEqual(15);
    expect(expected.provisions).toBeGreaterThanOrEqual(1);
    expect(expected.preempts).toBe(5);
    expect(expected.reclaims).toBe(20);
    expect(expected.unmet).toBeGreaterThanOrEqual(expected.preempts + 5);
  });
});
