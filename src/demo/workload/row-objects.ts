// Converts rows to model objects: profiles, Needs, stamps, resource vectors and labels. Equal ones are created once and
// shared, so that millions of machines cost little more than their ids. Used for the demo's demand and by
// testing/workload.

import {
  bucketOfDollars,
  canonicalResources,
  INSTANCE_TYPE_KEY,
  makeProfile,
  type Need,
  Operator,
  type Profile,
  type Requirement,
  type ResourceVector,
  type Stamp,
  scale,
  WhenUnsatisfiable,
  withoutSame,
  ZONE_KEY,
} from '../../model/index.ts';
import type { PodSize } from '../catalogues/catalogue.ts';
import type { Holding, Row, RowMaker } from './rows.ts';

export const RACK_KEY = 'topology.bigfleet/rack';
const REGION_KEY = 'topology.kubernetes.io/region';
/** Unique per machine in a jittered fleet. */
export const BOARD_KEY = 'hardware.bigfleet/board';
/** Set on machines that only planted rows may use. */
const SET_APART_KEY = 'bench.bigfleet/set-apart';

const GPU = 'nvidia.com/gpu';
const BYTES_PER_MI = 2 ** 20;

/** Boards that rows exclude. None of them exists; the point is that the engine evaluates the label. */
const RECALLED_BOARDS = ['recalled-1', 'recalled-2', 'recalled-3'];

export class RowObjects {
  readonly #maker: RowMaker;
  readonly #profiles = new Map<string, Profile>();
  readonly #shapes = new Map<string, ResourceVector>();
  readonly #pods = new Map<string, ResourceVector>();
  /** By pod, then by number of pods. */
  readonly #amounts = new Map<ResourceVector, Map<number, ResourceVector>>();
  readonly #stripped = new Map<Profile, Profile>();
  readonly #labels = new Map<string, ReadonlyMap<string, string>>();

  constructor(maker: RowMaker) {
    this.#maker = maker;
  }

  profileOf(row: Row): Profile {
    const key = `${row.archetype}/${row.types}/${row.zones}/${row.priority}/${row.spread}/${row.setApart}/${row.region}`;
    let profile = this.#profiles.get(key);
    if (profile === undefined) {
      profile = this.#newProfile(row);
      this.#profiles.set(key, profile);
    }
    return profile;
  }

