// Past cycles of a shard: the thread that decides one again.

import { expect, it } from 'vitest';
import { fileAt, Recorded, withPath } from '../../../testing/support/journal.ts';
import { newPacing, pace } from './pacing.ts';
import { PastCycles } from './past-cycles.ts';

async function withCycles(
  use: (cycles: PastCycles, pacing: Int32Array) => Promise<void>,
  limits?: ConstructorParameters<typeof PastCycles>[2],
): Promise<void> {
  await withPath(async (path) => {
    const file = fileAt(path);
    const recorded = new Recorded(file);
    for (let i = 0; i < 5; i++) recorded.cycle([]);
    const pacing = newPacing();
    const cycles = new PastCycles(path, pacing, limits);
    await use(cycles, pacing);
    await cycles.close();
    file.close();
  });
}

it('given a cycle in the journal, then its plan is read, and it is decided again with the same digest', async () => {
  await withCycles(async (cycles) => {
    const { digest } = await cycles.plan({ cycle: 4, limit: 10 });
    const answer = await cycles.redecide({ cycle: 4, limit: 10 });
    expect(answer).toMatchObject({ isSame: true, cyclesRead: 4, again: { digest } });
  });
});

it('given a second question meanwhile, then it is refused, and answered afterwards', async () => {
  await withCycles(async (cycles) => {
    const first = cycles.redecide({ cycle: 2, limit: 10 });
    await expect(cycles.redecide({ cycle: 3, limit: 10 })).rejects.toMatchObject({
      code: 'BF_REDECIDE_BUSY',
    });
    expect((await first).cycle).toBe(2);
    expect((await cycles.redecide({ cycle: 3, limit: 10 })).cycle).toBe(3);
  });
});

it('given a cycle that is not there, then the error of the thread is passed on, and the next question is answered', async () => {
  await withCycles(async (cycles) => {
    await expect(cycles.redecide({ cycle: 9, limit: 10 })).rejects.toMatchObject({
      code: 'BF_JOURNAL_RANGE',
    });
    expect((await cycles.redecide({ cycle: 3, limit: 10 })).isSame).toBe(true);
  });
});

it('given no time to answer, then the thread is ended and the caller is told', async () => {
  await withCycles(
    async (cycles, pacing) => {
      pace(pacing, true);
      await expect(cycles.redecide({ cycle: 3, limit: 10 })).rejects.toMatchObject({
        code: 'BF_REDECIDE_LATE',
      });
    },
    { readMs: 20_000, answerMs: 1 },
  );
});
