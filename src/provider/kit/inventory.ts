// The state of a provider: records, fencing marks and counters, which are changed and stored together. provider.ts
// collects the changes of one decision in a draft; `write` passes them to the store as one write.

import { type HostRef, MachineState } from '../../model/index.ts';
import type { Offering } from '../backend.ts';
import { encodeOffering, type Life, QUOTA_SLOT, refreshOffering } from './body.ts';
import { Fences } from './fences.ts';
import { InventoryColumns } from './inventory-columns.ts';
import type { Counters, FlightRow, MarkRow, Store, StoredState } from './store.ts';
import { StoreWriter } from './store-writer.ts';

export interface Draft {
  /** Machines that changed. */
  readonly slots: Set<number>;
  readonly marks: MarkRow[];
  readonly forgottenMarks: MarkRow[];
  readonly flights: FlightRow[];
  readonly landed: number[];
}

export function newDraft(): Draft {
  return { slots: new Set(), marks: [], forgottenMarks: [], flights: [], landed: [] };
}

export class Inventory {
  readonly records = new InventoryColumns();
  readonly fences = new Fences();
  readonly writer: StoreWriter;
  readonly born: number;
  #revision: number;
  #operations: number;

  constructor(store: Store, counters: Counters, onStoreFailure: (error: unknown) => void) {
    this.writer = new StoreWriter(store, onStoreFailure);
    this.born = counters.born;
    this.#revision = counters.revision;
    this.#operations = counters.operations;
  }

  /** The number of the last change. */
  get revision(): number {
    return this.#revision;
  }

  /** Loads the state of the last process. */
  restore(stored: StoredState, draft: Draft): void {
    this.records.restore(stored.machines);
    for (const mark of stored.marks) {
      draft.forgottenMarks.push(...this.fences.set(mark, this.records.slotOf(mark.machine) !== undefined));
    }
  }

  nextOperation(): number {
    return ++this.#operations;
  }

  move(slot: number, life: Life, draft: Draft): void {
    this.records.setLife(slot, life, ++this.#revision);
    draft.slots.add(slot);
  }

  /** Inserts a machine for a new offering, or updates the one it has. */
  upsert(offering: Offering, draft: Draft): 'added' | 'changed' | 'unchanged' {
    const slot = this.records.slotOf(offering.id);
    if (slot === undefined) {
      draft.slots.add(this.#add(offering));
      return 'added';
    }
    if (!this.#update(slot, offering)) return 'unchanged';
    draft.slots.add(slot);
    return 'changed';
  }

  write({ slots, ...draft }: Draft): void {
    if (slots.size === 0 && draft.marks.length === 0 && draft.forgottenMarks.length === 0) return;
    const counters = { born: this.born, revision: this.#revision, operations: this.#operations };
    this.writer.write({
      ...draft,
      machines: Array.from(slots, (slot) => this.records.rowOf(slot)),
      ...(slots.size > 0 ? { counters } : {}),
    });
  }

  #add(offering: Offering): number {
    this.fences.adopt(offering.id);
    return this.records.add(offering.id, encodeOffering(offering), unbound(offering.host), ++this.#revision);
  }

  /** Returns whether the record changed. */
  #update(slot: number, offering: Offering): boolean {
    const known = this.records.describedOf(slot);
    if (known.equals(encodeOffering(offering))) return false;
    const described = refreshOffering(known, offering);
    if (known.equals(described)) return false;
    this.records.setDescribed(slot, described, ++this.#revision);
    return true;
  }
}

/** A machine that belongs to no cluster: Idle on its host, or a quota slot. */
export function unbound(host: HostRef | null): Life {
  return { ...QUOTA_SLOT, host, state: host === null ? MachineState.Speculative : MachineState.Idle };
}
