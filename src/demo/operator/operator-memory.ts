// Links to a shard's sessions in the same process, for worlds on virtual time (testing/world). Frames have latency on
// the given clock and stay in order in each direction.

import type { Clock } from '../../runtime/clock.ts';
import type { Identify, SessionLink, SessionPort, Sessions } from '../../shard/index.ts';
import type { Dialer, Link, LinkEnd } from './link.ts';

export interface MemoryDialerParts {
  /** The sessions of the shard at the time of a dial; null: connection refused. */
  readonly sessions: () => Sessions | null;
  readonly clock: Clock;
  /** Transit time of the next frame. Default: 0. */
  readonly delayMs?: () => number;
  readonly identify?: Identify;
}

export function memoryDialer(parts: MemoryDialerParts): Dialer {
  return { open: (end) => new MemoryLink(parts, end) };
}

/** Runs delayed tasks in the order they were scheduled. */
class Direction {
  readonly #clock: Clock;
  readonly #delayMs: () => number;
  #lastMs = 0;

  constructor({ clock, delayMs }: MemoryDialerParts) {
    this.#clock = clock;
    this.#delayMs = delayMs ?? (() => 0);
  }

  send(run: () => void): void {
    const nowMs = this.#clock.now();
    this.#lastMs = Math.max(this.#lastMs, nowMs + this.#delayMs());
    this.#clock.after(this.#lastMs - nowMs, run);
  }
}

class MemoryLink implements Link {
  readonly isBlocked = false;
  readonly #there: Direction;
  readonly #back: Direction;
  #session: SessionLink | null = null;
  /** Closed by either side: no frame is delivered any more. */
  #isOver = false;
  #isClosed = false;

  constructor(parts: MemoryDialerParts, end: LinkEnd) {
    this.#there = new Direction(parts);
    this.#back = new Direction(parts);
    const back = (run: () => void) =>
      this.#back.send(() => {
        if (!this.#isClosed) run();
      });
    const port: SessionPort = {
      write: (frame) => {
        back(() => end.receive(frame));
        return 'accepted';
      },
      end: ({ details }) => {
        this.#isOver = true;
        back(() => end.closed(details));
      },
      // No backpressure in memory; its roll-ups are a few rows.
      pause: () => {},
      resume: () => {},
    };
    this.#there.send(() => {
      if (this.#isClosed) return;
      const sessions = parts.sessions();
      if (sessions === null) back(() => end.closed('connection refused'));
      else this.#session = sessions.connect(port, parts.identify ?? (() => null));
    });
  }

  send(frame: Uint8Array): void {
    this.#there.send(() => {
      if (!this.#isOver) this.#session?.receive(frame);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#there.send(() => {
      if (!this.#isOver) this.#session?.closed();
      this.#isOver = true;
    });
  }
}
