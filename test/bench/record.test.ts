import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { GOALS, isMet } from '../../bench/record/goals.ts';
import { betweenMarkers } from '../../bench/record/markdown.ts';
import { readResults } from '../../bench/record/results.ts';
import { webSection } from '../../bench/record/web-section.ts';
import { whatIfSection } from '../../bench/record/whatif-section.ts';
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

  it('given what-if answers at and below their goals, then only those below are called met', () => {
    const at = (p99: number) => ({ p50: 1, p99, max: p99 });
    const live = (asked: number) => ({
      ...{ quiet: at(10), asked: at(asked), packingMs: at(2), answersMs: at(300), seconds: 60 },
    });
    const questions = [
      { question: 'nothing', ms: at(99.9), undoneMs: 0, hasGoal: true },
      { question: 'sharing off', ms: at(100), undoneMs: 1, hasGoal: true },
      { question: 'settled', ms: at(5000), undoneMs: 1, hasGoal: false },
    ];
    const explain = [{ what: 'a Need' as const, ms: at(1000) }];
    const lines = whatIfSection([
      { profile: 'uber-5k', questions, explain: [], live: live(11) },
      { profile: 'uber-500k', questions: [], explain, live: live(11.1) },
    ]).split('\n');
    const endOf = (begin: string) =>
      lines
        .find((line) => line.startsWith(begin))
        ?.split(' | ')
        .at(-1);
    expect(endOf('| uber-5k | nothing')).toBe('met |');
    expect(endOf('| uber-5k | sharing off')).toBe('not met |');
    expect(endOf('| uber-5k | settled')).toBe(' |');
    expect(endOf('| uber-500k | explain a Need')).toBe('not met |');
    expect(lines.filter((line) => line.includes('+10 % |') && line.endsWith('| met |'))).toHaveLength(1);
    expect(lines.filter((line) => line.includes('+11 % |') && line.endsWith('| not met |'))).toHaveLength(1);
  });

  it('given a dashboard that takes a fifth of a core, then its goal is not met', () => {
    const cpu = (cpuPercent: number) => ({ cpuPercent, cycles: 60 });
    const section = (differencePercent: number) =>
      webSection({
        settings: { clusters: 200, needs: 388, machines: 225_000, intervalMs: 10_000, seconds: 60 },
        ...{ without: [cpu(40), cpu(42)], withPage: cpu(41 + differencePercent), differencePercent },
        page: { events: 61, requests: 400, refused: 0, megabytes: 2, answerMs: { p50: 1, p99: 2, max: 3 } },
      });
    expect(section(20)).toContain('| one page | 20 | 20.0 | not met |');
    expect(section(19.9)).toContain('| one page | 20 | 19.9 | met |');
  });

  it('given a document without markers, then rendering throws', () => {
    expect(() => betweenMarkers('no markers', 'speed', 'text')).toThrow('<!-- speed:begin -->');
  });
});
