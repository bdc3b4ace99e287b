import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { aMachine, resources } from '../../../testing/support/fleets.ts';
import type { Slice } from '../../collections/sorted-slices.ts';
import {
  CapacityType,
  compareText,
  effectiveAllocatable,
  isBound,
  keyText,
  type LedgerMachine,
  MachineState,
  type NeedKey,
  NODE_USES,
  type NodeUse,
  type Stamp,
} from '../../model/index.ts';
import { Fleet, type MachineStatus, type MachineTable, type StampedLoss } from '../index.ts';

const { Idle, Speculative, Configuring, Configured } = MachineState;

const STATES = Object.values(MachineState);
const CLUSTERS = ['c1', 'c2'];
const KEYS: readonly NeedKey[] = CLUSTERS.flatMap((cluster) => [
  { cluster, fingerprint: 'f', group: '' },
  { cluster, fingerprint: 'f', group: 'g' },
]);

// The reference model is a plain map of machines; every index is derived from it from scratch.
type Model = Map<string, LedgerMachine>;

function textOfClass(machine: LedgerMachine): string {
  const { instanceType, pricePerHour, drainSeconds, labels } = machine;
  const offered = [...effectiveAllocatable(machine)];
  return JSON.stringify([instanceType, pricePerHour, drainSeconds, offered, [...labels]]);
}

function keysOf(machine: LedgerMachine): NeedKey[] {
  const { stamp, cluster, target } = machine;
  const keys = target === null ? [] : [target];
  if (stamp === null || cluster === '') return keys;
  return [...keys, { cluster, fingerprint: stamp.fingerprint, group: stamp.group }];
}

function reclamationOf(machine: LedgerMachine): number {
  return machine.stamp?.reclamationPenaltyDollars ?? 0;
}

/** Facts about a machine that is not bound are void. */
function useOf({ state, cluster, use }: LedgerMachine): NodeUse | undefined {
  return isBound(state) && cluster !== '' ? use : undefined;
}

function byKeepOrder(a: LedgerMachine, b: LedgerMachine): number {
  const isProtected = (machine: LedgerMachine): number => (useOf(machine) === 'protected' ? 1 : 0);
  if (isProtected(a) !== isProtected(b)) return isProtected(b) - isProtected(a);
  if (a.pricePerHour !== b.pricePerHour) return a.pricePerHour - b.pricePerHour;
  const places = ['in-use', undefined, 'empty'];
  const [placeOfA, placeOfB] = [places.indexOf(useOf(a)), places.indexOf(useOf(b))];
  if (placeOfA !== placeOfB) return placeOfA - placeOfB;
  const [p, q] = [reclamationOf(a), reclamationOf(b)];
  return p === q ? compareText(a.id, b.id) : q - p;
}

function byId(a: LedgerMachine, b: LedgerMachine): number {
  return compareText(a.id, b.id);
}

function byIdleTime(a: LedgerMachine, b: LedgerMachine): number {
  return a.idleSinceMs! - b.idleSinceMs! || byId(a, b);
}

function isSpecial(machine: LedgerMachine): boolean {
  return machine.target !== null || reclamationOf(machine) > 0;
}

