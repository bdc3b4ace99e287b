// The machine ledger: every machine in columns, and the sorted runs that decisions walk. One writer only; every
// write takes the machine out of its runs, changes the columns, and puts it back where it now belongs.

import { compareText, type LedgerMachine, MachineState, type NeedKey, type Stamp } from '../model/index.ts';
import type { ClassTable } from './classes.ts';
import { extended, grownCapacity, sharedFloat64, sharedUint8, sharedUint32 } from './columns.ts';
import type { KeyTable, NameTable } from './names.ts';
import { type Run, RunArena, type SlotOrder } from './runs.ts';
import { StampTable } from './stamps.ts';

const { Idle, Speculative, Configuring, Configured } = MachineState;
const UNKNOWN_TIME = Number.NaN;

/** Bound machines of one cluster, each run by (price, reclamation penalty desc, id). */
export interface BoundRuns {
  readonly configured: Run;
  readonly configuring: Run;
}

export class MachineLedger {
  readonly classes: ClassTable;
  readonly clusters: NameTable;
  readonly keys: KeyTable;
  readonly stamps = new StampTable();
  readonly arena = new RunArena();

  // Columns, by slot. A slot without a machine has state 0.
  state: Uint8Array = sharedUint8(0);
  held: Uint8Array = sharedUint8(0);
  classOf: Uint32Array = sharedUint32(0);
  cluster: Uint32Array = sharedUint32(0);
  stamp: Uint32Array = sharedUint32(0);
  /** Key of the row a bound machine was bound for, and of the row a machine is on its way to. */
  stampKey: Uint32Array = sharedUint32(0);
  target: Uint32Array = sharedUint32(0);
  /** Place of the id among all ids: ties are broken by comparing these. */
  ordinal: Uint32Array = sharedUint32(0);
  idleSinceMs: Float64Array = sharedFloat64(0);

  readonly #ids: string[] = [];
  readonly #slots = new Map<string, number>();
  readonly #free: number[] = [];
  /** Slots in id order, and those whose id came or went since that order was made. */
  #sorted: number[] = [];
  #added: number[] = [];
  #removed = new Set<number>();
  /** While many records are loaded: slots written but not yet placed. */
  #loading: Set<number> | null = null;

  readonly #bound: (BoundRuns | undefined)[] = [];
  /** Free plain Idle and Speculative machines by class: not held, and Idle ones without target and penalty. */
  readonly idleRuns: (Run | undefined)[] = [];
  readonly speculativeRuns: (Run | undefined)[] = [];
  /** Idle machines that are not held but carry a target or a reclamation penalty; few. By pool order. */
  readonly specialIdle: Run;
  /** Machines on their way to a row, by the row's key, in id order. */
  readonly #targeted = new Map<number, Run>();
  /** Machines by class and state, and those of them that are not held: `[class × 9 + state]`. */
  readonly #owned: number[] = [];
  readonly counts: number[] = [];
  readonly freeCounts: number[] = [];

  readonly keepOrder = (a: number, b: number): number =>
    this.classes.price[this.classOf[a]!]! - this.classes.price[this.classOf[b]!]! ||
    compareNumbers(this.reclamationOf(b), this.reclamationOf(a)) ||
    this.ordinal[a]! - this.ordinal[b]!;

  readonly idOrder = (a: number, b: number): number => this.ordinal[a]! - this.ordinal[b]!;

  constructor(classes: ClassTable, clusters: NameTable, keys: KeyTable) {
    this.classes = classes;
    this.clusters = clusters;
    this.keys = keys;
    this.specialIdle = this.arena.newRun();
  }

  /** Machines on record. */
  get count(): number {
    return this.#slots.size;
  }

  /** One more than the largest slot in use. */
  get size(): number {
    return this.#ids.length;
  }

  /** Bytes of the hot columns, reserve included. */
  get columnBytes(): number {
    const columns = [
      this.state,
      this.held,
      this.classOf,
      this.cluster,
      this.stamp,
      this.stampKey,
      this.target,
    ];
    return [...columns, this.ordinal, this.idleSinceMs].reduce((sum, column) => sum + column.byteLength, 0);
  }

