// Random tokens against an oracle of the fence, for the behaviours in fencing.ts and properties.ts: a token passes if
// its key is new or if it is strictly newer than the mark. Create is the probe: on a machine that is Creating or Idle
// it is always a repetition, so the fence alone decides.

import type { Token } from '../harness/calls.ts';
import { accepted, fenced } from '../harness/expect.ts';
import type { Trial } from '../harness/trial.ts';

/** The ends of the range of a counter of a token. */
export const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);

/**
 * Where marks begin, so that a few dozen steps upwards pass every place where providers count wrongly: an ordinary place,
 * zero from below for each counter, both ends of the range, and an epoch at which the sequence number starts again.
 */
export const STARTS: readonly (readonly [epoch: bigint, sequence: bigint])[] = [
  [3n, 40n],
  [-1n, -1n],
  [0n, 0n],
  [MIN_INT64, MIN_INT64],
  [MAX_INT64 - 1n, MAX_INT64 - 6n],
  [-1n, MAX_INT64],
];

export interface Attempt {
  readonly id: string;
  readonly token: Token;
}

type MarkOf = (id: string, shard: string) => Token | undefined;

/** Sends `count` Creates, one after another, and compares each answer with the oracle. */
export async function marksAreExact(
  trial: Trial,
  count: number,
  next: (markOf: MarkOf) => Attempt,
): Promise<void> {
  const marks = new Map<string, Token>();
  const keyOf = (id: string, shard: string) => `${shard}\u0000${id}`;
  for (let i = 0; i < count; i++) {
    const { id, token } = next((machine, shard) => marks.get(keyOf(machine, shard)));
    const mark = marks.get(keyOf(id, token.shard));
    const what = `attempt ${i + 1}, Create (${token.epoch},${token.sequence}) after ${textOfMark(mark)},`;
    const reply = await trial.calls.create(id, token);
    if (mark !== undefined && !isNewer(token, mark)) {
      fenced(what, reply);
    } else {
      accepted(what, reply);
      marks.set(keyOf(id, token.shard), token);
    }
  }
}

function isNewer(token: Token, mark: Token): boolean {
  return token.epoch > mark.epoch || (token.epoch === mark.epoch && token.sequence > mark.sequence);
}

function textOfMark(mark: Token | undefined): string {
  return mark === undefined ? 'no mark' : `the mark (${mark.epoch},${mark.sequence})`;
}

/** A token within a few steps of the mark, where mistakes are made. */
export function tokenNear({ random }: Trial, { shard, epoch, sequence }: Token): Token {
  const near = (value: bigint, steps: number) => int64(value + BigInt(random.between(-steps, steps)));
  return { shard, epoch: near(epoch, 1), sequence: near(sequence, 3) };
}

/** A token from elsewhere: an epoch nearby, and a sequence number from an end of its range, from around zero or between. */
export function farToken({ random }: Trial, { shard, epoch }: Token): Token {
  const sequence = random.pick([
    BigInt(random.between(-2, 2)),
    MAX_INT64 - BigInt(random.below(3)),
    MIN_INT64 + BigInt(random.below(3)),
    BigInt(random.next32()),
    -BigInt(random.next32()),
  ]);
  return { shard, epoch: int64(epoch + BigInt(random.below(2))), sequence };
}

/** Stops at the ends of the range: a number beyond them would be another one on the wire. */
function int64(value: bigint): bigint {
  if (value > MAX_INT64) return MAX_INT64;
  return value < MIN_INT64 ? MIN_INT64 : value;
}