function expectTables(fleet: Fleet, model: Model): void {
  const { machines, classes, keys } = fleet;
  const all = [...model.values()];
  const idsOf = (slice: Slice | undefined): string[] =>
    slice === undefined
      ? []
      : [...machines.arena.data.subarray(slice.offset, slice.offset + slice.length)].map((s) =>
          machines.idOf(s),
        );
  const expected = (keep: (m: LedgerMachine) => boolean, order = byKeepOrder): string[] =>
    all
      .filter(keep)
      .sort(order)
      .map((m) => m.id);

  expect(machines.count).toBe(model.size);
  expect(machines.protectedCount).toBe(all.filter((machine) => useOf(machine) === 'protected').length);
  for (const machine of all) {
    const { id, state, blocked, cluster, stamp, target, idleSinceMs, unclaimedSinceMs } = machine;
    const status = machines.statusOf(machines.slotOf(id)!);
    const clocks = { idleSinceMs, unclaimedSinceMs };
    expect(status).toEqual({ state, blocked, cluster, stamp, target, ...clocks, use: useOf(machine) });
  }
  // Ordinals sort in the same order as the ids.
  const slots = all.sort(byId).map((m) => machines.slotOf(m.id)!);
  for (let i = 1; i < slots.length; i++) expect(machines.idOrder(slots[i - 1]!, slots[i]!)).toBeLessThan(0);

  for (const cluster of CLUSTERS) {
    const bound = machines.boundOf(fleet.clusters.find(cluster));
    const of = (state: MachineState) => expected((m) => m.state === state && m.cluster === cluster);
    expect(idsOf(bound?.configured)).toEqual(of(Configured));
    expect(idsOf(bound?.configuring)).toEqual(of(Configuring));
  }
  expect(idsOf(machines.specialIdle)).toEqual(
    expected((m) => m.state === Idle && !m.blocked && isSpecial(m)),
  );

  for (const capacityType of Object.values(CapacityType)) {
    const waiting = (m: LedgerMachine): boolean => m.state === Idle && m.idleSinceMs !== null;
    const idle = expected((m) => m.capacityType === capacityType && waiting(m), byIdleTime);
    expect(idsOf(machines.idleClocks[capacityType])).toEqual(idle);
  }

  const byClass = Map.groupBy(all, textOfClass);
  expect(classes.count).toBe(byClass.size);
  const used = new Set<number>();
  for (const [text, members] of byClass) {
    const number = machines.classOf[machines.slotOf(members[0]!.id)!]!;
    used.add(number);
    const ofClass = (m: LedgerMachine): boolean => textOfClass(m) === text;
    const plainIdle = expected((m) => ofClass(m) && m.state === Idle && !m.blocked && !isSpecial(m));
    const quota = expected((m) => ofClass(m) && m.state === Speculative && !m.blocked, byId);
    expect(idsOf(machines.idleSlices[number])).toEqual(plainIdle);
    expect(idsOf(machines.speculativeSlices[number])).toEqual(quota);
    const configured = expected(
      (m) => ofClass(m) && m.state === Configured && !m.blocked && m.cluster !== '',
      byId,
    );
    expect(idsOf(machines.configuredSlices[number])).toEqual(configured);
    expect(machines.idOf(machines.firstOf(number))).toBe(members.toSorted(byId)[0]!.id);
    for (const state of STATES) {
      const inState = members.filter((m) => m.state === state);
      expect(machines.countOf(number, state)).toBe(inState.length);
      expect(machines.unblockedCountOf(number, state)).toBe(inState.filter((m) => !m.blocked).length);
    }
    const facts = classes.factsOf(number);
    expect(facts).toMatchObject({
      allocatable: effectiveAllocatable(members[0]!),
      labels: members[0]!.labels,
    });
  }
  expect(used.size).toBe(byClass.size);
  for (let number = 0; number < classes.size; number++) {
    if (used.has(number)) continue;
    expect(idsOf(machines.idleSlices[number])).toEqual([]);
    expect(idsOf(machines.speculativeSlices[number])).toEqual([]);
    expect(idsOf(machines.configuredSlices[number])).toEqual([]);
    for (const state of STATES) expect(machines.countOf(number, state)).toBe(0);
  }

  const named = all.flatMap(keysOf).map(keyText);
  expect(keys.count).toBe(new Set(named).size);
  for (const key of KEYS) {
    const number = keys.find(key);
    const text = keyText(key);
    expect(number === 0 ? 0 : machines.ownedBy(number)).toBe(named.filter((other) => other === text).length);
    const coming = all.filter((m) => m.target !== null && keyText(m.target) === text && !isBound(m.state));
    expect(number === 0 ? 0 : machines.inFlightTo(number)).toBe(coming.length);
    const targeted = expected((m) => m.target !== null && keyText(m.target) === text, byId);
    expect(idsOf(machines.targetedAt(number))).toEqual(targeted);
  }
  const stamps = all.filter((m) => m.stamp !== null).map((m) => JSON.stringify(Object.values(m.stamp!)));
  expect(machines.stamps.count).toBe(new Set(stamps).size);
  for (const machine of all) expect(lossOf(machines, machine.id)).toEqual(expectedLoss(machine));
  const losses = [expectedLoss(undefined), ...all.map((machine) => expectedLoss(machine))].map((loss) =>
    JSON.stringify(loss),
  );
  const inUse = machines.stamps.losses.filter((loss) => loss !== undefined);
  expect(new Set(inUse.map((loss) => JSON.stringify(loss)))).toEqual(new Set(losses));
}

