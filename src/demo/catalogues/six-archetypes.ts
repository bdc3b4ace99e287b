// The `six-archetypes` catalogue: the first mix of the reference implementation (its decision record 15), which its
// aggregated runs and most of its micro-benchmarks were made with. Pods are large; with a density of one, each has a
// machine to itself.

import { archetype, BARE_METAL, type Catalogue, GI, ON_DEMAND, size } from './catalogue.ts';

export const SIX_ARCHETYPES: Catalogue = {
  name: 'six-archetypes',
  owned: BARE_METAL,
  slots: [ON_DEMAND],
  archetypes: [
    archetype({
      name: 'gpu-training',
      weight: 5,
      instanceTypes: ['a3-highgpu-8g'],
      sizes: [size(70, 0, 0, 8), size(30, 0, 0, 16)],
      priorities: [1000],
      interruptionDollars: 65536,
      reclamationDollars: 65536,
      gang: { domain: 'rack', pods: [2, 8] },
    }),
    archetype({
      name: 'gpu-inference',
      weight: 15,
      instanceTypes: ['a3-highgpu-1g', 'a2-highgpu-1g'],
      sizes: [size(60, 0, 0, 1), size(40, 0, 0, 2)],
      priorities: [100, 1000],
      interruptionDollars: 4096,
      reclamationDollars: 8192,
    }),
    archetype({
      name: 'cpu-batch',
      weight: 35,
      instanceTypes: ['c6i.4xlarge', 'c6i.8xlarge', 'n2-standard-32'],
      sizes: [
        size(30, 4000, 8 * GI),
        size(35, 8000, 16 * GI),
        size(25, 16_000, 32 * GI),
        size(10, 32_000, 64 * GI),
      ],
      priorities: [100],
      interruptionDollars: 64,
      reclamationDollars: 256,
      lifetimeSeconds: 600,
    }),
    archetype({
      name: 'cpu-service',
      weight: 30,
      instanceTypes: ['m6i.large', 'm6i.xlarge', 'm6i.2xlarge'],
      sizes: [
        size(40, 2000, 8 * GI),
        size(35, 4000, 16 * GI),
        size(20, 8000, 32 * GI),
        size(5, 16_000, 64 * GI),
      ],
      priorities: [1000],
      interruptionDollars: 1024,
      reclamationDollars: 8192,
    }),
    archetype({
      name: 'memory-db',
      weight: 10,
      instanceTypes: ['r6i.xlarge', 'r6i.2xlarge'],
      zones: ['a', 'b'],
      sizes: [size(50, 4000, 32 * GI), size(30, 4000, 64 * GI), size(20, 8000, 128 * GI)],
      priorities: [1000],
      interruptionDollars: 4096,
      reclamationDollars: 32768,
      gang: { domain: 'rack', pods: [3, 5] },
    }),
    archetype({
      name: 'critical-realtime',
      weight: 5,
      instanceTypes: ['c6i.4xlarge', 'm6i.2xlarge'],
      sizes: [size(70, 8000, 16 * GI), size(30, 16_000, 32 * GI)],
      priorities: [1_000_000],
      interruptionDollars: 65536,
      reclamationDollars: 65536,
    }),
  ],
};
