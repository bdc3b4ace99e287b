// The fake cloud: a backend for the kit that simulates latencies, stock-outs, failed transitions, spot interruptions
// and dead hosts. It is deterministic for a seed and a clock, and every setting can be changed while it runs.
// fake-provider.ts makes a provider of it.
//
// When a host is interrupted or dies, its machine becomes Failed with the reason, from any state. `losses.cleanupMs`
// after a loss or a failed transition, the machine is a quota slot again, or Idle on its repaired host if the host is
// owned.

import { BigFleetError, CapacityType, type HostRef, printable } from '../../model/index.ts';
import { longestBackoffMs } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Backend, Binding, Offering, Operation, Subject } from '../backend.ts';
import type { Loss } from '../kit/provider.ts';
import type { TransitionKind } from '../kit/transitions.ts';
import { OutOfStockError } from '../out-of-stock.ts';
import {
  type CatalogueEntry,
  type CloudPool,
  DEFAULT_CATALOGUE,
  type Item,
  itemsOf,
  poolsOf,
} from './catalogue.ts';
import { Draws, exponential } from './draws.ts';
import { drawFate, MAX_ATTEMPTS } from './fate.ts';
import { Hazard } from './hazard.ts';
import { Market, type Quote } from './market.ts';
import { type FakeSettings, presetSettings, type SettingsPatch } from './settings.ts';
import { patchSettings } from './settings-patch.ts';
import { aborted, sleep } from './sleep.ts';

/** What a fake cloud is made of. */
export interface FakeCloudOptions {
  readonly seed: number;
  readonly clock: Clock;
  /** Quota slots and owned hosts together. */
  readonly machines: number;
  /** Default: the preset `realistic`. */
  readonly settings?: FakeSettings;
  readonly catalogue?: readonly CatalogueEntry[];
  /** Names hosts and machines. Default `fake`. */
  readonly provider?: string;
  /**
   * Whether transitions that a restart of the provider interrupted are resumed. Default false: such machines become
   * Failed, as certification expects.
   */
  readonly resumable?: boolean;
  readonly onEvent?: (event: CloudEvent) => void;
}

/** Something that happened in the fake cloud. */
export interface CloudEvent {
  readonly atMs: number;
  readonly what: 'interrupted' | 'died' | 'failed' | 'cleaned up' | 'stock-out' | 'outage';
  /** A machine, a pool or a zone. */
  readonly whom: string;
  readonly detail: string;
}

/** Notified when a machine loses its host or is recovered; the kit's `Provider`. */
export interface Watcher {
  lose(machineId: string, reason: string, loss: Loss): Promise<boolean>;
  recover(machineId: string, host: HostRef | null): Promise<boolean>;
}

/** Selects hosts that match every field that is set. */
export interface HostSelector {
  readonly machine?: string;
  readonly zone?: string;
  readonly offering?: string;
  readonly cluster?: string;
  /** Upper bound on the hosts selected. Default: no bound. */
  readonly count?: number;
}

interface Host {
  readonly item: Item;
  readonly ref: HostRef;
  cluster: string;
}

const HOUR_MS = 3_600_000;
const DEFAULT_SPELL_MS = 30 * 60_000;
/**
 * Entries of lost hosts that the hazards may hold beyond twice the live hosts before they are purged. Compared with the
 * size of `#deaths` alone, which has an entry for every host.
 */
const MAX_GONE = 1024;
/** Backoff before the second attempt, as a fraction of the kind's median latency. No jitter: the latency has it. */
const BACKOFF_SHARE = 0.1;

