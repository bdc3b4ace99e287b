// The machine ledger: every machine in columns, and the sorted runs that decisions iterate over. It has a single
// writer; every write removes the machine from its runs, changes the columns, and inserts it into the runs it now
// belongs to. Part of `Fleet`; machine-drafts.ts writes it in a commit, the engine and the shard's queries read it.

import { ChangeLog } from '../../collections/changelog.ts';
import { Changes } from '../../collections/changes.ts';
import { withRoom } from '../../collections/columns.ts';
import { SliceBatch } from '../../collections/slice-batch.ts';
import { type Slice, SliceArena, type SlotOrder } from '../../collections/sorted-slices.ts';
import { ColumnGroup } from '../../collections/table.ts';
import {
  isBound,
  MachineState,
  type NodeUse,
  nodeUseAt,
  nodeUseNumber,
  type Stamp,
} from '../../model/index.ts';
import type { ClassFacts, ClassTable } from '../tables/classes.ts';
import type { KeyTable, NameTable } from '../tables/names.ts';
import { StampTable } from '../tables/stamps.ts';
import { ClockCounts } from './clock-counts.ts';
import { Firsts } from './firsts.ts';
import { type FreeParts, type FreeRun, placeFree, type Taken, takeFree } from './free-runs.ts';
import { IdTable } from './ids.ts';
import {
  type BoundSlices,
  compareNumbers,
  knownTime,
  type LedgerRecord,
  type MachineStatus,
  NOTHING,
} from './machine-record.ts';
import { PLACE_AT_PRICE, PROTECTED } from './node-use.ts';
import { applyRuns, repeat, type SupplyUpdate } from './supply.ts';

const { Idle, Speculative, Configuring, Configured } = MachineState;
/** States are numbered from 1 to 8. */
const STATES = 9;

export type { BoundSlices, LedgerRecord, MachineStatus } from './machine-record.ts';

export class MachineTable {
  readonly classes: ClassTable;
  readonly clusters: NameTable;
  readonly keys: KeyTable;
  readonly #changed: Changes;
  readonly #reshaped: Changes;
  readonly stamps = new StampTable();
  readonly arena = new SliceArena();

  /** A slot without a machine has state 0. */
  readonly bySlot = new ColumnGroup(this);
  readonly state = this.bySlot.u8();
  readonly blocked = this.bySlot.u8();
  readonly classOf = this.bySlot.u32();
  readonly cluster = this.bySlot.u32();
  readonly stamp = this.bySlot.u32();
  /** Key of the row a bound machine was bound for, and of the row a machine is on its way to. */
  readonly stampKey = this.bySlot.u32();
  readonly target = this.bySlot.u32();
  /** Position of the id in the order of all ids; the tie-breaker of every order. */
  readonly ordinal = this.bySlot.u32();
  /** When it became Idle. Kept in Configuring and Deleting, so that a rollback does not restart the release hold. */
  readonly idleSinceMs = this.bySlot.f64();
  /** Since when no row has claimed or picked it, as of the last cycle; NaN where no such clock runs. */
  readonly unclaimedSinceMs = this.bySlot.f64();
  /** What its cluster reported about its use, as a number of node-use.ts; 0 unless it is bound. */
  readonly use = this.bySlot.u8();

  readonly #ids = new IdTable();
  readonly #firsts = new Firsts();
  readonly #unclaimedClocks = new ClockCounts();
  #protectedCount = 0;
  #batch: SliceBatch | null = null;
  /** Scratch array of `SliceBatch`, by slot; all zero between batches. */
  #marks = new Uint8Array(0);

