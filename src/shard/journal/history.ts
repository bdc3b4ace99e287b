// The history of a machine, a Need or a cluster, in order: its changes in the ledger from cycle to cycle, and the
// decisions, actions and orders about it. The caller renders it as text. Used by `bigfleet history`, outside the
// shard.

import type { LedgerRecord } from '../../fleet/index.ts';
import { keyOf, type Machine, MachineState, type Need, rowsAfter } from '../../model/index.ts';
import { needId } from '../planning/queries/need-names.ts';
import type { EventBody, JournalEvent } from './format.ts';
import type { JournalCycle, JournalReader, Span } from './journal-reader.ts';
import type { InputChanges } from './packing.ts';
import { Stretch } from './stretch.ts';

export interface Subject {
  readonly kind: 'machine' | 'need' | 'cluster';
  /** An id; of a Need the short one. */
  readonly name: string;
}

export type HistoryItem = { readonly atMs: number } & (
  | EventBody
  /** The shard was started with this epoch. */
  | { readonly kind: 'started'; readonly epoch: number }
  /** Cycles are missing here. */
  | { readonly kind: 'gap' }
  /** null: not on record. `meaning`: how the change is classified if it is not ordinary progress. */
  | {
      readonly kind: 'machine-changed';
      readonly before: MachineFacts | null;
      readonly after: MachineFacts | null;
      readonly meaning: string | null;
    }
  /** null: its cluster does not report it. */
  | { readonly kind: 'need-changed'; readonly before: Need | null; readonly after: Need | null }
  | { readonly kind: 'demand-changed'; readonly before: number; readonly after: number }
  | { readonly kind: 'joined' | 'left'; readonly machine: string }
  | { readonly kind: 'binding'; readonly canBind: boolean }
);

/** The facts of a machine that a history shows. */
export interface MachineFacts
  extends Pick<
    Machine,
    'state' | 'cluster' | 'instanceType' | 'zone' | 'capacityType' | 'pricePerHour' | 'stamp'
  > {
  readonly blocked: boolean;
  /** Short ids of the Needs it is on its way to, and it was bound for; null for none. */
  readonly target: string | null;
  readonly boundFor: string | null;
}

export function history(reader: JournalReader, { kind, name }: Subject, span: Span): readonly HistoryItem[] {
  const follower = FOLLOWERS[kind](name);
  const items: HistoryItem[] = eventsOf(reader, kind, name, span).map(({ atMs, body }) => ({
    ...body,
    atMs,
  }));
  const stretch = new Stretch();
  for (const cycle of reader.cycles(reader.startFor(span.fromMs) ?? reader.firstSeq)) {
    const found = itemsOf(cycle, stretch, follower);
    if (cycle.atMs >= span.fromMs && cycle.atMs <= span.toMs)
      for (const item of found) items.push({ ...item, atMs: cycle.atMs });
  }
  // Items of equal time keep their order: changes in the ledger first, then the actions on them.
  return items
    .map((item, i) => ({ item, i: 'epoch' in item || LEDGER.has(item.kind) ? i - items.length : i }))
    .sort((a, b) => a.item.atMs - b.item.atMs || a.i - b.i)
    .map(({ item }) => item);
}

const LEDGER: ReadonlySet<string> = new Set<HistoryItem['kind']>([
  ...(['gap', 'machine-changed', 'need-changed', 'demand-changed'] as const),
  ...(['joined', 'left', 'binding'] as const),
]);

type UndatedItem = HistoryItem extends infer T ? (T extends unknown ? Omit<T, 'atMs'> : never) : never;

/** Follows one subject through the ledger. */
interface Follower {
  /** Invalidates what is known; `isEmpty`: the ledger is known to be empty. */
  forget(isEmpty: boolean): void;
  read(changes: InputChanges): readonly UndatedItem[];
  /** The segment is whole: what has not been read does not exist. */
  whole(): void;
}

function itemsOf(cycle: JournalCycle, stretch: Stretch, follower: Follower): readonly UndatedItem[] {
  const items: UndatedItem[] = [];
  if (cycle.begin === 'start') items.push({ kind: 'started', epoch: cycle.epoch });
  if (cycle.begin === 'gap') items.push({ kind: 'gap' });
  const changes = stretch.read(cycle, () => follower.forget(cycle.begin === 'start'));
  if (changes !== null) for (const item of follower.read(changes)) items.push(item);
  if (stretch.isWhole) follower.whole();
  return items;
}

function eventsOf(reader: JournalReader, kind: Subject['kind'], name: string, span: Span): JournalEvent[] {
  switch (kind) {
    case 'machine':
      return reader.eventsOfMachine(name, span);
    case 'need':
      return reader.eventsOfNeed(name, span);
    case 'cluster':
      return reader.eventsOfCluster(name, span);
  }
}

