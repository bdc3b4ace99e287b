import { describe, expect, it } from 'vitest';
import {
  CapacityType,
  DEFAULT_ECONOMY_OPTIONS,
  MachineState,
  Operator,
  type Problem,
  type Result,
  SHARED_OPTIONS,
  WhenUnsatisfiable,
} from '../model/index.ts';
import { parseScenario, readScenario, type Scenario } from './scenario.ts';
import { writeScenario } from './scenario-write.ts';

const NOW = '2026-01-01T00:00:00Z';
const NOW_MS = Date.UTC(2026, 0, 1);

function accepted(result: Result<Scenario>): Scenario {
  if (!result.ok) throw new Error(result.problems.map((p) => `${p.path}: ${p.message}`).join('\n'));
  return result.value;
}

function problemsOf(result: Result<Scenario>): readonly Problem[] {
  return result.ok ? [] : result.problems;
}

/** Problems as `path code`, which is what a caller relies on. */
function refusals(value: unknown): readonly string[] {
  return problemsOf(readScenario(value)).map(({ path, code }) => `${path} ${code}`);
}

const FULL = {
  now: NOW,
  options: {
    readyClusters: ['c1'],
    retiring: ['m-1'],
    canBind: { c1: true, c2: false },
    connected: ['c2'],
    retries: 3,
    workers: 4,
    releaseHolds: { ON_DEMAND: 300 },
    weights: { drainSpeed: 0.5 },
    sharing: 'on',
    reclaimHold: '10m',
    poolOrder: 'coverage',
    accelerators: { order: 'last', ignore: ['example.com/fuse'] },
  },
  machines: [
    {
      id: 'm1',
      state: 'CONFIGURED',
      instanceType: 'm6i.large',
      zone: 'a',
      capacityType: 'ON_DEMAND',
      pricePerHour: 1.5,
      interruptionProbability: 0.05,
      resources: { cpu: '16' },
      allocatable: { cpu: '15500m', memory: '0' },
      labels: { rack: 'r1', 'example.com/empty': '' },
      held: true,
      host: { provider: 'p', ref: 'h1' },
      cluster: 'c1',
      assigned: {
        priority: 100,
        interruptionPenalty: 'inf',
        reclamationPenalty: 2.5,
        fingerprint: 'f',
        group: 'g',
      },
      drainSeconds: 12,
      unclaimedSince: '2025-12-31T23:00:00Z',
      use: 'IN_USE',
    },
    {
      id: 'm2',
      state: 'IDLE',
      idleSince: '2025-12-31T23:00:00.250Z',
      target: { cluster: 'c1', fingerprint: 'f', group: 'g' },
    },
    { id: 'm3', state: 'SPECULATIVE', capacityType: 'SPOT' },
    { id: 'm4', state: 'FAILED', lastError: 'no route' },
    { id: 'm5', state: 'CONFIGURING', assigned: {} },
  ],
  needs: [
    {
      cluster: 'c1',
      priority: -7,
      aggregateResources: { cpu: '40', memory: '16Gi', 'nvidia.com/gpu': '8' },
      minUnit: { cpu: '0.5' },
      requirements: [
        { key: 'topology.kubernetes.io/zone', operator: 'IN', values: ['a', 'b'] },
        { key: 'rack', operator: 'SAME' },
      ],
      spread: [{ topologyKey: 'rack', maxSkew: 2, whenUnsatisfiable: 'DO_NOT_SCHEDULE' }],
      interruptionPenalty: 8,
      reclamationPenaltyBucket: 27,
      group: 'team',
      firstSeen: '2025-12-01T00:00:00Z',
    },
  ],
};

