// Catalogues of offerings, in JSON or YAML: the file of `bigfleet provider fake --offerings` and of `bigfleet assess
// --catalogue`. Where the prices come from is for the latter, which reports it:
//
//   source: npm package some-prices 1.2.3   # a package registry, package and version
//   date: 2026-01-31
//   invented: false
//   offerings:
//     - name: small-spot
//       instanceType: m7.large
//       capacityType: spot
//       pricePerHour: 0.04
//       interruptionProbability: 0.05
//       resources: { cpu: 2, memory: 8Gi }
//       zones: [zone-a, zone-b]

import * as z from 'zod';
import { CapacityType, ok, type Problem, type Result, refused } from '../model/index.ts';
import type { CatalogueEntry } from '../provider/index.ts';
import { given, numberIn, validateRecord } from '../runtime/validation.ts';
import { parseDocumentText } from './document.ts';
import { CAPACITY_TYPE_NAMES } from './enum-names.ts';
import { LABELS, nameIn, SUPPLY, TEXT } from './value-schemas.ts';

const WEIGHT = numberIn({ min: 1, max: 1000, integer: true });

const FILE = z.strictObject({
  source: TEXT,
  date: TEXT,
  invented: given(z.boolean(), false),
  offerings: given(z.array(z.unknown()), []),
});

/** A catalogue with where its prices come from. */
export interface CatalogueFile {
  readonly offerings: readonly CatalogueEntry[];
  /** Package registry, package and version; '' if none is named. */
  readonly source: string;
  readonly date: string;
  /** The file says so, or it does not name source and date of its prices. */
  readonly isInvented: boolean;
}

const ENTRY = z.strictObject({
  capacityType: nameIn(
    'capacityType',
    CAPACITY_TYPE_NAMES,
    CapacityType.OnDemand,
    'BF_MACHINE_CAPACITY_TYPE_UNKNOWN',
  ),
  instanceType: TEXT,
  name: given(z.string(), null),
  pricePerHour: given(numberIn({ min: 0, max: Number.MAX_VALUE }), 0),
  interruptionProbability: given(numberIn({ min: 0, max: 1 }), 0),
  resources: SUPPLY,
  allocatable: SUPPLY,
  zones: given(z.array(z.string()), ['zone-a']),
  racksPerZone: given(WEIGHT, 8),
  labels: LABELS,
  weight: given(WEIGHT, 1),
  owned: given(z.boolean(), null),
});

export function parseOfferingsFile(text: string): Result<readonly CatalogueEntry[]> {
  const file = parseCatalogueFile(text);
  return file.ok ? ok(file.value.offerings) : file;
}

export function parseCatalogueFile(text: string): Result<CatalogueFile> {
  const document = parseDocumentText(text);
  if (!document.ok) return document;
  const problems: Problem[] = [];
  const schemas = { schema: FILE, lenient: FILE };
  const file = validateRecord(
    schemas,
    document.value,
    '',
    problems,
    ({ offerings, source, date, invented }): CatalogueFile => {
      if (offerings.length === 0)
        problems.push({
          code: 'BF_INPUT_INVALID',
          path: 'offerings',
          message: 'There must be at least one.',
        });
      const isInvented = invented || source === '' || date === '';
      return { offerings: readEntries(offerings, problems), source, date, isInvented };
    },
  );
  return problems.length > 0 || file === undefined ? refused(problems) : ok(file);
}

function readEntries(list: readonly unknown[], problems: Problem[]): readonly CatalogueEntry[] {
  const entries = list.map((value, i) => readEntry(value, `offerings[${i}]`, problems));
  const names = entries.map((entry) => entry?.name);
  for (const [i, name] of names.entries()) {
    if (name === undefined || names.indexOf(name) === i) continue;
    const message = 'Another offering has this name.';
    problems.push({ code: 'BF_INPUT_INVALID', path: `offerings[${i}].name`, message });
  }
  return entries.filter((entry) => entry !== undefined);
}

function readEntry(value: unknown, path: string, problems: Problem[]): CatalogueEntry | undefined {
  const schemas = { schema: ENTRY, lenient: ENTRY };
  return validateRecord(schemas, value, path, problems, ({ owned, name, ...fields }) => {
    const { instanceType, capacityType, zones, interruptionProbability } = fields;
    const refuse = (field: string, message: string, code: Problem['code']) =>
      problems.push({ code, path: `${path}.${field}`, message });
    if (instanceType === '') refuse('instanceType', 'There is none.', 'BF_OFFERING_TYPE');
    if (zones.length === 0 || zones.includes(''))
      refuse('zones', 'There must be at least one, each with a name.', 'BF_OFFERING_ZONE');
    if (capacityType === CapacityType.Spot && interruptionProbability === 0)
      refuse('interruptionProbability', 'Spot capacity can always be interrupted.', 'BF_MACHINE_PROBABILITY');
    return {
      ...fields,
      name: name ?? instanceType,
      isOwned: owned ?? capacityType === CapacityType.BareMetal,
    };
  });
}
