// The server side of a typed service: handlers that receive and return messages, on a grpc-js server. A bidirectional
// stream is passed on as grpc-js made it, because a session applies its own back-pressure. Neighbours: service.ts binds
// the definition, client.ts calls it. Used by the kit, by sessions and by the shard's read API.

import { constants, type ServerHttp2Stream } from 'node:http2';
import { Duplex } from 'node:stream';
import {
  type Server,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type sendUnaryData,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { excerpt } from '../../model/index.ts';
import { type Encoding, isEncoding } from './inflating.ts';
import { type Kind, type MethodShape, methodsOf, RpcError, type Service, type Shapes } from './service.ts';

type HandlerOf<S extends MethodShape> = {
  unary: (
    request: S['request'],
    call: ServerUnaryCall<S['request'], S['response']>,
  ) => S['response'] | Promise<S['response']>;
  /** Frames are pulled from the iterable only as fast as the client reads them; it is closed on cancellation. */
  serverStream: (
    request: S['request'],
    call: ServerWritableStream<S['request'], S['response']>,
  ) => Iterable<S['response']> | AsyncIterable<S['response']>;
  bidi: (call: ServerDuplexStream<S['request'], S['response']>) => void;
}[S['kind']];

/** One handler per method of a service. */
export type Handlers<M extends Shapes> = { readonly [K in keyof M]: HandlerOf<M[K]> };

/** The handlers of a bound service, for code that writes them apart: `HandlersFor<typeof service>`. */
export type HandlersFor<S> = S extends Service<infer M> ? Handlers<M> : never;

export function addService<M extends Shapes>(
  server: Server,
  service: Service<M>,
  handlers: Handlers<M>,
): void {
  const definition: Record<string, ServiceDefinition[string]> = {};
  const implementation: UntypedServiceImplementation = {};
  for (const [key, method] of methodsOf(service)) {
    definition[key] = {
      path: method.path,
      requestStream: method.kind === 'bidi',
      responseStream: method.kind !== 'unary',
      requestSerialize: method.request.encode,
      requestDeserialize: method.request.decode,
      responseSerialize: method.response.encode,
      responseDeserialize: method.response.decode,
    };
    implementation[key] = grpcHandler(method.kind, handlers[key as keyof M]);
  }
  server.addService(definition, implementation);
}

type AnyShape<K extends Kind> = { readonly request: unknown; readonly response: unknown; readonly kind: K };

function grpcHandler(kind: Kind, handler: unknown): UntypedServiceImplementation[string] {
  switch (kind) {
    case 'unary':
      return (call: ServerUnaryCall<unknown, unknown>, done: sendUnaryData<unknown>) =>
        void answer(handler as HandlerOf<AnyShape<'unary'>>, call, done);
    case 'serverStream':
      return (call: ServerWritableStream<unknown, unknown>) =>
        void stream(handler as HandlerOf<AnyShape<'serverStream'>>, call);
    case 'bidi':
      return handler as HandlerOf<AnyShape<'bidi'>>;
  }
}

async function answer(
  handler: HandlerOf<AnyShape<'unary'>>,
  call: ServerUnaryCall<unknown, unknown>,
  done: sendUnaryData<unknown>,
): Promise<void> {
  let response: unknown;
  try {
    response = await handler(call.request, call);
  } catch (error) {
    done(rpcErrorOf(error));
    return;
  }
  done(null, response);
}

async function stream(
  handler: HandlerOf<AnyShape<'serverStream'>>,
  call: ServerWritableStream<unknown, unknown>,
): Promise<void> {
  try {
    for await (const frame of handler(call.request, call)) {
      if (call.cancelled) return;
      if (!call.write(frame)) await drained(call);
    }
    call.end();
  } catch (error) {
    // grpc-js ends a stream with a status when the call emits an error.
    call.emit('error', rpcErrorOf(error));
  }
}

/** Resolves when the stream accepts more messages or the call is cancelled. */
function drained(call: ServerWritableStream<unknown, unknown>): Promise<void> {
  if (call.cancelled) return Promise.resolve();
  return new Promise((resolve) => {
    const go = () => {
      call.off('drain', go);
      call.off('cancelled', go);
      resolve();
    };
    call.on('drain', go);
    call.on('cancelled', go);
  });
}

/** A status is sent in headers; peers accept some kilobytes of headers and close the connection beyond that. */
const MAX_STATUS_BYTES = 2_000;

function rpcErrorOf(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  const details = error instanceof Error ? error.message : String(error);
  return new RpcError(status.INTERNAL, excerpt(details, MAX_STATUS_BYTES), { cause: error });
}

/** Accepts no new calls, waits at most `withinMs` for calls in flight, and then cancels them. */
export function stopServer(server: Server, withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cutOff = setTimeout(() => {
      server.forceShutdown();
      resolve();
    }, withinMs);
    server.tryShutdown(() => {
      clearTimeout(cutOff);
      resolve();
    });
  });
}

