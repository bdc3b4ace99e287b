// The end-to-end cases of the operator on the fake control plane. Cases mostly wait, so they run side by side.

import { describe, it } from 'vitest';
import { END_TO_END } from './end-to-end-cases.ts';

describe('the operator end to end (fake)', { timeout: 600_000 }, () => {
  for (const { title, run } of END_TO_END)
    it.concurrent(title, async () => {
      const ends: (() => unknown)[] = [];
      try {
        await run('fake', { onTestFinished: (end) => void ends.unshift(end as () => unknown) });
      } finally {
        for (const end of ends) await end();
      }
    });
});
