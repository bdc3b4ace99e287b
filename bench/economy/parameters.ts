// The parameters of `bench economy`, read from bench/profiles/economy.yaml. That file says what each means.

import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { numberIn, requireValid } from '../../src/runtime/validation.ts';
import { parseDocumentText } from '../../src/scenario/document.ts';

const COUNT = numberIn({ min: 1, max: 1_000_000, integer: true });
const AMOUNT = numberIn({ min: 0 });
const SHARE = numberIn({ min: 0, max: 1 });
const COUNTS = z.tuple([COUNT, COUNT]);
const SHARES = z.tuple([SHARE, SHARE]);
const ARCH = z.enum(['amd64', 'arm64']);
const LOG_NORMAL = z.strictObject({ median: AMOUNT, sigma: AMOUNT, least: AMOUNT, most: AMOUNT });
const SHAPE = { name: z.string(), arch: ARCH, cpu: AMOUNT, memory: AMOUNT, gpus: AMOUNT, price: AMOUNT };
const CYCLES = { cycleSeconds: COUNT, mostCycles: COUNT, quietCycles: COUNT };

const PARAMETERS = z.strictObject({
  name: z.string(),
  about: z.string(),
  pods: COUNT,
  clusters: z.strictObject({
    count: COUNT,
    profiles: COUNTS,
    podsPerProfileGrowth: AMOUNT,
    classes: z.array(z.strictObject({ name: z.string(), podsBelow: COUNT })),
  }),
  profiles: z.strictObject({
    zonal: SHARE,
    amd64: SHARE,
    arm64: SHARE,
    avoidsSpot: SHARE,
    priorities: z.array(z.int()),
    replicas: z.strictObject({ sigma: AMOUNT }),
    workloads: COUNTS,
    workloadSpread: AMOUNT,
  }),
  pod: z.strictObject({ cpu: LOG_NORMAL, memoryPerCpu: LOG_NORMAL }),
  gpu: z.strictObject({
    clusters: SHARE,
    profiles: COUNTS,
    pods: COUNTS,
    pod: z.strictObject({ cpu: AMOUNT, memory: AMOUNT, gpus: z.array(COUNT) }),
  }),
  catalogue: z.strictObject({
    zones: z.array(z.string()),
    families: z.array(
      z.strictObject({ name: z.string(), arch: ARCH, memoryPerCpu: AMOUNT, pricePerCpu: AMOUNT }),
    ),
    sizes: z.array(COUNT),
    gpuShapes: z.array(z.strictObject(SHAPE)),
    spot: z.strictObject({ price: SHARES, interruption: SHARES }),
    reserved: z.strictObject({ cpu: AMOUNT, cpuShare: SHARE, memory: AMOUNT, memoryShare: SHARE }),
    owned: z.array(z.strictObject({ ...SHAPE, count: COUNT, capacity: z.enum(['bare-metal', 'reserved']) })),
    quota: AMOUNT,
    largeShapes: COUNT,
  }),
  cold: z.strictObject(CYCLES),
  endToEnd: z.strictObject({ ...CYCLES, stuckSeconds: COUNT, emptySeconds: COUNT, openEpisodes: COUNT }),
  noise: z.strictObject({ cycleSeconds: COUNT, cycles: z.array(COUNT), amplitude: SHARE }),
  consolidation: z.strictObject(CYCLES),
});

export type Parameters = z.output<typeof PARAMETERS>;
export type LogNormal = z.output<typeof LOG_NORMAL>;

const FILE = `${import.meta.dirname}/../profiles/economy.yaml`;

export function loadParameters(): Parameters {
  const document = parseDocumentText(readFileSync(FILE, 'utf8'));
  if (!document.ok) throw new Error(`${FILE}: ${document.problems.map(({ message }) => message).join(' ')}`);
  return requireValid(PARAMETERS, document.value, 'BF_INPUT_INVALID', FILE);
}
