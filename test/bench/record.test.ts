import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { GOALS, isMet } from '../../bench/record/goals.ts';
import { betweenMarkers } from '../../bench/record/markdown.ts';
import { readResults } from '../../bench/record/results.ts';
import { webSection } from '../../bench/record/web-section.ts';
import { whatIfSection } from '../../bench/record/whatif-section.ts';
import { RECORDED_PAGES } from '../../bench/record/write.ts';
import { barsOf, type LiveKind } from '../../bench/whatif/figures.ts';

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

  it('given what-if answers, explanations and live cycles at and beyond their bars, then only those within are called met', () => {
    // Given
    const at = (p99: number) => ({ p50: 1, p99, max: p99 });
    const windows = (kind: LiveKind, p99: number) => ({
      ...{ kind, cycles: 300, cycleMs: at(p99) },
      ...(kind === 'nothing'
        ? { questions: 0, busyMs: null, answerMs: null }
        : { questions: 6, busyMs: at(2), answerMs: at(300) }),
    });
    const live = (whatIf: number, explain: number) => ({
      ...{ seconds: 60, windowSeconds: 10, spacingMs: 200 },
      windows: [windows('nothing', 10), windows('what-if', whatIf), windows('explain', explain)],
    });
    const question = (ms: number, hasGoal: boolean) => ({
      ...{ question: 'sharing off', ms: at(ms), undoneMs: 1, hasGoal },
    });
    const small = {
      profile: 'uber-5k',
      questions: [question(99.9, true), question(5000, false)],
      explain: [{ what: 'a Need' as const, count: 40, ms: at(100) }],
      live: live(11, 11.1),
    };
    const large = { ...small, profile: 'uber-500k', questions: [question(1000, true)], live: null };
    // When
    const lines = whatIfSection([small, large].map((each) => ({ ...each, bars: barsOf(each) }))).split('\n');
    // Then
    expect(lines.filter((line) => /met \|$/.test(line))).toEqual([
      '| uber-5k | what-if without settling | below 100 ms | 99.9 ms | met |',
      '| uber-5k | explain | below 100 ms | 100 ms | not met |',
      '| uber-5k | live p99 longer, with a question of what-if | at most 10 % | 10.0 % | met |',
      '| uber-5k | live p99 longer, with a question of explain | at most 10 % | 11.0 % | not met |',
      '| uber-500k | what-if without settling | below 1,000 ms | 1,000 ms | not met |',
      '| uber-500k | explain | below 1,000 ms | 100 ms | met |',
    ]);
    expect(lines).toContain('| uber-5k | nothing | 300 | 1.00 | 10.0 | 10.0 |  |  |  |  |');
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
