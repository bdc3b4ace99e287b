// The two pages that show recorded figures: docs/reference/performance.md as a whole, README.md between its markers.
// `bench record` writes them, `npm run generate` writes or checks them.

import { readFileSync, writeFileSync } from 'node:fs';
import { betweenMarkers } from './markdown.ts';
import { goalTable, performancePage } from './page.ts';

/** By path, from the root of the repository: the text that `npm run generate` writes. */
export const SPEED_PAGES: Readonly<Record<string, () => string>> = {
  'docs/reference/performance.md': performancePage,
  'README.md': () => betweenMarkers(readFileSync('README.md', 'utf8'), 'speed', goalTable()),
};

export function writeSpeedPages(): void {
  for (const [file, page] of Object.entries(SPEED_PAGES)) writeFileSync(file, page());
}
