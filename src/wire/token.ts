// Fencing tokens: (shard, epoch, sequence) on every mutating provider call. The counters are int64 and stay
// bigint from end to end; a double would lose the last bits long before 2^63 - 1.

import { ok, type Problem, type Result, refused } from '../model/index.ts';

export interface FencingToken {
  readonly shardId: string;
  readonly epoch: bigint;
  readonly sequence: bigint;
}

const MAX_INT64 = 2n ** 63n - 1n;

/** The token of a request; null for a caller that does not fence (no shard, both counters 0). */
export function tokenFromWire(wire: {
  readonly shardId: string;
  readonly shardEpoch: bigint;
  readonly sequenceNumber: bigint;
}): Result<FencingToken | null> {
  const { shardId, shardEpoch: epoch, sequenceNumber: sequence } = wire;
  if (shardId === '' && epoch === 0n && sequence === 0n) return ok(null);
  const problems: Problem[] = [];
  checkCounter(epoch, 'shard_epoch', problems);
  checkCounter(sequence, 'sequence_number', problems);
  return problems.length > 0 ? refused(problems) : ok({ shardId, epoch, sequence });
}

function checkCounter(value: bigint, path: string, problems: Problem[]): void {
  if (value >= 0n && value <= MAX_INT64) return;
  problems.push({ code: 'BF_TOKEN_RANGE', path, message: `The counter is ${value}.` });
}

/** Whether `a` is strictly newer: a later epoch, or the same epoch and a later sequence number. */
export function isNewer(a: FencingToken, b: FencingToken): boolean {
  return a.epoch > b.epoch || (a.epoch === b.epoch && a.sequence > b.sequence);
}
