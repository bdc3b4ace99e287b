// Small random fleets in which rows contend: few sizes, prices and places, so that ties and contention are the rule.
// Also plain builders of machines and needs, for hand-written tests. Imported by tests of engine, fleet, shard and
// oracle.

import fc from 'fast-check';
import {
  CapacityType,
  canonicalResources,
  DEFAULT_SCORE_WEIGHTS,
  type DecisionInput,
  type DecisionOptions,
  type EconomyOptions,
  isBound,
  keyOf,
  keyText,
  type LedgerMachine,
  MachineState,
  makeProfile,
  microsOf,
  type Need,
  type NeedKey,
  NODE_USES,
  Operator,
  type ProfileParts,
  type PurchaseBudget,
  type Requirement,
  type ResourceVector,
  type Spread,
  type Stamp,
  sameTermOf,
  UNSHARED_OPTIONS,
  WhenUnsatisfiable,
  withoutSame,
  ZONE_KEY,
} from '../../src/model/index.ts';

export const RACK_KEY = 'rack';
const CLUSTERS = ['c1', 'c2', 'c3'];
const ACCELERATOR = 'example.com/gpu';
export const NOW_MS = 10_000_000;

export function resources(amounts: Readonly<Record<string, number>>): ResourceVector {
  return new Map(Object.entries(amounts));
}

/** A valid machine record; host, cluster and error follow the state unless given. */
export function aMachine(id: string, state: MachineState, given: Partial<LedgerMachine> = {}): LedgerMachine {
  const hostless = state === MachineState.Speculative || state === MachineState.Creating;
  const inCluster = isBound(state) || state === MachineState.Draining;
  return {
    id,
    state,
    host: hostless ? null : { provider: 'fake', ref: id },
    cluster: inCluster ? 'c1' : '',
    instanceType: 'standard',
    zone: 'za',
    capacityType: CapacityType.OnDemand,
    pricePerHour: 1,
    interruptionProbability: 0,
    resources: resources({ cpu: 4 }),
    allocatable: new Map(),
    labels: new Map(),
    lastError: state === MachineState.Failed ? 'broken' : '',
    stamp: null,
    target: null,
    blocked: false,
    idleSinceMs: null,
    drainSeconds: 30,
    unclaimedSinceMs: null,
    ...given,
  };
}

export function aNeed(given: Partial<Omit<Need, 'profile'>> & ProfileParts = {}): Need {
  return {
    cluster: given.cluster ?? 'c1',
    profile: makeProfile(given),
    group: given.group ?? '',
    aggregate: given.aggregate ?? resources({ cpu: 4 }),
    minUnit: given.minUnit ?? resources({ cpu: 4 }),
    firstSeenMs: given.firstSeenMs ?? 1,
    ...(given.setAside === true ? { setAside: true } : {}),
  };
}

export function same(key: string, ...values: string[]): Requirement {
  return { key, operator: Operator.Same, values };
}

export function strictSpread(topologyKey: string, maxSkew = 1): Spread {
  return { topologyKey, maxSkew, whenUnsatisfiable: WhenUnsatisfiable.DoNotSchedule };
}

/** The stamp of a machine bound for this need. */
export function stampOf(need: Need, priority: number | null = need.profile.priority): Stamp {
  return {
    priority,
    interruptionPenaltyDollars: 0,
    reclamationPenaltyDollars: 0,
    fingerprint: need.profile.fingerprint,
    group: need.group,
  };
}

/** The key of the fold that this need would be in. */
export function foldKeyOf(need: Need): NeedKey {
  return {
    cluster: need.cluster,
    fingerprint: withoutSame(need.profile).fingerprint,
    group: `fold:${canonicalResources(need.aggregate)}`,
  };
}

const HOLDS: DecisionOptions['releaseHoldSeconds'] = new Map([
  [CapacityType.OnDemand, 600],
  [CapacityType.Spot, 60],
]);

export function anInput(
  machines: readonly LedgerMachine[],
  needs: readonly Need[],
  options: Partial<DecisionOptions> = {},
): DecisionInput {
  return {
    nowMs: NOW_MS,
    machines,
    needs,
    options: {
      readyClusters: null,
      cannotBind: new Set(),
      retiring: new Set(),
      releaseHoldSeconds: HOLDS,
      weights: DEFAULT_SCORE_WEIGHTS,
      ...UNSHARED_OPTIONS,
      ...options,
    },
  };
}

export interface FleetSize {
  readonly machines: number;
  readonly needs: number;
}

