// Scenarios of plain rows that grow, shrink and lose machines with a slow provider. Each was once an oscillation; here
// each ends, with exact counts. Engine and oracle decide every step alike.

import { describe, expect, it } from 'vitest';
import { CapacityType, INSTANCE_TYPE_KEY, keyText, MachineState, Operator } from '../../src/model/index.ts';
import { aMachine, aNeed, resources } from '../../testing/support/fleets.ts';
import { CYCLES_PER_MOVE, missing } from './rest.ts';
import { afterwards, isMet, NOTHING, rowFor, runScenario, serving, several } from './scenario.ts';

const { Speculative, Idle, Configuring, Configured } = MachineState;

describe.each(CYCLES_PER_MOVE)('with moves of %i cycles', (delays) => {
  it('Bootstrap and Reclaim: given a row that grows by two and shrinks by two, then two are bound and two leave', () => {
    const row = rowFor(4);
    const settled = runScenario([...serving(row, 'b', 4), ...several('i', 4, Idle)], [row], { delays });
    expect(settled.tally).toEqual(NOTHING);
    const grown = afterwards(settled, { needs: [rowFor(6)] }, { delays });
    expect(grown.tally).toEqual({ ...NOTHING, bootstraps: 2, acquired: 2 });
    expect(grown.acquired).toEqual(['i01', 'i02']);
    expect(isMet(grown.end)).toBe(true);
    const shrunk = afterwards(grown, { needs: [row] }, { delays });
    expect(shrunk.tally).toEqual({ ...NOTHING, reclaims: 2 });
    expect(shrunk.reclaimed).toEqual(['i01', 'i02']);
  });

  it('Bootstrap and Reclaim: given rows that share one type, then no machine counts twice and none is bound again', () => {
    const oneOf = (...values: string[]) => [{ key: INSTANCE_TYPE_KEY, operator: Operator.In, values }];
    const rows = [
      rowFor(2, { requirements: oneOf('large', 'xlarge') }),
      rowFor(2, { requirements: oneOf('xlarge', '2xlarge') }),
    ];
    const machines = [
      ...serving(rows[0]!, 'x', 2, { instanceType: 'xlarge' }),
      ...several('l', 2, Idle, { instanceType: 'large' }),
      ...several('w', 2, Speculative, { instanceType: '2xlarge' }),
    ];
    const result = runScenario(machines, rows, { delays });
    expect(result.tally).toEqual({ ...NOTHING, bootstraps: 2, acquired: 2 });
    expect(result.acquired).toEqual(['l01', 'l02']);
    expect(isMet(result.end)).toBe(true);
  });

  it('over-acquire: given three of ten machines lost, then exactly three are bought, however slow they are', () => {
    const rows = [rowFor(5), rowFor(5, { interruptionBucket: 3 }), rowFor(4, { cluster: 'c2' })];
    const machines = [
      ...serving(rows[0]!, 'a', 5),
      ...serving(rows[1]!, 'b', 5),
      ...serving(rows[2]!, 'c', 4),
      ...several('s', 20, Speculative),
    ];
    const settled = runScenario(machines, rows, { delays });
    expect(settled.tally).toEqual(NOTHING);
    const result = afterwards(settled, { lost: ['a01', 'b02', 'b03'] }, { delays });
    expect(result.tally).toEqual({ ...NOTHING, bootstraps: 3, provisions: 3, acquired: 3 });
    expect(result.acquired).toEqual(['s01', 's02', 's03']);
    expect(isMet(result.end)).toBe(true);
  });

  it('incumbents: given a machine of an ended row that finishes joining, then it leaves and the serving machines stay', () => {
    const row = rowFor(2);
    const gone = rowFor(1, { group: 'gone' });
    const [stranger] = serving(gone, 'a', 1, { state: Configuring });
    const result = runScenario([stranger!, ...serving(row, 'm', 2)], [row], { delays });
    expect(result.tally).toEqual({ ...NOTHING, reclaims: 1 });
    expect(result.reclaimed).toEqual(['a01']);
    for (const { plan } of result.rest.steps) expect([...plan.claims.keys()]).toEqual(['m01', 'm02']);
  });

  it('incumbents: given another row that buys a cheaper machine, then no row moves to it', () => {
    const old = rowFor(2, { firstSeenMs: 1 });
    const young = rowFor(1, { firstSeenMs: 2, reclamationBucket: 0, group: 'young' });
    const machines = [
      ...serving(old, 'm', 2, { pricePerHour: 2 }),
      aMachine('a', Speculative, { pricePerHour: 1 }),
    ];
    const result = runScenario(machines, [old, young], { delays });
    expect(result.tally).toEqual({ ...NOTHING, bootstraps: 1, provisions: 1, acquired: 1 });
    expect(result.acquired).toEqual(['a']);
    for (const { plan } of result.rest.steps) {
      expect(plan.verdicts[0]!.claimed).toEqual(['m01', 'm02']);
    }
  });

  it('one oversized pod: given a pod larger than any of a hundred machines, then none of them leaves', () => {
    const sizes = { resources: resources({ cpu: 16 }) };
    const before = aNeed({ aggregate: resources({ cpu: 1600 }), minUnit: resources({ cpu: 4 }) });
    const after = aNeed({ aggregate: resources({ cpu: 1617 }), minUnit: resources({ cpu: 17 }) });
    const machines = [
      ...Array.from({ length: 100 }, (_, i) => serving(before, `m${i}-`, 1, sizes)).flat(),
      ...several('i', 3, Idle, sizes),
    ];
    const settled = runScenario(machines, [before], { delays });
    const stuck = afterwards(settled, { needs: [after] }, { delays });
    expect(stuck.tally).toEqual(NOTHING);
    expect(stuck.end.verdicts[0]!.unmet?.reason).toBe('no-fitting-supply');
    const large = several('x', 2, Speculative, { resources: resources({ cpu: 32 }), pricePerHour: 9 });
    const served = afterwards(stuck, { added: large }, { delays });
    expect(served.tally).toEqual({ ...NOTHING, bootstraps: 1, provisions: 1, acquired: 1 });
    expect(served.acquired).toEqual(['x01']);
    expect(isMet(served.end)).toBe(true);
  });

  it('phantom credit: given four fingerprints on one list of types, then a machine counts for one of them', () => {
    const requirements = [
      { key: INSTANCE_TYPE_KEY, operator: Operator.In, values: ['m6i.large', 'm6i.xlarge', 'm6i.2xlarge'] },
    ];
    const rows = [1, 2, 3, 4].map((bucket) => rowFor(3, { requirements, interruptionBucket: bucket }));
    expect(new Set(rows.map((row) => row.profile.fingerprint)).size).toBe(4);
    const machines = [
      ...serving(rows[0]!, 'b', 1, { instanceType: 'm6i.large' }),
      ...several('i', 4, Idle, { instanceType: 'm6i.xlarge' }),
      ...several('s', 4, Speculative, { instanceType: 'm6i.2xlarge' }),
    ];
    const short = runScenario(machines, rows, { delays });
    expect(short.tally).toEqual({ ...NOTHING, bootstraps: 8, provisions: 4, acquired: 8 });
    expect(new Set([...short.end.claims.values()].map(keyText)).size).toBe(3);
    for (const step of short.rest.steps) expect(missing(step, 'cpu')).toBe(4 * 3);
    const more = several('t', 9, Speculative, { instanceType: 'm6i.large' });
    const served = afterwards(short, { added: more }, { delays });
    expect(served.tally).toEqual({ ...NOTHING, bootstraps: 3, provisions: 3, acquired: 3 });
    expect(served.acquired).toEqual(['t01', 't02', 't03']);
    expect(isMet(served.end)).toBe(true);
  });

  // Case 160 of the specification.
  it('given a burst, then owned machines are used first, and rented ones are released after it', () => {
    const owned = { capacityType: CapacityType.BareMetal, pricePerHour: 0 };
    const row = rowFor(12);
    const rules = { delays, cycleMs: 600_000 };
    const machines = [
      ...serving(row, 'b', 12, owned),
      ...several('i', 3, Idle, { ...owned, idleSinceMs: 0 }),
      ...several('s', 5, Speculative),
    ];
    const settled = runScenario(machines, [row], rules);
    expect(settled.tally).toEqual(NOTHING);
    const burst = afterwards(settled, { needs: [rowFor(20)] }, rules);
    expect(burst.tally).toEqual({ ...NOTHING, bootstraps: 8, provisions: 5, acquired: 8 });
    const over = afterwards(burst, { needs: [row] }, rules);
    expect(over.tally).toEqual({ ...NOTHING, reclaims: 8, deletes: 5 });
    const first = (kind: 'Reclaim' | 'Delete'): number =>
      over.rest.steps.find(({ counts }) => counts[kind] > 0)!.cycle;
    expect(first('Delete')).toBeGreaterThan(first('Reclaim'));
    expect(over.rest.end.input.machines.filter(({ state }) => state === Idle).map(({ id }) => id)).toEqual([
      'i01',
      'i02',
      'i03',
    ]);
  });

  // Case 161 of the specification.
  it('given six rented machines too many, then they are released once and nothing is bought', () => {
    const row = rowFor(3);
    const machines = [...serving(row, 'b', 3), ...several('o', 6, Idle, { idleSinceMs: 0 })];
    const result = runScenario(machines, [row], { delays, cycleMs: 600_000 });
    expect(result.tally).toEqual({ ...NOTHING, deletes: 6 });
  });

  it('given machines bound to a cluster that reports nothing, then all leave once', () => {
    const result = runScenario(several('b', 7, Configured), [], { delays });
    expect(result.tally).toEqual({ ...NOTHING, reclaims: 7 });
  });
});
