// The experiments of `bench economy` with one policy on one scenario. Each begins with a fleet of its own.

import { Random } from '../../src/runtime/random.ts';
import { ClosedLoop, type CycleFigures } from './closed-loop.ts';
import type { Costs } from './costs.ts';
import { uniform } from './draws.ts';
import {
  type ColdFigures,
  type ConsolidationFigures,
  type EndToEndFigures,
  type NoiseFigures,
  type NoisePoint,
  rounded,
} from './figures.ts';
import type { Parameters } from './parameters.ts';
import type { Policy } from './policies.ts';
import type { Scenario } from './scenario.ts';
import { SimulatedFleet } from './simulated-fleet.ts';

/** Called with the state of a run that takes more than a moment. */
export type Report = (text: string) => void;

const NOISE_STREAM = 103;
/** Of cycles in a series; the plots need no more. */
const SERIES_STEP = 20;

/** An empty fleet, until a plan is empty: every row's sum is covered, whether its pods would fit or not. */
export function runCold(scenario: Scenario, costs: Costs, policy: Policy): ColdFigures {
  const fleet = new SimulatedFleet(scenario);
  const { cycles, unmetRows } = settle(fleet, policy, scenario.parameters.cold);
  return { ...costs.ofHosts(fleet.hosts.values()), cycles, unmetRows };
}

/** Every pod placed by the scheduler model, with episodes for those that do not fit, until nothing moves. */
export function runEndToEnd(
  scenario: Scenario,
  costs: Costs,
  policy: Policy,
  openEpisodes: number,
  report: Report,
): EndToEndFigures {
  const { cycleSeconds, mostCycles, quietCycles } = scenario.parameters.endToEnd;
  const loop = new ClosedLoop(scenario, policy, { cycleSeconds, openEpisodes });
  let pendingAtFirst = 0;
  let last: CycleFigures | undefined;
  let cycles = 0;
  let unchanged = 0;
  for (; cycles < mostCycles && unchanged < quietCycles; cycles++) {
    last = loop.cycle();
    if (cycles === 0) pendingAtFirst = last.pendingPods;
    unchanged = last.isChanged ? 0 : unchanged + 1;
    report(`cycle ${cycles}, ${last.pendingPods} pods pending, ${loop.openEpisodes} episodes`);
  }
  return {
    ...costs.ofHosts(loop.fleet.hosts.values()),
    cycles,
    isQuiet: unchanged >= quietCycles,
    pendingAtFirst,
    pendingAtEnd: last?.pendingPods ?? 0,
    episodesOpened: loop.openedEpisodes,
    episodesOpen: loop.openEpisodes,
  };
}

/**
 * A settled fleet with demand that never rests: the number of pods of every row is drawn again in every cycle, uniformly
 * within the amplitude around the number it began with, and rounded at random so that small rows vary as well. Operators do
 * not react to stuck pods here.
 */
export function runNoise(scenario: Scenario, costs: Costs, policy: Policy, report: Report): NoiseFigures {
  const { amplitude, cycles: spans, cycleSeconds } = scenario.parameters.noise;
  const loop = new ClosedLoop(scenario, policy, { cycleSeconds, openEpisodes: 0 });
  const random = new Random(scenario.seed, NOISE_STREAM);
  for (let i = 0; i < scenario.parameters.cold.mostCycles; i++) if (!loop.cycle().isChanged) break;
  const drains = scenario.demand.map(() => 0);
  const series: NoisePoint[] = [];
  const reached: NoiseFigures['spans'][number][] = [];
  let dollars = 0;
  for (let cycle = 1; cycle <= Math.max(...spans); cycle++) {
    for (const [i, { groups }] of scenario.demand.entries()) {
      for (const group of groups) {
        const wanted = group.pods.length * (1 + uniform(random, -amplitude, amplitude));
        const whole = Math.floor(wanted) + (random.chance(wanted - Math.floor(wanted)) ? 1 : 0);
        loop.resize(i, group, Math.max(1, whole));
      }
    }
    const { dollarsPerHour, inUseDrains, pendingPods } = loop.cycle();
    for (const [i, count] of inUseDrains.entries()) drains[i]! += count;
    dollars += dollarsPerHour;
    const total = drains.reduce((a, b) => a + b, 0);
    if (cycle % SERIES_STEP === 0)
      series.push({ cycle, multiple: costs.multiple(dollarsPerHour), inUseDrains: total, pendingPods });
    if (spans.includes(cycle)) {
      reached.push({
        cycles: cycle,
        inUseDrains: total,
        inMedianCluster: drains[Math.floor(drains.length / 2)]!,
        meanMultiple: costs.multiple(dollars / cycle),
      });
    }
    report(`cycle ${cycle}, ${total} drains of machines in use`);
  }
  return { spans: reached, inUseDrainsBySize: costs.bySize((_, i) => drains[i]!), series };
}

/** A fleet bought under an old policy, then left alone under this one until nothing changes any more. */
export function runConsolidation(scenario: Scenario, policy: Policy, old: Policy): ConsolidationFigures {
  const { cold, consolidation } = scenario.parameters;
  const fresh = new SimulatedFleet(scenario);
  settle(fresh, policy, cold);
  const fleet = new SimulatedFleet(scenario);
  settle(fleet, old, cold);
  const before = fleet.dollarsPerHour;
  const series: number[] = [];
  const { cycles, isQuiet } = settle(fleet, policy, consolidation, () => {
    series.push(rounded(fleet.dollarsPerHour, 2));
  });
  const after = fleet.dollarsPerHour;
  return {
    before: rounded(before, 2),
    after: rounded(after, 2),
    fresh: rounded(fresh.dollarsPerHour, 2),
    afterOverFresh: rounded(after / fresh.dollarsPerHour),
    cycles,
    isQuiet,
    series,
  };
}

interface Settled {
  /** Until the last change. */
  readonly cycles: number;
  readonly isQuiet: boolean;
  readonly unmetRows: number;
}

/** Runs cycles until nothing has changed for `quietCycles`. */
function settle(
  fleet: SimulatedFleet,
  policy: Policy,
  { cycleSeconds, mostCycles, quietCycles }: Parameters['cold'],
  afterCycle: () => void = () => {},
): Settled {
  let unmetRows = 0;
  let lastChange = 0;
  for (let cycle = 1; cycle <= mostCycles; cycle++) {
    const actions = fleet.step(policy, cycleSeconds * 1000, ({ unmet }) => {
      unmetRows = unmet.length;
    });
    if (actions.length > 0) lastChange = cycle;
    const isQuiet = cycle - lastChange >= quietCycles;
    if (!isQuiet) afterCycle();
    if (isQuiet) return { cycles: lastChange, isQuiet, unmetRows };
  }
  return { cycles: lastChange, isQuiet: false, unmetRows };
}
