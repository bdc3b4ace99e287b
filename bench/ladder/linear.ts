// Does a Need of a large fleet cost what a Need of a small one costs? The same workload in three sizes, each a tenfold of
// the one before, side by side.

import type { Regime } from '../../src/sim/index.ts';
import type { RungName } from './climb.ts';
import type { RungResult } from './measure.ts';
import { short } from './report.ts';

const SIZES = ['uber-5k', 'uber-50k', 'uber-500k'];

/** A Need of the largest fleet may cost so many times one of the smallest: caches are of a fixed size, fleets are not. */
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
