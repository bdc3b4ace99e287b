// The names of enumerated values in scenario and offerings files. `idle`, `IDLE`, `Idle` and `MACHINE_STATE_IDLE` are
// one name: the wire's prefix, letter case, underscores and hyphens are ignored. Strings are names, never numbers.

import {
  BUCKET_ONE_DOLLAR,
  CapacityType,
  dollarsOfBucket,
  isPenaltyBucket,
  MachineState,
  NODE_USES,
  type NodeUse,
  Operator,
  type PenaltyBucket,
  WhenUnsatisfiable,
} from '../model/index.ts';

/** One enumeration of the wire: its prefix and its values in the model. */
export interface NameTable<T extends number> {
  /** undefined if the name is unknown. */
  parse(name: string): T | undefined;
  /** The short wire name, such as `ON_DEMAND`. */
  format(value: T): string;
  /** Every short name, for messages. */
  readonly known: string;
}

function nameTable<T extends number>(prefix: string, values: Readonly<Record<string, T>>): NameTable<T> {
  const byName = new Map<string, T>();
  const byValue = new Map<T, string>();
  for (const [name, value] of Object.entries(values)) {
    byName.set(plain(name), value);
    byName.set(plain(prefix + name), value);
    byValue.set(value, name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase());
  }
  return {
    parse: (name) => byName.get(plain(name)),
    format: (value) => byValue.get(value)!,
    known: [...byValue.values()].join(', '),
  };
}

function plain(name: string): string {
  return name.replace(/[_-]/g, '').toLowerCase();
}

export const STATE_NAMES = nameTable<MachineState>('MachineState', MachineState);
export const CAPACITY_TYPE_NAMES = nameTable<CapacityType>('CapacityType', CapacityType);
export const OPERATOR_NAMES = nameTable<Operator>('Operator', Operator);
export const WHEN_NAMES = nameTable<WhenUnsatisfiable>('WhenUnsatisfiable', WhenUnsatisfiable);

/** The use of a node: `in-use`, `IN_USE` and `inUse` are one name. */
export function parseUse(name: string): NodeUse | undefined {
  return NODE_USES.find((use) => plain(use) === plain(name));
}

const BUCKET_PREFIX = 'PENALTY_BUCKET_';
const SMALL_BUCKETS = ['UNSPECIFIED', 'ZERO', 'HALF_DOLLAR'] as const;

function bucketName(bucket: PenaltyBucket): string {
  const dollars = dollarsOfBucket(bucket);
  if (bucket < BUCKET_ONE_DOLLAR) return SMALL_BUCKETS[bucket]!;
  return dollars === Number.POSITIVE_INFINITY ? 'PINNED' : String(dollars);
}

const BUCKETS_BY_NAME = new Map<string, PenaltyBucket>();
for (let bucket = 0; isPenaltyBucket(bucket); bucket++) {
  const name = bucketName(bucket);
  BUCKETS_BY_NAME.set(plain(BUCKET_PREFIX + name), bucket);
  // "8" alone could mean ordinal 8 ($32) or $8, so dollar names need their prefix.
  if (!/^\d/.test(name)) BUCKETS_BY_NAME.set(plain(name), bucket);
}

/** A bucket by ordinal (a number) or by name (a string such as `PINNED` or `PENALTY_BUCKET_128`). */
export function parseBucket(value: string | number): PenaltyBucket | undefined {
  if (typeof value === 'number') return isPenaltyBucket(value) ? value : undefined;
  return BUCKETS_BY_NAME.get(plain(value));
}
