import { resolve } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { ALONE, LONGEST, REAL_CONTROL_PLANE } from './test/projects.ts';

const TESTS = ['{src,test,testing,bench}/**/*.test.ts'];

/** The files that take longest start first, whichever project they are of. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const places = new Map(LONGEST.map((file, place) => [resolve(file), place]));
    const place = ({ moduleId }: TestSpecification): number => places.get(moduleId) ?? LONGEST.length;
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

/** Vitest shuffles files only if no other order is set. */
const isShuffled = process.argv.some((word) => word.startsWith('--sequence.shuffle'));

export default defineConfig({
  test: {
    // Code that a process or thread has compiled is there for the next one, in this run and later ones, in the folder that
    // commands of a checkout use: without it each shard and command that a test starts spends half of its start on removing
    // types and compiling.
    env: { NODE_COMPILE_CACHE: resolve('node_modules/.cache/bigfleet') },
    // Processes, since many tests start threads of their own: with those of all tests in one, Node itself aborted at times.
    pool: 'forks',
    // Many tests wait for processes and clocks, so that more of them than there are cores keep the cores busy.
    maxWorkers: 4,
    // Tests time nothing; a slow machine is no failure.
    testTimeout: 120_000,
    // A shard that is stopped may take ten seconds over what is under way.
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    sequence: isShuffled ? {} : { sequencer: LongestFirst },
    // test/projects.ts says which file is of which project, and why.
    projects: [
      {
        extends: true,
        test: {
          name: 'alone',
          include: [...ALONE],
          exclude: [...REAL_CONTROL_PLANE],
          setupFiles: ['test/setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'control-plane',
          include: [...REAL_CONTROL_PLANE],
          fileParallelism: false,
          globalSetup: ['testing/kube/not-run-report.ts'],
          setupFiles: ['test/setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'shared',
          include: TESTS,
          exclude: [...ALONE, ...REAL_CONTROL_PLANE],
          isolate: false,
          setupFiles: ['test/setup.ts', 'test/shared-setup.ts'],
        },
      },
    ],
  },
});