/** Fleets up to a size. Records are valid and keys are unique; shrinks by dropping machines, rows and oddities. */
export function fleets(size: FleetSize = { machines: 40, needs: 20 }): fc.Arbitrary<DecisionInput> {
  return fc
    .record({
      shapes: fc.array(shape, { minLength: 1, maxLength: 4 }),
      needs: fc.array(roughNeed, { maxLength: size.needs, size: 'max' }),
      machines: fc.array(roughMachine, { maxLength: size.machines, size: 'max' }),
      // Above 2^53 in sums, never in one record: nothing may be lost in a comparison.
      unit: fc.constantFrom(1, 1, 1, 1000, 2 ** 48),
      readyClusters: rarely(fc.subarray(CLUSTERS), null),
      cannotBind: rarely(fc.subarray(CLUSTERS), []),
      // With almost no free machines, Phase 2 has work.
      scarce: fc.constantFrom(true, false, false),
      // With no weight on priority the other terms decide, ties included.
      priorityWeight: fc.constantFrom(1, 1, 0),
      // Whether clusters report the use of their nodes.
      hasFacts: fc.boolean(),
    })
    .map((rough): DecisionInput => {
      const needs = uniqueNeeds(rough.needs, rough.shapes, rough.unit);
      return anInput(
        rough.machines.map((machine, i) => {
          const busy = rough.scarce && i % 5 !== 0 && isPool(machine.state);
          const state = busy ? MachineState.Configured : machine.state;
          const use = rough.hasFacts ? machine.use : undefined;
          return finishMachine({ ...machine, state, use }, i, needs, rough.unit);
        }),
        needs,
        {
          readyClusters: rough.readyClusters === null ? null : new Set(rough.readyClusters),
          cannotBind: new Set(rough.cannotBind),
          weights: { ...DEFAULT_SCORE_WEIGHTS, priority: rough.priorityWeight },
        },
      );
    });
}

/** Every choice of the options about sharing, the order of free machines and the reclaim hold. */
const economyOptions: fc.Arbitrary<EconomyOptions> = fc.record({
  sharing: fc.constantFrom('on', 'on', 'on', 'off'),
  reclaimHoldSeconds: fc.constantFrom(0, 600, 600),
  poolOrder: fc.constantFrom('coverage', 'coverage', 'price'),
  accelerators: fc.constantFrom('last', 'last', 'by-price'),
  ignoredAccelerators: rarely(fc.constant(new Set([ACCELERATOR])), new Set<string>()),
});

const roughShare = fc.record({
  /** Few rows of the plain fleets may borrow, and few machines have something left over. */
  isUngrouped: fc.constantFrom(true, true, false),
  aggregate: fc.constantFrom<Readonly<Record<string, number>> | null>(
    null,
    null,
    { cpu: 1 },
    { cpu: 3 },
    { cpu: 6, memory: 3 },
    { cpu: 13 },
  ),
  minUnit: fc.constantFrom<Readonly<Record<string, number>> | null>(null, { cpu: 1 }, { cpu: 3 }),
  size: fc.constantFrom<Readonly<Record<string, number>> | null>(
    null,
    null,
    { cpu: 32, memory: 16 },
    { cpu: 10, memory: 7 },
  ),
  unclaimedForSeconds: fc.constantFrom(null, 0, 599, 600, 9000),
  isRetiring: fc.constantFrom(true, false, false, false),
});

