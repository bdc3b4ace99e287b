import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NEED, record } from '../../../testing/support/actuation-scene.ts';
import { Fleet } from '../../fleet/index.ts';
import { Command, keyOf, MachineState, type Stamp } from '../../model/index.ts';
import { ANY_STATE, MachineLedger } from './machine-ledger.ts';

const { Idle, Configured, Creating } = MachineState;
const target = keyOf(NEED);
const STAMP: Stamp = {
  priority: 1,
  interruptionPenaltyDollars: 0,
  reclamationPenaltyDollars: 0,
  fingerprint: target.fingerprint,
  group: target.group,
};

function resources(count: number, prefix: string): ReadonlyMap<string, number> {
  return new Map(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, 1]));
}

/** Every answer of the ledger about its machines, sorted. */
function viewOf(ledger: MachineLedger) {
  return {
    ids: [...ledger.idsIn('p', ANY_STATE)].sort(),
    idle: [...ledger.idsIn('p', new Set([Idle]))].sort(),
    bound: ['c1', 'c2'].map((cluster) => [...ledger.boundTo(cluster)].sort()),
    status: IDS.map((id) => ledger.statusOf(id)),
    zones: IDS.map((id) => ledger.portraitOf(id)?.zone),
    owners: IDS.map((id) => ledger.ownerOf(id)),
    count: ledger.countOf('p'),
  };
}

const IDS = ['a', 'b', 'c'];
type Step = (ledger: MachineLedger) => void;
const id = fc.constantFrom(...IDS);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc
    .record({
      name: id,
      state: fc.constantFrom(...Object.values(MachineState)),
      cluster: fc.constantFrom('c1', 'c2'),
      zone: fc.constantFrom('za', 'zb'),
    })
    .map(({ name, state, cluster, zone }): Step => {
      const plain = record(name, state, { zone });
      const seen = plain.cluster === '' ? plain : { ...plain, cluster };
      return (ledger) => ledger.observe(seen, 'p', 1000);
    }),
  id.map(
    (name): Step =>
      (ledger) =>
        ledger.lose(name),
  ),
  fc.tuple(id, fc.boolean()).map(
    ([name, isBlocked]): Step =>
      (ledger) =>
        ledger.setBlocked(name, isBlocked),
  ),
  id.map((name): Step => {
    return (ledger) => {
      if (ledger.statusOf(name)?.state !== Idle) return;
      ledger.move(name, { command: Command.Configure, target, stamp: STAMP }, 1000);
    };
  }),
  fc.constant<Step>((ledger) => ledger.append({ kind: 'row-ended', key: target })),
);

describe('MachineLedger', () => {
  it('given how a cluster uses its nodes, then the next commit writes it, and the next report replaces it', () => {
    const fleet = new Fleet();
    const ledger = new MachineLedger(fleet);
    for (const name of ['a', 'b']) ledger.observe(record(name, Configured, { cluster: 'c1' }), 'p', 1000);
    const report = (facts: readonly (readonly [string, 'protected' | 'empty'])[]) => {
      ledger.reportFacts('c1', new Map(facts));
      ledger.commitMachines().writeRows();
      return ['a', 'b'].map((name) => ledger.statusOf(name)?.use);
    };
    expect(
      report([
        ['a', 'protected'],
        ['b', 'empty'],
      ]),
    ).toEqual(['protected', 'empty']);
    expect(report([['b', 'protected']])).toEqual([undefined, 'protected']);
  });

  it('given any changes, then every read returns the same before and after their commit', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 6 }), fc.array(step, { maxLength: 12 }), (earlier, later) => {
        const ledger = new MachineLedger(new Fleet());
        for (const each of earlier) each(ledger);
        ledger.commitMachines().writeRows();
        for (const each of later) each(ledger);
        const before = viewOf(ledger);
        ledger.commitMachines().writeRows();
        expect(viewOf(ledger)).toEqual(before);
      }),
      { numRuns: 500 },
    );
  });

  it('given a row that ended, then machines with it as target have none, even before the commit', () => {
    const ledger = new MachineLedger(new Fleet());
    ledger.observe({ ...record('m', Creating), target }, 'p', 1000);
    ledger.append({ kind: 'row-ended', key: target });
    expect(ledger.statusOf('m')?.target).toBeNull();
  });

  it('given a record beyond the limit of resources, then it is neither recorded nor counted for its provider', () => {
    const ledger = new MachineLedger(new Fleet());
    const notified: string[] = [];
    ledger.listen(({ id: machine }) => notified.push(machine));
    ledger.observe(record('m', Idle, { resources: resources(16, 'r') }), 'p', 1000);
    for (let reading = 0; reading < 2; reading++) {
      ledger.observe(record('n', Idle, { resources: resources(1, 'x') }), 'p', 1000);
      expect([ledger.statusOf('n'), ledger.ownerOf('n'), ledger.countOf('p')]).toEqual([null, undefined, 1]);
      const { refused } = ledger.commitMachines().writeRows();
      expect(refused).toMatchObject([{ problems: [{ code: 'BF_DIMENSION_LIMIT' }] }]);
    }
    expect(notified).toEqual(['m']);
  });

  it('given a record with another zone, then listeners receive the facts from before it', () => {
    const ledger = new MachineLedger(new Fleet());
    const zones: (string | undefined)[][] = [];
    ledger.listen(({ id: machine, factsBefore, seen }) =>
      zones.push([factsBefore?.zone, seen?.zone, ledger.portraitOf(machine)?.zone]),
    );
    ledger.observe(record('m', Configured, { zone: 'za' }), 'p', 1000);
    ledger.observe(record('m', Configured, { zone: 'zb' }), 'p', 1000);
    ledger.lose('m');
    expect(zones).toEqual([
      [undefined, 'za', 'za'],
      ['za', 'zb', 'zb'],
      ['zb', undefined, undefined],
    ]);
  });
});
