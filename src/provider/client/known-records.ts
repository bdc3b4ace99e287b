// Table of the machines that inventory-reader.ts tracks: the id and the hash of the last valid record of each.
// intake.ts fills it and compares with it. Stored in typed columns, with the ids in one buffer, so that a million
// machines take about 40 MB and add no work for the garbage collector.

import { scramble32 } from '../../runtime/random.ts';

const NONE = -1;
/** Bytes of deleted ids below which the id buffer is not compacted. */
const MIN_WASTE_BYTES = 64 * 1024;

export class KnownRecords {
  /** Mixed into the hash of ids, so that a provider cannot craft ids that all fall into one chain. */
  readonly #seed: number;
  #heads = new Int32Array(1024).fill(NONE);
  #next = new Int32Array(1024);
  #hash = new Int32Array(1024);
  #idFrom = new Uint32Array(1024);
  #idBytes = new Uint16Array(1024);
  #low = new Int32Array(1024);
  #high = new Int32Array(1024);
  /** 1 if the sink has received a valid record. */
  #isDelivered = new Uint8Array(1024);
  /** Number of the last message that contained the id. */
  #seenIn = new Float64Array(1024);
  #ids = Buffer.allocUnsafeSlow(16 * 1024);
  #idsUsed = 0;
  #idsWasted = 0;
  #slots = 0;
  #free = NONE;
  #count = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  get count(): number {
    return this.#count;
  }

  /** Memory held, in bytes. */
  get heldBytes(): number {
    const columns = [this.#heads, this.#next, this.#hash, this.#idFrom, this.#idBytes, this.#low, this.#high];
    const flags = [this.#isDelivered, this.#seenIn, this.#ids];
    return [...columns, ...flags].reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  /** The slot of an id, allocated if it has none. An id has at most 65,535 bytes. */
  slotOf(bytes: Uint8Array, from: number, to: number): number {
    const hash = this.#hashOf(bytes, from, to);
    for (let slot = this.#heads[this.#chain(hash)]!; slot !== NONE; slot = this.#next[slot]!) {
      if (this.#hash[slot] === hash && this.#isId(slot, bytes, from, to)) return slot;
    }
    return this.#admit(hash, bytes, from, to);
  }

  idOf(slot: number): string {
    const from = this.#idFrom[slot]!;
    return this.#ids.toString('utf8', from, from + this.#idBytes[slot]!);
  }

  isDelivered(slot: number): boolean {
    return this.#isDelivered[slot] === 1;
  }

  seenIn(slot: number): number {
    return this.#seenIn[slot]!;
  }

  see(slot: number, message: number): void {
    this.#seenIn[slot] = message;
  }

  isSame(slot: number, low: number, high: number): boolean {
    return this.#isDelivered[slot] === 1 && this.#low[slot] === low && this.#high[slot] === high;
  }

  /** Records that the sink has received a record with this hash. */
  setDelivered(slot: number, low: number, high: number): void {
    this.#isDelivered[slot] = 1;
    this.#low[slot] = low;
    this.#high[slot] = high;
  }

  forget(slot: number): void {
    const chain = this.#chain(this.#hash[slot]!);
    if (this.#heads[chain] === slot) this.#heads[chain] = this.#next[slot]!;
    else {
      let before = this.#heads[chain]!;
      while (this.#next[before] !== slot) before = this.#next[before]!;
      this.#next[before] = this.#next[slot]!;
    }
    this.#idsWasted += this.#idBytes[slot]!;
    this.#isDelivered[slot] = 0;
    this.#idBytes[slot] = 0;
    this.#next[slot] = this.#free;
    this.#free = slot;
    this.#count--;
  }

  /** Slots of delivered machines that no message from number `message` on has contained. */
  *unseenSince(message: number): Iterable<number> {
    for (let slot = 0; slot < this.#slots; slot++) {
      if (this.#isDelivered[slot] === 1 && this.#seenIn[slot]! < message) yield slot;
    }
  }

  #admit(hash: number, bytes: Uint8Array, from: number, to: number): number {
    if (this.#count >= this.#heads.length) this.#lengthenChains();
    const slot = this.#takeSlot();
    const length = to - from;
    if (this.#idsUsed + length > this.#ids.length) this.#makeRoom(length);
    this.#idFrom[slot] = this.#idsUsed;
    this.#idBytes[slot] = length;
    this.#ids.set(bytes.subarray(from, to), this.#idsUsed);
    this.#idsUsed += length;
    this.#hash[slot] = hash;
    this.#isDelivered[slot] = 0;
    this.#seenIn[slot] = 0;
    this.#count++;
    this.#link(slot);
    return slot;
  }

  #takeSlot(): number {
    if (this.#free !== NONE) {
      const slot = this.#free;
      this.#free = this.#next[slot]!;
      return slot;
    }
    if (this.#slots === this.#next.length) this.#grow();
    return this.#slots++;
  }

  #link(slot: number): void {
    const chain = this.#chain(this.#hash[slot]!);
    this.#next[slot] = this.#heads[chain]!;
    this.#heads[chain] = slot;
  }

  #chain(hash: number): number {
    return hash & (this.#heads.length - 1);
  }

  #isId(slot: number, bytes: Uint8Array, from: number, to: number): boolean {
    if (this.#idBytes[slot] !== to - from) return false;
    const ids = this.#ids;
    let at = this.#idFrom[slot]!;
    for (let i = from; i < to; i++) if (ids[at++] !== bytes[i]) return false;
    return true;
  }

  #hashOf(bytes: Uint8Array, from: number, to: number): number {
    let hash = this.#seed;
    for (let i = from; i < to; i++) hash = Math.imul((hash ^ bytes[i]!) + (hash >>> 15), 0x2c1b3c6d);
    return scramble32(hash);
  }

  #lengthenChains(): void {
    const free = new Set<number>();
    for (let slot = this.#free; slot !== NONE; slot = this.#next[slot]!) free.add(slot);
    this.#heads = new Int32Array(this.#heads.length * 2).fill(NONE);
    for (let slot = 0; slot < this.#slots; slot++) if (!free.has(slot)) this.#link(slot);
  }

  /** Makes room for `length` bytes: compacts if more than half of the buffer is deleted ids, otherwise grows. */
  #makeRoom(length: number): void {
    const isWorthCleaning = this.#idsWasted > MIN_WASTE_BYTES && this.#idsWasted * 2 > this.#idsUsed;
    const live = this.#idsUsed - (isWorthCleaning ? this.#idsWasted : 0);
    const old = this.#ids;
    const bytes = Buffer.allocUnsafeSlow(
      Math.max(isWorthCleaning ? old.length : old.length * 2, live + length),
    );
    if (!isWorthCleaning) old.copy(bytes, 0, 0, this.#idsUsed);
    else {
      let used = 0;
      for (let slot = 0; slot < this.#slots; slot++) {
        const from = this.#idFrom[slot]!;
        this.#idFrom[slot] = used;
        used += old.copy(bytes, used, from, from + this.#idBytes[slot]!);
      }
      this.#idsUsed = used;
      this.#idsWasted = 0;
    }
    this.#ids = bytes;
  }

  #grow(): void {
    const length = this.#next.length * 2;
    this.#next = copied(this.#next, new Int32Array(length));
    this.#hash = copied(this.#hash, new Int32Array(length));
    this.#idFrom = copied(this.#idFrom, new Uint32Array(length));
    this.#idBytes = copied(this.#idBytes, new Uint16Array(length));
    this.#low = copied(this.#low, new Int32Array(length));
    this.#high = copied(this.#high, new Int32Array(length));
    this.#isDelivered = copied(this.#isDelivered, new Uint8Array(length));
    this.#seenIn = copied(this.#seenIn, new Float64Array(length));
  }
}

function copied<C extends { set(source: C): void }>(source: C, target: C): C {
  target.set(source);
  return target;
}
