// The machines of a scenario file. A host is generated where the state needs one, so that authors need not invent
// instance ids; every other field that the state requires must be given.

import {
  CapacityType,
  DEFAULT_DRAIN_SECONDS,
  type ErrorCode,
  type HostRef,
  type LedgerMachine,
  MachineState,
  machineProblems,
  type NeedKey,
  type Stamp,
} from '../model/index.ts';
import { describe, type Fields, INT32 } from './fields.ts';
import { CAPACITY_TYPE_NAMES, type NameTable, STATE_NAMES } from './names.ts';

/** The provider of hosts that a scenario does not name. */
const IMPLIED_PROVIDER = 'scenario';

const HOSTED: ReadonlySet<MachineState> = new Set([
  MachineState.Idle,
  MachineState.Configuring,
  MachineState.Configured,
  MachineState.Draining,
  MachineState.Deleting,
]);

export function readMachines(list: readonly Fields[]): readonly LedgerMachine[] {
  const firstPath = new Map<string, string>();
  return list.map((fields) => {
    const machine = readMachine(fields);
    const earlier = firstPath.get(machine.id);
    if (earlier !== undefined && machine.id !== '') {
      fields.say('id', `${describe(machine.id)} is already the id of ${earlier}.`);
    }
    firstPath.set(machine.id, earlier ?? fields.path);
    return machine;
  });
}

function readMachine(fields: Fields): LedgerMachine {
  const state = readState(fields);
  const id = fields.text('id');
  const machine: LedgerMachine = {
    id,
    state: state ?? MachineState.Idle,
    host: readHost(fields.map('host')) ?? impliedHost(id, state),
    cluster: fields.text('cluster'),
    instanceType: fields.text('instanceType'),
    zone: fields.text('zone'),
    capacityType: nameIn(
      fields,
      'capacityType',
      CAPACITY_TYPE_NAMES,
      CapacityType.Unspecified,
      'BF_MACHINE_CAPACITY_TYPE_UNKNOWN',
    ),
    pricePerHour: fields.number('pricePerHour', 0),
    interruptionProbability: fields.number('interruptionProbability', 0),
    resources: fields.resources('resources', 'down'),
    allocatable: fields.resources('allocatable', 'down'),
    labels: fields.texts('labels'),
    lastError: fields.text('lastError'),
    stamp: readStamp(fields.map('assigned')),
    target: readTarget(fields.map('target')),
    blocked: fields.flag('held', false),
    idleSinceMs: fields.time('idleSince', null),
    drainSeconds: fields.number('drainSeconds', DEFAULT_DRAIN_SECONDS, { min: 0, max: Number.MAX_VALUE }),
  };
  // Without a state the rules that depend on it cannot be checked; the others still can.
  const stateless = new Set<ErrorCode>(['BF_MACHINE_ID_EMPTY', 'BF_MACHINE_PRICE', 'BF_MACHINE_PROBABILITY']);
  for (const problem of machineProblems(machine)) {
    if (state !== undefined || stateless.has(problem.code)) {
      fields.say(problem.path, problem.message, problem.code);
    }
  }
  fields.done();
  return machine;
}

function readState(fields: Fields): MachineState | undefined {
  const name = fields.text('state');
  const state = STATE_NAMES.parse(name);
  if (state !== undefined) return state;
  if (name === '' || /^(machine_?state_?)?unspecified$/i.test(name)) {
    fields.say('state', 'The machine has no state.', 'BF_MACHINE_STATE_UNSPECIFIED');
  } else {
    fields.say(
      'state',
      `There is no state ${describe(name)}; known: ${STATE_NAMES.known}.`,
      'BF_MACHINE_STATE_UNKNOWN',
    );
  }
  return undefined;
}

function readHost(fields: Fields | undefined): HostRef | null {
  if (fields === undefined) return null;
  const host = { provider: fields.text('provider'), ref: fields.text('ref') };
  fields.done();
  return host;
}

function impliedHost(id: string, state: MachineState | undefined): HostRef | null {
  return state !== undefined && HOSTED.has(state) ? { provider: IMPLIED_PROVIDER, ref: id } : null;
}

function readStamp(fields: Fields | undefined): Stamp | null {
  if (fields === undefined) return null;
  const stamp: Stamp = {
    priority: fields.has('priority') ? fields.number('priority', 0, INT32) : null,
    interruptionPenaltyDollars: dollarsIn(fields, 'interruptionPenalty'),
    reclamationPenaltyDollars: dollarsIn(fields, 'reclamationPenalty'),
    fingerprint: fields.text('fingerprint'),
    group: fields.text('group'),
  };
  fields.done();
  return stamp;
}

function readTarget(fields: Fields | undefined): NeedKey | null {
  if (fields === undefined) return null;
  const target: NeedKey = {
    cluster: fields.text('cluster'),
    fingerprint: fields.text('fingerprint'),
    group: fields.text('group'),
  };
  if (target.cluster === '') fields.say('cluster', 'The target names no cluster.', 'BF_CLUSTER_EMPTY');
  fields.done();
  return target;
}

/** A penalty in dollars: a number, or `inf`, `Infinity` or `pinned`. Below zero counts as zero. */
export function dollarsIn(fields: Fields, field: string): number {
  const value = fields.raw(field);
  if (value === undefined) return 0;
  if (typeof value === 'string' && /^\+?(inf|infinity|pinned)$/i.test(value)) return Number.POSITIVE_INFINITY;
  if (typeof value === 'number' && !Number.isNaN(value)) return Math.max(0, value);
  fields.say(field, `Expected dollars or "inf", found ${describe(value)}.`, 'BF_PENALTY_NOT_A_NUMBER');
  return 0;
}

/** An enumerated value by name; the fallback if absent or unknown. */
export function nameIn<T extends number>(
  fields: Fields,
  field: string,
  table: NameTable<T>,
  fallback: T,
  code: ErrorCode = 'BF_INPUT_INVALID',
): T {
  if (!fields.has(field)) return fallback;
  const before = fields.raw(field);
  const value = typeof before === 'string' ? table.parse(before) : undefined;
  if (value !== undefined) return value;
  fields.say(field, `There is no ${field} ${describe(before)}; known: ${table.known}.`, code);
  return fallback;
}
