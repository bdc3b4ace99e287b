// Puts any six calls on a port of this machine: what a provider looks like from outside without the kit's server.

import { Server, ServerCredentials } from '@grpc/grpc-js';
import type { ProviderRpc } from '../../src/provider/index.ts';
import { CapacityProviderDefinition } from '../../src/wire/gen/bigfleet/v1alpha1/provider.ts';
import { addService, bindService, CHANNEL_OPTIONS } from '../../src/wire/index.ts';

export interface ServedCalls {
  readonly address: string;
  stop(): void;
}

export async function serveCalls(
  calls: ProviderRpc,
  port = 0,
  credentials: ServerCredentials = ServerCredentials.createInsecure(),
): Promise<ServedCalls> {
  const server = new Server(CHANNEL_OPTIONS);
  addService(server, bindService(CapacityProviderDefinition), {
    create: (request) => calls.create(request),
    configure: (request) => calls.configure(request),
    drain: (request) => calls.drain(request),
    delete: (request) => calls.delete(request),
    get: (request) => calls.get(request),
    list: (request) => calls.list(request),
  });
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, credentials, (error, at) =>
      error === null ? resolve(at) : reject(error),
    );
  });
  return { address: `127.0.0.1:${bound}`, stop: () => server.forceShutdown() };
}
