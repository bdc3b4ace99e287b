// Calls over gRPC: one channel to one address, which connects when first used and again whenever it was lost.

import { CapacityProviderDefinition } from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
import {
  bindService,
  clientCredentials,
  connect,
  rawBytes,
  type SecurityOptions,
  status,
  statusOf,
  tlsAdvice,
} from '../../wire/index.ts';
import type { AttemptLimits, ProviderTransport } from './transport.ts';

/** The advice on a connection that cannot be made holds for this long: it may take a connection to find out. */
const ADVICE_MS = 30_000;

const service = bindService(CapacityProviderDefinition, { list: { response: rawBytes } });

/** Where a provider is and how to speak to it. Plain data, so that another thread can connect as well. */
export interface ProviderAddress extends SecurityOptions {
  /** `host:port`. */
  readonly address: string;
}

/** Calls over gRPC: one channel, which connects when first used and again whenever it was lost. */
export function grpcTransport({ address, ...security }: ProviderAddress): ProviderTransport {
  const client = connect(service, address, clientCredentials(address, security));
  const { rpc } = client;
  let askedMs = Number.NEGATIVE_INFINITY;
  let advice: string | null = null;
  /** A provider that cannot be reached over TLS, or without, is told apart from one that is not there. */
  const advised = async <T>(call: () => Promise<T>): Promise<T> => {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof Error) || statusOf(error) !== status.UNAVAILABLE) throw error;
      if (performance.now() - askedMs > ADVICE_MS) {
        askedMs = performance.now();
        advice = await tlsAdvice(error.message, { address, hasFiles: security.tls !== null });
      }
      if (advice !== null) error.message = `${advice} (${error.message})`;
      throw error;
    }
  };
  return {
    create: (request, limits) => rpc.create(request, callOptions(limits)),
    configure: (request, limits) => rpc.configure(request, callOptions(limits)),
    drain: (request, limits) => rpc.drain(request, callOptions(limits)),
    delete: (request, limits) => rpc.delete(request, callOptions(limits)),
    get: (request, limits) => rpc.get(request, callOptions(limits)),
    list: (request, limits) => advised(() => rpc.list(request, callOptions(limits))),
    close: () => client.close(),
  };
}

function callOptions({ signal, timeoutMs }: AttemptLimits) {
  return { signal, deadline: Date.now() + timeoutMs };
}
