// Scenario files: a fleet, its demand and the options of one decision, in JSON or YAML. One pass finds every problem of
// a file, each with its path; a file with any problem is refused as a whole. scenario-write.ts writes such files;
// scenario-machine.ts reads the machines.

import {
  bucketOfDollars,
  CapacityType,
  DEFAULT_SCORE_WEIGHTS,
  type DecisionInput,
  type DecisionOptions,
  makeProfile,
  mergeNeeds,
  type Need,
  Operator,
  ok,
  type PenaltyBucket,
  type Problem,
  type Requirement,
  type Result,
  refused,
  type Spread,
  WhenUnsatisfiable,
} from '../model/index.ts';
import { parseDocumentText } from './document.ts';
import { describe, Fields, INT32 } from './fields.ts';
import { CAPACITY_TYPE_NAMES, OPERATOR_NAMES, parseBucket, WHEN_NAMES } from './names.ts';
import { dollarsIn, nameIn, readMachines } from './scenario-machine.ts';

/** Tuning of the engine. None of it changes a decision. */
export interface EngineOptions {
  /** How often a displaced row is solved again before it waits for the barrier. */
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

/** Reads the text of a scenario file. */
export function parseScenario(text: string): Result<Scenario> {
  const document = parseDocumentText(text);
  return document.ok ? readScenario(document.value) : document;
}

/** Reads a scenario from a plain value, such as the `given` of a case file. */
export function readScenario(value: unknown): Result<Scenario> {
  const problems: Problem[] = [];
  const fields = new Fields(value, '', problems);
  if (problems.length > 0) return refused(problems);

  const nowMs = fields.time('now', undefined);
  if (!fields.has('now')) fields.say('now', 'The time of the decision is missing.');
  const { options, engine } = readOptions(fields.map('options'));
  const machines = readMachines(fields.objects('machines'));
  const needs = mergeNeeds(fields.objects('needs').map(readNeed));
  fields.done();
  if (problems.length > 0 || nowMs === undefined) return refused(problems);
  return ok({ input: { nowMs, machines, needs, options }, engine });
}

function readOptions(fields: Fields | undefined): { options: DecisionOptions; engine: EngineOptions } {
  const ready = fields?.textList('readyClusters');
  const options: DecisionOptions = {
    readyClusters: ready === undefined ? null : new Set(ready),
    cannotBind: readCannotBind(fields?.map('canBind')),
    releaseHoldSeconds: readHolds(fields?.map('releaseHolds')),
    weights: readWeights(fields?.map('weights')),
  };
  const { retries, workers } = DEFAULT_ENGINE_OPTIONS;
  const engine: EngineOptions = {
    retries: fields?.number('retries', retries, { min: 0, max: 1000, integer: true }) ?? retries,
    workers: fields?.number('workers', workers, { min: 1, max: 1024, integer: true }) ?? workers,
  };
  fields?.done();
  return { options, engine };
}

function readCannotBind(fields: Fields | undefined): ReadonlySet<string> {
  return new Set((fields?.names() ?? []).filter((cluster) => fields?.flag(cluster, true) === false));
}

function readHolds(fields: Fields | undefined): ReadonlyMap<CapacityType, number> {
  if (fields === undefined) return DEFAULT_RELEASE_HOLD_SECONDS;
  const holds = new Map<CapacityType, number>();
  for (const name of fields.names()) {
    const type = CAPACITY_TYPE_NAMES.parse(name);
    const seconds = fields.number(name, 0, { min: 0, max: Number.MAX_SAFE_INTEGER });
    if (type === undefined || !DEFAULT_RELEASE_HOLD_SECONDS.has(type)) {
      fields.say(name, 'Only ON_DEMAND and SPOT machines can be given back.');
    } else if (holds.has(type)) {
      fields.say(name, 'This capacity type is named twice.');
    } else {
      holds.set(type, seconds);
    }
  }
  return holds;
}

function readWeights(fields: Fields | undefined): DecisionOptions['weights'] {
  const weight = (name: keyof DecisionOptions['weights']): number => {
    const fallback = DEFAULT_SCORE_WEIGHTS[name];
    return fields?.number(name, fallback, { min: 0, max: Number.MAX_VALUE }) ?? fallback;
  };
  const weights = {
    priority: weight('priority'),
    drainSpeed: weight('drainSpeed'),
    interruption: weight('interruption'),
    reclamation: weight('reclamation'),
  };
  fields?.done();
  return weights;
}

function readNeed(fields: Fields): Need {
  const cluster = fields.text('cluster');
  if (cluster === '') fields.say('cluster', 'The Need names no cluster.', 'BF_CLUSTER_EMPTY');
  const need: Need = {
    cluster,
    profile: makeProfile({
      priority: fields.number('priority', 0, INT32),
      requirements: fields.objects('requirements').map(readRequirement),
      spread: fields.objects('spread').map(readSpread),
      interruptionBucket: readBucket(fields, 'interruptionPenalty'),
      reclamationBucket: readBucket(fields, 'reclamationPenalty'),
    }),
    group: fields.text('group'),
    aggregate: fields.resources('aggregateResources', 'up'),
    minUnit: fields.resources('minUnit', 'up'),
    firstSeenMs: fields.time('firstSeen', 0),
  };
  const isSetAside = fields.flag('setAside', false);
  fields.done();
  return isSetAside ? { ...need, setAside: true } : need;
}

function readRequirement(fields: Fields): Requirement {
  const key = fields.text('key');
  if (key === '') fields.say('key', 'The requirement names no label.', 'BF_REQUIREMENT_KEY');
  const requirement: Requirement = {
    key,
    operator: nameIn(fields, 'operator', OPERATOR_NAMES, Operator.Unspecified, 'BF_OPERATOR_UNKNOWN'),
    values: fields.textList('values') ?? [],
  };
  fields.done();
  return requirement;
}

function readSpread(fields: Fields): Spread {
  const topologyKey = fields.text('topologyKey');
  if (topologyKey === '') fields.say('topologyKey', 'The spread term names no label.', 'BF_REQUIREMENT_KEY');
  const spread: Spread = {
    topologyKey,
    maxSkew: fields.number('maxSkew', 0, INT32),
    whenUnsatisfiable: nameIn(fields, 'whenUnsatisfiable', WHEN_NAMES, WhenUnsatisfiable.Unspecified),
  };
  fields.done();
  return spread;
}

/** A penalty of a Need: `field` in dollars, or `fieldBucket` by ordinal or name. */
function readBucket(fields: Fields, field: string): PenaltyBucket {
  const bucketField = `${field}Bucket`;
  const value = fields.raw(bucketField);
  if (value === undefined) return fields.has(field) ? bucketOfDollars(dollarsIn(fields, field)) : 0;
  if (fields.has(field)) fields.say(bucketField, `Give either ${field} or ${bucketField}, not both.`);
  if (typeof value !== 'string' && typeof value !== 'number') {
    fields.say(bucketField, `Expected a bucket, found ${describe(value)}.`, 'BF_BUCKET_RANGE');
    return 0;
  }
  const bucket = parseBucket(value);
  if (bucket !== undefined) return bucket;
  const hint = typeof value === 'string' ? ' Names are such as PINNED, HALF_DOLLAR or PENALTY_BUCKET_8.' : '';
  fields.say(bucketField, `There is no bucket ${describe(value)}.${hint}`, 'BF_BUCKET_RANGE');
  return 0;
}
