// When nodes that drain are looked at. Preemptions and reclaims have rounds of their own, one at a time of each kind, so that
// a preemption, which may have seconds, never waits for the reclaims. Used by drains.ts.

import type { MonotonicClock } from '../../runtime/clock.ts';
import type { OperatorLog } from '../nodes/contract.ts';
import { type Drain, forEachLimited } from './drain.ts';
import { type DrainKind, deadlineMs } from './record.ts';
import type { DrainRound, Look } from './round.ts';

export interface RoundsDeps {
  readonly clock: MonotonicClock;
  readonly log: OperatorLog;
  readonly round: Pick<DrainRound, 'run'>;
  readonly drains: () => Iterable<Drain>;
  /** Decides what follows from a look; sets when the drain is due again. */
  readonly judge: (drain: Drain, look: Look) => Promise<void>;
  /** A round has ended; calls `schedule`. */
  readonly ended: () => void;
  /** Before the next round after one that failed as a whole. */
  readonly retryMs: number;
}

interface Lane {
  readonly kind: DrainKind;
  isRunning: boolean;
  cancelTimer: () => void;
}

export class Rounds {
  readonly #deps: RoundsDeps;
  readonly #lanes: readonly Lane[] = (['preemption', 'reclaim'] as const).map((kind) => ({
    kind,
    isRunning: false,
    cancelTimer: () => {},
  }));
  #isStopped = false;

  constructor(deps: RoundsDeps) {
    this.#deps = deps;
  }

  stop(): void {
    this.#isStopped = true;
    for (const { cancelTimer } of this.#lanes) cancelTimer();
  }

  /** Sets the timers for the drains that are due next. */
  schedule(): void {
    if (this.#isStopped) return;
    const { clock } = this.#deps;
    for (const lane of this.#lanes) {
      if (lane.isRunning) continue;
      lane.cancelTimer();
      let earliest = Number.POSITIVE_INFINITY;
      for (const drain of this.#openOf(lane.kind)) earliest = Math.min(earliest, drain.nextMs);
      if (earliest === Number.POSITIVE_INFINITY) continue;
      const delay = Math.max(0, earliest - clock.monotonic());
      lane.cancelTimer = clock.after(delay, () => void this.#run(lane));
    }
  }

  *#openOf(kind: DrainKind): Iterable<Drain> {
    for (const drain of this.#deps.drains()) if (drain.isOpen && drain.record.kind === kind) yield drain;
  }

  async #run(lane: Lane): Promise<void> {
    const { clock, log, round, judge, retryMs, ended } = this.#deps;
    lane.isRunning = true;
    try {
      const [now, monotonicMs] = [clock.now(), clock.monotonic()];
      const due = [...this.#openOf(lane.kind)].filter(({ nextMs }) => nextMs <= monotonicMs);
      const looks = await round.run(lane.kind, inTurn(due, now));
      for (const drain of looks.keys()) drain.lookedMs = now;
      await forEachLimited([...looks], async ([drain, look]) => {
        if (!this.#isStopped) await judge(drain, look);
      });
    } catch (error) {
      log('error', 'drain.round-failed', { error });
      for (const drain of this.#openOf(lane.kind)) drain.nextMs = clock.monotonic() + retryMs;
    } finally {
      lane.isRunning = false;
    }
    ended();
  }
}

/** Urgent drains by their deadline, then the others, of which those that have waited longest come first. */
function inTurn(due: readonly Drain[], nowMs: number): readonly Drain[] {
  const urgent = new Set(due.filter((drain) => drain.isUrgent(nowMs)));
  return [...due].sort((a, b) => {
    if (urgent.has(a) !== urgent.has(b)) return urgent.has(a) ? -1 : 1;
    const byTime = urgent.has(a) ? deadlineMs(a.record) - deadlineMs(b.record) : a.nextMs - b.nextMs;
    return byTime !== 0 ? byTime : a.node < b.node ? -1 : 1;
  });
}
