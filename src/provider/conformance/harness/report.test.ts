import { describe, expect, it } from 'vitest';
import {
  type BehaviourResult,
  type ConformanceReport,
  reportJson,
  reportJunit,
  type Status,
  totalsOf,
  verdictOf,
} from './report.ts';

const result = (id: string, status: Status, detail = ''): BehaviourResult => ({
  id,
  area: 'fencing',
  title: `title of ${id}`,
  status,
  detail,
  durationMs: 1_500,
});

function report(...behaviours: readonly BehaviourResult[]): ConformanceReport {
  const totals = totalsOf(behaviours);
  return {
    verdict: verdictOf(behaviours),
    target: 'localhost:9000',
    profiles: ['core'],
    only: [],
    seed: 3,
    durationMs: 3_000,
    machinesUsed: 2,
    totals,
    behaviours,
  };
}

describe('the verdict of a conformance run', () => {
  it.each<[readonly Status[], string]>([
    [['passed', 'passed'], 'certified'],
    [['passed', 'failed', 'skipped'], 'failed'],
    [['passed', 'skipped'], 'incomplete'],
    [['skipped'], 'incomplete'],
    [[], 'incomplete'],
  ])('given the statuses %j, then it is %s', (statuses, verdict) => {
    expect(report(...statuses.map((status, i) => result(`B${i}`, status))).verdict).toBe(verdict);
  });

  it('given an excused skip, then the run is certified if another behaviour passed', () => {
    const excused = { ...result('B1006', 'skipped'), isExcused: true } as const;
    expect(report(result('B1', 'passed'), excused).verdict).toBe('certified');
    expect(report(excused).verdict).toBe('incomplete');
    expect(report(result('B1', 'passed'), excused, result('B2', 'skipped')).verdict).toBe('incomplete');
    expect(report(result('B1', 'failed'), excused).verdict).toBe('failed');
  });
});

describe('the report of a conformance run', () => {
  const mixed = report(
    result('B301', 'passed'),
    result('B302', 'failed', 'expected "a" < b & c, got \u0000\u001b[31m'),
    result('B310', 'skipped', 'no Delete'),
  );

  it('given JSON, then it has every behaviour with its status', () => {
    const json = JSON.parse(reportJson(mixed)) as ConformanceReport;
    expect(json).toEqual(mixed);
    expect(json.totals).toEqual({ passed: 1, failed: 1, skipped: 1, total: 3 });
  });

  it('given JUnit, then it distinguishes failures from skips and is well-formed XML', () => {
    const xml = reportJunit(mixed);
    expect(xml).toContain('tests="3" failures="1" skipped="1" time="3.000"');
    expect(xml).toContain('name="B301: title of B301" time="1.500"/>');
    expect(xml).toContain(
      '<failure message="expected &quot;a&quot; &lt; b &amp; c, got \\u0000\\u001b[31m"/></testcase>',
    );
    expect(xml).toContain('<skipped message="no Delete"/></testcase>');
    expect(xml).not.toMatch(/(?!\n)\p{Cc}/u);
  });
});
