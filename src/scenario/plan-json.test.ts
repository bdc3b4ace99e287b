import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type DecisionInput, keyOf, type NeedKey, type Plan, type Verdict } from '../model/index.ts';
import { canonicalJson, planJson } from './plan-json.ts';
import { readScenario } from './scenario.ts';

function inputOf(value: object): DecisionInput {
  const result = readScenario({ now: 0, ...value });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.value.input;
}

const INPUT = inputOf({
  machines: [
    { id: '9', state: 'IDLE', pricePerHour: 0.1, interruptionProbability: 0.5, resources: { cpu: '4' } },
    { id: '10', state: 'SPECULATIVE', pricePerHour: 0.2, interruptionProbability: 0.25 },
    { id: 'old', state: 'IDLE', pricePerHour: 1, capacityType: 'SPOT' },
    { id: 'lost', state: 'FAILED', pricePerHour: 7, lastError: 'gone' },
    { id: 'kept', state: 'CONFIGURED', cluster: 'c1', pricePerHour: 0.3, interruptionProbability: 0.1 },
  ],
  needs: [
    { cluster: 'c1', priority: 5, aggregateResources: { cpu: 8 }, interruptionPenalty: 8 },
    { cluster: 'c1', priority: 1, aggregateResources: { cpu: '1500m', memory: '2Gi' } },
  ],
});
const [FIRST, SECOND] = INPUT.needs.map(keyOf) as [NeedKey, NeedKey];
const FOLD: NeedKey = { cluster: 'c1', fingerprint: 'f', group: 'fold:cpu=1' };

function verdict(key: NeedKey, changes: Partial<Verdict>): Verdict {
  return {
    key,
    priority: 5,
    foldedInto: null,
    satisfied: true,
    deficit: new Map(),
    claimed: [],
    shares: [],
    bootstraps: [],
    provisions: [],
    preempts: [],
    domain: null,
    satisfiable: null,
    candidates: [],
    unmet: null,
    ...changes,
  };
}

const PLAN: Plan = {
  actions: [
    action('Bootstrap', '9', FIRST),
    action('Provision', '10', FIRST),
    { ...action('Delete', 'old', null), cluster: '', reason: 'phase3.release' },
  ],
  verdicts: [
    verdict(FIRST, { claimed: ['9', '10'], bootstraps: ['9'], provisions: ['10'], foldedInto: FOLD }),
    verdict(SECOND, {
      satisfied: false,
      deficit: new Map([
        ['memory', 2 ** 31],
        ['cpu', 1500],
        ['pods', 0],
      ]),
      candidates: [{ domain: 'a', coverage: 5, worstCoverage: 5, satisfiable: false }],
      unmet: {
        reason: 'no-fitting-supply',
        matching: { idle: 1, speculative: 2, configured: 3 },
        fitting: { total: 4, failed: 3, blocked: 2, deleting: 1 },
        blocker: FIRST,
        extraSupply: { count: 2, like: '9' },
      },
    }),
  ],
  claims: new Map([
    ['9', FOLD],
    ['10', FIRST],
    ['kept', FIRST],
  ]),
  restamps: new Map([['kept', FIRST]]),
  retargets: new Map(),
  onHold: new Map(),
};

function action(
  kind: Plan['actions'][number]['kind'],
  machine: string,
  need: NeedKey | null,
): Plan['actions'][number] {
  return {
    kind,
    machine,
    cluster: 'c1',
    reason: 'phase1.idle',
    graceSeconds: 0,
    preemptorPriority: 0,
    need,
  };
}

