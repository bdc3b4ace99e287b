// Threads that answer questions stand back while the controller is in a cycle, through a block of memory that they share
// with it. Used by controller-worker.ts, what-if-worker.ts and redecide-worker.ts.

/** Entries of the shared block. */
export const Pacing = {
  /** 1 while a cycle runs. */
  Running: 0,
} as const;

/** Longest wait for the end of a cycle: a cycle that hangs must not hang other threads too. */
const LONGEST_PAUSE_MS = 2_000;

export function newPacing(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

/** Called by the controller when a cycle begins and ends. */
export function pace(pacing: Int32Array, isRunning: boolean): void {
  Atomics.store(pacing, Pacing.Running, isRunning ? 1 : 0);
  if (!isRunning) Atomics.notify(pacing, Pacing.Running);
}

/** Waits while a cycle runs. */
export function standBack(pacing: Int32Array): void {
  if (Atomics.load(pacing, Pacing.Running) === 1) Atomics.wait(pacing, Pacing.Running, 1, LONGEST_PAUSE_MS);
}
