// The `cost-routing` catalogue: two workloads that differ only in their interruption penalty. Spot at $0.30 with 30 %
// and on-demand at $1.00 with 5 % cost the same at a penalty of (1.0 − 0.3) ÷ (0.30 − 0.05) = $2.80, so the one with
// the lower penalty must end on spot and the one at $8 on on-demand.

import {
  type Archetype,
  archetype,
  BARE_METAL,
  type Catalogue,
  GI,
  ON_DEMAND,
  SPOT,
  size,
} from './catalogue.ts';

function routed(name: string, interruptionDollars: number): Archetype {
  return archetype({
    name,
    weight: 100,
    instanceTypes: ['c6i.4xlarge', 'm6i.2xlarge'],
    sizes: [size(100, 4000, 8 * GI)],
    priorities: [100],
    interruptionDollars,
    podsPerMachine: 100,
  });
}

export const COST_ROUTING: Catalogue = {
  name: 'cost-routing',
  owned: BARE_METAL,
  slots: [ON_DEMAND, SPOT],
  archetypes: [routed('tolerant', 0), routed('sensitive', 8)],
};
