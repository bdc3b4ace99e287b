// What the thread of the brain may have of the process.

/**
 * Memory for young objects. With as much as V8 takes by itself, every fourth cycle of a large fleet is held up for 15 ms while
 * it is collected; with a quarter of that, every cycle for 3.
 */
export const YOUNG_GENERATION_MB = 48;
