// Limits of the heaps of threads. Used by controller-thread.ts and what-if-service.ts and, for equal conditions, by
// bench/main.ts.

/**
 * Size of V8's young generation: half of its default. With the default, every fourth cycle of a large fleet is paused for 15 ms
 * by a collection. With a quarter, what a cycle needs until the next one reaches the old generation, and a collection of that
 * slows one cycle in a hundred to twice its time or more.
 */
export const YOUNG_GENERATION_MB = 96;

/**
 * Size of the young generation of the thread that keeps a replica of the ledger. Large, since objects that the thread unpacks
 * would otherwise reach the old generation, whose collections use the cores that the cycles of the controller need.
 */
export const REPLICA_YOUNG_GENERATION_MB = 384;
