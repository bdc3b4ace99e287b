// The part of docs/reference/performance.md about the operator of one large cluster: its goals, and where the time goes.

import type { OperatorResult } from '../operator/figures.ts';
import { columnsOf, markdownTable, short, whole } from './markdown.ts';

export function operatorSection(figures: OperatorResult): string {
  const { settings, limits, rows, rollupBytes, rollups, rollupMs, rollupCpuMs, cpuMs, startCpuSeconds } =
    figures;
  const { peakRssMiB, endRssMiB } = figures;
  const { pods, nodes, share } = settings;
  const met = (measured: number, limit: number): string => (measured < limit ? 'met' : 'not met');
  return [
    `${whole(pods)} pods in ${whole(rows)} rows on ${whole(nodes)} nodes; ${whole(Math.round(pods * share))} pods change before each of ${whole(rollups)} roll-ups of ${whole(rollupBytes)} bytes.`,
    markdownTable(
      [...columnsOf(['one cluster, on 2 cores', 'goal, below', 'measured']), { header: '' }],
      [
        [
          'roll-up with node facts, p99 ms',
          whole(limits.rollupMs),
          short(rollupMs.p99),
          met(rollupMs.p99, limits.rollupMs),
        ],
        [
          'largest resident size, MiB',
          whole(limits.rssMiB),
          whole(peakRssMiB),
          met(peakRssMiB, limits.rssMiB),
        ],
        [
          'start, seconds of CPU',
          whole(limits.startCpuSeconds),
          short(startCpuSeconds),
          met(startCpuSeconds, limits.startCpuSeconds),
        ],
      ],
    ),
    markdownTable(columnsOf(['milliseconds', 'p50', 'p99', 'max']), [
      ['roll-up with node facts', ...[rollupMs.p50, rollupMs.p99, rollupMs.max].map(short)],
      ['its CPU', ...[rollupCpuMs.p50, rollupCpuMs.p99, rollupCpuMs.max].map(short)],
      ['CPU of a roll-up and its events', ...[cpuMs.p50, cpuMs.p99, cpuMs.max].map(short)],
    ]),
    `${whole(endRssMiB)} MiB at the end. The last line is the CPU time of the whole process from one roll-up to the next: connections, JSON, events, the roll-up and collections.`,
  ].join('\n\n');
}