/** A backend that simulates latencies, stock-outs, failures, interruptions and dead hosts, the same for equal seeds. */
export class FakeCloud implements Backend {
  readonly provider: string;
  readonly resumable: boolean;
  readonly #clock: Clock;
  readonly #draws: Draws;
  readonly #market: Market;
  readonly #pools: readonly CloudPool[];
  readonly #items: ReadonlyMap<string, Item>;
  readonly #onEvent: (event: CloudEvent) => void;
  readonly #hosts = new Map<string, Host>();
  /** Hosts plus in-flight creates, by pool; compared with the quota. */
  readonly #taken = new Map<CloudPool, number>();
  readonly #interruptions: ReadonlyMap<CloudPool, Hazard<Host>>;
  readonly #deaths = new Hazard<Host>();
  readonly #stockOuts = new Map<CloudPool, number>();
  readonly #outages = new Map<string, number>();
  readonly #cleanups = new Map<string, () => void>();
  /** Resolves when `start` has loaded the hosts. The kit resumes transitions before that. */
  readonly #started = Promise.withResolvers<void>();
  /** Aborts on `stop`; ends the sleeps of late transitions, which ignore their own signal. */
  readonly #end = new AbortController();
  #settings: FakeSettings;
  #watcher: Watcher | null = null;
  #cancelTick = () => {};
  #tickedAtMs: number;

  constructor(options: FakeCloudOptions) {
    this.provider = options.provider ?? 'fake';
    this.resumable = options.resumable ?? false;
    this.#clock = options.clock;
    this.#draws = new Draws(options.seed);
    this.#market = new Market(this.#draws);
    this.#pools = poolsOf(options.catalogue ?? DEFAULT_CATALOGUE);
    this.#items = new Map(
      itemsOf(this.#pools, options.machines, this.provider).map((item) => [item.id, item]),
    );
    this.#onEvent = options.onEvent ?? (() => {});
    this.#settings = options.settings ?? presetSettings('realistic');
    this.#interruptions = new Map(this.#pools.map((pool) => [pool, new Hazard<Host>()]));
    this.#tickedAtMs = options.clock.now();
  }

  get settings(): FakeSettings {
    return this.#settings;
  }

  /** Hosts that exist, whether or not a shard knows of them. */
  get hostCount(): number {
    return this.#hosts.size;
  }

  /** Machines whose host exists, whether or not a shard knows of it. */
  get machinesWithHost(): Iterable<string> {
    return this.#hosts.keys();
  }

  /** Changes settings while the cloud runs; in-flight transitions keep the outcome they drew. */
  set(patch: SettingsPatch): FakeSettings {
    this.#settings = patchSettings(this.#settings, patch);
    return this.#settings;
  }

  /** Starts losses and clean-ups. `known` is the provider's inventory, restored from its store after a restart. */
  start(
    watcher: Watcher,
    known: Iterable<{
      readonly id: string;
      readonly host: HostRef | undefined;
      readonly cluster: string;
      readonly isFailed: boolean;
    }>,
  ): void {
    this.#watcher = watcher;
    for (const { id, host, cluster, isFailed } of known) {
      const item = this.#items.get(id);
      if (item === undefined) continue;
      if (host !== undefined) this.#addHost(item, host, cluster);
      if (isFailed) this.#cleanUpLater(item);
    }
    this.#tickedAtMs = this.#clock.now();
    this.#tickLater();
    this.#started.resolve();
  }

  stop(): void {
    this.#watcher = null;
    this.#end.abort();
    this.#cancelTick();
    for (const cancel of this.#cleanups.values()) cancel();
    this.#cleanups.clear();
  }

  /** Prices and rates of all pools, serialized; while it is unchanged, a refresh would find no difference. */
  marketStamp(): string {
    return JSON.stringify(this.#pools.map((pool) => this.#quote(pool)));
  }

  describe(): Promise<readonly Offering[]> {
    const quotes = new Map(this.#pools.map((pool) => [pool, this.#quote(pool)]));
    return Promise.resolve(
      Array.from(this.#items.values(), (item) => this.#offering(item, quotes.get(item.pool)!)),
    );
  }

  async create(machine: Subject, operation: Operation): Promise<HostRef> {
    const item = this.#itemOf(machine);
    const ref = this.#draws.stream('host', machine.id, operation.id).next32();
    const host = { provider: this.provider, ref: `i-${ref.toString(16).padStart(8, '0')}-${operation.id}` };
    await this.#perform('create', item, operation, async (work) => {
      this.#checkSupply(item.pool);
      this.#take(item.pool, 1);
      try {
        await work();
        this.#addHost(item, host, '');
      } finally {
        this.#take(item.pool, -1);
      }
    });
    return host;
  }

  async configure(machine: Subject, { cluster }: Binding, operation: Operation): Promise<void> {
    await this.#perform('configure', this.#itemOf(machine), operation, async (work) => {
      await work();
      const host = this.#hosts.get(machine.id);
      if (host !== undefined) host.cluster = cluster;
    });
  }

