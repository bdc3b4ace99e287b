// The six calls as the behaviours make them, through their `Trial`: acknowledgements and refusals are both returned as
// values, and every call adds a line to the call log, which a failure prints. A missing answer is never treated as a
// refusal.

import { status } from '@grpc/grpc-js';
import { isMachineState, stateName } from '../../../model/index.ts';
import type {
  ConfigureRequest,
  CreateRequest,
  DeleteRequest,
  DrainRequest,
  ListFilter,
  Machine,
  MachineList,
  MachineRef,
  MachineState,
  TransitionAck,
} from '../../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { type RpcOptions, statusOf } from '../../../wire/index.ts';
import { NoAnswer } from './behaviour.ts';
import { type CallLog, textOfToken } from './call-log.ts';
import type { Timings } from './timings.ts';

type Call<Request, Response> = (request: Request, options?: RpcOptions) => Promise<Response>;

/** A provider as the suite calls it: a gRPC client, or a provider in this process. */
export interface ProviderRpc {
  readonly create: Call<CreateRequest, TransitionAck>;
  readonly configure: Call<ConfigureRequest, TransitionAck>;
  readonly drain: Call<DrainRequest, TransitionAck>;
  readonly delete: Call<DeleteRequest, TransitionAck>;
  readonly get: Call<MachineRef, Machine>;
  readonly list: Call<ListFilter, MachineList>;
}

/** Fencing token: the shard, its epoch, and the sequence number within the epoch. */
export interface Token {
  readonly shard: string;
  readonly epoch: bigint;
  readonly sequence: bigint;
}

/** The token of a caller that does not fence. */
const UNFENCED: Token = { shard: '', epoch: 0n, sequence: 0n };

export interface Binding {
  readonly cluster: string;
  readonly metadata: ReadonlyMap<string, string>;
  readonly blob?: Uint8Array;
}

export type Reply<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: status; readonly details: string };
export type AckReply = Reply<TransitionAck>;

export interface ListOptions {
  readonly states?: readonly MachineState[];
  readonly max?: number;
  readonly since?: Uint8Array;
}

const NOTHING = new Uint8Array(0);
const NO_ANSWER: ReadonlySet<status> = new Set([
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.CANCELLED,
]);

export class Calls {
  readonly #rpc: ProviderRpc;
  readonly #callLog: CallLog;
  readonly #timings: Timings;

  constructor(rpc: ProviderRpc, callLog: CallLog, timings: Timings) {
    this.#rpc = rpc;
    this.#callLog = callLog;
    this.#timings = timings;
  }

  create(id: string, token: Token = UNFENCED): Promise<AckReply> {
    const request = { machineId: id, ...wireToken(token) };
    return this.#ack(`Create(${id}${textOfToken(token)})`, (options) => this.#rpc.create(request, options));
  }

  configure(id: string, binding: Binding, token: Token = UNFENCED): Promise<AckReply> {
    const request: ConfigureRequest = {
      machineId: id,
      clusterId: binding.cluster,
      bootstrapBlob: binding.blob ?? new TextEncoder().encode('#cloud-config'),
      shardMetadata: binding.metadata as Map<string, string>,
      ...wireToken(token),
    };
    const text = `Configure(${id} to ${binding.cluster}${textOfToken(token)})`;
    return this.#ack(text, (options) => this.#rpc.configure(request, options));
  }

  drain(id: string, graceSeconds: number, token: Token = UNFENCED): Promise<AckReply> {
    const request = { machineId: id, gracePeriodSeconds: BigInt(graceSeconds), ...wireToken(token) };
    const text = `Drain(${id}, ${graceSeconds} s${textOfToken(token)})`;
    return this.#ack(text, (options) => this.#rpc.drain(request, options));
  }

  delete(id: string, token: Token = UNFENCED): Promise<AckReply> {
    const request = { machineId: id, ...wireToken(token) };
    return this.#ack(`Delete(${id}${textOfToken(token)})`, (options) => this.#rpc.delete(request, options));
  }

  get(id: string): Promise<Reply<Machine>> {
    return this.#reply(
      `Get(${id})`,
      this.#timings.callMs,
      (options) => this.#rpc.get({ id }, options),
      (machine) => textOfState(machine.state),
    );
  }

  list({ states = [], max = 0, since = NOTHING }: ListOptions = {}): Promise<Reply<MachineList>> {
    const parts = [...states.map(textOfState)];
    if (max > 0) parts.push(`max ${max}`);
    if (since.length > 0) parts.push(`since ${textOfCursor(since)}`);
    return this.#reply(
      `List(${parts.join(', ')})`,
      this.#timings.listMs,
      (options) => this.#rpc.list({ states, maxResults: max, sinceRevision: since }, options),
      ({ machines, revision }) => `${machines.length} machines at ${textOfCursor(revision)}`,
    );
  }

  #ack(text: string, send: (options: RpcOptions) => Promise<TransitionAck>): Promise<AckReply> {
    return this.#reply(text, this.#timings.callMs, send, textOfAck);
  }

  async #reply<T>(
    text: string,
    withinMs: number,
    send: (options: RpcOptions) => Promise<T>,
    describe: (value: T) => string,
  ): Promise<Reply<T>> {
    if (this.#callLog.isClosed) throw new NoAnswer('the behaviour is over');
    try {
      const value = await answered(send({ deadline: Date.now() + withinMs }), withinMs);
      this.#callLog.add(text, describe(value));
      return { ok: true, value };
    } catch (error) {
      const code = statusOf(error);
      const details = error instanceof Error ? error.message : String(error);
      this.#callLog.add(text, code === undefined ? details : status[code]);
      if (code === undefined || NO_ANSWER.has(code)) {
        throw new NoAnswer(`${text} got no answer: ${details}`, { cause: error });
      }
      return { ok: false, code, details };
    }
  }
}

/** A deadline that also applies to a provider in this process, which may ignore its call options. */
function answered<T>(answer: Promise<T>, withinMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = setTimeout(
      () => reject(new NoAnswer(`nothing for ${withinMs} ms`)),
      // 50 ms later than the gRPC client's own deadline, which also cancels the call.
      withinMs + 50,
    );
    answer.then(resolve, reject).finally(() => clearTimeout(giveUp));
  });
}

function wireToken({ shard, epoch, sequence }: Token) {
  return { shardId: shard, shardEpoch: epoch, sequenceNumber: sequence };
}

export function textOfState(state: MachineState): string {
  return isMachineState(state) ? stateName(state) : `state ${state}`;
}

export function textOfCursor(cursor: Uint8Array): string {
  if (cursor.length === 0) return '(none)';
  const shown = Buffer.from(cursor.subarray(0, 24)).toString('latin1');
  return JSON.stringify(cursor.length > 24 ? `${shown}…` : shown);
}

function textOfAck({ operationId, machine }: TransitionAck): string {
  return `OK ${operationId}${machine === undefined ? '' : ` ${textOfState(machine.state)}`}`;
}

/** A reply as text for a failure. */
export function textOfReply(reply: Reply<TransitionAck | Machine | MachineList>): string {
  if (!reply.ok) return `${status[reply.code]} (${reply.details})`;
  return 'operationId' in reply.value ? textOfAck(reply.value) : 'OK';
}
