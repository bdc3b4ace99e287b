// Writes a decision's input as a scenario file that reads back to the same input. The engine's tests save failing cases
// with it, and `bench ladder` exports a rung, for `bigfleet decide`. Fields at their default are omitted to keep the
// files short.

import {
  CapacityType,
  DEFAULT_DRAIN_SECONDS,
  type DecisionInput,
  type DecisionOptions,
  formatQuantity,
  isPurchased,
  type LedgerMachine,
  type Need,
  type NeedKey,
  type ResourceVector,
  type Stamp,
} from '../model/index.ts';
import { economyJson } from './economy-options.ts';
import { CAPACITY_TYPE_NAMES, OPERATOR_NAMES, STATE_NAMES, WHEN_NAMES } from './enum-names.ts';
import { purchaseBudgetJson } from './purchase-budget.ts';
import { DEFAULT_ENGINE_OPTIONS, type EngineOptions } from './scenario.ts';

type Json = Readonly<Record<string, unknown>>;

/** The scenario as JSON, one machine or Need per line. */
export function writeScenario(input: DecisionInput, engine: EngineOptions = DEFAULT_ENGINE_OPTIONS): string {
  return [...scenarioPieces(input, engine)].join('');
}

/** A decision's input whose lists are read once. */
export interface ScenarioInput extends Pick<DecisionInput, 'nowMs' | 'options'> {
  readonly machines: Iterable<LedgerMachine>;
  readonly needs: Iterable<Need>;
}

/** The text of `writeScenario` in pieces of a line: a large fleet is too long for one text. */
export function* scenarioPieces(
  input: ScenarioInput,
  engine: EngineOptions = DEFAULT_ENGINE_OPTIONS,
): Generator<string> {
  yield `{\n  "now": ${JSON.stringify(timeText(input.nowMs))},\n`;
  yield `  "options": ${JSON.stringify(optionsJson(input.options, engine))},\n  "machines": `;
  yield* lines(input.machines, machineJson);
  yield ',\n  "needs": ';
  yield* lines(input.needs, needJson);
  yield '\n}\n';
}

function* lines<T>(items: Iterable<T>, jsonOf: (item: T) => Json): Generator<string> {
  let start = '[\n';
  for (const item of items) {
    yield `${start}    ${JSON.stringify(jsonOf(item))}`;
    start = ',\n';
  }
  yield start === '[\n' ? '[]' : '\n  ]';
}

function optionsJson(options: DecisionOptions, engine: EngineOptions): Json {
  const { readyClusters, cannotBind, releaseHoldSeconds, retiring, weights, purchaseBudget } = options;
  const connected = [...(options.connected ?? [])];
  // Files hold no release of owned machines; a shard says so with 0.
  const holds = [...releaseHoldSeconds]
    .filter(([type, seconds]) => seconds > 0 || isPurchased(type))
    .map(([type, seconds]) => [CAPACITY_TYPE_NAMES.format(type), seconds]);
  return {
    ...(readyClusters === null ? {} : { readyClusters: [...readyClusters] }),
    ...(cannotBind.size === 0 ? {} : { canBind: fromEntries([...cannotBind].map((id) => [id, false])) }),
    ...(connected.length === 0 ? {} : { connected }),
    ...(retiring.size === 0 ? {} : { retiring: [...retiring] }),
    ...engine,
    releaseHolds: Object.fromEntries(holds) as Json,
    weights: { ...weights },
    ...economyJson(options),
    ...(purchaseBudget === undefined ? {} : { purchaseBudget: purchaseBudgetJson(purchaseBudget) }),
  };
}

function machineJson(machine: LedgerMachine): Json {
  const optional: Json = {
    host: machine.host,
    cluster: machine.cluster || null,
    instanceType: machine.instanceType || null,
    zone: machine.zone || null,
    capacityType:
      machine.capacityType === CapacityType.Unspecified
        ? null
        : CAPACITY_TYPE_NAMES.format(machine.capacityType),
    pricePerHour: machine.pricePerHour || null,
    interruptionProbability: machine.interruptionProbability || null,
    resources: resourcesJson(machine.resources),
    allocatable: resourcesJson(machine.allocatable),
    labels: machine.labels.size === 0 ? null : fromEntries([...machine.labels]),
    held: machine.blocked || null,
    lastError: machine.lastError || null,
    idleSince: machine.idleSinceMs === null ? null : timeText(machine.idleSinceMs),
    unclaimedSince: machine.unclaimedSinceMs === null ? null : timeText(machine.unclaimedSinceMs),
    use: machine.use ?? null,
    drainSeconds: machine.drainSeconds === DEFAULT_DRAIN_SECONDS ? null : machine.drainSeconds,
    assigned: machine.stamp === null ? null : stampJson(machine.stamp),
    target: machine.target === null ? null : keyJson(machine.target),
  };
  return { id: machine.id, state: STATE_NAMES.format(machine.state), ...withoutNulls(optional) };
}

function stampJson(stamp: Stamp): Json {
  return withoutNulls({
    priority: stamp.priority,
    interruptionPenalty: dollarsJson(stamp.interruptionPenaltyDollars),
    reclamationPenalty: dollarsJson(stamp.reclamationPenaltyDollars),
    fingerprint: stamp.fingerprint || null,
    group: stamp.group || null,
  });
}

function needJson(need: Need): Json {
  const { profile } = need;
  const optional: Json = {
    priority: profile.priority || null,
    requirements: listJson(
      profile.requirements.map(({ key, operator, values }) => ({
        key,
        operator: OPERATOR_NAMES.format(operator),
        values,
      })),
    ),
    spread: listJson(
      profile.spread.map((term) => ({
        ...term,
        whenUnsatisfiable: WHEN_NAMES.format(term.whenUnsatisfiable),
      })),
    ),
    interruptionPenaltyBucket: profile.interruptionBucket || null,
    reclamationPenaltyBucket: profile.reclamationBucket || null,
    group: need.group || null,
    aggregateResources: resourcesJson(need.aggregate),
    minUnit: resourcesJson(need.minUnit),
    firstSeen: need.firstSeenMs === 0 ? null : timeText(need.firstSeenMs),
    setAside: need.setAside ?? null,
  };
  return { cluster: need.cluster, ...withoutNulls(optional) };
}

function keyJson(key: NeedKey): Json {
  return withoutNulls({ cluster: key.cluster, fingerprint: key.fingerprint, group: key.group || null });
}

/** Zeros are written too: a machine with an all-zero `allocatable` differs from one without any. */
function resourcesJson(vector: ResourceVector): Json | null {
  if (vector.size === 0) return null;
  return fromEntries([...vector].map(([name, units]) => [name, formatQuantity(units, name)]));
}

function dollarsJson(dollars: number): number | string | null {
  if (dollars === Number.POSITIVE_INFINITY) return 'inf';
  return dollars || null;
}

function listJson(items: readonly Json[]): readonly Json[] | null {
  return items.length === 0 ? null : items;
}

function withoutNulls(fields: Json): Json {
  return fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

function fromEntries(entries: readonly (readonly [string, unknown])[]): Json {
  return Object.fromEntries(entries) as Json;
}

/** RFC 3339 where that is lossless, else the number. */
function timeText(ms: number): string | number {
  const representable = Number.isInteger(ms) && ms >= Date.UTC(1000, 0) && ms < Date.UTC(10_000, 0);
  return representable ? new Date(ms).toISOString() : ms;
}
