// Puts a provider on a port. Everything else is the provider's; this file knows grpc-js, addresses and identities.
//
//   bigfleet://shard/<id>                 all calls; changes only with its own id in the token
//   bigfleet://admin, bigfleet://readonly Get and List
//
// Without TLS, which is for loopback alone unless somebody insists, there are no identities and every call is allowed.

import { Server } from '@grpc/grpc-js';
import { printable } from '../../model/index.ts';
import { CapacityProviderDefinition } from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
import {
  addService,
  bindService,
  CHANNEL_OPTIONS,
  denied,
  type HandlersFor,
  type Identity,
  identityOf,
  rawBytes,
  type SecurityOptions,
  serverCredentials,
} from '../../wire/index.ts';
import type { Provider } from './provider.ts';

const service = bindService(CapacityProviderDefinition, { list: { response: rawBytes } });

/** What a port needs of a provider: the calls, and an end. Whatever wraps a provider can be served too. */
export type ServedProvider = Pick<
  Provider,
  'create' | 'configure' | 'drain' | 'delete' | 'get' | 'listBytes' | 'close'
>;

export interface ProviderServer {
  /** Where it listens, with the real port. */
  readonly address: string;
  /**
   * Takes no new connections, lets calls and then transitions under way end for up to `waitMs`, and closes the provider
   * with its store.
   */
  stop(waitMs?: number): Promise<void>;
}

/** Calls that hang longer than this at a stop are cut off. */
const CALL_WAIT_MS = 2000;

export async function serveProvider(
  provider: ServedProvider,
  address: string,
  security: SecurityOptions,
): Promise<ProviderServer> {
  const credentials = serverCredentials(address, security);
  const server = new Server(CHANNEL_OPTIONS);
  const callerOf = security.tls === null ? () => null : identityOf;
  const handlers: HandlersFor<typeof service> = {
    create: (request, call) => provider.create(fromItsShard(request, callerOf(call))),
    configure: (request, call) => provider.configure(fromItsShard(request, callerOf(call))),
    drain: (request, call) => provider.drain(fromItsShard(request, callerOf(call))),
    delete: (request, call) => provider.delete(fromItsShard(request, callerOf(call))),
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
      await shutDown(server);
      await provider.close(waitMs);
    },
  };
}

/** A change is a shard's own: the token carries the id that the certificate does. */
function fromItsShard<R extends { readonly shardId: string }>(request: R, caller: Identity | null): R {
  if (caller === null) return request;
  if (caller.kind !== 'shard') throw denied(`Changes are for shards; the caller is ${caller.kind}.`);
  if (caller.id === request.shardId) return request;
  throw denied(
    `The caller is shard "${printable(caller.id)}", the token is of "${printable(request.shardId)}".`,
  );
}

function fromReader<R>(request: R, caller: Identity | null): R {
  if (caller?.kind === 'cluster') throw denied('A cluster does not speak to providers.');
  return request;
}

function shutDown(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const cutOff = setTimeout(() => {
      server.forceShutdown();
      resolve();
    }, CALL_WAIT_MS);
    server.tryShutdown(() => {
      clearTimeout(cutOff);
      resolve();
    });
  });
}
