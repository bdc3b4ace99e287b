// Which test files share a process, which run in a process of their own, and which run one after the other: read by
// vitest.config.ts and checked by tidy.test.ts.
//
// A process of its own costs a file about 0.8 s of CPU, and most files need none: they share four processes, one file
// after the other, with one copy of every module. A file shares if all of this holds; shared-setup.ts fails the file
// that breaks the rule, not the one after it:
// - It mocks no module, resets no modules and leaves every global, timer, spy and environment variable as it was.
// - It starts no thread. Servers and processes that it starts have ended when it ends.
// - It does not measure the memory of its process.

/** Files that run in a process of their own. */
export const ALONE: readonly string[] = [
  // A browser, shards with threads, memory measurements, control planes of Kubernetes.
  'test/{browser,hostile,kube,shard}/**/*.test.ts',
  'test/e2e/{shard-*,startup}.test.ts',
  'test/operator/end-to-end*.test.ts',
  'test/conformance/bad-input.test.ts',
  'test/tidy.test.ts',
  // Threads.
  'src/**/*thread*.test.ts',
  'src/**/*thread*/*.test.ts',
  'src/engine/parallel/await-value.test.ts',
  'src/runtime/worker-channel.test.ts',
  'src/shard/journal/journal-file.test.ts',
  'test/engine/{broker,lanes,pool-order,rungs,threads}.test.ts',
  // Mocked modules and stubbed globals.
  'src/shard/storage/data-dir.test.ts',
  'src/web/page/*.test.ts',
];

/**
 * Files whose tests start real control planes. Each of those has as much work for the machine as all other tests together,
 * so these files run one after the other, when all others have ended.
 */
export const REAL_CONTROL_PLANE: readonly string[] = ['test/{kube,operator}/*-real.test.ts'];

/**
 * The slowest files, slowest first. They start first, so that none of them runs alone at the end; without this list a
 * new clone, which has no record of earlier runs, starts the largest files first.
 */
export const LONGEST: readonly string[] = [
  'test/operator/end-to-end-faults.test.ts',
  'test/operator/end-to-end.test.ts',
  'test/operator/end-to-end-objects.test.ts',
  'test/conformance/fake.test.ts',
  'test/conformance/foreign.test.ts',
  'test/conformance/mutants.test.ts',
  'test/docs/commands.test.ts',
  'test/hostile/identity.test.ts',
  'testing/world/world.test.ts',
  'test/engine/lanes.test.ts',
  'test/hostile/crash.test.ts',
];
