// The end-to-end cases of the operator on a real control plane, where there is one.

import { describe, expect, it } from 'vitest';
import { findKubebox, notRun } from '../../testing/kube/kubebox.ts';
import { END_TO_END } from './end-to-end-cases.ts';

const { why } = findKubebox();

describe('the operator end to end (real)', { timeout: 600_000 }, () => {
  if (why !== null) {
    it('given no real control plane, then the output names the tests that did not run', () => {
      const said = notRun(END_TO_END.length, why);
      console.warn(said);
      expect(process.env['BIGFLEET_REQUIRE_K8S'], said).not.toBe('1');
    });
    return;
  }
  for (const { title, run } of END_TO_END)
    it(title, async () => {
      const ends: (() => unknown)[] = [];
      try {
        await run('real', { onTestFinished: (end) => void ends.unshift(end as () => unknown) });
      } finally {
        for (const end of ends) await end();
      }
    });
});
