// Runs the wanted parts of `bench economy` on one seed.

import { amountsOf } from './amounts.ts';
import { Costs } from './costs.ts';
import { podsIn } from './demand.ts';
import { type Report, runCold, runConsolidation, runEndToEnd, runNoise } from './experiments.ts';
import { type PolicyFigures, rounded, type SeedFigures } from './figures.ts';
import { lowerBoundOf } from './lower-bound.ts';
import { pack } from './packer.ts';
import type { Parameters } from './parameters.ts';
import { POLICIES } from './policies.ts';
import { type CatalogueName, generateScenario, type Scenario, totalOf } from './scenario.ts';

export const PARTS = ['cold', 'large-shapes', 'end-to-end', 'noise', 'consolidation'] as const;
export type Part = (typeof PARTS)[number];

/** A scenario with its lower bound. */
interface Priced {
  readonly scenario: Scenario;
  readonly costs: Costs;
}

export async function runSeed(
  parameters: Parameters,
  seed: number,
  parts: ReadonlySet<Part>,
  policies: readonly string[],
  report: Report,
): Promise<SeedFigures> {
  report(`seed ${seed}: lower bounds`);
  const all = await priced(parameters, seed, 'all');
  const large = await priced(parameters, seed, 'large');
  const figures: Record<string, PolicyFigures> = {};
  for (const name of policies) {
    figures[name] = runPolicy(all, large, name, parts, (text) => report(`seed ${seed}, ${name}: ${text}`));
  }
  return {
    seed,
    demand: demandFigures(all),
    lowerBound: { all: dollarsOf(all), large: dollarsOf(large) },
    packer: { all: packed(all), large: packed(large) },
    policies: figures,
  };
}

async function priced(parameters: Parameters, seed: number, name: CatalogueName): Promise<Priced> {
  const scenario = generateScenario(parameters, seed, name);
  return { scenario, costs: new Costs(scenario, await lowerBoundOf(scenario)) };
}

function dollarsOf({ costs }: Priced): number {
  return rounded(costs.lowerBound.dollarsPerHour, 2);
}

function packed({ costs, scenario }: Priced): SeedFigures['packer']['all'] {
  return costs.ofPacked(pack(scenario));
}

function runPolicy(
  all: Priced,
  large: Priced,
  name: string,
  parts: ReadonlySet<Part>,
  report: Report,
): PolicyFigures {
  const policy = POLICIES[name]!;
  const [old] = Object.values(POLICIES);
  const { scenario, costs } = all;
  const { openEpisodes } = scenario.parameters.endToEnd;
  const say =
    (part: string): Report =>
    (text) =>
      report(`${part}, ${text}`);
  report('cold');
  return {
    ...(parts.has('cold') && { cold: runCold(scenario, costs, policy) }),
    ...(parts.has('large-shapes') && { largeShapes: runCold(large.scenario, large.costs, policy) }),
    ...(parts.has('end-to-end') && {
      endToEnd: runEndToEnd(scenario, costs, policy, openEpisodes, say('end to end')),
      endToEndUnlimited: runEndToEnd(
        scenario,
        costs,
        policy,
        Number.POSITIVE_INFINITY,
        say('end to end without limit'),
      ),
    }),
    ...(parts.has('noise') && { noise: runNoise(scenario, costs, policy, say('noise')) }),
    ...(parts.has('consolidation') && { consolidation: runConsolidation(scenario, policy, old!) }),
  };
}

function demandFigures({ costs, scenario: { catalogue, demand } }: Priced): SeedFigures['demand'] {
  const total = totalOf(demand);
  const units = amountsOf(1, 1, 1);
  return {
    clusters: demand.length,
    rows: demand.reduce((sum, { groups }) => sum + groups.length, 0),
    pods: demand.reduce((sum, cluster) => sum + podsIn(cluster), 0),
    cores: Math.round(total[0] / units[0]),
    memoryGiB: Math.round(total[1] / units[1]),
    gpus: total[2],
    offerings: catalogue.filter(({ owned }) => owned === null).length,
    ownedMachines: catalogue.reduce((sum, { owned }) => sum + (owned ?? 0), 0),
    clustersBySize: costs.bySize(() => 1),
  };
}
