// One `bindService` per generated definition gives the typed service that server.ts and client.ts share.
// The layer adds types, strict decoding, promises and back-pressure for server streams over grpc-js, and
// nothing else. Codecs can be replaced per method: a session reads its requests raw, see frames.ts.

import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { type ChannelOptions, logVerbosity, setLogVerbosity, status } from '@grpc/grpc-js';
import { decodeStrict, type MessageType } from '../codec/decode.ts';

// Silences grpc-js on standard error: it also raises each of these messages as an error, which the caller reports. To see
// its lines, an operator sets the variable.
if ((process.env['GRPC_NODE_VERBOSITY'] ?? process.env['GRPC_VERBOSITY']) === undefined)
  setLogVerbosity(logVerbosity.NONE);

/**
 * Largest message, sent or received: 256 MiB, the same for every BigFleet peer. A full List of 500,000 machines is about
 * 150 MB and must fit; with a much higher limit one peer could exhaust the memory of another.
 */
export const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;

/** Options for every `Server` and client of ours. */
export const CHANNEL_OPTIONS: ChannelOptions = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
};

/** Encodes and decodes a message. `decode` throws on invalid bytes. */
export interface Codec<T> {
  readonly encode: (value: T) => Buffer;
  readonly decode: (bytes: Buffer) => T;
}

/** Passes a message on as bytes, for a reader that decodes only parts of it. */
export const rawBytes: Codec<Uint8Array> = { encode: asBuffer, decode: (bytes) => bytes };

export type Kind = 'unary' | 'serverStream' | 'bidi';

export interface MethodShape {
  readonly request: unknown;
  readonly response: unknown;
  readonly kind: Kind;
}

export interface Method<S extends MethodShape> {
  /** Full gRPC path, for example `/bigfleet.v1alpha1.Shard/Session`. */
  readonly path: string;
  readonly kind: S['kind'];
  readonly request: Codec<S['request']>;
  readonly response: Codec<S['response']>;
}

export type Shapes = Readonly<Record<string, MethodShape>>;

/** A service ready for `addService` and `connect`, with the types of its messages. */
export interface Service<M extends Shapes> {
  readonly name: string;
  readonly methods: { readonly [K in keyof M]: Method<M[K]> };
}

// The definition that ts-proto generates for a service. `never` and `unknown` accept every message type; the actual types
// are inferred from the definition below.
interface GeneratedMethod {
  readonly name: string;
  readonly requestType: Pick<MessageType<never>, 'encode'> & Pick<MessageType<unknown>, 'decode'>;
  readonly requestStream: boolean;
  readonly responseType: Pick<MessageType<never>, 'encode'> & Pick<MessageType<unknown>, 'decode'>;
  readonly responseStream: boolean;
}
interface GeneratedService {
  readonly fullName: string;
  readonly methods: Readonly<Record<string, GeneratedMethod>>;
}

interface AnyCodec {
  readonly encode: (value: never) => Buffer;
  readonly decode: (bytes: Buffer) => unknown;
}
type Codecs<D extends GeneratedService> = {
  readonly [K in keyof D['methods']]?: { readonly request?: AnyCodec; readonly response?: AnyCodec };
};

type KindOf<G extends GeneratedMethod> = G['requestStream'] extends true
  ? 'bidi'
  : G['responseStream'] extends true
    ? 'serverStream'
    : 'unary';

/** The message type of one side of method `K`: that of the replaced codec, else of the generated type. */
type SideOf<C, K, Side extends 'request' | 'response', Generated> = K extends keyof C
  ? C[K] extends Readonly<Record<Side, { readonly decode: (bytes: Buffer) => infer T }>>
    ? T
    : Generated
  : Generated;

type Decoded<Type extends { decode(input: Uint8Array): unknown }> = ReturnType<Type['decode']>;

type ShapesOf<D extends GeneratedService, C> = {
  readonly [K in keyof D['methods'] & string]: {
    readonly request: SideOf<C, K, 'request', Decoded<D['methods'][K]['requestType']>>;
    readonly response: SideOf<C, K, 'response', Decoded<D['methods'][K]['responseType']>>;
    readonly kind: KindOf<D['methods'][K]>;
  };
};

/** `codecs` replaces the codec of single methods, for example `{ session: { request: rawBytes } }`. */
export function bindService<D extends GeneratedService, const C extends Codecs<D> = Record<never, never>>(
  definition: D,
  codecs?: C,
): Service<ShapesOf<D, C>> {
  const methods: Record<string, Method<MethodShape>> = {};
  for (const [key, method] of Object.entries(definition.methods)) {
    if (method.requestStream && !method.responseStream) {
      throw new Error(`${definition.fullName}/${method.name}: streams of requests alone are not supported`);
    }
    const replaced = codecs?.[key as keyof C & string];
    methods[key] = {
      path: `/${definition.fullName}/${method.name}`,
      kind: method.requestStream ? 'bidi' : method.responseStream ? 'serverStream' : 'unary',
      request: (replaced?.request ?? codecOf(method.requestType)) as Codec<unknown>,
      response: (replaced?.response ?? codecOf(method.responseType)) as Codec<unknown>,
    };
  }
  // The loop above does at run time what ShapesOf does for the compiler.
  return { name: definition.fullName, methods } as unknown as Service<ShapesOf<D, C>>;
}

/** The methods of a service without message types, for code that handles all methods alike. */
export function methodsOf<M extends Shapes>(
  service: Service<M>,
): [key: string, method: Method<MethodShape>][] {
  return Object.entries(service.methods as unknown as Record<string, Method<MethodShape>>);
}

/** gRPC status codes, re-exported for handlers that do not import grpc-js. */
export { status };

/** An answer with a gRPC status. Throw it in a handler; any other error becomes INTERNAL. */
export class RpcError extends Error {
  readonly code: status;

  constructor(code: status, details: string, options?: ErrorOptions) {
    super(details, options);
    this.name = 'RpcError';
    this.code = code;
  }
}

/** The gRPC status of an error from a call or an `RpcError`; undefined for any other error. */
export function statusOf(error: unknown): status | undefined {
  const isRpc = error instanceof Error && 'code' in error && typeof error.code === 'number';
  return isRpc ? (error.code as status) : undefined;
}

function codecOf(type: GeneratedMethod['requestType']): AnyCodec {
  return {
    encode: (value) => encoded(type, value),
    decode: (bytes) => decodeStrict(type, bytes),
  };
}

// One writer for all messages. A new writer allocates an external buffer each time it doubles, and that much churn of
// external memory makes V8 start full mark phases repeatedly.
let writer = new BinaryWriter();

function encoded(type: GeneratedMethod['requestType'], value: never): Buffer {
  try {
    const bytes = asBuffer(type.encode(value, writer).finish());
    if (bytes.length > LARGEST_KEPT) writer = new BinaryWriter();
    return bytes;
  } catch (error) {
    // The writer contains a partial message.
    writer = new BinaryWriter();
    throw error;
  }
}

/** The writer is replaced after a message larger than this, in bytes. Such messages are rare, and its buffer is freed. */
const LARGEST_KEPT = 2 ** 20;

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
