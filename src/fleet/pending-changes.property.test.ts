import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aMachine, aNeed, RACK_KEY, resources, same } from '../../testing/support/fleets.ts';
import {
  Command,
  effectiveAllocatable,
  MachineState,
  mergeNeeds,
  type NeedKey,
  NODE_USES,
  wholeRollup,
} from '../model/index.ts';
import { type AppliedChanges, type ClassFacts, Fleet, type PendingChange, PendingChanges } from './index.ts';

const IDS = ['a', 'b', 'c', 'd'];
const KEYS: readonly NeedKey[] = ['c1', 'c2'].map((cluster) => ({ cluster, fingerprint: 'f', group: '' }));
const STAMP = {
  priority: 1,
  interruptionPenaltyDollars: 0,
  reclamationPenaltyDollars: 0,
  fingerprint: 'f',
  group: '',
};

const id = fc.constantFrom(...IDS);
const key = fc.constantFrom(...KEYS);
const atMs = fc.integer({ min: 1, max: 1_000 });
// Two of these three new resource names fit below the limit of the fleets in this file.
const amounts = fc.constantFrom(resources({ r0: 1 }), resources({ x: 1 }), resources({ y: 1, z: 1 }));

const observe = fc
  .record({
    name: id,
    state: fc.constantFrom(...Object.values(MachineState)),
    offer: fc.record({
      pricePerHour: fc.constantFrom(1, 1, 2, -1),
      instanceType: fc.constantFrom('small', 'large'),
      resources: amounts,
      stamp: fc.constantFrom(null, STAMP),
    }),
    cluster: fc.constantFrom('c1', 'c1', 'c2', ''),
    atMs,
  })
  .map(({ name, state, offer, cluster, atMs: at }): PendingChange => {
    const plain = aMachine(name, state, offer);
    return { kind: 'observe', machine: plain.cluster === '' ? plain : { ...plain, cluster }, atMs: at };
  });
const command = fc
  .record({ id, target: key, move: fc.constantFrom(...Object.values(Command)), reclaim: fc.boolean(), atMs })
  .map(({ move, target, reclaim, ...given }): PendingChange => {
    const entry = { kind: 'command', ...given } as const;
    if (move === 'create') return { ...entry, command: move, target };
    if (move === 'configure') return { ...entry, command: move, target, stamp: STAMP };
    if (move === 'drain') return { ...entry, command: move, target: reclaim ? null : target };
    return { ...entry, command: move };
  });
const demand = fc
  .record({
    cluster: fc.constantFrom('c1', 'c2'),
    rows: fc.array(
      fc.record({ cluster: fc.constantFrom('c1', 'c1', 'c2'), aggregate: amounts, gang: fc.boolean() }),
      {
        maxLength: 3,
      },
    ),
  })
  .map(({ cluster, rows }): PendingChange => {
    const needs = rows.map(({ gang, ...row }) =>
      aNeed({ ...row, requirements: gang ? [same(RACK_KEY)] : [] }),
    );
    return { kind: 'demand', delta: wholeRollup(cluster, mergeNeeds(needs)) };
  });
const use = fc.constantFrom(...NODE_USES);
const facts = fc
  .record({ cluster: fc.constantFrom('c1', 'c1', 'c2'), listed: fc.array(fc.tuple(id, use)) })
  .map(({ cluster, listed }): PendingChange => ({ kind: 'facts', cluster, facts: new Map(listed) }));
const unbound = { blocked: false, cluster: '', stamp: null, idleSinceMs: null, unclaimedSinceMs: null };
const withdraw = fc
  .record({ id, state: fc.constantFrom(MachineState.Speculative, MachineState.Idle), target: key })
  .map(({ id: name, ...before }): PendingChange => {
    return { kind: 'withdraw', id: name, before: { ...unbound, ...before } };
  });
const entry: fc.Arbitrary<PendingChange> = fc.oneof(
  { weight: 6, arbitrary: observe },
  { weight: 6, arbitrary: command },
  { weight: 2, arbitrary: demand },
  { weight: 1, arbitrary: withdraw },
  { weight: 2, arbitrary: facts },
  { weight: 1, arbitrary: id.map((name): PendingChange => ({ kind: 'gone', id: name })) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('block' as const), id, blocked: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('unclaimed' as const),
      id,
      sinceMs: fc.constantFrom(null, 3),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('retarget' as const), id, key }) },
  { weight: 1, arbitrary: key.map((ended): PendingChange => ({ kind: 'row-ended', key: ended })) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('restamp' as const),
      id,
      key,
      priority: fc.constant(2),
      interruptionPenaltyDollars: fc.constant(0),
      reclamationPenaltyDollars: fc.constantFrom(0, 1),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('drain-seconds' as const),
      of: fc.constantFrom({ id: 'a' }, { instanceType: 'small' }, { instanceType: 'large' }),
      seconds: fc.constantFrom(-1, 5, 50),
    }),
  },
);

function fleetNearTheLimit(): Fleet {
  const fleet = new Fleet();
  const many = resources(Object.fromEntries(Array.from({ length: 14 }, (_, i) => [`r${i}`, 1])));
  fleet.machines.put(aMachine('a', MachineState.Idle, { resources: many }));
  fleet.machines.put(aMachine('b', MachineState.Speculative, { instanceType: 'small' }));
  return fleet;
}

function committed(fleet: Fleet, entries: readonly PendingChange[]): AppliedChanges {
  const pending = new PendingChanges(fleet);
  for (const it of entries) pending.append(it);
  return pending.commitMachines().writeRows();
}

