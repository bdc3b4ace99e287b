// Waits on this thread until another thread has written a value to shared memory. Used by worker-pool.ts.

/**
 * Waits until an entry has a value: reads it `spins` times, then parks the thread. Returns the entry as last read, which is
 * another value if `patienceMs` have passed. A thread can be woken without a change, because a writer may be interrupted
 * between writing a former value and notifying, so the entry is read again after every wake-up.
 */
export function awaitValue(
  control: Int32Array,
  index: number,
  value: number,
  { spins, patienceMs }: { readonly spins: number; readonly patienceMs: number },
): number {
  for (let i = 0; i < spins; i++) if (Atomics.load(control, index) === value) return value;
  const deadlineMs = performance.now() + patienceMs;
  for (;;) {
    const current = Atomics.load(control, index);
    const leftMs = deadlineMs - performance.now();
    if (current === value || leftMs <= 0) return current;
    Atomics.wait(control, index, current, leftMs);
  }
}
