// Scheduling priority of a thread, for work that must not slow the threads beside it. Used by worker threads that answer
// questions.

import { getPriority, setPriority } from 'node:os';

/** A niceness at which a thread has about a tenth of the share of one with the default priority. */
const NICENESS = 10;

/**
 * Lowers the priority of the calling thread, where it has one of its own: Linux schedules threads, and there the calling
 * "process" of these functions is a thread. Elsewhere they would change the whole process, so nothing is done.
 */
export function lowerThreadPriority(): void {
  if (process.platform === 'linux' && getPriority() < NICENESS) setPriority(NICENESS);
}
