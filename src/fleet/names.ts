// Names as small numbers. Clusters, resource names, fingerprints and keys are compared and hashed once, when they
// arrive; a cycle sees numbers only. Number 0 means "none" everywhere.

import { compareText, type NeedKey } from '../model/index.ts';
import { withRoom } from './columns.ts';
import { hashOf, KeyIndex } from './key-index.ts';
import { OrderedNames } from './ordered-names.ts';

/** Names that stay for the life of the process: clusters. Their number is bounded by the fleet. */
export class NameTable {
  readonly #numbers = new Map<string, number>();
  readonly #names: string[] = [''];
  #sorted: readonly number[] = [];
  readonly #places: number[] = [];

  /** The number of a name, given out on first sight. '' is 0. */
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

/** Numbers that are kept of a key. */
const Part = { Cluster: 0, Fingerprint: 1, Hash: 2, Holders: 3 } as const;
const PARTS = 4;

/**
 * Keys of rows: (cluster, fingerprint, group). Groups come and go with every job, so a key is counted by those
 * who hold it and its number is given out again when nobody does. Fingerprints are long and few: they have numbers of
 * their own, by which keys are looked up.
 */
export class KeyTable {
  readonly #clusters: NameTable;
  readonly #fingerprints = new OrderedNames();
  readonly #index = new KeyIndex();
  readonly #free: number[] = [];
  /** By key, its Parts: together, since whoever looks at one of them looks at the others. */
  #parts = new Uint32Array(PARTS);
  readonly #group: string[] = [''];

  constructor(clusters: NameTable) {
    this.#clusters = clusters;
  }

  /** The number of a key, with one more holder. */
  hold(key: NeedKey): number {
    return this.holdIn(this.#clusters.numberOf(key.cluster), key.fingerprint, key.group);
  }

  /** The same, with its cluster by number. */
  holdIn(cluster: number, fingerprintText: string, group: string): number {
    const fingerprint = this.#fingerprints.hold(fingerprintText);
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
   * Lets go of a key for one that differs in the group only, and returns the number of that. It is the same number if
   * nobody else held the old key, nor anybody the new one: what is kept of a key then stays where it is.
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
    const held = this.holdIn(cluster, this.#fingerprints.nameOf(fingerprint), group);
    this.release(number);
    return held;
  }

  /** The number of a key that somebody holds, else 0. */
  find(key: NeedKey): number {
    const cluster = this.#clusters.find(key.cluster);
    return cluster === 0 && key.cluster !== '' ? 0 : this.findIn(cluster, key.fingerprint, key.group);
  }

  /** The same, with its cluster by number. */
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

  /** One holder less. */
  release(number: number): void {
    if (number === 0) return;
    if (--this.#parts[number * PARTS + Part.Holders]! === 0) {
      this.#index.remove(number, this.#parts[number * PARTS + Part.Hash]!);
      this.#group[number] = '';
      this.#free.push(number);
    }
    this.#fingerprints.release(this.#fingerprintOf(number));
  }

  keyOf(number: number): NeedKey {
    return {
      cluster: this.#clusters.nameOf(this.clusterOf(number)),
      fingerprint: this.#fingerprints.nameOf(this.#fingerprintOf(number)),
      group: this.#group[number]!,
    };
  }

  /** The number of a key's cluster. */
  clusterOf(number: number): number {
    return this.#parts[number * PARTS + Part.Cluster]!;
  }

  /** Negative if key `a` comes before key `b`, of the same cluster, by text. */
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
