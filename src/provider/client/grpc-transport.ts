// Calls to a provider over gRPC. A shard has two of these channels for each provider: one for calls
// (shard/process/shard.ts) and one for Lists (list-worker.ts). Part of the package's API (`bigfleet/provider/client`).

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

/** Lifetime of cached TLS advice for a failed connection: finding it may take another connection. */
const ADVICE_MS = 30_000;

const service = bindService(CapacityProviderDefinition, { list: { response: rawBytes } });

/** Address and TLS settings of a provider. Plain data, so that another thread can connect as well. */
export interface ProviderAddress extends SecurityOptions {
  /** `host:port`. */
  readonly address: string;
}

/** A transport over one gRPC channel, which connects on first use and reconnects after a loss. */
export function grpcTransport({ address, ...security }: ProviderAddress): ProviderTransport {
  const client = connect(service, address, clientCredentials(address, security));
  const { rpc } = client;
  let askedMs = Number.NEGATIVE_INFINITY;
  let advice: string | null = null;
  /** Adds to an UNAVAILABLE error whether only one end uses TLS; for Lists, which come first and are repeated. */
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
