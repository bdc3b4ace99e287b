// Vitest's global setup for tests on a real control plane: where there is none, prints one line for all of them when the
// run ends. suite.ts counts.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { findKubebox, notRun } from './kubebox.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** File to which each test file appends the number of its tests that did not run, a line each. */
    readonly notRunFile: string;
  }
}

export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'bigfleet-not-run-'));
  const file = join(folder, 'counts');
  writeFileSync(file, '');
  project.provide('notRunFile', file);
  return () => {
    const counts = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map(Number);
    rmSync(folder, { recursive: true });
    const { why } = findKubebox();
    if (counts.length > 0 && why !== null)
      console.warn(
        notRun(
          counts.reduce((sum, count) => sum + count, 0),
          why,
        ),
      );
  };
}
