// Ten thousand frames, built field by field, through the byte checks and the decoder. frame-fuzz-session.test.ts sends
// some of them to a real shard. BIGFLEET_SEED repeats a run; BIGFLEET_FRAME names a file that `npm run soak:frames` wrote.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CLUSTER, FrameReader } from './frame-fuzz-checks.ts';
import { FrameFuzzer, type FuzzedFrame } from './frame-fuzzer.ts';
import { megabytesInUse } from './memory.ts';

const SEED = Number(process.env['BIGFLEET_SEED'] ?? 1);
const FRAMES = 10_000;
const LARGE_BYTES = 1_000_000;
const LARGE_AT_LEAST = 200;

/** Frames between two measurements of memory. */
const CHECK_EVERY = 100;
/**
 * Allowed growth of memory in use since the start, in megabytes. Compiled code and the caches of the test take three or
 * four; a single frame of 16 MB that is kept by mistake exceeds the bound.
 */
const MEGABYTES_ABOVE_START = 12;

function checked(lane: FrameReader, { index, label, bytes }: FuzzedFrame): void {
  try {
    lane.check(bytes, index);
  } catch (cause) {
    throw new Error(`Frame ${index} of seed ${SEED}, ${label}: ${String(cause)}`, { cause });
  }
}

describe('frames built field by field', () => {
  it(`given ${FRAMES} of them, then each is read or refused, none is retained, and the last valid roll-up stays known`, () => {
    const fuzzer = new FrameFuzzer(SEED);
    const lane = new FrameReader(fuzzer);
    fuzzer.prepare();
    const startMegabytes = megabytesInUse();
    let large = 0;
    for (let index = 0; index < FRAMES; index++) {
      const frame = fuzzer.at(index, CLUSTER);
      if (frame.bytes.length > LARGE_BYTES) large++;
      checked(lane, frame);
      if (index % CHECK_EVERY !== CHECK_EVERY - 1) continue;
      const above = megabytesInUse() - startMegabytes;
      expect(above, `megabytes above the start at frame ${index} of seed ${SEED}`).toBeLessThan(
        MEGABYTES_ABOVE_START,
      );
    }
    expect(large).toBeGreaterThanOrEqual(LARGE_AT_LEAST);
    expect(fuzzer.singles).toBeLessThan(FRAMES / 2);
    // Every possible outcome of a frame occurs; otherwise the fuzzer no longer reaches all code paths.
    expect([...lane.outcomes.keys()]).toEqual(
      expect.arrayContaining([
        'malformed frame',
        'malformed roll-up',
        'roll-up refused',
        'roll-up changed',
        'roll-up unchanged',
        'frame of kind hello',
        'frame of kind bootstrapResponse',
        'frame of kind reclaimAck',
        'frame of kind unknown',
      ]),
    );
  });

  it('given a frame that a soak found, then it is read or refused', () => {
    const file = process.env['BIGFLEET_FRAME'];
    const lane = new FrameReader(new FrameFuzzer(SEED));
    const bytes = file === undefined ? new Uint8Array() : readFileSync(file);
    for (const way of [0, 1, 2, 3]) lane.check(bytes, way);
  });
});
