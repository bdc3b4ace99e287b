// Declares one list of cases as tests, on the fake control plane or on a real one. Where there is no real one, one line
// at the end of the run says how many tests were not run and how to run them; with BIGFLEET_REQUIRE_K8S=1, which
// `npm run verify:k8s` sets, they fail instead.

import { appendFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import {
  type ControlPlane,
  type ControlPlaneOptions,
  startControlPlane,
  type Target,
  withEnds,
} from './control-plane.ts';
import { findKubebox, notRun } from './kubebox.ts';

/** What a case gets: a control plane that it shares with other cases, and a namespace of its own. */
export interface CaseContext {
  readonly plane: ControlPlane;
  readonly namespace: string;
  /** Unique within the control plane, for objects without a namespace. */
  readonly prefix: string;
  /** Runs at the end of the case, last one first. */
  readonly defer: (run: () => Promise<void> | void) => void;
}

export interface Case {
  /** given …, when …, then … */
  readonly title: string;
  readonly run: (context: CaseContext) => Promise<void>;
}

const REQUIRED = 'BIGFLEET_REQUIRE_K8S';

export function describeOn(
  target: Target,
  title: string,
  cases: readonly Case[],
  options: ControlPlaneOptions = {},
): void {
  if (target === 'real' && describeNotRun(title, cases.length)) return;
  describe(`${title} (${target})`, { timeout: 300_000 }, () => {
    let plane: ControlPlane;
    let next = 1;
    beforeAll(async () => {
      plane = await startControlPlane(target, options);
    }, 300_000);
    afterAll(async () => {
      await plane?.stop();
    });
    it.each(cases)('$title', async ({ run }) => {
      const prefix = `case-${next++}`;
      await plane.admin.create('/api/v1/namespaces', { metadata: { name: prefix } });
      await withEnds((ends) =>
        run({ plane, namespace: prefix, prefix, defer: (end) => void ends.unshift(end) }),
      );
    });
  });
}

/** Whether there is no real control plane: declares a test that counts what does not run. */
export function describeNotRun(title: string, tests: number): boolean {
  const { why } = findKubebox();
  if (why === null) return false;
  describe(`${title} (not run)`, () => {
    it('given no real control plane, then the output names the number of tests that did not run', () => {
      const said = notRun(tests, why);
      expect(process.env[REQUIRED], said).not.toBe('1');
      appendFileSync(inject('notRunFile'), `${tests}\n`);
    });
  });
  return true;
}
