// Applies the changes of a question to a fleet and to the options of the decision. Used by what-if.ts.

import { type ClassFacts, classText, type Fleet, type LedgerRecord } from '../fleet/index.ts';
import {
  BigFleetError,
  compareText,
  type DecisionOptions,
  excerpt,
  keyOf,
  keyText,
  MAX_UNITS,
  MachineState,
  makeProfile,
  mergeNeeds,
  type Need,
  type NeedKey,
  type ResourceVector,
  sameTermOf,
} from '../model/index.ts';
import { didYouMean } from '../runtime/nearest.ts';
import type { AmountChange, Changes, OptionChanges, StockChange } from './changes.ts';
import type { FleetEdit } from './fleet-edit.ts';
import { Renames } from './renames.ts';
import { type MachineFacts, matchesCluster, matchesNeed, matchesOffer, slotsOf } from './selection.ts';
import { budgetAfter, budgetUnder, type Spending, spendingOf } from './spending.ts';

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
  readonly renames: Renames;
}

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
  const isLimited = (options.purchaseBudget ?? changes.options?.maxPurchasedPerHour ?? null) !== null;
  const spent = isLimited ? spendingOf(fleet, facts) : null;
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
  const { count: needs, renames } = changeDemand(edit, changes, nameOf, note);
  return {
    touched: { removed, repriced, added, needs },
    unmatched,
    options: {
      ...(changes.options === null ? options : policiesOf(options, changes.options)),
      ...(spent === null ? {} : budgetOf(options, changes.options, spent, spendingOf(fleet, facts))),
    },
    renames,
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
      a.interruptionProbability - b.interruptionProbability ||
      // Not by number: numbers depend on the questions before.
      compareText(classText(a), classText(b)),
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
        if (matchesOffer(change.match, facts)) facts = withAmount(facts, field, change);
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
): { readonly count: number; readonly renames: Renames } {
  const changes = [...demand, ...priorities];
  const renames = new Renames();
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
    if (!isChanged) continue;
    rename(all, needs, renames);
    const folds = all.map((before, i) => (before === needs[i] ? null : foldOf(edit.fleet, before)));
    edit.replaceNeeds(name, mergeNeeds(needs));
    for (const [i, from] of folds.entries()) {
      const to = from === null ? null : foldOf(edit.fleet, needs[i]!);
      if (from !== null && to !== null) renames.addFold(from, to);
    }
  }
  for (const [i, found] of matches.entries())
    note(i < demand.length ? `demand[${i}]` : `priorities[${i - demand.length}]`, found);
  return { count, renames };
}

function rename(before: readonly Need[], after: readonly Need[], renames: Renames): void {
  const targets = new Set<string>();
  for (const [i, need] of before.entries())
    if (need.profile !== after[i]!.profile) targets.add(keyText(keyOf(after[i]!)));
  if (targets.size === 0) return;
  for (const [i, need] of before.entries()) {
    const [from, to] = [keyOf(need), keyOf(after[i]!)];
    if (need.profile !== after[i]!.profile || targets.has(keyText(from))) renames.add(from, to);
  }
}

/** The key of the fold that a Need may be in; null for one that is not a gang. */
function foldOf({ demand, keys }: Fleet, need: Need): NeedKey | null {
  const row = sameTermOf(need.profile) === undefined ? undefined : demand.rowOf(keyOf(need));
  return row === undefined ? null : keys.keyOf(demand.foldKey[row]!);
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

function policiesOf(
  options: DecisionOptions,
  { sharing, reclaimHold, poolOrder, accelerators }: OptionChanges,
): DecisionOptions {
  return {
    ...options,
    sharing: sharing ?? options.sharing,
    reclaimHoldSeconds: reclaimHold ?? options.reclaimHoldSeconds,
    poolOrder: poolOrder ?? options.poolOrder,
    ...accelerators,
  };
}

/** Ceilings that are not changed stay as they are, so that budgets follow what is purchased. */
function budgetOf(
  { purchaseBudget: stated }: DecisionOptions,
  changes: OptionChanges | null,
  before: Spending,
  after: Spending,
): Pick<DecisionOptions, 'purchaseBudget'> {
  const dollars = changes?.maxPurchasedPerHour ?? null;
  const budget = stated === undefined ? undefined : budgetAfter(stated, before, after);
  if (dollars === null) return { purchaseBudget: budget };
  return { purchaseBudget: budgetUnder(dollars, budget?.clusters ?? new Map(), after) };
}
