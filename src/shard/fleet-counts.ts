// The fleet in numbers, for gauges: counted when somebody asks, in one pass over the columns.

import type { Fleet } from '../fleet/index.ts';
import {
  BUCKET_LARGEST,
  BUCKET_PINNED,
  bucketOfDollars,
  CapacityType,
  dollarsOfBucket,
  MachineState,
  type PenaltyBucket,
  stateName,
} from '../model/index.ts';

export const STATE_LABELS: readonly string[] = Object.keys(MachineState);
export const CAPACITY_TYPE_LABELS: readonly string[] = Object.keys(CapacityType);
/** By bucket: the dollars it stands for. */
export const BUCKET_LABELS: readonly string[] = Array.from({ length: BUCKET_PINNED + 1 }, (_, bucket) => {
  if (bucket === 0) return 'unspecified';
  return bucket > BUCKET_LARGEST ? 'pinned' : String(dollarsOfBucket(bucket as PenaltyBucket));
});

export interface InventoryCount {
  readonly state: string;
  readonly capacityType: string;
  /** Of the work a machine was bound for; unspecified for one that has none. */
  readonly bucket: string;
  readonly count: number;
}

const STATES = 9;
const TYPES = CAPACITY_TYPE_LABELS.length;
const BUCKETS = BUCKET_LABELS.length;

export function inventoryOf({ machines, classes }: Fleet): InventoryCount[] {
  const counts = new Uint32Array(STATES * TYPES * BUCKETS);
  const bucketOf = stampBuckets(machines.stamps.interruptionDollars);
  const { state, classOf, stamp, size } = machines;
  for (let slot = 0; slot < size; slot++) {
    const bucket = stamp[slot] === 0 ? 0 : bucketOf[stamp[slot]!]!;
    counts[(state[slot]! * TYPES + classes.capacityType[classOf[slot]!]!) * BUCKETS + bucket]!++;
  }
  const found: InventoryCount[] = [];
  // From the first real state on: a slot without a machine has state 0.
  for (let at = TYPES * BUCKETS; at < counts.length; at++) {
    if (counts[at] === 0) continue;
    const place = Math.floor(at / BUCKETS);
    found.push({
      state: stateName(Math.floor(place / TYPES) as MachineState),
      capacityType: CAPACITY_TYPE_LABELS[place % TYPES]!,
      bucket: BUCKET_LABELS[at % BUCKETS]!,
      count: counts[at]!,
    });
  }
  return found;
}

function stampBuckets(dollars: Float64Array): Uint8Array {
  return Uint8Array.from(dollars, (amount) => bucketOfDollars(amount));
}

/**
 * By bucket: how many machines the demand comes to if each were just as large as the row's largest pod, which is the
 * smallest machine a row accepts. An upper bound, and comparable from day to day.
 */
export function demandByBucket({ clusters, demand, dimensions }: Fleet): Map<string, number> {
  const counts = new Map<string, number>();
  for (const cluster of clusters.sorted()) {
    const { offset, length } = demand.rowsOf(cluster);
    for (let row = offset; row < offset + length; row++) {
      const from = row * dimensions.stride;
      let wanted = 0;
      for (let d = from; d < from + dimensions.count; d++) {
        const amount = demand.aggregate.data[d]!;
        if (amount === 0) continue;
        const unit = demand.minUnit.data[d]!;
        wanted = Math.max(wanted, unit === 0 ? 1 : Math.ceil(amount / unit));
      }
      const bucket = BUCKET_LABELS[demand.profiles.entryOf(demand.profile[row]!).profile.interruptionBucket]!;
      counts.set(bucket, (counts.get(bucket) ?? 0) + wanted);
    }
  }
  return counts;
}
