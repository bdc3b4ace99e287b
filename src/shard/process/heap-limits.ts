// Heaps of threads: limits, and flags of V8. Used by controller-thread.ts and what-if-service.ts and, for equal conditions,
// by bench/main.ts.

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

/**
 * Flags of V8 for the process of a controller. By default V8 allocates objects in the old generation right away if most
 * objects that the same line of code made before have reached it. What lives long while a fleet is loaded, such as rows of
 * roll-ups, is short-lived in the cycles after that: they fill the old generation several times as fast.
 */
export const CONTROLLER_FLAGS: readonly string[] = ['--no-allocation-site-pretenuring'];
