// Serves a provider over gRPC, for the main program of a provider, `bigfleet provider fake` and the clouds of `bigfleet
// up`. This file handles grpc-js, addresses and identities; everything else is the provider's.
//
//   bigfleet://shard/<id>                 all calls; changes only with its own id in the token
//   bigfleet://admin, bigfleet://readonly Get and List
//
// A conformance suite acts as many shards at once. During a certification one identity can be allowed to do so
// (`actsForAnyShard`); any holder of its certificate can then make every call, so it is off by default.
//
// Without TLS, which requires loopback unless the operator overrides it, there are no identities and every call is
// allowed.

import { Server } from '@grpc/grpc-js';
import { BigFleetError, excerpt, printable } from '../../model/index.ts';
import { CapacityProviderDefinition } from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
import {
  addService,
  bindService,
  CHANNEL_OPTIONS,
  denied,
  type HandlersFor,
  type Identity,
  identityOf,
  parseIdentity,
  rawBytes,
  type SecurityOptions,
  serverCredentials,
  stopServer,
} from '../../wire/index.ts';
import type { Provider } from './provider.ts';

const service = bindService(CapacityProviderDefinition, { list: { response: rawBytes } });

/** The methods the server calls, so that a wrapper of a provider can be served too. */
export type ServedProvider = Pick<
  Provider,
  'create' | 'configure' | 'drain' | 'delete' | 'get' | 'listBytes' | 'close'
>;

/** How a provider is served: over TLS or in plaintext, and for whom. */
export interface ServeOptions extends SecurityOptions {
  /**
   * An identity, such as `bigfleet://shard/conformance`, whose changes are accepted for any shard in the token. Only for
   * certifying a provider over TLS; never for a certificate that a running shard holds. Default: none.
   */
  readonly actsForAnyShard?: string;
}

/** A provider that is served on a port. */
export interface ProviderServer {
  /** The listen address, with the port actually bound. */
  readonly address: string;
  /**
   * Stops accepting connections, waits for in-flight calls and then up to `waitMs` for in-flight transitions, and closes
   * the provider with its store.
   */
  stop(waitMs?: number): Promise<void>;
}

/** In-flight calls get this long at a stop before they are cancelled. */
const CALL_WAIT_MS = 2000;

/** Serves a provider over gRPC at `address` (`host:port`; port 0 picks a free one). */
export async function serveProvider(
  provider: ServedProvider,
  address: string,
  options: ServeOptions,
): Promise<ProviderServer> {
  const credentials = serverCredentials(address, options);
  const certifier = certifierOf(options);
  const server = new Server(CHANNEL_OPTIONS);
  const callerOf = options.tls === null ? () => null : identityOf;
  const ofShard = <R extends ShardRequest>(request: R, caller: Identity | null): R =>
    caller !== null && isSame(caller, certifier) ? request : fromItsShard(request, caller);
  const handlers: HandlersFor<typeof service> = {
    create: (request, call) => provider.create(ofShard(request, callerOf(call))),
    configure: (request, call) => provider.configure(ofShard(request, callerOf(call))),
    drain: (request, call) => provider.drain(ofShard(request, callerOf(call))),
    delete: (request, call) => provider.delete(ofShard(request, callerOf(call))),
    get: (request, call) => provider.get(fromReader(request, callerOf(call))),
    list: (request, call) => provider.listBytes(fromReader(request, callerOf(call))),
  };
  addService(server, service, handlers);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync(address, credentials, (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return {
    address: `${address.slice(0, address.lastIndexOf(':'))}:${port}`,
    stop: async (waitMs = 0) => {
      await stopServer(server, CALL_WAIT_MS);
      await provider.close(waitMs);
    },
  };
}

function certifierOf({ tls, actsForAnyShard }: ServeOptions): Identity | null {
  if (actsForAnyShard === undefined) return null;
  if (tls === null) {
    throw new BigFleetError(
      'BF_USAGE',
      'Without TLS there are no identities, and every caller may do everything.',
    );
  }
  const identity = parseIdentity(actsForAnyShard);
  if (identity !== null) return identity;
  throw new BigFleetError(
    'BF_USAGE',
    `"${printable(actsForAnyShard)}" is no identity such as bigfleet://shard/ID.`,
  );
}

function isSame(caller: Identity, other: Identity | null): boolean {
  if (caller.kind !== other?.kind) return false;
  return !('id' in caller) || ('id' in other && caller.id === other.id);
}

interface ShardRequest {
  readonly shardId: string;
}

/** The shard id of the token must be that of the certificate. */
function fromItsShard<R extends ShardRequest>(request: R, caller: Identity | null): R {
  if (caller === null) return request;
  if (caller.kind !== 'shard') throw denied(`Changes are for shards; the caller is ${caller.kind}.`);
  if (caller.id === request.shardId) return request;
  throw denied(`The caller is shard "${excerpt(caller.id)}", the token is of "${excerpt(request.shardId)}".`);
}

function fromReader<R>(request: R, caller: Identity | null): R {
  if (caller?.kind === 'cluster') throw denied('A cluster does not speak to providers.');
  return request;
}
