// Scenario files, the input of `bigfleet decide`: a fleet, its demand and the options of one decision as text, and a
// plan as JSON.

export { planJson } from './plan-json.ts';

export type { EngineOptions } from './scenario.ts';
export { parseScenario } from './scenario.ts';
