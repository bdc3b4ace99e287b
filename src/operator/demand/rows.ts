// Rows of demand: pods of one profile and group, as sums that each pod event adjusts. The bytes of a row are cached, so that
// a roll-up encodes only the rows that changed since the last one.

import {
  comparePrecedence,
  compareText,
  formatQuantity,
  maximum,
  NO_RESOURCES,
  type Profile,
  type ResourceVector,
} from '../../model/index.ts';
import type { RowKey } from './contract.ts';
import { ExactSums } from './exact-sum.ts';
import { type KeyBytes, keyBytesOf, rowBytes } from './row-bytes.ts';

export class Row {
  readonly number: number;
  readonly profile: Profile;
  readonly group: string;
  /** Whether the row is no longer in the table; another one may have its number. */
  isRemoved = false;
  readonly key: RowKey;
  /** Pods that count for the row, without DaemonSet and static pods. */
  pods = 0;
  /** By number of a resource vector: pods that have it, and the vector. The largest pod is found from these. */
  readonly #vectors = new Map<number, { count: number; readonly vector: ResourceVector }>();
  readonly #sums = new ExactSums();
  /** Element-wise maximum of the vectors; null if a vector that may have been the largest left. */
  #largest: ResourceVector | null = NO_RESOURCES;
  readonly #keyBytes: KeyBytes;
  #bytes: Uint8Array | null = null;
  /** Version of the DaemonSets that the bytes were encoded with. */
  #daemonVersion = -1;

  constructor(number: number, profile: Profile, group: string) {
    this.number = number;
    this.profile = profile;
    this.group = group;
    this.key = { fingerprint: profile.fingerprint, group };
    this.#keyBytes = keyBytesOf(profile, group);
  }

  add(number: number, vector: ResourceVector): void {
    this.pods++;
    this.#sums.add(vector);
    const known = this.#vectors.get(number);
    if (known !== undefined) known.count++;
    else {
      this.#vectors.set(number, { count: 1, vector });
      if (this.#largest !== null) this.#largest = maximum(this.#largest, vector);
    }
    this.#bytes = null;
  }

  subtract(number: number, vector: ResourceVector): void {
    this.pods--;
    this.#sums.subtract(vector);
    const known = this.#vectors.get(number)!;
    if (--known.count === 0) {
      this.#vectors.delete(number);
      this.#largest = null;
    }
    this.#bytes = null;
  }

  /** DaemonSet and static pods of a node: part of the sum, not of the largest pod. */
  addOverhead(vector: ResourceVector): void {
    this.#sums.add(vector);
    this.#bytes = null;
  }

  subtractOverhead(vector: ResourceVector): void {
    this.#sums.subtract(vector);
    this.#bytes = null;
  }

  /** Whether nothing counts for the row any more. */
  get isEmpty(): boolean {
    return this.pods === 0 && this.#sums.size === 0;
  }

  /** The largest pod in each dimension. */
  largestPod(): ResourceVector {
    if (this.#largest === null) {
      let largest = NO_RESOURCES;
      for (const { vector } of this.#vectors.values()) largest = maximum(largest, vector);
      this.#largest = largest;
    }
    return this.#largest;
  }

  /** The row as a field of a roll-up. `daemons`: what DaemonSets take of a fresh node of the profile. */
  bytes(daemonVersion: number, daemons: (profile: Profile) => ResourceVector): Uint8Array {
    if (this.#bytes !== null && this.#daemonVersion === daemonVersion) return this.#bytes;
    const minUnit = minUnitOf(this.largestPod(), daemons(this.profile));
    const sums = this.#sums;
    this.#bytes = rowBytes(
      this.#keyBytes,
      { names: sums.names(), textOf: (name) => sums.textOf(name) },
      { names: minUnit.keys(), textOf: (name) => formatQuantity(minUnit.get(name)!, name) },
    );
    this.#daemonVersion = daemonVersion;
    return this.#bytes;
  }
}

/** The machine of the largest pod must also hold the DaemonSet pods that come with it. */
export function minUnitOf(largest: ResourceVector, daemons: ResourceVector): ResourceVector {
  if (daemons.size === 0) return largest;
  const sum = new Map(largest);
  for (const [name, units] of daemons)
    sum.set(name, Math.min(Number.MAX_SAFE_INTEGER, (sum.get(name) ?? 0) + units));
  return sum;
}

/** Negative: `a` is served first. Sightings are the shard's; without them the key decides. */
export function compareRows(a: Row, b: Row): number {
  return (
    comparePrecedence(b.profile, a.profile) ||
    compareText(a.profile.fingerprint, b.profile.fingerprint) ||
    compareText(a.group, b.group)
  );
}

/** All rows, by number and by key. */
export class Rows {
  readonly #byNumber: (Row | undefined)[] = [undefined];
  readonly #byKey = new Map<string, Row>();
  /** By fingerprint: groups share the profile. */
  readonly #profiles = new Map<string, { readonly profile: Profile; rows: number }>();
  readonly #free: number[] = [];
  /** Keys in the order of iteration; null after a row was added or removed. */
  #keys: readonly RowKey[] | null = null;

  get size(): number {
    return this.#byKey.size;
  }

  /** In the order of iteration. Not written again: callers may keep it. */
  get keys(): readonly RowKey[] {
    this.#keys ??= Array.from(this, ({ key }) => key);
    return this.#keys;
  }

  at(number: number): Row {
    return this.#byNumber[number]!;
  }

  find({ fingerprint, group }: RowKey): Row | undefined {
    return this.#byKey.get(keyOf(fingerprint, group));
  }

  profileOf(fingerprint: string): Profile | undefined {
    return this.#profiles.get(fingerprint)?.profile;
  }

  rowFor(profile: Profile, group: string): Row {
    const key = keyOf(profile.fingerprint, group);
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const number = this.#free.pop() ?? this.#byNumber.length;
    const shared = this.#profiles.get(profile.fingerprint);
    if (shared === undefined) this.#profiles.set(profile.fingerprint, { profile, rows: 1 });
    else shared.rows++;
    const row = new Row(number, shared?.profile ?? profile, group);
    this.#byNumber[number] = row;
    this.#byKey.set(key, row);
    this.#keys = null;
    return row;
  }

  /** The caller may still refer to a row that was removed before and whose key and number another row has now. */
  removeIfEmpty(row: Row): void {
    if (row.isRemoved || !row.isEmpty) return;
    const { fingerprint } = row.profile;
    this.#byKey.delete(keyOf(fingerprint, row.group));
    row.isRemoved = true;
    this.#keys = null;
    this.#byNumber[row.number] = undefined;
    this.#free.push(row.number);
    const shared = this.#profiles.get(fingerprint)!;
    if (--shared.rows === 0) this.#profiles.delete(fingerprint);
  }

  /** In the order of their numbers, which is stable from one roll-up to the next. */
  *[Symbol.iterator](): Generator<Row> {
    for (const row of this.#byNumber) if (row !== undefined) yield row;
  }
}

/** The length in front keeps keys apart whatever their parts contain. */
function keyOf(fingerprint: string, group: string): string {
  return group === '' ? fingerprint : `${fingerprint.length}:${fingerprint}${group}`;
}
