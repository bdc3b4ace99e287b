// The report of a run (run.ts) as data, JSON and JUnit XML, for `bigfleet provider conformance` and tests of providers.
// A skip is reported as a skip and certifies nothing.

import { printable } from '../../../model/index.ts';
import type { Area, Profile } from './behaviour.ts';

/** The outcome of one behaviour; a skip is not a pass. */
export type Status = 'passed' | 'failed' | 'skipped';

/** The outcome of one behaviour. */
export interface BehaviourResult {
  readonly id: string;
  readonly area: Area;
  readonly title: string;
  readonly status: Status;
  /** What was expected, what came and after which calls; why it was skipped; empty for a pass. */
  readonly detail: string;
  readonly durationMs: number;
  /** A skip that does not keep a provider from being certified. */
  readonly isExcused?: true;
}

/**
 * Certified: all passed, except for excused skips. Failed: some failed. Incomplete: none failed, but some were skipped
 * without an excuse.
 */
export type Verdict = 'certified' | 'failed' | 'incomplete';

/** The outcome of a run. */
export interface ConformanceReport {
  readonly verdict: Verdict;
  readonly target: string;
  readonly profiles: readonly Profile[];
  /** The words that narrowed the run; empty for whole profiles. */
  readonly only: readonly string[];
  /** Repeats the random behaviours. */
  readonly seed: number;
  readonly durationMs: number;
  readonly machinesUsed: number;
  readonly totals: Readonly<Record<Status | 'total', number>>;
  readonly behaviours: readonly BehaviourResult[];
}

export function totalsOf(results: readonly BehaviourResult[]): ConformanceReport['totals'] {
  const count = (status: Status) => results.filter((result) => result.status === status).length;
  return {
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
    total: results.length,
  };
}

export function verdictOf(results: readonly BehaviourResult[]): Verdict {
  const { failed, passed, total } = totalsOf(results);
  const excused = results.filter(({ isExcused }) => isExcused).length;
  if (failed > 0) return 'failed';
  return passed > 0 && passed + excused === total ? 'certified' : 'incomplete';
}

/** The report as JSON. */
export function reportJson(report: ConformanceReport): string {
  return `${JSON.stringify(report, null, 2)}\n`;
}

/** One suite per area, one case per behaviour. */
export function reportJunit(report: ConformanceReport): string {
  const { totals, durationMs, behaviours } = report;
  const areas = [...new Set(behaviours.map(({ area }) => area))];
  const suites = areas.map((area) =>
    suiteXml(
      area,
      behaviours.filter((result) => result.area === area),
    ),
  );
  const attributes = `tests="${totals.total}" failures="${totals.failed}" skipped="${totals.skipped}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="bigfleet provider conformance" ${attributes} time="${seconds(durationMs)}">`,
    ...suites,
    '</testsuites>',
    '',
  ].join('\n');
}

function suiteXml(area: Area, results: readonly BehaviourResult[]): string {
  const { total, failed, skipped } = totalsOf(results);
  const time = seconds(results.reduce((sum, { durationMs }) => sum + durationMs, 0));
  return [
    `  <testsuite name="${area}" tests="${total}" failures="${failed}" skipped="${skipped}" time="${time}">`,
    ...results.map(caseXml),
    '  </testsuite>',
  ].join('\n');
}

function caseXml({ id, area, title, status, detail, durationMs }: BehaviourResult): string {
  const name = xml(`${id}: ${title}`);
  const open = `    <testcase classname="conformance.${area}" name="${name}" time="${seconds(durationMs)}"`;
  if (status === 'passed') return `${open}/>`;
  const tag = status === 'failed' ? 'failure' : 'skipped';
  return `${open}><${tag} message="${xml(detail)}"/></testcase>`;
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

/** Text as an attribute; control characters, which XML cannot hold, are spelled out. */
function xml(text: string): string {
  return printable(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replace(/[\ufffe\uffff]/g, '\ufffd');
}
