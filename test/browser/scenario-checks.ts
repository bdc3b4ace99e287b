// The buttons of the page: each demo scenario, the freeze and its end. Each is pressed in the page, and its effect, as
// reported by the API, must become visible there. Run by `npm run verify:web`.

import assert from 'node:assert/strict';
import type { ShardEvent, Status } from '../../src/web/feed.ts';
import { aRow, BareOperator } from '../hostile/operator.ts';
import type { Line, Reading } from './reading.ts';
import type { Stage } from './stage.ts';

/** Presses a button and waits for the answer that the page shows. */
async function press(stage: Stage, selector: string): Promise<Reading> {
  await stage.until('the last answer is gone', ({ notice }) => notice === '');
  await stage.page.click(`button${selector}`);
  return await stage.until('the page shows an answer', ({ notice }) => notice !== '');
}

async function status({ recorded }: Stage): Promise<Status> {
  return await recorded.get<Status>('/v1/status');
}

/** Needs as summed up by the page. */
function needsShown({ supply }: Reading): number {
  return supply.reduce((sum, { needs }) => sum + (needs.at(-1) ?? 0), 0);
}

const newestTime = ({ actions }: Reading): string => actions[0]?.text ?? '';

/** Demand rises, and machines start to move for it. */
export async function deployBurstIsSeen(stage: Stage): Promise<void> {
  const before = await stage.read();
  await press(stage, '[data-scenario=deploy-burst]');
  await stage.until('there are more Needs, and new actions', (reading) => {
    return needsShown(reading) > needsShown(before) && newestTime(reading) !== newestTime(before);
  });
  await stage.record('scenario-deploy-burst');
}

/** One more Need for accelerators, in the section of that hardware. */
export async function gpuGangIsSeen(stage: Stage): Promise<void> {
  const accelerated = ({ hardware }: Status): number =>
    hardware.find(({ kind }) => kind === 'accelerated')?.needs ?? 0;
  const before = accelerated(await status(stage));
  await press(stage, '[data-scenario=gpu-gang]');
  await stage.until(
    'the Needs with accelerators are those of the API, and more than before',
    async (reading) => {
      const now = accelerated(await status(stage));
      return now > before && reading.supply.some(({ needs }) => needs.at(-1) === now);
    },
  );
  await stage.record('scenario-gpu-gang');
}

type LossEvent = Extract<ShardEvent, { readonly kind: 'loss' | 'losses' }>;

const isLoss = (event: ShardEvent): event is LossEvent => event.kind === 'loss' || event.kind === 'losses';

/** Whether a line is about a loss: it names the machine, or the zone with the number of machines lost there. */
function isAbout(text: string, event: LossEvent): boolean {
  if (event.kind === 'loss') return text.includes(event.loss.machine);
  const { zone, count } = event.losses;
  return text.includes(zone) && new RegExp(`\\b${count}\\b`).test(text.replaceAll(',', ''));
}

/**
 * Every loss reported by the API is among the warnings, and is listed as a failure among the actions until newer ones
 * have replaced it there.
 */
async function lossesAreSeen(stage: Stage, scenario: string): Promise<void> {
  const before = stage.recorded.events.length;
  await press(stage, `[data-scenario=${scenario}]`);
  const losses = (): LossEvent[] => stage.recorded.events.slice(before).filter(isLoss);
  const isSeen = (lines: readonly Line[], event: LossEvent): boolean =>
    lines.some(({ cssClass, text }) => isAlarming(cssClass) && isAbout(text, event));
  await stage.until(
    'the losses are shown',
    ({ events }) => losses().length > 0 && losses().every((event) => isSeen(events, event)),
  );
  await stage.record(`scenario-${scenario}`);
  const { actions } = await stage.read();
  for (const { cssClass, text } of actions) if (/\blost\b/.test(text)) assert.equal(cssClass, 'failed', text);
}

const isAlarming = (cssClass: string): boolean => cssClass === 'failed' || cssClass === 'doing';

export const spotWaveIsSeen = (stage: Stage): Promise<void> => lossesAreSeen(stage, 'spot-wave');

