// The frames an operator may send, as a separate table: names, numbers, limits and an ordinary value of every field of
// an OperatorMessage, from api/proto/bigfleet/v1alpha1/{shard,capacity}.proto. frame-fuzzer.ts renders frames from it
// and puts other bytes in the place of single fields; nothing here comes from generated code.

import { varint } from '../../testing/support/wire-bytes.ts';
import { delimited, EMPTY, integer, type Rope, rope, text } from './frame-fuzz-rope.ts';

interface Common {
  readonly name: string;
  readonly number: number;
  /** How often it occurs in an ordinary frame; absent: once. */
  readonly times?: number;
  /** Number of repetitions that a reader accepts; absent: the field is singular. */
  readonly most?: number;
}

export type FieldSpec =
  /** `limit` is in bytes. `valueOf` makes the ordinary value of the i-th of several. */
  | (Common & { readonly kind: 'text'; readonly limit: number; readonly valueOf: (i: number) => string })
  | (Common & { readonly kind: 'integer'; readonly valueOf: (i: number) => number })
  | (Common & { readonly kind: 'message'; readonly limit: number; readonly fields: readonly FieldSpec[] });

export type MessageSpec = Extract<FieldSpec, { readonly kind: 'message' }>;

type Values<T> = T | ((i: number) => T);
const asFunction = <T extends string | number>(value: Values<T>): ((i: number) => T) =>
  typeof value === 'function' ? value : () => value;

function string(
  name: string,
  number: number,
  limit: number,
  value: Values<string>,
  more: Partial<Common> = {},
): FieldSpec {
  return { kind: 'text', name, number, limit, valueOf: asFunction(value), ...more };
}

function int(name: string, number: number, value: Values<number>): FieldSpec {
  return { kind: 'integer', name, number, valueOf: asFunction(value) };
}

function message(
  name: string,
  number: number,
  limit: number,
  fields: readonly FieldSpec[],
  more: Partial<Common> = {},
): MessageSpec {
  return { kind: 'message', name, number, limit, fields, ...more };
}

const KIB = 1024;

const REQUIREMENT = [
  string('key', 1, 317, (i) => `example.com/key-${i}`),
  int('operator', 2, 1),
  string('values', 3, 63, (i) => `value-${i}`, { most: 4096, times: 2 }),
];

const SPREAD = [
  string('topology_key', 1, 317, (i) => `example.com/zone-${i}`),
  int('max_skew', 2, 1),
  int('when_unsatisfiable', 3, 1),
];

const AMOUNT = [
  string('key', 1, 317, (i) => (i === 0 ? 'cpu' : `example.com/resource-${i}`)),
  string('value', 2, 128, '4'),
];

const NEED = [
  message('requirements', 1, 32 * KIB, REQUIREMENT, { most: 64 }),
  message('aggregate_resources', 2, 16 * KIB, AMOUNT, { most: 16 }),
  int('priority', 3, (i) => i),
  int('reserved count', 4, 3),
  message('spread', 5, 32 * KIB, SPREAD, { most: 64 }),
  int('interruption_penalty_bucket', 6, 3),
  int('reclamation_penalty_bucket', 7, 27),
  message('min_unit', 8, 16 * KIB, AMOUNT, { most: 16 }),
  string('group', 9, 1024, (i) => `group\0${i}`),
];

/** The members of the oneof, and one of a later version of the wire. Each frame has one of them. `cluster` is read for each frame. */
export function membersOf(cluster: () => string): readonly MessageSpec[] {
  return [
    message('hello', 1, 64 * KIB, [
      string('cluster_id', 1, 253, cluster),
      string('reserved capabilities', 2, 64, 'capability'),
      string('protocol_version', 3, 64, 'v1alpha1'),
      string('features', 1000, 32, (i) => `feature-${i}`, { most: 16 }),
    ]),
    message('rollup', 2, 1024 * KIB, [
      string('cluster_id', 1, 253, cluster),
      int('timestamp_unix_nanos', 2, 1_700_000_000),
      message('needs', 3, 512 * KIB, NEED, { most: 50_000, times: 2 }),
      message('node_facts', 1000, 64 * KIB, [
        string('empty', 1, 253, (i) => `m-${i}`, { most: 100, times: 2 }),
        string('in_use', 2, 253, (i) => `m-${i + 2}`, { most: 100 }),
        message('protected', 3, 64 * KIB, [string('machine_id', 1, 253, 'm-9'), int('reason', 2, 1)], {
          most: 100,
        }),
      ]),
    ]),
    message('bootstrap_response', 3, 1024 * KIB, [
      string('request_id', 1, 16, '0123456789abcdef'),
      string('user_data', 2, 1024 * KIB, 'join'),
      int('ttl_seconds', 3, 600),
      string('error', 4, 1000, 'why'),
    ]),
    message('reclaim_ack', 4, 64 * KIB, [
      string('instruction_id', 1, 64, 'abc-1'),
      int('nodes_started', 2, 1),
    ]),
    message('node_report', 1000, 64 * KIB, [
      string('machine_id', 1, 253, 'm-1'),
      int('kind', 2, 3),
      string('instruction_id', 3, 64, 'abc-1'),
      string('node_name', 4, 253, 'node-1'),
      string('provider_id', 5, 1024, 'cloud://1'),
      string('reason', 6, 500, 'why'),
      string('blocked_by', 7, 317, (i) => `pdb/shop/${i}`, { most: 20, times: 2 }),
    ]),
    message('later member', 1999, 64 * KIB, [string('name', 1, 253, 'node')]),
  ];
}

/** A field of a frame, and its ordinary content. */
export interface Site {
  readonly spec: FieldSpec;
  /** Of the i-th occurrence: the field, tag included. */
  readonly one: (i: number) => Rope;
  /** Of the i-th occurrence: its content alone. Empty for integers. */
  readonly body: (i: number) => Rope;
}

/** By path, such as `rollup/needs/group`: the replacement of the field. */
export type Replacements = ReadonlyMap<string, (site: Site) => Rope>;

const NONE: Replacements = new Map();

/** A field as often as it occurs, or what replaces it; `outer` numbers the message around it. */
export function render(spec: FieldSpec, path: string, replacements: Replacements, outer = 0): Rope {
  const body = (i: number): Rope => {
    if (spec.kind === 'integer') return EMPTY;
    if (spec.kind === 'text') return text(spec.valueOf(i));
    // Only the first of several is mutated: its neighbours must still be read.
    const inside = i === 0 ? replacements : NONE;
    return rope(...spec.fields.map((field) => render(field, `${path}/${field.name}`, inside, i)));
  };
  const one = (i: number): Rope =>
    spec.kind === 'integer' ? integer(spec.number, varint(spec.valueOf(i))) : delimited(spec.number, body(i));
  // Several of a kind are numbered among themselves; a single one has the number of the message around it.
  const numberOf = (i: number): number => (spec.most === undefined ? outer : i);
  const replace = replacements.get(path);
  if (replace === undefined)
    return rope(...Array.from({ length: spec.times ?? 1 }, (_, i) => one(numberOf(i))));
  return replace({ spec, one: (i) => one(spec.most === undefined ? outer + i : i), body });
}
