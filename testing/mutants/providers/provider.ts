// All mutants, and how one is opened; used by try-mutant.ts. As a program it serves one on a port; try-mutant.ts starts
// it so for the durable target, which kills it:
//   node testing/mutants/providers/provider.ts NAME PORT STATE_FILE MACHINES TRANSITION_TIMEOUT_MS

import {
  MemoryStore,
  type Provider,
  type ProviderRpc,
  SqliteStore,
  type Store,
  type StoredState,
  serveProvider,
} from '../../../src/provider/index.ts';
import { MachineList } from '../../../src/wire/gen/bigfleet/v1alpha1/provider.ts';
import { openKitProvider } from '../../../test/conformance/kit-provider.ts';
import { DURABILITY_MUTANTS } from './durability.ts';
import { FAULT_MUTANTS } from './faults.ts';
import { FENCE_MUTANTS } from './fences.ts';
import { LIST_MUTANTS } from './lists.ts';
import type { Mutant } from './mutant.ts';
import { OPERATION_MUTANTS } from './operations.ts';
import { RECORD_MUTANTS } from './records.ts';

export const MUTANTS: readonly Mutant[] = [
  ...FENCE_MUTANTS,
  ...OPERATION_MUTANTS,
  ...RECORD_MUTANTS,
  ...LIST_MUTANTS,
  ...FAULT_MUTANTS,
  ...DURABILITY_MUTANTS,
];

/** The unmodified kit, which must pass every behaviour. */
export const HEALTHY: Mutant = { name: 'the healthy kit', area: 'baseline', named: [], build: () => ({}) };

export interface OpenOptions {
  readonly machines: number;
  readonly transitionTimeoutMs: number;
  readonly store?: Store;
}

export interface OpenMutant {
  readonly calls: ProviderRpc;
  readonly close: () => Promise<void>;
}

export async function openMutant(mutant: Mutant, options: OpenOptions): Promise<OpenMutant> {
  const { machines, transitionTimeoutMs, store: kept = new MemoryStore() } = options;
  const { calls = (kit) => kit, store: wrap = (store) => store, backend, isPatient } = mutant.build();
  const store = new Witness(wrap(kept));
  const provider = await openKitProvider({
    machines,
    transitionTimeoutMs,
    store,
    ...(backend === undefined ? {} : { around: backend }),
    ...(isPatient === undefined ? {} : { isPatient }),
  });
  return { calls: calls(callsOf(provider), store, store.stored!), close: () => provider.close() };
}

/** A store that exposes the state found in it. */
class Witness implements Store {
  readonly #kept: Store;
  stored: StoredState | undefined;

  constructor(kept: Store) {
    this.#kept = kept;
  }

  async load(): Promise<StoredState> {
    const { counters, machines, marks, flights } = await this.#kept.load();
    // The iterables can be read once only.
    this.stored = { counters, machines: [...machines], marks: [...marks], flights: [...flights] };
    return this.stored;
  }

  write(...change: Parameters<Store['write']>): Promise<void> {
    return this.#kept.write(...change);
  }

  close(): Promise<void> {
    return this.#kept.close();
  }
}

function callsOf(provider: Provider): ProviderRpc {
  return {
    create: (request) => provider.create(request),
    configure: (request) => provider.configure(request),
    drain: (request) => provider.drain(request),
    delete: (request) => provider.delete(request),
    get: (request) => provider.get(request),
    list: (filter) => provider.list(filter),
  };
}

if (import.meta.main) {
  const [name, port, state = '', machines, timeoutMs] = process.argv.slice(2);
  const mutant = [HEALTHY, ...MUTANTS].find((other) => other.name === name);
  if (mutant === undefined) throw new Error(`no mutant is named "${name}"`);
  const { calls, close } = await openMutant(mutant, {
    machines: Number(machines),
    transitionTimeoutMs: Number.parseInt(timeoutMs ?? '', 10),
    store: new SqliteStore(state),
  });
  const listBytes: Provider['listBytes'] = async (filter) =>
    Buffer.from(MachineList.encode(await calls.list(filter)).finish());
  await serveProvider({ ...calls, listBytes, close }, `127.0.0.1:${port}`, { tls: null });
}
