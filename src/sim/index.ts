// The public words of the simulation room: scenario files in and out, and a plan as JSON.

export type { CostJson, NeedJson, PlanJson } from './plan-json.ts';
export { canonicalJson, planJson } from './plan-json.ts';
export type { EngineOptions, Scenario } from './scenario.ts';
export {
  DEFAULT_ENGINE_OPTIONS,
  DEFAULT_RELEASE_HOLD_SECONDS,
  parseScenario,
  readScenario,
} from './scenario.ts';
export { writeScenario } from './scenario-write.ts';
