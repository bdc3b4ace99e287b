// `bigfleet describe cycle`.

import { afterEach, describe, expect, it } from 'vitest';
import { describeCommand } from '../../src/cli/remote/describe.ts';
import { NO_ACTIONS, OTHER_PLAN, onePastCycle, PAST_PLAN } from '../../testing/support/past-cycles.ts';
import { type Served, servedShard } from './served.ts';

const open: Served[] = [];
afterEach(async () => {
  for (const served of open.splice(0)) await served.close();
});

async function started(cycles: Parameters<typeof servedShard>[0] = onePastCycle()) {
  const served = await servedShard(cycles);
  open.push(served);
  return { served, show: (...words: string[]) => served.run(describeCommand, words) };
}

describe('bigfleet describe cycle', () => {
  it('given a number, then it has what the cycle decided, started and held back, and its events', async () => {
    const cycles = onePastCycle();
    const { served, show } = await started(cycles);
    const text = await show('cycle', '812', '--epoch', '3');
    expect(text).toMatch(/^Cycle 812 {2}2025-10-09T.*, 60s ago\n/);
    expect(text).toMatch(/decided +buy 2, in 12 ms\n +held back +4: it is frozen\n/);
    expect(text).toMatch(/buy +gpu\/7 +ml +ml\/00ff00ff00 +nothing idle fits +started\n/);
    expect(text).toContain('held back: frozen by ann');
    expect(text).toContain('7 actions more: -o json');
    expect(text).toContain('3 actions more, most of them held back by an earlier cycle already');
    expect(cycles.asked).toMatchObject([{ cycle: 812, epoch: 3, limit: 50 }]);
    expect(served.shard.asked.at(-1)).toMatchObject({ name: 'history', ask: { cycle: 812, epoch: 3 } });
  });

  it('given --again, then it also has whether the same is decided', async () => {
    const { show } = await started();
    const text = await show('cy/812', '--again');
    expect(text).toMatch(/Decided again\n +The same plan: buy 2;/);
    expect(JSON.parse(await show('cycle', '812', '--again', '-o', 'json'))).toMatchObject({
      plan: { cycle: PAST_PLAN.cycle, digest: PAST_PLAN.digest },
      redecision: { isSame: true },
      events: [],
    });
  });

  it('given another plan, then it has the actions of one side only', async () => {
    const { show } = await started(onePastCycle(OTHER_PLAN));
    const text = await show('cycle', '812', '--again');
    expect(text).toMatch(/In the record only\n.*\n +buy +gpu\/7/);
    expect(text).toMatch(/Decided now only\n.*\n +reclaim +m-2 +ml +no row counts on it/);
    const { show: showOther } = await started(
      onePastCycle({ ...OTHER_PLAN, onlyAgain: null, onlyRecorded: NO_ACTIONS }),
    );
    expect(await showOther('cycle', '812', '--again')).not.toContain('only\n');
  });

  it.each([
    [['cycle'], '"bigfleet get status" shows the number of the last one'],
    [['cycle', 'last'], 'must be a whole number'],
    [['machine', 'm-1', '--again'], '--epoch and --again are about a cycle'],
    [['cycle', '1', '--epoch', 'x'], 'It must be an epoch'],
  ])('given %j, then it is refused', async (words, message) => {
    const { show } = await started();
    await expect(show(...words)).rejects.toThrow(message);
  });

  it('given a shard without a journal, then it says so', async () => {
    const { show } = await started(null);
    await expect(show('cycle', '1')).rejects.toThrow('keeps no journal');
  });
});
