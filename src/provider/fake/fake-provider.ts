// A complete provider over the fake cloud: the kit implements the contract, the cloud simulates machines, and
// `FaultyCalls` simulates the transport. It serves a shard in this process (simulated worlds) or, through
// `serveProvider`, a port (`bigfleet provider fake`, the clouds of `bigfleet up`).

import { MachineState } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type {
  ConfigureRequest,
  CreateRequest,
  DeleteRequest,
  DrainRequest,
  ListFilter,
  Machine,
  MachineList,
  MachineRef,
  TransitionAck,
} from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
import type { Backend } from '../backend.ts';
import { Provider, type ProviderCalls, type ProviderOptions } from '../kit/provider.ts';
import type { Store } from '../kit/store.ts';
import { FakeCloud, type FakeCloudOptions } from './cloud.ts';
import { Draws } from './draws.ts';
import { withFaultSelectors } from './fault-selectors.ts';
import { FaultyCalls, type TransportFault } from './faulty-calls.ts';

/** What a provider over a fake cloud is made of. */
export interface FakeProviderOptions extends FakeCloudOptions {
  readonly store: Store;
  /** Whether clusters and labels with the names of wire.md 6 fail on request. Default false. */
  readonly faultSelectors?: boolean;
  /** Extends the cloud, for example by hosts that join a cluster. */
  readonly extend?: (cloud: FakeCloud) => Backend;
  readonly kit?: ProviderOptions;
}

/** All states except Speculative: the cloud has nothing to restore for a quota slot. */
const BEYOND_QUOTA = {
  states: Object.values(MachineState).filter((state) => state !== MachineState.Speculative),
  maxResults: 0,
  sinceRevision: new Uint8Array(),
};

/** A provider over a fake cloud, with faults of its transport: serve it with `serveProvider` or call it in this process. */
export class FakeProvider implements ProviderCalls {
  /** Its settings, stock, outages and losses can be changed while the provider runs. */
  readonly cloud: FakeCloud;
  /** The calls without transport faults, for test setup and inspection. */
  readonly kit: Provider;
  readonly #calls: FaultyCalls;
  readonly #clock: Clock;
  #cancelRefresh = () => {};
  #market: string;

  private constructor(cloud: FakeCloud, kit: Provider, { clock, seed }: FakeProviderOptions) {
    const settings = () => cloud.settings.transport;
    this.#calls = new FaultyCalls({ calls: kit, clock, draws: new Draws(seed), settings });
    this.cloud = cloud;
    this.kit = kit;
    this.#clock = clock;
    this.#market = cloud.marketStamp();
  }

  static async open(options: FakeProviderOptions): Promise<FakeProvider> {
    const { clock, store } = options;
    const cloud = new FakeCloud(options);
    const extended = options.extend?.(cloud) ?? cloud;
    const backend =
      options.faultSelectors === true ? withFaultSelectors(extended, clock, cloud.provider) : extended;
    const kit = await Provider.open({ backend, store, clock, options: options.kit ?? {} });
    const provider = new FakeProvider(cloud, kit, options);
    const { machines } = await kit.list(BEYOND_QUOTA);
    cloud.start(kit, machines.map(asKnown));
    provider.#refreshLater();
    return provider;
  }

  /** Calls received, and faults injected by kind. */
  get counts(): Readonly<Record<'calls' | TransportFault, number>> {
    return this.#calls.counts;
  }

  create(request: CreateRequest): Promise<TransitionAck> {
    return this.#calls.create(request);
  }

  configure(request: ConfigureRequest): Promise<TransitionAck> {
    return this.#calls.configure(request);
  }

  drain(request: DrainRequest): Promise<TransitionAck> {
    return this.#calls.drain(request);
  }

  delete(request: DeleteRequest): Promise<TransitionAck> {
    return this.#calls.delete(request);
  }

  get(request: MachineRef): Promise<Machine> {
    return this.#calls.get(request);
  }

  list(filter: ListFilter): Promise<MachineList> {
    return this.#calls.list(filter);
  }

  listBytes(filter: ListFilter): Promise<Buffer> {
    return this.#calls.listBytes(filter);
  }

  /** Ends every wait: delayed and hanging calls reject with UNAVAILABLE. */
  cutOff(): void {
    this.#calls.cutOff();
  }

  /** Rejects further calls, waits up to `waitMs` for in-flight transitions, and stops the cloud. */
  async close(waitMs = 0): Promise<void> {
    this.#cancelRefresh();
    this.cutOff();
    // The cloud stops last, so that in-flight transitions can succeed while the kit waits for them.
    await this.kit.close(waitMs);
    this.cloud.stop();
  }

  #refreshLater(): void {
    this.#cancelRefresh = this.#clock.after(this.cloud.settings.market.refreshMs, () => {
      const market = this.cloud.marketStamp();
      // A refresh describes every machine, so skip it while no price or rate has moved.
      if (market !== this.#market) this.kit.refresh().catch(() => {});
      this.#market = market;
      this.#refreshLater();
    });
  }
}

function asKnown({ id, host, cluster, state }: Machine) {
  return { id, host, cluster, isFailed: state === MachineState.Failed };
}
