// Test support: every metric that a shard or an operator exposes, by name, with its type and labels. Tests of alert
// rules and of the Grafana dashboard compare what they query with it; metrics-doc.test.ts and operator-metrics.test.ts
// compare it with docs/reference/metrics.md.

import { globSync, readFileSync } from 'node:fs';
import { OperatorMetrics } from '../../src/operator/process/operator-metrics.ts';
import type { Sessions } from '../../src/shard/sessions/sessions.ts';
import { SessionMetrics } from '../../src/shard/telemetry/metrics.ts';
import { sessionsText } from '../../src/shard/telemetry/session-metrics.ts';
import { NEED, some } from './actuation-scene.ts';
import { ControllerScene } from './controller-scene.ts';

type MetricType = 'counter' | 'gauge' | 'histogram';

export interface MetricFamily {
  readonly type: MetricType;
  /** Without `le`. */
  readonly labels: readonly string[];
}

/** Labels by metric, as docs/reference/metrics.md lists them for `part`. */
export function documentedLabels(part: 'shard' | 'operator'): ReadonlyMap<string, readonly string[]> {
  const text = readFileSync('docs/reference/metrics.md', 'utf8');
  const rows = text.split('\n').filter((line) => line.startsWith(`| \`bigfleet_${part}_`));
  const name = new RegExp(`\`(bigfleet_${part}_\\w+)(?:\\{([\\w,]+)\\})?\``, 'g');
  const found = rows.flatMap((row) => [...row.split(' | ')[0]!.matchAll(name)]);
  return new Map(found.map(([, each, labels]) => [each!, labels?.split(',') ?? []]));
}

/** What `/metrics` of a shard returns after some cycles with a cluster, a Need and machines. */
export function shardScrape(): string {
  const scene = new ControllerScene().list(some(3)).open('c1').demand('c1', NEED).tick(3000);
  const sessions = {
    sessions: [],
    load: { rows: 0, bytes: 0, waiting: 0, waitingBytes: 0 },
    counters: { sessionsOpened: 1, sessionsClosed: 0, sessionsReplaced: 0, identityRejected: 0 },
    reports: [{ cluster: 'c1', refusedRollups: 1, held: {} }],
  } as unknown as Sessions;
  const lag = { percentile: () => 0, reset: () => {} };
  const around = {
    controller: { waiting: 0, waitingMs: 0 },
    paced: { waiting: 0, coalesced: 0 },
    readers: {},
  };
  return sessionsText(new SessionMetrics(), sessions, lag, around) + scene.controller.ask('metrics', {});
}

function typesIn(scrape: string): ReadonlyMap<string, MetricType> {
  const lines = [...scrape.matchAll(/^# TYPE (\w+) (\w+)$/gm)];
  return new Map(lines.map(([, name, type]) => [name!, type as MetricType]));
}

/** A metric that a part of the operator counts by name, and the labels that it gives there. */
interface NamedUse {
  readonly name: string;
  readonly type: MetricType;
  readonly labels: readonly string[];
}

const TYPE_OF_CALL: Readonly<Record<string, MetricType>> = {
  count: 'counter',
  gauge: 'gauge',
  observe: 'histogram',
};

/** Parts of the operator make families on first use, so they are read from the calls. */
export function operatorUses(): readonly NamedUse[] {
  const sources = globSync('src/operator/**/*.ts').filter((file) => !file.endsWith('.test.ts'));
  return sources.flatMap((file) => usesIn(readFileSync(file, 'utf8')));
}

function usesIn(text: string): NamedUse[] {
  const constants = [...text.matchAll(/^const (\w+) = '(bigfleet_operator_\w+)';$/gm)];
  let inlined = text;
  for (const [, constant, name] of constants) inlined = inlined.replaceAll(`(${constant},`, `('${name}',`);
  const calls = inlined.matchAll(/\.(count|gauge|observe)\(\s*'(bigfleet_operator_\w+)'([^;]*?)\);/g);
  return [...calls].map(([, call, name, rest]) => {
    const [, fields = ''] = /\{([^}]*)\}/.exec(rest!) ?? [];
    const labels = fields.split(',').map((field) => field.split(':')[0]!.trim());
    return { name: name!, type: TYPE_OF_CALL[call!]!, labels: labels.filter((label) => label !== '') };
  });
}

/** By name, of both parts. */
export function metricFamilies(): ReadonlyMap<string, MetricFamily> {
  const families = new Map<string, MetricFamily>();
  const shardLabels = documentedLabels('shard');
  for (const [name, type] of typesIn(shardScrape()))
    families.set(name, { type, labels: shardLabels.get(name) ?? [] });
  const operatorLabels = documentedLabels('operator');
  for (const [name, type] of typesIn(new OperatorMetrics().text()))
    families.set(name, { type, labels: operatorLabels.get(name) ?? [] });
  for (const { name, type, labels } of operatorUses()) families.set(name, { type, labels });
  return families;
}
