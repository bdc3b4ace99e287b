// Roll-up deltas as plain data, for the controller's thread and for the journal. Origins are passed on as they are;
// fresh rows are packed in columns, and their profiles are replaced by numbers that are never reused. The sender keeps
// the profile number of each row of the last roll-up, the receiver only the profiles: neither keeps the rows. Used by
// demand-packer.ts (sender), controller-worker.ts (receiver) and journal/rollup-records.ts.

import {
  FRESH,
  keptRows,
  type Need,
  NO_ROLLUP,
  type Profile,
  printable,
  type ResourceVector,
  type RollupDelta,
} from '../../model/index.ts';
import { finished } from '../../wire/codec/steps.ts';
import { VectorPool } from './vector-pool.ts';

/** A `RollupDelta` with packed rows. */
export interface PackedDelta extends Omit<RollupDelta, 'fresh'> {
  /** Number of rows of the roll-up that the sender packed before this one. */
  readonly before: number;
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
  readonly profiles: PackedDelta['profiles'];
}

/** Rows in columns: a structured clone of objects with maps takes ten times as long. */
export interface PackedRows {
  readonly groups: readonly string[];
  /** Names of resources, each once. */
  readonly names: readonly string[];
  /** By row: profile, first-seen, then aggregate and min unit, each as a count of pairs followed by (name, units) pairs. */
  readonly numbers: Float64Array;
  /** Indexes of set-aside rows, ascending; absent if there are none, and in journals of versions without such rows. */
  readonly setAside?: readonly number[];
}

/** The last roll-up that was packed of a cluster. */
interface Sent {
  readonly version: number;
  /** By row: the number of its profile. */
  readonly profiles: Int32Array;
}

interface NumberedProfile {
  readonly number: number;
  readonly fingerprint: string;
  /** Rows of all clusters that refer to it. */
  rows: number;
}

const NOTHING_SENT: Sent = { version: NO_ROLLUP.version, profiles: new Int32Array(0) };

/** How fresh rows are cut into parts. */
export interface Parts {
  /** Maximum number of rows per part; fewer if they have many values. */
  readonly partRows: number;
  /**
   * Must pass a part on at once: other clusters may be packed between two steps, and numbers of profiles mean something in
   * this order only.
   */
  readonly send: (part: DemandPart) => void;
}

export class DemandSender {
  readonly #sent = new Map<string, Sent>();
  readonly #byFingerprint = new Map<string, NumberedProfile>();
  readonly #byNumber = new Map<number, NumberedProfile>();
  #lastProfile = 0;

  /** Packs a roll-up in one go. The receiver needs every result, in this order. */
  pack(delta: RollupDelta): PackedDelta {
    return finished(this.packing(delta, { partRows: Number.POSITIVE_INFINITY, send: () => {} }));
  }

  /**
   * Packs a roll-up in short steps and sends all but the last part of its fresh rows ahead. Throws BF_ROLLUP_BASE if it
   * does not differ from the last roll-up that was packed of its cluster.
   */
  *packing(delta: RollupDelta, { partRows, send }: Parts): Generator<undefined, PackedDelta> {
    const { cluster, base, version, origin, fresh } = delta;
    const sent = this.#sent.get(cluster) ?? NOTHING_SENT;
    const before = sent.profiles.length;
    const kept = keptRows(delta, { version: sent.version, rows: before });
    for (const need of fresh) if (need.cluster !== cluster) refuseStray(cluster, need);
    const numbers = new Int32Array(fresh.length);
    let from = 0;
    for (let to = endOfPart(fresh, 0, partRows); to < fresh.length; to = endOfPart(fresh, to, partRows)) {
      send({ cluster, ...this.#packed(fresh, numbers, from, to) });
      from = to;
      yield;
    }
    const rest = this.#packed(fresh, numbers, from, fresh.length);
    // Dropped last: a row whose amounts changed keeps the number of its profile.
    const dropped: number[] = [];
    let steps = 0;
    for (let at = 0; at < before; at++) {
      if (kept[at] === 1) continue;
      this.#release(sent.profiles[at]!, dropped);
      if (++steps % STEP_ROWS === 0) yield;
    }
    this.#sent.set(cluster, { version, profiles: profilesAfter(sent, origin, numbers) });
    return { cluster, base, version, before, origin, ...rest, dropped };
  }

  /** Number of profiles that a row refers to. */
  get profiles(): number {
    return this.#byNumber.size;
  }

  /** The fresh rows `from … to − 1` in columns, with the profiles that they are the first to refer to. */
  #packed(
    fresh: readonly Need[],
    numbers: Int32Array,
    from: number,
    to: number,
  ): Pick<PackedDelta, 'fresh' | 'profiles'> {
    const profiles: [number, Profile][] = [];
    for (let i = from; i < to; i++) numbers[i] = this.#retain(fresh[i]!.profile, profiles);
    return { fresh: packRows(fresh.slice(from, to), numbers.subarray(from, to)), profiles };
  }

  /** The number of a profile; increments its reference count. */
  #retain(profile: Profile, added: [number, Profile][]): number {
    const { fingerprint } = profile;
    const known = this.#byFingerprint.get(fingerprint);
    if (known !== undefined) {
      known.rows++;
      return known.number;
    }
    const number = ++this.#lastProfile;
    const entry = { number, fingerprint, rows: 1 };
    this.#byFingerprint.set(fingerprint, entry);
    this.#byNumber.set(number, entry);
    added.push([number, profile]);
    return number;
  }

