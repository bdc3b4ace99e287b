import { describe, expect, it } from 'vitest';
import { aMachine, aNeed, anInput, resources } from '../../../testing/support/fleets.ts';
import { Fleet, fleetOf } from '../../fleet/index.ts';
import { keyOf, MAX_UNITS, MachineState, type Need } from '../../model/index.ts';
import { ShardReport } from '../../wire/gen/bigfleet/v1alpha1/coordinator.ts';
import { MAX_REPORTED, type ReportFacts, shardReport } from './report.ts';
import type { Shortfall } from './shortfalls.ts';

const FACTS: ReportFacts = {
  shard: 'shard-0',
  number: 3,
  nowMs: 1_700_000_000_123,
  epoch: 7,
  address: 'shard-0:7780',
  providerAddress: 'cloud:9000',
  acks: [{ instructionId: 'i1', outcome: 1, reason: '' }],
};

function short(need: Need, ageCycles = 1): Shortfall {
  return {
    key: keyOf(need),
    profile: need.profile,
    deficit: need.aggregate,
    reason: 'priority-starved',
    fitting: { total: 0, failed: 0, blocked: 0, deleting: 0 },
    ageCycles,
    isEscalated: false,
  };
}

describe('a shard report', () => {
  it('given a shard, then it has its identity, and survives the wire', () => {
    const report = shardReport(FACTS, new Fleet(), [short(aNeed())]);

    expect(report).toMatchObject({
      shardId: 'shard-0',
      cycle: 3n,
      timestampUnixNanos: 1_700_000_000_123_000_000n,
      shardEpoch: 7n,
      instructionAcks: FACTS.acks,
      shardAddress: 'shard-0:7780',
    });
    expect(ShardReport.decode(ShardReport.encode(report).finish())).toEqual(report);
  });

  it('given machines in all states, then they are counted by type and by zone', () => {
    const fleet = fleetOf(
      anInput(
        [
          aMachine('a', MachineState.Idle, { instanceType: 'large' }),
          aMachine('b', MachineState.Speculative, { zone: 'zb' }),
          aMachine('c', MachineState.Configured),
          aMachine('d', MachineState.Failed, { pricePerHour: 2 }),
        ],
        [],
      ),
    );

    expect(shardReport(FACTS, fleet, []).summary).toEqual({
      totalMachines: 4,
      freeMachines: 2,
      perInstanceTypeCounts: new Map([
        ['large', 1],
        ['standard', 3],
      ]),
      perZoneCounts: new Map([
        ['za', 3],
        ['zb', 1],
      ]),
      providerAddress: 'cloud:9000',
    });
  });

  it('given rows of a profile, then the missing amounts are summed, with the age of the oldest', () => {
    const shortfalls = [
      short(aNeed({ group: 'g1', interruptionBucket: 5 }), 2),
      short(aNeed({ cluster: 'c2', interruptionBucket: 5 }), 9),
    ];

    expect(shardReport(FACTS, new Fleet(), shortfalls).shortfalls).toEqual([
      {
        requirements: [],
        deficit: { resources: new Map([['cpu', '8m']]) },
        priority: 0,
        ageCycles: 9,
        interruptionPenaltyBucket: 5,
      },
    ]);
  });

  it('given more than a hundred profiles, then it has the worst: highest priority first, then oldest', () => {
    const many = Array.from({ length: 150 }, (_, i) => short(aNeed({ priority: i }), 1));
    const old = short(aNeed({ priority: 149, interruptionBucket: 3 }), 4);

    const { shortfalls } = shardReport(FACTS, new Fleet(), [...many, old]);

    expect(shortfalls).toHaveLength(MAX_REPORTED);
    expect(shortfalls.slice(0, 3).map(({ priority, ageCycles }) => [priority, ageCycles])).toEqual([
      [149, 4],
      [149, 1],
      [148, 1],
    ]);
  });

  it('given a sum beyond the range, then it is the largest number of the range', () => {
    const huge = { aggregate: resources({ memory: MAX_UNITS }) };
    const report = shardReport(FACTS, new Fleet(), [
      short(aNeed(huge)),
      short(aNeed({ ...huge, cluster: 'c2' })),
    ]);
    const single = shardReport(FACTS, new Fleet(), [short(aNeed(huge))]);

    expect(report.shortfalls).toEqual(single.shortfalls);
  });
});