describe('the options of a scenario about sharing and holds', () => {
  const optionsOf = (options: unknown) => accepted(readScenario({ now: NOW, options })).input.options;

  it('given none of them, then they have their defaults', () => {
    expect(optionsOf({})).toMatchObject(DEFAULT_ECONOMY_OPTIONS);
  });

  it('given the reclaim hold as seconds or as a duration, then it is read in seconds', () => {
    expect([90, '90s', '1.5m', 0].map((hold) => optionsOf({ reclaimHold: hold }).reclaimHoldSeconds)).toEqual(
      [90, 90, 90, 0],
    );
  });

  it('given the order of accelerators alone, then no resource is ignored', () => {
    expect(optionsOf({ accelerators: 'last' })).toMatchObject({
      accelerators: 'last',
      ignoredAccelerators: new Set(),
    });
  });

  it('given a budget for purchases in dollars, then it is read in micro-dollars', () => {
    expect(optionsOf({})).not.toHaveProperty('purchaseBudget');
    const purchaseBudget = { shard: 0.1, clusters: { web: -2.000001 } };
    expect(optionsOf({ purchaseBudget }).purchaseBudget).toEqual({
      shard: 100_000,
      clusters: new Map([['web', -2_000_001]]),
    });
    expect(optionsOf({ purchaseBudget: {} }).purchaseBudget?.shard).toBe(Number.POSITIVE_INFINITY);
    expect(
      problemsOf(readScenario({ now: NOW, options: { purchaseBudget: { shard: 'all' } } })),
    ).toHaveLength(1);
  });

  it('given wrong values, then each is refused with what is expected', () => {
    const options = {
      sharing: 'maybe',
      reclaimHold: '10 minutes',
      poolOrder: 7,
      accelerators: { order: 'first', ignore: ['a', 5], skip: [] },
    };
    expect(
      problemsOf(readScenario({ now: NOW, options })).map(({ path, message }) => `${path}: ${message}`),
    ).toEqual([
      'options.sharing: Expected on or off, found "maybe".',
      'options.reclaimHold: Expected seconds of at least 0 or a duration such as 10m, found "10 minutes".',
      'options.poolOrder: Expected coverage or price, found the number 7.',
      'options.accelerators.order: Expected last or by-price, found "first".',
      'options.accelerators.ignore[1]: Expected text, found the number 5. Write "5" in quotes.',
      expect.stringContaining('options.accelerators.skip: '),
    ]);
  });
});

