// Which rows the shard has called short, and since when without a break. Known only while a session sends verdicts: a row
// that nothing was said about is not short, and what a session said ends with it.

import type { RowKey } from './contract.ts';

/** More rows than any known cluster has. Rows beyond do not count as short. */
const MAX_ROWS = 131_072;

export class ShortRows {
  #sinceMs = new Map<string, number>();
  /** Of the set before the full one that is arriving: a row that is short in both was short all the time. */
  #before: ReadonlyMap<string, number> = new Map();
  #fullCycle: bigint | null = null;

  /** A frame of verdicts begins. All frames of a full set have the cycle of the first one. */
  begin(isFull: boolean, cycle: bigint): void {
    if (isFull) {
      this.#before = this.#sinceMs;
      this.#sinceMs = new Map();
      this.#fullCycle = cycle;
    } else if (cycle !== this.#fullCycle) this.#before = new Map();
  }

  set(row: RowKey, isShort: boolean, nowMs: number): void {
    const key = keyOf(row);
    if (!isShort) this.#sinceMs.delete(key);
    else if (!this.#sinceMs.has(key) && this.#sinceMs.size < MAX_ROWS)
      this.#sinceMs.set(key, this.#before.get(key) ?? nowMs);
  }

  /** Undefined: it is not known to be short. */
  sinceMs(row: RowKey): number | undefined {
    return this.#sinceMs.get(keyOf(row));
  }

  clear(): void {
    this.#sinceMs.clear();
    this.#before = new Map();
    this.#fullCycle = null;
  }
}

function keyOf({ fingerprint, group }: RowKey): string {
  return `${fingerprint}\n${group}`;
}
