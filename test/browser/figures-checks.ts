// The figures of the page against the API: machines by state, cost and its parts, Needs that are not met. Run by
// smoke.test.ts and `npm run verify:web`.

import assert from 'node:assert/strict';
import type { AskedMachine, AskedNeed, Status } from '../../src/web/feed.ts';
import { machinesIn, STATES } from '../../src/web/index.ts';
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
}

export async function nothingToComplainAbout(stage: Stage): Promise<void> {
  assert.deepEqual(stage.complaints, []);
}

/** Asked about a machine and a Need, the page shows the sentences of the API. */
export async function answersAreThoseOfTheApi(stage: Stage): Promise<void> {
  const { page, demo } = stage;
  const read = async <T>(path: string): Promise<T> => (await (await fetch(`${demo.url}${path}`)).json()) as T;
  const ask = async (name: string, has: (lines: readonly string[]) => Promise<boolean>): Promise<void> => {
    await stage.until(`the answer about ${name} is that of the API`, async ({ answer }) => {
      await page.fill('#asked', name);
      await page.press('#asked', 'Enter');
      return answer.some(({ text }) => text.includes(name)) && (await has(answer.map(({ text }) => text)));
    });
  };
  interface Listed {
    readonly items: readonly { readonly id: string }[];
  }
  await stage.until('machines serve', ({ machines }) => (machines['serving'] ?? 0) > 0);
  const [machine] = (await read<Listed>('/v1/machines?state=configured&limit=1')).items;
  const [need] = (await read<Listed>('/v1/needs?limit=1')).items;
  await ask(machine!.id, async (lines) => {
    const view = await read<AskedMachine>(`/v1/machines/${machine!.id}`);
    return lines.includes(view.usage?.sentence ?? view.unclaimed?.sentence ?? '');
  });
  await ask(need!.id, async ([line]) => {
    const { sentence } = await read<AskedNeed>(`/v1/needs/${need!.id}`);
    return line === `${need!.id}: ${sentence}`;
  });
  await stage.record('answer');
}
