// A provider made with the kit over the simplest possible cloud: everything works within milliseconds, except what the
// selectors of the fault target make fail. Used by the tests of this folder and as the base of all mutants
// (testing/mutants/providers). As a program it serves on a port:
//   node test/conformance/kit-provider.ts PORT STATE_FILE MACHINES TRANSITION_TIMEOUT_MS

import { setTimeout as sleep } from 'node:timers/promises';
import { CapacityType } from '../../src/model/index.ts';
import {
  type Backend,
  MemoryStore,
  type Offering,
  Provider,
  SqliteStore,
  type Store,
  serveProvider,
} from '../../src/provider/index.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';

/** Number of machines whose Create fails. */
const FAULTY = 8;
const CREATE_FAULT = 'conformance.fault/create';
/** Delay of a success beyond its timeout. */
const LATE_MS = 1_000;
/** Longer than any test. */
const FOREVER_MS = 3_600_000;

export interface KitProviderOptions {
  readonly machines: number;
  readonly transitionTimeoutMs: number;
  readonly store?: Store;
  /** Wraps the cloud below the kit. */
  readonly around?: (cloud: Backend) => Backend;
  /** Disables the timeout of transitions. */
  readonly isPatient?: boolean;
}

export async function openKitProvider({
  machines,
  transitionTimeoutMs,
  store = new MemoryStore(),
  around = (cloud) => cloud,
  isPatient = false,
}: KitProviderOptions): Promise<Provider> {
  const timeoutMs = isPatient ? FOREVER_MS : transitionTimeoutMs;
  const timeoutsMs = { create: timeoutMs, configure: timeoutMs, drain: timeoutMs, delete: timeoutMs };
  const backend = around(instantCloud(machines, transitionTimeoutMs));
  return await Provider.open({ backend, store, clock: systemClock, options: { timeoutsMs } });
}

function instantCloud(machines: number, transitionTimeoutMs: number): Backend {
  return {
    describe: async () => [
      ...Array.from({ length: machines }, (_, i) => offering(`m-${i}`, new Map([['rack', `r-${i % 8}`]]))),
      ...Array.from({ length: FAULTY }, (_, i) => offering(`f-${i}`, new Map([[CREATE_FAULT, 'error']]))),
    ],
    create: async ({ id, labels }) => {
      await sleep(1);
      if (labels.get(CREATE_FAULT) === 'error') throw new Error('out of stock');
      return { provider: 'instant', ref: `host-${id}` };
    },
    configure: async ({ cluster }, _binding, { signal }) => {
      if (cluster === 'fault-error') throw new Error('the host refused the blob');
      if (cluster === 'fault-timeout' || cluster === 'fault-readiness-block') await until(signal);
      await sleep(cluster === 'fault-slow-ok' ? transitionTimeoutMs + LATE_MS : 1);
    },
    drain: async ({ cluster }) => {
      await sleep(1);
      if (cluster === 'fault-drain-error') throw new Error('a pod would not leave');
    },
    delete: async () => {
      await sleep(1);
    },
  };
}

function offering(id: string, labels: ReadonlyMap<string, string>): Offering {
  const isSpot = id.endsWith('3');
  return {
    id,
    instanceType: 'small',
    zone: 'zone-a',
    capacityType: isSpot ? CapacityType.Spot : CapacityType.OnDemand,
    pricePerHour: isSpot ? 0.1 : 0.3,
    interruptionProbability: isSpot ? 0.05 : 0,
    resources: new Map([
      ['cpu', 4000],
      ['memory', 16 * 2 ** 30],
    ]),
    allocatable: new Map([
      ['cpu', 3900],
      ['memory', 15 * 2 ** 30],
    ]),
    labels,
    host: null,
  };
}

function until(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('given up')), { once: true });
  });
}

if (import.meta.main) {
  const [port, state = '', machines, timeoutMs] = process.argv.slice(2);
  const provider = await openKitProvider({
    machines: Number(machines),
    transitionTimeoutMs: Number.parseInt(timeoutMs ?? '', 10),
    store: new SqliteStore(state),
  });
  await serveProvider(provider, `127.0.0.1:${port}`, { tls: null });
}
