// `Shard.Session` on a grpc-js server: makes a port of each call. The only file of the sessions that knows grpc-js.
// process/shard.ts adds it to the server.

import { type ChannelOptions, Metadata, type Server, type ServerDuplexStream } from '@grpc/grpc-js';
import { ShardDefinition, type ShardMessage } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import {
  addService,
  bindService,
  CHANNEL_OPTIONS,
  closeWithStatus,
  connectionOf,
  Inflater,
  identityOf,
  inflateBy,
  type ReadControl,
  Receiving,
  RpcError,
  rawBytes,
  readInFront,
  status,
} from '../../wire/index.ts';
import {
  FRAME_STALL_MS,
  MAX_FIRST_FRAME_BYTES,
  MAX_STREAMS_PER_CONNECTION,
  roomForFrames,
  type SessionLimits,
  transportBytes,
} from './limits.ts';
import type { FrameFailure, Origin, SessionLink, SessionPort, SessionStatus } from './port.ts';
import type { Sessions } from './sessions.ts';

const service = bindService(ShardDefinition, { session: { request: rawBytes } });

type Call = ServerDuplexStream<Uint8Array, ShardMessage>;

/**
 * Options for the server of sessions. grpc-js itself refuses only what is beyond the limit of the transport: the
 * session drops smaller frames that are still too large. Keepalive pings detect peers that vanished, whose session
 * would otherwise stay until they reconnect.
 */
export function sessionServerOptions({ frameBytes }: Pick<SessionLimits, 'frameBytes'>): ChannelOptions {
  return {
    ...CHANNEL_OPTIONS,
    'grpc.max_receive_message_length': transportBytes(frameBytes),
    'grpc.max_concurrent_streams': MAX_STREAMS_PER_CONNECTION,
    'grpc.keepalive_time_ms': 20_000,
    'grpc.keepalive_timeout_ms': 10_000,
  };
}

/** The trailer in which gRPC carries a retry delay. */
const RETRY_HINT = 'grpc-retry-pushback-ms';

/** After this time the stream of an operator that does not read is reset. Until then it may read its status. */
const FAREWELL_MS = 10_000;

/** All callers whose certificate has no BigFleet identity. They are refused at their hello, and share the slots before it. */
const UNNAMED = '';

export interface SessionServerOptions {
  readonly hasTls: boolean;
  /** How long the last frames and the status may take to reach an operator that does not read. */
  readonly farewellMs?: number;
}

/** Adds the service to a server. Without TLS there are no identities, and any caller may act for any cluster. */
export function addSessions(server: Server, sessions: Sessions, options: SessionServerOptions): void {
  const { hasTls, farewellMs = FAREWELL_MS } = options;
  const maxBytes = roomForFrames(sessions.limits.frameBytes);
  const receiving = new Receiving({ clock: sessions.clock, maxBytes, stallMs: FRAME_STALL_MS });
  const inflater = new Inflater(maxBytes);
  addService(server, service, {
    session: (call) => {
      const port = new CallPort(call, farewellMs);
      const identify = () => (hasTls ? identityOf(call) : null);
      const link = sessions.connect(port, identify, originOf(call, hasTls));
      // Refused: nothing is read from it.
      if (port.hasEnded) return;
      receiveFrames(call, link, port, receiving);
      inflateFrames(call, link, { port, inflater, frameBytes: sessions.limits.frameBytes });
      call.on('data', (frame) => link.receive(frame));
      call.on('drain', () => link.drained());
      // The operator has half-closed the stream, so the shard closes it. It may have stopped reading, too.
      call.on('end', () => {
        link.closed();
        closeWithStatus(call, status.OK, farewellMs);
        call.end();
      });
      call.on('cancelled', () => link.closed());
      call.on('close', () => {
        port.stopReceiving();
        link.closed();
      });
    },
  });
}

function originOf(call: Call, hasTls: boolean): Origin {
  return { connection: connectionOf(call), identity: hasTls ? nameOf(call) : null };
}

function nameOf(call: Call): string {
  try {
    const identity = identityOf(call);
    return 'id' in identity ? `${identity.kind}/${identity.id}` : identity.kind;
  } catch {
    return UNNAMED;
  }
}

/** Bounds frames while they arrive: each by its announced length, and all that are incomplete together. */
function receiveFrames(call: Call, link: SessionLink, port: CallPort, receiving: Receiving): void {
  const control = readInFront(call, (forward) => {
    const incoming = receiving.open({
      announced: (bytes) => link.announced(bytes),
      forward,
      overrun: (bytes) => link.failed({ kind: 'overrun', bytes }),
      stalled: (bytes) => link.failed({ kind: 'stalled', bytes }),
    });
    port.stopReceiving = () => incoming.stop();
    port.onPause = (isPaused) => {
      incoming.isPaused = isPaused;
    };
    return (chunk) => incoming.push(chunk);
  });
  port.control = control;
}

interface InflateParts {
  readonly port: CallPort;
  readonly inflater: Inflater;
  readonly frameBytes: number;
}

/** Bounds what compressed frames become. */
function inflateFrames(call: Call, link: SessionLink, { port, inflater, frameBytes }: InflateParts): void {
  inflateBy(call, async (bytes, encoding, index) => {
    const maxBytes = index === 0 ? MAX_FIRST_FRAME_BYTES : frameBytes;
    const isWanted = (): boolean => !port.hasEnded;
    const inflated = await inflater.inflate({ bytes, encoding, maxBytes, isWanted });
    if (typeof inflated !== 'string') return inflated;
    if (inflated !== 'unwanted') link.failed(failureOf(inflated, bytes.length, maxBytes));
    // The call has its status; grpc-js must not give it another.
    return new Promise(() => {});
  });
}

function failureOf(why: 'large' | 'malformed' | 'busy', bytes: number, maxBytes: number): FrameFailure {
  return why === 'large' ? { kind: 'inflated', bytes: maxBytes } : { kind: why, bytes };
}

class CallPort implements SessionPort {
  readonly #call: Call;
  readonly #farewellMs: number;
  hasEnded = false;
  /** Reads nothing more from the stream, and frees incomplete frames. */
  stopReceiving: () => void = () => {};
  onPause: (isPaused: boolean) => void = () => {};
  control: ReadControl | null = null;

  constructor(call: Call, farewellMs: number) {
    this.#call = call;
    this.#farewellMs = farewellMs;
    call.once('close', () => {
      this.hasEnded = true;
    });
  }

  write(frame: ShardMessage): 'accepted' | 'full' {
    if (this.#call.writableNeedDrain || !this.#call.writable) return 'full';
    this.#call.write(frame);
    return 'accepted';
  }

  pause(): void {
    this.onPause(true);
    this.control?.pause();
  }

  resume(): void {
    this.onPause(false);
    this.control?.resume();
  }

  end({ code, details, retryAfterMs }: SessionStatus): void {
    const call = this.#call;
    this.resume();
    this.hasEnded = true;
    this.stopReceiving();
    closeWithStatus(call, code, this.#farewellMs);
    // grpc-js ends a stream with a status when the call emits an error, after everything written before.
    const hint = new Metadata();
    if (retryAfterMs !== undefined) hint.set(RETRY_HINT, String(Math.ceil(retryAfterMs)));
    call.emit('error', Object.assign(new RpcError(code, details), { metadata: hint }));
  }
}
