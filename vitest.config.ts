import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    setupFiles: ['test/setup.ts'],
    pool: 'threads',
    // Tests time nothing; a slow machine is no failure.
    testTimeout: 30_000,
  },
});
