// Means over the seeds of a result, and the figures of the model that the goals were set with. Reports, the HTML page and
// docs/reference/economy.md take their numbers from here.

import { type EconomyResult, type PolicyFigures, rounded, type SeedFigures } from './figures.ts';

export interface Goal {
  readonly about: string;
  readonly isMet: (value: number, result: EconomyResult) => boolean;
}

/** One row of the comparison. */
export interface Measure {
  readonly name: string;
  readonly about: string;
  /** What a model of the rules without sharing found, on one seed of its own demand; null if it has no such figure. */
  readonly modelled: number | null;
  /** What the policy with all rules is to reach; null if there is no goal. */
  readonly goal: Goal | null;
  /** Undefined where the part was not run. */
  readonly of: (figures: PolicyFigures) => number | undefined;
}

export const MEASURES: readonly Measure[] = [
  {
    name: 'cold',
    about: 'cold, sums covered',
    modelled: 1.6,
    goal: atMost(1.2),
    of: ({ cold }) => cold?.multiple,
  },
  {
    name: 'large-shapes',
    about: 'cold, only shapes of 16 cores and more',
    modelled: 2.47,
    goal: atMost(1.4),
    of: ({ largeShapes }) => largeShapes?.multiple,
  },
  {
    name: 'end-to-end',
    about: 'end to end, at most 20 open episodes in a cluster',
    modelled: 2.35,
    goal: {
      about: '1.45, and at most the packer',
      isMet: (value, result) => value <= 1.45 && value <= (packed(result) ?? 0),
    },
    of: ({ endToEnd }) => endToEnd?.multiple,
  },
  {
    name: 'end-to-end-unlimited',
    about: 'end to end, any number of episodes: every pod runs',
    modelled: 2.35,
    goal: null,
    of: ({ endToEndUnlimited }) => endToEndUnlimited?.multiple,
  },
  {
    name: 'noise-multiple',
    about: 'cost under noise, mean of 500 cycles',
    modelled: null,
    goal: null,
    of: ({ noise }) => noise?.spans.at(-1)?.meanMultiple,
  },
  {
    name: 'drains-fleet',
    about: 'drains of machines in use under noise, 280 cycles, all clusters',
    modelled: null,
    goal: { about: 'a tenth of today', isMet: (value, result) => value <= drainsToday(result) / 10 },
    of: drainsOf,
  },
  {
    name: 'drains',
    about: 'the same drains, in the cluster of median size',
    modelled: 296,
    goal: null,
    of: ({ noise }) => noise?.spans[0]?.inMedianCluster,
  },
  {
    name: 'consolidation',
    about: 'an old fleet left alone, over a fresh one',
    modelled: null,
    goal: atMost(1.05),
    of: ({ consolidation }) => consolidation?.afterOverFresh,
  },
];

function atMost(most: number): Goal {
  return { about: most.toFixed(2), isMet: (value) => value <= most };
}

function drainsOf({ noise }: PolicyFigures): number | undefined {
  return noise?.spans[0]?.inUseDrains;
}

/** Drains under the policy that others are compared with; not a number if it was not run. */
function drainsToday(result: EconomyResult): number {
  return meanOf(result, ({ policies }) => drainsOf(policies['today'] ?? {})) ?? Number.NaN;
}

/** The mean of the packer that sees every pod. */
export function packed(result: EconomyResult): number | undefined {
  return meanOf(result, ({ packer }) => packer.all.multiple);
}

/** The least and the most that a believable packer of pods costs, as multiples of the lower bound. */
export const PACKER_RANGE = [1.38, 1.75] as const;
/** What the packer of the model cost on a catalogue of shapes of 16 cores and more. */
export const PACKER_LARGE = 1.46;

export function policyNames({ seeds }: EconomyResult): string[] {
  return Object.keys(seeds[0]?.policies ?? {});
}

/** The mean over all seeds that have the figure; undefined if none has. */
export function meanOf(
  { seeds }: EconomyResult,
  figureOf: (figures: SeedFigures) => number | undefined,
): number | undefined {
  const values = seeds.map(figureOf).filter((value) => value !== undefined);
  if (values.length === 0) return undefined;
  return rounded(values.reduce((a, b) => a + b, 0) / values.length);
}

export function measured(result: EconomyResult, policy: string, { of }: Measure): number | undefined {
  return meanOf(result, ({ policies }) => of(policies[policy] ?? {}));
}
