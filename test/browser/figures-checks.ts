// The figures of the page against the API: machines by state, cost and its parts, Needs that are not met. Run by
// smoke.test.ts and `npm run verify:web`.

import assert from 'node:assert/strict';
import type { Status } from '../../src/web/feed.ts';
import type { CostReport, MachineRow, NeedDetail } from '../../src/web/feed-details.ts';
import { count, machinesIn, perHour, STATES } from '../../src/web/index.ts';
import type { Reading } from './reading.ts';
import type { Stage } from './stage.ts';

/** Figures of a status as formatted by the page. */
function figuresOf(status: Status) {
  return {
    machines: Object.fromEntries(STATES.map(({ state, label }) => [label, machinesIn(status, state)])),
    cents: Math.round(status.costPerHour * 100),
    needs: status.hardware
      .filter(({ needs }) => needs > 0)
      .map(({ needs, unmetNeeds }) => (unmetNeeds > 0 ? [unmetNeeds, needs] : [needs])),
    isShort: status.hardware.filter(({ needs }) => needs > 0).map(({ unmetNeeds }) => unmetNeeds > 0),
  };
}

function figuresShown({ machines, cents, supply }: Reading): ReturnType<typeof figuresOf> {
  const wanted = supply.filter(({ needs }) => needs.length > 0);
  return {
    machines,
    cents: cents ?? Number.NaN,
    needs: wanted.map(({ needs }) => [...needs]),
    isShort: wanted.map(({ cssClass }) => cssClass.includes('failed')),
  };
}

const isEqual = (one: unknown, other: unknown): boolean => {
  try {
    assert.deepEqual(one, other);
    return true;
  } catch {
    return false;
  }
};

/** All figures belong to one status that the API has sent in the last seconds. */
export async function figuresAreThoseOfTheApi(stage: Stage): Promise<void> {
  const reading = await stage.until('the figures are those of a status that the API sent', (shown) =>
    stage.recorded.statuses.some((status) => isEqual(figuresOf(status), figuresShown(shown))),
  );
  const sum = (cents: readonly number[]): number => cents.reduce((total, each) => total + each, 0);
  assert.equal(sum(reading.partCents), reading.cents, 'the parts of the cost add up to it');
  assert.equal(sum(Object.values(reading.centsByState)), reading.cents, 'and so do the costs by state');
}

/** Clusters with their needs and shortages match an API answer that did not change around the read. */
export async function clustersAreThoseOfTheApi(stage: Stage): Promise<void> {
  await stage.goTo('#/clusters?order=name');
  await stage.until('the clusters are those of the API', async () => {
    const before = await stage.recorded.clusters();
    // Longer than a page takes from an event to its rendering.
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const { clusters } = await stage.read();
    const after = await stage.recorded.clusters();
    const figures = (list: typeof before) =>
      list.map(({ cluster, needs, unmet }) => ({ cluster, needs, unmet }));
    if (!isEqual(figures(before), figures(after))) return false;
    assert.deepEqual(
      clusters.map(({ isShort }) => isShort),
      clusters.map(({ unmet }) => unmet > 0),
      'a cluster that lacks something looks like it',
    );
    return isEqual(
      clusters.map(({ cluster, needs, unmet }) => ({ cluster, needs, unmet })),
      figures(after),
    );
  });
  await stage.goTo('#/');
}

/** Between two letters of a slow reader, such that the page is updated several times while a name is typed. */
const LETTER_MS = 600;

