// Random changes of a what-if question, each also as plain code on the input of a decision: one loop over records, without
// the ledger, classes or undoing. Imported by tests of src/whatif.

import fc from 'fast-check';
import { classText } from '../../src/fleet/index.ts';
import {
  CapacityType,
  compareText,
  type DecisionInput,
  type DecisionOptions,
  isPurchased,
  keyOf,
  keyText,
  type LedgerMachine,
  MachineState,
  makeProfile,
  mergeNeeds,
  microsOf,
  type Need,
  type NeedKey,
  ZONE_KEY,
} from '../../src/model/index.ts';

/** The body of a question's `changes`. */
export type Document = Readonly<Record<string, unknown>>;

export interface Changed {
  readonly input: DecisionInput;
  /** By text of a Need's key before: its key after. */
  readonly keys: ReadonlyMap<string, NeedKey>;
}

/** Changes as a question has them, and as plain code. */
export interface Question {
  readonly document: Document;
  readonly apply: () => Changed;
}

/** A name without `*`, which a question may have as it is. */
export function nameOf(key: NeedKey): string {
  return keyText(key).replaceAll('*', '+');
}

interface MachineMatch {
  readonly match: object;
  readonly test: (machine: LedgerMachine) => boolean;
}

const MATCHES: readonly MachineMatch[] = [
  { match: { capacityType: 'spot' }, test: ({ capacityType }) => capacityType === CapacityType.Spot },
  { match: { name: ['on-dem*'] }, test: ({ capacityType }) => capacityType === CapacityType.OnDemand },
  { match: { name: 'sm*l' }, test: ({ instanceType }) => instanceType === 'small' },
  { match: { state: 'configured' }, test: ({ state }) => state === MachineState.Configured },
  {
    match: { state: ['idle', 'spec*'] },
    test: ({ state }) => ([MachineState.Idle, MachineState.Speculative] as MachineState[]).includes(state),
  },
  { match: { cluster: 'c1' }, test: ({ cluster }) => cluster === 'c1' },
  { match: { cluster: '' }, test: ({ cluster }) => cluster === '' },
  { match: { provider: 'f*' }, test: ({ host }) => host?.provider.startsWith('f') === true },
  { match: { provider: '', zone: '*b' }, test: ({ host, zone }) => host === null && zone.endsWith('b') },
  { match: { zone: '*a', capacityType: '*' }, test: ({ zone }) => zone.endsWith('a') },
  { match: { labels: { rack: '*' } }, test: ({ labels }) => labels.has('rack') },
  {
    match: { instanceType: ['large', 'wide'], labels: { rack: ['r1', 'r2'] } },
    test: ({ instanceType, labels }) =>
      ['large', 'wide'].includes(instanceType) && ['r1', 'r2'].includes(labels.get('rack') ?? ''),
  },
];
const match = fc.constantFrom(...MATCHES);

const amount = (sets: readonly number[], factors: readonly number[]) =>
  fc
    .record({ one: match, times: fc.constantFrom(null, ...factors), set: fc.constantFrom(...sets) })
    .map(({ one, times, set }) => ({
      ...one,
      change: times === null ? { set } : { times },
      of: (before: number) => (times === null ? set : before * times),
    }));

const needMatch = fc.record({
  cluster: fc.constantFrom('c1', '*', null),
  /** Position of the Need that is named; null: none. */
  need: fc.option(fc.nat(19), { nil: null, freq: 2 }),
});
type NeedMatch = typeof needMatch extends fc.Arbitrary<infer T> ? T : never;

const ACCELERATORS = fc.constantFrom(
  { document: 'last', order: 'last' as const, ignored: new Set<string>() },
  { document: 'by-price', order: 'by-price' as const, ignored: new Set<string>() },
  {
    document: { order: 'last', ignore: ['example.com/gpu'] },
    order: 'last' as const,
    ignored: new Set(['example.com/gpu']),
  },
);