  async drain(machine: Subject, graceSeconds: number, operation: Operation): Promise<void> {
    await this.#perform('drain', this.#itemOf(machine), operation, async (work) => {
      await work(graceSeconds * 1000);
      const host = this.#hosts.get(machine.id);
      if (host !== undefined) host.cluster = '';
    });
  }

  async delete(machine: Subject, operation: Operation): Promise<void> {
    await this.#perform('delete', this.#itemOf(machine), operation, async (work) => {
      await work();
      this.#removeHost(machine.id);
    });
  }

  /** Interrupts hosts as a spot market does. Returns the ids of the machines that lost theirs. */
  interrupt(which: HostSelector): readonly string[] {
    const chosen = this.#select(which);
    for (const host of chosen) this.#lose(host, 'interrupted', 'the spot host was taken back by the cloud');
    return chosen.map(({ item }) => item.id);
  }

  /** Kills hosts. Returns the ids of the machines that lost theirs. */
  kill(which: HostSelector): readonly string[] {
    const chosen = this.#select(which);
    for (const host of chosen) this.#lose(host, 'died', 'the host died');
    return chosen.map(({ item }) => item.id);
  }

  /** Makes creates of an offering fail for `forMs`, in one zone (`OFFERING/ZONE`) or in all (`OFFERING`). */
  stockOut(name: string, forMs = DEFAULT_SPELL_MS): void {
    const pools = this.#pools.filter((pool) => pool.name === name || pool.entry.name === name);
    if (pools.length === 0)
      throw unknown(
        'offering',
        name,
        this.#pools.map((pool) => pool.name),
      );
    for (const pool of pools) {
      this.#stockOuts.set(pool, this.#clock.now() + forMs);
      this.#emit('stock-out', pool.name, `for ${forMs / 1000} s`);
    }
  }

  /** Takes a zone down for `forMs`: its hosts die, and transitions that start or end there meanwhile fail. */
  outage(zone: string, forMs = DEFAULT_SPELL_MS): readonly string[] {
    const zones = [...new Set(this.#pools.map((pool) => pool.zone))];
    if (!zones.includes(zone)) throw unknown('zone', zone, zones);
    this.#outages.set(zone, this.#clock.now() + forMs);
    this.#emit('outage', zone, `for ${forMs / 1000} s`);
    return this.kill({ zone });
  }

  /** Runs one transition with the outcome drawn for it. `work` waits out its latency, at most `capMs` if it succeeds. */
  async #perform(
    kind: TransitionKind,
    item: Item,
    operation: Operation,
    act: (work: (capMs?: number) => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const random = this.#draws.stream('operation', item.id, operation.id);
    operation.signal.addEventListener('abort', () => this.#cleanUpLater(item), { once: true });
    if (this.resumable) await this.#started.promise;
    try {
      this.#checkOutage(item.pool.zone);
      await act((capMs) => this.#work(kind, item, operation.signal, random, capMs));
      this.#checkOutage(item.pool.zone);
    } catch (error) {
      if (!operation.signal.aborted) {
        this.#emit('failed', item.id, `${kind}: ${error instanceof Error ? error.message : String(error)}`);
        this.#cleanUpLater(item);
      }
      throw error;
    }
  }

  async #work(
    kind: TransitionKind,
    { pool }: Item,
    signal: AbortSignal,
    random: Random,
    capMs = Number.POSITIVE_INFINITY,
  ): Promise<void> {
    const fate = drawFate(random, kind, pool.entry.capacityType, this.#settings);
    switch (fate.ending) {
      case 'permanent error':
        await sleep(this.#clock, fate.latencyMs, signal);
        throw new Error(`the cloud refused: ${PERMANENT_ERRORS[kind]}`);
      case 'hangs':
        return await aborted(signal, 'never ended');
      case 'never ready':
        return await aborted(signal, 'the node never became Ready');
      case 'slow':
        return await sleep(this.#clock, fate.latencyMs, this.#end.signal);
      case 'success':
        await this.#retry(kind, fate.failedAttempts, signal);
        await sleep(this.#clock, Math.min(fate.latencyMs, capMs), signal);
    }
  }

  /** Waits out the backoffs of transient errors; throws when all attempts failed. */
  async #retry(kind: TransitionKind, failedAttempts: number, signal: AbortSignal): Promise<void> {
    const baseMs = this.#settings.latency[kind].medianMs * BACKOFF_SHARE;
    for (let attempt = 0; attempt < failedAttempts; attempt++) {
      if (attempt === MAX_ATTEMPTS - 1)
        throw new Error(`the cloud failed ${MAX_ATTEMPTS} times: internal error`);
      await sleep(this.#clock, longestBackoffMs({ baseMs, maxMs: Infinity }, attempt + 1), signal);
    }
  }

  #checkSupply(pool: CloudPool): void {
    const now = this.#clock.now();
    const { quotas, stock } = this.#settings;
    const isOut = (this.#stockOuts.get(pool) ?? 0) > now || this.#market.isOutOfStock(pool, stock, now);
    if (isOut) {
      throw new OutOfStockError(`insufficient capacity: no ${pool.entry.name} in ${pool.zone} at the moment`);
    }
    const quota = quotas[pool.name] ?? quotas[pool.entry.name] ?? Number.POSITIVE_INFINITY;
    if ((this.#taken.get(pool) ?? 0) >= quota) {
      throw new Error(`quota exceeded: ${quota} hosts of ${pool.entry.name} in ${pool.zone}`);
    }
  }

  #checkOutage(zone: string): void {
    if ((this.#outages.get(zone) ?? 0) > this.#clock.now()) throw new Error(`${zone} is unavailable`);
  }

  #itemOf({ id }: Subject): Item {
    const item = this.#items.get(id);
    if (item === undefined) throw new Error(`the cloud no longer offers ${printable(id)}`);
    return item;
  }

  #quote(pool: CloudPool): Quote {
    return this.#market.quote(pool, this.#settings.market, this.#clock.now());
  }

  #offering({ id, pool, labels }: Item, quote: Quote): Offering {
    const { instanceType, capacityType, resources, allocatable, isOwned } = pool.entry;
    const host = isOwned ? { provider: this.provider, ref: `metal-${id}` } : null;
    return {
      id,
      instanceType,
      zone: pool.zone,
      capacityType,
      ...quote,
      resources,
      allocatable,
      labels,
      host,
    };
  }

  #take(pool: CloudPool, count: number): void {
    this.#taken.set(pool, (this.#taken.get(pool) ?? 0) + count);
  }

  #addHost(item: Item, ref: HostRef, cluster: string): void {
    this.#removeHost(item.id);
    const host: Host = { item, ref, cluster };
    this.#hosts.set(item.id, host);
    this.#take(item.pool, 1);
    if (item.pool.entry.capacityType === CapacityType.Spot) {
      this.#interruptions.get(item.pool)!.add(host, exponential(this.#draws.stream('interruption', ref.ref)));
    }
    this.#deaths.add(host, exponential(this.#draws.stream('death', ref.ref)));
  }

  #removeHost(id: string): void {
    const host = this.#hosts.get(id);
    if (host === undefined) return;
    this.#hosts.delete(id);
    this.#take(host.item.pool, -1);
  }

  #tickLater(): void {
    this.#cancelTick = this.#clock.after(this.#settings.losses.tickMs, () => this.#tick());
  }

  #tick(): void {
    const now = this.#clock.now();
    const hours = (now - this.#tickedAtMs) / HOUR_MS;
    this.#tickedAtMs = now;
    const { interruptionFactor, deathsPerHour } = this.#settings.losses;
    for (const [pool, hazard] of this.#interruptions) {
      const rate = this.#quote(pool).interruptionProbability;
      for (const host of hazard.pass(hours, rate, interruptionFactor)) {
        this.#lose(host, 'interrupted', 'the spot host was taken back by the cloud');
      }
    }
    for (const host of this.#deaths.pass(hours, deathsPerHour)) this.#lose(host, 'died', 'the host died');
    this.#forgetGone();
    this.#tickLater();
  }

  #forgetGone(): void {
    if (this.#deaths.size < 2 * this.#hosts.size + MAX_GONE) return;
    const exists = (host: Host) => this.#hosts.get(host.item.id) === host;
    for (const hazard of [this.#deaths, ...this.#interruptions.values()]) hazard.keep(exists);
  }

  #select({
    machine,
    zone,
    offering,
    cluster,
    count = Number.POSITIVE_INFINITY,
  }: HostSelector): readonly Host[] {
    const chosen: Host[] = [];
    for (const host of this.#hosts.values()) {
      if (chosen.length >= count) break;
      const { item } = host;
      const matches =
        (machine === undefined || item.id === machine) &&
        (zone === undefined || item.pool.zone === zone) &&
        (offering === undefined || item.pool.entry.name === offering || item.pool.name === offering) &&
        (cluster === undefined || host.cluster === cluster);
      if (matches) chosen.push(host);
    }
    return chosen;
  }

  #lose(host: Host, what: 'interrupted' | 'died', reason: string): void {
    const { item } = host;
    // The hazard may still hold a host that was deleted, and the machine may have a new one.
    if (this.#hosts.get(item.id) !== host || this.#watcher === null) return;
    this.#removeHost(item.id);
    this.#emit(what, item.id, host.cluster === '' ? 'while idle' : `while bound to ${host.cluster}`);
    // Before `lose`: it aborts an in-flight transition, which would schedule a clean-up without the lost host.
    this.#cleanUpLater(item, host.ref);
    // An owned host still exists and will be repaired; a rented one is gone and no longer billed.
    const loss = { hostIsGone: !item.pool.entry.isOwned };
    this.#watcher.lose(item.id, reason, loss).catch(ignoreClosed);
  }

  #cleanUpLater(item: Item, lost?: HostRef): void {
    const { cleanupMs } = this.#settings.losses;
    if (cleanupMs === 0 || this.#watcher === null || this.#cleanups.has(item.id)) return;
    const cancel = this.#clock.after(cleanupMs, () => {
      this.#cleanups.delete(item.id);
      this.#cleanUp(item, lost).catch(ignoreClosed);
    });
    this.#cleanups.set(item.id, cancel);
  }

  async #cleanUp(item: Item, lost: HostRef | undefined): Promise<void> {
    const repaired = item.pool.entry.isOwned ? (lost ?? this.#hosts.get(item.id)?.ref ?? null) : null;
    // The clean-up also removes a host that a create left behind when it succeeded after its timeout.
    const isCleaned = (await this.#watcher?.recover(item.id, repaired)) ?? false;
    if (!isCleaned) return;
    if (repaired === null) this.#removeHost(item.id);
    else this.#addHost(item, repaired, '');
    this.#emit('cleaned up', item.id, repaired === null ? 'a quota slot again' : 'repaired');
  }

  #emit(what: CloudEvent['what'], whom: string, detail: string): void {
    this.#onEvent({ atMs: this.#clock.now(), what, whom, detail });
  }
}

const PERMANENT_ERRORS: Readonly<Record<TransitionKind, string>> = {
  create: 'the image is not available in this zone',
  configure: 'the host refused the bootstrap blob',
  drain: 'the host does not answer',
  delete: 'the host is protected',
};

/** A loss or clean-up may reach a provider that has been closed; its rejection is expected. */
function ignoreClosed(): void {}

function unknown(what: string, name: string, known: readonly string[]): BigFleetError {
  return new BigFleetError(
    'BF_USAGE',
    `There is no ${what} "${printable(name)}"; there are: ${known.join(', ')}.`,
  );
}
