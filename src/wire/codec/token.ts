// Fencing tokens: (shard, epoch, sequence) on every mutating provider call. The counters are int64 and stay bigint from
// end to end; a double would lose the last bits long before 2^63 - 1. Every int64 is a legal counter: shards count from
// 1, but the order of tokens has no special place for zero or for what is below it. Used by the kit (fences.ts) and the
// conformance suite.

export interface FencingToken {
  readonly shardId: string;
  readonly epoch: bigint;
  readonly sequence: bigint;
}

/** The token of a request; null for a caller that does not fence (no shard, both counters 0). */
export function tokenFromWire(wire: {
  readonly shardId: string;
  readonly shardEpoch: bigint;
  readonly sequenceNumber: bigint;
}): FencingToken | null {
  const { shardId, shardEpoch: epoch, sequenceNumber: sequence } = wire;
  const isUnfenced = shardId === '' && epoch === 0n && sequence === 0n;
  return isUnfenced ? null : { shardId, epoch, sequence };
}

/** Whether `a` is strictly newer: a later epoch, or the same epoch and a later sequence number. */
export function isNewer(a: FencingToken, b: FencingToken): boolean {
  return a.epoch > b.epoch || (a.epoch === b.epoch && a.sequence > b.sequence);
}
