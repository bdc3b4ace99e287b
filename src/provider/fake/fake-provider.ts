// A complete provider over the fake cloud: the kit implements the contract, the cloud simulates machines, and
// `FaultyCalls` simulates the transport. It serves a shard in this process or, through `serveProvider`, a port.

import { MachineState } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Machine } from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { Provider, type ProviderOptions } from '../kit/provider.ts';
import type { Store } from '../kit/store.ts';
import { FakeCloud, type FakeCloudOptions } from './cloud.ts';
import { Draws } from './draws.ts';
import { withFaultSelectors } from './selectors.ts';
import { FaultyCalls } from './transport.ts';

export interface FakeProviderOptions extends FakeCloudOptions {
  readonly store: Store;
  /** Whether clusters and labels with the names of wire.md 6 fail on request. Default false. */
  readonly faultSelectors?: boolean;
  readonly kit?: ProviderOptions;
}

/** All states except Speculative: the cloud has nothing to restore for a quota slot. */
const BEYOND_QUOTA = {
  states: Object.values(MachineState).filter((state) => state !== MachineState.Speculative),
  maxResults: 0,
  sinceRevision: new Uint8Array(),
};

export class FakeProvider extends FaultyCalls {
  readonly cloud: FakeCloud;
  /** The calls without transport faults, for test setup and inspection. */
  readonly kit: Provider;
  readonly #clock: Clock;
  #cancelRefresh = () => {};
  #market: string;

  private constructor(cloud: FakeCloud, kit: Provider, { clock, seed }: FakeProviderOptions) {
    super({ calls: kit, clock, draws: new Draws(seed), settings: () => cloud.settings.transport });
    this.cloud = cloud;
    this.kit = kit;
    this.#clock = clock;
    this.#market = cloud.marketStamp();
  }

  static async open(options: FakeProviderOptions): Promise<FakeProvider> {
    const { clock, store } = options;
    const cloud = new FakeCloud(options);
    const backend =
      options.faultSelectors === true ? withFaultSelectors(cloud, clock, cloud.provider) : cloud;
    const kit = await Provider.open({ backend, store, clock, options: options.kit ?? {} });
    const provider = new FakeProvider(cloud, kit, options);
    const { machines } = await kit.list(BEYOND_QUOTA);
    cloud.start(kit, machines.map(asKnown));
    provider.#refreshLater();
    return provider;
  }

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
