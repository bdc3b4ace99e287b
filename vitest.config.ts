import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    setupFiles: ['test/setup.ts'],
    // Processes, since many tests start threads of their own: with those of all tests in one, Node itself aborted at times.
    pool: 'forks',
    // Many tests wait for processes and clocks, so that more of them than there are cores keep the cores busy.
    maxWorkers: 4,
    // Tests time nothing; a slow machine is no failure.
    testTimeout: 120_000,
    // A shard that is stopped may take ten seconds over what is under way.
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
