import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { documentedLabels, operatorUses } from '../../../testing/support/metric-families.ts';
import { OperatorMetrics } from './operator-metrics.ts';

function families(text: string): string[] {
  return [...text.matchAll(/^# TYPE (\w+) \w+$/gm)].map(([, name]) => name!);
}

describe('metrics of the operator', () => {
  it('given docs/reference/metrics.md, then it lists every metric that a part names, and no other', () => {
    const page = readFileSync('docs/reference/metrics.md', 'utf8');
    const listed = new Set([...page.matchAll(/`(bigfleet_operator_\w+)[`{]/g)].map(([, name]) => name!));
    const sources = globSync('src/operator/**/*.ts').filter((file) => !file.endsWith('.test.ts'));
    const named = sources.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/'(bigfleet_operator_\w+)'/g)].map(([, name]) => name!),
    );
    expect(families(new OperatorMetrics().text()).length).toBeGreaterThan(12);
    expect([...listed].sort()).toEqual([...new Set(named)].sort());
  });

  it('given docs/reference/metrics.md, then it lists the labels of every metric', () => {
    const listed = documentedLabels('operator');
    const wrong = operatorUses().filter(
      ({ name, labels }) => labels.toSorted().join() !== listed.get(name)?.toSorted().join(),
    );
    expect(operatorUses().length).toBeGreaterThan(25);
    expect(wrong).toEqual([]);
    // Families of the process itself: those with closed sets of values are in every scrape.
    const samples = [...new OperatorMetrics().text().matchAll(/^(\w+?)(?:_bucket)?\{([^}]*)\}/gm)];
    for (const [, name = '', pairs = ''] of samples) {
      const labels = [...pairs.matchAll(/(\w+)="/g)].map(([, label]) => label!);
      expect(listed.get(name.replace(/_(?:sum|count)$/, ''))).toEqual(labels.filter((each) => each !== 'le'));
    }
  });

  it('given names of other parts, then each is a family with its labels, and their number is bounded', () => {
    const metrics = new OperatorMetrics();
    metrics.count('bigfleet_operator_a_total', { kind: 'x' }, 2);
    metrics.count('bigfleet_operator_a_total', { kind: 'y' });
    metrics.observe('bigfleet_operator_b_seconds', 0.2, { phase: 'write' });
    for (let i = 0; i < 300; i++) metrics.gauge(`bigfleet_operator_g${i}`, i);
    for (let i = 0; i < 300; i++) metrics.count('bigfleet_operator_a_total', { kind: `k${i}` });
    const text = metrics.text();
    expect(text).toContain('bigfleet_operator_a_total{kind="x"} 2\n');
    expect(text).toContain('bigfleet_operator_a_total{kind="y"} 1\n');
    expect(text).toContain('bigfleet_operator_a_total{kind="other"} 252\n');
    expect(text).toContain('bigfleet_operator_b_seconds_count{phase="write"} 1\n');
    expect(families(text).filter((name) => /_g\d+$/.test(name))).toHaveLength(100);
  });

  it('given other labels than before, or a name that is taken, then counting does not fail', () => {
    const metrics = new OperatorMetrics();
    metrics.count('bigfleet_operator_a_total', { op: 'create', outcome: 'ok' });
    metrics.count('bigfleet_operator_a_total', { op: 'delete' });
    metrics.count('bigfleet_operator_a_total', { op: 'delete', more: 'x' });
    metrics.gauge('bigfleet_operator_a_total', 1);
    metrics.count('bigfleet_operator_leader');
    const text = metrics.text();
    expect(text).toContain('bigfleet_operator_a_total{op="create",outcome="ok"} 1\n');
    expect(text).toContain('bigfleet_operator_a_total{op="delete",outcome=""} 2\n');
    expect(text).toContain('bigfleet_operator_leader 0\n');
  });
});