  readonly #bound: (BoundSlices | undefined)[] = [];
  /** Idle and Speculative machines that are not blocked, by class; Idle ones only without target and penalty. */
  readonly idleSlices: (Slice | undefined)[] = [];
  readonly speculativeSlices: (Slice | undefined)[] = [];
  /** Idle machines that are not blocked and have a target or a reclamation penalty, in `keepOrder`. There are few. */
  readonly specialIdle: Slice;
  /** Configured machines of all clusters that are not blocked, by class, in id order. */
  readonly configuredSlices: (Slice | undefined)[] = [];
  /** Idle machines with a known `idleSinceMs`, by capacity type, longest idle first. Includes blocked machines. */
  readonly idleClocks: (Slice | undefined)[] = [];
  /** Classes that gained or lost an Idle or Speculative machine. */
  readonly restocked = new ChangeLog();
  /** Classes that gained or lost a machine in any state. */
  readonly counted = new ChangeLog();
  /** Machines on their way to a row, by the row's key, in id order. */
  readonly #targeted = new Map<number, Slice>();
  /** Keys that lost a machine on its way to them; their runs may be empty. */
  readonly #left = new Set<number>();
  readonly byKey = new ColumnGroup(this);
  /** Number of machines with the key as stamp or target, in any state; and of unbound machines with it as target. */
  readonly owned = this.byKey.u32();
  readonly coming = this.byKey.u32();
  /** Publishes slots of machines that were overwritten or removed; slots of new machines are not included. */
  readonly written = new Changes();
  /** Publishes classes whose count of machines that are not blocked went from 0 to 1 in some state. */
  readonly supplied = new Changes();
  /** Machines by class and state, and those of them that are not blocked: `[class × STATES + state]`. */
  readonly #counts: number[] = [];
  readonly #freeCounts: number[] = [];

  /** The keys of the keep order that come before the owner: protected machines, price, use. */
  readonly useAndPriceOrder = (a: number, b: number): number => {
    const price = this.classes.price[this.classOf[a]!]! - this.classes.price[this.classOf[b]!]!;
    const use = this.use[a]!;
    const other = this.use[b]!;
    if (use === other) return price;
    if (use === PROTECTED) return -1;
    if (other === PROTECTED) return 1;
    return price || PLACE_AT_PRICE[use]! - PLACE_AT_PRICE[other]!;
  };

  /** The order of bound machines where no row is being served. Idle machines have no use, so it is their pool order as well. */
  readonly keepOrder = (a: number, b: number): number =>
    this.useAndPriceOrder(a, b) ||
    compareNumbers(this.reclamationOf(b), this.reclamationOf(a)) ||
    this.ordinal[a]! - this.ordinal[b]!;

  readonly idOrder = (a: number, b: number): number => this.ordinal[a]! - this.ordinal[b]!;

  readonly #clockOrder = (a: number, b: number): number =>
    this.idleSinceMs[a]! - this.idleSinceMs[b]! || this.ordinal[a]! - this.ordinal[b]!;

  /**
   * `changed` receives the clusters whose rows are affected by a write. `reshaped` receives the clusters of keys whose
   * count in `owned` or `coming` became zero or nonzero.
   */
  constructor(classes: ClassTable, clusters: NameTable, keys: KeyTable, changed: Changes, reshaped: Changes) {
    this.#changed = changed;
    this.#reshaped = reshaped;
    this.classes = classes;
    this.clusters = clusters;
    this.keys = keys;
    this.specialIdle = this.arena.newSlice();
  }

  /** Counts writes. */
  revision = 0;

  /** Machines on record. */
  get count(): number {
    return this.#ids.count;
  }

  /** One more than the largest slot in use. */
  get size(): number {
    return this.#ids.size;
  }

  /** Bytes of the hot columns, reserve included. */
  get columnBytes(): number {
    return this.bySlot.bytes;
  }

  idOf(slot: number): string {
    return this.#ids.idOf(slot);
  }

  slotOf(id: string): number | undefined {
    return this.#ids.slotOf(id);
  }

  stateOf(slot: number): MachineState {
    return this.state[slot] as MachineState;
  }

  reclamationOf(slot: number): number {
    return this.stamps.reclamationDollars[this.stamp[slot]!]!;
  }

  useOf(slot: number): NodeUse | undefined {
    return nodeUseAt(this.use[slot]!);
  }

  isProtected(slot: number): boolean {
    return this.use[slot] === PROTECTED;
  }

  /** Number of protected machines. */
  get protectedCount(): number {
    return this.#protectedCount;
  }

  boundOf(cluster: number): BoundSlices | undefined {
    return this.#bound[cluster];
  }

  targetedAt(key: number): Slice | undefined {
    return this.#targeted.get(key);
  }

