// Abortable waits on a clock, for the delays of cloud.ts, faulty-calls.ts and fault-selectors.ts.

import type { Clock } from '../../runtime/clock.ts';

/** Resolves after `ms`; rejects as soon as the signal aborts. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      cancel();
      reject(new Error('called off'));
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', stop);
      resolve();
    });
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Rejects when the signal aborts, which may be never. */
export function aborted(signal: AbortSignal, reason: string): Promise<never> {
  return new Promise((_, reject) => {
    const stop = () => reject(new Error(reason));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