const key = fc.constantFrom(...KEYS);
function lossOf(machines: MachineTable, id: string): StampedLoss | undefined {
  return machines.stamps.losses[machines.stamps.loss[machines.stamp[machines.slotOf(id)!]!]!];
}

function expectedLoss(machine: LedgerMachine | undefined): StampedLoss {
  const stamp = machine?.stamp;
  return {
    priority: stamp?.priority ?? null,
    interruptionDollars: stamp?.interruptionPenaltyDollars ?? 0,
    reclamationDollars: stamp?.reclamationPenaltyDollars ?? 0,
  };
}

const stamp: fc.Arbitrary<Stamp> = fc.record({
  priority: fc.constantFrom(null, 0, 5),
  interruptionPenaltyDollars: fc.constantFrom(0, 1),
  reclamationPenaltyDollars: fc.constantFrom(0, 1, Number.MAX_VALUE),
  fingerprint: fc.constant('f'),
  group: fc.constantFrom('', 'g'),
});
const status: fc.Arbitrary<MachineStatus> = fc
  .record({
    state: fc.constantFrom(...STATES),
    blocked: fc.boolean(),
    cluster: fc.constantFrom(...CLUSTERS),
    stamp: fc.option(stamp),
    target: fc.option(key),
    idleSinceMs: fc.constantFrom(null, 0, 7),
    unclaimedSinceMs: fc.constantFrom(null, 0, 9),
    use: fc.constantFrom(undefined, ...NODE_USES),
  })
  .map((s) => (isBound(s.state) || s.state === MachineState.Draining ? s : { ...s, cluster: '' }));
const facts = fc
  .record({
    instanceType: fc.constantFrom('small', 'large'),
    pricePerHour: fc.constantFrom(0, 1, 2),
    drainSeconds: fc.constantFrom(30, 60),
    labels: fc.constantFrom(new Map<string, string>(), new Map([['rack', 'r1']])),
    resources: fc.constantFrom(resources({ cpu: 4 }), resources({ cpu: 4, gpu: 1 })),
    allocatable: fc.constantFrom(new Map<string, number>(), resources({ cpu: 3 })),
  })
  .map((given) => given satisfies Partial<LedgerMachine>);
const id = fc.constantFrom(...['a', 'b', 'B', 'c', 'd', '10', '9', '\uffff', '\u{1f600}', '__proto__']);
const machine = fc
  .tuple(id, status, facts)
  .map(([name, known, shared]) => aMachine(name, known.state, { ...shared, ...known }));

const change = fc.oneof(
  { weight: 4, arbitrary: machine.map((record) => ({ kind: 'put' as const, record })) },
  { weight: 2, arbitrary: id.map((name) => ({ kind: 'remove' as const, name })) },
  {
    weight: 1,
    arbitrary: fc.array(machine, { maxLength: 6 }).map((records) => ({ kind: 'load' as const, records })),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        id,
        status,
        fc.option(facts),
        fc.subarray(['state', 'blocked', 'stamp', 'target', 'use'] as const),
      )
      .map(([name, known, shared, some]) => ({ kind: 'update' as const, name, known, shared, some })),
  },
);
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;
/** One change alone, or several as a batch. */
const step = fc.oneof(
  change.map((it) => [it]),
  fc.array(change, { maxLength: 8 }),
);

