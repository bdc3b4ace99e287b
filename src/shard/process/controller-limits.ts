// Resource limits of the controller's thread. Used by controller-thread.ts and, for equal conditions, by
// bench/main.ts.

/**
 * Size of V8's young generation. With V8's default size, every fourth cycle of a large fleet is paused for 15 ms by a
 * collection; with a quarter of that size, every cycle is paused for 3 ms.
 */
export const YOUNG_GENERATION_MB = 48;
