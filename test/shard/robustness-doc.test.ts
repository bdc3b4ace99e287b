import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

interface Listed {
  readonly number: string;
  readonly file: string;
  readonly title: string;
}

const from = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i);

/** Those that concern a shard. */
const REQUIRED = [
  ...[...from(1, 14), ...from(23, 26), 28].map((item) => `7.6.${item}`),
  ...from(12, 23).map((item) => `5.2.${item}`),
];

function listed(): readonly Listed[] {
  const rows = readFileSync('docs/internals/robustness.md', 'utf8').matchAll(
    /^\| (\d\.\d\.\d+) \| .+ \| `(\S+)` \| (.+) \|$/gm,
  );
  return Array.from(rows, ([, number, file, title]) => ({ number: number!, file: file!, title: title! }));
}

/** Whether a file has a test or a group of this title. */
function has({ file, title }: Listed): boolean {
  return readFileSync(file, 'utf8').replaceAll(/\(\s+/g, '(').includes(`('${title}'`);
}

describe('the known defects of docs/internals/robustness.md', () => {
  it('are all there', () => {
    expect(new Set(listed().map(({ number }) => number))).toEqual(new Set(REQUIRED));
  });

  it('have tests that carry their number', () => {
    expect(listed().filter((row) => !has(row))).toEqual([]);
    expect(listed().filter(({ number, title }) => !/^[:,] /.test(title.replace(number, '')))).toEqual([]);
  });
});
