// `npm run soak:frames -- --minutes 10`: frames of hostile operators through the byte checks and the decoder, for the
// requested time. First every single mutation of every field, then several at once, drawn from the seed. The first
// frame that violates an invariant is written to .cache/ and ends the run with exit code 1.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { optionsGiven } from '../bench/options.ts';
import { CLUSTER, FrameReader } from '../test/hostile/frame-fuzz-checks.ts';
import { FrameFuzzer } from '../test/hostile/frame-fuzzer.ts';
import { megabytesInUse } from '../test/hostile/memory.ts';

const USAGE = `npm run soak:frames -- [--minutes N] [--seed N] [--from N]
npm run soak:frames -- --repeat FILE

Builds frames of hostile operators and reads them as a shard does. Each must be read or refused, have a small result, keep
nothing in memory, and leave the last valid roll-up known.

  --minutes N    how long; 1 by default. A fraction is possible
  --seed N       which frames; drawn from the clock by default, and printed
  --from N       first frame of the seed; 0 by default
  --repeat FILE  reads one frame that an earlier run wrote to .cache/

npm run soak:frames -- --minutes 10
npm run soak:frames -- --minutes 0.1 --seed 7
npm run soak:frames -- --seed 7 --from 123456 --minutes 0.1
npm run soak:frames -- --repeat .cache/frame-7-123456.bin
BIGFLEET_FRAME=.cache/frame-7-123456.bin npm test -- test/hostile/frame-fuzz.test.ts`;

const PROGRESS_SECONDS = 10;
/** Frames between two checks of memory and clock. */
const BATCH = 100;
/** Above the start; see test/hostile/frame-fuzz.test.ts. A long run compiles more code. */
const MEGABYTES_ABOVE_START = 32;

if (process.argv.includes('--help')) {
  console.log(USAGE);
  process.exit(0);
}
const values = optionsGiven({
  minutes: { type: 'string', default: '1' },
  seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  from: { type: 'string', default: '0' },
  repeat: { type: 'string' },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed);
const from = Number(values.from);
if (!(minutes > 0) || !Number.isInteger(seed) || !Number.isInteger(from) || from < 0) {
  console.error(USAGE);
  process.exit(2);
}
process.exitCode = values.repeat === undefined ? soak() : repeat(values.repeat);

function soak(): number {
  const fuzzer = new FrameFuzzer(seed);
  const reader = new FrameReader(fuzzer);
  console.log(`Seed ${seed}, ${count(fuzzer.singles)} single mutations, then several at once.`);
  fuzzer.prepare();
  const startMegabytes = megabytesInUse();
  const started = performance.now();
  const secondsLeft = (): number => minutes * 60 - (performance.now() - started) / 1000;
  let progressAt = secondsLeft() - PROGRESS_SECONDS;
  let bytes = 0;
  let index = from;
  for (; secondsLeft() > 0; index++) {
    const frame = fuzzer.at(index, CLUSTER);
    bytes += frame.bytes.length;
    try {
      reader.check(frame.bytes, index);
      if (index % BATCH === BATCH - 1) checkMemory(startMegabytes);
    } catch (error) {
      return report(index, frame.label, frame.bytes, error);
    }
    if (secondsLeft() > progressAt) continue;
    progressAt = secondsLeft() - PROGRESS_SECONDS;
    const megabytes = count(Math.round(bytes / 1e6));
    console.log(`${Math.ceil(secondsLeft())} s left · ${count(index - from)} frames · ${megabytes} MB`);
  }
  const outcomes = [...reader.outcomes].sort(([, a], [, b]) => b - a);
  for (const [outcome, frames] of outcomes) console.log(`${count(frames).padStart(12)}  ${outcome}`);
  console.log(`Nothing found in ${count(index - from)} frames of seed ${seed}, ${minutes} min.`);
  return 0;
}

function checkMemory(startMegabytes: number): void {
  const above = Math.round(megabytesInUse() - startMegabytes);
  if (above > MEGABYTES_ABOVE_START)
    throw new Error(
      `${above} MB more in use than at the start: one of the last ${BATCH} frames or their sum`,
    );
}

function report(index: number, label: string, bytes: Uint8Array, error: unknown): number {
  const file = `.cache/frame-${seed}-${index}.bin`;
  mkdirSync('.cache', { recursive: true });
  writeFileSync(file, bytes);
  console.error(`FAULT at frame ${index} of seed ${seed}, ${label}`);
  console.error(error);
  console.error(`The frame is in ${file}. Repeat it:`);
  console.error(`  npm run soak:frames -- --repeat ${file}`);
  console.error(`  BIGFLEET_FRAME=${file} npm test -- test/hostile/frame-fuzz.test.ts`);
  return 1;
}

/** Reads the frame in all four ways. */
function repeat(file: string): number {
  const reader = new FrameReader(new FrameFuzzer(0));
  try {
    for (const way of [0, 1, 2, 3]) reader.check(readFileSync(file), way);
  } catch (error) {
    console.error(error);
    return 1;
  }
  console.log(`Nothing found: ${[...reader.outcomes.keys()].join(', ')}.`);
  return 0;
}

function count(value: number): string {
  return value.toLocaleString('en');
}
