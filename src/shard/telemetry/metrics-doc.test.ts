import { describe, expect, it } from 'vitest';
import { documentedLabels, shardScrape } from '../../../testing/support/metric-families.ts';

/** Names of labels by metric in a scrape, without `le`; null where there is no sample yet. */
function exposed(text: string): Map<string, string | null> {
  const families = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name]) => name!);
  return new Map(
    families.map((name) => {
      const sample = new RegExp(`^${name}(?:_bucket|_sum|_count)?(?:\\{(.*)\\})? \\S+$`, 'm').exec(text);
      if (sample === null) return [name, null];
      const labels = [...(sample[1] ?? '').matchAll(/(\w+)="/g)].map(([, label]) => label!);
      return [name, sorted(labels.filter((label) => label !== 'le'))];
    }),
  );
}

function sorted(labels: readonly string[]): string {
  return [...labels].sort().join(',');
}

describe('docs/reference/metrics.md', () => {
  it('lists every metric that a shard exposes, and no other', () => {
    expect([...documentedLabels('shard').keys()].sort()).toEqual([...exposed(shardScrape()).keys()].sort());
  });

  it('lists the labels of each metric', () => {
    const found = exposed(shardScrape());
    const known = [...documentedLabels('shard')].filter(([name]) => typeof found.get(name) === 'string');
    expect(known.length).toBeGreaterThan(40);
    for (const [name, labels] of known)
      expect(`${name} ${found.get(name)}`).toBe(`${name} ${sorted(labels)}`);
  });

  it('names phases of a cycle that are all measured', () => {
    const text = shardScrape();
    for (const phase of ['snapread', 'reconcile', 'phase1', 'phase2', 'phase3', 'emit', 'execute'])
      expect(text).toMatch(new RegExp(`cycle_phase_duration_seconds_count\\{phase="${phase}"\\} [1-9]`));
  });
});
