// A whole provider over the fake cloud: the kit for the contract, the cloud for what happens to machines, faulty calls
// for what happens on the way. The same object serves a shard in this process and, through `serveProvider`, a port.

import { type Clock, MachineState } from '../../model/index.ts';
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

const EVERYTHING = { states: [], maxResults: 0, sinceRevision: new Uint8Array() };

export class FakeProvider extends FaultyCalls {
  readonly cloud: FakeCloud;
  /** The calls without faults, for whoever sets a scene or looks behind it. */
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
    const { machines } = await kit.list(EVERYTHING);
    cloud.start(kit, machines.map(asKnown));
    provider.#refreshLater();
    return provider;
  }

  async close(waitMs = 0): Promise<void> {
    this.#cancelRefresh();
    this.cutOff();
    // The cloud last, so that transitions can end well while they are waited for.
    await this.kit.close(waitMs);
    this.cloud.stop();
  }

  #refreshLater(): void {
    this.#cancelRefresh = this.#clock.after(this.cloud.settings.market.refreshMs, () => {
      const market = this.cloud.marketStamp();
      // A refresh reads every machine; where no price moved it would find nothing.
      if (market !== this.#market) this.kit.refresh().catch(() => {});
      this.#market = market;
      this.#refreshLater();
    });
  }
}

function asKnown({ id, host, cluster, state }: Machine) {
  return { id, host, cluster, isFailed: state === MachineState.Failed };
}