/** Fleets with any options in which rows have something to share, machines may be on hold and some have accelerators. */
export function sharedFleets(size?: FleetSize): fc.Arbitrary<DecisionInput> {
  const extras = fc.array(roughShare, { minLength: 1, maxLength: 20, size: 'max' });
  return fc
    .record({
      input: fleets(size),
      extras,
      options: economyOptions,
      renews: fc.boolean(),
      connected: fc.subarray(CLUSTERS, { minLength: 1 }),
    })
    .map(({ input, extras, options, renews, connected }) => {
      const extraOf = (i: number) => extras[i % extras.length]!;
      const keys = new Set(input.needs.map((need) => keyText(keyOf(need))));
      /** By the text of the former key: the group under which the row is reported now. */
      const groups = new Map<string, string>();
      const needs = input.needs.map((need, i): Need => {
        const { isUngrouped, aggregate, minUnit } = extraOf(i);
        const ungrouped = { ...need, group: '' };
        // A gang keeps its amounts: with a largest piece above its total it would be no gang that a cluster reports.
        const isGang = sameTermOf(need.profile) !== undefined;
        const canUngroup = isUngrouped && !keys.has(keyText(keyOf(ungrouped)));
        if (canUngroup) {
          keys.add(keyText(keyOf(ungrouped)));
          groups.set(keyText(keyOf(need)), '');
        }
        return {
          ...(canUngroup ? ungrouped : need),
          aggregate: withAccelerator(aggregate === null || isGang ? need.aggregate : times(aggregate, 1)),
          minUnit: withAccelerator(minUnit === null || isGang ? need.minUnit : times(minUnit, 1)),
        };
      });
      const machines = input.machines.map((machine, i): LedgerMachine => {
        const { size: larger, unclaimedForSeconds: age } = extraOf(i);
        const { cluster, stamp, target } = machine;
        const groupOf = (key: NeedKey): string => groups.get(keyText(key)) ?? key.group;
        const isSized = machine.state === MachineState.Configured || isPool(machine.state);
        return {
          ...machine,
          stamp: stamp === null ? null : { ...stamp, group: groupOf({ ...stamp, cluster }) },
          target: target === null ? null : { ...target, group: groupOf(target) },
          resources: withAccelerator(larger !== null && isSized ? times(larger, 1) : machine.resources),
          allocatable: withAccelerator(larger !== null && isSized ? new Map() : machine.allocatable),
          unclaimedSinceMs:
            age === null || machine.state !== MachineState.Configured ? null : input.nowMs - age * 1000,
        };
      });
      const retiring = new Set(
        machines.filter((_, i) => renews && extraOf(i).isRetiring).map(({ id }) => id),
      );
      const silence = { connected: new Set(connected) };
      return { ...input, machines, needs, options: { ...input.options, ...options, ...silence, retiring } };
    });
}

/** All kinds of fleets, for comparisons of engine and oracle. */
export function anyFleets(size?: FleetSize): fc.Arbitrary<DecisionInput> {
  return fc.oneof(
    { arbitrary: fleets(size), weight: 3 },
    { arbitrary: sharedFleets(size), weight: 3 },
    { arbitrary: budgetedFleets(size), weight: 1 },
    { arbitrary: unboundFleets(size), weight: 1 },
  );
}

/**
 * Fleets with a cluster that has no bound machine: its machines drain for its rows, some of which want nothing any more. Few
 * machines are free, so that other rows need what drains.
 */
function unboundFleets(size?: FleetSize): fc.Arbitrary<DecisionInput> {
  const [name] = CLUSTERS;
  const wants = fc.array(fc.boolean(), { minLength: 1, maxLength: 20, size: 'max' });
  return fc.record({ input: sharedFleets(size), wants }).map(({ input, wants }) => {
    const rows = input.needs.filter(({ cluster }) => cluster === name);
    const drainFor = (machine: LedgerMachine, i: number): LedgerMachine => {
      if (!isBound(machine.state) || machine.cluster !== name) return machine;
      const target = rows.length === 0 ? null : keyOf(rows[i % rows.length]!);
      return { ...machine, state: MachineState.Draining, target, unclaimedSinceMs: null };
    };
    return {
      ...input,
      machines: input.machines.filter(({ state }, i) => i % 4 === 0 || !isPool(state)).map(drainFor),
      needs: input.needs.map((need, i) =>
        need.cluster === name && wants[i % wants.length] === false ? { ...need, aggregate: new Map() } : need,
      ),
    };
  });
}

/** Machines cost 0, 1 or 2 dollars an hour. */
const budget = fc.constantFrom(-1, 0, 1, 1, 2, 3, 5).map(microsOf);
const purchaseBudget: fc.Arbitrary<PurchaseBudget> = fc.record({
  shard: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), budget),
  clusters: fc
    .dictionary(fc.constantFrom(...CLUSTERS, 'unknown'), budget)
    .map((byName) => new Map(Object.entries(byName))),
});

/** Fleets with a ceiling on spending, and most free machines yet to be bought. */
export function budgetedFleets(size?: FleetSize): fc.Arbitrary<DecisionInput> {
  return fc
    .record({ input: fc.oneof(fleets(size), sharedFleets(size)), purchaseBudget })
    .map(({ input, purchaseBudget }) => ({
      ...input,
      machines: input.machines.map((machine, i) =>
        machine.state === MachineState.Idle && machine.target === null && i % 3 > 0
          ? { ...machine, state: MachineState.Speculative, host: null, idleSinceMs: null }
          : machine,
      ),
      options: { ...input.options, purchaseBudget },
    }));
}

/** The amounts with `gpu` under the name of an accelerator. */
function withAccelerator(amounts: ResourceVector): ResourceVector {
  return new Map([...amounts].map(([name, units]) => [name === 'gpu' ? ACCELERATOR : name, units]));
}

