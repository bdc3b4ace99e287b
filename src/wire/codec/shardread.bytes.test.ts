// shardread.proto byte by byte: field numbers and wire types, compared with the contract, not with generated code.

import { describe, expect, test } from 'vitest';
import { entry, expectOnWire, len, messageNames, num } from '../../../testing/support/wire-bytes.ts';
import * as gen from '../gen/bigfleet/v1alpha1/shardread.ts';

const need = gen.NeedView.decode(len(1, num(3, 9))).need;

const cases = {
  InspectNeedsRequest: () =>
    expectOnWire(gen.InspectNeedsRequest, [len(1, 'c1'), num(2, 50)], { clusterId: 'c1', limit: 50 }),
  InspectNeedsResponse: () => {
    expectOnWire(gen.InspectNeedsResponse, [len(1, num(1, 4))], {
      frame: { $case: 'header', value: { cycle: 4n, computedAtUnixNanos: 0n, totalNeeds: 0 } },
    });
    expectOnWire(gen.InspectNeedsResponse, [len(2, len(2, 'c1'))], {
      frame: { $case: 'need', value: gen.NeedView.decode(len(2, 'c1')) },
    });
  },
  InspectNeedsHeader: () =>
    expectOnWire(gen.InspectNeedsHeader, [num(1, 4), num(2, 5), num(3, 6)], {
      cycle: 4n,
      computedAtUnixNanos: 5n,
      totalNeeds: 6,
    }),
  NeedView: () => {
    expect(need?.priority).toBe(9);
    expectOnWire(
      gen.NeedView,
      [
        len(1, num(3, 9)),
        len(2, 'c1'),
        num(3, 103),
        len(4, 'fingerprint'),
        num(5, 1),
        len(6, entry(1, 'cpu', '6')),
        num(7, 107),
        num(8, 108),
        num(9, 109),
        len(10, 'rack-7'),
        num(11, 1),
        num(12, 1),
        num(13, 113),
        num(14, 114),
        num(15, 4),
        len(16, num(1, 1), num(2, 2), num(3, 3), num(4, 1)),
        len(17, num(1, 5), len(2, entry(1, 'cpu', '17'))),
        len(18, len(1, 'rack-8'), num(2, 900), num(3, 1)),
      ],
      {
        need,
        clusterId: 'c1',
        arrivalUnixNanos: 103n,
        profileFingerprint: 'fingerprint',
        satisfied: true,
        residualDeficit: { resources: new Map([['cpu', '6']]) },
        claimedMachineCount: 107,
        bootstrapCount: 108,
        provisionCount: 109,
        sameDomain: 'rack-7',
        sameSatisfiable: true,
        acquisitionParked: true,
        parkedAgeCycles: 113,
        ageCyclesUnmet: 114,
        unmetReason: 4,
        matchingSupply: { idle: 1, configured: 2, speculative: 3, capped: true },
        preemption: { victimsFound: 5, capacityFreed: { resources: new Map([['cpu', '17']]) } },
        sameCandidates: [{ domain: 'rack-8', coveragePerMille: 900, satisfiable: true }],
      },
    );
  },
  MatchingSupply: () =>
    expectOnWire(gen.MatchingSupply, [num(1, 1), num(2, 2), num(3, 3), num(4, 1)], {
      idle: 1,
      configured: 2,
      speculative: 3,
      capped: true,
    }),
  PreemptionSummary: () =>
    expectOnWire(gen.PreemptionSummary, [num(1, 5), len(2, entry(1, 'cpu', '17'))], {
      victimsFound: 5,
      capacityFreed: { resources: new Map([['cpu', '17']]) },
    }),
  DomainCoverage: () =>
    expectOnWire(gen.DomainCoverage, [len(1, 'rack-8'), num(2, 900), num(3, 1)], {
      domain: 'rack-8',
      coveragePerMille: 900,
      satisfiable: true,
    }),
};

describe('the encoding of shardread.proto', () => {
  test.each(Object.entries(cases))('given %s, then its fields match the contract', (_name, check) => check());

  test('given all messages, then each has a case above', () => {
    expect(Object.keys(cases).sort()).toEqual(messageNames(gen));
  });

  // The values above do not distinguish these three booleans, so each is sent alone here.
  test.each([
    [5, 'satisfied'],
    [11, 'sameSatisfiable'],
    [12, 'acquisitionParked'],
  ] as const)('given field %i alone, then only %s is set', (number, name) => {
    const none = { satisfied: false, sameSatisfiable: false, acquisitionParked: false };
    expect(gen.NeedView.decode(num(number, 1))).toMatchObject({ ...none, [name]: true });
  });

  test('given all enums, then their numbers are those of the contract', () => {
    expect(gen.UnmetReason).toEqual({
      UNMET_REASON_UNSPECIFIED: 0,
      UNMET_REASON_PRIORITY_STARVED: 1,
      UNMET_REASON_NO_MATCHING_SUPPLY: 2,
      UNMET_REASON_TOPOLOGY_UNSATISFIABLE: 3,
      UNMET_REASON_PREEMPTION_EXHAUSTED: 4,
    });
  });
});
