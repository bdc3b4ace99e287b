// Test support: the smallest provider that meets the contract, within this process, and ways to break it on purpose. It
// shares nothing with the kit, so that the suite is tested independently of the kit. Imported by run.test.ts of the
// conformance harness.

import { status } from '@grpc/grpc-js';
import { CapacityType, MachineState } from '../../src/model/index.ts';
import type { ProviderRpc } from '../../src/provider/conformance/harness/calls.ts';
import type { Connect } from '../../src/provider/conformance/harness/target-session.ts';
import type { Timings } from '../../src/provider/conformance/harness/timings.ts';
import type { Machine, TransitionAck } from '../../src/wire/gen/bigfleet/v1alpha1/provider.ts';
import { RpcError } from '../../src/wire/index.ts';

const { Speculative, Creating, Idle, Configuring, Configured, Draining, Deleting, Failed } = MachineState;

/** Short polling, because the small provider settles within milliseconds; long deadlines, which only a broken one reaches. */
export const SHORT: Partial<Timings> = {
  callMs: 20_000,
  listMs: 20_000,
  createMs: 20_000,
  configureMs: 20_000,
  drainMs: 20_000,
  deleteMs: 20_000,
  pollMs: 1,
  staysMs: 20,
  quietMs: 20,
  observeMs: 20,
  giveUpMs: 20_000,
  getP99Ms: 20_000,
  createP99Ms: 20_000,
  listP99Ms: 20_000,
  warmListMs: 20_000,
};

type Kind = 'create' | 'configure' | 'drain' | 'delete';

const MOVES: Readonly<Record<Kind, { from: MachineState; via: MachineState; to: MachineState }>> = {
  create: { from: Speculative, via: Creating, to: Idle },
  configure: { from: Idle, via: Configuring, to: Configured },
  drain: { from: Configured, via: Draining, to: Idle },
  delete: { from: Idle, via: Deleting, to: Speculative },
};

/** A single deviation from the contract. */
export type Defect =
  | 'fence per shard'
  | 'mark only moves on success'
  | 'operation forgotten when settled'
  | 'metadata kept after drain'
  | 'lenient cursor'
  | 'same first machine'
  | 'host while creating'
  | 'delete of configured'
  | 'hangs'
  | 'dies';

export interface SmallOptions {
  readonly machines?: number;
  readonly faults?: number;
  readonly defect?: Defect;
  readonly hasDelete?: boolean;
  readonly transitionTimeoutMs?: number;
  /** After how many calls it hangs or dies. */
  readonly after?: number;
}

interface Fenced {
  readonly machineId: string;
  readonly shardId: string;
  readonly shardEpoch: bigint;
  readonly sequenceNumber: bigint;
}

export class SmallProvider {
  readonly #options: SmallOptions;
  readonly #machines = new Map<string, { record: Machine; changed: number }>();
  readonly #marks = new Map<string, readonly [bigint, bigint]>();
  readonly #operations = new Map<string, string>();
  #revision = 100;
  #nextOperation = 1;
  #turn = 0;
  #calls = 0;

  constructor(options: SmallOptions = {}) {
    this.#options = options;
    const { machines = 256, faults = 0 } = options;
    for (let i = 0; i < machines; i++)
      this.#add(`m-${i}`, i % 4 === 3 ? CapacityType.Spot : CapacityType.OnDemand);
    for (let i = 0; i < faults; i++) {
      this.#add(`f-${i}`, CapacityType.OnDemand, new Map([['conformance.fault/create', 'error']]));
    }
  }

  readonly connect: Connect = () => ({ rpc: this.rpc, close: () => {} });

