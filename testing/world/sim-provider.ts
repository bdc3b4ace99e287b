// One provider of a world: the kit over the fake cloud, on a store that outlives its process. The watch (invariants.ts)
// is notified of every call that arrives and of every change of a machine. Started and restarted by world.ts.

import { CapacityType, type MachineState, type ResourceVector } from '../../src/model/index.ts';
import {
  type CatalogueEntry,
  type Changes,
  FakeProvider,
  type FakeSettings,
  MemoryStore,
  type ProviderCalls,
  patchSettings,
  presetSettings,
  type SettingsPatch,
  type Store,
  type TransitionKind,
} from '../../src/provider/index.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { Machine } from '../../src/wire/gen/bigfleet/v1alpha1/provider.ts';
import type { CloudWeather } from './plan.ts';

/** A mutating call as received by the provider. */
export interface Arrival {
  readonly command: TransitionKind;
  readonly machine: string;
  readonly epoch: bigint;
  readonly sequence: bigint;
  /** '' unless the call is a Configure. */
  readonly cluster: string;
}

export interface ProviderWatch {
  arrived(call: Arrival): void;
  /** `by`: the call that moved the machine; null if the cloud or a timer did. */
  moved(
    machine: string,
    from: MachineState | null,
    to: MachineState,
    cluster: string,
    by: Arrival | null,
  ): void;
}

export interface SimProviderParts {
  readonly name: string;
  readonly seed: number;
  readonly machines: number;
  readonly hasTail: boolean;
  readonly clock: Clock;
  readonly weather: CloudWeather;
  readonly watch: ProviderWatch;
}

/** Separates the machines of the tail from all others. */
export const POOL_LABEL = 'sim/pool';
/** Seconds an Idle machine is kept; configured in the controller and checked by the watch. */
export const HOLD_SECONDS: ReadonlyMap<CapacityType, number> = new Map([
  [CapacityType.OnDemand, 25],
  [CapacityType.Spot, 12],
]);
const CLEANUP_MS = 25_000;

export class SimProvider {
  readonly name: string;
  readonly #parts: SimProviderParts;
  readonly #store: WatchedStore;
  #settings: FakeSettings;
  #provider: FakeProvider | null = null;
  #calls: ProviderCalls | null = null;
  /** The call that the kit is currently deciding. */
  #deciding: Arrival | null = null;

  constructor(parts: SimProviderParts) {
    this.name = parts.name;
    this.#parts = parts;
    this.#settings = settingsOf(parts.weather);
    this.#store = new WatchedStore((machine, from, to) => {
      parts.watch.moved(machine.id, from, to, machine.cluster, this.#deciding);
    });
  }

  /** null while the provider's process is down. */
  get provider(): FakeProvider | null {
    return this.#provider;
  }

  get calls(): ProviderCalls | null {
    return this.#calls;
  }

  async open(): Promise<void> {
    const { name, seed, machines, clock, hasTail } = this.#parts;
    const provider = await FakeProvider.open({
      ...{ seed, clock, machines, provider: name, settings: this.#settings, store: this.#store },
      catalogue: hasTail ? [...GENERAL, TAIL] : GENERAL,
      kit: { timeoutsMs: { create: 25_000, configure: 25_000, drain: 25_000, delete: 25_000 } },
    });
    this.#provider = provider;
    this.#calls = this.#watched(provider.kit);
  }

  /** Kills the process and aborts its in-flight work. */
  async close(): Promise<void> {
    const provider = this.#provider;
    this.#provider = null;
    this.#calls = null;
    await provider?.close();
  }

  set(patch: SettingsPatch): void {
    this.#settings = patchSettings(this.#settings, patch);
    this.#provider?.cloud.set(patch);
  }

  #watched(kit: ProviderCalls): ProviderCalls {
    return {
      create: (request) => this.#arrive('create', request, '', () => kit.create(request)),
      configure: (request) =>
        this.#arrive('configure', request, request.clusterId, () => kit.configure(request)),
      drain: (request) => this.#arrive('drain', request, '', () => kit.drain(request)),
      delete: (request) => this.#arrive('delete', request, '', () => kit.delete(request)),
      get: (request) => kit.get(request),
      list: (filter) => kit.list(filter),
      listBytes: (filter) => kit.listBytes(filter),
    };
  }

  /** The kit decides synchronously, so every write before its first await is an effect of this call. */
  #arrive<T>(
    command: TransitionKind,
    request: { readonly machineId: string; readonly shardEpoch: bigint; readonly sequenceNumber: bigint },
    cluster: string,
    decide: () => Promise<T>,
  ): Promise<T> {
    const { machineId: machine, shardEpoch: epoch, sequenceNumber: sequence } = request;
    const call: Arrival = { command, machine, epoch, sequence, cluster };
    this.#parts.watch.arrived(call);
    this.#deciding = call;
    try {
      return decide();
    } finally {
      this.#deciding = null;
    }
  }
}

