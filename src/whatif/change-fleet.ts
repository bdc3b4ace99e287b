// Applies the changes of a question to a fleet and to the options of the decision. Used by what-if.ts.

import type { ClassFacts, Fleet, LedgerRecord } from '../fleet/index.ts';
import {
  BigFleetError,
  type CapacityType,
  type DecisionOptions,
  excerpt,
  isPurchased,
  keyOf,
  keyText,
  MAX_UNITS,
  MachineState,
  makeProfile,
  mergeNeeds,
  microsOf,
  type Need,
  type NeedKey,
  type ResourceVector,
} from '../model/index.ts';
import { didYouMean } from '../runtime/nearest.ts';
import type { AmountChange, Changes, OptionChanges, StockChange } from './changes.ts';
import type { FleetEdit } from './fleet-edit.ts';
import { type MachineFacts, matchesClass, matchesCluster, matchesNeed, slotsOf } from './selection.ts';

/** How much of the fleet the changes were about. */
export interface Touched {
  readonly removed: number;
  readonly repriced: number;
  readonly added: number;
  readonly needs: number;
}

export interface Applied {
  readonly touched: Touched;
  /** Paths of changes that match nothing. */
  readonly unmatched: readonly string[];
  readonly options: DecisionOptions;
  readonly renamed: Renamed;
}

/**
 * By text of the key that a Need has now: its key in the changed fleet, where that is another one, or where another Need gets
 * the same one.
 */
export type Renamed = ReadonlyMap<string, { readonly from: NeedKey; readonly to: NeedKey }>;

export interface World {
  readonly facts: MachineFacts;
  /** The short name of a Need. */
  readonly nameOf: (key: NeedKey) => string;
}

/** Throws BF_WHATIF_UNKNOWN, before any change, if stock names an instance type that the fleet does not have. */
export function applyChanges(
  edit: FleetEdit,
  { facts, nameOf }: World,
  changes: Changes,
  options: DecisionOptions,
): Applied {
  const { fleet } = edit;
  const templates = changes.stock.map((stock, i) => templateOf(fleet, stock, `stock[${i}]`));
  const unmatched: string[] = [];
  const note = (path: string, count: number): number => {
    if (count === 0) unmatched.push(path);
    return count;
  };
  let removed = 0;
  for (const [i, match] of changes.without.entries()) {
    const slots = slotsOf(match, fleet, facts);
    edit.remove(slots);
    removed += note(`without[${i}]`, slots.length);
  }
  let repriced = 0;
  for (const field of ['prices', 'probabilities'] as const) {
    for (const [i, change] of changes[field].entries()) {
      const slots = slotsOf(change.match, fleet, facts);
      edit.join(slots, (before) => withAmount(before, field, change));
      repriced += note(`${field}[${i}]`, slots.length);
    }
  }
  const added = addStock(edit, changes, templates);
  const { count: needs, renamed } = changeDemand(edit, changes, nameOf, note);
  return {
    touched: { removed, repriced, added, needs },
    unmatched,
    options: changes.options === null ? options : optionsWith(options, changes.options, fleet, facts),
    renamed,
  };
}

function withAmount(
  facts: ClassFacts,
  field: 'prices' | 'probabilities',
  { times, set }: AmountChange,
): ClassFacts {
  if (field === 'prices') return { ...facts, pricePerHour: set ?? facts.pricePerHour * times! };
  return { ...facts, interruptionProbability: Math.min(1, set ?? facts.interruptionProbability * times!) };
}

/** The machine that stock is like: one of the zone if there is any, then the cheapest. */
function templateOf({ classes }: Fleet, stock: StockChange, path: string): ClassFacts {
  const { instanceType, zone, capacityType } = stock;
  const ofType = classes.attributes.flatMap((attributes, number) =>
    attributes?.instanceType === instanceType ? [classes.factsOf(number)] : [],
  );
  const found = ofType.filter((facts) => capacityType === null || facts.capacityType === capacityType);
  const [best] = found.sort(
    (a, b) =>
      Number(b.zone === zone) - Number(a.zone === zone) ||
      a.pricePerHour - b.pricePerHour ||
      a.interruptionProbability - b.interruptionProbability,
  );
  if (best === undefined) throw unknownType(classes, stock, ofType.length > 0, path);
  return zone === null || best.zone === zone ? best : { ...best, zone, labels: inZone(best.labels, zone) };
}

const ZONE_LABEL = 'topology.kubernetes.io/zone';

function inZone(labels: ClassFacts['labels'], zone: string): ClassFacts['labels'] {
  return labels.has(ZONE_LABEL) ? new Map([...labels, [ZONE_LABEL, zone]]) : labels;
}

function unknownType(
  classes: Fleet['classes'],
  { instanceType }: StockChange,
  hasType: boolean,
  path: string,
): BigFleetError {
  const known = new Set(classes.attributes.flatMap((attributes) => attributes?.instanceType || []));
  const message = hasType
    ? `No machine of type "${excerpt(instanceType)}" has that capacity type.`
    : `The fleet has no machine of type "${excerpt(instanceType)}".${didYouMean(instanceType, known)}`;
  const problem = { code: 'BF_WHATIF_UNKNOWN' as const, path: `${path}.instanceType`, message };
  return new BigFleetError('BF_WHATIF_UNKNOWN', message, { problems: [problem] });
}