describe('reading a scenario', () => {
  it('given every field, then each is read', () => {
    const { input, engine } = accepted(readScenario(FULL));
    const [machine, idle] = input.machines;
    expect(input.nowMs).toBe(NOW_MS);
    expect(engine).toEqual({ retries: 3, workers: 4 });
    expect(input.options).toEqual({
      readyClusters: new Set(['c1']),
      retiring: new Set(['m-1']),
      cannotBind: new Set(['c2']),
      connected: new Set(['c2']),
      releaseHoldSeconds: new Map([[CapacityType.OnDemand, 300]]),
      weights: { priority: 1, drainSpeed: 0.5, interruption: 0.1, reclamation: 0.1 },
      ...SHARED_OPTIONS,
      ignoredAccelerators: new Set(['example.com/fuse']),
    });
    expect(machine).toEqual({
      id: 'm1',
      state: MachineState.Configured,
      host: { provider: 'p', ref: 'h1' },
      cluster: 'c1',
      instanceType: 'm6i.large',
      zone: 'a',
      capacityType: CapacityType.OnDemand,
      pricePerHour: 1.5,
      interruptionProbability: 0.05,
      resources: new Map([['cpu', 16_000]]),
      allocatable: new Map([
        ['cpu', 15_500],
        ['memory', 0],
      ]),
      labels: new Map([
        ['rack', 'r1'],
        ['example.com/empty', ''],
      ]),
      lastError: '',
      stamp: {
        priority: 100,
        interruptionPenaltyDollars: Number.POSITIVE_INFINITY,
        reclamationPenaltyDollars: 2.5,
        fingerprint: 'f',
        group: 'g',
      },
      target: null,
      blocked: true,
      idleSinceMs: null,
      drainSeconds: 12,
      unclaimedSinceMs: NOW_MS - 3_600_000,
      use: 'in-use',
    });
    expect(idle).toMatchObject({ idleSinceMs: NOW_MS - 3_600_000 + 250, target: { group: 'g' } });
    const [need] = input.needs;
    expect(need?.profile).toMatchObject({ priority: -7, interruptionBucket: 6, reclamationBucket: 27 });
    expect(need?.aggregate).toEqual(
      new Map([
        ['cpu', 40_000],
        ['memory', 2 ** 34],
        ['nvidia.com/gpu', 8],
      ]),
    );
    expect(need).toMatchObject({ cluster: 'c1', group: 'team', firstSeenMs: Date.UTC(2025, 11, 1) });
  });

  it('given absent fields, then they have the defaults of the wire', () => {
    const { input, engine } = accepted(
      readScenario({
        now: 5,
        machines: [
          { id: 'a', state: 'idle' },
          { id: 'b', state: 'speculative' },
          { id: 'c', state: 'configuring', assigned: { fingerprint: 'f' } },
        ],
        needs: [{ cluster: 'c' }],
      }),
    );
    expect(input.nowMs).toBe(5);
    expect(engine).toEqual({ retries: 10, workers: 1 });
    expect(input.options.readyClusters).toBeNull();
    expect(input.options.releaseHoldSeconds).toEqual(
      new Map([
        [CapacityType.OnDemand, 600],
        [CapacityType.Spot, 60],
      ]),
    );
    expect(input.machines[0]).toMatchObject({
      host: { ref: 'a' },
      stamp: null,
      target: null,
      idleSinceMs: null,
    });
    expect(input.machines[1]?.host).toBeNull();
    expect(input.machines[2]?.stamp).toMatchObject({ priority: null, interruptionPenaltyDollars: 0 });
    expect(input.needs[0]).toMatchObject({ group: '', firstSeenMs: 0, aggregate: new Map() });
    expect(input.needs[0]?.profile).toMatchObject({
      priority: 0,
      interruptionBucket: 0,
      reclamationBucket: 0,
    });
  });

  it.each(['IDLE', 'idle', 'Idle', 'MACHINE_STATE_IDLE', 'machine_state_idle'])(
    'given the state %s, then it is known',
    (state) => {
      const { input } = accepted(readScenario({ now: NOW, machines: [{ id: 'a', state }] }));
      expect(input.machines[0]?.state).toBe(MachineState.Idle);
    },
  );

  it.each([
    ['NotIn', Operator.NotIn],
    ['NOT_IN', Operator.NotIn],
    ['OPERATOR_NOT_IN', Operator.NotIn],
    ['In', Operator.In],
    ['same', Operator.Same],
    ['DoesNotExist', Operator.DoesNotExist],
  ])('given the operator %s, then it is known', (operator, expected) => {
    const needs = [{ cluster: 'c', requirements: [{ key: 'k', operator }] }];
    const { input } = accepted(readScenario({ now: NOW, needs }));
    expect(input.needs[0]?.profile.requirements[0]?.operator).toBe(expected);
  });

  it.each(['DO_NOT_SCHEDULE', 'DoNotSchedule', 'WHEN_UNSATISFIABLE_DO_NOT_SCHEDULE'])(
    'given %s, then it is known',
    (when) => {
      const needs = [{ cluster: 'c', spread: [{ topologyKey: 'k', whenUnsatisfiable: when }] }];
      const { input } = accepted(readScenario({ now: NOW, needs }));
      expect(input.needs[0]?.profile.spread[0]?.whenUnsatisfiable).toBe(WhenUnsatisfiable.DoNotSchedule);
    },
  );

  it.each([
    [{ interruptionPenalty: 0 }, 1],
    [{ interruptionPenalty: -3 }, 1],
    [{ interruptionPenalty: 8 }, 6],
    [{ interruptionPenalty: 9e9 }, 27],
    [{ interruptionPenalty: 'Infinity' }, 27],
    [{ interruptionPenaltyBucket: 8 }, 8],
    [{ interruptionPenaltyBucket: 'PENALTY_BUCKET_8' }, 6],
    [{ interruptionPenaltyBucket: 'PINNED' }, 27],
    [{ interruptionPenaltyBucket: 'half_dollar' }, 2],
    [{ interruptionPenaltyBucket: 'PENALTY_BUCKET_8388608' }, 26],
  ])('given the penalty %j, then it is in bucket %d', (penalty, bucket) => {
    const { input } = accepted(readScenario({ now: NOW, needs: [{ cluster: 'c', ...penalty }] }));
    expect(input.needs[0]?.profile.interruptionBucket).toBe(bucket);
  });

  it('given fractions and equal keys, then demand is rounded up, supply down, and the Needs are merged', () => {
    const { input } = accepted(
      readScenario({
        now: NOW,
        machines: [{ id: 'a', state: 'IDLE', resources: { cpu: '0.0015', pods: '1.5' } }],
        needs: [
          { cluster: 'c', aggregateResources: { cpu: '0.0015', pods: 1.5 }, minUnit: { cpu: 1 } },
          { cluster: 'c', aggregateResources: { cpu: 2 }, minUnit: { cpu: 2 } },
        ],
      }),
    );
    expect(input.machines[0]?.resources).toEqual(
      new Map([
        ['cpu', 1],
        ['pods', 1],
      ]),
    );
    expect(input.needs).toHaveLength(1);
    expect(input.needs[0]?.aggregate).toEqual(
      new Map([
        ['cpu', 2002],
        ['pods', 2],
      ]),
    );
    expect(input.needs[0]?.minUnit).toEqual(new Map([['cpu', 2000]]));
  });

  it('given a time with offset and fraction, then it is read to the millisecond', () => {
    const { input } = accepted(readScenario({ now: '2026-01-01T02:00:00.1239+02:00' }));
    expect(input.nowMs).toBe(NOW_MS + 123);
  });
});

