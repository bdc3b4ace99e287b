// Hardware and location of machines: those bound for the rows of a cluster, and the shared pools of Idle machines and
// quota slots. Bound machines fit their row exactly; pools follow the catalogue's shares and serve any cluster. Used by
// the other files of this folder and by bench/ladder.

import type { Tier } from '../../src/demo/catalogues/catalogue.ts';
import { BOARD_KEY, chosen, type RowObjects } from '../../src/demo/workload/row-objects.ts';
import { type Holding, type RowMaker, regionName, STREAM } from '../../src/demo/workload/rows.ts';
import type { ScaleProfile } from '../../src/demo/workload/scale-profile.ts';
import { splitExactly } from '../../src/demo/workload/sizing.ts';
import {
  CapacityType,
  DEFAULT_DRAIN_SECONDS,
  type HostRef,
  type LedgerMachine,
  MachineState,
  type ResourceVector,
  type Stamp,
} from '../../src/model/index.ts';
import { Random, scramble32 } from '../../src/runtime/random.ts';

/** A machine's location and hardware, without its id and state. */
export interface Site {
  readonly archetype: number;
  readonly size: number;
  readonly type: string;
  readonly zone: string;
  readonly rack: number;
  /** '' without regions. */
  readonly region: string;
  readonly tier: Tier;
  readonly setApart: boolean;
}

const CAPACITY_TYPES = {
  'bare-metal': CapacityType.BareMetal,
  'on-demand': CapacityType.OnDemand,
  spot: CapacityType.Spot,
} as const;

/** A prime larger than most rack counts: machine i is in rack i × RACK_STRIDE, so racks fill evenly with mixed machines. */
const RACK_STRIDE = 7919;

/** The fields of a record beyond its site. */
export interface MachineStatus {
  readonly state: MachineState;
  readonly cluster: string;
  readonly stamp: Stamp | null;
  readonly lastError: string;
}

const IDLE: MachineStatus = { state: MachineState.Idle, cluster: '', stamp: null, lastError: '' };
const SPECULATIVE: MachineStatus = { ...IDLE, state: MachineState.Speculative };
const FAILED: MachineStatus = {
  ...IDLE,
  state: MachineState.Failed,
  lastError: 'the host stopped answering',
};
export const STATUS = { idle: IDLE, speculative: SPECULATIVE, failed: FAILED } as const;

/** Quota slots have no host. */
export function hostOf(id: string, state: MachineState): HostRef | null {
  return state === MachineState.Speculative ? null : { provider: 'bench', ref: id };
}

/** The racks of one cluster in every zone, and how full they are. */
export class Placement {
  readonly random: Random;
  /** The region of the cluster; '' without regions. */
  readonly region: string;
  readonly #first: number;
  readonly #width: number;
  readonly #filled = new Map<string, Int32Array>();
  /** First rack considered, so that clusters which share racks do not all start with the same one. */
  readonly #start: number;

  constructor(random: Random, region: string, first: number, width: number) {
    this.random = random;
    this.region = region;
    this.#first = first;
    this.#width = width;
    this.#start = random.below(width);
  }

