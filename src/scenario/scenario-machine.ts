// Reads the machines of a scenario file, for scenario.ts. A host is generated where the state needs one, so that
// authors need not invent instance ids; every other field that the state requires must be given.

import * as z from 'zod';
import {
  CapacityType,
  DEFAULT_DRAIN_SECONDS,
  type ErrorCode,
  type HostRef,
  type LedgerMachine,
  MachineState,
  machineProblems,
  NODE_USES,
  type Problem,
} from '../model/index.ts';
import {
  describe,
  given,
  joinPath,
  mandatoryText,
  numberIn,
  parsed,
  schemaFor,
  TIME,
  validateRecord,
} from '../runtime/validation.ts';
import { CAPACITY_TYPE_NAMES, parseUse, STATE_NAMES } from './enum-names.ts';
import { DOLLARS, INT32, LABELS, nameIn, SUPPLY, TEXT } from './value-schemas.ts';

/** The provider of hosts that a scenario does not name. */
const IMPLIED_PROVIDER = 'scenario';

const HOSTED: ReadonlySet<MachineState> = new Set([
  MachineState.Idle,
  MachineState.Configuring,
  MachineState.Configured,
  MachineState.Draining,
  MachineState.Deleting,
]);

const NO_STATE = /^((machine_?state_?)?unspecified)?$/i;

const STATE = TEXT.transform((name, context): MachineState => {
  const state = STATE_NAMES.parse(name);
  if (state !== undefined) return state;
  const [code, message]: [ErrorCode, string] = NO_STATE.test(name)
    ? ['BF_MACHINE_STATE_UNSPECIFIED', 'The machine has no state.']
    : ['BF_MACHINE_STATE_UNKNOWN', `There is no state ${describe(name)}; known: ${STATE_NAMES.known}.`];
  context.issues.push({ code: 'custom', input: name, message, params: { code } });
  return z.NEVER;
});

/** Any number, infinities included: the rules for machines refuse those with a code of their own. */
const NUMBER = z.custom<number>((value) => typeof value === 'number' && !Number.isNaN(value), {
  error: ({ input }) => `Expected a number, found ${describe(input)}.`,
});

const HOST = z.strictObject({ provider: TEXT, ref: TEXT });

const STAMP = z
  .strictObject({
    priority: given(INT32, null),
    interruptionPenalty: given(DOLLARS, 0),
    reclamationPenalty: given(DOLLARS, 0),
    fingerprint: TEXT,
    group: TEXT,
  })
  .transform(({ interruptionPenalty, reclamationPenalty, ...stamp }) => ({
    ...stamp,
    interruptionPenaltyDollars: interruptionPenalty,
    reclamationPenaltyDollars: reclamationPenalty,
  }));

const TARGET = z.strictObject({
  cluster: mandatoryText('The target names no cluster.', 'BF_CLUSTER_EMPTY'),
  fingerprint: TEXT,
  group: TEXT,
});

const USE = parsed(
  (value) => (typeof value === 'string' ? parseUse(value) : undefined),
  (value) => `There is no use ${describe(value)}; known: ${NODE_USES.join(', ')}.`,
);

const MACHINE = z.strictObject({
  state: STATE,
  id: TEXT,
  host: given(HOST, null),
  cluster: TEXT,
  instanceType: TEXT,
  zone: TEXT,
  capacityType: nameIn(
    'capacityType',
    CAPACITY_TYPE_NAMES,
    CapacityType.Unspecified,
    'BF_MACHINE_CAPACITY_TYPE_UNKNOWN',
  ),
  pricePerHour: given(NUMBER, 0),
  interruptionProbability: given(NUMBER, 0),
  resources: SUPPLY,
  allocatable: SUPPLY,
  labels: LABELS,
  lastError: TEXT,
  assigned: given(STAMP, null),
  target: given(TARGET, null),
  held: given(z.boolean(), false),
  idleSince: given(TIME, null),
  unclaimedSince: given(TIME, null),
  use: given(USE, undefined),
  drainSeconds: given(numberIn({ min: 0, max: Number.MAX_VALUE }), DEFAULT_DRAIN_SECONDS),
});

const LENIENT = MACHINE.extend({ state: STATE.optional() });

/** Rules that do not depend on the state of a machine; the only ones for a machine whose state is unknown. */
const STATELESS: ReadonlySet<ErrorCode> = new Set([
  'BF_MACHINE_ID_EMPTY',
  'BF_MACHINE_PRICE',
  'BF_MACHINE_PROBABILITY',
]);

export function readMachines(list: readonly unknown[], problems: Problem[]): readonly LedgerMachine[] {
  const schemas = { schema: schemaFor(MACHINE, list.length), lenient: LENIENT };
  const firstPath = new Map<string, string>();
  return list.flatMap((value, i) => {
    const path = `machines[${i}]`;
    const machine = readMachine(schemas, value, path, problems);
    if (machine === undefined) return [];
    const earlier = firstPath.get(machine.id);
    if (earlier !== undefined && machine.id !== '') {
      const message = `${describe(machine.id)} is already the id of ${earlier}.`;
      problems.push({ code: 'BF_INPUT_INVALID', path: `${path}.id`, message });
    }
    firstPath.set(machine.id, earlier ?? path);
    return [machine];
  });
}

interface Schemas {
  readonly schema: typeof MACHINE;
  readonly lenient: typeof LENIENT;
}

function readMachine(
  schemas: Schemas,
  value: unknown,
  path: string,
  problems: Problem[],
): LedgerMachine | undefined {
  return validateRecord(
    schemas,
    value,
    path,
    problems,
    ({ state, host, assigned, held, idleSince, unclaimedSince, ...rest }) => {
      const machine: LedgerMachine = {
        ...rest,
        state: state ?? MachineState.Idle,
        host: host ?? impliedHost(rest.id, state),
        stamp: assigned,
        blocked: held,
        idleSinceMs: idleSince,
        unclaimedSinceMs: unclaimedSince,
      };
      for (const problem of machineProblems(machine)) {
        if (state === undefined && !STATELESS.has(problem.code)) continue;
        problems.push({ ...problem, path: joinPath(path, problem.path) });
      }
      return machine;
    },
  );
}

function impliedHost(id: string, state: MachineState | undefined): HostRef | null {
  return state !== undefined && HOSTED.has(state) ? { provider: IMPLIED_PROVIDER, ref: id } : null;
}