  idOf(slot: number): string {
    return this.#ids[slot]!;
  }

  slotOf(id: string): number | undefined {
    return this.#slots.get(id);
  }

  stateOf(slot: number): MachineState {
    return this.state[slot] as MachineState;
  }

  reclamationOf(slot: number): number {
    return this.stamps.reclamationDollars[this.stamp[slot]!]!;
  }

  boundOf(cluster: number): BoundRuns | undefined {
    return this.#bound[cluster];
  }

  targetedAt(key: number): Run | undefined {
    return this.#targeted.get(key);
  }

  /** Many records at once, without sorting anything twice. */
  load(machines: readonly LedgerMachine[]): void {
    this.#loading = new Set();
    for (const machine of machines) this.put(machine);
    const loaded = [...this.#loading];
    this.#loading = null;
    this.settleOrdinals();
    for (const slot of loaded.sort(this.idOrder)) this.#place(slot);
  }

  /** Inserts or replaces a record. The caller has checked it; ids of new machines get their place in the order. */
  put(machine: LedgerMachine): number {
    let slot = this.#slots.get(machine.id);
    if (slot === undefined) {
      slot = this.#newSlot(machine.id);
      if (this.#loading === null) this.settleOrdinals();
    } else {
      if (this.#loading?.has(slot) !== true) this.#displace(slot);
      this.#forget(slot);
    }
    this.classOf[slot] = this.classes.join(machine);
    this.state[slot] = machine.state;
    this.held[slot] = machine.held ? 1 : 0;
    this.idleSinceMs[slot] = machine.idleSinceMs ?? UNKNOWN_TIME;
    this.cluster[slot] = this.clusters.numberOf(machine.cluster);
    this.stamp[slot] = this.stamps.hold(machine.stamp);
    this.stampKey[slot] = this.#stampKeyOf(machine.cluster, machine.stamp);
    this.target[slot] = machine.target === null ? 0 : this.keys.hold(machine.target);
    this.#own(this.stampKey[slot]!, 1);
    this.#own(this.target[slot]!, 1);
    if (this.#loading === null) this.#place(slot);
    else this.#loading.add(slot);
    return slot;
  }

  remove(id: string): void {
    const slot = this.#slots.get(id);
    if (slot === undefined) return;
    this.#displace(slot);
    this.#forget(slot);
    this.state[slot] = 0;
    this.#slots.delete(id);
    this.#removed.add(slot);
  }

  /** How many machines name a key, by stamp or target, in any state. */
  ownedBy(key: number): number {
    return this.#owned[key] ?? 0;
  }

  #own(key: number, by: 1 | -1): void {
    if (key !== 0) this.#owned[key] = (this.#owned[key] ?? 0) + by;
  }

  #forget(slot: number): void {
    this.#own(this.stampKey[slot]!, -1);
    this.#own(this.target[slot]!, -1);
    this.classes.leave(this.classOf[slot]!);
    this.stamps.release(this.stamp[slot]!);
    this.keys.release(this.stampKey[slot]!);
    this.keys.release(this.target[slot]!);
  }

  // A stamp belongs to the row of the cluster the machine is bound to; without a cluster it is nobody's.
  #stampKeyOf(cluster: string, stamp: Stamp | null): number {
    if (stamp === null || cluster === '') return 0;
    const key: NeedKey = { cluster, fingerprint: stamp.fingerprint, group: stamp.group };
    return this.keys.hold(key);
  }

  #newSlot(id: string): number {
    const slot = this.#free.pop() ?? this.#ids.length;
    this.#ids[slot] = id;
    this.#slots.set(id, slot);
    if (slot >= this.state.length) this.#reserve(slot + 1);
    this.#added.push(slot);
    return slot;
  }