function applyTo(fleet: Fleet, model: Model, it: Change): void {
  const { machines } = fleet;
  if (it.kind === 'put') {
    machines.put(it.record);
    model.set(it.record.id, it.record);
  } else if (it.kind === 'load') {
    machines.load(it.records);
    for (const record of it.records) model.set(record.id, record);
  } else if (it.kind === 'remove') {
    machines.remove(it.name);
    model.delete(it.name);
  } else {
    const known = model.get(it.name);
    if (known === undefined) return;
    // All fields, or single columns; a cluster is set only together with a state that may have one.
    const { known: whole, shared, some } = it;
    const single: Partial<MachineStatus> = Object.fromEntries(some.map((column) => [column, whole[column]]));
    const changes = some.includes('state') ? whole : single;
    const next = { ...known, ...changes, ...shared };
    machines.update(machines.slotOf(it.name)!, changes, shared === null ? undefined : next);
    model.set(it.name, next);
  }
}

describe('MachineTable', () => {
  it('given any sequence of changes, then columns, slices, indexes and counts equal those computed from scratch', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const fleet = new Fleet();
        const model: Model = new Map();
        for (const changes of steps) {
          if (changes.length === 1) applyTo(fleet, model, changes[0]!);
          else fleet.machines.batch(() => changes.map((it) => applyTo(fleet, model, it)));
          expectTables(fleet, model);
        }
        for (const name of model.keys()) fleet.machines.remove(name);
        expectTables(fleet, new Map());
        expect([fleet.keys.count, fleet.classes.count, fleet.machines.stamps.count]).toEqual([0, 0, 0]);
      }),
      { numRuns: 300 },
    );
  });

  it('given many rounds of adding and removing machines, then slots, numbers and arena space are reused', () => {
    const fleet = new Fleet();
    const { machines } = fleet;
    const size = () => [machines.size, fleet.classes.size, fleet.keys.size, machines.arena.bytes];
    let first: number[] = [];
    for (let round = 0; round < 20; round++) {
      const records = Array.from({ length: 50 }, (_, i) =>
        aMachine(`r${round}-${i}`, STATES[i % 8]!, { pricePerHour: round + (i % 5), target: KEYS[i % 4]! }),
      );
      machines.load(records);
      for (const { id: name } of records) machines.remove(name);
      machines.settleOrdinals();
      if (round === 1) first = size();
    }
    expect(size()).toEqual(first);
  });

  it('given many machines of one class, when a batch removes all, then slices are compacted once, and slots are free', () => {
    const { machines } = new Fleet();
    const ids = Array.from({ length: 20_000 }, (_, i) => `m${i}`);
    machines.load(ids.map((name) => aMachine(name, Speculative)));
    // Removing machines one by one from a slice of this length would make a large loss quadratic.
    const cut = vi.spyOn(machines.arena, 'remove');
    machines.batch(() => {
      for (const name of ids) machines.remove(name);
    });
    expect(cut).not.toHaveBeenCalled();
    expect(machines.count).toBe(0);
    machines.put(aMachine('n', Idle));
    expect([machines.count, machines.size]).toEqual([1, 20_000]);
  });

  it('given a machine, then it takes 43 bytes in columns and 51 with its entries in slices, at most 55', () => {
    const { machines } = new Fleet();
    const count = 10_000;
    machines.load(Array.from({ length: count }, (_, i) => aMachine(`m${i}`, Idle, { target: KEYS[i % 4]! })));
    const perSlot = machines.columnBytes / machines.state.length;
    // One entry by state, one by target; a machine without target has one only.
    const perSlices = 2 * machines.arena.data.BYTES_PER_ELEMENT;
    expect(perSlot).toBe(43);
    expect(perSlot + perSlices).toBe(51);
    expect(perSlot + perSlices).toBeLessThanOrEqual(55);
  });
});
