// Delta encoding of demand between threads. A structured clone loses object identity, by which the ledger detects unchanged
// rows; so each side keeps the last roll-up of each cluster, and only rows that were not in it are sent. Rows are addressed
// by their index in the previous roll-up, profiles by numbers that are never reused. Each side keeps exactly the last rows
// of each cluster and the profiles they refer to.

import { type Need, type Profile, printable, type ResourceVector } from '../../model/index.ts';
import { finished } from '../../wire/codec/steps.ts';
import { VectorPool } from './vector-pool.ts';

/** The difference between a roll-up and the previous one of its cluster. */
export interface DemandDelta {
  readonly cluster: string;
  /** Number of rows of the previous roll-up. */
  readonly before: number;
  /** By row: its index in the previous roll-up or, from `before` on, `before` + its index in `fresh`. null: unchanged. */
  readonly order: Int32Array | null;
  readonly fresh: PackedRows;
  /** New profiles with their numbers. */
  readonly profiles: readonly (readonly [number, Profile])[];
  /** Numbers of profiles that no row of any cluster refers to any more. */
  readonly dropped: readonly number[];
}

/** Fresh rows that are sent ahead of their delta, so that no single message takes long to build. */
export interface DemandPart {
  readonly cluster: string;
  readonly fresh: PackedRows;
  readonly profiles: DemandDelta['profiles'];
}

/** Rows in columns: a structured clone of objects with maps takes ten times as long. */
interface PackedRows {
  readonly groups: readonly string[];
  /** Names of resources, each once. */
  readonly names: readonly string[];
  /** By row: profile, first-seen, then aggregate and min unit, each as a count of pairs followed by (name, units) pairs. */
  readonly numbers: Float64Array;
  /** Indexes of set-aside rows, ascending; absent if there are none, and in journals of versions without such rows. */
  readonly setAside?: readonly number[];
}

const NO_ROWS: PackedRows = { groups: [], names: [], numbers: new Float64Array(0) };

/** Rows and profiles that one side keeps. */
export interface Kept {
  readonly rows: number;
  readonly profiles: number;
}

interface Sent {
  readonly needs: readonly Need[];
  readonly places: ReadonlyMap<Need, number>;
}

const NOTHING_SENT: Sent = { needs: [], places: new Map() };

export class DemandSender {
  readonly #sent = new Map<string, Sent>();
  /** By fingerprint. */
  readonly #profiles = new Map<string, { readonly number: number; rows: number }>();
  #lastProfile = 0;

  /** What the receiver has to be told; it must be told everything, in this order. */
  pack(cluster: string, needs: readonly Need[]): DemandDelta {
    return finished(this.packing(cluster, needs, { partRows: Number.POSITIVE_INFINITY, send: () => {} }));
  }

