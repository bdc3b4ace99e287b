import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { NEED, some } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../../testing/support/controller-scene.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { SessionMetrics } from './metrics.ts';
import { sessionsText } from './session-metrics.ts';

/** Names of labels by metric, as docs/reference/metrics.md lists them. */
function documented(): Map<string, string> {
  const text = readFileSync(new URL('../../../docs/reference/metrics.md', import.meta.url), 'utf8');
  const rows = text.split('\n').filter((line) => line.startsWith('| `bigfleet_shard_'));
  const cells = rows.map((row) => row.split(' | ')[0]!);
  const names = cells.flatMap((cell) => [...cell.matchAll(/`(bigfleet_shard_\w+)(?:\{([\w,]+)\})?`/g)]);
  return new Map(names.map(([, name, labels]) => [name!, sorted(labels?.split(',') ?? [])]));
}

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

function scrape(): string {
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

describe('docs/reference/metrics.md', () => {
  it('lists every metric that a shard exposes, and no other', () => {
    expect([...documented().keys()].sort()).toEqual([...exposed(scrape()).keys()].sort());
  });

  it('lists the labels of each metric', () => {
    const found = exposed(scrape());
    const known = [...documented()].filter(([name]) => typeof found.get(name) === 'string');
    expect(known.length).toBeGreaterThan(40);
    for (const [name, labels] of known) expect(`${name} ${found.get(name)}`).toBe(`${name} ${labels}`);
  });

  it('names phases of a cycle that are all measured', () => {
    const text = scrape();
    for (const phase of ['snapread', 'reconcile', 'phase1', 'phase2', 'phase3', 'emit', 'execute'])
      expect(text).toMatch(new RegExp(`cycle_phase_duration_seconds_count\\{phase="${phase}"\\} [1-9]`));
  });
});

describe('docs/operate/alerts.yaml', () => {
  /** Expressions by name of the alert. */
  function alerts(): Map<string, string> {
    const text = readFileSync(new URL('../../../docs/operate/alerts.yaml', import.meta.url), 'utf8');
    const { groups } = parse(text) as { groups: { rules: { alert: string; expr: string }[] }[] };
    return new Map(groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => [alert, expr])));
  }

  it('names metrics that a shard exposes, with labels that they have', () => {
    const labelsOf = documented();
    const unknown = [...alerts()].flatMap(([alert, expr]) =>
      [...expr.matchAll(/(bigfleet_\w+?)(?:_bucket|_sum|_count)?\b(?:\{([^}]*)\})?/g)].flatMap(
        ([, name, matchers]) => {
          const labels = labelsOf.get(name!)?.split(',');
          if (labels === undefined) return [`${alert}: ${name}`];
          const used = [...(matchers ?? '').matchAll(/(\w+)\s*[=!]/g)].map(([, label]) => label!);
          return used
            .filter((label) => !labels.includes(label))
            .map((label) => `${alert}: ${name}{${label}}`);
        },
      ),
    );
    expect(alerts().size).toBeGreaterThan(15);
    expect(unknown).toEqual([]);
  });

  it('has a line in docs/operate/alerts.md for every alert', () => {
    const page = readFileSync(new URL('../../../docs/operate/alerts.md', import.meta.url), 'utf8');
    expect([...alerts().keys()].filter((alert) => !page.includes(`| \`${alert}\` |`))).toEqual([]);
  });
});
