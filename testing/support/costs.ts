// Test support: a cost as the API returns it, from the parts that are not 0. Imported by tests only.

import { COST_PARTS, type CostPart, type CostView } from '../../src/shard/telemetry/cost.ts';

export function aCost(parts: Partial<Record<CostPart, number>>): CostView {
  const byPart = Object.fromEntries(COST_PARTS.map((part) => [part, parts[part] ?? 0]));
  const perHour = Object.values(byPart).reduce((sum, part) => sum + part, 0);
  return { perHour, byPart: byPart as Record<CostPart, number> };
}