  #newProfile(row: Row): Profile {
    const of = this.#maker.archetypeOf(row);
    const requirements: Requirement[] = [
      { key: INSTANCE_TYPE_KEY, operator: Operator.In, values: chosen(of.instanceTypes, row.types) },
      { key: ZONE_KEY, operator: Operator.In, values: chosen(of.zones, row.zones) },
    ];
    if (of.gang !== null) {
      const key = of.gang.domain === 'rack' ? RACK_KEY : ZONE_KEY;
      requirements.push({ key, operator: Operator.Same, values: [] });
    }
    if (this.#maker.profile.jitter > 0) {
      requirements.push({ key: BOARD_KEY, operator: Operator.NotIn, values: RECALLED_BOARDS });
    }
    if (row.region !== '')
      requirements.push({ key: REGION_KEY, operator: Operator.In, values: [row.region] });
    if (row.setApart) requirements.push({ key: SET_APART_KEY, operator: Operator.Exists, values: [] });
    const { DoNotSchedule, ScheduleAnyway } = WhenUnsatisfiable;
    return makeProfile({
      requirements,
      spread:
        of.spread === null || !row.spread
          ? []
          : [
              {
                topologyKey: ZONE_KEY,
                maxSkew: of.spread.maxSkew,
                whenUnsatisfiable: of.spread.strict ? DoNotSchedule : ScheduleAnyway,
              },
            ],
      priority: row.priority,
      interruptionBucket: bucketOfDollars(of.interruptionDollars),
      reclamationBucket: bucketOfDollars(of.reclamationDollars),
    });
  }

  needOf(row: Row, cluster: string): Need {
    return {
      cluster,
      profile: this.profileOf(row),
      group: row.group,
      aggregate: this.amount(row, row.pods),
      minUnit: this.#largestPod(row),
      firstSeenMs: row.firstSeenMs,
    };
  }

  #largestPod(row: Row): ResourceVector {
    const pod = this.#podOf(row);
    return row.largestPodMilli === 0 ? pod : new Map(pod).set('cpu', row.largestPodMilli);
  }

  /** Resources of `pods` pods of the row's size. */
  amount(row: Row, pods: number): ResourceVector {
    return this.#times(this.#podOf(row), pods);
  }

  #podOf(row: Pick<Row, 'archetype' | 'size'>): ResourceVector {
    const key = `${row.archetype}/${row.size}`;
    let pod = this.#pods.get(key);
    if (pod === undefined) {
      pod = podVector(this.#maker.archetypeOf(row).sizes[row.size]!);
      this.#pods.set(key, pod);
    }
    return pod;
  }

  /** Resources of `pods` pods. Amounts of up to 64 pods recur and are cached. */
  #times(pod: ResourceVector, pods: number): ResourceVector {
    if (pods > 64) return scale(pod, pods);
    let amounts = this.#amounts.get(pod);
    if (amounts === undefined) {
      amounts = new Map([[1, pod]]);
      this.#amounts.set(pod, amounts);
    }
    let amount = amounts.get(pods);
    if (amount === undefined) {
      amount = scale(pod, pods);
      amounts.set(pods, amount);
    }
    return amount;
  }

  /** Resources of a machine for pods of an archetype and size. */
  shapeOf(row: Pick<Row, 'archetype' | 'size'>): ResourceVector {
    const key = `${row.archetype}/${row.size}`;
    let shape = this.#shapes.get(key);
    if (shape === undefined) {
      shape = scale(this.#podOf(row), this.#maker.podsPerMachine(row));
      this.#shapes.set(key, shape);
    }
    return shape;
  }

  /** The stamp of a machine bound for a holding. A fold has a key of its own, without `Same`. */
  stampOf(holding: Holding): Stamp {
    const { row } = holding;
    const of = this.#maker.archetypeOf(row);
    const profile = this.profileOf(row);
    const folded = holding.kind === 'fold';
    return {
      priority: row.priority,
      interruptionPenaltyDollars: of.interruptionDollars,
      reclamationPenaltyDollars: of.reclamationDollars,
      fingerprint: folded ? this.#strippedOf(profile).fingerprint : profile.fingerprint,
      group: folded ? `fold:${canonicalResources(this.amount(row, row.pods))}` : row.group,
    };
  }

  #strippedOf(profile: Profile): Profile {
    let stripped = this.#stripped.get(profile);
    if (stripped === undefined) {
      stripped = withoutSame(profile);
      this.#stripped.set(profile, stripped);
    }
    return stripped;
  }

  /** `region`: '' without regions. */
  labelsOf(zone: string, rack: number, setApart: boolean, region: string): ReadonlyMap<string, string> {
    const key = `${zone}/${rack}/${setApart}/${region}`;
    let labels = this.#labels.get(key);
    if (labels === undefined) {
      const place = region === '' ? zone : `${region}-${zone}`;
      const made = new Map([[RACK_KEY, `${place}-rack-${rack}`]]);
      if (region !== '') made.set(REGION_KEY, region);
      if (setApart) made.set(SET_APART_KEY, 'yes');
      labels = made;
      this.#labels.set(key, labels);
    }
    return labels;
  }
}

/** The entries of a list whose bit is set. */
export function chosen(list: readonly string[], mask: number): string[] {
  return list.filter((_, i) => (mask & (1 << i)) !== 0);
}

function podVector(size: PodSize): ResourceVector {
  const vector = new Map<string, number>();
  if (size.cpuMilli > 0) vector.set('cpu', size.cpuMilli);
  if (size.memoryMi > 0) vector.set('memory', size.memoryMi * BYTES_PER_MI);
  if (size.gpus > 0) vector.set(GPU, size.gpus);
  return vector;
}
