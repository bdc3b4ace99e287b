// Layout and accessibility of the page: widths from a phone to a large screen, light and dark, the keyboard, screen
// readers, and names that contain markup. Run by `npm run verify:web`.

import assert from 'node:assert/strict';
import axe from 'axe-core';
import { aRow, BareOperator } from '../hostile/operator.ts';
import type { Stage } from './stage.ts';

const WIDTHS = [360, 768, 1400];
/** Severities of axe that keep people from using a page. */
const GRAVE = ['serious', 'critical'];
const HOSTILE = '<img src=x onerror="globalThis.isTaken=1">';
const RESOURCE = '<b>bold';
/** Above all work of the demo, so that its shortage is listed first. */
const PRIORITY = 2_000_000;

/** No width requires horizontal scrolling. */
export async function fitsEveryWidth(stage: Stage): Promise<void> {
  const { page } = stage;
  const before = page.viewportSize()!;
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const wide = await page.evaluate<readonly string[]>(`[...document.querySelectorAll('*')]
      .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
      .map((each) => each.tagName + ' of ' + (each.closest('[id]')?.id ?? 'body') + ': ' + each.textContent.slice(0, 80))`);
    const scroll = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    await stage.record(`width-${width}`);
    assert.deepEqual({ width, wide, isScrolled: scroll > 0 }, { width, wide: [], isScrolled: false });
  }
  await page.setViewportSize(before);
}

/** Light and dark differ, and every text is legible in both: contrast is one of axe's rules. */
export async function isReadableInLightAndDark(stage: Stage): Promise<void> {
  const { page } = stage;
  const backgrounds: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await stage.record(colorScheme);
    backgrounds.push(await page.evaluate<string>('getComputedStyle(document.body).backgroundColor'));
    assert.deepEqual(await graveViolations(stage), [], colorScheme);
  }
  assert.notEqual(backgrounds[0], backgrounds[1], 'dark is not light');
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

/** Every button and field is reachable by keyboard, in the order of the page, and shows its focus. */
export async function showsTheFocus(stage: Stage): Promise<void> {
  const { page } = stage;
  const buttons = await page.evaluate<readonly string[]>(
    `[...document.querySelectorAll('button, input')].map((each) => each.name || each.textContent)`,
  );
  await page.evaluate('document.activeElement?.blur()');
  for (const button of buttons) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate<{ text: string; style: string; width: number }>(`(() => {
      const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
      const { name, textContent } = document.activeElement;
      return { text: name || textContent, style: outlineStyle, width: parseFloat(outlineWidth) };
    })()`);
    assert.equal(focused.text, button, 'the keyboard goes from button to button');
    assert.ok(focused.style !== 'none' && focused.width >= 2, `${button} shows that it has the focus`);
  }
  await stage.record('focus');
  // An update must not move the focus away from a button.
  await page.waitForTimeout(2_500);
  assert.equal(await page.evaluate<string>('document.activeElement.textContent'), buttons.at(-1));
}

/** A cluster whose name is markup, with a Need that cannot be met, is shown literally; none of it runs. */
export async function showsHostileNamesAsText(stage: Stage): Promise<void> {
  const operator = new BareOperator(stage.demo.sessions);
  try {
    operator.hello(HOSTILE);
    const wanted = new Map([[RESOURCE, '3']]);
    operator.rollup(HOSTILE, [aRow(PRIORITY, { aggregateResources: wanted, minUnit: wanted })]);
    await operator.acked('rollup');
    await stage.until('the cluster is on the page by its name', ({ clusters, shortfalls }) => {
      const isListed = clusters.some(({ cluster }) => cluster === HOSTILE);
      return isListed && shortfalls.some(({ text }) => text.includes(HOSTILE) && text.includes(RESOURCE));
    });
    await stage.record('hostile-name');
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