const FOLLOWERS: Readonly<Record<Subject['kind'], (name: string) => Follower>> = {
  machine: (id) => new MachineFollower(id),
  need: (id) => new NeedFollower(id),
  cluster: (name) => new ClusterFollower(name),
};

class MachineFollower implements Follower {
  readonly #id: string;
  /** undefined: not known. */
  #known: MachineFacts | null | undefined;

  constructor(id: string) {
    this.#id = id;
  }

  forget(isEmpty: boolean): void {
    this.#known = isEmpty ? null : undefined;
  }

  whole(): void {
    this.#known ??= null;
  }

  read({ machines, removed, oddities }: InputChanges): readonly UndatedItem[] {
    const found = machines.find(({ id }) => id === this.#id);
    const before = this.#known;
    if (found === undefined && !removed.includes(this.#id)) return [];
    const after = found === undefined ? null : factsOf(found);
    this.#known = after;
    // A slice repeats unchanged records.
    if (before === undefined || JSON.stringify(before) === JSON.stringify(after)) return [];
    const meaning = oddities.find(({ id }) => id === this.#id)?.meaning ?? null;
    return [{ kind: 'machine-changed', before, after, meaning }];
  }
}

function factsOf(record: LedgerRecord): MachineFacts {
  const { state, blocked, cluster, instanceType, zone, capacityType, pricePerHour, stamp, target } = record;
  const boundFor =
    stamp === null || cluster === ''
      ? null
      : needId({ cluster, fingerprint: stamp.fingerprint, group: stamp.group });
  return {
    ...{ state, blocked, cluster, instanceType, zone, capacityType, pricePerHour, stamp },
    target: target === null ? null : needId(target),
    boundFor,
  };
}

class NeedFollower implements Follower {
  readonly #id: string;
  readonly #cluster: string;
  /** All rows of the cluster; a segment begins with a whole roll-up. */
  #rows: readonly Need[] = [];
  #known: Need | null | undefined;

  constructor(id: string) {
    this.#id = id;
    this.#cluster = id.slice(0, Math.max(0, id.lastIndexOf('/')));
  }

  forget(isEmpty: boolean): void {
    this.#known = isEmpty ? null : undefined;
  }

  whole(): void {
    this.#known ??= null;
  }

  read({ demand }: InputChanges): readonly UndatedItem[] {
    const items: UndatedItem[] = [];
    for (const delta of demand) {
      if (delta.cluster !== this.#cluster) continue;
      this.#rows = rowsAfter(this.#rows, delta);
      const after = this.#rows.find((need) => needId(keyOf(need)) === this.#id) ?? null;
      const before = this.#known;
      this.#known = after;
      if (before !== undefined && !wantsSame(before, after))
        items.push({ kind: 'need-changed', before, after });
    }
    return items;
  }
}

function wantsSame(a: Need | null, b: Need | null): boolean {
  if (a === null || b === null) return a === b;
  const text = ({ aggregate, minUnit, setAside }: Need): string =>
    JSON.stringify([[...aggregate], [...minUnit], setAside === true]);
  return text(a) === text(b);
}

class ClusterFollower implements Follower {
  readonly #name: string;
  readonly #machines = new Set<string>();
  #rows: number | undefined;
  #canBind = true;
  #isKnown = false;

  constructor(name: string) {
    this.#name = name;
  }

  forget(isEmpty: boolean): void {
    this.#machines.clear();
    this.#rows = isEmpty ? 0 : undefined;
    this.#isKnown = isEmpty;
  }

  whole(): void {
    this.#rows ??= 0;
    this.#isKnown = true;
  }

  read({ machines, removed, demand, options }: InputChanges): readonly UndatedItem[] {
    const items: UndatedItem[] = [];
    for (const { cluster, origin } of demand) {
      if (cluster !== this.#name) continue;
      const before = this.#rows;
      const after = origin.length;
      this.#rows = after;
      if (before !== undefined) items.push({ kind: 'demand-changed', before, after });
    }
    for (const id of removed) this.#leave(id, items);
    for (const { id, state, cluster } of machines) {
      if (cluster !== this.#name || state !== MachineState.Configured) this.#leave(id, items);
      else if (!this.#machines.has(id)) {
        this.#machines.add(id);
        if (this.#isKnown) items.push({ kind: 'joined', machine: id });
      }
    }
    const canBind = options === null ? this.#canBind : !options.cannotBind.has(this.#name);
    if (canBind !== this.#canBind && this.#isKnown) items.push({ kind: 'binding', canBind });
    this.#canBind = canBind;
    return items;
  }

  #leave(id: string, items: UndatedItem[]): void {
    if (this.#machines.delete(id) && this.#isKnown) items.push({ kind: 'left', machine: id });
  }
}