  /**
   * The same in short steps. Fresh rows beyond a part go ahead in parts of at most `partRows`, fewer if they have many
   * values. `send` must pass them on at once: other clusters may be packed between two steps, and numbers of profiles mean
   * something in this order only.
   */
  *packing(
    cluster: string,
    needs: readonly Need[],
    { partRows, send }: { readonly partRows: number; readonly send: (part: DemandPart) => void },
  ): Generator<undefined, DemandDelta> {
    const sent = this.#sent.get(cluster) ?? NOTHING_SENT;
    const before = sent.needs.length;
    if (hasSameRows(sent.needs, needs)) {
      return { cluster, before, order: null, fresh: NO_ROWS, profiles: [], dropped: [] };
    }
    const { order, places, fresh } = yield* compare(sent, needs);
    for (const need of fresh) if (need.cluster !== cluster) refuseStray(cluster, need);
    let from = 0;
    for (let to = endOfPart(fresh, 0, partRows); to < fresh.length; to = endOfPart(fresh, to, partRows)) {
      const profiles: [number, Profile][] = [];
      const rows = fresh.slice(from, to);
      send({ cluster, fresh: packRows(rows, (profile) => this.#hold(profile, profiles)), profiles });
      from = to;
      yield;
    }
    const profiles: [number, Profile][] = [];
    const packed = packRows(fresh.slice(from), (profile) => this.#hold(profile, profiles));
    if (needs.length === 0) this.#sent.delete(cluster);
    else this.#sent.set(cluster, { needs, places });
    // Dropped last: a row whose amounts changed keeps the number of its profile.
    const dropped: number[] = [];
    let steps = 0;
    for (const need of sent.places.keys()) {
      if (!places.has(need)) this.#release(need.profile, dropped);
      if (++steps % STEP_ROWS === 0) yield;
    }
    return { cluster, before, order, fresh: packed, profiles, dropped };
  }

  get kept(): Kept {
    let rows = 0;
    for (const { places } of this.#sent.values()) rows += places.size;
    return { rows, profiles: this.#profiles.size };
  }

  /** The number of a profile; increments its reference count. */
  #hold(profile: Profile, added: [number, Profile][]): number {
    const known = this.#profiles.get(profile.fingerprint);
    if (known !== undefined) {
      known.rows++;
      return known.number;
    }
    const number = ++this.#lastProfile;
    this.#profiles.set(profile.fingerprint, { number, rows: 1 });
    added.push([number, profile]);
    return number;
  }

  #release({ fingerprint }: Profile, dropped: number[]): void {
    const entry = this.#profiles.get(fingerprint)!;
    if (--entry.rows > 0) return;
    this.#profiles.delete(fingerprint);
    dropped.push(entry.number);
  }
}

export class DemandReceiver {
  readonly #rows = new Map<string, readonly Need[]>();
  readonly #profiles = new Map<number, Profile>();
  readonly #vectors = new VectorPool();
  /** By cluster: fresh rows received ahead of their delta. */
  readonly #early = new Map<string, Need[]>();

  /** Receives rows ahead of their delta. */
  receive({ cluster, fresh, profiles }: DemandPart): void {
    for (const [number, profile] of profiles) this.#profiles.set(number, profile);
    const rows = this.#unpackRows(cluster, fresh);
    const early = this.#early.get(cluster);
    if (early === undefined) this.#early.set(cluster, rows);
    else early.push(...rows);
  }

  /** The packed roll-up; rows of the previous one keep their object identity. */
  unpack({ cluster, before, order, fresh, profiles, dropped }: DemandDelta): readonly Need[] {
    const known = this.#rows.get(cluster) ?? [];
    if (known.length !== before) {
      throw new Error(`demand of "${printable(cluster)}": ${known.length} rows are known, not ${before}`);
    }
    if (order === null) return known;
    for (const [number, profile] of profiles) this.#profiles.set(number, profile);
    const early = this.#early.get(cluster) ?? [];
    this.#early.delete(cluster);
    const added = early.concat(this.#unpackRows(cluster, fresh));
    const needs: Need[] = [];
    for (const place of order) needs.push(place < before ? known[place]! : added[place - before]!);
    for (const number of dropped) this.#profiles.delete(number);
    if (needs.length === 0) this.#rows.delete(cluster);
    else this.#rows.set(cluster, needs);
    return needs;
  }

  get kept(): Kept {
    let rows = 0;
    for (const needs of this.#rows.values()) rows += new Set(needs).size;
    return { rows, profiles: this.#profiles.size };
  }

  #unpackRows(cluster: string, { groups, names, numbers, setAside }: PackedRows): Need[] {
    let at = 0;
    const aside = new Set(setAside);
    const vector = (): ResourceVector => {
      const from = at + 1;
      at = from + 2 * numbers[at]!;
      return this.#vectors.of({ names, numbers, from, to: at });
    };
    return groups.map((group, place) => {
      const profile = this.#profiles.get(numbers[at++]!)!;
      const firstSeenMs = numbers[at++]!;
      const aggregate = vector();
      const need = { cluster, profile, group, aggregate, minUnit: vector(), firstSeenMs };
      return aside.has(place) ? { ...need, setAside: true } : need;
    });
  }
}

/** Number of requirement values that cost as much to copy as one row. */
const VALUES_PER_ROW = 8;

/** Where a part of the fresh rows ends that costs as much as `partRows` ordinary ones, or is a single row. */
function endOfPart(fresh: readonly Need[], from: number, partRows: number): number {
  if (partRows === Number.POSITIVE_INFINITY) return fresh.length;
  let cost = 0;
  let to = from;
  while (to < fresh.length && (to === from || cost < partRows)) {
    cost++;
    for (const { values } of fresh[to++]!.profile.requirements) cost += values.length / VALUES_PER_ROW;
  }
  return to;
}

function hasSameRows(before: readonly Need[], needs: readonly Need[]): boolean {
  if (before.length !== needs.length) return false;
  for (let i = 0; i < needs.length; i++) if (before[i] !== needs[i]) return false;
  return true;
}

/** Rows per step: the caller reads the clock between steps. */
const STEP_ROWS = 512;

/** Where each row of a roll-up was before, and the rows that were not there. */
function* compare(sent: Sent, needs: readonly Need[]) {
  const order = new Int32Array(needs.length);
  const places = new Map<Need, number>();
  const fresh: Need[] = [];
  for (let i = 0; i < needs.length; i++) {
    if (i % STEP_ROWS === STEP_ROWS - 1) yield;
    const need = needs[i]!;
    const twin = places.get(need);
    if (twin !== undefined) {
      order[i] = order[twin]!;
      continue;
    }
    places.set(need, i);
    order[i] = sent.places.get(need) ?? sent.needs.length + fresh.push(need) - 1;
  }
  return { order, places, fresh };
}

function packRows(rows: readonly Need[], numberOf: (profile: Profile) => number): PackedRows {
  const names = new Map<string, number>();
  const numbers: number[] = [];
  const pack = (vector: ResourceVector): void => {
    numbers.push(vector.size);
    for (const [name, units] of vector) {
      if (!names.has(name)) names.set(name, names.size);
      numbers.push(names.get(name)!, units);
    }
  };
  for (const { profile, firstSeenMs, aggregate, minUnit } of rows) {
    numbers.push(numberOf(profile), firstSeenMs);
    pack(aggregate);
    pack(minUnit);
  }
  const groups = rows.map(({ group }) => group);
  const packed = { groups, names: [...names.keys()], numbers: new Float64Array(numbers) };
  const setAside = rows.flatMap((row, place) => (row.setAside === true ? place : []));
  return setAside.length === 0 ? packed : { ...packed, setAside };
}

function refuseStray(cluster: string, need: Need): never {
  const named = printable(need.cluster);
  throw new Error(`a row names cluster "${named}", the roll-up is of "${printable(cluster)}"`);
}