const rough = fc.record({
  without: few(match, 2),
  prices: few(amount([0, 1, 7], [0, 2, 3]), 2),
  probabilities: few(amount([0, 0.5, 1], [0, 2, 50]), 1),
  stock: few(
    fc.record({
      count: fc.constantFrom(1, 2, 5),
      /** Position of a machine whose type is named. */
      like: fc.nat(39),
      zone: fc.constantFrom(null, 'za', 'zb', 'zx'),
      ofCapacityType: fc.boolean(),
    }),
    2,
  ),
  demand: few(fc.record({ match: needMatch, times: fc.constantFrom(0, 0.5, 1, 1.5, 3) }), 2),
  priorities: few(fc.record({ match: needMatch, set: fc.constantFrom(0, 10, 100, 1000) }), 2),
  options: fc.option(
    fc.record({
      sharing: fc.constantFrom<'on' | 'off' | undefined>(undefined, 'on', 'off'),
      reclaimHold: fc.constantFrom(undefined, 0, 600),
      poolOrder: fc.constantFrom<'coverage' | 'price' | undefined>(undefined, 'coverage', 'price'),
      accelerators: fc.option(ACCELERATORS, { nil: undefined }),
      maxPurchasedPerHour: fc.constantFrom<number | 'none' | undefined>(
        undefined,
        undefined,
        0,
        2,
        9,
        'none',
      ),
    }),
    { nil: null, freq: 1 },
  ),
});
type Rough = typeof rough extends fc.Arbitrary<infer T> ? T : never;

function few<T>(item: fc.Arbitrary<T>, maxLength: number): fc.Arbitrary<readonly T[]> {
  return fc.oneof(
    { arbitrary: fc.constant([]), weight: 2 },
    { arbitrary: fc.array(item, { maxLength }), weight: 1 },
  );
}

/** A question about an input, together with that input. */
export function questionsOn(
  inputs: fc.Arbitrary<DecisionInput>,
): fc.Arbitrary<{ readonly input: DecisionInput; readonly question: Question }> {
  return fc.tuple(inputs, rough).map(([input, changes]) => ({ input, question: questionOf(input, changes) }));
}

/** Two questions about one input. */
export function questionPairsOn(inputs: fc.Arbitrary<DecisionInput>): fc.Arbitrary<{
  readonly input: DecisionInput;
  readonly first: Question;
  readonly second: Question;
}> {
  return fc.tuple(inputs, rough, rough).map(([input, first, second]) => ({
    input,
    first: questionOf(input, first),
    second: questionOf(input, second),
  }));
}

function questionOf(input: DecisionInput, changes: Rough): Question {
  const { without, prices, probabilities, demand, priorities, options } = changes;
  const stock = changes.stock.flatMap((of) => {
    const like = input.machines[of.like % Math.max(1, input.machines.length)];
    return like === undefined ? [] : [{ ...of, like }];
  });
  const document: Document = {
    without: without.map(({ match }) => match),
    prices: prices.map(({ match, change }) => ({ match, ...change })),
    probabilities: probabilities.map(({ match, change }) => ({ match, ...change })),
    stock: stock.map(({ count, like, zone, ofCapacityType }) => ({
      ...{ count, instanceType: like.instanceType },
      ...(zone === null ? {} : { zone }),
      ...(ofCapacityType ? { capacityType: CAPACITY_NAMES[like.capacityType] } : {}),
    })),
    demand: demand.map(({ match, times }) => ({ ...documentOf(match, input), times })),
    priorities: priorities.map(({ match, set }) => ({ ...documentOf(match, input), set })),
    ...(options === null ? {} : { options: { ...options, accelerators: options.accelerators?.document } }),
  };
  return {
    document: JSON.parse(JSON.stringify(document)) as Document,
    apply: () => applied(input, { ...changes, stock }),
  };
}

const CAPACITY_NAMES: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(CapacityType).map(([name, value]) => [value, name]),
);

function documentOf({ cluster, need }: NeedMatch, { needs }: DecisionInput): object {
  const named = need === null ? undefined : needs[need % needs.length];
  return {
    ...(cluster === null && named !== undefined ? {} : { cluster: cluster ?? '*' }),
    ...(named === undefined ? {} : { need: nameOf(keyOf(named)) }),
  };
}

interface Changes extends Omit<Rough, 'stock'> {
  readonly stock: readonly (Omit<Rough['stock'][number], 'like'> & { readonly like: LedgerMachine })[];
}

function applied(input: DecisionInput, changes: Changes): Changed {
  const kept = input.machines.filter((machine) => !changes.without.some(({ test }) => test(machine)));
  const machines = [...kept.map((machine) => revalued(machine, changes)), ...added(input, changes)];
  const after = input.needs.map((need) => changedNeed(need, input, changes));
  const keys = new Map(input.needs.map((need, i) => [keyText(keyOf(need)), keyOf(after[i]!)]));
  const changed = { ...input, machines, needs: mergeNeeds(after) };
  return { input: { ...changed, options: optionsOf(input, changed, changes.options) }, keys };
}