function addStock(edit: FleetEdit, { stock, ...changes }: Changes, templates: readonly ClassFacts[]): number {
  const { machines } = edit.fleet;
  let number = 0;
  const added = stock.flatMap(({ count }, i): readonly LedgerRecord[] => {
    let facts = templates[i]!;
    for (const field of ['prices', 'probabilities'] as const)
      for (const change of changes[field])
        if (matchesClass(change.match, facts)) facts = withAmount(facts, field, change);
    return Array.from({ length: count }, () => {
      do number++;
      while (machines.slotOf(`what-if-${number}`) !== undefined);
      return { id: `what-if-${number}`, ...facts, ...OFFERED };
    });
  });
  edit.batch(() => {
    for (const machine of added) edit.add(machine);
  });
  return added.length;
}

const OFFERED = {
  state: MachineState.Speculative,
  blocked: false,
  cluster: '',
  stamp: null,
  target: null,
  idleSinceMs: null,
  unclaimedSinceMs: null,
  use: undefined,
} as const;

function changeDemand(
  edit: FleetEdit,
  { demand, priorities }: Changes,
  nameOf: World['nameOf'],
  note: (path: string, count: number) => number,
): { readonly count: number; readonly renamed: Renamed } {
  const changes = [...demand, ...priorities];
  const renamed = new Map<string, { from: NeedKey; to: NeedKey }>();
  const matches = changes.map(() => 0);
  let count = 0;
  const { clusters, demand: ledger } = edit.fleet;
  for (const number of changes.length === 0 ? [] : clusters.sorted()) {
    const name = clusters.nameOf(number);
    const ofCluster = changes.flatMap((change, i) => (matchesCluster(change, name) ? [{ change, i }] : []));
    if (ofCluster.length === 0) continue;
    let isChanged = false;
    const all = ledger.needsOf(number);
    const needs = all.map((before) => {
      let need = before;
      for (const { change, i } of ofCluster) {
        if (!matchesNeed(change, before, nameOf)) continue;
        matches[i]!++;
        need = 'set' in change ? withPriority(need, change.set) : scaled(need, change.times);
      }
      if (need === before) return before;
      isChanged = true;
      count++;
      return need;
    });
    rename(all, needs, renamed);
    if (isChanged) edit.replaceNeeds(name, mergeNeeds(needs));
  }
  for (const [i, found] of matches.entries())
    note(i < demand.length ? `demand[${i}]` : `priorities[${i - demand.length}]`, found);
  return { count, renamed };
}

function rename(
  before: readonly Need[],
  after: readonly Need[],
  renamed: Map<string, { from: NeedKey; to: NeedKey }>,
): void {
  const targets = new Set<string>();
  for (const [i, need] of before.entries())
    if (need.profile !== after[i]!.profile) targets.add(keyText(keyOf(after[i]!)));
  if (targets.size === 0) return;
  for (const [i, need] of before.entries()) {
    const [from, to] = [keyOf(need), keyOf(after[i]!)];
    if (need.profile !== after[i]!.profile || targets.has(keyText(from)))
      renamed.set(keyText(from), { from, to });
  }
}

/** The largest pod stays as it is: there are more or fewer pods. A Need whose size is not known is left as it is. */
function scaled(need: Need, times: number): Need {
  if (times === 1 || need.setAside === true) return need;
  return { ...need, aggregate: scaledVector(need.aggregate, times) };
}

function scaledVector(vector: ResourceVector, times: number): ResourceVector {
  return new Map(
    Array.from(vector, ([name, units]) => [name, Math.min(MAX_UNITS, Math.ceil(units * times))]),
  );
}

function withPriority(need: Need, priority: number): Need {
  const { profile } = need;
  return profile.priority === priority ? need : { ...need, profile: makeProfile({ ...profile, priority }) };
}

function optionsWith(
  options: DecisionOptions,
  { sharing, reclaimHold, poolOrder, accelerators, maxPurchasedPerHour }: OptionChanges,
  fleet: Fleet,
  facts: MachineFacts,
): DecisionOptions {
  return {
    ...options,
    sharing: sharing ?? options.sharing,
    reclaimHoldSeconds: reclaimHold ?? options.reclaimHoldSeconds,
    poolOrder: poolOrder ?? options.poolOrder,
    ...accelerators,
    ...(maxPurchasedPerHour === null
      ? {}
      : { purchaseBudget: budgetOf(maxPurchasedPerHour, options, fleet, facts) }),
  };
}

/** The limits of clusters stay as they are. */
function budgetOf(
  dollars: number,
  { purchaseBudget }: DecisionOptions,
  fleet: Fleet,
  facts: MachineFacts,
): DecisionOptions['purchaseBudget'] {
  const clusters = purchaseBudget?.clusters ?? new Map<string, number>();
  if (dollars === Number.POSITIVE_INFINITY)
    return clusters.size === 0 ? undefined : { shard: Number.POSITIVE_INFINITY, clusters };
  return { shard: microsOf(dollars) - purchasedIn(fleet, facts), clusters };
}

/** Micro-dollars per hour of machines that are purchased by the hour, those that are being created included. */
function purchasedIn({ classes, machines }: Fleet, facts: MachineFacts): number {
  const micros = Float64Array.from({ length: classes.size }, (_, number) =>
    classes.attributes[number] !== undefined && isPurchased(classes.capacityType[number] as CapacityType)
      ? microsOf(classes.price[number]!)
      : 0,
  );
  let sum = 0;
  for (let slot = 0; slot < machines.size; slot++) {
    const state = machines.state[slot]!;
    if (state === 0 || state === MachineState.Speculative) continue;
    if (state === MachineState.Failed && !facts.hasFailedHost(slot)) continue;
    sum += micros[machines.classOf[slot]!]!;
  }
  return sum;
}
