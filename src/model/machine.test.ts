import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ErrorCode } from './errors.ts';
import {
  CapacityType,
  effectiveAllocatable,
  hasHost,
  isBound,
  isCapacityType,
  isMachineState,
  type Machine,
  MachineState,
  machineProblems,
  stateName,
} from './machine.ts';
import { NO_RESOURCES, type ResourceVector } from './resources.ts';

const { Speculative, Creating, Idle, Configuring, Configured, Draining, Deleting, Failed } = MachineState;
const STATES = Object.values(MachineState);
const HOST = { provider: 'aws', ref: 'i-1' };

/** A valid machine in a state. */
function machine(state: MachineState, change: Partial<Machine> = {}): Machine {
  const hostless = state === Speculative || state === Creating;
  const bound = state === Configuring || state === Configured || state === Draining;
  return {
    id: 'm-1',
    state,
    host: hostless ? null : HOST,
    cluster: bound ? 'c' : '',
    instanceType: 'm5.large',
    zone: 'z1',
    capacityType: CapacityType.OnDemand,
    pricePerHour: 1,
    interruptionProbability: 0,
    resources: NO_RESOURCES,
    allocatable: NO_RESOURCES,
    labels: new Map(),
    lastError: state === Failed ? 'it broke' : '',
    stamp: null,
    target: null,
    ...change,
  };
}

function codes(m: Machine): ErrorCode[] {
  return machineProblems(m).map((problem) => problem.code);
}

describe('effectiveAllocatable', () => {
  const resources: ResourceVector = new Map([
    ['cpu', 1000],
    ['memory', 4 * 2 ** 30],
  ]);

  // Case 19 of the specification.
  it('given an allocatable with any entry, then it replaces all base resources, not single dimensions', () => {
    const allocatable: ResourceVector = new Map([['cpu', 16_000]]);
    expect(effectiveAllocatable({ allocatable, resources })).toEqual(new Map([['cpu', 16_000]]));
    expect(effectiveAllocatable({ allocatable: new Map([['cpu', 0]]), resources })).toEqual(
      new Map([['cpu', 0]]),
    );
  });

  // Case 19 of the specification.
  it('given an empty allocatable, then the base resources are used', () => {
    expect(effectiveAllocatable({ allocatable: NO_RESOURCES, resources })).toBe(resources);
  });
});

