// Threads that answer questions stand back while the controller is in a cycle, through a block of memory that they share
// with it. Used by controller-worker.ts, what-if-worker.ts and redecide-worker.ts.

/** Entries of the shared block. */
const Entry = {
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
  Atomics.store(pacing, Entry.Running, isRunning ? 1 : 0);
  if (!isRunning) Atomics.notify(pacing, Entry.Running);
}

/** Waits while a cycle runs. */
export function standBack(pacing: Int32Array): void {
  if (Atomics.load(pacing, Entry.Running) === 1) Atomics.wait(pacing, Entry.Running, 1, LONGEST_PAUSE_MS);
}
