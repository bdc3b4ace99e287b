// The pages that show recorded figures: performance and economy of docs/reference as a whole, README.md between its markers.
// `bench record` writes them, `npm run generate` writes or checks them.

import { readFileSync, writeFileSync } from 'node:fs';
import { economyPage } from './economy-page.ts';
import { betweenMarkers } from './markdown.ts';
import { goalTable, limitTable, performancePage } from './page.ts';

/** By path, from the root of the repository: the text that `npm run generate` writes. */
export const RECORDED_PAGES: Readonly<Record<string, () => string>> = {
  'docs/reference/performance.md': performancePage,
  'docs/reference/economy.md': economyPage,
  'README.md': () =>
    betweenMarkers(
      betweenMarkers(readFileSync('README.md', 'utf8'), 'speed', goalTable()),
      'limits',
      limitTable(),
    ),
};

export function writeRecordedPages(): void {
  for (const [file, page] of Object.entries(RECORDED_PAGES)) writeFileSync(file, page());
}
