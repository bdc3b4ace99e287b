// Shrinks a failing plan while it still shows the same fault: fewer events, less weather, a shorter storm, fewer rows
// and clusters. The order of attempts is fixed, so a seed always shrinks to the same plan. Used by soak.ts.

import type { WorldPlan } from './plan.ts';

export type StillFails = (plan: WorldPlan) => Promise<boolean>;

export async function shrinkPlan(plan: WorldPlan, stillFails: StillFails): Promise<WorldPlan> {
  let smallest = plan;
  for (let before: WorldPlan | null = null; before !== smallest; ) {
    before = smallest;
    smallest = await withFewerEvents(smallest, stillFails);
    for (const simpler of simplifications(smallest))
      if (await stillFails({ ...smallest, ...simpler })) smallest = { ...smallest, ...simpler };
    smallest = await withFewerRows(smallest, stillFails);
  }
  return smallest;
}

/** Tries to leave out halves, then quarters, and so on down to single events. */
async function withFewerEvents(plan: WorldPlan, stillFails: StillFails): Promise<WorldPlan> {
  let smallest = plan;
  for (let size = Math.ceil(plan.events.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < smallest.events.length; ) {
      const fewer = { ...smallest, events: smallest.events.toSpliced(from, size) };
      if (await stillFails(fewer)) smallest = fewer;
      else from += size;
    }
  }
  return smallest;
}

function simplifications(plan: WorldPlan): readonly Partial<WorldPlan>[] {
  const { weather, clouds, events, stormMs, tailCrashMs, maxActionsPerCycle, renewal, shared } = plan;
  const lastMs = Math.max(5000, ...events.map(({ atMs, forMs }) => atMs + forMs));
  const stillWeather = { lostCalls: 0, lostAnswers: 0, doubled: 0, blocked: 0, partialLists: 0, stalls: 0 };
  const simpler: Partial<WorldPlan>[] = Object.entries(stillWeather)
    .filter(([name]) => weather[name as keyof typeof stillWeather] > 0)
    .map(([name]) => ({ weather: { ...weather, [name]: 0 } }));
  for (const [name, value] of Object.entries(clouds))
    if (value > 0) simpler.push({ clouds: { ...clouds, [name]: 0 } });
  // The rows keep what they want, so a fault that remains without sharing shows in the same fleet.
  if (shared !== null) simpler.push({ shared: null, renewal: null });
  if (renewal !== null) simpler.push({ renewal: null });
  if (tailCrashMs !== null) simpler.push({ tailCrashMs: null });
  if (maxActionsPerCycle > 0) simpler.push({ maxActionsPerCycle: 0 });
  if (lastMs < stormMs) simpler.push({ stormMs: lastMs });
  return simpler;
}

async function withFewerRows(plan: WorldPlan, stillFails: StillFails): Promise<WorldPlan> {
  let smallest = plan;
  for (let number = plan.clusters.length - 1; number >= 0; number--) {
    // The tail needs two clusters.
    if (number >= 2 && number === smallest.clusters.length - 1) {
      const fewer = { ...smallest, clusters: smallest.clusters.slice(0, number) };
      if (await stillFails(fewer)) {
        smallest = fewer;
        continue;
      }
    }
    for (let row = smallest.clusters[number]!.rows.length - 1; row >= 0; row--) {
      const clusters = smallest.clusters.map((cluster, i) =>
        i === number ? { ...cluster, rows: cluster.rows.toSpliced(row, 1) } : cluster,
      );
      if (await stillFails({ ...smallest, clusters })) smallest = { ...smallest, clusters };
    }
  }
  return smallest;
}
