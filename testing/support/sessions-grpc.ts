// Test support: sessions behind a real gRPC server, and an operator that writes HTTP/2 itself, so that it can send half
// a frame, compress one, or stop reading. Imported by session-grpc.test.ts and session-transport.test.ts.

import { type ClientHttp2Stream, connect as http2Connect } from 'node:http2';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import type { Clock } from '../../src/runtime/clock.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import type { ControllerEvent } from '../../src/shard/events.ts';
import type { SessionLimits } from '../../src/shard/sessions/limits.ts';
import { addSessions, sessionServerOptions } from '../../src/shard/sessions/session-grpc.ts';
import { Sessions } from '../../src/shard/sessions/sessions.ts';
import { MemoryDemandStore } from '../../src/shard/storage/demand-store.ts';
import { OperatorMessage, ShardMessage } from '../../src/wire/gen/bigfleet/v1alpha1/shard.ts';
import { serverCredentials, type TlsFiles } from '../../src/wire/index.ts';

export interface Served {
  readonly sessions: Sessions;
  readonly events: readonly ControllerEvent[];
  readonly address: string;
  /** Does not resolve while a call is open; a test that leaves one open fails by its time limit. */
  readonly stop: () => Promise<void>;
}

export interface ServeOptions {
  readonly tls?: TlsFiles | null;
  readonly limits?: Partial<SessionLimits>;
  readonly clock?: Clock;
  readonly farewellMs?: number;
  /** HOST:PORT, as of an earlier server that is to be replaced. */
  readonly listen?: string;
}

export async function serveSessions(options: ServeOptions = {}): Promise<Served> {
  const { tls = null, limits = {}, clock = systemClock, farewellMs = 1000, listen = '127.0.0.1:0' } = options;
  const events: ControllerEvent[] = [];
  const sessions = await Sessions.open({
    clock,
    limits,
    controller: { post: (event) => events.push(event) },
    store: new MemoryDemandStore(),
    shardEpoch: 3n,
  });
  const server = new Server(sessionServerOptions(sessions.limits));
  addSessions(server, sessions, { hasTls: tls !== null, farewellMs });
  const credentials = tls === null ? ServerCredentials.createInsecure() : serverCredentials(listen, { tls });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(listen, credentials, (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  const stop = (): Promise<void> => {
    sessions.close();
    return new Promise((resolve) => server.tryShutdown(() => resolve()));
  };
  return { sessions, events, address: `127.0.0.1:${port}`, stop };
}

export function helloFrame(clusterId: string): Uint8Array {
  const payload = {
    $case: 'hello',
    value: { clusterId, protocolVersion: 'v1alpha1', features: [] },
  } as const;
  return OperatorMessage.encode({ payload }).finish();
}

/** Size of the prefix of each message of a gRPC stream: a flag and a length. */
const PREFIX_BYTES = 5;

/** The bytes of a message on a gRPC stream; `announced` may differ from its real length. */
export function onTheWire(message: Uint8Array, { isCompressed = false, announced = message.length } = {}) {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix[0] = isCompressed ? 1 : 0;
  prefix.writeUInt32BE(announced, 1);
  return Buffer.concat([prefix, message]);
}

/** Memory that Node allows an operator's HTTP/2 session; with the default of ten it rejects large answers. */
const MAX_MEBIBYTES = 1000;

/** An operator that writes and reads only on request of the test. */
export class WireOperator {
  readonly received: ShardMessage[] = [];
  /** From the trailers; null if there are none. */
  grpcStatus: number | null = null;
  grpcMessage = '';
  /** Resolves to the HTTP/2 error code that the stream was closed with. */
  readonly closed: Promise<number>;
  readonly #stream: ClientHttp2Stream;
  readonly #session;
  #bytes = Buffer.alloc(0);

  constructor(address: string, headers: Readonly<Record<string, string>> = {}) {
    this.#session = http2Connect(`http://${address}`, { maxSessionMemory: MAX_MEBIBYTES });
    this.#session.on('error', () => {});
    this.#stream = this.#session.request({
      ':method': 'POST',
      ':path': '/bigfleet.v1alpha1.Shard/Session',
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    });
    this.#stream.pause();
    this.#stream.on('error', () => {});
    for (const event of ['response', 'trailers'] as const)
      this.#stream.on(event, (fields: Readonly<Record<string, unknown>>) => {
        if (fields['grpc-status'] === undefined) return;
        this.grpcStatus = Number(fields['grpc-status']);
        this.grpcMessage = decodeURI(String(fields['grpc-message']));
      });
    this.closed = new Promise((resolve) =>
      this.#stream.on('close', () => resolve(this.#stream.rstCode ?? 0)),
    );
  }

  send(message: Uint8Array): void {
    this.write(onTheWire(message));
  }

  write(bytes: Uint8Array): void {
    this.#stream.write(bytes);
  }

  /** Closes its sending side; whether it reads is unchanged. */
  endHalf(): void {
    this.#stream.end();
  }

  /** Starts reading. */
  read(): this {
    this.#stream.on('data', (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      while (this.#bytes.length >= PREFIX_BYTES) {
        const end = PREFIX_BYTES + this.#bytes.readUInt32BE(1);
        if (this.#bytes.length < end) break;
        this.received.push(ShardMessage.decode(this.#bytes.subarray(PREFIX_BYTES, end)));
        this.#bytes = this.#bytes.subarray(end);
      }
    });
    this.#stream.resume();
    return this;
  }

  get acks(): string[] {
    return this.received.flatMap(({ payload }) => (payload?.$case === 'ack' ? [payload.value.echo] : []));
  }

  hangUp(): void {
    this.#session.destroy();
  }
}

export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5));
}