describe('machineProblems', () => {
  it.each(STATES.map((state) => [stateName(state), state] as const))(
    'given a valid %s machine, then there are no problems',
    (_, state) => {
      expect(machineProblems(machine(state))).toEqual([]);
    },
  );

  // Which of no host, a host, no cluster and a cluster each state refuses, by error code; '' where it is valid.
  it.each<[MachineState, ErrorCode | '', ErrorCode | '', ErrorCode | '', ErrorCode | '']>([
    [Speculative, '', 'BF_MACHINE_HOST_FORBIDDEN', '', 'BF_MACHINE_CLUSTER_FORBIDDEN'],
    [Creating, '', 'BF_MACHINE_HOST_FORBIDDEN', '', 'BF_MACHINE_CLUSTER_FORBIDDEN'],
    [Idle, 'BF_MACHINE_HOST_MISSING', '', '', 'BF_MACHINE_CLUSTER_FORBIDDEN'],
    [Configuring, 'BF_MACHINE_HOST_MISSING', '', '', ''],
    [Configured, 'BF_MACHINE_HOST_MISSING', '', 'BF_MACHINE_CLUSTER_MISSING', ''],
    [Draining, 'BF_MACHINE_HOST_MISSING', '', 'BF_MACHINE_CLUSTER_MISSING', ''],
    [Deleting, 'BF_MACHINE_HOST_MISSING', '', '', 'BF_MACHINE_CLUSTER_FORBIDDEN'],
    [Failed, '', '', '', ''],
  ])(
    'given state %d, then the refusal of no host is %j, of a host %j, of no cluster %j, of a cluster %j',
    (state, noHost, host, noCluster, cluster) => {
      const listed = (...wanted: (ErrorCode | '')[]): string[] => wanted.filter((code) => code !== '');
      expect(codes(machine(state, { host: null }))).toEqual(listed(noHost));
      expect(codes(machine(state, { host: HOST }))).toEqual(listed(host));
      expect(codes(machine(state, { cluster: '' }))).toEqual(listed(noCluster));
      expect(codes(machine(state, { cluster: 'c' }))).toEqual(listed(cluster));
      expect(codes(machine(state, { host: null, cluster: 'c' }))).toEqual(listed(noHost, cluster));
    },
  );

  it.each<[string, Partial<Machine>, ErrorCode, string]>([
    ['no id', { id: '' }, 'BF_MACHINE_ID_EMPTY', 'id'],
    ['a negative price', { pricePerHour: -0.01 }, 'BF_MACHINE_PRICE', 'pricePerHour'],
    ['an infinite price', { pricePerHour: Number.POSITIVE_INFINITY }, 'BF_MACHINE_PRICE', 'pricePerHour'],
    ['no number as price', { pricePerHour: Number.NaN }, 'BF_MACHINE_PRICE', 'pricePerHour'],
    [
      'a probability below 0',
      { interruptionProbability: -0.1 },
      'BF_MACHINE_PROBABILITY',
      'interruptionProbability',
    ],
    [
      'a probability above 1',
      { interruptionProbability: 1.1 },
      'BF_MACHINE_PROBABILITY',
      'interruptionProbability',
    ],
    [
      'no number as probability',
      { interruptionProbability: Number.NaN },
      'BF_MACHINE_PROBABILITY',
      'interruptionProbability',
    ],
  ])('given %s, then it is refused in every state', (_, change, code, field) => {
    for (const state of STATES) {
      const problems = machineProblems(machine(state, change), 'machines[2]');
      expect(problems.map((problem) => [problem.code, problem.path])).toEqual([
        [code, `machines[2].${field}`],
      ]);
      expect(problems[0]?.message).toMatch(/^[A-Z].*\.$/);
    }
  });

  it('given prices and probabilities at the ends of their ranges, then they are valid', () => {
    for (const change of [
      { pricePerHour: 0 },
      { interruptionProbability: 1 },
      { interruptionProbability: 0 },
    ]) {
      expect(codes(machine(Idle, change))).toEqual([]);
    }
  });

  it('given a Failed machine without an error text, then it is refused; given another state, then an error text is optional', () => {
    expect(codes(machine(Failed, { lastError: '' }))).toEqual(['BF_MACHINE_ERROR_MISSING']);
    expect(codes(machine(Idle, { lastError: 'old news' }))).toEqual([]);
  });

  it('given several problems and no path, then all are listed by their field names', () => {
    const broken = machine(Configured, {
      id: '',
      host: null,
      cluster: '',
      pricePerHour: -1,
      interruptionProbability: 2,
    });
    expect(machineProblems(broken).map((problem) => problem.path)).toEqual([
      'id',
      'host',
      'cluster',
      'pricePerHour',
      'interruptionProbability',
    ]);
  });

  it('given any price and probability in range, then they are valid in every state', () => {
    const price = fc.double({ min: 0, max: Number.MAX_VALUE, noNaN: true });
    const probability = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(
        fc.constantFrom(...STATES),
        price,
        probability,
        (state, pricePerHour, interruptionProbability) => {
          expect(codes(machine(state, { pricePerHour, interruptionProbability }))).toEqual([]);
        },
      ),
    );
  });
});

describe('machine states and capacity types', () => {
  it('have the numbers of the wire', () => {
    expect(STATES).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect([Speculative, Idle, Configured, Failed]).toEqual([1, 3, 5, 8]);
    expect(CapacityType).toEqual({ Unspecified: 0, BareMetal: 1, Reserved: 2, OnDemand: 3, Spot: 4 });
  });

  it('recognize their own numbers; 0 (unspecified) is a capacity type but not a state', () => {
    for (let n = -1; n <= 9; n++) expect(isMachineState(n)).toBe(n >= 1 && n <= 8);
    for (let n = -1; n <= 6; n++) expect(isCapacityType(n)).toBe(n >= 0 && n <= 4);
    for (const n of [1.5, Number.NaN]) expect(isMachineState(n) || isCapacityType(n)).toBe(false);
  });

  it('given any state, then only Configuring and Configured are bound', () => {
    expect(STATES.filter(isBound)).toEqual([Configuring, Configured]);
  });

  it('given any state, then it determines whether there is a host, except that Failed depends on the record', () => {
    const host = { provider: 'p', ref: 'h' };
    const hosted = STATES.filter((state) => hasHost({ state, host }));
    expect(hosted).toEqual(STATES.filter((state) => state >= MachineState.Idle));
    expect(STATES.filter((state) => hasHost({ state, host: null }))).toEqual(
      hosted.filter((state) => state !== MachineState.Failed),
    );
  });

  it('have a name for every state', () => {
    expect(STATES.map(stateName)).toEqual(Object.keys(MachineState));
  });
});
