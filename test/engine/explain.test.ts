// The explanation of one Need: what was available when it was served, also when it is met.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { examine, explain } from '../../src/engine/index.ts';
import { fleetOf } from '../../src/fleet/index.ts';
import {
  keyOf,
  keyText,
  MachineState,
  type NeedKey,
  NO_REMAINDERS,
  OBSTACLE_CAUSES,
} from '../../src/model/index.ts';
import { obstacles, decide as oracle } from '../../testing/oracle/oracle.ts';
import {
  aMachine,
  aNeed,
  anInput,
  anyFleets,
  RACK_KEY,
  resources,
  same,
} from '../../testing/support/fleets.ts';

const NO_OBSTACLES = Object.fromEntries(OBSTACLE_CAUSES.map((cause) => [cause, 0]));

const NO_CLAIMANTS = { 'claimed-by-better': 0, 'claimed-by-equals': 0, 'claimed-by-worse': 0 };

describe('the explanation of a Need', () => {
  const { Configured, Idle } = MachineState;
  const inRack = (id: string, rack: string) =>
    aMachine(id, Idle, { labels: new Map([[RACK_KEY, rack]]), resources: resources({ cpu: 4 }) });

  it('given a met gang, then it names the domains to choose from and the rows that were served before', () => {
    const first = aNeed({ priority: 9, aggregate: resources({ cpu: 4 }), minUnit: new Map() });
    const gang = aNeed({
      requirements: [same(RACK_KEY)],
      group: 'g',
      aggregate: resources({ cpu: 8 }),
      minUnit: new Map(),
    });
    const machines = [inRack('a1', 'a'), inRack('a2', 'a'), inRack('a3', 'a'), inRack('b1', 'b')];
    const input = anInput(machines, [first, gang]);
    expect(explain(fleetOf(input), input.nowMs, input.options, keyOf(gang))).toEqual({
      candidates: [
        { domain: 'a', coverage: 1_000_000, worstCoverage: 1_000_000, satisfiable: true },
        { domain: 'b', coverage: 500_000, worstCoverage: 500_000, satisfiable: false },
      ],
      matching: { idle: 4, speculative: 0, configured: 0 },
      blocker: keyOf(first),
      obstacles: {
        own: 2,
        machines: { ...NO_OBSTACLES, 'claimed-by-better': 1, unused: 1 },
        claimants: [{ cause: 'claimed-by-better', key: keyOf(first), priority: 9, machines: 1 }],
        claimantsTotal: { ...NO_CLAIMANTS, 'claimed-by-better': 1 },
        remainders: NO_REMAINDERS,
      },
    });
  });

  it('given a met plain row, then it counts the machines that match', () => {
    const need = aNeed({ cluster: 'c1' });
    const input = anInput([aMachine('m', Configured, { cluster: 'c1' }), aMachine('i', Idle)], [need]);
    expect(explain(fleetOf(input), input.nowMs, input.options, keyOf(need))).toEqual({
      candidates: [],
      matching: { idle: 1, speculative: 0, configured: 1 },
      blocker: null,
      obstacles: {
        own: 1,
        machines: { ...NO_OBSTACLES, unused: 1 },
        claimants: [],
        claimantsTotal: NO_CLAIMANTS,
        remainders: NO_REMAINDERS,
      },
    });
  });

  it('pauses after each of the four phases, and after each cluster of the longest one', () => {
    const needs = ['c1', 'c2', 'c3'].map((cluster) => aNeed({ cluster }));
    const input = anInput([aMachine('i', Idle)], needs);
    let pauses = 0;
    const pause = (): void => {
      pauses++;
    };
    examine(fleetOf(input), input.nowMs, input.options, keyOf(needs[0]!), { pause });
    expect(pauses).toBeGreaterThanOrEqual(4 + 3);
  });

  it('given a key that no cluster reported, then there is none', () => {
    const input = anInput([], []);
    const key: NeedKey = { cluster: 'c1', fingerprint: 'f', group: '' };
    expect(explain(fleetOf(input), input.nowMs, input.options, key)).toBeNull();
  });

  it('given any Need of any fleet, then it has the verdict of the plan, and explains that of an unmet one', {
    timeout: 600_000,
  }, () => {
    fc.assert(
      fc.property(anyFleets({ machines: 30, needs: 12 }), (input) => {
        const all = obstacles(input);
        for (const verdict of oracle(input).verdicts) {
          const { candidates, key, unmet } = verdict;
          const examined = examine(fleetOf(input), input.nowMs, input.options, key);
          expect(examined?.verdict).toEqual(verdict);
          if (unmet === null) continue;
          const { blocker, matching } = unmet;
          const explanation = explain(fleetOf(input), input.nowMs, input.options, key);
          expect(explanation).toEqual({ blocker, candidates, matching, obstacles: all.get(keyText(key)) });
        }
      }),
      { numRuns: Number(process.env['BIGFLEET_RUNS'] ?? 200) },
    );
  });
});
