import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { GOALS, isMet } from '../../bench/record/goals.ts';
import { betweenMarkers } from '../../bench/record/markdown.ts';
import { readResults } from '../../bench/record/results.ts';
import { RECORDED_PAGES } from '../../bench/record/write.ts';

describe('recorded figures', () => {
  it('given the recorded results, then README and performance page are up to date', () => {
    for (const [file, page] of Object.entries(RECORDED_PAGES))
      expect(readFileSync(file, 'utf8')).toBe(page());
  });

  it('given figures above and at the goal, then only the latter meets it', () => {
    const results = readResults();
    const goal = { what: 'cycle', quantile: 'p99', goalMs: 10 } as const;
    expect(isMet({ ...goal, measured: () => ({ p50: 1, p99: 10.1 }) }, results)).toBe(false);
    expect(isMet({ ...goal, measured: () => ({ p50: 1, p99: 10 }) }, results)).toBe(true);
    expect(isMet({ ...goal, measured: () => ({ p50: 1 }) }, results)).toBe(false);
  });

  it('given the goals, then the README has each of them with its verdict', () => {
    const readme = readFileSync('README.md', 'utf8');
    const results = readResults();
    for (const goal of GOALS) {
      const line = readme.split('\n').find((each) => each.startsWith(`| ${goal.what} |`));
      expect(line, goal.what).toMatch(isMet(goal, results) ? /\| met \|$/ : /\| not met \|$/);
    }
  });

  it('given a document without markers, then rendering throws', () => {
    expect(() => betweenMarkers('no markers', 'speed', 'text')).toThrow('<!-- speed:begin -->');
  });
});
