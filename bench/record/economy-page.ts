// Renders docs/reference/economy.md from the recorded results of `bench economy`.

import {
  consolidationTable,
  demandTable,
  noiseTable,
  seedTable,
  sizeTable,
  summaryTable,
} from '../economy/report.ts';
import { footer } from './page.ts';
import { readResults } from './results.ts';

const INTRODUCTION = `What the same pods cost under the rules of the engine, as a multiple of a lower bound, beside a packer that sees every
pod. Rendered from \`bench/results\` by \`npm run generate\`. \`npm run --silent bench -- economy --html economy.html\` measures
the present rules on one seed and draws the plots.`;

const METHOD = `The demand is generated from [economy.yaml](../../bench/profiles/economy.yaml) and a seed: 35 clusters from small to
large with 12,900 pods in 10 to 60 profiles each, sizes and numbers of pods heavy-tailed, some profiles bound to a zone, an
architecture or to machines that are not interrupted, some with GPUs. 234 offerings are 39 shapes in three zones, on demand
and spot, at list-like prices; there are 17 owned machines. Every policy sees the rows that an operator would report: the sum
of the pods of a profile, and per resource its largest pod.

| what | how |
|---|---|
| lower bound | a linear program over all clusters: fractions of machines, each row's sum divided among the offerings it may use, every resource by itself. [lower-bound.ts](../../bench/economy/lower-bound.ts) has the formulation and why no policy is below it |
| cost | dollars an hour of all machines in clusters, and of owned machines wherever they are |
| by size of cluster | the dual solution divides the bound among the clusters; owned machines are charged what the bound says they save |
| packer | pods sorted by size, first fit onto nodes that keep every offering which holds all their pods; each node becomes the cheapest of these, as Karpenter's provisioner does |
| cold | an empty fleet, cycles until nothing changes: sums are covered, pods are not placed |
| end to end | pods placed in order of priority by a model of kube-scheduler (least and balanced allocation). Pods of a met row that are pending for 5 minutes become an episode: a Need of its own with their sum and their largest, until all its machines have been empty for 2 minutes |
| noise | the pods of every row are drawn again in every cycle of 10 s, within ±5 % of the beginning, rounded at random; pods are placed, episodes are off. A drain counts if pods ran on the machine |
| consolidation | a fleet bought under \`today\`, then left alone under the policy until nothing changes, against one bought under the policy |`;

const LIMITS = `- Moves take no time: what a plan asks for has happened before the next cycle.
- The scheduler model never evicts pods for others, and knows no spread, affinity or taints. The packer treats machines with
  GPUs as tainted.
- With at most 20 open episodes in a cluster, as operators have them, today's rules do not place every pod: in large clusters
  episodes stay open because their machines are in use, and the rest of the stuck pods waits. Without the limit all pods run.
- The model's 296 drains were counted on a demand that is not known; over all clusters of this one there are about thirty times
  as many. Compare policies with each other.`;

/** docs/reference/economy.md as a whole. */
export function economyPage(): string {
  const { economy: now, 'economy-today': today } = readResults();
  return `${[
    '# Economy',
    INTRODUCTION,
    '## Now',
    'Means over the seeds. `renewed` are the defaults of a shard, `shared` the same without renewal, and `today` one row per machine,\ncheapest machine first.',
    summaryTable(now.result),
    '### By seed, now',
    seedTable(now.result, 'renewed'),
    '### By size of cluster, now',
    'Multiples of the lower bound; small has fewer than 100 pods, medium fewer than 500.',
    sizeTable(now.result),
    '### Noise, now',
    noiseTable(now.result),
    '### Consolidation, now',
    'A fleet that was bought under `today`, left alone under each policy.',
    consolidationTable(now.result),
    footer(now),
    '## Before rows shared machines',
    'The engine of commit 59a4487, before any of its rules changed; the present `--policy today` differs from it in one rule, which\nmatters end to end: a row takes machines of another row only if its largest pod fits them.',
    'Means over the seeds. The model is an earlier calculation of the rules, on one seed of a demand of its own, from which the\ngoals come; a goal applies as it is where measured ÷ model is within 10 % of 1.',
    summaryTable(today.result),
    '### By seed',
    demandTable(today.result),
    seedTable(today.result, 'today'),
    '### By size of cluster',
    'Multiples of the lower bound; small has fewer than 100 pods, medium fewer than 500.',
    sizeTable(today.result),
    '### Noise',
    noiseTable(today.result),
    '### Consolidation',
    'A fleet that was bought under a policy has nothing to consolidate under it.',
    consolidationTable(today.result),
    footer(today),
    '## Method',
    METHOD,
    '## Limits',
    LIMITS,
  ].join('\n\n')}\n`;
}
