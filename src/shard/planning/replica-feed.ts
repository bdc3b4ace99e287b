// Feeds a replica of the ledger on another thread: parts that its owner asks for one by one, each of bounded work. The first
// parts hold what does not change, a slice at a time; every part holds what changed since the one before, so that the
// replica has the state of the last commit once the slices have ended. Kept only while a replica is in use. Made by
// controller.ts; what-if-service.ts asks for the parts.

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

/** In `owners`: the machine is Failed and still has its host. */
export const FAILED_HOST = 1 << 15;

/** Machines, and rows, of one part that have not changed: packing them takes a few milliseconds. */
const SLICE = 4096;
/** A feed whose owner has not asked for this long is dropped. */
const UNUSED_MS = 600_000;

export class ReplicaFeed {
  readonly #ledger: MachineLedger;
  readonly #packer: InputPacker;
  readonly #slots = new Set<number>();
  readonly #clusters = new Set<number>();
  readonly #removed = new Set<string>();
  readonly #retimed = new Map<string, number>();
  readonly #providers = new Map<string, number>();
  #slot = 0;
  #cluster = 0;
  #askedMs: number;

  constructor(ledger: MachineLedger, nowMs: number) {
    this.#ledger = ledger;
    this.#packer = new InputPacker(ledger.fleet);
    this.#askedMs = nowMs;
  }

  isUnused(nowMs: number): boolean {
    return Math.abs(nowMs - this.#askedMs) > UNUSED_MS;
  }

  /** Takes note of a commit. */
  committed({ slots, clusters, removed, retimed, rollUps }: AppliedChanges): void {
    this.#packer.note(rollUps.values());
    for (const slot of slots) this.#slots.add(slot);
    for (const cluster of clusters) this.#clusters.add(cluster);
    for (const id of removed) this.#removed.add(id);
    for (const [instanceType, seconds] of retimed) this.#retimed.set(instanceType, seconds);
  }

  next(
    nowMs: number,
    decided: { readonly options: DecisionOptions; readonly atMs: number } | null,
  ): ReplicaPart {
    this.#askedMs = nowMs;
    const isWhole = this.#addSlice();
    const { machines } = this.#ledger.fleet;
    const slots = [...this.#slots].filter((slot) => machines.state[slot] !== 0);
    const input = this.#packer.pack({
      ...{ slots, clusters: this.#clusters, removed: [...this.#removed], retimed: this.#retimed },
      ...{ oddities: [], options: decided?.options ?? null },
    });
    const providers: string[] = [];
    const owners = Uint16Array.from(slots, (slot) => this.#ownerOf(slot, providers));
    for (const noted of [this.#slots, this.#clusters, this.#removed, this.#retimed]) noted.clear();
    return { input, owners, providers, isWhole, atMs: decided?.atMs ?? null };
  }

  /** Adds machines and rows that no part has held yet; returns whether there are none left. */
  #addSlice(): boolean {
    const { machines, demand, clusters } = this.#ledger.fleet;
    const end = Math.min(this.#slot + SLICE, machines.size);
    for (; this.#slot < end; this.#slot++) this.#slots.add(this.#slot);
    for (let rows = 0; rows < SLICE && this.#cluster < clusters.size; this.#cluster++) {
      this.#clusters.add(this.#cluster);
      rows += demand.rowsOf(this.#cluster).length;
    }
    return this.#slot >= machines.size && this.#cluster >= clusters.size;
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
