// The documentation as far as a program can check it: every relative link and every path of a page that code names
// resolves, and every test title that a page quotes exists.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...filesBelow('.', /^(docs|bench|examples|test|testing)\/.*\.md$/),
];
const SOURCES = filesBelow('.', /^(src|bench|scripts|test|testing|examples)\/.*\.ts$/);

/**
 * A test file with a title or part of one: in quotes after the file, or in the next cell of a table whose rows do not
 * begin with the file.
 */
const QUOTED_TEST = /(?<!^\| )`([\w./-]+\.test\.ts)`(?:, "([^"]+)"| \| ([^|`]+) \|)/gm;

function filesBelow(folder: string, wanted: RegExp): string[] {
  return ['docs', 'src', 'bench', 'scripts', 'test', 'testing', 'examples']
    .flatMap((top) => readdirSync(join(folder, top), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => wanted.test(file));
}

/** Text without code, in which a `](` is not a link. */
function prose(file: string): string {
  return readFileSync(file, 'utf8')
    .replaceAll(/^```[\s\S]*?^```/gm, '')
    .replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ' '));
}

/** The anchors GitHub makes of a page's headings: lower case, no punctuation, hyphens for spaces. */
function anchorsOf(file: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  const text = readFileSync(file, 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
  for (const [, heading = ''] of text.matchAll(/^#{1,6} +(.+)$/gm)) {
    const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = words
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .trim()
      .replaceAll(' ', '-');
    let unique = anchor;
    for (let n = 1; anchors.has(unique); n++) unique = `${anchor}-${n}`;
    anchors.add(unique);
  }
  return anchors;
}

function brokenLinks(page: string): string[] {
  const broken: string[] = [];
  for (const [, url = ''] of prose(page).matchAll(/\]\(([^)\s]+)\)/g)) {
    if (/^[a-z]+:/.test(url)) continue;
    const [path = '', anchor] = url.split('#');
    const target = path === '' ? page : normalize(join(dirname(page), path));
    if (!existsSync(target)) broken.push(`${page}: ${url}: no such file`);
    else if (anchor !== undefined && (statSync(target).isDirectory() || !anchorsOf(target).has(anchor)))
      broken.push(`${page}: ${url}: no such heading`);
  }
  return broken;
}

describe('documentation', () => {
  it('given its pages, then every relative link names an existing file and heading', () => {
    expect(PAGES.length).toBeGreaterThan(40);
    expect(PAGES.flatMap(brokenLinks)).toEqual([]);
  });

  it('given pages that source code names, then each exists', () => {
    const missing = SOURCES.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/\bdocs\/[\w/-]+\.(?:md|yaml)\b/g)]
        .filter(([path]) => !existsSync(path))
        .map(([path]) => `${file}: ${path}`),
    );
    expect(missing).toEqual([]);
  });

  it('given tests that pages quote by title, then each title is in its file', () => {
    const quotes = PAGES.flatMap((page) =>
      [...readFileSync(page, 'utf8').matchAll(QUOTED_TEST)].map(
        ([, file = '', title, cell]) => [file, title ?? cell ?? ''] as const,
      ),
    );
    expect(quotes.length).toBeGreaterThan(40);
    const missing = quotes.filter(
      ([file, title]) => !existsSync(file) || !readFileSync(file, 'utf8').includes(title),
    );
    expect(missing).toEqual([]);
  });

  it('given the decision records, then each begins with its number and title, its status and its date', () => {
    const records = PAGES.filter((page) => /^docs\/adr\/\d/.test(page));
    expect(records.length).toBeGreaterThan(45);
    const head = /^# (\d{4}): .+\n\nStatus: \S(?:.|\n)*?\nDate: \d{4}-\d{2}-\d{2}\n\n/;
    const others = records.filter(
      (page) => !basename(page).startsWith(head.exec(readFileSync(page, 'utf8'))?.[1] ?? '-'),
    );
    expect(others).toEqual([]);
  });

  it('given the tour, then it has at most 25 files, and each exists', () => {
    const tour = readFileSync('docs/internals/tour.md', 'utf8');
    const stops = [...tour.matchAll(/^\| \d+ \| \[[\w/.-]+\]\(\.\.\/\.\.\/([^)]+)\)/gm)].map(
      ([, file]) => file!,
    );
    expect(stops.length).toBeGreaterThan(15);
    expect(stops.length).toBeLessThanOrEqual(25);
    const named = [...tour.matchAll(/`([\w/-]+\.ts)`/g)].map(([, file]) => file!);
    const sources = SOURCES.filter((file) => file.startsWith('src/'));
    expect(named.filter((file) => !sources.some((source) => source.endsWith(`/${file}`)))).toEqual([]);
  });

  it('given its pages, then each is linked from the index of its folder, and every index from docs/README.md', () => {
    const folders = readdirSync('docs', { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const unlisted = folders.flatMap(({ name }) => {
      const index = prose(`docs/${name}/README.md`);
      const pages = readdirSync(`docs/${name}`).filter(
        (file) => file.endsWith('.md') && file !== 'README.md',
      );
      return pages.filter((page) => !index.includes(`(${page}`)).map((page) => `docs/${name}/${page}`);
    });
    expect(unlisted).toEqual([]);
    expect(folders.filter(({ name }) => !prose('docs/README.md').includes(`(${name}/README.md)`))).toEqual(
      [],
    );
  });
});
