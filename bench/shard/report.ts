// The figures of `bench shard` as text of at most 100 columns, printed by main.ts.

import type { Quantiles } from '../quantiles.ts';
import type { Figures } from './figures.ts';
import type { Settings } from './settings.ts';

export function tableOf(
  { clusters, needs, machines, providers, intervalMs, seconds }: Settings,
  figures: Figures,
  loadAverage: { readonly before: number | undefined; readonly after: number | undefined },
): string {
  const { cold } = figures;
  return [
    `${clusters} clusters × ${needs} Needs every ${intervalMs / 1000} s, ${machines} machines of ${providers} providers, ${seconds} s`,
    '',
    row('ms', ['p50', 'p99', 'max', 'samples']),
    timing('ack', figures.ackMs),
    timing('ack, rows changed', figures.ackChangedMs),
    timing('ack, probe that is not niced', figures.ackProbeMs),
    timing('roll-up applied', figures.appliedMs),
    timing('cycle', figures.cycleMs),
    timing('node state published', figures.publishMs),
    timing('demand to call at the provider', figures.demandToCallMs),
    timing('event-loop lag of the shard', figures.lagMs),
    timing('event-loop lag of generators', figures.generatorLagMs),
    timing('event-loop lag of an idle process', figures.idleLagMs),
    timing('cold: first ack', cold.ackMs),
    timing('cold: event-loop lag', cold.lagMs),
    '',
    `cold start: listens after ${cold.listeningSeconds} s, first decision after ${cold.firstDecisionSeconds} s,`,
    `  all clusters acknowledged after ${cold.allAckedSeconds} s, longest cycle ${cold.longestCycleMs} ms`,
    `actions decided: ${pairs(figures.actions)}; calls at providers: ${figures.calls}`,
    `unmet at the end: ${figures.unmet}; sessions lost: ${pairs(figures.sessionsLost) || 'none'}`,
    '',
    row('process', ['CPU %', 'RSS MiB', 'peak MiB', '']),
    ...figures.processes.map(({ name, cpuPercent, rssMiB, peakRssMiB, threads }) =>
      row(name, [cpuPercent, rssMiB, peakRssMiB, namesOf(threads)]),
    ),
    '',
    `load average ${loadAverage.before?.toFixed(1)} before, ${loadAverage.after?.toFixed(1)} after`,
  ].join('\n');
}

const NAME_WIDTH = 34;
const COLUMN_WIDTH = 12;

function row(name: string, columns: readonly (string | number)[]): string {
  return name.padEnd(NAME_WIDTH) + columns.map((each) => String(each).padStart(COLUMN_WIDTH)).join('');
}

function timing(
  name: string,
  { p50, p99, max, samples, missed }: Quantiles & { readonly samples?: number; readonly missed?: number },
): string {
  const count = samples === undefined ? '' : String(samples);
  const columns = [p50, p99, max].map((each) => each.toFixed(1));
  return row(name, [...columns, missed ? `${count} (-${missed})` : count]);
}

/** `MainThread 7, controller 4`, where there is more than one. */
function namesOf(threads: Figures['processes'][number]['threads']): string {
  if (threads.length < 2) return '';
  return `  ${threads.map(({ name, cpuPercent }) => `${name} ${cpuPercent}`).join(', ')}`;
}

function pairs(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}
