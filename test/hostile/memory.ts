// Memory in use after a full garbage collection: the heap of this thread, and the buffers outside of it. Enables the
// collector at run time, so that no command-line flag is needed. Used by tests that bound memory and by
// `npm run soak:frames`.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const MEGABYTE = 1_000_000;

/** Heap and external memory after a forced collection, in megabytes. */
export function megabytesInUse(): number {
  // Buffers are freed after the objects that own them: the second collection finds those.
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / MEGABYTE;
}

/** As `megabytesInUse`, once it is below a bound or stops falling, with time for sockets and timers in between. */
export async function settledMegabytes(bound: number): Promise<number> {
  let least = megabytesInUse();
  for (let attempts = 0; attempts < 50 && least > bound; attempts++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    least = Math.min(least, megabytesInUse());
  }
  return least;
}
