// The stores that write no file: `MemoryStore`, for tests and simulated fleets (testing/world), and `NO_STORE`, which
// keeps nothing, for `bigfleet provider fake` without `--state`. Both are part of the package's API.

import type { Changes, Counters, FlightRow, MachineRow, MarkRow, Store, StoredState } from './store.ts';

/** A store in memory. A provider opened on an object that was used before finds its state, as after a restart. */
export class MemoryStore implements Store {
  #counters: Counters | null = null;
  readonly #machines: MachineRow[] = [];
  readonly #marks = new Map<string, MarkRow>();
  readonly #flights = new Map<number, FlightRow>();

  load(): Promise<StoredState> {
    return Promise.resolve({
      counters: this.#counters,
      machines: this.#machines,
      marks: this.#marks.values(),
      flights: this.#flights.values(),
    });
  }

  write(changes: Changes): Promise<void> {
    if (changes.counters !== undefined) this.#counters = changes.counters;
    for (const row of changes.machines ?? []) this.#machines[row.slot] = row;
    for (const { machine, shard } of changes.forgottenMarks ?? []) this.#marks.delete(keyOf(machine, shard));
    for (const mark of changes.marks ?? []) {
      const key = keyOf(mark.machine, mark.shard);
      this.#marks.delete(key);
      this.#marks.set(key, mark);
    }
    for (const flight of changes.flights ?? []) this.#flights.set(flight.slot, flight);
    for (const slot of changes.landed ?? []) this.#flights.delete(slot);
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Discards every write, for a provider that starts empty and should not hold every record twice in memory. */
export const NO_STORE: Store = {
  load: () => Promise.resolve({ counters: null, machines: [], marks: [], flights: [] }),
  write: () => Promise.resolve(),
  close: () => Promise.resolve(),
};

function keyOf(machine: string, shard: string): string {
  return `${machine.length}:${machine}${shard}`;
}
