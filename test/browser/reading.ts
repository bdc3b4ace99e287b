// The visible content of a page, read from the document at one moment: figures as numbers, lines with their CSS
// classes. Only the structure of the page is known here (ids, rows, classes), not its sentences. Used by stage.ts.

import type { Page } from 'playwright-core';

export interface Line {
  /** Classes: `failed`, `doing`, `done`. */
  readonly cssClass: string;
  readonly text: string;
}

/** A kind of hardware, with the text about its Needs. */
interface SupplyLine extends Line {
  /** Numbers in the text about its Needs, in order. */
  readonly needs: readonly number[];
}

interface ClusterLine {
  readonly cluster: string;
  readonly needs: number;
  readonly unmet: number;
  readonly isShort: boolean;
}

export interface Reading {
  readonly headline: string;
  readonly trouble: string;
  readonly notice: string;
  /** Machines by the label of their state, in lower case. */
  readonly machines: Readonly<Record<string, number>>;
  /** Cents per hour beside the states. */
  readonly centsByState: Readonly<Record<string, number>>;
  /** Cents per hour: the total, and its parts as they are displayed. */
  readonly cents: number | null;
  readonly partCents: readonly number[];
  readonly supply: readonly SupplyLine[];
  readonly actions: readonly Line[];
  readonly events: readonly Line[];
  /** What needs attention now. */
  readonly attention: readonly Line[];
  readonly plan: readonly Line[];
  readonly clusters: readonly ClusterLine[];
  readonly providers: readonly Line[];
  /** Names of the plots, and the number of points of each. */
  readonly plots: readonly string[];
  readonly points: readonly number[];
  readonly isFrozen: boolean;
  readonly scenarios: readonly string[];
}

/** Runs in the page, where our types are not available. */
const READER = `(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const text = (node) => (node?.textContent ?? '').replace(/\\s+/g, ' ').trim();
  const byId = (id) => text(document.getElementById(id));
  const number = (words) => Number((/[\\d,]+/.exec(words)?.[0] ?? 'none').replaceAll(',', ''));
  const cents = (words) => {
    const dollars = /(-?)\\$([\\d,]+\\.\\d\\d)/.exec(words);
    return dollars === null ? null : Math.round(Number(dollars[1] + dollars[2].replaceAll(',', '')) * 100);
  };
  const lines = (id) => all('#' + id + ' > li').filter((li) => !li.classList.contains('quiet'))
    .map((li) => ({ cssClass: li.className, text: text(li) }));
  const states = all('#machines tr').map((tr) => [...tr.cells].map(text));
  const cost = document.getElementById('cost');
  // The owned share follows the parts and is not one of them.
  const parts = text(cost?.querySelector('small')?.firstChild);
  return {
    headline: byId('headline'), trouble: byId('trouble'), notice: byId('notice'),
    machines: Object.fromEntries(states.map(([label, , machines]) => [label.toLowerCase(), number(machines)])),
    centsByState: Object.fromEntries(states.map(([label, , , money]) => [label.toLowerCase(), cents(money ?? '')])
      .filter(([, money]) => money !== null)),
    cents: cents(text(cost?.querySelector('strong'))),
    partCents: parts.split(/,\\s/).map(cents).filter((money) => money !== null),
    supply: all('#supply tr.kind').map((tr) => {
      const said = tr.querySelector('span');
      return { cssClass: said?.className ?? '', text: text(tr), needs: (text(said).match(/[\\d,]+/g) ?? []).map(number) };
    }),
    actions: lines('actions'), events: lines('events'), attention: lines('attention'), plan: lines('plan'),
    clusters: all('#clusters tr').map((tr) => {
      const [cluster, needs, unmet] = [...tr.cells];
      return { cluster: cluster.textContent, needs: number(text(needs)), unmet: number(text(unmet)),
        isShort: unmet.querySelector('.failed') !== null };
    }),
    providers: all('#providers tr').map((tr) => ({
      cssClass: tr.querySelector('.failed') === null ? '' : 'failed', text: text(tr) })),
    plots: all('figure.plot').map((plot) => plot.getAttribute('aria-label')),
    points: all('figure.plot').map((plot) => Number(plot.dataset.points)),
    isFrozen: document.querySelector('button[data-freeze=off]') !== null,
    scenarios: all('button[data-scenario]').map((button) => button.dataset.scenario),
  };
})()`;

export async function readPage(page: Page): Promise<Reading> {
  return await page.evaluate<Reading>(READER);
}

/** The whole text of the page as rendered. */
export async function pageText(page: Page): Promise<string> {
  return await page.evaluate<string>('document.body.innerText');
}
