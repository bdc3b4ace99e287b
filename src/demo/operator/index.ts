// Simulated operators of clusters, for the demo environment and for tests (testing/world, test/e2e).

export type { DrainHabit, DrainNote } from './drains.ts';
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