  #release(number: number, dropped: number[]): void {
    const entry = this.#byNumber.get(number)!;
    if (--entry.rows > 0) return;
    this.#byNumber.delete(number);
    this.#byFingerprint.delete(entry.fingerprint);
    dropped.push(number);
  }
}

export class DemandReceiver {
  readonly #profiles = new Map<number, Profile>();
  readonly #vectors = new VectorPool();
  /** By cluster: fresh rows received ahead of their delta. */
  readonly #early = new Map<string, Need[]>();

  /** Receives rows ahead of their delta. */
  receive({ cluster, fresh, profiles }: DemandPart): void {
    const rows = this.#unpackRows(cluster, fresh, profiles);
    const early = this.#early.get(cluster);
    if (early === undefined) this.#early.set(cluster, rows);
    else early.push(...rows);
  }

  /** The roll-up. Its reader checks that it has the roll-up that this one differs from. */
  unpack({
    cluster,
    base,
    version,
    origin,
    fresh,
    profiles,
    dropped,
  }: Omit<PackedDelta, 'before'>): RollupDelta {
    const early = this.#early.get(cluster) ?? [];
    this.#early.delete(cluster);
    const rows = early.concat(this.#unpackRows(cluster, fresh, profiles));
    for (const number of dropped) this.#profiles.delete(number);
    return { cluster, base, version, origin, fresh: rows };
  }

  /** Number of profiles that a row refers to. */
  get profiles(): number {
    return this.#profiles.size;
  }

  #unpackRows(
    cluster: string,
    { groups, names, numbers, setAside }: PackedRows,
    profiles: PackedDelta['profiles'],
  ): Need[] {
    for (const [number, profile] of profiles) this.#profiles.set(number, profile);
    let at = 0;
    const aside = new Set(setAside);
    const vector = (): ResourceVector => {
      const from = at + 1;
      at = from + 2 * numbers[at]!;
      return this.#vectors.of({ names, numbers, from, to: at });
    };
    return groups.map((group, place) => {
      const profile = this.#profileOf(numbers[at++]!);
      const firstSeenMs = numbers[at++]!;
      const aggregate = vector();
      const need = { cluster, profile, group, aggregate, minUnit: vector(), firstSeenMs };
      return aside.has(place) ? { ...need, setAside: true } : need;
    });
  }

  #profileOf(number: number): Profile {
    const profile = this.#profiles.get(number);
    if (profile === undefined) throw new Error(`a row refers to profile ${number}, which was not received`);
    return profile;
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

/** Rows per step: the caller reads the clock between steps. */
const STEP_ROWS = 512;

/**
 * By row of a roll-up: the number of its profile. `numbers`: those of the fresh rows. Where every other row is where it was, as
 * mostly, the column is changed in place.
 */
function profilesAfter({ profiles }: Sent, origin: Int32Array, numbers: Int32Array): Int32Array {
  const isInPlace = origin.length === profiles.length && origin.every((at, i) => at === i || at === FRESH);
  const after = isInPlace ? profiles : new Int32Array(origin.length);
  let next = 0;
  for (let i = 0; i < after.length; i++) {
    const at = origin[i]!;
    after[i] = at === FRESH ? numbers[next++]! : profiles[at]!;
  }
  return after;
}

/** Written straight into a column of the right size: journal and replica pack every changed row of a fleet. */
function packRows(rows: readonly Need[], profiles: Int32Array): PackedRows {
  const names = new Map<string, number>();
  const groups: string[] = [];
  const setAside: number[] = [];
  let length = 0;
  for (const { aggregate, minUnit } of rows) length += ROW_NUMBERS + 2 * (aggregate.size + minUnit.size);
  const numbers = new Float64Array(length);
  let at = 0;
  const packUnits = (units: number, name: string): void => {
    let number = names.get(name);
    if (number === undefined) {
      number = names.size;
      names.set(name, number);
    }
    numbers[at++] = number;
    numbers[at++] = units;
  };
  for (let i = 0; i < rows.length; i++) {
    const { aggregate, firstSeenMs, group, minUnit, setAside: isSetAside } = rows[i]!;
    groups.push(group);
    if (isSetAside === true) setAside.push(i);
    numbers[at++] = profiles[i]!;
    numbers[at++] = firstSeenMs;
    numbers[at++] = aggregate.size;
    aggregate.forEach(packUnits);
    numbers[at++] = minUnit.size;
    minUnit.forEach(packUnits);
  }
  const packed = { groups, names: [...names.keys()], numbers };
  return setAside.length === 0 ? packed : { ...packed, setAside };
}

/** Of a row without amounts: its profile, its time, and the sizes of its vectors. */
const ROW_NUMBERS = 4;

function refuseStray(cluster: string, need: Need): never {
  const named = printable(need.cluster);
  throw new Error(`a row names cluster "${named}", the roll-up is of "${printable(cluster)}"`);
}
