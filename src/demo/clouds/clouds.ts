// The two clouds of the demo environment (demo.ts), each a provider on a loopback port with its state in a file, and
// the faults that can be injected.

import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BigFleetError, CapacityType } from '../../model/index.ts';
import {
  type CloudEvent,
  FakeProvider,
  type FakeSettings,
  type ProviderServer,
  patchSettings,
  presetSettings,
  SqliteStore,
  serveProvider,
} from '../../provider/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import { replaceFile } from '../../runtime/directories.ts';
import { Random } from '../../runtime/random.ts';
import { isSqliteFileOf } from '../../runtime/sqlite-file.ts';
import { type CloudSupply, type Supply, ZONES } from './offerings.ts';

export interface CloudsOptions {
  /** An existing directory for the state of both. */
  readonly dir: string;
  readonly supply: Supply;
  readonly seed: number;
  /** Time-lapse factor relative to real clouds. */
  readonly speed: number;
  readonly clock: Clock;
  readonly onEvent?: (cloud: string, event: CloudEvent) => void;
  /** A state file can no longer be written; its cloud refuses every call from now on. */
  readonly onFailure?: (error: BigFleetError) => void;
}

export interface CloudStatus {
  readonly name: string;
  readonly address: string;
  readonly machines: number;
  /** Hosts that exist, bought or owned. */
  readonly hosts: number;
}

interface OpenCloud {
  readonly supply: CloudSupply;
  readonly provider: FakeProvider;
  readonly server: ProviderServer;
}

/** By zone, when its outage ends: ms since the epoch. */
const OUTAGES_FILE = 'outages.json';
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
/** Size of a wave, as a fraction of all machines; bounded by the spot hosts in use. */
const WAVE_SHARE = 0.04;
const OUTAGE_MS = 10 * MINUTE_MS;
/** Lower bound at any speed, so that an outage remains visible. */
const SHORTEST_OUTAGE_MS = 20 * SECOND_MS;

export class Clouds {
  readonly #options: CloudsOptions;
  readonly #metal: OpenCloud;
  readonly #cloud: OpenCloud;
  readonly #random: Random;

  private constructor(options: CloudsOptions, metal: OpenCloud, cloud: OpenCloud) {
    this.#options = options;
    this.#metal = metal;
    this.#cloud = cloud;
    this.#random = new Random(options.seed, 0xc10);
  }

  /** Throws, and leaves nothing open, if a state file or a port is unavailable. */
  static async open(options: CloudsOptions): Promise<Clouds> {
    const metal = await openCloud(options, options.supply.metal, options.seed);
    try {
      const outages = await readOutages(options);
      const cloud = await openCloud(options, options.supply.cloud, options.seed + 1);
      for (const [zone, untilMs] of outages) cloud.provider.cloud.outage(zone, untilMs - options.clock.now());
      return new Clouds(options, metal, cloud);
    } catch (error) {
      await metal.server.stop();
      throw error;
    }
  }

