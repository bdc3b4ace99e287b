// Declares end-to-end cases as tests: on the fake control plane always, on a real one where there is one.

import { describe, it } from 'vitest';
import type { Target } from '../../testing/kube/control-plane.ts';
import { withEnds } from '../../testing/kube/control-plane.ts';
import { describeNotRun } from '../../testing/kube/suite.ts';
import type { EndToEndCase } from './end-to-end-case.ts';

/** A case that waits for a control plane on a busy machine several times. */
const CASE_MS = 900_000;

/** Cases of one file on the fake at a time: more would starve the event loop that clusters, shard and operators share. */
const AT_ONCE = 4;

/** Cases on the fake mostly wait, so a few of them run side by side; those on a real one have the machine to themselves. */
export function describeCases(target: Target, title: string, all: readonly EndToEndCase[]): void {
  const cases = all.filter(({ only = target }) => only === target);
  if (target === 'real' && describeNotRun(title, cases.length)) return;
  const slots = new Slots(target === 'fake' ? AT_ONCE : 1);
  describe(`${title} (${target})`, { concurrent: target === 'fake' }, () => {
    for (const { title: given, run, timeoutMs = CASE_MS } of cases)
      it(given, { timeout: timeoutMs }, async () => {
        await slots.run(() =>
          withEnds((ends) =>
            run(target, { onTestFinished: (end) => void ends.unshift(end as () => unknown) }),
          ),
        );
      });
  });
}

class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async run(body: () => Promise<void>): Promise<void> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      await body();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