/** Everything a cycle can read, by name instead of by number. */
function viewOf(fleet: Fleet) {
  const { machines, demand: rows, clusters, keys, classes, patterns, dimensions } = fleet;
  const ids = (slice: { offset: number; length: number } | undefined) =>
    slice === undefined
      ? []
      : [...machines.arena.data.subarray(slice.offset, slice.offset + slice.length)].map((s) =>
          machines.idOf(s),
        );
  const slots = IDS.map((name) => machines.slotOf(name)).filter((slot) => slot !== undefined);
  return {
    machines: slots.map((slot) => ({ ...machines.recordAt(slot), place: machines.ordinal[slot] })),
    idle: slots.map((slot) => ids(machines.idleSlices[machines.classOf[slot]!])),
    quota: slots.map((slot) => ids(machines.speculativeSlices[machines.classOf[slot]!])),
    special: ids(machines.specialIdle),
    clusters: ['c1', 'c2'].map((name) => {
      const number = clusters.find(name);
      const bound = machines.boundOf(number);
      const { offset, length } = rows.rowsOf(number);
      const ranked = [...rows.ranked.subarray(offset, offset + length)];
      const wanted = ranked.map((row) => [rows.keyOf(row), rows.aggregate.at(row)]);
      return { wanted, configured: ids(bound?.configured), configuring: ids(bound?.configuring) };
    }),
    targeted: KEYS.map((it) => ids(machines.targetedAt(keys.find(it)))),
    owned: KEYS.map((it) => (keys.find(it) === 0 ? 0 : machines.ownedBy(keys.find(it)))),
    used: [keys.count, classes.count, patterns.count, rows.profiles.count, machines.stamps.count, rows.count],
    dimensions: Array.from({ length: dimensions.count }, (_, d) => dimensions.nameOf(d)),
    drainSeconds: fleet.drainSecondsOfType,
  };
}

/** Facts with the effective amounts only, since a class keeps all amounts in `allocatable`. */
function offered(facts: ClassFacts | null) {
  return facts && { ...facts, resources: null, allocatable: effectiveAllocatable(facts) };
}

describe('a commit of pending changes', () => {
  it('given any sequence of changes, then ledgers, sightings and refusals do not depend on how commits divide it', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 30 }), fc.array(fc.nat(30)), (entries, cuts) => {
        const whole = fleetNearTheLimit();
        const at = committed(whole, entries);
        const single = fleetNearTheLimit();
        const one = entries.map((it) => committed(single, [it]));
        const ends = [...new Set([...cuts, entries.length])].sort((a, b) => a - b);
        const cut = fleetNearTheLimit();
        const some = ends.map((end, i) => committed(cut, entries.slice(ends[i - 1] ?? 0, end)));
        for (const [fleet, parts] of [[single, one] as const, [cut, some] as const]) {
          fleet.machines.settleOrdinals();
          whole.machines.settleOrdinals();
          expect(viewOf(fleet)).toEqual(viewOf(whole));
          expect(parts.flatMap((part) => part.sightings)).toEqual(at.sightings);
          expect(parts.flatMap((part) => part.refused)).toEqual(at.refused);
          // Changes of a single commit are a subset of those of many commits, which also report changes undone later.
          const named = new Set(parts.flatMap((part) => part.clusters.map((n) => fleet.clusters.nameOf(n))));
          for (const number of at.clusters) expect(named).toContain(whole.clusters.nameOf(number));
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it('given pending changes, then a status or facts read before the commit equal those on record after it', () => {
    fc.assert(
      fc.property(
        fc.array(entry, { maxLength: 10 }),
        fc.array(entry, { maxLength: 20 }),
        (before, entries) => {
          const fleet = fleetNearTheLimit();
          committed(fleet, before);
          const pending = new PendingChanges(fleet);
          for (const it of entries) pending.append(it);
          const read = IDS.map((name) => [pending.statusOf(name), offered(pending.classFactsOf(name))]);
          pending.commitMachines().writeRows();
          const { machines, classes } = fleet;
          const written = IDS.map((name) => {
            const slot = machines.slotOf(name);
            if (slot === undefined) return [null, null];
            return [machines.statusOf(slot), offered(classes.factsOf(machines.classOf[slot]!))];
          });
          expect(read).toEqual(written);
          expect(IDS.map((name) => pending.statusOf(name))).toEqual(written.map(([status]) => status));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('given any commit, then machines that it does not list have not changed', () => {
    fc.assert(
      fc.property(
        fc.array(entry, { maxLength: 15 }),
        fc.array(entry, { maxLength: 6 }),
        (before, entries) => {
          const fleet = fleetNearTheLimit();
          committed(fleet, before);
          const recordOf = (name: string) => {
            const slot = fleet.machines.slotOf(name);
            return slot === undefined ? null : fleet.machines.recordAt(slot);
          };
          const known = new Map(IDS.map((name) => [name, recordOf(name)]));
          const { slots, removed, retimed } = committed(fleet, entries);
          const named = new Set([...removed, ...slots.map((slot) => fleet.machines.idOf(slot))]);
          for (const name of IDS) {
            if (named.has(name)) continue;
            const before = known.get(name)!;
            const seconds = before === null ? undefined : retimed.get(before.instanceType);
            const after = seconds === undefined ? before : { ...before, drainSeconds: seconds };
            expect(recordOf(name)).toEqual(after);
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