function isPool(state: MachineState): boolean {
  return state === MachineState.Idle || state === MachineState.Speculative;
}

const GROUPS = ['', 'g1', 'g2', 'g3', 'g10'];

function rarely<T, U>(arbitrary: fc.Arbitrary<T>, usual: U): fc.Arbitrary<T | U> {
  return fc.oneof({ arbitrary: fc.constant(usual), weight: 4 }, { arbitrary, weight: 1 });
}

/** Requirements of rows, without priority: a few per fleet, so that rows contend for the same machines. */
const shape = fc.record({
  requirements: fc.constantFrom<readonly Requirement[]>(
    [],
    [],
    [],
    [],
    [{ key: ZONE_KEY, operator: Operator.In, values: ['za', 'zb'] }],
    [{ key: 'disk', operator: Operator.DoesNotExist, values: [] }],
    [{ key: 'node.kubernetes.io/instance-type', operator: Operator.In, values: ['small', 'large'] }],
  ),
  topology: fc.constantFrom<readonly (Requirement | Spread)[]>(
    [],
    [],
    [same(RACK_KEY)],
    [same(RACK_KEY)],
    [same(ZONE_KEY)],
    [same(RACK_KEY, 'r1', 'r2')],
    [strictSpread(ZONE_KEY)],
    [strictSpread(RACK_KEY)],
    [strictSpread(RACK_KEY, 2)],
    [same(RACK_KEY), strictSpread(ZONE_KEY)],
  ),
  aggregate: fc.constantFrom<Readonly<Record<string, number>>>(
    { cpu: 4 },
    { cpu: 8 },
    { cpu: 8 },
    { cpu: 12 },
    { cpu: 20 },
    { cpu: 28 },
    { cpu: 16, memory: 8 },
    { cpu: 8, memory: 16 },
    { cpu: 6, memory: 10, gpu: 1 },
    { gpu: 2 },
    {},
  ),
  minUnit: fc.constantFrom<Readonly<Record<string, number>>>(
    {},
    { cpu: 2 },
    { cpu: 4 },
    { cpu: 4 },
    { cpu: 8 },
    { cpu: 4, memory: 4 },
    { gpu: 1 },
  ),
});
type Shape = typeof shape extends fc.Arbitrary<infer T> ? T : never;

const roughNeed = fc.record({
  shape: fc.nat(3),
  cluster: fc.constantFrom('c1', 'c1', 'c1', 'c2', 'c2', 'c3'),
  group: fc.constantFrom(...GROUPS),
  priority: fc.constantFrom(0, 0, 100, 200_000, 1_000_000),
  interruptionBucket: fc.constantFrom(0, 0, 3, 27),
  reclamationBucket: fc.constantFrom(0, 0, 0, 5),
  firstSeenMs: fc.constantFrom(1, 1, 2, 3),
  minUnit: rarely(fc.constantFrom<Readonly<Record<string, number>>>({}, { cpu: 8 }), null),
  /** Amounts are kept, though they are meaningless: no decision may read them. */
  isSetAside: fc.constantFrom(true, ...new Array<false>(9).fill(false)),
});
type RoughNeed = typeof roughNeed extends fc.Arbitrary<infer T> ? T : never;

function uniqueNeeds(rough: readonly RoughNeed[], shapes: readonly Shape[], unit: number): readonly Need[] {
  const needs = new Map<string, Need>();
  for (const { shape: index, isSetAside, ...row } of rough) {
    const { requirements, topology, aggregate, minUnit } = shapes[index % shapes.length]!;
    const need = aNeed({
      ...row,
      requirements: [...requirements, ...topology.filter((term) => 'operator' in term)],
      spread: topology.filter((term) => 'maxSkew' in term),
      aggregate: times(aggregate, unit),
      minUnit: times(row.minUnit ?? minUnit, unit),
      ...(isSetAside ? { setAside: true } : {}),
    });
    const text = keyText(keyOf(need));
    if (!needs.has(text)) needs.set(text, need);
  }
  return [...needs.values()];
}

const nodeUse = fc.constantFrom(undefined, ...NODE_USES);

