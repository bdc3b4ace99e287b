// The environment of `bigfleet up`: simulated clouds, and clusters whose operators connect to a shard over gRPC.

export { OWNED_PRICES } from './clouds/offerings.ts';
export type {
  DemoEnvironment,
  DemoEnvironmentSize,
  DemoScenarioName,
} from './demo.ts';
export { demoSizeIn, isDemoFile, startDemoEnvironment } from './demo.ts';
