// Simulated operators of clusters.

export type { Dialer } from './link.ts';
export type { SimNode } from './nodes.ts';
export type {
  BootstrapHabit,
  OperatorEvent,
  OperatorTimes,
} from './operator.ts';
export { SimOperator } from './operator.ts';
export { grpcDialer } from './operator-grpc.ts';

export { memoryDialer } from './operator-memory.ts';