const roughMachine = fc.record({
  state: fc.constantFrom<MachineState>(
    ...Object.values(MachineState),
    MachineState.Idle,
    MachineState.Idle,
    MachineState.Speculative,
    MachineState.Speculative,
    MachineState.Configuring,
    ...new Array<MachineState>(7).fill(MachineState.Configured),
  ),
  /** The need whose key its stamp or target names, or whose cluster it is in. */
  need: fc.nat(19),
  cluster: fc.constantFrom(...CLUSTERS),
  stamp: fc.constantFrom('own', 'own', 'fold', 'other', 'lost', 'none'),
  target: fc.constantFrom('own', 'own', 'fold', 'other', 'none', 'none', 'none'),
  stampPriority: fc.constantFrom(0, 100, 200_000),
  reclamation: fc.constantFrom(0, 0, 0.5, 4, Number.POSITIVE_INFINITY),
  interruption: fc.constantFrom(0, 0, 1, Number.POSITIVE_INFINITY),
  type: fc.constantFrom('small', 'small', 'large', 'wide'),
  size: fc.constantFrom<Readonly<Record<string, number>>>(
    { cpu: 2 },
    { cpu: 4, memory: 4 },
    { cpu: 4, memory: 4 },
    { cpu: 4, memory: 8 },
    { cpu: 8, memory: 8 },
    { cpu: 8, memory: 8 },
    { cpu: 8, memory: 16, gpu: 1 },
    { cpu: 16, memory: 16, gpu: 2 },
    { gpu: 1 },
  ),
  reserved: fc.boolean(),
  zone: fc.constantFrom('za', 'za', 'zb', 'zb', 'zc', ''),
  rack: fc.constantFrom('r1', 'r1', 'r2', 'r2', 'r3', '', null),
  disk: rarely(fc.constant(true), false),
  price: fc.constantFrom(0, 1, 1, 2),
  probability: fc.constantFrom(0, 0, 0, 0.5),
  capacityType: fc.constantFrom(...Object.values(CapacityType)),
  blocked: rarely(fc.boolean(), false),
  idleForSeconds: fc.constantFrom(null, 0, 59, 60, 600, 9000),
  drainSeconds: fc.constantFrom(30, 30, 5),
  /** On machines in any state: facts about machines that are not bound have no effect. */
  use: nodeUse,
});
type RoughMachine = typeof roughMachine extends fc.Arbitrary<infer T> ? T : never;

function finishMachine(
  rough: RoughMachine,
  index: number,
  needs: readonly Need[],
  unit: number,
): LedgerMachine {
  const { state } = rough;
  const need = needs.length === 0 ? undefined : needs[rough.need % needs.length];
  // A Failed machine may still record the row it served.
  const bound = isBound(state) || state === MachineState.Draining || state === MachineState.Failed;
  const moving = state === MachineState.Creating || state === MachineState.Idle || bound;
  const labels = new Map<string, string>();
  if (rough.rack !== null) labels.set(RACK_KEY, rough.rack);
  if (rough.disk) labels.set('disk', 'fast');
  const offer = times(rough.size, unit);
  return aMachine(`m${(index * 17) % 43}`, state, {
    ...(bound ? { cluster: need?.cluster ?? rough.cluster } : {}),
    instanceType: rough.type,
    zone: rough.zone,
    capacityType: rough.capacityType,
    pricePerHour: rough.price,
    interruptionProbability: rough.probability,
    resources: rough.reserved ? times({ cpu: 30, memory: 30 }, unit) : offer,
    allocatable: rough.reserved ? offer : new Map(),
    labels,
    stamp: bound ? finishStamp(rough, need) : null,
    target:
      !moving || (state === MachineState.Configured && rough.price !== 2)
        ? null
        : keyNamed(rough.target, need),
    blocked: rough.blocked,
    idleSinceMs: rough.idleForSeconds === null ? null : NOW_MS - rough.idleForSeconds * 1000,
    drainSeconds: rough.drainSeconds,
    ...(rough.use === undefined ? {} : { use: rough.use }),
  });
}

/** A key that names the need, its fold, a row that is not reported, or null. */
function keyNamed(who: string, need: Need | undefined): NeedKey | null {
  if (who === 'none' || need === undefined) return null;
  if (who === 'own') return keyOf(need);
  return who === 'fold' ? foldKeyOf(need) : { ...keyOf(need), group: 'gone' };
}

function finishStamp(rough: RoughMachine, need: Need | undefined): Stamp | null {
  const key = keyNamed(rough.stamp === 'lost' ? 'own' : rough.stamp, need);
  if (key === null) return null;
  return {
    priority: rough.stamp === 'lost' ? null : rough.stampPriority,
    interruptionPenaltyDollars: rough.interruption,
    reclamationPenaltyDollars: rough.reclamation,
    fingerprint: key.fingerprint,
    group: key.group,
  };
}

function times(amounts: Readonly<Record<string, number>>, unit: number): ResourceVector {
  return new Map(Object.entries(amounts).map(([name, amount]) => [name, amount * unit]));
}
