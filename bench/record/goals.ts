// The goals that the README states, and the recorded figure that each is compared with, for the tables of page.ts. A
// page calls a goal met only by `isMet`. Limits that a change may not exceed are separate: the `thresholds` of a
// profile.

import type { RecordedShard, Results } from './results.ts';

export interface Goal {
  readonly what: string;
  /** The quantile that is compared with the goal. */
  readonly quantile: 'p50' | 'p99';
  readonly goalMs: number;
  readonly measured: (results: Results) => { readonly p50: number; readonly p99?: number };
}

const LADDER: readonly (readonly [what: string, profile: string, regime: string, goalMs: number])[] = [
  ['cycle, 500,000 machines, 50 clusters, about 800 Needs', 'scaleway-500k', 'full', 5],
  ['cycle, 20 clusters, 7,759 Needs', 'uber-5k', 'full', 2],
  ['cycle, 200 clusters, 77,600 Needs', 'uber-50k', 'full', 10],
  ['cycle, 2,000 clusters, 776,000 Needs', 'uber-500k', 'full', 100],
  ['the same fleet under churn', 'uber-500k', 'churn', 30],
];

const SHARD: readonly (readonly [
  what: string,
  name: 'shard-200' | 'shard-2000',
  figure: keyof RecordedShard & ('ackMs' | 'lagMs' | 'cycleMs'),
  goalMs: number,
])[] = [
  ['roll-up to ack over gRPC, 200 clusters', 'shard-200', 'ackMs', 100],
  ['lag of the session thread, 200 clusters', 'shard-200', 'lagMs', 50],
  ['roll-up to ack over gRPC, 2,000 clusters', 'shard-2000', 'ackMs', 1000],
  ['cycle of that shard', 'shard-2000', 'cycleMs', 1000],
];

export const GOALS: readonly Goal[] = [
  ...LADDER.map(([what, profile, regime, goalMs]) => ({
    what,
    quantile: 'p99' as const,
    goalMs,
    measured: ({ ladder }: Results) => {
      const rung = ladder.result.find((each) => each.profile === profile && each.regime === regime)?.result;
      if (rung === null || rung === undefined)
        throw new Error(`bench/results/ladder.json lacks ${profile} ${regime}`);
      return rung.cycleMs;
    },
  })),
  ...SHARD.map(([what, name, figure, goalMs]) => ({
    what,
    quantile: 'p99' as const,
    goalMs,
    measured: (results: Results) => results[name].result[figure],
  })),
  {
    what: 'ack of a neighbour while 20 clusters send the worst frames',
    quantile: 'p99',
    goalMs: 200,
    measured: (results) => results['worst-frames'].result.attacks[0]!.during.ackMs,
  },
  {
    what: 'slowest command, installed package',
    quantile: 'p50',
    goalMs: 300,
    measured: (results) => slowestCommand(results, 'package'),
  },
  {
    what: 'slowest command, checkout',
    quantile: 'p50',
    goalMs: 600,
    measured: (results) => slowestCommand(results, 'checkout'),
  },
];

export function isMet({ goalMs, measured, quantile }: Goal, results: Results): boolean {
  return (measured(results)[quantile] ?? Number.POSITIVE_INFINITY) <= goalMs;
}

function slowestCommand({ startup }: Results, place: string): { readonly p50: number } {
  const cases = startup.result.places.find((each) => each.place === place)?.cases ?? [];
  return { p50: Math.max(...cases.map(({ ms }) => ms.p50)) };
}
