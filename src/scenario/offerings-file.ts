// What a fake cloud sells, from a file in JSON or YAML:
//
//   offerings:
//     - name: small-spot
//       instanceType: m7.large
//       capacityType: spot
//       pricePerHour: 0.04
//       interruptionProbability: 0.05
//       resources: { cpu: 2, memory: 8Gi }
//       zones: [zone-a, zone-b]

import { CapacityType, ok, type Problem, type Result, refused } from '../model/index.ts';
import type { CatalogueEntry } from '../provider/index.ts';
import { parseDocumentText } from './document.ts';
import { Fields, type NumberRule } from './fields.ts';
import { CAPACITY_TYPE_NAMES } from './names.ts';
import { nameIn } from './scenario-machine.ts';

const WEIGHT: NumberRule = { min: 1, max: 1000, integer: true };

export function parseOfferingsFile(text: string): Result<readonly CatalogueEntry[]> {
  const document = parseDocumentText(text);
  if (!document.ok) return document;
  const problems: Problem[] = [];
  const fields = new Fields(document.value, '', problems);
  const entries = fields.objects('offerings').map(readEntry);
  if (entries.length === 0) fields.say('offerings', 'There must be at least one.');
  const names = entries.map(({ name }) => name);
  for (const [i, name] of names.entries()) {
    if (names.indexOf(name) !== i) fields.say(`offerings[${i}].name`, 'Another offering has this name.');
  }
  fields.done();
  return problems.length === 0 ? ok(entries) : refused(problems);
}

function readEntry(fields: Fields): CatalogueEntry {
  const capacityType = nameIn(
    fields,
    'capacityType',
    CAPACITY_TYPE_NAMES,
    CapacityType.OnDemand,
    'BF_MACHINE_CAPACITY_TYPE_UNKNOWN',
  );
  const instanceType = fields.text('instanceType');
  const entry: CatalogueEntry = {
    name: fields.text('name', instanceType),
    instanceType,
    capacityType,
    pricePerHour: fields.number('pricePerHour', 0, { min: 0, max: Number.MAX_VALUE }),
    interruptionProbability: fields.number('interruptionProbability', 0, { min: 0, max: 1 }),
    resources: fields.resources('resources', 'down'),
    allocatable: fields.resources('allocatable', 'down'),
    zones: fields.textList('zones') ?? ['zone-a'],
    racksPerZone: fields.number('racksPerZone', 8, WEIGHT),
    labels: fields.texts('labels'),
    weight: fields.number('weight', 1, WEIGHT),
    isOwned: fields.flag('owned', capacityType === CapacityType.BareMetal),
  };
  if (instanceType === '') fields.say('instanceType', 'There is none.', 'BF_OFFERING_TYPE');
  if (entry.zones.length === 0 || entry.zones.includes('')) {
    fields.say('zones', 'There must be at least one, each with a name.', 'BF_OFFERING_ZONE');
  }
  if (capacityType === CapacityType.Spot && entry.interruptionProbability === 0) {
    const message = 'Spot capacity can always be interrupted.';
    fields.say('interruptionProbability', message, 'BF_MACHINE_PROBABILITY');
  }
  fields.done();
  return entry;
}