  readonly rpc: ProviderRpc = {
    create: (request) => this.#mutate('create', request),
    configure: (request) =>
      this.#mutate('configure', request, (record) => ({
        ...record,
        cluster: request.clusterId,
        shardMetadata: new Map(request.shardMetadata),
      })),
    drain: (request) => this.#mutate('drain', request),
    delete: (request) => this.#mutate('delete', request),
    get: async ({ id }) => {
      await this.#answer();
      return this.#find(id).record;
    },
    list: async ({ states, maxResults, sinceRevision }) => {
      await this.#answer();
      const since = this.#cursor(Buffer.from(sinceRevision).toString('latin1'));
      const found = [...this.#machines.values()]
        .filter(({ changed }) => changed > since)
        .map(({ record }) => record)
        .filter(({ state }) => states.length === 0 || states.includes(state));
      if (maxResults > 0 && this.#options.defect !== 'same first machine') {
        found.push(...found.splice(0, this.#turn++ % Math.max(1, found.length)));
      }
      return {
        machines: maxResults > 0 ? found.slice(0, maxResults) : found,
        revision: Buffer.from(String(this.#revision)),
      };
    },
  };

  #add(id: string, capacityType: CapacityType, labels = new Map<string, string>()): void {
    const record: Machine = {
      id,
      state: Speculative,
      host: undefined,
      instanceType: 'small',
      zone: 'a',
      capacityType,
      pricePerHour: 1,
      interruptionProbability: capacityType === CapacityType.Spot ? 0.1 : 0,
      resources: { resources: new Map([['cpu', '4']]) },
      allocatable: { resources: new Map([['cpu', '3900m']]) },
      labels,
      lastError: '',
      cluster: '',
      shardMetadata: new Map(),
    };
    this.#machines.set(id, { record, changed: this.#revision });
  }

  /** Answers, unless the configured number of calls is reached. */
  async #answer(): Promise<void> {
    const isDue = ++this.#calls > (this.#options.after ?? 0);
    if (isDue && this.#options.defect === 'dies')
      throw new RpcError(status.UNAVAILABLE, 'connection refused');
    if (isDue && this.#options.defect === 'hangs') await new Promise(() => {});
  }

  #find(id: string) {
    if (id === '') throw new RpcError(status.INVALID_ARGUMENT, 'no id');
    const found = this.#machines.get(id);
    if (found === undefined) throw new RpcError(status.NOT_FOUND, `no machine ${id}`);
    return found;
  }

  #cursor(text: string): number {
    const isOurs = /^\d+$/.test(text) || (this.#options.defect === 'lenient cursor' && text !== '');
    const since = isOurs ? Number.parseInt(text, 10) : -1;
    return since >= 0 && since <= this.#revision ? since : -1;
  }

  async #mutate(kind: Kind, request: Fenced, bind = (record: Machine) => record): Promise<TransitionAck> {
    await this.#answer();
    const { machineId: id } = request;
    if (id === '') throw new RpcError(status.INVALID_ARGUMENT, 'no machine id');
    if (kind === 'delete' && this.#options.hasDelete === false)
      throw new RpcError(status.UNIMPLEMENTED, 'no delete');
    const advance = this.#fence(request);
    const isEager = this.#options.defect !== 'mark only moves on success';
    if (isEager) advance();
    const { record } = this.#find(id);
    const move = MOVES[kind];
    const known = this.#operations.get(`${id} ${kind}`);
    const isSettled = record.state === move.to;
    const isForgotten = isSettled && this.#options.defect === 'operation forgotten when settled';
    if (known !== undefined && (isSettled || record.state === move.via)) {
      if (!isEager) advance();
      return { operationId: isForgotten ? `op-${this.#nextOperation++}` : known, machine: record };
    }
    const isLax =
      this.#options.defect === 'delete of configured' && kind === 'delete' && record.state === Configured;
    if (record.state !== move.from && !isLax) throw new RpcError(status.INTERNAL, `not from ${record.state}`);
    if (!isEager) advance();
    const operationId = `op-${this.#nextOperation++}`;
    this.#operations.set(`${id} ${kind}`, operationId);
    const isEarly = kind === 'create' && this.#options.defect === 'host while creating';
    const machine = this.#put({ ...bind(record), state: move.via, ...(isEarly ? { host: HOST } : {}) });
    this.#finish(kind, machine);
    return { operationId, machine };
  }

  /** Refuses stale callers; the returned function advances the fencing mark. */
  #fence({ machineId, shardId, shardEpoch, sequenceNumber }: Fenced): () => void {
    if (shardId === '' && shardEpoch === 0n && sequenceNumber === 0n) return () => {};
    const key = this.#options.defect === 'fence per shard' ? shardId : `${shardId} ${machineId}`;
    const [epoch, sequence] = this.#marks.get(key) ?? [-1n, -1n];
    const isNewer = shardEpoch > epoch || (shardEpoch === epoch && sequenceNumber > sequence);
    if (!isNewer && this.#marks.has(key)) throw new RpcError(status.FAILED_PRECONDITION, 'stale');
    return () => this.#marks.set(key, [shardEpoch, sequenceNumber]);
  }

  #finish(kind: Kind, machine: Machine): void {
    const { transitionTimeoutMs = 50 } = this.#options;
    const fail = (lastError: string, ms: number) =>
      setTimeout(
        () => this.#put({ ...machine, state: Failed, lastError, cluster: '', shardMetadata: new Map() }),
        ms,
      );
    const clusterFault = kind === 'configure' ? machine.cluster : '';
    if (kind === 'create' && machine.labels.size > 0) fail('create fault', 2);
    else if (clusterFault === 'fault-error') fail('configure fault', 2);
    else if (/^fault-(timeout|slow-ok|readiness-block)$/.test(clusterFault))
      fail('timeout', transitionTimeoutMs);
    else if (kind === 'drain' && machine.cluster === 'fault-drain-error') fail('drain fault', 2);
    else setTimeout(() => this.#put(this.#settled(kind, machine)), 2);
  }

  #settled(kind: Kind, machine: Machine): Machine {
    const state = MOVES[kind].to;
    if (kind === 'configure') return { ...machine, state };
    const kept =
      this.#options.defect === 'metadata kept after drain'
        ? machine.shardMetadata
        : new Map<string, string>();
    return {
      ...machine,
      state,
      host: kind === 'delete' ? undefined : HOST,
      cluster: '',
      shardMetadata: kept,
    };
  }

  #put(record: Machine): Machine {
    this.#machines.set(record.id, { record, changed: ++this.#revision });
    return record;
  }
}

const HOST = { provider: 'small', ref: 'host' };
