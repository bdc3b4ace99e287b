// The pictures of the documentation: small, self-contained, readable in both colour schemes and for readers without them.

import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const PICTURES = globSync('docs/pictures/*.svg').sort();
const SCREENSHOTS = globSync('docs/pictures/*.png').sort();
const PAGES = ['README.md', ...globSync('docs/**/*.md')];

const MAX_BYTES = 20_000;
/** A text alternative that says what is in the picture, not that there is one. */
const SHORTEST_ALTERNATIVE = 40;
/** The text around a picture of the dashboard says what its page answers. */
const SHORTEST_OF_SCREENSHOT = 20;

/** Names of elements in the order of their ends; throws where they are not nested. */
function checkNesting(svg: string): void {
  const open: string[] = [];
  for (const [, slash, name = '', self] of svg.matchAll(/<(\/?)([a-z]+)\b[^>]*?(\/?)>/gi)) {
    if (slash === '/') expect(open.pop()).toBe(name);
    else if (self !== '/') open.push(name);
  }
  expect(open).toEqual([]);
}

interface Shown {
  readonly page: string;
  readonly alternative: string;
  /** From the root of the repository. */
  readonly file: string;
}

/** The pictures of this repository that pages show. */
const SHOWN: readonly Shown[] = PAGES.flatMap((page) =>
  [...readFileSync(page, 'utf8').matchAll(/!\[([^\]]*)\]\(([^):]+)\)/g)].map(
    ([, alternative = '', path = '']): Shown => ({ page, alternative, file: join(dirname(page), path) }),
  ),
);

describe('pictures that pages show', () => {
  it('given their paths, then the files exist', () => {
    expect(SHOWN.length).toBeGreaterThan(PICTURES.length + SCREENSHOTS.length);
    expect(SHOWN.filter(({ file }) => !existsSync(file))).toEqual([]);
  });

  it.each(SCREENSHOTS)('given %s, then a page shows it with a text alternative, and it is a PNG', (file) => {
    const shown = SHOWN.filter((each) => each.file === file);
    expect(shown.length).toBeGreaterThan(0);
    for (const { alternative, page } of shown)
      expect(alternative.length, page).toBeGreaterThan(SHORTEST_OF_SCREENSHOT);
    expect(readFileSync(file).subarray(1, 4).toString('latin1')).toBe('PNG');
  });

  it('given the tables of pages, then each has a row below its titles, so that it is one', () => {
    const broken = PAGES.flatMap((page) => {
      const lines = readFileSync(page, 'utf8')
        .replaceAll(/^```.*?^```/gms, '')
        .split('\n');
      return lines.flatMap((line, i) => {
        const isTitles = line.startsWith('|') && lines[i - 1]?.startsWith('|') !== true;
        return isTitles && !/^\|[ :|-]+\|$/.test(lines[i + 1] ?? '') ? [`${page}: ${line}`] : [];
      });
    });
    expect(broken).toEqual([]);
  });
});

describe.each(PICTURES)('%s', (file) => {
  const svg = readFileSync(file, 'utf8');

  it('given its text, then it is small, well nested and needs nothing else', () => {
    expect(statSync(file).size).toBeLessThan(MAX_BYTES);
    checkNesting(svg);
    expect(svg.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(
      /https?:|<script|<image|@import|\bon\w+=/,
    );
  });

  it('given a reader in the dark or without eyes, then it has colours and a description for them', () => {
    expect(svg).toContain('prefers-color-scheme: dark');
    expect(svg).toMatch(/role="img" aria-labelledby="title desc"/);
    expect(/<title id="title">([^<]+)</.exec(svg)?.[1]?.length).toBeGreaterThan(10);
    expect(/<desc id="desc">([^<]+)</.exec(svg)?.[1]?.length).toBeGreaterThan(100);
    // Only classes, so that no colour is left out of the dark scheme.
    expect(svg.replace(/<style>.*<\/style>/s, '')).not.toMatch(/(?:fill|stroke)="#/);
  });

  it('given the pages, then one shows it with a text alternative', () => {
    const shown = SHOWN.filter((each) => each.file === file);
    expect(shown.length).toBeGreaterThan(0);
    for (const { alternative } of shown) expect(alternative.length).toBeGreaterThan(SHORTEST_ALTERNATIVE);
  });
});