  /** Keys of the rows that machines are on their way to. */
  *targetedKeys(): Generator<number> {
    for (const [key, { length }] of this.#targeted) if (length > 0) yield key;
  }

  /** Machines on their way to a row, by the row's key. */
  get targeted(): ReadonlyMap<number, Slice> {
    return this.#targeted;
  }

  /** Machines by class and state, for the mirror of another thread. */
  get counts(): readonly number[] {
    return this.#counts;
  }

  /** Applies what has changed in the table of another thread, whose columns this one reads. */
  mirror({ counted, counts, idle, restocked, specialIdle, speculative, targeted }: SupplyUpdate): void {
    applyRuns(this.idleSlices, idle);
    applyRuns(this.speculativeSlices, speculative);
    for (let i = 0; i < counts.length; i += 2) {
      while (this.#counts.length <= counts[i]!) this.#counts.push(0);
      this.#counts[counts[i]!] = counts[i + 1]!;
    }
    Object.assign(this.specialIdle, specialIdle);
    repeat(this.restocked, restocked);
    repeat(this.counted, counted);
    this.#targeted.clear();
    for (const [key, run] of targeted) this.#targeted.set(key, run);
  }

  statusOf(slot: number): MachineStatus {
    const target = this.target[slot]!;
    return {
      state: this.stateOf(slot),
      blocked: this.blocked[slot] === 1,
      cluster: this.clusters.nameOf(this.cluster[slot]!),
      stamp: this.stamps.stampOf(this.stamp[slot]!),
      target: target === 0 ? null : this.keys.keyOf(target),
      idleSinceMs: knownTime(this.idleSinceMs[slot]!),
      unclaimedSinceMs: knownTime(this.unclaimedSinceMs[slot]!),
      use: this.useOf(slot),
    };
  }

  recordAt(slot: number): LedgerRecord {
    return { id: this.idOf(slot), ...this.classes.factsOf(this.classOf[slot]!), ...this.statusOf(slot) };
  }

  /** Writes many records atomically: all of them or, if one is refused, none. */
  load(machines: readonly LedgerRecord[]): void {
    this.classes.admit(machines);
    this.batch(() => {
      for (const machine of machines) this.put(machine);
    });
  }

  /** Applies many changes and updates each run once, at the end. Until then runs, counts and ordinals are stale. */
  batch(change: () => void): void {
    if (this.#batch !== null) {
      change();
      return;
    }
    this.#marks = withRoom(this.#marks, this.size);
    const batch = new SliceBatch(this.arena, this.#marks);
    this.#batch = batch;
    try {
      change();
    } finally {
      this.#batch = null;
      this.settleOrdinals();
      batch.sweep();
      for (const slot of batch.arriving) this.#place(slot, batch);
      batch.merge();
      this.#dropEmptyTargets();
    }
  }

  /** Inserts or replaces a record that the caller has validated. */
  put(machine: LedgerRecord): number {
    return this.insert(machine.id, machine, machine);
  }

  /** `put` for a machine in two parts. */
  insert(id: string, status: MachineStatus, facts: ClassFacts): number {
    // Done first, because it is the only step that can refuse the record.
    const joined = this.classes.join(facts);
    let slot = this.#ids.slotOf(id);
    if (slot === undefined) {
      slot = this.#ids.add(id);
      if (slot >= this.state.length) this.bySlot.reserve(slot + 1);
      this.unclaimedSinceMs[slot] = Number.NaN;
      if (this.#batch === null) this.settleOrdinals();
    } else {
      this.#displace(slot);
      this.#leaveClass(slot, joined);
    }
    this.classOf[slot] = joined;
    this.#write(slot, status);
    this.#writeUse(slot, nodeUseNumber(status.use));
    this.#place(slot);
    return slot;
  }

  /** Writes only the given fields; `use` is given as undefined if it is unknown. With `facts` the machine joins the class of these facts. */
  update(slot: number, changes: Partial<MachineStatus>, facts?: ClassFacts): void {
    const joined = facts === undefined ? this.classOf[slot]! : this.classes.join(facts);
    this.#displace(slot);
    if (facts !== undefined) this.#leaveClass(slot, joined);
    this.classOf[slot] = joined;
    this.#write(slot, changes);
    this.#writeUse(slot, 'use' in changes ? nodeUseNumber(changes.use) : this.use[slot]!);
    this.#place(slot);
  }

  /**
   * Writes when the machine was last left unclaimed. Only Phase 3 reads that, so no run, no cluster's credits and no number
   * that a caller caches depends on it.
   */
  setUnclaimedSince(slot: number, sinceMs: number | null): void {
    const before = this.unclaimedSinceMs[slot]!;
    this.unclaimedSinceMs[slot] = sinceMs ?? Number.NaN;
    this.#unclaimedClocks.change(before, this.unclaimedSinceMs[slot]!);
  }

  /** A lower bound of `unclaimedSinceMs` over all machines; +∞ if no clock runs. */
  get unclaimedSinceAtLeastMs(): number {
    return this.#unclaimedClocks.earliestMs;
  }

  remove(id: string): void {
    const slot = this.#ids.slotOf(id);
    if (slot === undefined) return;
    this.hide(slot);
    this.#ids.remove(slot);
  }

  /** Removes a machine for a while: its id keeps the slot, and only `reveal` may write it. */
  hide(slot: number): void {
    this.#displace(slot);
    this.#leaveClass(slot, null);
    this.#write(slot, NOTHING);
    this.#writeUse(slot, 0);
    this.state[slot] = 0;
  }

  /** See `takeFree`. Not within a batch. `pause` is called between classes. */
  takeFree(slots: readonly number[], pause: () => void): Taken {
    this.settleOrdinals();
    this.#marks = withRoom(this.#marks, this.size);
    return takeFree(this.#freeParts(pause), slots, this.#marks);
  }

  placeFree(runs: readonly FreeRun[], pause: () => void): void {
    placeFree(this.#freeParts(pause), runs);
  }

  #freeParts(pause: () => void): FreeParts {
    this.revision++;
    return {
      pause,
      table: this,
      firsts: this.#firsts,
      sliceOf: (number, state) =>
        this.#runAt(state === Idle ? this.idleSlices : this.speculativeSlices, number),
      clocksOf: (capacityType) => this.#runAt(this.idleClocks, capacityType),
      clockOrder: this.#clockOrder,
      count: (number, state, by) => this.#countFree(number, state, by),
    };
  }

  /** Brings a hidden machine back. */
  reveal(slot: number, machine: LedgerRecord): void {
    this.classOf[slot] = this.classes.join(machine);
    this.#write(slot, machine);
    this.#writeUse(slot, nodeUseNumber(machine.use));
    this.#place(slot);
  }

  /** Number of machines with the key as stamp or target, in any state. */
  ownedBy(key: number): number {
    return key < this.owned.length ? this.owned[key]! : 0;
  }

  /** Number of unbound machines with the key as target. */
  inFlightTo(key: number): number {
    return key < this.coming.length ? this.coming[key]! : 0;
  }

  /** Number of machines of a class in a state; `unblockedCountOf` counts those that are not blocked. */
  countOf(classNumber: number, state: MachineState): number {
    return this.#counts[classNumber * STATES + state] ?? 0;
  }

  unblockedCountOf(classNumber: number, state: MachineState): number {
    return this.#freeCounts[classNumber * STATES + state] ?? 0;
  }

  #own(key: number, by: 1 | -1): void {
    if (key === 0) return;
    if (key >= this.owned.length) this.byKey.reserve(key + 1);
    this.owned[key]! += by;
    this.#noteFirst(this.owned[key]!, by, key);
  }

  /** Publishes the cluster of a key that gained its first machine or lost its last. */
  #noteFirst(count: number, by: 1 | -1, key: number): void {
    if (count === (by === 1 ? 1 : 0)) this.#reshaped.add(this.keys.clusterOf(key));
  }

  /** The machine of a class with the smallest id, in any state. */
  firstOf(classNumber: number): number {
    return this.#firsts.of(classNumber, this.state, this.classOf, this.ordinal, this.size);
  }

  #leaveClass(slot: number, joined: number | null): void {
    const left = this.classOf[slot]!;
    this.classes.leave(left);
    if (left !== joined) this.#firsts.leave(slot, left, this.classes.attributes[left] === undefined);
  }

  // New references are added before old ones are dropped, so that an unchanged entry keeps its number.
  #write(slot: number, changes: Partial<MachineStatus>): void {
    this.revision++;
    const { state, blocked, idleSinceMs, unclaimedSinceMs, target, cluster, stamp } = changes;
    if (state !== undefined) this.state[slot] = state;
    if (blocked !== undefined) this.blocked[slot] = blocked ? 1 : 0;
    if (idleSinceMs !== undefined) this.idleSinceMs[slot] = idleSinceMs ?? Number.NaN;
    if (unclaimedSinceMs !== undefined) this.setUnclaimedSince(slot, unclaimedSinceMs);
    if (target !== undefined) this.#name(this.target, slot, target === null ? 0 : this.keys.retain(target));
    if (cluster === undefined && stamp === undefined) return;
    if (cluster !== undefined) this.cluster[slot] = this.clusters.numberOf(cluster);
    const old = this.stamp[slot]!;
    if (stamp !== undefined) this.stamp[slot] = this.stamps.retain(stamp);
    const current = this.stamps.stampOf(this.stamp[slot]!);
    this.#name(this.stampKey, slot, this.#stampKeyOf(this.cluster[slot]!, current));
    if (stamp !== undefined) this.stamps.drop(old);
  }

  /** Written after state and cluster: a fact holds only while the machine is bound. */
  #writeUse(slot: number, use: number): void {
    const written = this.cluster[slot] !== 0 && isBound(this.stateOf(slot)) ? use : 0;
    if (this.use[slot] === PROTECTED) this.#protectedCount--;
    if (written === PROTECTED) this.#protectedCount++;
    this.use[slot] = written;
  }

