// Keeps somebody who makes mistakes by the thousand from filling a disk with log lines: of each event so many are written
// in a while, and the next one that is written says how many were not.

import type { Clock } from '../../model/index.ts';
import type { HandsLog } from './log.ts';

/** Lines of one event in one window. */
const MOST = 100;
const WINDOW_MS = 10_000;

interface Window {
  beganMs: number;
  lines: number;
  suppressed: number;
}

/** Events have names from the code, so that there are few windows. */
export function gatedLog(log: HandsLog, clock: Clock): HandsLog {
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