describe('a plan as JSON', () => {
  it('given actions, then they are listed with all their fields', () => {
    expect(planJson(PLAN, INPUT).actions[0]).toEqual({
      kind: 'Bootstrap',
      machine: '9',
      cluster: 'c1',
      reason: 'phase1.idle',
      graceSeconds: 0,
      preemptorPriority: 0,
      need: FIRST,
    });
  });

  it('given a met Need of a fold, then it has no reason and names the fold', () => {
    const [met] = planJson(PLAN, INPUT).needs;
    expect(met).toEqual({
      ...FIRST,
      priority: 5,
      satisfied: true,
      deficit: {},
      claimed: ['9', '10'],
      bootstraps: ['9'],
      provisions: ['10'],
      preempts: [],
      domain: null,
      satisfiable: null,
      reason: null,
      foldedInto: FOLD,
    });
  });

  it('given an unmet Need, then it has its deficit as text and every detail', () => {
    const [, unmet] = planJson(PLAN, INPUT).needs;
    expect(unmet).toMatchObject({
      satisfied: false,
      deficit: { cpu: '1500m', memory: '2Gi' },
      reason: 'no-fitting-supply',
      wireReason: 2,
      matching: { idle: 1, speculative: 2, configured: 3 },
      blocker: FIRST,
      extraSupply: { count: 2, like: '9' },
      candidates: [{ domain: 'a' }],
    });
    expect(unmet).not.toHaveProperty('foldedInto');
  });

  it('given a plan, then the cost before and after it and the expected loss are summed', () => {
    // Hosts: 0.1 + 1 + 0.3. Bought 0.2, released 1. Loss: (0.5 + 0.25 + 0.1) × $8.
    expect(planJson(PLAN, INPUT).cost).toEqual({ before: 1.4, after: 0.6, risk: 6.8 });
  });

  it('given a pinned row, then it counts as the largest finite bucket, and as 0 at probability 0', () => {
    const pinned = inputOf({
      machines: [
        { id: 'a', state: 'IDLE', interruptionProbability: 0.5 },
        { id: 'b', state: 'IDLE' },
      ],
      needs: [{ cluster: 'c1', interruptionPenaltyBucket: 'PINNED' }],
    });
    const key = keyOf(pinned.needs[0]!);
    const claims = new Map([
      ['a', key],
      ['b', key],
    ]);
    const plan: Plan = { ...PLAN, actions: [], verdicts: [], claims, restamps: new Map() };
    expect(planJson(plan, pinned).cost.risk).toBe(4_194_304);
  });

  it('given plans that differ, then the digest differs if and only if a decision does', () => {
    const { digest, cost: _cost, ...decided } = planJson(PLAN, INPUT);
    expect(digest).toBe(createHash('sha256').update(canonicalJson(decided)).digest('hex'));
    const dearer = {
      ...INPUT,
      machines: INPUT.machines.map((machine) => ({ ...machine, pricePerHour: 9 })),
    };
    expect(planJson(PLAN, dearer).digest).toBe(digest);
    expect(planJson({ ...PLAN, restamps: new Map() }, INPUT).digest).not.toBe(digest);
  });
});

describe('what rows share, in a plan as JSON', () => {
  const shared: Plan = {
    ...PLAN,
    verdicts: [verdict(FIRST, { shares: [{ machine: '9', amount: new Map([['cpu', 1500]]) }] })],
    retargets: new Map([['drained', FIRST]]),
    onHold: new Map([['kept', 5]]),
  };

  it('given shares, new targets and machines on hold, then they are listed and part of the digest', () => {
    const json = planJson(shared, INPUT);
    expect(json).toMatchObject({
      needs: [{ shares: [{ machine: '9', amount: { cpu: '1500m' } }] }],
      retargets: { drained: FIRST },
      onHold: { kept: 5 },
    });
    for (const part of [{ verdicts: [verdict(FIRST, {})] }, { retargets: new Map() }, { onHold: new Map() }])
      expect(planJson({ ...shared, ...part }, INPUT).digest).not.toBe(json.digest);
  });

  it('given none of them, then no field mentions them', () => {
    const json = planJson(PLAN, INPUT);
    expect(json).not.toHaveProperty('retargets');
    expect(json).not.toHaveProperty('onHold');
    expect(json.needs[0]).not.toHaveProperty('shares');
  });
});

describe('canonical JSON', () => {
  it('given nested objects, then keys are sorted by their bytes at every depth, without white space', () => {
    const value = { b: [{ z: 1, a: null }], '9': 'x', '10': true, '\u{10000}': 1, '\uffff': 2 };
    expect(canonicalJson(value)).toBe('{"10":true,"9":"x","b":[{"a":null,"z":1}],"\uffff":2,"\u{10000}":1}');
  });
});