  // Stores a key, whose reference the caller has added, in a column of keys, and drops the reference to the old one.
  #name(column: Uint32Array, slot: number, key: number): void {
    const old = column[slot]!;
    column[slot] = key;
    this.#own(key, 1);
    this.#own(old, -1);
    this.keys.drop(old);
  }

  // A stamp refers to a row of the cluster the machine is bound to; without a cluster it has no key.
  #stampKeyOf(cluster: number, stamp: Stamp | null): number {
    return stamp === null || cluster === 0 ? 0 : this.keys.retainIn(cluster, stamp.fingerprint, stamp.group);
  }

  /**
   * Recomputes `ordinal`; a no-op if no id was added or removed. Runs stay valid, because the relative order of old ids
   * does not change. Slots of removed machines may be reused afterwards.
   */
  settleOrdinals(): void {
    this.#ids.settle(this.ordinal);
  }

  // In a batch, insertion is deferred to the end of the batch, when all ordinals are known.
  #place(slot: number, batch?: SliceBatch): void {
    if (this.#batch !== null) {
      this.#batch.arrive(slot);
      return;
    }
    this.#touch(slot);
    this.#count(slot, 1);
    this.#firsts.join(slot, this.classOf[slot]!, this.ordinal);
    const insert = (run: Slice, order: SlotOrder): void =>
      batch === undefined ? this.arena.insert(run, slot, order) : batch.add(run, slot, order);
    const run = this.#runOf(slot);
    if (run !== null) insert(run, this.#orderOf(slot));
    const leaving = this.#leavingRunOf(slot);
    if (leaving !== null) insert(leaving, this.state[slot] === Configured ? this.idOrder : this.#clockOrder);
    const key = this.target[slot]!;
    if (key === 0) return;
    let targeted = this.#targeted.get(key);
    if (targeted === undefined) {
      targeted = this.arena.newSlice();
      this.#targeted.set(key, targeted);
    }
    insert(targeted, this.idOrder);
  }

  #displace(slot: number): void {
    const batch = this.#batch;
    if (batch?.turnBack(slot) === true) return;
    this.written.add(slot);
    this.#touch(slot);
    this.#count(slot, -1);
    const remove = (run: Slice, order: SlotOrder): void =>
      batch === null ? this.arena.remove(run, slot, order) : batch.leave(run, slot, order);
    const run = this.#runOf(slot);
    if (run !== null) remove(run, this.#orderOf(slot));
    const leaving = this.#leavingRunOf(slot);
    if (leaving !== null) remove(leaving, this.state[slot] === Configured ? this.idOrder : this.#clockOrder);
    const key = this.target[slot]!;
    if (key !== 0) {
      remove(this.#targeted.get(key)!, this.idOrder);
      this.#left.add(key);
    }
    if (batch === null) this.#dropEmptyTargets();
    else batch.left(slot);
  }

  /** Publishes the cluster a machine is bound to, and those of the rows of its stamp and target. */
  #touch(slot: number): void {
    const cluster = this.cluster[slot]!;
    const stamped = this.keys.clusterOf(this.stampKey[slot]!);
    const targeted = this.keys.clusterOf(this.target[slot]!);
    // Usually all three are equal; the comparisons avoid redundant adds.
    if (cluster !== 0) this.#changed.add(cluster);
    if (stamped !== 0 && stamped !== cluster) this.#changed.add(stamped);
    if (targeted !== 0 && targeted !== cluster && targeted !== stamped) this.#changed.add(targeted);
  }

  #dropEmptyTargets(): void {
    for (const key of this.#left) {
      const targeted = this.#targeted.get(key);
      if (targeted === undefined || targeted.length > 0) continue;
      this.arena.giveBack(targeted);
      this.#targeted.delete(key);
    }
    this.#left.clear();
  }

  // Speculative machines of a class differ in their id only; all others are sorted by price and penalty.
  #orderOf(slot: number): SlotOrder {
    return this.state[slot] === Speculative ? this.idOrder : this.keepOrder;
  }

  #countFree(number: number, state: MachineState, by: number): void {
    const at = number * STATES + state;
    this.counted.add(number);
    this.restocked.add(number);
    this.#counts[at] = (this.#counts[at] ?? 0) + by;
    this.#freeCounts[at] = (this.#freeCounts[at] ?? 0) + by;
    if (by > 0 && this.#freeCounts[at] === by) this.supplied.add(number);
  }

  #count(slot: number, by: 1 | -1): void {
    const state = this.state[slot]!;
    const at = this.classOf[slot]! * STATES + state;
    this.counted.add(this.classOf[slot]!);
    if (state === Idle || state === Speculative) this.restocked.add(this.classOf[slot]!);
    this.#counts[at] = (this.#counts[at] ?? 0) + by;
    const key = this.target[slot]!;
    if (key !== 0 && !isBound(this.stateOf(slot))) {
      this.coming[key]! += by;
      this.#noteFirst(this.coming[key]!, by, key);
    }
    if (this.blocked[slot] === 1) return;
    this.#freeCounts[at] = (this.#freeCounts[at] ?? 0) + by;
    if (by === 1 && this.#freeCounts[at] === 1) this.supplied.add(this.classOf[slot]!);
  }

  /** The run that rows acquire or claim the machine from, if any. */
  #runOf(slot: number): Slice | null {
    const state = this.state[slot]!;
    if (state === Configured || state === Configuring) {
      const cluster = this.cluster[slot]!;
      if (cluster === 0) return null;
      let bound = this.#bound[cluster];
      if (bound === undefined) {
        bound = { configured: this.arena.newSlice(), configuring: this.arena.newSlice() };
        this.#bound[cluster] = bound;
      }
      return state === Configured ? bound.configured : bound.configuring;
    }
    if (this.blocked[slot] === 1) return null;
    if (state === Idle && (this.target[slot] !== 0 || this.reclamationOf(slot) > 0)) return this.specialIdle;
    if (state !== Idle && state !== Speculative) return null;
    return this.#runAt(state === Idle ? this.idleSlices : this.speculativeSlices, this.classOf[slot]!);
  }

  /** The run that preemption (by class) or release (by idle time) finds the machine in, if any. */
  #leavingRunOf(slot: number): Slice | null {
    const state = this.state[slot]!;
    const number = this.classOf[slot]!;
    if (state === Configured && this.blocked[slot] === 0 && this.cluster[slot] !== 0) {
      return this.#runAt(this.configuredSlices, number);
    }
    if (state !== Idle || Number.isNaN(this.idleSinceMs[slot])) return null;
    return this.#runAt(this.idleClocks, this.classes.capacityType[number]!);
  }

  #runAt(runs: (Slice | undefined)[], number: number): Slice {
    let run = runs[number];
    if (run === undefined) runs[number] = run = this.arena.newSlice();
    return run;
  }
}
