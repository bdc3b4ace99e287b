// The pictures of the documentation: small, self-contained, readable in both colour schemes and for readers without them.

import { globSync, readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';

const PICTURES = globSync('docs/pictures/*.svg').sort();
const PAGES = ['README.md', ...globSync('docs/**/*.md')];

const MAX_BYTES = 20_000;
/** A text alternative that says what is in the picture, not that there is one. */
const SHORTEST_ALTERNATIVE = 40;

/** Names of elements in the order of their ends; throws where they are not nested. */
function checkNesting(svg: string): void {
  const open: string[] = [];
  for (const [, slash, name = '', self] of svg.matchAll(/<(\/?)([a-z]+)\b[^>]*?(\/?)>/gi)) {
    if (slash === '/') expect(open.pop()).toBe(name);
    else if (self !== '/') open.push(name);
  }
  expect(open).toEqual([]);
}

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
    const shown = PAGES.flatMap((page) =>
      [...readFileSync(page, 'utf8').matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g)].filter(
        ([, , path]) => basename(path!) === basename(file),
      ),
    );
    expect(shown.length).toBeGreaterThan(0);
    for (const [, alternative] of shown) expect(alternative!.length).toBeGreaterThan(SHORTEST_ALTERNATIVE);
  });
});
