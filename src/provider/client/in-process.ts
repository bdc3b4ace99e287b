// Calls a provider in this process: for tests, and for simulations on a virtual clock.

import type { ProviderCalls } from '../kit/provider.ts';
import type { ProviderTransport } from './transport.ts';

/** `provider`: the kit's, or a wrapper of it that loses, delays or duplicates calls. */
export function inProcess(provider: Omit<ProviderCalls, 'list'>): ProviderTransport {
  return {
    create: (request) => provider.create(request),
    configure: (request) => provider.configure(request),
    drain: (request) => provider.drain(request),
    delete: (request) => provider.delete(request),
    get: (request) => provider.get(request),
    list: (request) => provider.listBytes(request),
    close: () => {},
  };
}
