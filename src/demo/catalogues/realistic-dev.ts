// The `realistic-dev` catalogue: every kind of workload of `realistic` in a fleet of a few hundred machines. Weights
// are flat enough that each kind shows up; accelerators come with one device each and gangs are smaller. The demand of
// the demo is drawn from it.

import type { Archetype, Catalogue } from './catalogue.ts';
import { REALISTIC } from './realistic.ts';

/** What differs from `realistic`, by archetype; one that is not listed is left out. */
const CHANGES: Readonly<Record<string, Partial<Archetype>>> = {
  'tiny-stateless': { weight: 40 },
  'cpu-service': { weight: 15 },
  'cpu-batch': { weight: 10 },
  'memory-cache': { weight: 8 },
  'stateful-db': { weight: 8 },
  'gpu-inference': { weight: 5, instanceTypes: ['a3-highgpu-1g', 'a2-highgpu-1g'], podsPerMachine: null },
  'gpu-training-small': { weight: 8, gang: { domain: 'rack', pods: [2, 4] } },
  'gpu-training-medium': { weight: 6, gang: { domain: 'zone', pods: [4, 8] } },
  'critical-realtime': { weight: 3 },
};

export const REALISTIC_DEV: Catalogue = {
  ...REALISTIC,
  name: 'realistic-dev',
  archetypes: REALISTIC.archetypes
    .filter(({ name }) => CHANGES[name] !== undefined)
    .map((archetype) => ({ ...archetype, ...CHANGES[archetype.name] })),
};
