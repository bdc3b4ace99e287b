// The client of one provider, as a shard uses it (shard/process/provider-calls.ts): typed errors, a deadline for every
// call, a fresh fencing token for every attempt, and attempts repeated only where the contract makes that safe. Calls
// for one machine must be made one after the other, because a later one that arrives first makes the earlier one stale;
// calls for different machines are independent.

import { excerpt, type Machine, type MachineState } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type {
  ListFilter,
  TransitionAck,
  Machine as WireMachine,
} from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { machineFromWire, withBinder } from '../../wire/index.ts';
import { type Attempt, Attempts } from './attempts.ts';
import { type CallLimits, DEFAULT_LIMITS } from './call-limits.ts';
import { type CallName, ProviderError } from './errors.ts';
import { type DecodedList, decodeList } from './machine-list.ts';
import type { AttemptLimits, ProviderTransport } from './transport.ts';

/** The identity and fencing token of the calling shard. */
export interface Fence {
  readonly shardId: string;
  readonly epoch: bigint;
  /** Returns a number above all it has returned in this epoch; called for every attempt. */
  readonly nextSequence: () => bigint;
}

/** Dependencies of a client. */
export interface ProviderClientParts {
  readonly transport: ProviderTransport;
  readonly fence: Fence;
  readonly clock: Clock;
  readonly random: Random;
  readonly limits?: Partial<CallLimits>;
  readonly onAttempt?: (attempt: Attempt) => void;
}

/** A transition was accepted, now or by an earlier attempt. */
export interface Accepted {
  readonly operationId: string;
  /** The record when the call was accepted; Get and List show later states. */
  readonly machine: Machine;
}

/** The cluster that a machine joins, the bootstrap blob for that, and metadata that the provider returns unchanged. */
export interface ClusterBinding {
  readonly cluster: string;
  readonly bootstrapBlob: Uint8Array;
  readonly metadata: ReadonlyMap<string, string>;
}

/** Filter of a List. Default: all machines. */
export interface ListQuery {
  readonly states?: readonly MachineState[];
  readonly maxResults?: number;
  readonly sinceRevision?: Uint8Array;
}

interface Token {
  readonly shardId: string;
  readonly shardEpoch: bigint;
  readonly sequenceNumber: bigint;
}

const NO_CURSOR = new Uint8Array();

/** Most problems of a rejected record in the error's detail, which is truncated as well. */
const SHOWN_PROBLEMS = 3;

/** The client of one provider. It retries where the contract makes that safe, each attempt with a fresh token. */
export class ProviderClient {
  readonly #transport: ProviderTransport;
  readonly #fence: Fence;
  readonly #attempts: Attempts;

  constructor(parts: ProviderClientParts) {
    this.#transport = parts.transport;
    this.#fence = parts.fence;
    const { clock, random, onAttempt = () => {} } = parts;
    this.#attempts = new Attempts({
      clock,
      random,
      onAttempt,
      limits: { ...DEFAULT_LIMITS, ...parts.limits },
    });
  }

  /** Speculative → Idle. */
  create(machineId: string, signal?: AbortSignal): Promise<Accepted> {
    return this.#transition('create', machineId, signal, (token, limits) =>
      this.#transport.create({ machineId, ...token }, limits),
    );
  }

  /** Idle → Configured. */
  configure(machineId: string, binding: ClusterBinding, signal?: AbortSignal): Promise<Accepted> {
    const { cluster: clusterId, bootstrapBlob, metadata } = binding;
    const shardMetadata = withBinder(metadata, this.#fence);
    return this.#transition('configure', machineId, signal, (token, limits) =>
      this.#transport.configure({ machineId, clusterId, bootstrapBlob, shardMetadata, ...token }, limits),
    );
  }

  /** Configured → Idle. */
  drain(machineId: string, graceSeconds: number, signal?: AbortSignal): Promise<Accepted> {
    const gracePeriodSeconds = BigInt(Math.round(graceSeconds));
    return this.#transition('drain', machineId, signal, (token, limits) =>
      this.#transport.drain({ machineId, gracePeriodSeconds, ...token }, limits),
    );
  }

  /** Idle → Speculative. */
  delete(machineId: string, signal?: AbortSignal): Promise<Accepted> {
    return this.#transition('delete', machineId, signal, (token, limits) =>
      this.#transport.delete({ machineId, ...token }, limits),
    );
  }

  get(machineId: string, signal?: AbortSignal): Promise<Machine> {
    const make = async (limits: AttemptLimits): Promise<Machine> =>
      readMachine('get', machineId, await this.#transport.get({ id: machineId }, limits));
    return this.#attempts.run({ call: 'get', machineId }, make, signal);
  }

  /** A List as objects, for short ones. Read whole inventories with an `InventoryReader` or a `ListThread`. */
  list(query: ListQuery = {}, signal?: AbortSignal): Promise<DecodedList> {
    return this.#list(query, decodeList, signal);
  }

  /** A List as the bytes of a `MachineList`. */
  listBytes(query: ListQuery = {}, signal?: AbortSignal): Promise<Uint8Array> {
    return this.#list(query, (bytes) => bytes, signal);
  }

  close(): void {
    this.#transport.close();
  }

  #list<T>(query: ListQuery, read: (bytes: Uint8Array) => T, signal: AbortSignal | undefined): Promise<T> {
    const filter: ListFilter = {
      states: [...(query.states ?? [])],
      maxResults: query.maxResults ?? 0,
      sinceRevision: query.sinceRevision ?? NO_CURSOR,
    };
    const make = async (limits: AttemptLimits): Promise<T> =>
      read(await this.#transport.list(filter, limits));
    return this.#attempts.run({ call: 'list', machineId: '' }, make, signal);
  }

  #transition(
    call: CallName,
    machineId: string,
    signal: AbortSignal | undefined,
    send: (token: Token, limits: AttemptLimits) => Promise<TransitionAck>,
  ): Promise<Accepted> {
    const { shardId, epoch: shardEpoch, nextSequence } = this.#fence;
    const make = async (limits: AttemptLimits): Promise<Accepted> => {
      const ack = await send({ shardId, shardEpoch, sequenceNumber: nextSequence() }, limits);
      if (ack.operationId === '')
        throw new ProviderError('malformed', call, 'The answer has no operation id.');
      if (ack.machine === undefined) throw new ProviderError('malformed', call, 'The answer has no machine.');
      return { operationId: ack.operationId, machine: readMachine(call, machineId, ack.machine) };
    };
    return this.#attempts.run({ call, machineId }, make, signal);
  }
}

function readMachine(call: CallName, machineId: string, wire: WireMachine): Machine {
  if (wire.id !== machineId) {
    const detail = `Asked about "${excerpt(machineId)}", answered about "${excerpt(wire.id)}".`;
    throw new ProviderError('malformed', call, detail);
  }
  const machine = machineFromWire(wire, `machine(${excerpt(machineId)})`);
  if (machine.ok) return machine.value;
  const reasons = machine.problems
    .slice(0, SHOWN_PROBLEMS)
    .map(({ code, path, message }) => `${code} at ${path}: ${message}`);
  throw new ProviderError('malformed', call, reasons.join(' '));
}