/** A search by name, typed slowly, leaves the cluster of that name, and is part of the address. */
export async function clusterIsFound(stage: Stage): Promise<void> {
  const [first, second] = await stage.recorded.clusters();
  assert.ok(first !== undefined && second !== undefined, 'there are several clusters');
  await stage.goTo('#/clusters?order=name');
  await stage.until('several clusters are listed', ({ clusters }) => clusters.length > 1);
  await stage.page.click('.filters [name=cluster]');
  await stage.page.keyboard.type(second.cluster, { delay: LETTER_MS });
  assert.equal(
    await stage.page.inputValue('.filters [name=cluster]'),
    second.cluster,
    'updates keep the draft',
  );
  await stage.page.keyboard.press('Enter');
  await stage.until(
    'the cluster alone is listed',
    ({ clusters }) => clusters.length === 1 && clusters[0]!.cluster === second.cluster,
  );
  const query = new URLSearchParams(new URL(stage.page.url()).hash.split('?')[1]);
  assert.deepEqual([query.get('cluster'), query.get('order')], [second.cluster, 'name']);
  await stage.page.goBack();
  await stage.until('the way back empties the field', async ({ clusters }) => {
    return clusters.length > 1 && (await stage.page.inputValue('.filters [name=cluster]')) === '';
  });
  await stage.goTo('#/');
}

export async function nothingToComplainAbout(stage: Stage): Promise<void> {
  assert.deepEqual(stage.complaints, []);
}

/** Searched for by name, a machine and a Need have the sentences of the API, and links to each other. */
export async function answersAreThoseOfTheApi(stage: Stage): Promise<void> {
  const { page } = stage;
  const read = <T>(path: string): Promise<T> => stage.recorded.get<T>(path);
  interface Listed {
    readonly items: readonly { readonly id: string }[];
  }
  await stage.until('machines serve', ({ machines }) => (machines['serving'] ?? 0) > 0);
  const [need] = (await read<Listed>('/v1/needs?limit=1')).items;
  const [machine] = (await read<Listed>('/v1/machines?state=configured&limit=1')).items;
  await page.keyboard.press('/');
  await page.keyboard.type(need!.id);
  await page.keyboard.press('Enter');
  await stage.until('the Need has the sentence of the API', async () => {
    const { sentence } = await read<NeedDetail>(`/v1/needs/${need!.id}`);
    return (await textOf(stage, '#need-sentence')).toLowerCase() === `${sentence}.`.toLowerCase();
  });
  await stage.record('need');
  await page.fill('#search', machine!.id);
  await page.press('#search', 'Enter');
  await page.click(`#machine-rows a >> text="${machine!.id}"`);
  await stage.until('the machine has the sentence of the API', async () => {
    const { usage, unclaimed } = await read<MachineRow>(`/v1/machines/${machine!.id}`);
    return (await textOf(stage, '.lead')) === `${usage?.sentence ?? unclaimed?.sentence}.`;
  });
  await stage.record('machine');
  await page.goBack();
  await stage.until('the way back leads to the list', async () => (await page.$('#machine-rows')) !== null);
  await stage.goTo('#/');
}

async function textOf({ page }: Stage, selector: string): Promise<string> {
  return await page.evaluate<string>(
    `(document.querySelector(${JSON.stringify(selector)})?.textContent ?? '').replace(/\\s+/g, ' ').trim()`,
  );
}

/** Costs by cluster, as on the page of costs, are those of the API, and can be loaded as CSV. */
export async function costsAreThoseOfTheApi(stage: Stage): Promise<void> {
  const { page } = stage;
  await stage.goTo('#/cost?by=cluster');
  await stage.until('the costs are those of the API', async () => {
    const { groups } = await stage.recorded.get<CostReport>('/v1/cost?by=cluster&limit=50');
    const shown = await page.evaluate<readonly (readonly string[])[]>(
      `[...document.querySelectorAll('#cost-groups tr')].map((tr) => [...tr.cells].slice(0, 3).map((cell) => cell.textContent.trim()))`,
    );
    return isEqual(
      shown,
      groups.items.map(({ name, machines, cost }) => [
        name === '' ? 'no cluster' : name,
        count(machines),
        perHour(cost.perHour),
      ]),
    );
  });
  const link = await page.getAttribute('a[download^="cost-by-"]', 'href');
  const csv = await (await fetch(`${stage.demo.url}${link}`)).text();
  assert.match(csv, /^name,machines,perHour,/);
  await stage.record('cost');
  await stage.goTo('#/');
}
