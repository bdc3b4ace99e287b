import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    setupFiles: ['test/setup.ts'],
    pool: 'threads',
    // Many tests wait for processes and clocks, so that more of them than there are cores keep the cores busy.
    maxWorkers: 4,
    // Tests time nothing; a slow machine is no failure.
    testTimeout: 30_000,
  },
});
