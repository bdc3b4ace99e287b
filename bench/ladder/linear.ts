// `bench ladder --linear`: whether the cost of a Need is independent of the size of the fleet. Compares the same
// workload in three sizes, each ten times the one before.

import type { Regime } from '../../testing/workload/regimes.ts';
import { short } from '../record/markdown.ts';
import type { RungResult } from './measure.ts';
import type { RungName } from './rung-process.ts';

const SIZES = ['uber-5k', 'uber-50k', 'uber-500k'];

/** Maximum cost per Need of the largest fleet relative to the smallest. Above 1, because caches have a fixed size. */
const ALLOWED = 2;

export interface LinearRow {
  readonly profile: string;
  readonly needs: number;
  readonly cycleMs: number;
  /** The median, and the 99th percentile over the cycles. */
  readonly perNeedUs: { readonly p50: number; readonly p99: number };
  /** Median ÷ that of the smallest fleet. */
  readonly ratio: number;
}

export interface Linearity {
  readonly regime: string;
  readonly rows: readonly LinearRow[];
  readonly allowed: number;
  readonly met: boolean;
}

export function linearRungs(regime: string | undefined): readonly RungName[] {
  return SIZES.map((profile) => ({ profile, regime: (regime ?? 'full') as Regime }));
}

export function linearityOf(results: readonly RungResult[]): Linearity {
  const p50 = ({ needs, phasesMs }: RungResult): number => {
    return ((phasesMs.normalise + phasesMs.credit + phasesMs.acquire) * 1000) / needs;
  };
  const rows = results.map((result) => ({
    profile: result.profile,
    needs: result.needs,
    cycleMs: result.cycleMs.p50,
    perNeedUs: { p50: p50(result), p99: result.perNeedUs },
    ratio: p50(result) / p50(results[0]!),
  }));
  const met = rows.length === SIZES.length && rows.every(({ ratio }) => ratio <= ALLOWED);
  return { regime: results[0]?.regime ?? '', rows, allowed: ALLOWED, met };
}

export function linearityTable({ allowed, met, regime, rows }: Linearity): string {
  const lines = rows.map(({ cycleMs, needs, perNeedUs, profile, ratio }) => {
    const cells = [
      needs.toLocaleString('en'),
      short(cycleMs),
      short(perNeedUs.p50),
      short(perNeedUs.p99),
      short(ratio),
    ];
    return `| ${profile} | ${cells.join(' | ')} |`;
  });
  return [
    `| ${regime} | Needs | cycle p50 ms | µs/Need p50 | µs/Need p99 | × smallest |`,
    '| --- | ---: | ---: | ---: | ---: | ---: |',
    ...lines,
    '',
    `At most ${allowed} × the smallest: ${met ? 'met' : '**not met**'}.`,
  ].join('\n');
}