describe('a scenario with long lists, which compiled schemas read', () => {
  const many = <T extends object>(record: T, change: (i: number) => object) =>
    Array.from({ length: 1500 }, (_, i) => ({ ...record, ...change(i) }));

  it('given valid records, then they are read like those of a short list', () => {
    const { input: short } = accepted(readScenario(FULL));
    const machines = FULL.machines.flatMap((machine) => many(machine, (i) => ({ id: `${machine.id}-${i}` })));
    const needs = many(FULL.needs[0]!, (i) => ({ group: `team-${i}` }));
    const { input } = accepted(readScenario({ ...FULL, machines, needs }));
    expect(input.machines).toHaveLength(5 * 1500);
    for (const [i, machine] of short.machines.entries()) {
      const { id, host } = input.machines[i * 1500 + 7]!;
      expect(input.machines[i * 1500 + 7]).toEqual({ ...machine, id, host });
    }
    expect(input.needs[9]).toMatchObject({ ...short.needs[0], group: input.needs[9]?.group });
  });

  it('given an invalid record, then its problems are those of a short list', () => {
    const wrong = { id: 'x', state: 'IDLE', resources: { cpu: 'much' }, pricePerHour: -1, zon: 'a' };
    const machines = many({ state: 'IDLE' }, (i) => (i === 1200 ? wrong : { id: `m${i}` }));
    const needs = many({ cluster: 'c' }, (i) => (i === 3 ? { priority: 'high' } : { group: `g${i}` }));
    expect(refusals({ now: NOW, machines, needs })).toEqual([
      'machines[1200].resources.cpu BF_QUANTITY_SYNTAX',
      'machines[1200].pricePerHour BF_MACHINE_PRICE',
      'machines[1200].zon BF_INPUT_INVALID',
      'needs[3].priority BF_INPUT_INVALID',
    ]);
  });
});

