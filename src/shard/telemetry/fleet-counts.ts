// Machine counts by the labels of the inventory gauges. Computed on each scrape, in one pass over the columns. Used by
// metrics.ts.

import type { Fleet } from '../../fleet/index.ts';
import {
  BUCKET_LARGEST,
  BUCKET_PINNED,
  bucketOfDollars,
  CapacityType,
  dollarsOfBucket,
  MachineState,
  type PenaltyBucket,
  stateName,
} from '../../model/index.ts';

export const STATE_LABELS: readonly string[] = Object.keys(MachineState);
export const CAPACITY_TYPE_LABELS: readonly string[] = Object.keys(CapacityType);
/** By bucket: its amount in dollars. */
export const BUCKET_LABELS: readonly string[] = Array.from({ length: BUCKET_PINNED + 1 }, (_, bucket) => {
  if (bucket === 0) return 'unspecified';
  return bucket > BUCKET_LARGEST ? 'pinned' : String(dollarsOfBucket(bucket as PenaltyBucket));
});

export interface InventoryCount {
  readonly state: string;
  readonly capacityType: string;
  /** Interruption bucket in the machine's stamp; unspecified without a stamp. */
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
  // Starts at state 1: a slot without a machine has state 0.
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
