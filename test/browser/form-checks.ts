// Layout and accessibility of the page: widths from a phone to a large screen, light and dark, the keyboard, screen
// readers, and names that contain markup. Run by `npm run verify:web`.

import assert from 'node:assert/strict';
import axe from 'axe-core';
import { aRow, BareOperator } from '../hostile/operator.ts';
import type { Stage } from './stage.ts';

const WIDTHS = [360, 390, 1280, 1440];
/** Pages with a link in the navigation, by name; the page that is shown at first comes last. */
const PAGES = [
  { key: 'n', path: 'needs', name: 'Needs' },
  { key: 'm', path: 'machines', name: 'Machines' },
  { key: 'c', path: 'clusters', name: 'Clusters' },
  { key: 't', path: 'timeline', name: 'Timeline' },
  { key: 'd', path: 'cost', name: 'Cost' },
  { key: 's', path: 'controls', name: 'Controls' },
  { key: 'o', path: '', name: 'Overview' },
];
/** Severities of axe that keep people from using a page. */
const GRAVE = ['serious', 'critical'];
const HOSTILE = '<img src=x onerror="globalThis.isTaken=1">';
const RESOURCE = '<b>bold';
/** Above all work of the demo, so that its shortage is listed first. */
const PRIORITY = 2_000_000;

/** Every page with a link in the navigation, and one machine, one Need, one cluster and one cycle. */
async function everyPage(stage: Stage): Promise<readonly string[]> {
  interface Listed {
    readonly items: readonly { readonly id?: string; readonly cluster: string }[];
  }
  const first = async (path: string) => (await stage.recorded.get<Listed>(path)).items[0]!;
  const need = await first('/v1/needs?limit=1');
  const machine = await first('/v1/machines?state=configured&limit=1');
  return [
    ...PAGES.map(({ path }) => path),
    `need/${need.id}`,
    `machine/${encodeURIComponent(machine.id!)}`,
    `cluster/${encodeURIComponent(need.cluster)}`,
    'cycle/1',
  ];
}

/** The text of index.html that says that the page is being loaded has gone once the frame is there. */
export async function placeholderIsGone({ page }: Stage): Promise<void> {
  const shown = await page.evaluate<unknown>(
    `({ children: document.getElementById('app').childElementCount, isLoading: document.body.innerText.includes('loading the dashboard') })`,
  );
  assert.deepEqual(shown, { children: 1, isLoading: false });
}

/** How the title of a page begins, which is set once the page is shown. */
function titleOf(path: string): string {
  const [page, ...parts] = path.split('/').map(decodeURIComponent);
  if (parts.length > 0) return `${parts.join(' · ')} · `;
  return `${PAGES.find((each) => each.path === page)!.name} · BigFleet`;
}

/** Opens a page and waits until it shows what it asked the shard for. */
async function open(stage: Stage, page: string): Promise<void> {
  await stage.goTo(`#/${page}`);
  await stage.until(`#/${page} is shown`, async () => {
    if (!(await stage.page.title()).startsWith(titleOf(page))) return false;
    const text = await stage.page.evaluate<string>('document.getElementById("content").innerText');
    return text.length > 40 && !text.includes('Loading');
  });
}

/** Every page opens by its key, has a title of its own, and marks its place in the navigation. */
export async function keysLeadToEveryPage(stage: Stage): Promise<void> {
  const { page } = stage;
  for (const { key, path, name } of PAGES) {
    await page.keyboard.press('g');
    await page.keyboard.press(key);
    await stage.until(`g ${key} has led to the page ${name}`, async () => {
      const current = await page.textContent('nav a[aria-current]');
      return (await page.title()).startsWith(titleOf(path)) && current!.trim() === name;
    });
  }
  await page.keyboard.press('?');
  await stage.until('the keys are shown', async () => (await page.$('#help')) !== null);
  await page.keyboard.press('?');
}

/** No page requires horizontal scrolling at any width; wide tables scroll inside their section. */
export async function fitsEveryWidth(stage: Stage): Promise<void> {
  const { page } = stage;
  const before = page.viewportSize()!;
  for (const each of await everyPage(stage)) {
    await open(stage, each);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      const wide = await page.evaluate<readonly string[]>(`[...document.querySelectorAll('*')]
        .filter((each) => each.closest('.scroll, .canvas') === null || each.matches('.scroll, .canvas'))
        .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
        .map((each) => each.tagName + ' of ' + (each.closest('[id]')?.id ?? 'body') + ': ' + each.textContent.slice(0, 80))`);
      const scroll = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      assert.deepEqual(
        { each, width, wide, isScrolled: scroll > 0 },
        { each, width, wide: [], isScrolled: false },
      );
    }
    await stage.record(`width-${nameOf(each)}`);
  }
  await page.setViewportSize(before);
  await stage.goTo('#/');
}

