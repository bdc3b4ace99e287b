// State of the sessions that must survive a restart: the extent of each cluster's last demand, so that the guard also
// checks the first roll-up after it, and the first-seen time of each row, which is part of its rank. Written by
// demand/rollups.ts; demand-store-sqlite.ts is the durable store.

import { keyText, type NeedKey } from '../../model/index.ts';
import type { Extent } from '../demand/demand-guard.ts';

export interface BaselineRow extends Extent {
  readonly cluster: string;
  /** See `CollapseGuard`. */
  readonly isRefused: boolean;
}

export interface FirstSeenRow {
  readonly key: NeedKey;
  readonly firstSeenMs: number;
  /** null while the cluster reports it. */
  readonly absentSinceMs: number | null;
}

export interface DemandChanges {
  readonly baseline?: BaselineRow;
  readonly seen?: readonly FirstSeenRow[];
  readonly forgotten?: readonly NeedKey[];
}

export interface DemandStore {
  /** Everything written so far. Called once per process, before its first write. */
  load(): Promise<{ readonly baselines: Iterable<BaselineRow>; readonly seen: Iterable<FirstSeenRow> }>;
  /**
   * Resolves when the changes are durable. Writes are atomic and take effect in call order; after one fails, all later
   * ones fail too.
   */
  write(changes: DemandChanges): Promise<void>;
}

/** Not durable: for tests, simulations and shards that must not persist demand. */
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
