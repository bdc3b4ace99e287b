// The history before the page was opened: curves of the last hour and the last events, after a reload and after a
// restart of the shard under an open page. Run by `npm run verify:web`.

import assert from 'node:assert/strict';
import { loadavg } from 'node:os';
import type { Demo } from './demo.ts';
import type { Stage } from './stage.ts';

/** Points that a curve must have before a reload, so that an empty curve after it would be detected. */
const ENOUGH_POINTS = 5;

/** A reload keeps curves, actions and events: they come from the shard, not from the state of the page. */
export async function reloadKeepsTheHour(stage: Stage): Promise<void> {
  const before = await stage.until('there are points to keep', ({ points }) =>
    points.some((count) => count >= ENOUGH_POINTS),
  );
  await stage.page.reload();
  const after = await stage.until(
    'the page is as full as before',
    ({ points, actions, events }) =>
      Math.max(0, ...points) >= ENOUGH_POINTS &&
      actions.length >= Math.min(before.actions.length, 1) &&
      events.length >= before.events.length,
  );
  await stage.record('reloaded');
  assert.deepEqual(after.plots, before.plots);
  // The newest: new events may push the oldest of those that are shown out of the list meanwhile.
  const [newest] = before.events;
  if (newest !== undefined)
    assert.ok(
      after.events.some(({ text }) => text === newest.text),
      newest.text,
    );
}

/** A shard that restarts under an open page: the page reports it, and continues without a reload. */
export async function restartIsSeen(stage: Stage, restart: () => Promise<Demo>): Promise<void> {
  await stage.demo.stop();
  await stage.until('the page says that the shard is gone', ({ trouble }) => trouble !== '');
  await stage.record('shard-gone');
  const again = await restart();
  assert.equal(again.url, stage.demo.url, 'the demo is back at its address');
  await stage.until(
    'the page goes on',
    ({ trouble, machines }) => trouble === '' && (machines['serving'] ?? 0) > 0,
  );
  await stage.record('shard-back');
}

/** Longest time from the start of the process of a demo until a page that is opened as soon as it has an address shows a decision. */
const FIRST_DECISION_MS = 5_000;

export async function firstDecisionIsSeen(stage: Stage): Promise<void> {
  await stage.until('the page shows a cycle', async () =>
    /cycle [\d,]+ took/.test((await stage.page.textContent('#about')) ?? ''),
  );
  const ms = Date.now() - stage.demo.spawnedMs;
  assert.ok(ms < FIRST_DECISION_MS, `it took ${Math.round(ms)} ms, at a load of ${loadavg()[0]!.toFixed(1)}`);
}

/** Longest time until a page of loopback shows something, and most bytes of its files as they are sent. */
const FIRST_PAINT_MS = 1_000;
const MAX_BYTES = 300_000;

interface Loaded {
  readonly firstPaintMs: number | null;
  readonly files: readonly { readonly path: string; readonly bytes: number }[];
}

/** A page that is opened for the first time shows something at once, and loads few bytes for it. */
export async function firstPaintIsFast(stage: Stage): Promise<void> {
  const context = await stage.page.context().browser()!.newContext();
  try {
    const page = await context.newPage();
    await page.goto(stage.demo.url);
    await page.waitForSelector('#machines tr');
    const { firstPaintMs, files } = await page.evaluate<Loaded>(`({
      firstPaintMs: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null,
      files: ['navigation', 'resource'].flatMap((type) => performance.getEntriesByType(type))
        .map(({ name, encodedBodySize }) => ({ path: new URL(name).pathname, bytes: encodedBodySize }))
        .filter(({ path }) => path === '/' || path.startsWith('/assets/')),
    })`);
    assert.ok(files.length > 20, 'the files of the page are counted');
    assert.ok(
      files.every(({ bytes }) => bytes > 0),
      'none of them comes from a cache',
    );
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    assert.ok(bytes < MAX_BYTES, `its files have ${bytes} bytes`);
    assert.ok(firstPaintMs !== null && firstPaintMs < FIRST_PAINT_MS, `painted after ${firstPaintMs} ms`);
  } finally {
    await context.close();
  }
}
