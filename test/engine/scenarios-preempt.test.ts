// Scenarios of preemption with slow drains: exactly as many victims as machines are short. Engine and oracle decide every
// step alike.

import { describe, expect, it } from 'vitest';
import { MachineState, Operator } from '../../src/model/index.ts';
import { RACK_KEY } from '../../testing/support/fleets.ts';
import { CYCLES_PER_MOVE, unevenDelays } from './rest.ts';
import {
  afterwards,
  gangOf,
  inRack,
  isMet,
  NOTHING,
  rowFor,
  runScenario,
  serving,
  several,
} from './scenario.ts';

const { Speculative, Configured } = MachineState;

describe.each(CYCLES_PER_MOVE)('with moves of %i cycles', (delays) => {
  // Case 143 of the specification.
  it('given two machines short, then two are preempted in total, and then bound', () => {
    const batch = rowFor(4, { cluster: 'batch', priority: 100 });
    const train = rowFor(2, { cluster: 'train', priority: 1000 });
    const result = runScenario(serving(batch, 'v', 4), [batch, train], { delays });
    expect(result.tally).toEqual({ ...NOTHING, preempts: 2, bootstraps: 2, acquired: 2 });
    expect(result.end.verdicts.map(({ satisfied }) => satisfied)).toEqual([true, false]);
  });

  it('over-preempt: given a cascade of three priorities, then each level is preempted once and the last one buys', () => {
    const racks = (...values: string[]) => [{ key: RACK_KEY, operator: Operator.In, values }];
    const high = rowFor(2, { cluster: 'hi', priority: 300, requirements: racks('m') });
    const middle = rowFor(2, { cluster: 'mid', priority: 200, requirements: racks('m', 'l') });
    const low = rowFor(2, { cluster: 'lo', priority: 100 });
    const machines = [
      ...serving(middle, 'm', 2, inRack('m')),
      ...serving(low, 'l', 2, inRack('l')),
      ...several('s', 5, Speculative, inRack('s')),
    ];
    const settled = runScenario(machines, [middle, low], { delays });
    expect(settled.tally).toEqual(NOTHING);
    const result = afterwards(settled, { needs: [high, middle, low] }, { delays });
    expect(result.tally).toEqual({ ...NOTHING, preempts: 4, provisions: 2, bootstraps: 6, acquired: 6 });
    expect(isMet(result.end)).toBe(true);
  });

  it('over-preempt: given k machines of a high-priority row lost and none free, then exactly k of a lower one are preempted', () => {
    const high = [
      rowFor(3, { cluster: 'hi', priority: 900 }),
      rowFor(3, { cluster: 'hi', priority: 900, group: 'b' }),
    ];
    const low = rowFor(9, { cluster: 'lo', priority: 1 });
    const machines = [...serving(high[0]!, 'h', 3), ...serving(high[1]!, 'k', 3), ...serving(low, 'v', 9)];
    const settled = runScenario(machines, [...high, low], { delays });
    expect(settled.tally).toEqual(NOTHING);
    const result = afterwards(settled, { lost: ['h01', 'h02', 'k03'] }, { delays });
    expect(result.tally).toEqual({ ...NOTHING, preempts: 3, bootstraps: 3, acquired: 3 });
    expect(result.end.verdicts.map(({ satisfied }) => satisfied)).toEqual([true, true, false]);
  });

  it('over-preempt: given victims that drain at uneven speed, then rows of one cluster do not claim each other’s replacements', () => {
    const high = ['a', 'b', 'c'].map((group) => rowFor(1, { cluster: 'hi', priority: 900, group }));
    const low = rowFor(9, { cluster: 'lo', priority: 1 });
    for (let seed = 1; seed <= 20; seed++) {
      const result = runScenario(serving(low, 'v', 9), [...high, low], {
        delays: unevenDelays(seed, delays),
      });
      expect(result.tally).toEqual({ ...NOTHING, preempts: 3, bootstraps: 3, acquired: 3 });
    }
  });

  it('over-preempt: given a gang that lacks two machines in its rack, then it picks two victims there and no more', () => {
    const gang = gangOf(4, 'g', { cluster: 'hi', priority: 2000 });
    const low = rowFor(6, { cluster: 'lo', priority: 1 });
    const machines = [
      ...serving(gang, 'g', 2, inRack('a')),
      ...serving(low, 'v', 2, inRack('a')),
      ...serving(low, 'w', 4, inRack('b')),
    ];
    const result = runScenario(machines, [gang, low], { delays });
    expect(result.tally).toEqual({ ...NOTHING, preempts: 2, bootstraps: 2, acquired: 2 });
    expect(result.acquired).toEqual(['v01', 'v02']);
    expect(result.end.verdicts[0]!.domain).toBe('a');
  });

  it('over-preempt: given unclaimed machines, then they are picked before machines of any row', () => {
    const high = rowFor(2, { cluster: 'hi', priority: 900 });
    const low = rowFor(2, { cluster: 'lo', priority: 1 });
    const machines = [
      ...serving(low, 'v', 2),
      ...several('x', 2, Configured, {
        cluster: 'lo',
        stamp: serving(low, 'y', 1)[0]!.stamp,
        pricePerHour: 5,
      }),
    ];
    const result = runScenario(machines, [high, low], { delays });
    expect(result.tally).toEqual({ ...NOTHING, preempts: 2, bootstraps: 2, acquired: 2 });
    expect(isMet(result.end)).toBe(true);
  });
});
