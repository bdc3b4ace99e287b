// Puts a provider on a port. Everything else is the provider's; this file knows grpc-js, addresses and identities.

import { Server, type ServerCredentials } from '@grpc/grpc-js';
import { CapacityProviderDefinition } from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { addService, bindService, CHANNEL_OPTIONS, type HandlersFor, rawBytes } from '../../wire/index.ts';
import type { Provider } from './provider.ts';

const service = bindService(CapacityProviderDefinition, { list: { response: rawBytes } });

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
  provider: Provider,
  address: string,
  credentials: ServerCredentials,
): Promise<ProviderServer> {
  const server = new Server(CHANNEL_OPTIONS);
  const handlers: HandlersFor<typeof service> = {
    create: (request) => provider.create(request),
    configure: (request) => provider.configure(request),
    drain: (request) => provider.drain(request),
    delete: (request) => provider.delete(request),
    get: (request) => provider.get(request),
    list: (request) => provider.listBytes(request),
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