// Below grpc-js. It gives servers no way to reset a stream, to tell connections apart or to bound incoming bytes, so the
// functions here use the internal HTTP/2 stream of a call. Each documents its fallback if a later grpc-js moves it.

/** The HTTP/2 stream of a call; null if grpc-js does not keep it in the expected field. */
function streamOf(call: object): ServerHttp2Stream | null {
  const { stream } = callBelow(call);
  return stream instanceof Duplex ? (stream as ServerHttp2Stream) : null;
}

interface CallBelow {
  readonly stream?: unknown;
  readonly nextCall?: CallBelow;
  decompressMessage?: (framed: Buffer, encoding: string) => Buffer | Promise<Buffer>;
}

/** The innermost call object of grpc-js, behind all interceptors. */
function callBelow(call: object): CallBelow {
  let below = (call as { readonly call?: CallBelow }).call ?? {};
  while (below.nextCall !== undefined) below = below.nextCall;
  return below;
}

/** Identity of the connection of a call: one object for all its calls. Fallback: each call has its own. */
export function connectionOf(call: object): object {
  return streamOf(call)?.session ?? call;
}

/**
 * Resets a stream whose peer does not read, with an HTTP/2 error code. A gRPC status would wait behind the unread frames
 * for ever, and keep the call and its buffers in memory. Fallback: they stay until the connection closes.
 */
export function resetStream(call: object, code: number = constants.NGHTTP2_CANCEL): void {
  streamOf(call)?.close(code);
}

/**
 * Call it before ending a call with a status that the peer may not read, or may not answer by closing its half of the
 * stream. After `withinMs` the stream is reset with the HTTP/2 code that clients map to this status, because a status
 * cannot overtake unread messages. Fallback: the stream stays open until the connection closes.
 */
export function closeWithStatus(call: object, code: status, withinMs: number): void {
  const stream = streamOf(call);
  if (stream === null) return;
  const reset = setTimeout(() => stream.close(resetCodeOf(code)), withinMs).unref();
  // A status without preceding messages is sent as headers, which every client reads, so the stream is closed at once.
  // After messages it is not: clients on Node may process the reset before the status if both arrive together.
  if (!stream.headersSent) stream.once('finish', () => stream.close(constants.NGHTTP2_NO_ERROR));
  stream.once('close', () => clearTimeout(reset));
}

/** Few statuses map to an HTTP/2 error code. REFUSED_STREAM would map to UNAVAILABLE, but clients retry such calls. */
function resetCodeOf(code: status): number {
  if (code === status.RESOURCE_EXHAUSTED) return constants.NGHTTP2_ENHANCE_YOUR_CALM;
  return code === status.PERMISSION_DENIED ? constants.NGHTTP2_INADEQUATE_SECURITY : constants.NGHTTP2_CANCEL;
}

/** Pauses and resumes reading a call; while it is paused, HTTP/2 flow control blocks the sender. */
export interface ReadControl {
  pause(): void;
  resume(): void;
}

/**
 * Passes the chunks of a call to a reader, which forwards to grpc-js what it should receive. Fallback, if the listener of
 * grpc-js is not found: returns null, and grpc-js reads by itself, with a limit on the size of one message only.
 */
export function readInFront(
  call: object,
  reader: (forward: (piece: Buffer) => void) => (chunk: Buffer) => void,
): ReadControl | null {
  const stream = streamOf(call);
  const own = stream?.listeners('data') ?? [];
  if (stream === null || own.length !== 1) return null;
  const [handOn] = own as [(piece: Buffer) => void];
  const read = reader(handOn);
  let isPaused = false;
  stream.removeListener('data', handOn);
  stream.on('data', (chunk: Buffer) => {
    read(chunk);
    // grpc-js resumes the stream after each message; pausing again here lets at most one more chunk through.
    if (isPaused) stream.pause();
  });
  return {
    pause: () => {
      isPaused = true;
      stream.pause();
    },
    resume: () => {
      if (!isPaused) return;
      isPaused = false;
      stream.resume();
    },
  };
}

/**
 * Replaces the inflation of a call's compressed messages; grpc-js would inflate all of them concurrently. `inflate`
 * receives messages in order, with an index from 0. If its promise never settles, the caller has to end the call.
 */
export function inflateBy(
  call: object,
  inflate: (bytes: Buffer, encoding: Encoding, index: number) => Promise<Buffer>,
): void {
  const below = callBelow(call);
  const own = below.decompressMessage?.bind(below);
  if (own === undefined) return;
  let index = 0;
  below.decompressMessage = (framed, encoding) => {
    const at = index++;
    return isEncoding(encoding) ? inflate(framed.subarray(5), encoding, at) : own(framed, encoding);
  };
}
