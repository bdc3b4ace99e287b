// A provider as other authors write them: nothing of our kit, its own flags, no fault selectors, lists in no order,
// transport limits at gRPC's defaults, and a state file that is optional and written as a whole at every change. The
// suite must certify it (foreign.test.ts). As a program:
//   node test/conformance/foreign-provider.ts --addr=127.0.0.1:9000 --provider=certify --use-fake-backend --seed-count=256
// Unknown flags end it with exit code 2, as flag libraries do.

import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { CapacityType, MachineState } from '../../src/model/index.ts';
import {
  CapacityProviderDefinition,
  Machine,
  type MachineList,
  type TransitionAck,
} from '../../src/wire/gen/bigfleet/v1alpha1/provider.ts';
import { addService, bindService, RpcError, status } from '../../src/wire/index.ts';

const { Speculative, Creating, Idle, Configuring, Configured, Draining, Deleting, Failed } = MachineState;

/** With more machines the state file is too slow to write on every change. */
const MOST_IN_FILE = 2_000;
/** Duration of a transition that is not instant. */
const WORK_MS = 250;

const { values: flags } = parseArgs({
  options: {
    addr: { type: 'string', default: '127.0.0.1:9000' },
    provider: { type: 'string', default: 'foreign' },
    'use-fake-backend': { type: 'boolean', default: false },
    'seed-count': { type: 'string', default: '32' },
    state: { type: 'string' },
    /** Has no Delete. */
    'no-delete': { type: 'boolean', default: false },
    /** Has no revisions. */
    'no-revision': { type: 'boolean', default: false },
    /** Configures one machine after the other, a quarter of a second each; otherwise at once. */
    slow: { type: 'boolean', default: false },
    /** What a restart does with a transition in flight. */
    interrupted: { type: 'string', default: 'failed' },
  },
});

type Kind = 'create' | 'configure' | 'drain' | 'delete';

const MOVES: Readonly<Record<Kind, { from: MachineState; via: MachineState; to: MachineState }>> = {
  create: { from: Speculative, via: Creating, to: Idle },
  configure: { from: Idle, via: Configuring, to: Configured },
  drain: { from: Configured, via: Draining, to: Idle },
  delete: { from: Idle, via: Deleting, to: Speculative },
};
const UNDER_WAY: readonly number[] = Object.values(MOVES).map(({ via }) => via);

interface Request {
  readonly machineId: string;
  readonly shardId: string;
  readonly shardEpoch: bigint;
  readonly sequenceNumber: bigint;
}

interface Saved {
  readonly revision: number;
  readonly operations: number;
  readonly machines: readonly { readonly bytes: string; readonly changed: number }[];
  readonly marks: readonly (readonly [key: string, epoch: string, sequence: string])[];
  readonly done: readonly (readonly [key: string, operation: string])[];
}

class ForeignProvider {
  /** With their encoding, for the state file. */
  readonly #machines = new Map<string, { record: Machine; changed: number; bytes: string }>();
  readonly #marks = new Map<string, readonly [epoch: bigint, sequence: bigint]>();
  /** By machine and kind: the last operation. */
  readonly #done = new Map<string, string>();
  #revision = 1;
  #operations = 0;
  #queue: Promise<void> = Promise.resolve();

  constructor() {
    if (flags.state !== undefined && existsSync(flags.state)) this.#load(flags.state);
    else this.#seed(Number(flags['seed-count']));
  }