describe('refusing a scenario', () => {
  it('given many mistakes, then all are reported in order, each with its path', () => {
    const value = {
      now: '2026-02-30T00:00:00Z',
      nmachines: [],
      options: {
        retries: -1,
        workers: 1.5,
        canBind: { c1: 'no' },
        releaseHolds: { RESERVED: 60, SPOT: -1 },
        weight: {},
      },
      machines: [
        { id: 'a', state: 'CONFIGURED', resources: { cpu: 'x' }, pricePerHour: -1 },
        { id: 'a', state: 'SPECULATIVE', host: { provider: 'p', ref: 'r' }, labels: { rack: 7 } },
        { id: 'b', state: 'RUNNING', capacityType: 'LEASED' },
        { id: 'c', state: 'FAILED' },
        { state: 'IDLE', assigned: { prio: 1 }, target: {} },
        { id: 'd' },
      ],
      needs: [
        { aggregateResources: { cpu: '-1', memory: '9Ei' }, priority: 2 ** 31 },
        { cluster: 'c', interruptionPenaltyBucket: 28, reclamationPenaltyBucket: '8' },
        { cluster: 'c', interruptionPenalty: 'much', requirements: [{ operator: 'LIKE', values: [1] }] },
        { cluster: 'c', spread: [{ maxSkew: 1, whenUnsatisfiable: 'maybe' }], firstSeen: 'today' },
      ],
    };
    expect(refusals(value)).toEqual([
      'now BF_INPUT_INVALID',
      'options.canBind.c1 BF_INPUT_INVALID',
      'options.releaseHolds.RESERVED BF_INPUT_INVALID',
      'options.releaseHolds.SPOT BF_INPUT_INVALID',
      'options.retries BF_INPUT_INVALID',
      'options.workers BF_INPUT_INVALID',
      'options.weight BF_INPUT_INVALID',
      'machines[0].resources.cpu BF_QUANTITY_SYNTAX',
      'machines[0].cluster BF_MACHINE_CLUSTER_MISSING',
      'machines[0].pricePerHour BF_MACHINE_PRICE',
      'machines[1].labels.rack BF_INPUT_INVALID',
      'machines[1].host BF_MACHINE_HOST_FORBIDDEN',
      'machines[1].id BF_INPUT_INVALID',
      'machines[2].state BF_MACHINE_STATE_UNKNOWN',
      'machines[2].capacityType BF_MACHINE_CAPACITY_TYPE_UNKNOWN',
      'machines[3].lastError BF_MACHINE_ERROR_MISSING',
      'machines[4].assigned.prio BF_INPUT_INVALID',
      'machines[4].target.cluster BF_CLUSTER_EMPTY',
      'machines[4].id BF_MACHINE_ID_EMPTY',
      'machines[5].state BF_MACHINE_STATE_UNSPECIFIED',
      'needs[0].cluster BF_CLUSTER_EMPTY',
      'needs[0].priority BF_INPUT_INVALID',
      'needs[0].aggregateResources.cpu BF_QUANTITY_NEGATIVE',
      'needs[0].aggregateResources.memory BF_QUANTITY_OVERFLOW',
      'needs[1].interruptionPenaltyBucket BF_BUCKET_RANGE',
      'needs[1].reclamationPenaltyBucket BF_BUCKET_RANGE',
      'needs[2].requirements[0].key BF_REQUIREMENT_KEY',
      'needs[2].requirements[0].operator BF_OPERATOR_UNKNOWN',
      'needs[2].requirements[0].values[0] BF_INPUT_INVALID',
      'needs[2].interruptionPenalty BF_PENALTY_NOT_A_NUMBER',
      'needs[3].spread[0].topologyKey BF_REQUIREMENT_KEY',
      'needs[3].spread[0].whenUnsatisfiable BF_INPUT_INVALID',
      'needs[3].firstSeen BF_INPUT_INVALID',
      'nmachines BF_INPUT_INVALID',
    ]);
  });

  it('given an unknown use of a machine, then the problem lists the known ones', () => {
    const problems = problemsOf(
      readScenario({ now: NOW, machines: [{ id: 'm', state: 'IDLE', use: 'busy' }] }),
    );
    expect(problems).toMatchObject([{ path: 'machines[0].use', code: 'BF_INPUT_INVALID' }]);
    expect(problems[0]!.message).toContain('known: empty, in-use, protected');
  });

  it('given an unknown field, then the problem lists the known ones', () => {
    const [problem] = problemsOf(readScenario({ now: NOW, needs: [{ cluster: 'c', aggregate: {} }] }));
    expect(problem?.message).toContain('aggregateResources');
  });

  it('given a name with dots or slashes, then the path has it in brackets', () => {
    const needs = [{ cluster: 'c', aggregateResources: { 'nvidia.com/gpu': true } }];
    expect(refusals({ now: NOW, needs })).toEqual([
      'needs[0].aggregateResources["nvidia.com/gpu"] BF_QUANTITY_SYNTAX',
    ]);
  });

  it('given no time or a penalty in two forms, then it is refused', () => {
    expect(refusals({})).toEqual(['now BF_INPUT_INVALID']);
    expect(
      refusals({
        now: NOW,
        needs: [{ cluster: 'c', interruptionPenalty: 1, interruptionPenaltyBucket: 1 }],
      }),
    ).toEqual(['needs[0].interruptionPenaltyBucket BF_INPUT_INVALID']);
  });

  it('given text for setAside, then it is refused', () => {
    const needs = [{ cluster: 'c', setAside: 'yes' }];
    expect(refusals({ now: NOW, needs })).toEqual(['needs[0].setAside BF_INPUT_INVALID']);
  });

  it.each([[null], [[]], ['text'], [7]])(
    'given %j instead of an object, then that is the only problem',
    (value) => {
      expect(refusals(value)).toEqual([' BF_INPUT_INVALID']);
    },
  );

  it('given text that is neither JSON nor YAML, then the problem has line and column', () => {
    const [problem] = problemsOf(parseScenario('{\n  "now": 1,\n  "needs": [}\n'));
    expect(problem).toMatchObject({ code: 'BF_INPUT_UNREADABLE', path: '' });
    expect(problem?.message).toMatch(/^Line 3, column 13: /);
    expect(problemsOf(parseScenario('now: 1\nnow: 2\n'))[0]?.message).toMatch(/^Line 2, column 1: /);
  });
});