  /**
   * Gives every id its place in id order; nothing to do when no id came or went. Runs stay valid, because the
   * order among old ids does not change. Slots of removed machines can be used again from here on.
   */
  settleOrdinals(): void {
    if (this.#added.length + this.#removed.size === 0) return;
    const added = this.#added.sort((a, b) => compareText(this.#ids[a]!, this.#ids[b]!));
    const merged: number[] = [];
    let next = 0;
    for (const slot of this.#sorted) {
      if (this.#removed.has(slot)) continue;
      while (next < added.length && compareText(this.#ids[added[next]!]!, this.#ids[slot]!) < 0) {
        merged.push(added[next++]!);
      }
      merged.push(slot);
    }
    while (next < added.length) merged.push(added[next++]!);
    for (let i = 0; i < merged.length; i++) this.ordinal[merged[i]!] = i;
    this.#sorted = merged;
    this.#added = [];
    this.#free.push(...this.#removed);
    this.#removed.clear();
  }

  #place(slot: number): void {
    this.#count(slot, 1);
    const run = this.#runOf(slot);
    if (run !== null) this.arena.insert(run, slot, this.#orderOf(slot));
    const key = this.target[slot]!;
    if (key === 0) return;
    let targeted = this.#targeted.get(key);
    if (targeted === undefined) this.#targeted.set(key, (targeted = this.arena.newRun()));
    this.arena.insert(targeted, slot, this.idOrder);
  }

  #displace(slot: number): void {
    this.#count(slot, -1);
    const run = this.#runOf(slot);
    if (run !== null) this.arena.remove(run, slot, this.#orderOf(slot));
    const key = this.target[slot]!;
    if (key === 0) return;
    const targeted = this.#targeted.get(key)!;
    this.arena.remove(targeted, slot, this.idOrder);
    if (targeted.length === 0) {
      this.arena.giveBack(targeted);
      this.#targeted.delete(key);
    }
  }

  // Quota slots stand by id alone within their class; everything else by what it costs to give up.
  #orderOf(slot: number): SlotOrder {
    return this.state[slot] === Speculative ? this.idOrder : this.keepOrder;
  }

  #count(slot: number, by: 1 | -1): void {
    const at = this.classOf[slot]! * 9 + this.state[slot]!;
    this.counts[at] = (this.counts[at] ?? 0) + by;
    if (this.held[slot] === 0) this.freeCounts[at] = (this.freeCounts[at] ?? 0) + by;
  }

  /** The one sorted run a machine belongs to by its state, if any. */
  #runOf(slot: number): Run | null {
    const state = this.state[slot]!;
    if (state === Configured || state === Configuring) {
      const cluster = this.cluster[slot]!;
      if (cluster === 0) return null;
      let bound = this.#bound[cluster];
      if (bound === undefined) {
        bound = { configured: this.arena.newRun(), configuring: this.arena.newRun() };
        this.#bound[cluster] = bound;
      }
      return state === Configured ? bound.configured : bound.configuring;
    }
    if (this.held[slot] === 1) return null;
    if (state === Idle && (this.target[slot] !== 0 || this.reclamationOf(slot) > 0)) return this.specialIdle;
    if (state !== Idle && state !== Speculative) return null;
    const runs = state === Idle ? this.idleRuns : this.speculativeRuns;
    const number = this.classOf[slot]!;
    let run = runs[number];
    if (run === undefined) runs[number] = run = this.arena.newRun();
    return run;
  }

  #reserve(needed: number): void {
    const capacity = grownCapacity(this.state.length, needed);
    this.state = extended(this.state, sharedUint8(capacity));
    this.held = extended(this.held, sharedUint8(capacity));
    this.classOf = extended(this.classOf, sharedUint32(capacity));
    this.cluster = extended(this.cluster, sharedUint32(capacity));
    this.stamp = extended(this.stamp, sharedUint32(capacity));
    this.stampKey = extended(this.stampKey, sharedUint32(capacity));
    this.target = extended(this.target, sharedUint32(capacity));
    this.ordinal = extended(this.ordinal, sharedUint32(capacity));
    this.idleSinceMs = extended(this.idleSinceMs, sharedFloat64(capacity));
  }
}

/** Infinity minus infinity is not a number; equal is equal. */
function compareNumbers(a: number, b: number): number {
  return a === b ? 0 : a - b;
}
