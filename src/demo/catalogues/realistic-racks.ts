// The `realistic-racks` catalogue: `realistic` with caches and databases so large that two pods fill a machine. A group
// of three or four then never fits on one machine, so that no group folds and every one of them is a gang of its own.

import type { Archetype, Catalogue } from './catalogue.ts';
import { REALISTIC } from './realistic.ts';

const SPREAD_OUT: Partial<Archetype> = { gang: { domain: 'rack', pods: [3, 4] }, podsPerMachine: 2 };

export const REALISTIC_RACKS: Catalogue = {
  ...REALISTIC,
  name: 'realistic-racks',
  archetypes: REALISTIC.archetypes.map((archetype) =>
    archetype.name === 'memory-cache' || archetype.name === 'stateful-db'
      ? { ...archetype, ...SPREAD_OUT }
      : archetype,
  ),
};
