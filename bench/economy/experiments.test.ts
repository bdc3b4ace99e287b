import { describe, expect, it } from 'vitest';
import {
  catalogueOf,
  clusterOf,
  fewClusters,
  offering,
  podGroup,
  pods,
  scenarioWith,
} from '../../testing/support/economy.ts';
import { Costs } from './costs.ts';
import { runCold, runConsolidation, runEndToEnd, runNoise } from './experiments.ts';
import { htmlPage } from './html-page.ts';
import { lowerBoundOf } from './lower-bound.ts';
import { POLICIES } from './policies.ts';
import { textReport } from './report.ts';
import { runSeed } from './run.ts';
import { generateScenario, type Scenario } from './scenario.ts';

const TODAY = POLICIES['today']!;
const SILENT = (): void => {};

async function costsOf(scenario: Scenario): Promise<Costs> {
  return new Costs(scenario, await lowerBoundOf(scenario));
}

describe('the experiments', () => {
  it('given an empty fleet, then cold buys what covers the sums, and prices it', async () => {
    const scenario = scenarioWith(catalogueOf(offering(4, 16, 1)), [clusterOf('c', podGroup(pods(3, 3)))]);
    const figures = runCold(scenario, await costsOf(scenario), TODAY);
    // 9 cores on machines of 4, and 2.25 of them at least.
    expect(figures).toMatchObject({
      dollarsPerHour: 3,
      multiple: 1.333,
      machines: 3,
      cycles: 1,
      unmetRows: 0,
    });
    expect(figures.multipleBySize).toEqual({ small: 1.333 });
  });

  it('given pods that do not fit although the sum does, then an episode buys the machine they lack', async () => {
    // 2 machines cover 8 cores, but hold one pod of 2.6 cores each.
    const scenario = scenarioWith(catalogueOf(offering(4, 16, 1)), [clusterOf('c', podGroup(pods(3, 2.6)))]);
    const figures = runEndToEnd(scenario, await costsOf(scenario), TODAY, 20, SILENT);
    expect(figures).toMatchObject({ machines: 3, pendingAtFirst: 1, pendingAtEnd: 0, isQuiet: true });
    expect(figures).toMatchObject({ episodesOpened: 1, episodesOpen: 1 });
  });

  it('given no episodes, then pods that do not fit stay pending', async () => {
    const scenario = scenarioWith(catalogueOf(offering(4, 16, 1)), [clusterOf('c', podGroup(pods(3, 2.6)))]);
    const figures = runEndToEnd(scenario, await costsOf(scenario), TODAY, 0, SILENT);
    expect(figures).toMatchObject({ machines: 2, pendingAtEnd: 1, episodesOpened: 0, isQuiet: true });
  });

  it('given demand that varies, then every drain of a machine with pods is counted', async () => {
    const scenario = generateScenario(fewClusters(), 1);
    const { inUseDrainsBySize, series, spans } = runNoise(scenario, await costsOf(scenario), TODAY, SILENT);
    const [five, twenty] = spans;
    expect([five?.cycles, twenty?.cycles]).toEqual([5, 20]);
    expect(twenty!.inUseDrains).toBeGreaterThan(five!.inUseDrains);
    expect(Object.values(inUseDrainsBySize).reduce((a, b) => a + b)).toBe(twenty!.inUseDrains);
    expect(series.map(({ cycle, inUseDrains }) => [cycle, inUseDrains])).toEqual([[20, twenty!.inUseDrains]]);
  });

  it('given a fleet bought under the same policy, then nothing is left to consolidate', () => {
    const scenario = generateScenario(fewClusters(), 1);
    const { after, afterOverFresh, before, fresh, isQuiet } = runConsolidation(scenario, TODAY, TODAY);
    expect({ after, fresh, afterOverFresh, isQuiet }).toEqual({
      after: before,
      fresh: before,
      afterOverFresh: 1,
      isQuiet: true,
    });
  });

  it('given a fleet bought one machine per row, then sharing gives machines back once their hold has run out', () => {
    const groups = [0, 1, 2, 3].map((priority) => podGroup(pods(1, 1), '', priority));
    const scenario = scenarioWith(catalogueOf(offering(4, 16, 1)), [clusterOf('c', ...groups)]);
    const { after, before, fresh, isQuiet, series } = runConsolidation(scenario, POLICIES['shared']!, TODAY);
    expect({ before, after, fresh, isQuiet }).toEqual({ before: 4, after: 1, fresh: 1, isQuiet: true });
    // Cycles of a minute, a hold of ten: nothing leaves before that.
    expect(series.slice(0, 10)).toEqual(Array.from({ length: 10 }, () => 4));
  });

  it('given a seed and a part, then the result has that part, and equal runs are equal', async () => {
    const run = () => runSeed(fewClusters(), 2, new Set(['cold' as const]), ['today'], SILENT);
    const [first, second] = [await run(), await run()];
    expect(first).toEqual(second);
    expect(Object.keys(first.policies['today']!)).toEqual(['cold']);
    const result = { profile: 'economy', seeds: [first] };
    expect(textReport(result)).toContain(`| ${first.policies['today']!.cold!.machines} |`);
    const page = htmlPage(result);
    expect(page.match(/<svg/g)).toHaveLength(1);
    expect(page).not.toMatch(/<script|https?:/);
  });
});
