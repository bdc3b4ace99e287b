// docs/operate/alerts.yaml against the metrics that shards and operators expose, and against the pages that say what to do.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { metricFamilies } from '../../testing/support/metric-families.ts';
import { problemsOf } from '../../testing/support/queries.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

interface Group {
  readonly name: string;
  readonly rules: readonly Rule[];
}

const { groups } = parse(readFileSync('docs/operate/alerts.yaml', 'utf8')) as { groups: readonly Group[] };
const RULES = groups.flatMap(({ rules }) => rules);

function anchorsOf(page: string): string[] {
  const headings = readFileSync(page, 'utf8').matchAll(/^#{1,6} +(.+)$/gm);
  return [...headings].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('docs/operate/alerts.yaml', () => {
  it('given its rules, then there are some for shards and for operators, each with a name of its own', () => {
    expect(groups.map(({ name }) => name)).toEqual(['bigfleet-shard', 'bigfleet-operator']);
    for (const { rules } of groups) expect(rules.length).toBeGreaterThan(12);
    expect(new Set(RULES.map(({ alert }) => alert)).size).toBe(RULES.length);
  });

  it('given its expressions, then they name metrics that are exposed, with labels that they have', () => {
    const families = metricFamilies();
    expect(
      RULES.flatMap(({ alert, expr }) => problemsOf(expr, families).map((each) => [alert, each])),
    ).toEqual([]);
  });

  it.each([
    ['bigfleet_shard_no_such_metric > 0', 'no such metric'],
    ['bigfleet_shard_cycle_duration_seconds > 0', 'no such metric'],
    ['bigfleet_operator_watch_current{zone="a"} == 0', 'no label zone'],
    ['rate(bigfleet_shard_shortfalls[5m]) > 0', 'a rate of a gauge'],
    ['sum by (provider) (bigfleet_shard_shortfalls) > 0', 'grouped by provider'],
    ['sum(bigfleet_shard_shortfalls > 0', 'unbalanced ()'],
  ])('given the expression %s, then it is a problem', (expr, problem) => {
    expect(problemsOf(expr, metricFamilies()).join()).toContain(problem);
  });

  it('given its summaries, then they name labels that the result of the expression has', () => {
    const families = metricFamilies();
    const wrong = RULES.flatMap(({ alert, expr, annotations }) => {
      const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels]) => labels!.split(', '));
      const [name = ''] = /\bbigfleet_\w+/.exec(expr) ?? [];
      const kept =
        grouped.length > 0 ? grouped : ['job', 'instance', 'cluster', ...(families.get(name)?.labels ?? [])];
      const named = [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label!);
      return named.filter((label) => !kept.includes(label)).map((label) => [alert, label]);
    });
    expect(wrong).toEqual([]);
  });

  it('given its rules, then each has a severity, a summary and a section of a runbook', () => {
    const wrong = RULES.filter(({ labels, annotations: { summary, runbook } }) => {
      const [page = '', anchor = ''] = runbook.split('#');
      return (
        !['page', 'ticket'].includes(labels.severity) || summary === '' || !anchorsOf(page).includes(anchor)
      );
    });
    expect(wrong).toEqual([]);
  });

  it('given its rules, then docs/operate/alerts.md has a line for each, with a link to the same section', () => {
    const page = readFileSync('docs/operate/alerts.md', 'utf8');
    const missing = RULES.filter(({ alert, annotations }) => {
      const line = page.split('\n').find((each) => each.startsWith(`| \`${alert}\` |`)) ?? '';
      return !line.includes(`](${annotations.runbook.replace('docs/operate/', '')})`);
    });
    expect(missing.map(({ alert }) => alert)).toEqual([]);
    expect(page.match(/^\| `BigFleet\w+` \|/gm)).toHaveLength(RULES.length);
  });
});
