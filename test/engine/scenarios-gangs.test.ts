// Scenarios of gangs: rows whose machines must share a rack. They stay where they are served, move once if that
// completes them, and are quiet where nothing can. Engine and oracle decide every step alike.

import { describe, expect, it } from 'vitest';
import {
  attributeOf,
  type DecisionInput,
  keyText,
  MachineState,
  meetsAll,
  type Plan,
} from '../../src/model/index.ts';
import { aMachine, RACK_KEY, resources } from '../../testing/support/fleets.ts';
import { onBoth } from './compare.ts';
import { CYCLES_PER_MOVE, missing } from './rest.ts';
import {
  afterwards,
  gangOf,
  inRack,
  isMet,
  NOTHING,
  runScenario,
  type ScenarioResult,
  serving,
  several,
} from './scenario.ts';

const { Speculative, Idle, Configuring, Configured } = MachineState;

/** Racks in which a gang of the run counts on machines, cycle by cycle; never more than one at a time. */
function racksOf(result: ScenarioResult, group: string): readonly string[] {
  const racks = result.rest.steps.map(({ input, plan }) => {
    const mine = [...plan.claims].filter(([, key]) => key.group === group).map(([id]) => id);
    const here = new Set(
      input.machines.filter(({ id }) => mine.includes(id)).map((machine) => attributeOf(machine, RACK_KEY)!),
    );
    expect(here.size).toBeLessThanOrEqual(1);
    return [...here].join('');
  });
  return [...new Set(racks)];
}

/** Machines reclaimed although an unmet gang of their cluster could use them in its rack. */
function reclaimedFromUnmet(result: ScenarioResult): readonly string[] {
  return result.rest.steps.flatMap(({ input, plan }) => {
    const machines = new Map(input.machines.map((machine) => [machine.id, machine]));
    const needs = new Map(
      input.needs.map((need) => [
        keyText({ cluster: need.cluster, fingerprint: need.profile.fingerprint, group: need.group }),
        need,
      ]),
    );
    return plan.actions
      .filter(({ kind }) => kind === 'Reclaim')
      .filter(({ machine, cluster }) =>
        plan.verdicts.some(
          ({ key, satisfied, domain }) =>
            !satisfied &&
            key.cluster === cluster &&
            attributeOf(machines.get(machine)!, RACK_KEY) === domain &&
            meetsAll(machines.get(machine)!, needs.get(keyText(key))!.profile.requirements),
        ),
      )
      .map(({ machine }) => machine);
  });
}