  async change(kind: Kind, request: Request, bind = (record: Machine) => record): Promise<TransitionAck> {
    const { machineId: id } = request;
    if (id === '') throw new RpcError(status.INVALID_ARGUMENT, 'machine_id is empty');
    if (kind === 'delete' && flags['no-delete']) throw new RpcError(status.UNIMPLEMENTED, 'no Delete here');
    this.#fence(request);
    const found = this.#machines.get(id);
    if (found === undefined) throw new RpcError(status.NOT_FOUND, `no machine ${id}`);
    const { from, via, to } = MOVES[kind];
    const { record } = found;
    const known = this.#done.get(`${id} ${kind}`);
    if (known !== undefined && (record.state === via || record.state === to)) {
      return { operationId: known, machine: record };
    }
    if (record.state !== from) throw new RpcError(status.INTERNAL, `cannot ${kind} in state ${record.state}`);
    const operationId = `${flags.provider}/${++this.#operations}`;
    this.#done.set(`${id} ${kind}`, operationId);
    const machine = this.#put({ ...bind(record), state: via });
    if (kind !== 'configure' || !flags.slow) {
      return { operationId, machine: this.#put(settled(machine, to)) };
    }
    this.#queue = this.#queue.then(async () => {
      await new Promise((resolve) => setTimeout(resolve, WORK_MS));
      this.#put(settled(machine, to));
    });
    return { operationId, machine };
  }

  get(id: string): Machine {
    if (id === '') throw new RpcError(status.INVALID_ARGUMENT, 'id is empty');
    const found = this.#machines.get(id);
    if (found === undefined) throw new RpcError(status.NOT_FOUND, `no machine ${id}`);
    return found.record;
  }

  list(states: readonly number[], max: number, since: string): MachineList {
    const cursor = flags['no-revision'] || !/^[1-9]\d{0,14}$/.test(since) ? 0 : Number(since);
    const after = cursor > this.#revision ? 0 : cursor;
    const machines = [...this.#machines.values()]
      .filter(({ changed }) => changed > after)
      .map(({ record }) => record)
      .filter(({ state }) => states.length === 0 || states.includes(state));
    // Random start, like the iteration of a Go map.
    const from = Math.floor(Math.random() * machines.length);
    machines.push(...machines.splice(0, from));
    const revision = flags['no-revision'] ? new Uint8Array(0) : Buffer.from(String(this.#revision));
    return { machines: max > 0 ? machines.slice(0, max) : machines, revision };
  }

  #fence({ machineId, shardId, shardEpoch, sequenceNumber }: Request): void {
    if (shardId === '' && shardEpoch === 0n && sequenceNumber === 0n) return;
    const key = JSON.stringify([shardId, machineId]);
    const [epoch, sequence] = this.#marks.get(key) ?? [null, null];
    const isStale =
      epoch !== null && (shardEpoch < epoch || (shardEpoch === epoch && sequenceNumber <= sequence));
    if (isStale) throw new RpcError(status.FAILED_PRECONDITION, 'stale');
    this.#marks.set(key, [shardEpoch, sequenceNumber]);
    this.#save();
  }

  #put(record: Machine): Machine {
    this.#keep(record, ++this.#revision);
    this.#save();
    return record;
  }

  #keep(record: Machine, changed: number): void {
    const bytes = Buffer.from(Machine.encode(record).finish()).toString('base64');
    this.#machines.set(record.id, { record, changed, bytes });
  }

  #save(): void {
    if (flags.state === undefined) return;
    const saved: Saved = {
      revision: this.#revision,
      operations: this.#operations,
      machines: Array.from(this.#machines.values(), ({ bytes, changed }) => ({ bytes, changed })),
      marks: Array.from(this.#marks, ([key, [epoch, sequence]]) => [key, String(epoch), String(sequence)]),
      done: [...this.#done],
    };
    writeFileSync(`${flags.state}.new`, JSON.stringify(saved));
    renameSync(`${flags.state}.new`, flags.state);
  }

  #seed(count: number): void {
    for (let i = 0; i < count; i++) this.#keep(seeded(i), this.#revision);
  }

  #load(file: string): void {
    const saved = JSON.parse(readFileSync(file, 'utf8')) as Saved;
    this.#revision = saved.revision;
    this.#operations = saved.operations;
    for (const [key, epoch, sequence] of saved.marks) this.#marks.set(key, [BigInt(epoch), BigInt(sequence)]);
    for (const [key, operation] of saved.done) this.#done.set(key, operation);
    for (const { bytes, changed } of saved.machines) {
      const record = Machine.decode(Buffer.from(bytes, 'base64'));
      this.#keep(record, changed);
      if (UNDER_WAY.includes(record.state)) this.#put(interrupted(record));
    }
  }
}

function seeded(i: number): Machine {
  const isSpot = i % 4 === 3;
  return {
    id: `node-${i}`,
    state: Speculative,
    host: undefined,
    instanceType: 'x.large',
    zone: `zone-${i % 3}`,
    capacityType: isSpot ? CapacityType.Spot : CapacityType.OnDemand,
    pricePerHour: isSpot ? 0.2 : 0.5,
    interruptionProbability: isSpot ? 0.1 : 0,
    resources: { resources: new Map([['cpu', '4']]) },
    allocatable: undefined,
    labels: new Map([['example.org/pool', 'a']]),
    lastError: '',
    cluster: '',
    shardMetadata: new Map(),
  };
}

function settled(record: Machine, state: MachineState): Machine {
  if (state === Configured) return { ...record, state };
  const host = state === Idle ? { provider: flags.provider, ref: `host-${record.id}` } : undefined;
  return { ...record, state, host, cluster: '', shardMetadata: new Map() };
}

function interrupted(record: Machine): Machine {
  switch (flags.interrupted) {
    case 'forgotten':
      return settled(record, Idle);
    case 'stuck':
      return record;
    case 'rebound':
      return { ...record, state: Configured, cluster: 'another' };
    case 'wordless':
      return { ...record, state: Failed };
    default:
      return { ...record, state: Failed, lastError: 'interrupted by a restart' };
  }
}

if (flags.state !== undefined && Number(flags['seed-count']) > MOST_IN_FILE) {
  console.error('too many machines for a state file');
  process.exit(3);
}
const provider = new ForeignProvider();
const server = new Server();
addService(server, bindService(CapacityProviderDefinition), {
  create: (request) => provider.change('create', request),
  configure: (request) =>
    provider.change('configure', request, (record) => ({
      ...record,
      cluster: request.clusterId,
      shardMetadata: request.shardMetadata,
    })),
  drain: (request) => provider.change('drain', request),
  delete: (request) => provider.change('delete', request),
  get: ({ id }) => provider.get(id),
  list: ({ states, maxResults, sinceRevision }) =>
    provider.list(states, maxResults, Buffer.from(sinceRevision).toString('latin1')),
});
server.bindAsync(flags.addr, ServerCredentials.createInsecure(), (error) => {
  if (error === null) return;
  console.error(error.message);
  process.exit(1);
});
