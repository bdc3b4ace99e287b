// Bound on the node reports of one session. A cluster reports a node when it joins and when it has drained, and the open
// ones again after each hello; more than this keeps the controller's thread busy for nothing. Used by sessions.ts.

/** Reports of one session in a window. A hello of the largest cluster repeats some thousand. */
export const MAX_REPORTS = 10_000;
export const REPORT_WINDOW_MS = 10_000;

interface Window {
  sinceMs: number;
  count: number;
}

export class ReportRate {
  /** By session, which is collected with its entry. */
  readonly #windows = new WeakMap<object, Window>();

  /** Counts a report; false: it is one too many. */
  admits(session: object, nowMs: number): boolean {
    const known = this.#windows.get(session);
    // A clock that was set back starts a new window, so that it cannot stop reports for long.
    const isOver = known === undefined || nowMs < known.sinceMs || nowMs - known.sinceMs >= REPORT_WINDOW_MS;
    const window = isOver ? { sinceMs: nowMs, count: 0 } : known;
    if (isOver) this.#windows.set(session, window);
    return ++window.count <= MAX_REPORTS;
  }
}