function nameOf(page: string): string {
  return page === '' ? 'overview' : page.split('/', 1)[0]!;
}

/** Light and dark differ, and every text of every page is legible in both: contrast is one of axe's rules. */
export async function isReadableInLightAndDark(stage: Stage): Promise<void> {
  const { page } = stage;
  const backgrounds = new Set<string>();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    for (const each of await everyPage(stage)) {
      await open(stage, each);
      await stage.record(`${colorScheme}-${nameOf(each)}`);
      assert.deepEqual(await graveViolations(stage), [], `${each} in ${colorScheme}`);
    }
    backgrounds.add(await background(stage));
  }
  assert.equal(backgrounds.size, 2, 'dark is not light');
  await page.emulateMedia({ colorScheme: null });
  await stage.goTo('#/');
}

function background({ page }: Stage): Promise<string> {
  return page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
}

/** The choice of light or dark outlives a reload, whatever the system prefers. */
export async function remembersTheTheme(stage: Stage): Promise<void> {
  const { page } = stage;
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await background(stage);
  await page.click('#theme');
  await page.click('#theme');
  await stage.until('it is dark', async () => (await background(stage)) !== light);
  await page.reload();
  await stage.until('it is dark after a reload', async () => (await background(stage)) !== light);
  await page.click('#theme');
  await stage.until('it is as the system prefers', async () => (await background(stage)) === light);
  await page.emulateMedia({ colorScheme: null });
}

interface AxeResults {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string;
    readonly help: string;
    readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
  }[];
}

async function graveViolations({ page }: Stage): Promise<readonly string[]> {
  // The page's policy allows no foreign script, so axe is injected through the debugger.
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>('axe.run(document)');
  return violations
    .filter(({ impact }) => GRAVE.includes(impact))
    .map(
      ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`,
    );
}

/** Every link, button and field is reachable by keyboard, in the order of the page, and shows its focus. */
export async function showsTheFocus(stage: Stage): Promise<void> {
  const { page } = stage;
  // A page on which nothing comes and goes by itself.
  await open(stage, 'controls');
  await page.reload();
  await open(stage, 'controls');
  const NAME = `(each) => (each.name || each.id || each.textContent).trim()`;
  const all = await page.evaluate<readonly string[]>(
    `[...document.querySelectorAll('a[href], button, input, select, textarea, [tabindex="0"]')].map(${NAME})`,
  );
  assert.ok(all.length > 15, 'there are links, buttons and fields');
  for (const each of all) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate<{ text: string; style: string; width: number }>(`(() => {
      const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
      return { text: (${NAME})(document.activeElement), style: outlineStyle, width: parseFloat(outlineWidth) };
    })()`);
    assert.equal(focused.text, each, 'the keyboard goes from one to the next');
    assert.ok(focused.style !== 'none' && focused.width >= 2, `${each} shows that it has the focus`);
  }
  await stage.record('focus');
  // An update must not move the focus away.
  await page.waitForTimeout(2_500);
  assert.equal(await page.evaluate<string>(`(${NAME})(document.activeElement)`), all.at(-1));
  await stage.goTo('#/');
}

/** A cluster whose name is markup, with a Need that cannot be met, is shown literally; none of it runs. */
export async function showsHostileNamesAsText(stage: Stage): Promise<void> {
  const operator = new BareOperator(stage.demo.sessions);
  try {
    operator.hello(HOSTILE);
    const wanted = new Map([[RESOURCE, '3']]);
    operator.rollup(HOSTILE, [aRow(PRIORITY, { aggregateResources: wanted, minUnit: wanted })]);
    await operator.acked('rollup');
    await stage.until('its Need is among what needs attention', ({ attention }) =>
      attention.some(({ text }) => text.includes(HOSTILE) && text.includes(RESOURCE)),
    );
    await stage.record('hostile-name');
    await stage.goTo('#/clusters');
    await stage.until('the cluster is listed by its name', ({ clusters }) =>
      clusters.some(({ cluster }) => cluster === HOSTILE),
    );
    await open(stage, `cluster/${encodeURIComponent(HOSTILE)}`);
    await stage.record('hostile-cluster');
    const found = await stage.page.evaluate<unknown>(
      `({ images: document.querySelectorAll('img, b').length, isTaken: globalThis.isTaken ?? null })`,
    );
    assert.deepEqual(found, { images: 0, isTaken: null });
    // A long name without a break opportunity must not widen the page.
    await fitsEveryWidth(stage);
  } finally {
    operator.close();
  }
}