type Moved = (machine: Machine, from: MachineState | null, to: MachineState) => void;

/** Reports every change of a machine's state. */
class WatchedStore implements Store {
  readonly #store = new MemoryStore();
  readonly #states = new Map<number, MachineState>();
  readonly #moved: Moved;

  constructor(moved: Moved) {
    this.#moved = moved;
  }

  load(): ReturnType<Store['load']> {
    return this.#store.load();
  }

  write(changes: Changes): Promise<void> {
    for (const { slot, state, body } of changes.machines ?? []) {
      const before = this.#states.get(slot) ?? null;
      if (before === state) continue;
      this.#states.set(slot, state);
      this.#moved(Machine.decode(body), before, state);
    }
    return this.#store.write(changes);
  }

  /** No-op: the store is the disk, so the next process opens it again. */
  close(): Promise<void> {
    return Promise.resolve();
  }
}

function settingsOf(weather: CloudWeather): FakeSettings {
  return patchSettings(presetSettings('calm'), {
    latency: {
      create: { medianMs: 3000, spread: 0.5 },
      configure: { medianMs: 2000, spread: 0.5 },
      drain: { medianMs: 2500, spread: 0.6 },
      delete: { medianMs: 1500, spread: 0.4 },
    },
    operations: {
      transientError: weather.transientError,
      permanentError: weather.permanentError,
      hang: weather.hang,
      neverReady: weather.neverReady,
    },
    market: {
      priceSwing: weather.priceSwing,
      rateSwing: weather.priceSwing,
      stepMs: 20_000,
      refreshMs: 7000,
    },
    stock: { outChance: weather.outOfStock, outMs: 20_000 },
    losses: {
      interruptionFactor: 10,
      deathsPerHour: weather.deathsPerHour,
      cleanupMs: CLEANUP_MS,
      tickMs: 5000,
    },
  });
}

/** Prices and transition times still vary; nothing fails. */
export const CALM_CLOUD: SettingsPatch = {
  operations: { transientError: 0, permanentError: 0, hang: 0, neverReady: 0 },
  stock: { outChance: 0 },
  losses: { interruptionFactor: 0, deathsPerHour: 0 },
};

/** Of every machine: 4 GB for each cpu. No row wants more, so that cpu decides how many machines it needs. */
export const BYTES_PER_MILLICORE = 4_000_000;

function machineOf(cpu: number): ResourceVector {
  return new Map([
    ['cpu', cpu],
    ['memory', cpu * BYTES_PER_MILLICORE],
  ]);
}

const { OnDemand, Spot, BareMetal } = CapacityType;

function entry(
  name: string,
  cpu: number,
  rest: Pick<CatalogueEntry, 'capacityType' | 'pricePerHour' | 'weight' | 'zones'> & Partial<CatalogueEntry>,
): CatalogueEntry {
  return {
    name,
    instanceType: `sim.${name}`,
    interruptionProbability: 0,
    resources: machineOf(cpu),
    allocatable: machineOf(cpu),
    racksPerZone: 2,
    labels: new Map([[POOL_LABEL, 'general']]),
    isOwned: false,
    ...rest,
  };
}

const ZONES = ['zone-a', 'zone-b'];

const GENERAL: readonly CatalogueEntry[] = [
  entry('std', 4000, { capacityType: OnDemand, pricePerHour: 0.2, weight: 3, zones: ZONES }),
  entry('spot', 4000, {
    ...{ capacityType: Spot, pricePerHour: 0.07, weight: 2, zones: ZONES },
    interruptionProbability: 0.05,
  }),
  entry('big', 8000, { capacityType: OnDemand, pricePerHour: 0.45, weight: 1, zones: ['zone-a'] }),
  entry('metal', 4000, { capacityType: BareMetal, pricePerHour: 0, weight: 1, zones: ZONES, isOwned: true }),
];
/** What a machine offers, derived from the name of its offering, which is part of the id. */
export function offered(id: string): ResourceVector {
  return machineOf(id.includes('-big-') ? 8000 : 4000);
}

const TAIL = entry('tail', 4000, {
  ...{ capacityType: OnDemand, pricePerHour: 0.2, weight: 2, zones: ['zone-a'] },
  labels: new Map([[POOL_LABEL, 'tail']]),
});