/** Besides the losses: its cloud is not shown as healthy while machines of the zone fail. */
export async function zoneOutageIsSeen(stage: Stage): Promise<void> {
  await lossesAreSeen(stage, 'zone-outage');
  await stage.until('a cloud that the API calls unwell does not look fine', async ({ providers }) => {
    const now = await status(stage);
    const unwell = now.providers.filter(
      ({ health, breaker }) => health.state !== 'fine' || breaker !== 'closed',
    );
    if (unwell.length === 0) return false;
    return unwell.every(({ name }) =>
      providers.some(({ cssClass, text }) => text.startsWith(name) && cssClass === 'failed'),
    );
  });
  await stage.record('scenario-zone-outage-clouds');
}

type ActionEvent = Extract<ShardEvent, { readonly action: unknown }>;

/** Actions that failed according to the API look failed on the page, and those that succeeded look done. */
export async function failuresAreShownAsSuch(stage: Stage): Promise<void> {
  const ended = stage.recorded.events.filter((event): event is ActionEvent => event.kind === 'action-ended');
  const failed = new Set(
    ended.filter(({ action }) => action.outcome !== 'success').map(({ action }) => action.machine),
  );
  const done = new Set(
    ended.filter(({ action }) => action.outcome === 'success').map(({ action }) => action.machine),
  );
  const { actions } = await stage.read();
  assert.ok(actions.length > 0 && ended.length > 0, 'there are actions to compare');
  for (const { cssClass, text } of actions) {
    const machine = /\s(\S+) \(/.exec(text)?.[1] ?? '';
    if (cssClass === 'done') assert.ok(done.has(machine) || !failed.has(machine), `${text} looks done`);
    if (cssClass === 'failed' && !/\blost\b/.test(text))
      assert.ok(failed.has(machine) || !done.has(machine), `${text} looks failed`);
  }
}

/** A zone is broken on the page of controls, and the page shows what is lost, and later that all is well again. */
export async function outageAndRecoveryAreSeen(stage: Stage): Promise<void> {
  const failing = async (): Promise<boolean> =>
    (await status(stage)).providers.some(({ health }) => health.state !== 'fine');
  await stage.goTo('#/controls');
  await stage.page.click('button[data-break=zone-outage]');
  await stage.until('the page has an answer', ({ notice }) => /zone/i.test(notice));
  await stage.goTo('#/');
  await stage.until('the cloud needs attention', async ({ attention }) => {
    return (await failing()) && attention.some(({ cssClass }) => cssClass === 'failed');
  });
  await stage.record('outage');
  await stage.until(
    'the fleet has recovered',
    ({ headline, machines }) => /All [\d,]+ Needs .* met/.test(headline) && machines['failed'] === 0,
    RECOVERY_MS,
  );
  await stage.record('recovered');
}

/** Time in which a fast demo restores a zone, and the shard what was lost. */
const RECOVERY_MS = 180_000;

/** A Need that is not met says why, and what would help; its page is opened from the list. */
export async function unmetNeedIsExplained(stage: Stage): Promise<void> {
  const { page } = stage;
  const operator = new BareOperator(stage.demo.sessions);
  try {
    operator.hello(WANTING);
    const wanted = new Map([['cpu', '4000']]);
    operator.rollup(WANTING, [aRow(PRIORITY, { aggregateResources: wanted, minUnit: wanted })]);
    await operator.acked('rollup');
    await stage.goTo(`#/needs?unmet=true&cluster=${WANTING}`);
    await page.click(`#needs a >> text=${WANTING}/`);
    await stage.until('the page says why, and what would help', async () => {
      const [why, advice] = [await page.textContent('#why-lines'), await page.$('#advice')];
      return why !== null && why.length > 20 && advice !== null;
    });
    await stage.record('unmet-need');
    await whatIfIsAnswered(stage);
  } finally {
    operator.close();
  }
  await stage.goTo('#/');
}

const WANTING = 'wanting';
/** Above all work of the demo. */
const PRIORITY = 3_000_000;

/** The box decides without spot and shows the differences. */
async function whatIfIsAnswered(stage: Stage): Promise<void> {
  await stage.page.click('#what-if-form button');
  await stage.until('there is an answer', async () => (await stage.page.$('#what-if-answer')) !== null);
  await stage.record('what-if');
}

interface Happened {
  readonly items: readonly { readonly machine: string | null }[];
}

/** The timeline has what the demo did. Its filters are in the address, so that a reload keeps them, and hold for the list. */
export async function timelineIsFiltered(stage: Stage): Promise<void> {
  const { page, recorded } = stage;
  const entries = (): Promise<number> => page.locator('#timeline > li:not(.quiet)').count();
  await stage.goTo('#/timeline');
  await stage.until('there are entries', async () => (await entries()) > 1);
  await stage.record('timeline');
  const all = await entries();
  const { items } = await recorded.get<Happened>('/v1/history?kind=action&limit=100');
  const machine = items.find((each) => each.machine !== null)!.machine!;
  await page.selectOption('.filters [name=kind]', 'action');
  await page.fill('.filters [name=machine]', machine);
  await page.keyboard.press('Enter');
  const search = new URLSearchParams({ kind: 'action', machine }).toString();
  const listIsFiltered = async (): Promise<void> => {
    await stage.until('the list has the actions of the machine alone', async () => {
      const wanted = await recorded.get<Happened>(`/v1/history?${search}&limit=100`);
      const links = page.locator(
        `#timeline > li:not(.quiet):has(a[href="#/machine/${encodeURIComponent(machine)}"])`,
      );
      const shown = await entries();
      return shown < all && shown === wanted.items.length && (await links.count()) === shown;
    });
    const address = new URL(page.url()).hash;
    assert.deepEqual(Object.fromEntries(new URLSearchParams(address.split('?')[1])), {
      ...{ kind: 'action', machine },
    });
  };
  await listIsFiltered();
  await stage.record('timeline-filtered');
  await page.reload();
  await listIsFiltered();
  await stage.goTo('#/');
}

/** An action on the timeline leads to the plan of its cycle, which the shard decides alike again. */
export async function cycleIsDecidedAgain(stage: Stage): Promise<void> {
  const { page } = stage;
  await stage.goTo('#/timeline?kind=action');
  const link = '#timeline a[href^="#/cycle/"]';
  await stage.until('an action has its cycle', async () => (await page.$(link)) !== null);
  await page.click(link);
  await stage.until('the plan is shown', async () => (await page.$('#redecide-button')) !== null);
  await page.click('#redecide-button');
  await stage.until(
    'there is an answer',
    async () => ((await page.textContent('section:has(#redecide-button) [role=status]')) ?? '') !== '',
  );
  assert.match((await page.textContent('#redecide-answer')) ?? '', /^\s*The same plan/);
  assert.ok(await page.$('#history > li:not(.quiet)'), 'the cycle has events');
  await stage.record('cycle');
  await stage.goTo('#/');
}

/** While the fleet is frozen the page shows it, offers to lift the freeze, and lists decisions as not carried out. */
export async function freezeIsSeenAndEnds(stage: Stage): Promise<void> {
  await press(stage, '[data-freeze=on]');
  const frozen = await stage.until('the page offers to unfreeze', ({ isFrozen }) => isFrozen);
  assert.match(frozen.headline, /frozen/i);
  const { items } = await stage.recorded.get<{ items: readonly { id: string }[] }>('/v1/freezes');
  assert.deepEqual(
    items.map(({ id }) => id),
    ['fleet'],
  );
  await stage.record('frozen');
  await stage.goTo('#/controls');
  await stage.until('the freeze is listed with its author', async () =>
    /whole fleet.*web page/.test((await stage.page.textContent('#freezes')) ?? ''),
  );
  await stage.goTo('#/');
  await press(stage, '[data-freeze=off]');
  await stage.until(
    'the page offers to freeze',
    ({ isFrozen, headline }) => !isFrozen && !/frozen/i.test(headline),
  );
  assert.deepEqual((await stage.recorded.get<{ items: readonly unknown[] }>('/v1/freezes')).items, []);
}
