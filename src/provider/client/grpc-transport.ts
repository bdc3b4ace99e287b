// Calls over gRPC: one channel to one address, which connects when first used and again whenever it was lost.

import { CapacityProviderDefinition } from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { bindService, clientCredentials, connect, rawBytes, type SecurityOptions } from '../../wire/index.ts';
import type { AttemptLimits, ProviderTransport } from './transport.ts';

const service = bindService(CapacityProviderDefinition, { list: { response: rawBytes } });

/** Where a provider is and how to speak to it. Plain data, so that another thread can connect as well. */
export interface ProviderAddress extends SecurityOptions {
  /** `host:port`. */
  readonly address: string;
}

export function grpcTransport({ address, ...security }: ProviderAddress): ProviderTransport {
  const client = connect(service, address, clientCredentials(address, security));
  const { rpc } = client;
  return {
    create: (request, limits) => rpc.create(request, callOptions(limits)),
    configure: (request, limits) => rpc.configure(request, callOptions(limits)),
    drain: (request, limits) => rpc.drain(request, callOptions(limits)),
    delete: (request, limits) => rpc.delete(request, callOptions(limits)),
    get: (request, limits) => rpc.get(request, callOptions(limits)),
    list: (request, limits) => rpc.list(request, callOptions(limits)),
    close: () => client.close(),
  };
}

function callOptions({ signal, timeoutMs }: AttemptLimits) {
  return { signal, deadline: Date.now() + timeoutMs };
}
