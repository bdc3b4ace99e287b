// The buttons of the page: each story, the freeze and its end. Each is pressed in the page and must become visible there;
// what must become visible is taken from the API.

import assert from 'node:assert/strict';
import type { News, Status } from '../../src/web/feed.ts';
import type { Reading } from './reading.ts';
import type { Stage } from './stage.ts';

/** Presses a button and waits for the answer that the page shows. */
async function press(stage: Stage, selector: string): Promise<Reading> {
  await stage.until('the last answer is gone', ({ notice }) => notice === '');
  await stage.page.click(`button${selector}`);
  return await stage.until('the page shows an answer', ({ notice }) => notice !== '');
}

async function status({ news }: Stage): Promise<Status> {
  return await news.get<Status>('/v1/status');
}

/** Needs as the page adds them up. */
function needsShown({ supply }: Reading): number {
  return supply.reduce((sum, { needs }) => sum + (needs.at(-1) ?? 0), 0);
}

const newestTime = ({ actions }: Reading): string => actions[0]?.text ?? '';

/** More demand than before, and machines that begin to move for it. */
export async function deployBurstIsSeen(stage: Stage): Promise<void> {
  const before = await stage.read();
  await press(stage, '[data-story=deploy-burst]');
  await stage.until('there are more Needs, and new actions', (reading) => {
    return needsShown(reading) > needsShown(before) && newestTime(reading) !== newestTime(before);
  });
  await stage.record('story-deploy-burst');
}

/** A Need for accelerators more, in the part of the supply that is theirs. */
export async function gpuGangIsSeen(stage: Stage): Promise<void> {
  const accelerated = ({ hardware }: Status): number =>
    hardware.find(({ kind }) => kind === 'accelerated')?.needs ?? 0;
  const before = accelerated(await status(stage));
  await press(stage, '[data-story=gpu-gang]');
  await stage.until(
    'the Needs with accelerators are those of the API, and more than before',
    async (reading) => {
      const now = accelerated(await status(stage));
      return now > before && reading.supply.some(({ needs }) => needs.at(-1) === now);
    },
  );
  await stage.record('story-gpu-gang');
}

type LossNews = Extract<News, { readonly kind: 'loss' | 'losses' }>;

const isLoss = (news: News): news is LossNews => news.kind === 'loss' || news.kind === 'losses';

/** Whether a line is about a loss: it names the machine, or the zone with the number that is lost there. */
function isAbout(text: string, news: LossNews): boolean {
  if (news.kind === 'loss') return text.includes(news.loss.machine);
  const { zone, count } = news.losses;
  return text.includes(zone) && new RegExp(`\\b${count}\\b`).test(text.replaceAll(',', ''));
}

/** Losses that the API tells of appear among what happens, as failures. */
async function lossesAreSeen(stage: Stage, story: string): Promise<void> {
  const before = stage.news.events.length;
  await press(stage, `[data-story=${story}]`);
  const losses = (): LossNews[] => stage.news.events.slice(before).filter(isLoss);
  await stage.until('a loss is shown as one', ({ actions }) =>
    losses().some((news) => actions.some(({ mood, text }) => mood === 'failed' && isAbout(text, news))),
  );
  await stage.record(`story-${story}`);
  const { actions } = await stage.read();
  for (const news of losses())
    for (const { mood, text } of actions)
      if (/\blost\b/.test(text) && isAbout(text, news)) assert.equal(mood, 'failed', text);
}

export const spotWaveIsSeen = (stage: Stage): Promise<void> => lossesAreSeen(stage, 'spot-wave');

/** Besides the losses: its cloud does not look fine while machines of the zone fail. */
export async function zoneOutageIsSeen(stage: Stage): Promise<void> {
  await lossesAreSeen(stage, 'zone-outage');
  await stage.until('a cloud that the API calls unwell does not look fine', async ({ providers }) => {
    const now = await status(stage);
    const unwell = now.providers.filter(
      ({ health, breaker }) => health.state !== 'fine' || breaker !== 'closed',
    );
    if (unwell.length === 0) return false;
    return unwell.every(({ name }) =>
      providers.some(({ mood, text }) => text.startsWith(name) && mood === 'failed'),
    );
  });
  await stage.record('story-zone-outage-clouds');
}

/** Every action that ended badly and is on the page is shown as failed, and no other is. */
export async function failuresAreShownAsSuch(stage: Stage): Promise<void> {
  const { items } = await stage.news.get<{ items: readonly { machine: string; outcome: string | null }[] }>(
    '/v1/actions?limit=200',
  );
  const { actions } = await stage.read();
  assert.ok(items.length > 0 && actions.length > 0, 'there are actions to compare');
  for (const { mood, text } of actions) {
    assert.ok(['doing', 'done', 'failed'].includes(mood), `${text} has a mood: ${mood}`);
    if (mood !== 'done') continue;
    const same = items.filter(({ machine }) => text.includes(`${machine} `));
    assert.ok(
      same.length === 0 || same.some(({ outcome }) => outcome === 'success' || outcome === null),
      `${text} looks done, and the API has ${JSON.stringify(same)}`,
    );
  }
}

/** While the fleet is frozen the page says so, offers the end of it, and what is decided is listed as not carried out. */
export async function freezeIsSeenAndEnds(stage: Stage): Promise<void> {
  await press(stage, '[data-freeze=on]');
  const frozen = await stage.until('the page offers to unfreeze', ({ isFrozen }) => isFrozen);
  assert.match(frozen.headline, /frozen/i);
  const { items } = await stage.news.get<{ items: readonly { id: string }[] }>('/v1/freezes');
  assert.deepEqual(
    items.map(({ id }) => id),
    ['fleet'],
  );
  await stage.record('frozen');
  await press(stage, '[data-freeze=off]');
  await stage.until(
    'the page offers to freeze',
    ({ isFrozen, headline }) => !isFrozen && !/frozen/i.test(headline),
  );
  assert.deepEqual((await stage.news.get<{ items: readonly unknown[] }>('/v1/freezes')).items, []);
}
