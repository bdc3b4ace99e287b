// The table of pods and CapacityRequests: a few numbers in columns for each, found by uid. Hundreds of thousands of objects
// would be most of the operator's memory and most of the work of its garbage collector. Written by pod-records.ts and
// pod-demand.ts.

import { hashOf, KeyIndex } from '../../collections/key-index.ts';
import { ColumnGroup } from '../../collections/table.ts';
import { Texts } from '../../collections/texts.ts';

/** Fewer removals than half of these are not worth a pass over the table. */
const MIN_REMOVED = 8192;

export class PodTable {
  readonly bySlot = new ColumnGroup(this);
  /** Bits of `Flag`. */
  readonly flags = this.bySlot.u32();
  readonly shape = this.bySlot.u32();
  /** Set of claims; 0: none. */
  readonly claims = this.bySlot.u32();
  readonly vector = this.bySlot.u32();
  readonly namespace = this.bySlot.u32();
  /** Set of labels. */
  readonly labels = this.bySlot.u32();
  /** 0: not bound. */
  readonly node = this.bySlot.u32();
  /** What the pod adds to the use of its node, as bits of node-accounts.ts. */
  readonly use = this.bySlot.u32();
  readonly nextOnNode = this.bySlot.u32();
  readonly previousOnNode = this.bySlot.u32();
  /** Row that the pod counts for, with `vector`; 0: none. */
  readonly row = this.bySlot.u32();
  /** Of a pod: its first CapacityRequest. Of a CapacityRequest: the next one of the same pod. */
  readonly request = this.bySlot.u32();
  /** Of a CapacityRequest: slot of the pod that it was made for, if that is known. */
  readonly owner = this.bySlot.u32();
  /** Number of the list that last contained the object; 0: the slot is free. */
  readonly mark = this.bySlot.u32();
  readonly #uids = new Texts();
  readonly #byUid = new KeyIndex();
  readonly #free: number[] = [];
  /** Slots 1 to `end` − 1 are or were in use. */
  #end = 1;
  /** Removals since uids were tidied. */
  #removed = 0;

  constructor() {
    this.bySlot.reserve(64);
  }

  get end(): number {
    return this.#end;
  }

  get size(): number {
    return this.#byUid.count;
  }

  /** 0 if there is none. */
  find(uid: string): number {
    return this.#byUid.find(hashOf(0, 0, uid), (slot) => this.#uids.has(slot, uid));
  }

  /** A slot whose columns are all 0, apart from `mark`. */
  add(uid: string, mark: number): number {
    const slot = this.#free.pop() ?? this.#end++;
    this.bySlot.reserve(slot + 1);
    this.#uids.set(slot, uid);
    this.#byUid.add(slot, hashOf(0, 0, uid));
    this.mark[slot] = mark;
    return slot;
  }

  remove(slot: number): void {
    this.#byUid.remove(slot, hashOf(0, 0, this.#uids.textOf(slot)));
    this.#uids.remove(slot);
    for (const column of this.bySlot.columns()) column[slot] = 0;
    this.#free.push(slot);
    if (++this.#removed * 2 > this.#end + MIN_REMOVED) this.#tidy();
  }

  /** Returns the memory of uids that are gone. */
  #tidy(): void {
    this.#removed = 0;
    const used: number[] = [];
    for (let slot = 1; slot < this.#end; slot++) if (this.mark[slot] !== 0) used.push(slot);
    this.#uids.tidy(Uint32Array.from(used));
  }

  uidOf(slot: number): string {
    return this.#uids.textOf(slot);
  }

  /** Puts a pod in front of the list of its node; returns the new first slot. */
  link(slot: number, first: number): number {
    this.nextOnNode[slot] = first;
    this.previousOnNode[slot] = 0;
    if (first !== 0) this.previousOnNode[first] = slot;
    return slot;
  }

  /** Takes a pod out of the list of its node; returns the new first slot. */
  unlink(slot: number, first: number): number {
    const next = this.nextOnNode[slot]!;
    const previous = this.previousOnNode[slot]!;
    if (previous !== 0) this.nextOnNode[previous] = next;
    if (next !== 0) this.previousOnNode[next] = previous;
    this.nextOnNode[slot] = this.previousOnNode[slot] = 0;
    return first === slot ? next : first;
  }
}
