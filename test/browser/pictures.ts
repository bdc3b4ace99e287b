// Pictures of the dashboard for the documentation, taken by `npm run verify:web -- --pictures`, which writes them to
// docs/pictures. What they show is that of a demo at that moment; docs/operate/dashboard.md has them.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { aRow, BareOperator } from '../hostile/operator.ts';
import type { Stage } from './stage.ts';

const PICTURES = join('docs', 'pictures');
/** Wide enough for two columns, small enough for a page of text. */
const SIZE = { width: 1280, height: 860 };
const PHONE = { width: 390, height: 844 };
/** Time for plots and lists to be drawn. */
const SETTLE_MS = 2_500;
/** Time for the plots to have something to show: costs have a point a minute. */
const HISTORY_MS = 150_000;
/** Longest time for the shard to copy its fleet and decide. */
const ANSWER_MS = 60_000;
const CLUSTER = 'research';
const PRIORITY = 5_000;

export async function takePictures(stage: Stage): Promise<void> {
  const { page } = stage;
  await stage.goTo('#/');
  await stage.until('machines serve', ({ machines }) => (machines['serving'] ?? 0) > 0);
  await page.click('button[data-scenario=deploy-burst]');
  await page.waitForTimeout(HISTORY_MS);
  mkdirSync(PICTURES, { recursive: true });
  const operator = new BareOperator(stage.demo.sessions);
  const take = async (name: string, hash: string): Promise<void> => {
    await stage.goTo(hash);
    await page.waitForTimeout(SETTLE_MS);
    await page.screenshot({ path: join(PICTURES, `${name}.png`) });
  };
  try {
    operator.hello(CLUSTER);
    const wanted = new Map([['cpu', '4000']]);
    operator.rollup(CLUSTER, [aRow(PRIORITY, { aggregateResources: wanted, minUnit: wanted })]);
    await operator.acked('rollup');
    await stage.until('the Need is known', ({ attention }) =>
      attention.some(({ text }) => text.includes(CLUSTER)),
    );
    interface Listed {
      readonly items: readonly { readonly id: string; readonly cluster: string }[];
    }
    const first = async (path: string) => (await stage.recorded.get<Listed>(path)).items[0]!;
    await page.setViewportSize(SIZE);
    await page.emulateMedia({ colorScheme: 'light' });
    await take('overview', '#/');
    await take('need', `#/need/${(await first(`/v1/needs?cluster=${CLUSTER}&limit=1`)).id}`);
    await take('cost', '#/cost?by=cluster');
    await take('machines', '#/machines');
    const serving = await first('/v1/machines?state=configured&limit=1');
    await take('machine', `#/machine/${encodeURIComponent(serving.id)}`);
    await take('cluster', `#/cluster/${encodeURIComponent(serving.cluster)}`);
    await take('timeline', '#/timeline');
    await take('controls', '#/controls');
    await takeWhatIf(stage);
    await page.setViewportSize(PHONE);
    await page.emulateMedia({ colorScheme: 'dark' });
    await take('overview-phone', '#/');
  } finally {
    operator.close();
    await page.emulateMedia({ colorScheme: null });
  }
}

/** What would change if spot machines disappeared: the first question of the box, with the beginning of its answer. */
async function takeWhatIf({ page }: Stage): Promise<void> {
  await page.click('#what-if-form button');
  await page.waitForSelector('#what-if-answer', { timeout: ANSWER_MS });
  await page.evaluate(`document.getElementById('what-if-title').closest('section').scrollIntoView()`);
  await page.screenshot({ path: join(PICTURES, 'what-if.png') });
}