  /** The emptiest rack of a zone; counts `machines` more in it. */
  rackFor(zone: string, machines: number): number {
    let filled = this.#filled.get(zone);
    if (filled === undefined) {
      filled = new Int32Array(this.#width);
      this.#filled.set(zone, filled);
    }
    let best = this.#start;
    for (let i = 1; i < this.#width; i++) {
      const rack = (this.#start + i) % this.#width;
      if (filled[rack]! < filled[best]!) best = rack;
    }
    filled[best]! += machines;
    return this.#first + best;
  }
}

export class MachineMaker {
  readonly #maker: RowMaker;
  readonly #rowObjects: RowObjects;
  readonly #profile: ScaleProfile;
  readonly #racksPerZone: number;
  readonly #idSalt: number;

  constructor(maker: RowMaker, rowObjects: RowObjects) {
    this.#maker = maker;
    this.#rowObjects = rowObjects;
    this.#profile = maker.profile;
    const { racksPerZone, machinesPerRack, configured, idle, speculative } = maker.profile;
    const zones = new Set(maker.profile.catalogue.archetypes.flatMap((a) => a.zones)).size;
    this.#racksPerZone =
      racksPerZone > 0
        ? racksPerZone
        : Math.max(1, Math.round((configured + idle + speculative) / machinesPerRack / zones));
    this.#idSalt = scramble32(maker.seed ^ STREAM.ids);
  }

  /** Ids are scattered like those of a cloud: neighbours in the stream are not neighbours in id order. */
  idOf(ordinal: number): string {
    const bits = scramble32(ordinal ^ this.#idSalt) >>> 0;
    return `i-${bits.toString(16).padStart(8, '0')}`;
  }

  /** Locations of the next machines of a cluster; holdings have to be placed in order. */
  placement(cluster: number): Placement {
    const random = new Random(this.#maker.seed, STREAM.placement, cluster);
    const { clusters, racksPerZone } = this.#profile;
    const racks = this.#racksPerZone;
    const region = this.#maker.regionOf(cluster);
    if (racksPerZone > 0) return new Placement(random, region, 0, racks);
    // With racks of a fixed size a cluster has its own racks, as many as its part of the fleet fills.
    const first = Math.floor((cluster * racks) / clusters);
    const width = Math.floor(((cluster + 1) * racks) / clusters) - first;
    return new Placement(random, region, Math.min(first, racks - 1), Math.max(1, width));
  }

  /** The sites of a holding's machines: evenly over its zones, and for a gang all in one domain. */
  *boundSites(holding: Holding, placement: Placement): Generator<Site> {
    const { row, machines } = holding;
    const of = this.#maker.archetypeOf(row);
    const types = chosen(of.instanceTypes, row.types);
    const zones = chosen(of.zones, row.zones);
    const gang = holding.kind === 'gang' ? of.gang!.domain : null;
    const typeOffset = placement.random.below(types.length);
    const zoneOffset = placement.random.below(zones.length);
    const home = zones[zoneOffset]!;
    const homeRack = gang === 'rack' ? placement.rackFor(home, machines) : 0;
    for (let i = 0; i < machines; i++) {
      const zone = gang === null ? zones[(zoneOffset + i) % zones.length]! : home;
      yield {
        archetype: row.archetype,
        size: row.size,
        type: types[(typeOffset + i) % types.length]!,
        zone,
        rack: gang === 'rack' ? homeRack : placement.rackFor(zone, 1),
        region: placement.region,
        tier: this.#profile.catalogue.owned,
        setApart: i < holding.setApart,
      };
    }
  }

  /** The sites of a pool. Machines for rack gangs come in blocks of one largest gang, all others one by one. */
  *poolSites(pool: 'idle' | 'speculative'): Generator<Site> {
    const { catalogue, density } = this.#profile;
    const counts = splitExactly(catalogue.archetypes, density, this.#profile[pool]);
    const tiers = pool === 'idle' ? [catalogue.owned] : catalogue.slots;
    for (const [archetype, of] of catalogue.archetypes.entries()) {
      const random = new Random(this.#maker.seed, STREAM.pools, pool === 'idle' ? 0 : 1, archetype);
      const weights = of.sizes.map(({ weight }) => weight);
      const block = of.gang?.domain === 'rack' && this.#profile.racksPerZone > 0 ? of.gang.pods[1] : 1;
      for (let i = 0; i < counts[archetype]!; i++) {
        const place = Math.floor(i / block);
        yield {
          archetype,
          size: random.weighted(weights),
          type: random.pick(of.instanceTypes),
          zone: of.zones[place % of.zones.length]!,
          rack: this.#poolRack(place, of.zones.length),
          region: regionName(this.#profile, Math.floor(place / of.zones.length)),
          tier: tiers[i % tiers.length]!,
          setApart: false,
        };
      }
    }
  }

  // Ten racks and three zones are coprime, so that advancing both together reaches every rack.
  #poolRack(place: number, zones: number): number {
    if (this.#profile.racksPerZone > 0) return place % this.#racksPerZone;
    return (Math.floor(place / zones) * RACK_STRIDE) % this.#racksPerZone;
  }

  machine(ordinal: number, site: Site, status: MachineStatus): LedgerMachine {
    const id = this.idOf(ordinal);
    const shape = this.#rowObjects.shapeOf(site);
    const labels = this.#rowObjects.labelsOf(site.zone, site.rack, site.setApart, site.region);
    const jittered = this.#profile.jitter > 0;
    const offered = jittered ? this.#jittered(shape, ordinal) : shape;
    const { state, cluster, stamp, lastError } = status;
    return {
      id,
      state,
      host: hostOf(id, state),
      cluster,
      instanceType: site.type,
      zone: site.zone,
      capacityType: CAPACITY_TYPES[site.tier.capacityType],
      pricePerHour: site.tier.pricePerHour,
      interruptionProbability: site.tier.interruptionProbability,
      resources: offered,
      allocatable: offered,
      labels: jittered ? new Map([...labels, [BOARD_KEY, id]]) : labels,
      lastError,
      stamp,
      target: null,
      blocked: false,
      idleSinceMs: null,
      drainSeconds: DEFAULT_DRAIN_SECONDS,
      unclaimedSinceMs: null,
    };
  }

  /** Never below nominal, or a pod that fills its machine would no longer fit. Devices are whole. */
  #jittered(shape: ResourceVector, ordinal: number): ResourceVector {
    const part = (scramble32(ordinal ^ ~this.#idSalt) >>> 0) / 2 ** 32;
    const jittered = new Map(shape);
    for (const name of ['cpu', 'memory']) {
      const units = shape.get(name);
      if (units !== undefined) jittered.set(name, units + Math.floor(units * this.#profile.jitter * part));
    }
    return jittered;
  }
}
