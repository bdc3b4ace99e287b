// Test support: checks a Prometheus expression against the metrics that exist. Not a parser of PromQL: it finds names of
// metrics, the labels of their matchers and groupings, and the function around each.

import type { MetricFamily } from './metric-families.ts';

/** Labels that a scrape adds to every series (docs/operate/alerts.md has the scrape jobs). */
const TARGET_LABELS = ['job', 'instance', 'cluster', 'le'];

const RATES = /\b(?:rate|irate|increase)\(\s*$/;

/** Problems of `expr`, empty if it can be evaluated on series that a shard or an operator exposes. */
export function problemsOf(expr: string, families: ReadonlyMap<string, MetricFamily>): string[] {
  const problems: string[] = [];
  const known = new Set(TARGET_LABELS);
  for (const match of expr.matchAll(/\b(bigfleet_\w+)(?:\{([^}]*)\})?(\[[^\]]+\])?/g)) {
    const [, series = '', matchers = '', range] = match;
    const found = familyOf(series, families);
    if (found === null) {
      problems.push(`${series}: no such metric`);
      continue;
    }
    for (const label of found.family.labels) known.add(label);
    for (const [, label = ''] of matchers.matchAll(/(\w+)\s*[=!]/g))
      if (!found.family.labels.includes(label) && !TARGET_LABELS.includes(label))
        problems.push(`${series}: no label ${label}`);
    const isRate = RATES.test(expr.slice(0, match.index));
    if (isRate && range === undefined) problems.push(`${series}: a rate needs a range`);
    if (isRate && !found.isMonotonic) problems.push(`${series}: a rate of a gauge`);
  }
  for (const [, labels = ''] of expr.matchAll(/\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g))
    for (const label of labels.split(',').map((each) => each.trim()))
      if (label !== '' && !known.has(label)) problems.push(`grouped by ${label}, which no metric here has`);
  for (const pair of ['()', '{}', '[]'])
    if (expr.split(pair[0]!).length !== expr.split(pair[1]!).length) problems.push(`unbalanced ${pair}`);
  if (/histogram_quantile/.test(expr) && !/\ble\b/.test(expr)) problems.push('a quantile not grouped by le');
  return problems;
}

interface Found {
  readonly family: MetricFamily;
  /** Whether its value never decreases, so that a rate makes sense. */
  readonly isMonotonic: boolean;
}

function familyOf(series: string, families: ReadonlyMap<string, MetricFamily>): Found | null {
  const whole = families.get(series);
  // A histogram has no series of its own name.
  if (whole !== undefined)
    return whole.type === 'histogram' ? null : { family: whole, isMonotonic: whole.type === 'counter' };
  const part = families.get(series.replace(/_(?:bucket|sum|count)$/, ''));
  return part?.type === 'histogram' ? { family: part, isMonotonic: true } : null;
}
