// Test support: a fake cloud on a loopback port that records every mutating call. Used by shard-world.ts and its tests.

import { CapacityType, type MachineState } from '../../src/model/index.ts';
import {
  type CatalogueEntry,
  FakeProvider,
  type FakeProviderOptions,
  MemoryStore,
  type ProviderServer,
  patchSettings,
  presetSettings,
  type ServedProvider,
  type SettingsPatch,
  serveProvider,
} from '../../src/provider/index.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import type { Machine } from '../../src/wire/gen/bigfleet/v1alpha1/provider.ts';

/** One mutating call as received by a cloud. */
export interface CloudCall {
  readonly atMs: number;
  readonly command: 'create' | 'configure' | 'drain' | 'delete';
  readonly machine: string;
  /** Only for a configure. */
  readonly cluster: string;
  /** Only for a drain. */
  readonly graceSeconds: number;
}

/** One kind of machine; each zone has `count` of them. */
export interface OfferingGiven extends Partial<CatalogueEntry> {
  readonly cpu?: number;
  readonly count?: number;
}

export function offering(name: string, given: OfferingGiven = {}): CatalogueEntry {
  const { cpu = 4, count = 8, ...rest } = given;
  const amounts = new Map([['cpu', cpu * 1000]]);
  return {
    ...{ name, instanceType: name, capacityType: CapacityType.OnDemand, pricePerHour: 1 },
    ...{ interruptionProbability: 0, resources: amounts, allocatable: amounts },
    ...{ zones: ['za'], racksPerZone: 1, labels: new Map(), weight: count, isOwned: false },
    ...rest,
  };
}

export class Cloud {
  readonly name: string;
  readonly provider: FakeProvider;
  /** Changes in the order they arrived. */
  readonly calls: readonly CloudCall[];
  readonly #server: ProviderServer;

  private constructor(
    name: string,
    provider: FakeProvider,
    calls: readonly CloudCall[],
    server: ProviderServer,
  ) {
    this.name = name;
    this.provider = provider;
    this.calls = calls;
    this.#server = server;
  }

  static async open(
    name: string,
    catalogue: readonly CatalogueEntry[],
    settings: SettingsPatch,
    extension: Pick<FakeProviderOptions, 'extend' | 'onEvent'> = {},
  ): Promise<Cloud> {
    const provider = await FakeProvider.open({
      ...extension,
      ...{ seed: 7, clock: systemClock, provider: name, catalogue, store: new MemoryStore() },
      machines: catalogue.reduce((sum, { weight, zones }) => sum + weight * zones.length, 0),
      settings: patchSettings(presetSettings('calm'), settings),
    });
    const calls: CloudCall[] = [];
    const server = await serveProvider(recorded(provider, calls), '127.0.0.1:0', { tls: null });
    return new Cloud(name, provider, calls, server);
  }

  get address(): string {
    return this.#server.address;
  }

  /** As the cloud itself reports them. */
  async machines(...states: readonly MachineState[]): Promise<readonly Machine[]> {
    const filter = { states: [...states], maxResults: 0, sinceRevision: new Uint8Array() };
    return (await this.provider.kit.list(filter)).machines;
  }

  set(patch: SettingsPatch): void {
    this.provider.cloud.set(patch);
  }

  async stop(): Promise<void> {
    await this.#server.stop();
  }
}

/** A provider that records mutating calls before any fault is injected. */
function recorded(provider: FakeProvider, calls: CloudCall[]): ServedProvider {
  const note = (command: CloudCall['command'], machine: string, given: Partial<CloudCall> = {}): void => {
    calls.push({ atMs: Date.now(), command, machine, cluster: '', graceSeconds: 0, ...given });
  };
  return {
    create: (request) => {
      note('create', request.machineId);
      return provider.create(request);
    },
    configure: (request) => {
      note('configure', request.machineId, { cluster: request.clusterId });
      return provider.configure(request);
    },
    drain: (request) => {
      note('drain', request.machineId, { graceSeconds: Number(request.gracePeriodSeconds) });
      return provider.drain(request);
    },
    delete: (request) => {
      note('delete', request.machineId);
      return provider.delete(request);
    },
    get: (request) => provider.get(request),
    listBytes: (request) => provider.listBytes(request),
    close: (waitMs) => provider.close(waitMs),
  };
}
