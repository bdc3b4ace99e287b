// How often a command reads a shard that it follows. Used by `get --watch` (watch.ts) and `top`.

/** A reader rests this many times as long as its last read took, so that it uses a small part of the shard's time, as the page does. */
const REST = 10;

/** Until the next read. */
export function restMs(intervalMs: number, tookMs: number): number {
  return Math.max(intervalMs, REST * tookMs);
}
