// Clocks of machines, counted by the minute in which they began, so that the earliest is known without reading all
// machines. A clock that does not run is NaN. Part of machine-table.ts.

const MINUTE_MS = 60_000;

export class ClockCounts {
  /** By minute; no entry is 0. */
  readonly #counts = new Map<number, number>();

  /** A clock that began at one time begins at another now. */
  change(fromMs: number, toMs: number): void {
    this.#add(fromMs, -1);
    this.#add(toMs, 1);
  }

  #add(ms: number, more: number): void {
    if (Number.isNaN(ms)) return;
    const minute = Math.floor(ms / MINUTE_MS);
    const count = (this.#counts.get(minute) ?? 0) + more;
    if (count === 0) this.#counts.delete(minute);
    else this.#counts.set(minute, count);
  }

  /** No clock began before this, and the earliest began at most a minute after it; +∞ if none runs. */
  get earliestMs(): number {
    return Math.min(...this.#counts.keys()) * MINUTE_MS;
  }
}
