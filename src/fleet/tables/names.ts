// Interned names. Clusters, resource names, fingerprints and keys are compared and hashed once, on arrival; a cycle
// reads only their numbers. Number 0 means "none" everywhere. Used by both ledgers.

import { withRoom } from '../../collections/columns.ts';
import { hashOf, KeyIndex } from '../../collections/key-index.ts';
import { OrderedNames } from '../../collections/ordered-names.ts';
import { compareText, type NeedKey } from '../../model/index.ts';

/** Interned names that are never dropped: clusters. Their count is bounded by the fleet. */
export class NameTable {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [''];
  #sorted: readonly number[] = [];
  readonly #places: number[] = [];

  /** The number of a name, assigned on first use. '' is 0. */
  numberOf(name: string): number {
    if (name === '') return 0;
    let number = this.#numbers.get(name);
    if (number === undefined) {
      number = this.#names.push(name) - 1;
      this.#numbers.set(name, number);
    }
    return number;
  }

  /** The number of a name if it has one, else 0. */
  find(name: string): number {
    return this.#numbers.get(name) ?? 0;
  }

  nameOf(number: number): string {
    return this.#names[number]!;
  }

  /** One more than the largest number in use. */
  get size(): number {
    return this.#names.length;
  }

  /** Numbers 1… in name order. */
  sorted(): readonly number[] {
    if (this.#sorted.length !== this.#names.length - 1) {
      const numbers = this.#names.map((_, number) => number).slice(1);
      this.#sorted = numbers.sort((a, b) => compareText(this.nameOf(a), this.nameOf(b)));
      for (const [place, number] of this.#sorted.entries()) this.#places[number] = place;
    }
    return this.#sorted;
  }

  /** Place of a name among all names. */
  placeOf(number: number): number {
    this.sorted();
    return this.#places[number]!;
  }
}

/** Fields of a key in `#parts`; `Holders` is the reference count. */
const Part = { Cluster: 0, Fingerprint: 1, Hash: 2, Holders: 3 } as const;
const PARTS = 4;

/**
 * Keys of rows: (cluster, fingerprint, group). Groups come and go with every job, so keys are reference-counted, and a
 * number is reused once its count is 0. Fingerprints are long and few, so they are interned separately, and keys are
 * looked up by the number of their fingerprint.
 */
export class KeyTable {
  readonly #clusters: NameTable;
  readonly #fingerprints = new OrderedNames();
  readonly #index = new KeyIndex();
  readonly #free: number[] = [];
  /** `PARTS` fields per key. Interleaved, because a lookup reads them together. */
  #parts = new Uint32Array(PARTS);
  readonly #group: string[] = [''];

  constructor(clusters: NameTable) {
    this.#clusters = clusters;
  }

  /** Adds a reference to a key, interning it if it is new, and returns its number. */
  retain(key: NeedKey): number {
    return this.retainIn(this.#clusters.numberOf(key.cluster), key.fingerprint, key.group);
  }

  /** As `retain`, with the cluster given by number. */
  retainIn(cluster: number, fingerprintText: string, group: string): number {
    const fingerprint = this.#fingerprints.retain(fingerprintText);
    const hash = hashOf(cluster, fingerprint, group);
    let number = this.#find(hash, cluster, fingerprint, group);
    if (number === 0) {
      number = this.#free.pop() ?? this.size;
      this.#parts = withRoom(this.#parts, (number + 1) * PARTS);
      this.#parts[number * PARTS + Part.Cluster] = cluster;
      this.#parts[number * PARTS + Part.Fingerprint] = fingerprint;
      this.#parts[number * PARTS + Part.Hash] = hash;
      this.#group[number] = group;
      this.#index.add(number, hash);
    }
    this.#parts[number * PARTS + Part.Holders]!++;
    return number;
  }

  /**
   * Replaces a reference to a key by one to the key with another group, and returns the number of the latter. The number
   * stays the same if this was the only reference to the old key and the new key is not in use, so that data indexed by
   * key stays in place.
   */
  exchange(number: number, group: string): number {
    const at = number * PARTS;
    const cluster = this.clusterOf(number);
    const fingerprint = this.#fingerprintOf(number);
    const hash = hashOf(cluster, fingerprint, group);
    if (this.#parts[at + Part.Holders] === 1 && this.#find(hash, cluster, fingerprint, group) === 0) {
      this.#index.remove(number, this.#parts[at + Part.Hash]!);
      this.#index.add(number, hash);
      this.#parts[at + Part.Hash] = hash;
      this.#group[number] = group;
      return number;
    }
    const retained = this.retainIn(cluster, this.#fingerprints.nameOf(fingerprint), group);
    this.drop(number);
    return retained;
  }

  /** The number of a key in use, else 0. */
  find(key: NeedKey): number {
    const cluster = this.#clusters.find(key.cluster);
    return cluster === 0 && key.cluster !== '' ? 0 : this.findIn(cluster, key.fingerprint, key.group);
  }

  /** As `find`, with the cluster given by number. */
  findIn(cluster: number, fingerprintText: string, group: string): number {
    const fingerprint = this.#fingerprints.find(fingerprintText);
    if (fingerprint === 0) return 0;
    return this.#find(hashOf(cluster, fingerprint, group), cluster, fingerprint, group);
  }

  #find(hash: number, cluster: number, fingerprint: number, group: string): number {
    return this.#index.find(
      hash,
      (number) =>
        this.#parts[number * PARTS + Part.Fingerprint] === fingerprint &&
        this.#parts[number * PARTS + Part.Cluster] === cluster &&
        this.#group[number] === group,
    );
  }

  /** Keys in use. */
  get count(): number {
    return this.#index.count;
  }

  /** Drops a reference. */
  drop(number: number): void {
    if (number === 0) return;
    if (--this.#parts[number * PARTS + Part.Holders]! === 0) {
      this.#index.remove(number, this.#parts[number * PARTS + Part.Hash]!);
      this.#group[number] = '';
      this.#free.push(number);
    }
    this.#fingerprints.drop(this.#fingerprintOf(number));
  }

  keyOf(number: number): NeedKey {
    return {
      cluster: this.#clusters.nameOf(this.clusterOf(number)),
      fingerprint: this.#fingerprints.nameOf(this.#fingerprintOf(number)),
      group: this.#group[number]!,
    };
  }

  groupOf(number: number): string {
    return this.#group[number]!;
  }

  /** The number of a key's cluster. */
  clusterOf(number: number): number {
    return this.#parts[number * PARTS + Part.Cluster]!;
  }

  /** Negative if the text of key `a` sorts before that of key `b`. Both must belong to one cluster. */
  compare(a: number, b: number): number {
    const x = this.#fingerprintOf(a);
    const y = this.#fingerprintOf(b);
    if (x !== y) return this.#fingerprints.placeOf(x) - this.#fingerprints.placeOf(y);
    return compareText(this.#group[a]!, this.#group[b]!);
  }

  /** One more than the largest number in use. */
  get size(): number {
    return this.#group.length;
  }

  #fingerprintOf(number: number): number {
    return this.#parts[number * PARTS + Part.Fingerprint]!;
  }
}
