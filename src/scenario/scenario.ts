// Scenario files, the input of `bigfleet decide`: a fleet, its demand and the options of one decision, in JSON or YAML.
// One pass finds every problem of a file, each with its path; a file with any problem is refused as a whole.
// scenario-write.ts writes such files; scenario-machine.ts reads the machines.

import * as z from 'zod';
import {
  bucketOfDollars,
  CapacityType,
  DEFAULT_SCORE_WEIGHTS,
  type DecisionInput,
  makeProfile,
  mergeNeeds,
  type Need,
  Operator,
  ok,
  type PenaltyBucket,
  type Problem,
  type Result,
  refused,
  WhenUnsatisfiable,
} from '../model/index.ts';
import {
  describe,
  given,
  mandatoryText,
  mapOf,
  numberIn,
  parsed,
  schemaFor,
  TIME,
  validateRecord,
} from '../runtime/validation.ts';
import { parseDocumentText } from './document.ts';
import { ECONOMY_FIELDS, economyOptionsOf } from './economy-options.ts';
import { CAPACITY_TYPE_NAMES, OPERATOR_NAMES, parseBucket, WHEN_NAMES } from './enum-names.ts';
import { PURCHASE_BUDGET } from './purchase-budget.ts';
import { readMachines } from './scenario-machine.ts';
import { DEMAND, DOLLARS, INT32, nameIn, TEXT } from './value-schemas.ts';

/** Tuning of the engine. None of it changes a decision. */
export interface EngineOptions {
  /** How often a lane that waits for another looks again before it parks its thread. */
  readonly retries: number;
  readonly workers: number;
}

export const DEFAULT_ENGINE_OPTIONS: EngineOptions = { retries: 10, workers: 1 };

/** Seconds an unclaimed Idle machine is kept, by what its release saves. Owned hardware is never released. */
export const DEFAULT_RELEASE_HOLD_SECONDS: ReadonlyMap<CapacityType, number> = new Map([
  [CapacityType.OnDemand, 600],
  [CapacityType.Spot, 60],
]);

export interface Scenario {
  readonly input: DecisionInput;
  readonly engine: EngineOptions;
}

const HOLDS = mapOf(given(numberIn({ min: 0, max: Number.MAX_SAFE_INTEGER }), 0), (name) => {
  const type = CAPACITY_TYPE_NAMES.parse(name);
  const isReleased = type !== undefined && DEFAULT_RELEASE_HOLD_SECONDS.has(type);
  return isReleased ? undefined : 'Only ON_DEMAND and SPOT machines can be given back.';
}).transform((byName, context): ReadonlyMap<CapacityType, number> => {
  const holds = new Map<CapacityType, number>();
  for (const [name, seconds] of byName) {
    const type = CAPACITY_TYPE_NAMES.parse(name)!;
    const message = 'This capacity type is named twice.';
    if (holds.has(type)) context.issues.push({ code: 'custom', input: name, path: [name], message });
    holds.set(type, seconds);
  }
  return holds;
});

const weight = (name: keyof typeof DEFAULT_SCORE_WEIGHTS) =>
  given(numberIn({ min: 0, max: Number.MAX_VALUE }), DEFAULT_SCORE_WEIGHTS[name]);

const OPTIONS = z.strictObject({
  readyClusters: given(z.array(z.string()), null),
  retiring: given(z.array(z.string()), []),
  canBind: given(mapOf(given(z.boolean(), true)), new Map<string, boolean>()),
  connected: given(z.array(z.string()), []),
  releaseHolds: given(HOLDS, DEFAULT_RELEASE_HOLD_SECONDS),
  weights: given(
    z.strictObject({
      priority: weight('priority'),
      drainSpeed: weight('drainSpeed'),
      interruption: weight('interruption'),
      reclamation: weight('reclamation'),
    }),
    DEFAULT_SCORE_WEIGHTS,
  ),
  ...ECONOMY_FIELDS,
  purchaseBudget: PURCHASE_BUDGET,
  retries: given(numberIn({ min: 0, max: 1000, integer: true }), DEFAULT_ENGINE_OPTIONS.retries),
  workers: given(numberIn({ min: 1, max: 1024, integer: true }), DEFAULT_ENGINE_OPTIONS.workers),
});

const SCENARIO = z.strictObject({
  now: given(TIME, null).refine((now) => now !== null, 'The time of the decision is missing.'),
  options: given(OPTIONS, OPTIONS.parse({})),
  machines: given(z.array(z.unknown()), []),
  needs: given(z.array(z.unknown()), []),
});

const SCHEMAS = { schema: SCENARIO, lenient: SCENARIO.extend({ now: given(TIME, null) }) };

/** Reads the text of a scenario file. */
export function parseScenario(text: string): Result<Scenario> {
  const document = parseDocumentText(text);
  return document.ok ? readScenario(document.value) : document;
}

