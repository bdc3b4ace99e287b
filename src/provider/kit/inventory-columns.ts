// The inventory in memory: one slot per machine, in columns. Three indexes serve a List without a scan: slots by state
// (a slot list per state), slots by last change (a linked list in the order of revisions), and encoded records
// (encoded-records.ts). A record has a described part, which the backend describes, and a life-cycle part, which
// transitions change (body.ts). Owned by inventory.ts; read by listing.ts and by provider.ts, which also sets
// operations.

import { MachineState } from '../../model/index.ts';
import type { Machine } from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { decodeLife, decodeMachine, encodeLife, entryHeader, idOfBody, type Life } from './body.ts';
import { EncodedRecords, type RecordSnapshot } from './encoded-records.ts';
import type { MachineRow } from './store.ts';
import { TRANSITION_KINDS, type TransitionKind } from './transitions.ts';

const NONE = -1;
export const EVERY_STATE: readonly MachineState[] = Object.values(MachineState);

class SlotList {
  slots = new Int32Array(16);
  count = 0;
}

export class InventoryColumns {
  readonly #slotOf = new Map<string, number>();
  readonly #ids: string[] = [];
  readonly #encoded = new EncodedRecords();
  readonly #slotsByState = Array.from({ length: MachineState.Failed + 1 }, () => new SlotList());
  #states = new Uint8Array(1024);
  #revisions = new Float64Array(1024);
  #describedBytes = new Uint32Array(1024);
  /** Index in the slot list of its state. */
  #places = new Int32Array(1024);
  /** Links of the list in the order of changes. */
  #older = new Int32Array(1024);
  #newer = new Int32Array(1024);
  #newest = NONE;
  /** `TRANSITION_KINDS.length` numbers per slot: the last operation of each transition kind. */
  #operations = new Float64Array(1024 * TRANSITION_KINDS.length);

  get count(): number {
    return this.#ids.length;
  }

  slotOf(id: string): number | undefined {
    return this.#slotOf.get(id);
  }

  idOf(slot: number): string {
    return this.#ids[slot]!;
  }

  stateOf(slot: number): MachineState {
    return this.#states[slot] as MachineState;
  }

  /** The revision of its last change. */
  revisionOf(slot: number): number {
    return this.#revisions[slot]!;
  }

  operationOf(slot: number, kind: TransitionKind): number {
    return this.#operations[slot * TRANSITION_KINDS.length + TRANSITION_KINDS.indexOf(kind)]!;
  }

  setOperation(slot: number, kind: TransitionKind, operation: number): void {
    this.#operations[slot * TRANSITION_KINDS.length + TRANSITION_KINDS.indexOf(kind)] = operation;
  }