describe.each(CYCLES_PER_MOVE)('with moves of %i cycles', (delays) => {
  it('gang scatter: given machines in two racks, then the gang moves once to the rack that completes it, and stays', () => {
    const gang = gangOf(4, 'g');
    const machines = [
      ...serving(gang, 'a', 2, inRack('a')),
      ...serving(gang, 'b', 1, inRack('b')),
      ...several('i', 3, Idle, inRack('b')),
    ];
    const result = runScenario(machines, [gang], { delays });
    expect(result.tally).toEqual({ ...NOTHING, bootstraps: 3, acquired: 3, reclaims: 2 });
    expect(racksOf(result, 'g')).toEqual(['b']);
    expect(isMet(result.end)).toBe(true);

    const robbed = afterwards(result, { lost: ['b01'] }, { delays });
    expect(robbed.tally).toEqual(NOTHING);
    expect(missing(robbed.rest.steps.at(-1)!, 'cpu')).toBe(4);
    const healed = afterwards(robbed, { added: several('s', 5, Speculative, inRack('b')) }, { delays });
    expect(healed.tally).toEqual({ ...NOTHING, bootstraps: 1, provisions: 1, acquired: 1 });
    expect(racksOf(healed, 'g')).toEqual(['b']);
    expect(isMet(healed.end)).toBe(true);
  });

  // Case 59 of the specification.
  it('given one of seven machines lost, then exactly one is acquired and six keep serving', () => {
    const gang = gangOf(7, 'g');
    const machines = [...serving(gang, 'r', 7, inRack('r')), ...several('s', 9, Speculative, inRack('r'))];
    const settled = runScenario(machines, [gang], { delays });
    expect(settled.tally).toEqual(NOTHING);
    const result = afterwards(settled, { lost: ['r07'] }, { delays });
    expect(result.tally).toEqual({ ...NOTHING, bootstraps: 1, provisions: 1, acquired: 1 });
    for (const { plan } of result.rest.steps) {
      expect(plan.verdicts[0]!.satisfied).toBe(true);
      expect(plan.verdicts[0]!.claimed.slice(0, 6)).toEqual(['r01', 'r02', 'r03', 'r04', 'r05', 'r06']);
    }
  });

  it('incumbents: given a machine of an ended row that joins in the rack, then it leaves and the gang keeps its own', () => {
    const gang = gangOf(2, 'g');
    const [stranger] = serving(gangOf(2, 'gone'), 'a', 1, { ...inRack('r'), state: Configuring });
    const result = runScenario([stranger!, ...serving(gang, 'm', 2, inRack('r'))], [gang], { delays });
    expect(result.tally).toEqual({ ...NOTHING, reclaims: 1 });
    expect(result.reclaimed).toEqual(['a01']);
    for (const { plan } of result.rest.steps) expect([...plan.claims.keys()]).toEqual(['m01', 'm02']);
  });

  it('a big quota slot: given served small gangs, when a machine that holds any of them appears, then nothing moves', () => {
    const gangs = ['g1', 'g2', 'g3'].map((group) => gangOf(2, group));
    const machines = gangs.flatMap((gang, i) => serving(gang, `${gang.group}-`, 2, inRack(`r${i}`)));
    const settled = runScenario(machines, gangs, { delays });
    expect(settled.tally).toEqual(NOTHING);
    const slot = aMachine('big', Speculative, {
      ...inRack('r0'),
      resources: resources({ cpu: 64 }),
      pricePerHour: 0,
    });
    const result = afterwards(settled, { added: [slot] }, { delays });
    expect(result.tally).toEqual(NOTHING);
    expect(isMet(result.end)).toBe(true);
    expect([...result.end.claims]).toEqual([...settled.end.claims]);
  });

  // Case 168 of the specification.
  it('given gangs that no rack can hold, then each stays where it is and no machine it could use is reclaimed', () => {
    const gangs = ['c1', 'c2', 'c3'].flatMap((cluster) =>
      ['g1', 'g2'].map((group) => gangOf(4, group, { cluster })),
    );
    const machines = ['c1', 'c2', 'c3'].flatMap((cluster) => [
      ...several(`${cluster}-a`, 2, Configured, { cluster, ...inRack(`${cluster}-a`) }),
      ...several(`${cluster}-b`, 1, Configured, { cluster, ...inRack(`${cluster}-b`) }),
      ...several(`${cluster}-i`, 1, Idle, inRack(`${cluster}-b`)),
    ]);
    const result = runScenario(machines, gangs, { delays });
    expect(result.tally).toEqual(NOTHING);
    expect(reclaimedFromUnmet(result)).toEqual([]);
    for (const step of result.rest.steps) expect(missing(step, 'cpu')).toBe(3 * (8 + 12));
  });

  // Case 169 of the specification.
  it('given a gang of eight and racks of four, then it claims nothing and two gangs of four are bound whole', () => {
    const giant = gangOf(8, 'giant', { priority: 200 });
    const gangs = ['g1', 'g2'].map((group) => gangOf(4, group, { cluster: 'c2', priority: 100 }));
    const machines = [...several('a', 4, Idle, inRack('a')), ...several('b', 4, Idle, inRack('b'))];
    const result = runScenario(machines, [giant, ...gangs], { delays });
    expect(result.tally).toEqual({ ...NOTHING, bootstraps: 8, acquired: 8 });
    expect(result.end.verdicts.map(({ satisfied }) => satisfied)).toEqual([false, true, true]);
    expect([racksOf(result, 'giant'), racksOf(result, 'g1'), racksOf(result, 'g2')]).toEqual([
      [''],
      ['a'],
      ['b'],
    ]);
  });

  // Case 170 of the specification.
  it('given eighteen gangs of twelve and racks of four, then nothing happens and the shortfall is constant', () => {
    const gangs = [1, 2, 3, 4, 5, 6].flatMap((c) =>
      ['g1', 'g2', 'g3'].map((group) => gangOf(12, group, { cluster: `c${c}` })),
    );
    const machines = Array.from({ length: 24 }, (_, rack) =>
      several(`r${rack}-`, 4, Idle, inRack(`r${rack}`)),
    ).flat();
    const result = runScenario(machines, gangs, { delays });
    expect(result.tally).toEqual(NOTHING);
    for (const step of result.rest.steps) expect(missing(step, 'cpu')).toBe(18 * 48);
  });

  it.each([
    ['{3,3} + {6,6}', [3, 3], [6, 6], 4],
    ['{2,4,3,2,4,3} + {4,8,6,5}', [2, 4, 3, 2, 4, 3], [4, 8, 6, 5], 10],
  ])(
    'given gangs %s reported in another order every cycle, then they are at rest in time',
    (_, ones, twos, most) => {
      const gangs = [
        ...ones.map((size, i) => gangOf(size, `g${i}`)),
        ...twos.map((size, i) => gangOf(size, `g${i}`, { cluster: 'c2' })),
      ];
      const machines = Array.from({ length: 7 }, (_rack, i) =>
        several(`r${i}-`, 8, Idle, inRack(`r${i}`)),
      ).flat();
      let turn = 0;
      const decide = (input: DecisionInput): Plan => {
        turn++;
        const reversed = { ...input, needs: input.needs.toReversed(), machines: input.machines.toReversed() };
        return onBoth(turn % 2 === 0 ? reversed : input);
      };
      const result = runScenario(machines, gangs, { delays, decide });
      const total = [...ones, ...twos].reduce((sum, size) => sum + size, 0);
      expect(result.tally).toEqual({ ...NOTHING, bootstraps: total, acquired: total });
      expect(result.rest.cyclesToRest).toBeLessThanOrEqual(most);
      expect(isMet(result.end)).toBe(true);
    },
  );

  // Case 172 of the specification.
  it('given gangs that share a rack, with machines slow to join and one too many, then one leaves, once', () => {
    const [one, two] = [gangOf(3, 'g1'), gangOf(3, 'g2')];
    const joining = { ...inRack('a'), state: Configuring };
    const machines = [
      ...serving(one!, 'a', 2, inRack('a')),
      ...serving(one!, 'b', 1, joining),
      ...serving(two!, 'c', 1, inRack('a')),
      ...serving(two!, 'd', 2, joining),
      ...serving(one!, 'e', 1, inRack('a')),
      ...several('i', 6, Idle, inRack('b')),
    ];
    const result = runScenario(machines, [one!, two!], { delays });
    expect(result.tally).toEqual({ ...NOTHING, reclaims: 1 });
    expect(isMet(result.end)).toBe(true);
    expect([racksOf(result, 'g1'), racksOf(result, 'g2')]).toEqual([['a'], ['a']]);
  });
});
