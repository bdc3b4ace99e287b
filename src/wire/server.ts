// The server side of a typed service: handlers that take and return messages, on a grpc-js server.
// A two-way stream is handed over as grpc-js made it, because a session has to decide itself when to wait.
// Neighbours: service.ts binds the definition, client.ts calls it.

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
import { excerpt } from '../model/index.ts';
import { type Kind, type MethodShape, methodsOf, RpcError, type Service, type Shapes } from './service.ts';

type HandlerOf<S extends MethodShape> = {
  unary: (
    request: S['request'],
    call: ServerUnaryCall<S['request'], S['response']>,
  ) => S['response'] | Promise<S['response']>;
  /** Frames are taken from the iterable only as fast as the client reads them; it is closed on cancellation. */
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

/** Until the stream takes more, or nobody wants more. */
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

/** A status travels in the headers; peers take some kilobytes of those and end the connection beyond. */
const MAX_STATUS_BYTES = 2_000;

function rpcErrorOf(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  const details = error instanceof Error ? error.message : String(error);
  return new RpcError(status.INTERNAL, excerpt(details, MAX_STATUS_BYTES), { cause: error });
}

/** Takes no more calls, gives those under way so long, and then ends them. */
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

/**
 * Resets a stream whose other end does not read. grpc-js offers servers no such thing, and its status would wait behind
 * the unread frames for ever, with the call and its buffers; so this reaches for the stream below.
 */
export function resetStream(call: object): void {
  const below = call as { readonly call?: { readonly stream?: { close(code: number): void } } };
  below.call?.stream?.close(HTTP2_CANCEL);
}

/** NGHTTP2_CANCEL. */
const HTTP2_CANCEL = 8;
