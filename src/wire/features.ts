// Additions to the contract of operators and shards. Both ends announce those that they know, the operator in its hello and
// the shard in its ack, and neither uses one that the other end has not announced.

export const FEATURES = ['rollup-report', 'verdicts', 'drain-report', 'withdraw'] as const;
export type Feature = (typeof FEATURES)[number];
