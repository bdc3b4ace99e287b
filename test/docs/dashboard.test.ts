// docs/operate/grafana/bigfleet.json against the metrics that exist and against the parts of Grafana's format that a
// mistake would break without a message.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { metricFamilies } from '../../testing/support/metric-families.ts';
import { problemsOf } from '../../testing/support/queries.ts';

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly Target[];
}

interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly legendFormat: string;
  readonly datasource: { readonly uid: string };
}

interface Variable {
  readonly name: string;
  readonly type: string;
  readonly query: string | { readonly query: string };
}

interface Dashboard {
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
}

const DASHBOARD = JSON.parse(readFileSync('docs/operate/grafana/bigfleet.json', 'utf8')) as Dashboard;
const PLOTS = DASHBOARD.panels.filter(({ type }) => type !== 'row');
const TARGETS = PLOTS.flatMap(({ title, targets = [] }) => targets.map((target) => ({ title, ...target })));
const FAMILIES = metricFamilies();

/** Grafana replaces these before Prometheus reads the expression. */
function withoutVariables(expr: string): string {
  return expr.replaceAll('$__rate_interval', '5m').replaceAll(/\$(?:shard|cluster)\b/g, '.*');
}

describe('docs/operate/grafana/bigfleet.json', () => {
  it('given its queries, then they name metrics that are exposed, with labels that they have', () => {
    const wrong = TARGETS.flatMap(({ title, expr }) =>
      problemsOf(withoutVariables(expr), FAMILIES).map((problem) => `${title}: ${problem}`),
    );
    expect(TARGETS.length).toBeGreaterThan(50);
    expect(wrong).toEqual([]);
  });

  it('given its legends, then they name labels that the query keeps', () => {
    const wrong = TARGETS.filter(({ expr, legendFormat }) => {
      const kept = /\bby \(([^)]*)\)/.exec(expr)?.[1]?.split(', ') ?? ['instance'];
      const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!);
      return named.some((label) => !kept.includes(label));
    });
    expect(wrong).toEqual([]);
  });

  it('given its panels, then each has an id, a title and a place of its own', () => {
    const { panels } = DASHBOARD;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
    expect(PLOTS.filter(({ description = '' }) => description === '')).toEqual([]);
    const taken = new Set<string>();
    for (const { title, gridPos } of panels) {
      expect({ title, end: gridPos.x + gridPos.w <= 24 }).toEqual({ title, end: true });
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect({ title, isFree: !taken.has(`${x}/${y}`) }).toEqual({ title, isFree: true });
          taken.add(`${x}/${y}`);
        }
    }
  });

  it('given its panels and queries, then all use the data source that the reader chooses', () => {
    expect(DASHBOARD.templating.list.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'datasource datasource',
      'shard query',
      'cluster query',
    ]);
    const sources = [
      ...PLOTS.map(({ datasource }) => datasource?.uid),
      ...TARGETS.map((each) => each.datasource.uid),
    ];
    expect(new Set(sources)).toEqual(new Set([`$\{datasource}`]));
    for (const { targets = [] } of PLOTS)
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
    const queried = DASHBOARD.templating.list.filter(({ type }) => type === 'query');
    for (const { query } of queried) {
      const [, name = ''] =
        /^label_values\((\w+), \w+\)$/.exec(typeof query === 'string' ? query : query.query) ?? [];
      expect([...FAMILIES.keys()]).toContain(name);
    }
  });

  it('given what an operator of a fleet looks for, then a panel shows it', () => {
    const shown = TARGETS.map(({ expr }) => expr).join('\n');
    for (const name of [
      'shard_cycle_duration_seconds',
      'shard_cycle_phase_duration_seconds',
      'shard_inventory_machines',
      'shard_shortfalls_aged',
      'shard_cost_dollars_per_hour',
      'shard_actions_total',
      'shard_active_sessions',
      'shard_drains_waiting',
      'operator_session_connected',
      'operator_rollup_duration_seconds',
      'operator_watch_current',
      'operator_episodes_open',
    ])
      expect(shown).toContain(`bigfleet_${name}`);
    expect(DASHBOARD).toMatchObject({ uid: 'bigfleet', title: 'BigFleet' });
    expect(DASHBOARD.schemaVersion).toBeGreaterThan(35);
  });
});
