// What the hands must remember over a restart: how much each cluster last asked for, so that the first roll-up after it is
// judged too, and since when each row has been asked for, which is part of its rank.

import { keyText, type NeedKey } from '../../model/index.ts';
import type { Extent } from './guard.ts';

export interface BaselineRow extends Extent {
  readonly cluster: string;
  /** See `CollapseGuard`. */
  readonly isRefused: boolean;
}

export interface FirstSeenRow {
  readonly key: NeedKey;
  readonly firstSeenMs: number;
  /** null while it is reported. */
  readonly absentSinceMs: number | null;
}

export interface DemandChanges {
  readonly baseline?: BaselineRow;
  readonly seen?: readonly FirstSeenRow[];
  readonly forgotten?: readonly NeedKey[];
}

export interface DemandStore {
  /** Everything written so far. Called once, before anything is written. */
  load(): Promise<{ readonly baselines: Iterable<BaselineRow>; readonly seen: Iterable<FirstSeenRow> }>;
  /**
   * Resolves when the changes are safe. Writes take effect in the order of the calls, each whole or not at all; when one
   * fails, all later ones fail too.
   */
  write(changes: DemandChanges): Promise<void>;
}

/** Lasts as long as the object: for tests, simulations and shards that are asked to forget. */
export class MemoryDemandStore implements DemandStore {
  readonly #baselines = new Map<string, BaselineRow>();
  readonly #seen = new Map<string, FirstSeenRow>();

  load(): ReturnType<DemandStore['load']> {
    return Promise.resolve({ baselines: [...this.#baselines.values()], seen: [...this.#seen.values()] });
  }

  write({ baseline, seen = [], forgotten = [] }: DemandChanges): Promise<void> {
    if (baseline !== undefined) this.#baselines.set(baseline.cluster, baseline);
    for (const key of forgotten) this.#seen.delete(keyText(key));
    for (const row of seen) this.#seen.set(keyText(row.key), row);
    return Promise.resolve();
  }
}
