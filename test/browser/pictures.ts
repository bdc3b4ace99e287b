// Pictures of the dashboard for the documentation, taken by `npm run verify:web -- --pictures`, which writes them to
// docs/pictures. What they show is that of a demo at that moment; docs/operate/dashboard.md has them.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Operator, ZONE_KEY } from '../../src/model/index.ts';
import type { MachineRow, NeedRow, Page } from '../../src/web/feed-details.ts';
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
/** A gang for accelerators of one zone, below the work of the demo, which has most of them: it waits, and takes no machine. */
const GANG = aRow(50, {
  aggregateResources: new Map([
    ['cpu', '224'],
    ['memory', '896Gi'],
    ['nvidia.com/gpu', '56'],
  ]),
  minUnit: new Map([
    ['cpu', '32'],
    ['memory', '128Gi'],
    ['nvidia.com/gpu', '8'],
  ]),
  requirements: [{ key: ZONE_KEY, operator: Operator.Same, values: [] }],
  group: 'training',
});

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
    operator.rollup(CLUSTER, [GANG]);
    await operator.acked('rollup');
    await stage.until('the Need is known', ({ attention }) =>
      attention.some(({ text }) => text.includes(CLUSTER)),
    );
    const list = async <T>(path: string) => (await stage.recorded.get<Page<T>>(path)).items;
    const [unmet] = await list<NeedRow>(`/v1/needs?cluster=${CLUSTER}`);
    const serving = await list<MachineRow>('/v1/machines?state=configured&limit=100');
    const used = serving.find(({ unclaimed, pricePerHour }) => unclaimed === null && pricePerHour > 0)!;
    await page.setViewportSize(SIZE);
    await page.emulateMedia({ colorScheme: 'light' });
    await take('overview', '#/');
    await take('need', `#/need/${unmet!.id}`);
    await take('cost', '#/cost?by=cluster');
    await take('machines', '#/machines');
    await take('machine', `#/machine/${encodeURIComponent(used.id)}`);
    await take('cluster', `#/cluster/${encodeURIComponent(used.cluster)}`);
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
