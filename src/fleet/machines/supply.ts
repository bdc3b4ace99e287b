// What a worker thread needs of a machine table beside its columns: runs of free machines by class, counts, and machines on
// their way to a row. A thread gets what has changed since its last update, so that it keeps what it has derived of all
// other classes. shared-state.ts of the engine sends and applies the updates.

import type { ChangeLog } from '../../collections/changelog.ts';
import { withRoom } from '../../collections/columns.ts';
import type { Slice } from '../../collections/sorted-slices.ts';
import type { FleetView, SliceView } from '../view.ts';

export interface SupplyUpdate {
  /** Changed runs: class, offset and length of each, one after the other. */
  readonly idle: Uint32Array;
  readonly speculative: Uint32Array;
  readonly specialIdle: SliceView;
  readonly targeted: ReadonlyMap<number, Slice>;
  /** Changed counts: index and count of each. */
  readonly counts: Uint32Array;
  /** Entries of the logs of the same name; null: all may have changed. */
  readonly restocked: readonly number[] | null;
  readonly counted: readonly number[] | null;
}

/** The updates of one thread. */
export class SupplyPublisher {
  readonly #idle = new PublishedRuns();
  readonly #speculative = new PublishedRuns();
  #counts = new Uint32Array(0);
  #restockedSeen = -1;
  #countedSeen = -1;

  changesSinceLast(machines: FleetView['machines']): SupplyUpdate {
    const { counted, idleSlices, restocked, specialIdle, speculativeSlices, targeted } = machines;
    const update: SupplyUpdate = {
      idle: this.#idle.changes(idleSlices),
      speculative: this.#speculative.changes(speculativeSlices),
      specialIdle,
      targeted,
      counts: this.#changedCounts(machines.counts),
      restocked: restocked.since(this.#restockedSeen),
      counted: counted.since(this.#countedSeen),
    };
    this.#restockedSeen = restocked.end;
    this.#countedSeen = counted.end;
    return update;
  }

  #changedCounts(counts: readonly number[]): Uint32Array {
    this.#counts = withRoom(this.#counts, counts.length);
    const changed: number[] = [];
    for (let i = 0; i < counts.length; i++) {
      const count = counts[i] ?? 0;
      if (this.#counts[i] === count) continue;
      this.#counts[i] = count;
      changed.push(i, count);
    }
    return Uint32Array.from(changed);
  }
}

/** Runs by class as last published. */
class PublishedRuns {
  #offsets = new Uint32Array(0);
  #lengths = new Uint32Array(0);

  changes(runs: readonly (SliceView | undefined)[]): Uint32Array {
    this.#offsets = withRoom(this.#offsets, runs.length);
    this.#lengths = withRoom(this.#lengths, runs.length);
    const changed: number[] = [];
    for (let c = 0; c < runs.length; c++) {
      const offset = runs[c]?.offset ?? 0;
      const length = runs[c]?.length ?? 0;
      if (this.#offsets[c] === offset && this.#lengths[c] === length) continue;
      this.#offsets[c] = offset;
      this.#lengths[c] = length;
      changed.push(c, offset, length);
    }
    return Uint32Array.from(changed);
  }
}

/** Applies changed runs to those of a mirror. */
export function applyRuns(runs: (Slice | undefined)[], changed: Uint32Array): void {
  for (let i = 0; i < changed.length; i += 3) {
    const c = changed[i]!;
    while (runs.length <= c) runs.push(undefined);
    runs[c] = { offset: changed[i + 1]!, length: changed[i + 2]!, capacity: changed[i + 2]! };
  }
}

/** Repeats entries of another log; null: all readers must rebuild. */
export function repeat(log: ChangeLog, entries: readonly number[] | null): void {
  if (entries === null) log.restart();
  else for (const entry of entries) log.add(entry);
}