function revalued(machine: LedgerMachine, { prices, probabilities }: Changes): LedgerMachine {
  let { pricePerHour, interruptionProbability } = machine;
  for (const { test, of } of prices) if (test(machine)) pricePerHour = of(pricePerHour);
  for (const { test, of } of probabilities)
    if (test(machine)) interruptionProbability = Math.min(1, of(interruptionProbability));
  return { ...machine, pricePerHour, interruptionProbability };
}

function added({ machines }: DecisionInput, changes: Changes): readonly LedgerMachine[] {
  let number = 0;
  return changes.stock.flatMap(({ count, like, zone, ofCapacityType }) => {
    const [template] = machines
      .filter(({ instanceType }) => instanceType === like.instanceType)
      .filter(({ capacityType }) => !ofCapacityType || capacityType === like.capacityType)
      .sort(
        (a, b) =>
          Number(b.zone === zone) - Number(a.zone === zone) ||
          a.pricePerHour - b.pricePerHour ||
          a.interruptionProbability - b.interruptionProbability ||
          compareText(classText(a), classText(b)),
      );
    const place = zone ?? template!.zone;
    const labels = new Map(template!.labels);
    if (labels.has(ZONE_KEY)) labels.set(ZONE_KEY, place);
    return Array.from({ length: count }, () => {
      number++;
      return revalued({ ...template!, ...offered(`what-if-${number}`), zone: place, labels }, changes);
    });
  });
}

function offered(id: string) {
  return {
    ...{ id, state: MachineState.Speculative, host: null, cluster: '', lastError: '', blocked: false },
    ...{ stamp: null, target: null, idleSinceMs: null, unclaimedSinceMs: null, use: undefined },
  };
}

function changedNeed(need: Need, { needs }: DecisionInput, { demand, priorities }: Changes): Need {
  const isMeant = ({ cluster, need: position }: NeedMatch): boolean =>
    (cluster === null || cluster === '*' || cluster === need.cluster) &&
    (position === null || keyText(keyOf(needs[position % needs.length]!)) === keyText(keyOf(need)));
  let { aggregate, profile } = need;
  for (const { match, times } of demand) {
    if (!isMeant(match) || need.setAside === true) continue;
    const scaled = [...aggregate].map(([name, units]) => [name, Math.ceil(units * times)] as const);
    aggregate = new Map(scaled.map(([name, units]) => [name, Math.min(2 ** 53 - 1, units)]));
  }
  for (const { match, set } of priorities)
    if (isMeant(match)) profile = makeProfile({ ...profile, priority: set });
  return { ...need, aggregate, profile };
}

function optionsOf(
  { machines: before, options }: DecisionInput,
  { machines: after }: Pick<DecisionInput, 'machines'>,
  changes: Rough['options'],
): DecisionOptions {
  const { purchaseBudget: budget } = options;
  const limit = changes?.maxPurchasedPerHour;
  const clusters = new Map(
    [...(budget?.clusters ?? [])].map(([name, micros]) => [
      name,
      micros + purchased(before, name) - purchased(after, name),
    ]),
  );
  const shard =
    limit === undefined
      ? (budget?.shard ?? Number.POSITIVE_INFINITY) + purchased(before) - purchased(after)
      : (limit === 'none' ? Number.POSITIVE_INFINITY : microsOf(limit)) - purchased(after);
  const isLimited = shard !== Number.POSITIVE_INFINITY || clusters.size > 0;
  return {
    ...options,
    sharing: changes?.sharing ?? options.sharing,
    reclaimHoldSeconds: changes?.reclaimHold ?? options.reclaimHoldSeconds,
    poolOrder: changes?.poolOrder ?? options.poolOrder,
    accelerators: changes?.accelerators?.order ?? options.accelerators,
    ignoredAccelerators: changes?.accelerators?.ignored ?? options.ignoredAccelerators,
    purchaseBudget: isLimited ? { shard, clusters } : undefined,
  };
}

/** Micro-dollars per hour of purchased machines, of all or of those for a cluster. */
export function purchased(machines: readonly LedgerMachine[], cluster?: string): number {
  return machines
    .filter(({ state, capacityType }) => state !== MachineState.Speculative && isPurchased(capacityType))
    .filter(({ state, host }) => state !== MachineState.Failed || (host !== null && cluster === undefined))
    .filter((of) => cluster === undefined || (of.cluster || (of.target?.cluster ?? '')) === cluster)
    .reduce((sum, { pricePerHour }) => sum + microsOf(pricePerHour), 0);
}