/** Reads a scenario from a plain value, such as the `given` of a case file. */
export function readScenario(value: unknown): Result<Scenario> {
  const problems: Problem[] = [];
  const scenario = validateRecord(
    SCHEMAS,
    value,
    '',
    problems,
    ({ now, options, machines, needs }): Scenario => {
      const { readyClusters, canBind, connected, releaseHolds, retiring, weights, purchaseBudget } = options;
      const { retries, workers } = options;
      return {
        input: {
          nowMs: now ?? 0,
          machines: readMachines(machines, problems),
          needs: readNeeds(needs, problems),
          options: {
            readyClusters: readyClusters === null ? null : new Set(readyClusters),
            cannotBind: new Set([...canBind].filter(([, can]) => !can).map(([cluster]) => cluster)),
            ...(connected.length === 0 ? {} : { connected: new Set(connected) }),
            releaseHoldSeconds: releaseHolds,
            weights,
            retiring: new Set(retiring),
            ...economyOptionsOf(options),
            ...(purchaseBudget === null ? {} : { purchaseBudget }),
          },
        },
        engine: { retries, workers },
      };
    },
  );
  return problems.length > 0 || scenario === undefined ? refused(problems) : ok(scenario);
}

const REQUIREMENT = z.strictObject({
  key: mandatoryText('The requirement names no label.', 'BF_REQUIREMENT_KEY'),
  operator: nameIn('operator', OPERATOR_NAMES, Operator.Unspecified, 'BF_OPERATOR_UNKNOWN'),
  values: given(z.array(z.string()), []),
});

const SPREAD = z.strictObject({
  topologyKey: mandatoryText('The spread term names no label.', 'BF_REQUIREMENT_KEY'),
  maxSkew: given(INT32, 0),
  whenUnsatisfiable: nameIn('whenUnsatisfiable', WHEN_NAMES, WhenUnsatisfiable.Unspecified),
});

const BUCKET = parsed(
  (value) => (typeof value === 'string' || typeof value === 'number' ? parseBucket(value) : undefined),
  (value) => {
    if (typeof value === 'number') return `There is no bucket ${describe(value)}.`;
    if (typeof value !== 'string') return `Expected a bucket, found ${describe(value)}.`;
    return `There is no bucket ${describe(value)}. Names are such as PINNED, HALF_DOLLAR or PENALTY_BUCKET_8.`;
  },
  'BF_BUCKET_RANGE',
);

const PENALTIES = ['interruptionPenalty', 'reclamationPenalty'] as const;

const NEED = z.strictObject({
  cluster: mandatoryText('The Need names no cluster.', 'BF_CLUSTER_EMPTY'),
  priority: given(INT32, 0),
  requirements: given(z.array(REQUIREMENT), []),
  spread: given(z.array(SPREAD), []),
  interruptionPenaltyBucket: given(BUCKET, null),
  interruptionPenalty: given(DOLLARS, null),
  reclamationPenaltyBucket: given(BUCKET, null),
  reclamationPenalty: given(DOLLARS, null),
  group: TEXT,
  aggregateResources: DEMAND,
  minUnit: DEMAND,
  firstSeen: given(TIME, 0),
  setAside: given(z.boolean(), false),
});

const LENIENT_NEED = NEED.extend({ cluster: TEXT });

function readNeeds(list: readonly unknown[], problems: Problem[]): readonly Need[] {
  const schema = schemaFor(NEED, list.length);
  return mergeNeeds(list.flatMap((value, i) => readNeed(schema, value, `needs[${i}]`, problems) ?? []));
}

function readNeed(schema: typeof NEED, value: unknown, path: string, problems: Problem[]): Need | undefined {
  return validateRecord({ schema, lenient: LENIENT_NEED }, value, path, problems, (fields) => {
    for (const penalty of PENALTIES) {
      const bucket = `${penalty}Bucket` as const;
      if (fields[penalty] === null || fields[bucket] === null) continue;
      const message = `Give either ${penalty} or ${bucket}, not both.`;
      problems.push({ code: 'BF_INPUT_INVALID', path: `${path}.${bucket}`, message });
    }
    return needOf(fields);
  });
}

function needOf(fields: z.output<typeof NEED>): Need {
  const { cluster, priority, requirements, spread, group, minUnit } = fields;
  const need: Need = {
    cluster,
    profile: makeProfile({
      priority,
      requirements,
      spread,
      interruptionBucket: bucketOf(fields.interruptionPenaltyBucket, fields.interruptionPenalty),
      reclamationBucket: bucketOf(fields.reclamationPenaltyBucket, fields.reclamationPenalty),
    }),
    group,
    aggregate: fields.aggregateResources,
    minUnit,
    firstSeenMs: fields.firstSeen,
  };
  return fields.setAside ? { ...need, setAside: true } : need;
}

function bucketOf(bucket: PenaltyBucket | null, dollars: number | null): PenaltyBucket {
  return bucket ?? (dollars === null ? 0 : bucketOfDollars(dollars));
}
