// `npm run bench -- rollup`: the cost of reading a roll-up in full, unchanged, and with one Need in a hundred changed.
//   npx node bench/wire/rollup.ts [--json] [--needs 400] [--rounds 2000] [--seed 1]
// Every figure is reported with the floor of the same run: one pass over the same bytes that sums them. All but the
// first two cases include the conversion of new Needs to the model.

import { type CapacityNeed, ClusterCapacityNeeds } from '../../src/wire/gen/bigfleet/v1alpha1/capacity.ts';
import { type IntakeResult, RollupIntake } from '../../src/wire/index.ts';
import { optionsGiven } from '../options.ts';
import { CLUSTER, encodeRollup, makeNeed, type Random, randomFrom, shuffled } from './needs.ts';

export interface Options {
  /** Needs per roll-up. */
  readonly needs: number;
  /** Timed roll-ups per case; a tenth as many again run before, untimed. */
  readonly rounds: number;
  readonly seed: number;
}

export interface CaseResult {
  readonly name: string;
  readonly p50Us: number;
  readonly p99Us: number;
  /** p50 of this case ÷ p50 of the floor. */
  readonly timesFloor: number;
}

export interface Result {
  readonly benchmark: 'wire/rollup';
  readonly node: string;
  readonly options: Options;
  readonly rollupBytes: number;
  readonly bytesPerNeed: number;
  readonly cases: readonly CaseResult[];
}

/** One timed step on roll-up number `round`; its result is used, so that no work is optimised away. */
type Step = (round: number) => unknown;

export function run(options: Options): Result {
  const random = randomFrom(options.seed);
  const needs = Array.from({ length: options.needs }, () => makeNeed(random));
  const cases: Record<string, Step> = {
    'floor: add up all bytes': floor(needs),
    'decode all, generated code': decodeAll(needs),
    'decode and convert all': firstRollup(needs),
    'unchanged, other timestamp': unchanged(needs),
    'unchanged, other timestamp and map order': unchanged(needs, random),
    '1 % changed, other timestamp and map order': changing(needs, random),
    '1 % changed, all needs in another order': changing(needs, random, { move: true }),
  };
  const timed = Object.entries(cases).map(([name, step]) => ({ name, ...measure(step, options.rounds) }));
  const floorUs = timed[0]!.p50Us;
  const rollupBytes = encodeRollup(needs, stamp(0)).length;
  return {
    benchmark: 'wire/rollup',
    node: process.version,
    options,
    rollupBytes,
    bytesPerNeed: Math.round(rollupBytes / options.needs),
    cases: timed.map((result) => ({ ...result, timesFloor: round2(result.p50Us / floorUs) })),
  };
}

/** Distinct inputs per case, so that the branch predictor cannot learn them. */
const VARIANTS = 64;

const stamp = (round: number) => 1_790_000_000_000_000_000n + BigInt(round) * 10_000_000_000n;

function variants(make: (index: number) => Uint8Array): Uint8Array[] {
  return Array.from({ length: VARIANTS }, (_, i) => make(i));
}

function floor(needs: readonly CapacityNeed[]): Step {
  const inputs = variants((i) => encodeRollup(needs, stamp(i)));
  return (round) => {
    const bytes = inputs[round % VARIANTS]!;
    let sum = 0;
    for (let i = 0; i < bytes.length; i++) sum += bytes[i]!;
    return sum;
  };
}

function decodeAll(needs: readonly CapacityNeed[]): Step {
  const inputs = variants((i) => encodeRollup(needs, stamp(i)));
  return (round) => {
    const { length } = ClusterCapacityNeeds.decode(inputs[round % VARIANTS]!).needs;
    assertCount('needs', length, needs.length);
    return length;
  };
}

function firstRollup(needs: readonly CapacityNeed[]): Step {
  const inputs = variants((i) => encodeRollup(needs, stamp(i)));
  return (round) => {
    const intake = new RollupIntake(CLUSTER);
    const read = intake.read(inputs[round % VARIANTS]!);
    intake.accept(read);
    assertAdded(read, needs.length);
  };
}

function unchanged(needs: readonly CapacityNeed[], order?: Random): Step {
  const intake = new RollupIntake(CLUSTER);
  intake.accept(intake.read(encodeRollup(needs, stamp(0))));
  const inputs = variants((i) => encodeRollup(needs, stamp(i + 1), order));
  return (round) => {
    const read = intake.read(inputs[round % VARIANTS]!);
    if (read.kind !== 'unchanged') throw new Error('expected an unchanged roll-up');
    return read;
  };
}

/** A chain of roll-ups, each 1 % away from the one before, read up and down and accepted every time. */
function changing(needs: readonly CapacityNeed[], random: Random, { move = false } = {}): Step {
  const perStep = Math.max(1, Math.round(needs.length / 100));
  let current = [...needs];
  const inputs = variants((i) => {
    // Places do not repeat within a step, or fewer needs than 1 % would change.
    const places = shuffled([...needs.keys()], random).slice(0, perStep);
    for (const place of places) current[place] = makeNeed(random);
    if (move) current = shuffled(current, random);
    return encodeRollup(current, stamp(i), random);
  });
  const intake = new RollupIntake(CLUSTER);
  const last = VARIANTS - 1;
  const at = (round: number) => last - Math.abs((round % (2 * last)) - last);
  intake.accept(intake.read(inputs[0]!));
  let next = 1;
  return () => {
    const read = intake.read(inputs[at(next++)]!);
    intake.accept(read);
    assertAdded(read, perStep);
  };
}

function assertAdded(read: IntakeResult, expected: number): void {
  assertCount('new needs', read.kind === 'changed' ? read.rollup.added : 0, expected);
}

function assertCount(what: string, actual: number, expected: number): void {
  if (actual !== expected) throw new Error(`expected ${expected} ${what}, got ${actual}`);
}

function measure(step: Step, rounds: number): { p50Us: number; p99Us: number } {
  const warmUp = Math.ceil(rounds / 10);
  const times = new Float64Array(rounds);
  for (let i = 0; i < warmUp + rounds; i++) {
    const start = process.hrtime.bigint();
    step(i);
    const took = process.hrtime.bigint() - start;
    if (i >= warmUp) times[i - warmUp] = Number(took) / 1000;
  }
  times.sort();
  const quantile = (q: number) => round2(times[Math.min(rounds - 1, Math.floor(rounds * q))]!);
  return { p50Us: quantile(0.5), p99Us: quantile(0.99) };
}

function round2(value: number): number {
  return Math.round(value * 100) / 100;
}

const HELP = `bench rollup: cost of reading a roll-up that is unchanged, slightly changed or entirely new

  --needs N    rows of the roll-up (default 400)
  --rounds N   times each case is read (default 2000)
  --seed N     seed of the rows (default 1)
  --json       one JSON document on standard output

example:
  npm run --silent bench -- rollup --needs 388 --rounds 500
`;

if (import.meta.main) {
  const values = optionsGiven({
    json: { type: 'boolean', default: false },
    needs: { type: 'string', default: '400' },
    rounds: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  });
  if (values.help) {
    console.log(HELP);
    process.exit(0);
  }
  const result = run({
    needs: Number(values.needs),
    rounds: Number(values.rounds),
    seed: Number(values.seed),
  });
  if (values.json) console.log(JSON.stringify(result, null, 2));
  else {
    console.log(`${result.rollupBytes} bytes, ${result.bytesPerNeed} per need, Node ${result.node}`);
    console.table(Object.fromEntries(result.cases.map(({ name, ...figures }) => [name, figures])), [
      'p50Us',
      'p99Us',
      'timesFloor',
    ]);
  }
}
