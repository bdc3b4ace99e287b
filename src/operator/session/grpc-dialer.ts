// Links to a shard over gRPC. Each has its own channel, so that only the session decides when to reconnect, and every
// dial resolves the addresses and reads the certificate files again. Made by process/operator.ts.

import type { ChannelCredentials, ChannelOptions, ClientDuplexStream } from '@grpc/grpc-js';
import { ShardDefinition, type ShardMessage } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { bindService, clientCredentials, connect, rawBytes, type SecurityOptions } from '../../wire/index.ts';
import { type Endpoint, type Lookup, resolveEndpoints } from './endpoints.ts';
import { MAX_RECEIVED_BYTES } from './limits.ts';
import type { Dialer, Link, LinkEnd } from './link.ts';

const service = bindService(ShardDefinition, { session: { request: rawBytes } });

/** Keepalive detects a shard that vanished without closing the connection. */
const OPTIONS: ChannelOptions = {
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.max_receive_message_length': MAX_RECEIVED_BYTES,
  // A shared pool would keep the backoff of an earlier channel to the same address.
  'grpc.use_local_subchannel_pool': 1,
};

/** How long a stream that has been ended may take to send its last frames. */
const FAREWELL_MS = 1_000;

export interface GrpcDialerOptions {
  /** HOST:PORT of the shard's endpoint for sessions. */
  readonly addresses: readonly string[];
  readonly security: SecurityOptions;
  readonly lookup?: Lookup;
}

/** Throws if the certificate files cannot be read, or plaintext is not allowed for an address. */
export function grpcDialer({ addresses, security, lookup }: GrpcDialerOptions): Dialer {
  for (const address of addresses) clientCredentials(address, security);
  // The addresses have been checked by name, so that a loopback name may resolve to any address.
  const read = () => clientCredentials('', { ...security, insecure: true });
  let credentials = read();
  return {
    open: (end, attempt) => {
      const link = new GrpcLink(end, security.tls !== null);
      try {
        credentials = read();
      } catch {
        // Files that are being replaced: the pair that was read before stays in use.
      }
      const used = credentials;
      resolveEndpoints(addresses, lookup).then(
        (endpoints) => link.connect(endpoints[attempt % endpoints.length]!, used),
        (error: unknown) => link.fail(error),
      );
      return link;
    },
  };
}

type Stream = ClientDuplexStream<Uint8Array, ShardMessage>;

class GrpcLink implements Link {
  readonly #end: LinkEnd;
  readonly #isTls: boolean;
  /** Frames sent before there is a stream: the hello. */
  #early: Uint8Array[] = [];
  #stream: Stream | null = null;
  #closeChannel = () => {};
  #isOver = false;

  constructor(end: LinkEnd, isTls: boolean) {
    this.#end = end;
    this.#isTls = isTls;
  }

  get isBlocked(): boolean {
    return this.#stream === null || this.#stream.writableNeedDrain;
  }

  connect({ address, host }: Endpoint, credentials: ChannelCredentials): void {
    if (this.#isOver) return;
    const names = { 'grpc.default_authority': host, 'grpc.ssl_target_name_override': host };
    try {
      const client = connect(service, address, credentials, { ...OPTIONS, ...(this.#isTls ? names : {}) });
      this.#closeChannel = () => client.close();
      this.#begin(client.rpc.session(), address);
    } catch (error) {
      this.fail(error);
    }
  }

  /** The dial failed before there was a connection. */
  fail(error: unknown): void {
    if (!this.#finish()) return;
    this.#end.closed(error instanceof Error ? error.message : String(error));
  }

  send(frame: Uint8Array): void {
    if (this.#isOver) return;
    if (this.#stream === null) this.#early.push(frame);
    else if (this.#stream.writable) this.#stream.write(frame);
  }

  setPaused(isPaused: boolean): void {
    if (isPaused) this.#stream?.pause();
    else this.#stream?.resume();
  }

  close(): void {
    const stream = this.#stream;
    if (!this.#finish() || stream === null) return;
    stream.end();
    const timer = setTimeout(() => stream.cancel(), FAREWELL_MS);
    timer.unref();
    stream.on('status', () => clearTimeout(timer));
  }

  #begin(stream: Stream, address: string): void {
    this.#stream = stream;
    stream.on('data', (message: ShardMessage) => {
      if (!this.#isOver) this.#end.receive(message);
    });
    stream.on('drain', () => {
      if (!this.#isOver) this.#end.drained();
    });
    // The status carries the same information and is always emitted.
    stream.on('error', () => {});
    stream.on('status', ({ details, code }) => {
      if (this.#finish()) this.#end.closed(`${address}: ${details === '' ? `status ${code}` : details}`);
    });
    for (const frame of this.#early) stream.write(frame);
    this.#early = [];
  }

  #finish(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#early = [];
    this.#closeChannel();
    return true;
  }
}