  /** The record as a message, as a view that is valid until the next change. */
  bodyOf(slot: number): Buffer {
    const entry = this.#encoded.at(slot);
    return entry.subarray(entry.length - this.#bodyBytes(slot));
  }

  /** The described part, as a view that is valid until the next change. */
  describedOf(slot: number): Buffer {
    return this.bodyOf(slot).subarray(0, this.#describedBytes[slot]!);
  }

  machineOf(slot: number): Machine {
    return decodeMachine(this.bodyOf(slot));
  }

  /** Decodes the life-cycle part only. */
  lifeOf(slot: number): Life {
    return decodeLife(this.bodyOf(slot).subarray(this.#describedBytes[slot]!));
  }

  /** Loads the records of a store into an empty inventory. */
  restore(rows: Iterable<MachineRow>): void {
    for (const { slot, state, body, describedBytes, revision, operations } of rows) {
      if (slot !== this.count) throw new Error(`slot ${slot} where ${this.count} was expected`);
      this.#admit(idOfBody(body));
      this.#operations.set(operations, slot * TRANSITION_KINDS.length);
      this.#place(slot, state, describedBytes, [body]);
      this.#revisions[slot] = revision;
    }
    const byChange = this.slotsIn(EVERY_STATE, 0, this.count).sort(
      (a, b) => this.#revisions[a]! - this.#revisions[b]!,
    );
    for (const slot of byChange) this.#linkNewest(slot);
  }

  add(id: string, described: Uint8Array, life: Life, revision: number): number {
    const slot = this.#admit(id);
    this.#place(slot, life.state, described.length, [described, encodeLife(life)]);
    this.#revisions[slot] = revision;
    this.#linkNewest(slot);
    return slot;
  }

  setLife(slot: number, life: Life, revision: number): void {
    // Copied, because the record is replaced below.
    const described = new Uint8Array(this.describedOf(slot));
    this.#displace(slot);
    this.#place(slot, life.state, described.length, [described, encodeLife(life)]);
    this.#touch(slot, revision);
  }

  setDescribed(slot: number, described: Uint8Array, revision: number): void {
    const life = new Uint8Array(this.bodyOf(slot).subarray(this.#describedBytes[slot]!));
    const state = this.stateOf(slot);
    this.#displace(slot);
    this.#place(slot, state, described.length, [described, life]);
    this.#touch(slot, revision);
  }

  /** The record for a store. */
  rowOf(slot: number): MachineRow {
    return {
      slot,
      state: this.stateOf(slot),
      revision: this.#revisions[slot]!,
      body: new Uint8Array(this.bodyOf(slot)),
      describedBytes: this.#describedBytes[slot]!,
      operations: TRANSITION_KINDS.map((kind) => this.operationOf(slot, kind)),
    };
  }

  /** How many machines are in these states. */
  countIn(states: readonly MachineState[]): number {
    return states.reduce((sum, state) => sum + this.#slotsByState[state]!.count, 0);
  }

  /** At most `limit` slots of the machines in these states, from position `start` with wrap-around. */
  slotsIn(states: readonly MachineState[], start: number, limit: number): Int32Array {
    const total = this.countIn(states);
    const chosen = new Int32Array(Math.min(limit, total));
    // All slots in ascending order, which is mostly their order in memory, so that copying them is sequential.
    if (chosen.length === this.count) return chosen.map((_, slot) => slot);
    if (total === 0) return chosen;
    const first = start % total;
    const end = first + chosen.length;
    const at = this.#copySlots(states, first, Math.min(end, total), chosen, 0);
    this.#copySlots(states, 0, end - total, chosen, at);
    return chosen;
  }

  /** Copies positions `from` to `to` of the slot lists of these states, concatenated; returns where the copy ends. */
  #copySlots(
    states: readonly MachineState[],
    from: number,
    to: number,
    target: Int32Array,
    at: number,
  ): number {
    let base = 0;
    for (const state of states) {
      const { slots, count } = this.#slotsByState[state]!;
      const part = slots.subarray(
        Math.max(0, Math.min(from - base, count)),
        Math.max(0, Math.min(to - base, count)),
      );
      target.set(part, at);
      at += part.length;
      base += count;
    }
    return at;
  }

  /** Slots that changed after a revision, latest first. */
  *slotsSince(revision: number): Iterable<number> {
    for (let slot = this.#newest; slot !== NONE && this.#revisions[slot]! > revision; ) {
      yield slot;
      slot = this.#older[slot]!;
    }
  }

  /** A snapshot of the records of these slots, each as an entry of a `MachineList`. */
  snapshot(slots: Int32Array): RecordSnapshot {
    return this.#encoded.snapshot(slots);
  }

  #bodyBytes(slot: number): number {
    const length = this.#encoded.lengthOf(slot);
    // One byte of tag, and the length in base 128 of what is left.
    let header = 2;
    while (length - header >= 2 ** (7 * (header - 1))) header++;
    return length - header;
  }

  #place(slot: number, state: MachineState, describedBytes: number, parts: readonly Uint8Array[]): void {
    const bodyBytes = parts.reduce((sum, part) => sum + part.length, 0);
    this.#encoded.set(slot, [entryHeader(bodyBytes), ...parts]);
    this.#describedBytes[slot] = describedBytes;
    this.#states[slot] = state;
    const slotList = this.#slotsByState[state]!;
    if (slotList.count === slotList.slots.length) slotList.slots = doubled(slotList.slots, Int32Array);
    slotList.slots[slotList.count] = slot;
    this.#places[slot] = slotList.count++;
  }

  /** Removes a slot from the slot list of its state; the last slot of the list takes its index. */
  #displace(slot: number): void {
    const slotList = this.#slotsByState[this.stateOf(slot)]!;
    const place = this.#places[slot]!;
    const last = slotList.slots[--slotList.count]!;
    slotList.slots[place] = last;
    this.#places[last] = place;
  }

  #touch(slot: number, revision: number): void {
    this.#revisions[slot] = revision;
    if (slot === this.#newest) return;
    const older = this.#older[slot]!;
    const newer = this.#newer[slot]!;
    if (older !== NONE) this.#newer[older] = newer;
    this.#older[newer] = older;
    this.#linkNewest(slot);
  }

  #linkNewest(slot: number): void {
    this.#older[slot] = this.#newest;
    this.#newer[slot] = NONE;
    if (this.#newest !== NONE) this.#newer[this.#newest] = slot;
    this.#newest = slot;
  }

  #admit(id: string): number {
    const slot = this.count;
    this.#ids.push(id);
    this.#slotOf.set(id, slot);
    if (slot === this.#states.length) this.#grow();
    return slot;
  }

  #grow(): void {
    this.#states = doubled(this.#states, Uint8Array);
    this.#revisions = doubled(this.#revisions, Float64Array);
    this.#describedBytes = doubled(this.#describedBytes, Uint32Array);
    this.#places = doubled(this.#places, Int32Array);
    this.#older = doubled(this.#older, Int32Array);
    this.#newer = doubled(this.#newer, Int32Array);
    this.#operations = doubled(this.#operations, Float64Array);
  }
}

type Column =
  | Uint8Array<ArrayBuffer>
  | Uint32Array<ArrayBuffer>
  | Int32Array<ArrayBuffer>
  | Float64Array<ArrayBuffer>;

function doubled<C extends Column>(column: C, make: new (length: number) => C): C {
  const larger = new make(column.length * 2);
  larger.set(column);
  return larger;
}
