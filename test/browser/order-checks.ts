// Orders that a person gives on the page: a freeze by its form, and the drain of a machine. Each is given on the page, and the
// API must have it as it was given. Run by `npm run verify:web`.

import assert from 'node:assert/strict';
import type { Freeze } from '../../src/web/feed.ts';
import type { MachineRow, Page } from '../../src/web/feed-details.ts';
import type { Stage } from './stage.ts';

/** A choice of the form, in seconds. */
const FREEZE_SECONDS = 900;
const MAINTENANCE = 'maintenance of the rack';
const KERNEL = 'a new kernel';

/** Presses a button and waits for its answer, which differs from the one before. */
async function press(stage: Stage, selector: string): Promise<void> {
  const before = await stage.read();
  await stage.page.click(`button${selector}`);
  await stage.until('the page shows an answer', ({ notice }) => notice !== '' && notice !== before.notice);
}

/**
 * A freeze with scope, end and reason is in force as the form says; under it the order to drain a machine is given and taken
 * back, so that the machine cannot leave meanwhile. Then the freeze is lifted.
 */
export async function freezeAndDrainAreOrdered(stage: Stage): Promise<void> {
  const { page, recorded } = stage;
  const freezes = async () => (await recorded.get<Page<Freeze>>('/v1/freezes')).items;
  const [serving] = (await recorded.get<Page<MachineRow>>('/v1/machines?state=configured&limit=1')).items;
  const { cluster } = serving!;
  await stage.goTo('#/controls');
  await page.fill('#freeze-form [name=cluster]', cluster);
  await page.selectOption('#freeze-form [name=action]', 'Reclaim');
  await page.selectOption('#freeze-form [name=for]', String(FREEZE_SECONDS));
  await page.fill('#freeze-form [name=why]', MAINTENANCE);
  await press(stage, ':text-is("Freeze")');
  const [frozen, ...others] = await freezes();
  assert.ok(frozen !== undefined && frozen.untilMs !== null, 'there is a freeze with an end');
  assert.deepEqual(others, []);
  assert.deepEqual(
    [frozen.id, frozen.who, frozen.why, frozen.untilMs - frozen.sinceMs],
    [`action:Reclaim/cluster:${cluster}`, 'web page', MAINTENANCE, FREEZE_SECONDS * 1000],
  );
  await stage.until('the freeze is listed with its reason and its end', async () => {
    const text = (await page.textContent('#freezes')) ?? '';
    return text.includes(MAINTENANCE) && !text.includes('when lifted');
  });
  await stage.record('freeze-form');
  await machineIsDrainedAndKept(stage, await machineToDrain(stage, cluster));
  await stage.goTo('#/controls');
  await press(stage, `[data-unfreeze="${frozen.id}"]`);
  assert.deepEqual(await freezes(), []);
  await stage.goTo('#/');
}

/** A machine that the shard agrees to drain: it refuses those of gangs and of strict spreads. */
async function machineToDrain({ recorded, demo }: Stage, cluster: string): Promise<string> {
  const order = async (id: string, verb: string): Promise<boolean> => {
    const request = { method: 'POST', headers: { 'content-type': 'application/json' } };
    const body = JSON.stringify({ who: 'check', why: 'can it be drained' });
    return (await fetch(`${demo.url}/v1/machines/${encodeURIComponent(id)}/${verb}`, { ...request, body }))
      .ok;
  };
  const query = new URLSearchParams({ state: 'configured', cluster, limit: '100' });
  for (const { id } of (await recorded.get<Page<MachineRow>>(`/v1/machines?${query}`)).items)
    if ((await order(id, 'drain')) && (await order(id, 'undrain'))) return id;
  throw new Error(`no machine of ${cluster} can be drained`);
}

async function machineIsDrainedAndKept(stage: Stage, id: string): Promise<void> {
  const { page, recorded } = stage;
  const path = `/v1/machines/${encodeURIComponent(id)}`;
  await stage.goTo(`#/machine/${encodeURIComponent(id)}`);
  await page.fill('[aria-labelledby=orders-title] [name=why]', KERNEL);
  await press(stage, '[data-order=drain]');
  const { drainOrder } = await recorded.get<MachineRow>(path);
  assert.match(drainOrder?.sentence ?? '', /^to be drained .*, as web page ordered: a new kernel$/);
  await stage.until('the page shows the order', async () =>
    ((await page.textContent('.grid')) ?? '').includes('as web page ordered: a new kernel'),
  );
  await stage.record('drain-ordered');
  await press(stage, '[data-order=undrain]');
  assert.equal((await recorded.get<MachineRow>(path)).drainOrder, null);
  await stage.until(
    'the page offers the drain again',
    async () => (await page.$('[data-order=drain]')) !== null,
  );
}
