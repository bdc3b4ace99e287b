// The client side of a typed service: unary calls as promises, streams as grpc-js makes them (both kinds can be read
// with `for await`, which also gives back-pressure). Neighbours: service.ts, server.ts. Used by the provider client,
// the conformance suite and the demo's operator.

import {
  type CallOptions,
  type ChannelCredentials,
  type ChannelOptions,
  Client,
  type ClientDuplexStream,
  type ClientReadableStream,
  credentials as grpcCredentials,
  Metadata,
} from '@grpc/grpc-js';
import {
  CHANNEL_OPTIONS,
  type Method,
  type MethodShape,
  methodsOf,
  type Service,
  type Shapes,
} from './service.ts';

/** Limits of one call. */
export interface RpcOptions extends Pick<CallOptions, 'deadline'> {
  readonly metadata?: Metadata;
  /** Cancels the call. */
  readonly signal?: AbortSignal;
}

type CallOf<S extends MethodShape> = {
  /** Rejects with a grpc-js ServiceError; see `statusOf`. */
  unary: (request: S['request'], options?: RpcOptions) => Promise<S['response']>;
  serverStream: (request: S['request'], options?: RpcOptions) => ClientReadableStream<S['response']>;
  bidi: (options?: RpcOptions) => ClientDuplexStream<S['request'], S['response']>;
}[S['kind']];

export interface ServiceClient<M extends Shapes> {
  readonly rpc: { readonly [K in keyof M]: CallOf<M[K]> };
  /** Lets calls in flight finish and accepts no new ones. */
  close(): void;
}

/** A client of a service. It connects when first used and again whenever the connection is lost. */
export function connect<M extends Shapes>(
  service: Service<M>,
  address: string,
  credentials: ChannelCredentials = grpcCredentials.createInsecure(),
  options: ChannelOptions = {},
): ServiceClient<M> {
  const client = new Client(address, credentials, { ...CHANNEL_OPTIONS, ...options });
  const rpc: Record<string, unknown> = {};
  for (const [key, method] of methodsOf(service)) {
    rpc[key] = clientCall(client, method);
  }
  return { rpc: rpc as ServiceClient<M>['rpc'], close: () => client.close() };
}

function clientCall(client: Client, { path, kind, request: req, response: res }: Method<MethodShape>) {
  switch (kind) {
    case 'unary':
      return (request: unknown, options: RpcOptions = {}) =>
        new Promise((resolve, reject) => {
          const [metadata, callOptions] = callArguments(options);
          const call = client.makeUnaryRequest(
            path,
            req.encode,
            res.decode,
            request,
            metadata,
            callOptions,
            (error, response) => (error === null ? resolve(response) : reject(error)),
          );
          cancelOn(options.signal, call);
        });
    case 'serverStream':
      return (request: unknown, options: RpcOptions = {}) => {
        const args = callArguments(options);
        const call = client.makeServerStreamRequest(path, req.encode, res.decode, request, ...args);
        return cancelOn(options.signal, call);
      };
    case 'bidi':
      return (options: RpcOptions = {}) => {
        const call = client.makeBidiStreamRequest(path, req.encode, res.decode, ...callArguments(options));
        return cancelOn(options.signal, call);
      };
  }
}

function callArguments({ deadline, metadata }: RpcOptions): [Metadata, CallOptions] {
  return [metadata ?? new Metadata(), deadline === undefined ? {} : { deadline }];
}

interface Cancellable {
  cancel(): void;
  on(event: 'status', listener: () => void): unknown;
}

function cancelOn<C extends Cancellable>(signal: AbortSignal | undefined, call: C): C {
  if (signal === undefined) return call;
  const cancel = () => call.cancel();
  if (signal.aborted) cancel();
  signal.addEventListener('abort', cancel, { once: true });
  // A signal may outlive thousands of calls, so each call removes its listener.
  call.on('status', () => signal.removeEventListener('abort', cancel));
  return call;
}