  get status(): readonly CloudStatus[] {
    return [this.#metal, this.#cloud].map(({ supply, provider, server }) => ({
      name: supply.name,
      address: server.address,
      machines: supply.machines,
      hosts: provider.cloud.hostCount,
    }));
  }

  /** Interrupts `count` spot hosts of the cloud, by default a wave. Returns a description. */
  spotWave(count = Math.max(3, Math.round(this.#options.supply.machines * WAVE_SHARE))): string {
    const { supply, provider } = this.#cloud;
    const spot = supply.offerings.filter(({ capacityType }) => capacityType === CapacityType.Spot);
    const taken = new Map<string, number>();
    let left = count;
    // Round-robin over the kinds, until `count` is reached or none is left.
    for (let found = true; left > 0 && found; ) {
      found = false;
      for (const { name } of spot.slice(0, left)) {
        if (provider.cloud.interrupt({ offering: name, count: 1 }).length === 0) continue;
        taken.set(name, (taken.get(name) ?? 0) + 1);
        left--;
        found = true;
      }
    }
    if (taken.size === 0) return 'No spot host is in use, so the cloud had none to take back.';
    const kinds = [...taken].map(([name, times]) => `${times} ${name}`).join(', ');
    return `Spot wave: the cloud takes back ${hosts(count - left)} (${kinds}).`;
  }

  /**
   * Takes down a zone of the cloud, drawn unless given, for a while; the outage survives restarts. Returns a
   * description.
   */
  async zoneOutage(zone = this.#random.pick(ZONES)): Promise<string> {
    const forMs = Math.max(SHORTEST_OUTAGE_MS, OUTAGE_MS / this.#options.speed);
    const { supply, provider } = this.#cloud;
    const lost = provider.cloud.outage(zone, forMs);
    const outages = new Map(await readOutages(this.#options)).set(zone, this.#options.clock.now() + forMs);
    writeOutages(this.#options, outages);
    const seconds = Math.round(forMs / SECOND_MS);
    return `Zone outage: zone ${zone} of ${supply.name} is dark for ${seconds} s and has lost ${hosts(lost.length)}.`;
  }

  async stop(): Promise<void> {
    await Promise.all([this.#metal, this.#cloud].map(({ server }) => server.stop()));
  }
}

/** Whether the clouds write a file of this name into their directory. */
export function isCloudFile(name: string): boolean {
  if (name === OUTAGES_FILE || name === `${OUTAGES_FILE}.new`) return true;
  return ['metal', 'cloud'].some((cloud) => isSqliteFileOf(databaseOf(cloud), name));
}

function databaseOf(cloud: string): string {
  return `${cloud}.db`;
}

function hosts(count: number): string {
  return `${count} ${count === 1 ? 'host' : 'hosts'}`;
}

type Outages = ReadonlyMap<string, number>;

/** Zones that are down, and until when; expired outages are dropped. */
async function readOutages({ dir, clock }: CloudsOptions): Promise<Outages> {
  const path = join(dir, OUTAGES_FILE);
  if (!existsSync(path)) return new Map();
  try {
    const saved = JSON.parse(await readFile(path, 'utf8')) as Readonly<Record<string, number>>;
    return new Map(Object.entries(saved).filter(([zone, ms]) => ZONES.includes(zone) && ms > clock.now()));
  } catch (cause) {
    throw new BigFleetError('BF_INPUT_UNREADABLE', 'It says which zones are dark.', { path, cause });
  }
}

function writeOutages({ dir }: CloudsOptions, outages: Outages): void {
  replaceFile(join(dir, OUTAGES_FILE), `${JSON.stringify(Object.fromEntries(outages))}\n`);
}

async function openCloud(options: CloudsOptions, supply: CloudSupply, seed: number): Promise<OpenCloud> {
  const { dir, speed, clock, onEvent, onFailure } = options;
  const path = join(dir, databaseOf(supply.name));
  let failure: BigFleetError | null = null;
  const onStoreFailure = (error: unknown): void => {
    failure = storeFailure(path, error);
    onFailure?.(failure);
  };
  const opening = FakeProvider.open({
    seed,
    clock,
    machines: supply.machines,
    settings: settingsAt(speed),
    catalogue: supply.offerings,
    provider: supply.name,
    // A cloud does not end with the demo: in-flight transitions continue at the next start.
    resumable: true,
    store: new SqliteStore(path),
    kit: { onStoreFailure },
    onEvent: (event) => onEvent?.(supply.name, event),
  });
  // The kit's error to its callers does not name the file.
  const provider = await opening.catch((error: unknown) => {
    throw failure ?? error;
  });
  try {
    return { supply, provider, server: await serveProvider(provider, '127.0.0.1:0', { tls: null }) };
  } catch (error) {
    await provider.close();
    throw error;
  }
}

function storeFailure(path: string, cause: unknown): BigFleetError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new BigFleetError('BF_STORE_FAILED', `${message}.`, { path, cause });
}

/** Clouds on a good day: a host takes most of a minute, spot prices vary, and losses occur now and then. */
function settingsAt(speed: number): FakeSettings {
  const ms = (real: number) => Math.max(1, real / speed);
  return patchSettings(presetSettings('calm'), {
    latency: {
      create: { medianMs: ms(35 * SECOND_MS), spread: 0.25 },
      configure: { medianMs: ms(20 * SECOND_MS), spread: 0.25 },
      drain: { medianMs: ms(20 * SECOND_MS), spread: 0.5 },
      delete: { medianMs: ms(10 * SECOND_MS), spread: 0.25 },
      // Firmware is slow.
      factor: { bareMetal: 1.5 },
    },
    operations: { transientError: 0.02 },
    market: { priceSwing: 0.08, rateSwing: 0.2, stepMs: ms(20 * MINUTE_MS), refreshMs: ms(5 * MINUTE_MS) },
    losses: { interruptionFactor: 100, cleanupMs: ms(10 * MINUTE_MS), tickMs: SECOND_MS },
  });
}
