// Rate limit for the log, so that a misbehaving operator cannot fill the disk: at most `MOST` lines per event name and
// window of `WINDOW_MS`. The next line written for the event carries the number of suppressed lines. Used by
// sessions.ts.

import type { Clock } from '../../runtime/clock.ts';
import type { SessionLog } from './log.ts';

/** Lines per event name and window. */
const MOST = 100;
const WINDOW_MS = 10_000;

interface Window {
  beganMs: number;
  lines: number;
  suppressed: number;
}

/** Event names are literals in the code, so the number of windows is bounded. */
export function gatedLog(log: SessionLog, clock: Clock): SessionLog {
  const windows = new Map<string, Window>();
  return (level, event, fields) => {
    const nowMs = clock.now();
    let window = windows.get(event);
    if (window === undefined || nowMs - window.beganMs >= WINDOW_MS) {
      window = { beganMs: nowMs, lines: 0, suppressed: window?.suppressed ?? 0 };
      windows.set(event, window);
    }
    if (++window.lines > MOST) {
      window.suppressed++;
      return;
    }
    const { suppressed } = window;
    window.suppressed = 0;
    log(level, event, suppressed === 0 ? fields : { ...fields, suppressed });
  };
}