describe('the text of a scenario', () => {
  it('given YAML with comments, anchors and merge keys, then it is read', () => {
    const text = `
# A small fleet.
now: 2026-01-01T00:00:00Z
machines:
  - &big { id: m1, state: idle, resources: { cpu: 16, memory: 64Gi } }
  - { <<: *big, id: m2, zone: a }
needs:
  - cluster: c1
    aggregateResources: { cpu: 20 }
    requirements: # none yet
`;
    const { input } = accepted(parseScenario(text));
    expect(input.nowMs).toBe(NOW_MS);
    expect(input.machines.map(({ id, zone }) => [id, zone])).toEqual([
      ['m1', ''],
      ['m2', 'a'],
    ]);
    expect(input.machines[1]?.resources).toEqual(
      new Map([
        ['cpu', 16_000],
        ['memory', 2 ** 36],
      ]),
    );
  });

  it('given a number where YAML needs quotes, then the problem suggests them', () => {
    const [problem] = problemsOf(
      parseScenario('now: 1\nmachines: [{ id: m, state: idle, labels: { rack: 1 } }]'),
    );
    expect(problem).toMatchObject({ path: 'machines[0].labels.rack' });
    expect(problem?.message).toContain('Write "1" in quotes');
  });

  it('given a scenario, when written and read, then the input is the same', () => {
    const { input, engine } = accepted(readScenario(FULL));
    expect(accepted(parseScenario(writeScenario(input, engine)))).toEqual({ input, engine });
  });

  it('given unusual input, when written and read, then it is the same: no holds, odd times, names like numbers', () => {
    const value = {
      now: -1,
      options: { readyClusters: [], releaseHolds: {} },
      machines: [{ id: '10', state: 'IDLE', idleSince: 0.5, labels: { __proto__x: '1', 9: 'nine' } }],
      needs: [{ cluster: '1', aggregateResources: { cpu: '1m', memory: 3 }, interruptionPenalty: 0 }],
    };
    const { input } = accepted(readScenario(value));
    expect(input.options.releaseHoldSeconds.size).toBe(0);
    expect(accepted(parseScenario(writeScenario(input))).input).toEqual(input);
  });
});
