// Feeds a replica of the ledger on another thread: parts that its owner asks for one by one, each of bounded work, since a
// cycle that becomes due has to wait for it. A part holds machines and rows that have changed since they were last in a
// part, or that no part has held. Once there are none left, the replica has the state of the last commit. Kept only while a
// replica is in use. Made by controller.ts; what-if-service.ts asks for the parts.

import type { AppliedChanges } from '../../fleet/index.ts';
import { type DecisionOptions, hasHost, MachineState } from '../../model/index.ts';
import type { MachineLedger } from '../inventory/machine-ledger.ts';
import { InputPacker } from '../journal/packing.ts';

/** One part; all parts since the start of a replica are applied in order. */
export interface ReplicaPart {
  /** An input of the journal's format. */
  readonly input: Uint8Array;
  /** By machine of `input`: index in `providers` of its provider, plus `FAILED_HOST`. */
  readonly owners: Uint16Array;
  /** Providers that no earlier part has named; the first one of all is ''. */
  readonly providers: readonly string[];
  /** Whether the parts up to this one hold the whole ledger. */
  readonly isWhole: boolean;
  /** Time of the last decision; null: there was none, or it is not known what it was based on. */
  readonly atMs: number | null;
}

/** What a feed has to know of a commit. */
export type FollowedChanges = Pick<AppliedChanges, 'slots' | 'clusters' | 'removed' | 'retimed' | 'rollUps'>;

/** In `owners`: the machine is Failed and still has its host. */
export const FAILED_HOST = 1 << 15;

/** Machines of one part, and rows that no part has held: packing them takes a few milliseconds. */
const SLICE = 4096;
/** Rows of the changed clusters of one part, which has only the rows that changed. */
const CHANGED_SLICE = 8192;
/** A feed whose owner has not asked for this long is dropped. */
const UNUSED_MS = 600_000;
/**
 * Values interned beyond those of the machines that exist, some hundred bytes each on both threads. Names of rows in stamps
 * and targets come and go, so a feed with more is dropped, and the replica is copied again.
 */
const MOST_SPARE = 1_000_000;

export class ReplicaFeed {
  readonly #ledger: MachineLedger;
  readonly #packer: InputPacker;
  /** Changed machines and clusters that are not passed on yet. */
  readonly #slots = new Set<number>();
  readonly #clusters = new Set<number>();
  readonly #removed = new Set<string>();
  readonly #retimed = new Map<string, number>();
  readonly #providers = new Map<string, number>();
  /** Machines and clusters from these on have been in no part. */
  #slot = 0;
  #cluster = 0;
  #askedMs: number;
  readonly #mostSpare: number;

  constructor(ledger: MachineLedger, nowMs: number, mostSpare = MOST_SPARE) {
    this.#ledger = ledger;
    this.#mostSpare = mostSpare;
    this.#packer = new InputPacker(ledger.fleet);
    this.#askedMs = nowMs;
  }

  /** Whether it should be dropped: it is not used any more, or keeps much that is no longer in the ledger. */
  isOver(nowMs: number): boolean {
    const isUnused = Math.abs(nowMs - this.#askedMs) > UNUSED_MS;
    return isUnused || this.#packer.interned > 3 * this.#ledger.fleet.machines.size + this.#mostSpare;
  }

  /** Takes note of a commit. What no part has held yet is passed on as it is then. */
  committed({ slots, clusters, removed, retimed, rollUps }: FollowedChanges): void {
    this.#packer.note(rollUps.values());
    for (const slot of slots) if (slot < this.#slot) this.#slots.add(slot);
    for (const cluster of clusters) if (cluster < this.#cluster) this.#clusters.add(cluster);
    for (const id of removed) this.#removed.add(id);
    for (const [instanceType, seconds] of retimed) this.#retimed.set(instanceType, seconds);
  }

  next(
    nowMs: number,
    decided: { readonly options: DecisionOptions; readonly atMs: number } | null,
  ): ReplicaPart {
    this.#askedMs = nowMs;
    const { machines, clusters: known } = this.#ledger.fleet;
    const slots = this.#nextSlots();
    const clusters = this.#nextClusters();
    const input = this.#packer.pack({
      ...{ slots, clusters, removed: [...this.#removed], retimed: this.#retimed },
      ...{ oddities: [], options: decided?.options ?? null },
    });
    const providers: string[] = [];
    const owners = Uint16Array.from(slots, (slot) => this.#ownerOf(slot, providers));
    this.#removed.clear();
    this.#retimed.clear();
    const isWhole =
      this.#slots.size + this.#clusters.size === 0 &&
      this.#slot >= machines.size &&
      this.#cluster >= known.size;
    return { input, owners, providers, isWhole, atMs: decided?.atMs ?? null };
  }

  /** Changed machines first; those that are gone by now are among the removed ones. */
  #nextSlots(): readonly number[] {
    const { machines } = this.#ledger.fleet;
    const slots = takenFrom(this.#slots, SLICE);
    const end = Math.min(this.#slot + SLICE - slots.length, machines.size);
    for (; this.#slot < end; this.#slot++) slots.push(this.#slot);
    return slots.filter((slot) => machines.state[slot] !== 0);
  }

  #nextClusters(): readonly number[] {
    const { clusters, demand } = this.#ledger.fleet;
    const next: number[] = [];
    let rows = 0;
    for (const cluster of this.#clusters) {
      if (rows >= CHANGED_SLICE) return next;
      this.#clusters.delete(cluster);
      next.push(cluster);
      rows += demand.rowsOf(cluster).length;
    }
    for (rows = 0; rows < SLICE && this.#cluster < clusters.size; this.#cluster++) {
      next.push(this.#cluster);
      rows += demand.rowsOf(this.#cluster).length;
    }
    return next;
  }

  #ownerOf(slot: number, fresh: string[]): number {
    const { machines } = this.#ledger.fleet;
    const id = machines.idOf(slot);
    const provider = this.#ledger.ownerOf(id) ?? '';
    let number = this.#providers.get(provider);
    if (number === undefined) {
      number = this.#providers.size;
      this.#providers.set(provider, number);
      fresh.push(provider);
    }
    if (machines.state[slot] !== MachineState.Failed) return number;
    const { host } = this.#ledger.particularsOf(id);
    return hasHost({ state: MachineState.Failed, host }) ? number + FAILED_HOST : number;
  }
}

/** Takes the first numbers out of a set. */
function takenFrom(numbers: Set<number>, most: number): number[] {
  const first: number[] = [];
  for (const number of numbers) {
    if (first.length === most) break;
    numbers.delete(number);
    first.push(number);
  }
  return first;
}
