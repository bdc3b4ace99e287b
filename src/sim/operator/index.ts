// Simulated operators of clusters.

export type { Dialer, Link, LinkEnd } from './link.ts';
export type { SimNode } from './nodes.ts';
export type {
  BootstrapHabit,
  OperatorCounts,
  OperatorEvent,
  OperatorParts,
  OperatorTimes,
} from './operator.ts';
export { OPERATOR_TIMES, SimOperator } from './operator.ts';
export { grpcDialer } from './operator-grpc.ts';
export type { MemoryDialerParts } from './operator-memory.ts';
export { memoryDialer } from './operator-memory.ts';
