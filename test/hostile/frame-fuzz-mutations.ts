// All mutations of a single field of a frame: sizes, counts, numbers, wire types, wrong lengths, nesting, duplicates.
// frame-fuzzer.ts applies each of them to each field alone, and then several at once.

import { varint } from '../../testing/support/wire-bytes.ts';
import {
  delimited,
  EMPTY,
  filling,
  fillsOf,
  HUGE_BYTES,
  integer,
  type Rope,
  repeated,
  rope,
  tag,
  text,
} from './frame-fuzz-rope.ts';
import type { FieldSpec, MessageSpec, Site } from './frame-fuzz-schema.ts';

export interface Mutation {
  /** `rollup/needs/group: 1025 bytes of zeros`. */
  readonly label: string;
  readonly path: string;
  /** Creates a frame of megabytes, or one that is slow to read: most random frames exclude these. */
  readonly isHeavy: boolean;
  readonly replace: (site: Site) => Rope;
}

type Change = Omit<Mutation, 'label' | 'path'> & { readonly what: string };

const HUGE_COUNT = 400_000;
/** Up to this count each repetition of a field is generated separately, with a distinct name. */
const MOST_DISTINCT = 5_000;
/** A field number that no message uses. */
const UNKNOWN = 15;

const light = (what: string, replace: Change['replace']): Change => ({ what, replace, isHeavy: false });
const heavy = (what: string, replace: Change['replace']): Change => ({ what, replace, isHeavy: true });

/** Every single mutation of a frame with this member, in a fixed order. */
export function mutationsOf(member: MessageSpec, others: readonly MessageSpec[]): Mutation[] {
  return [...below(member, member.name), ...together(others).map((change) => mutation(member.name, change))];
}

function below(spec: FieldSpec, path: string): Mutation[] {
  const own = changesOf(spec).map((change) => mutation(path, change));
  if (spec.kind !== 'message') return own;
  return [...own, ...spec.fields.flatMap((field) => below(field, `${path}/${field.name}`))];
}

function mutation(path: string, { what, replace, isHeavy }: Change): Mutation {
  return { label: `${path}: ${what}`, path, replace, isHeavy };
}

function changesOf(spec: FieldSpec): Change[] {
  const common = [...counts(spec), ...wireTypes(spec)];
  if (spec.kind === 'integer') return [...common, ...numbers(spec.number)];
  const delimitedOnes = [...common, ...lengths(spec.number)];
  if (spec.kind === 'text') return [...delimitedOnes, ...sizes(spec.number, spec.limit), ...amounts(spec)];
  return [...delimitedOnes, ...messageSizes(spec.number, spec.limit), ...nesting(spec.number)];
}

function sizes(number: number, limit: number): Change[] {
  return [0, 1, limit, limit + 1, HUGE_BYTES].flatMap((size) =>
    fillsOf(size).map((fill) => {
      const make = size > 100_000 ? heavy : light;
      return make(`${size} bytes of ${fill}`, () => delimited(number, filling(fill, size)));
    }),
  );
}

/** A message is sized by an unknown field in it; a single byte is not a message. */
function messageSizes(number: number, limit: number): Change[] {
  const padded = (size: number): Rope => {
    // Tag and length take two to six bytes. Where another mutation has left no room, there is no padding.
    for (let header = 2; header <= Math.min(6, size); header++) {
      const field = delimited(UNKNOWN, filling('zeros', size - header));
      if (field.size === size) return field;
    }
    return EMPTY;
  };
  return [
    light('no content', () => delimited(number, EMPTY)),
    light('a single byte', () => delimited(number, rope([0x08]))),
    ...[limit, limit + 1, HUGE_BYTES].map((size) =>
      (size > 100_000 ? heavy : light)(`${size} bytes`, ({ body }) =>
        // Added to the existing content, so that it stays a row, a hello and so on as far as it fits.
        size === HUGE_BYTES
          ? delimited(number, rope(body(0), padded(size)))
          : delimited(number, rope(body(0), padded(size - body(0).size))),
      ),
    ),
  ];
}

function counts(spec: FieldSpec): Change[] {
  const { most } = spec;
  const some = most === undefined ? [0, 2, 1001] : [0, 1, most, most + 1];
  return [
    ...some.map((count) => {
      const make = count > MOST_DISTINCT ? heavy : light;
      return make(`${count} times`, ({ one }) =>
        count > MOST_DISTINCT
          ? repeated(one(0), count)
          : rope(...Array.from({ length: count }, (_, i) => one(i))),
      );
    }),
    light('the same twice', ({ one }) => rope(one(0), one(0))),
    heavy(`${HUGE_COUNT} times`, () => repeated(smallest(spec), HUGE_COUNT)),
  ];
}

function smallest(spec: FieldSpec): Rope {
  if (spec.kind === 'integer') return integer(spec.number, [1]);
  return delimited(spec.number, spec.kind === 'text' ? text('x') : EMPTY);
}

const TEN_BYTES = new Array<number>(9).fill(0x80);

const NUMBERS: readonly (readonly [string, readonly number[]])[] = [
  ...[0, 1, -1, 5, 6, 27, 28, 2 ** 31 - 1, -(2 ** 31), 2 ** 31, 2 ** 32, 2 ** 53].map(
    (value) => [String(value), varint(value)] as const,
  ),
  ['the largest of 64 bits', varint(2n ** 63n - 1n)],
  ['the smallest of 64 bits', varint(-(2n ** 63n))],
  ['zero in ten bytes', [...TEN_BYTES, 0]],
  ['ten bytes with the last bit', [...TEN_BYTES, 1]],
  ['ten bytes of 65 bits', [...TEN_BYTES, 2]],
  ['ten bytes of 70 bits', [...new Array<number>(9).fill(0xff), 0x7f]],
  ['eleven bytes', [...TEN_BYTES, 0x80, 0]],
  ['a number without end', new Array<number>(20).fill(0xff)],
];

function numbers(number: number): Change[] {
  return NUMBERS.map(([what, encoded]) => light(what, () => integer(number, encoded)));
}

/** Spellings of amounts that replace a text. */
const AMOUNTS = [
  '-1',
  '-0',
  '9'.repeat(40),
  '9'.repeat(128),
  '1e999',
  '1e-999',
  '1e2147483648',
  '.',
  '+5',
  'NaN',
];

function amounts({ name, number }: FieldSpec): Change[] {
  if (name !== 'value') return [];
  return AMOUNTS.map((amount) => light(`the amount ${amount}`, () => delimited(number, text(amount))));
}

/** Content after a tag of each wire type; 4, 6 and 7 start nothing. */
const CONTENTS: readonly (readonly number[])[] = [
  [1],
  new Array<number>(8).fill(1),
  [3, 0x61, 0x62, 0x63],
  [0x08, 1],
  [],
  new Array<number>(4).fill(1),
  [],
  [],
];

function wireTypes({ number, kind }: FieldSpec): Change[] {
  const own = kind === 'integer' ? 0 : 2;
  return CONTENTS.flatMap((content, type) => {
    if (type === own) return [];
    const end = type === 3 ? tag(number, 4) : [];
    return [light(`wire type ${type}`, () => rope(tag(number, type), content, end))];
  });
}

/** Lengths that differ from the content's, and a correct one encoded in five bytes. */
function lengths(number: number): Change[] {
  const lie = (what: string, declared: (size: number) => readonly number[]): Change =>
    light(what, ({ body }) => delimited(number, body(0), declared(body(0).size)));
  return [
    lie('a length one too large', (size) => varint(size + 1)),
    lie('a length one too small', (size) => varint(Math.max(0, size - 1))),
    lie('a length of 2^31 - 1', () => varint(2 ** 31 - 1)),
    lie('a length of 2^32 - 1', () => varint(2 ** 32 - 1)),
    lie('a length of 2^63', () => varint(2n ** 63n)),
    lie('a length in five bytes', (size) =>
      [0, 7, 14, 21, 28].map((shift) => ((size >>> shift) & 0x7f) | (shift < 28 ? 0x80 : 0)),
    ),
  ];
}

function nesting(number: number): Change[] {
  const beside = (what: string, added: Rope): Change =>
    light(what, ({ body }) => delimited(number, rope(body(0), added)));
  const groups = (depth: number): Rope =>
    rope(repeated(rope(tag(UNKNOWN, 3)), depth), repeated(rope(tag(UNKNOWN, 4)), depth));
  let inner: Rope = EMPTY;
  for (let depth = 0; depth < 200; depth++) inner = delimited(UNKNOWN, inner);
  return [
    ...[1, 99, 100, 101, 50_000].map((depth) => beside(`${depth} nested groups`, groups(depth))),
    beside('a group without end', rope(tag(UNKNOWN, 3))),
    beside('a group with another end', rope(tag(UNKNOWN, 3), tag(UNKNOWN + 1, 4))),
    beside('a group of number 0', rope(tag(UNKNOWN, 3), tag(0, 3), tag(0, 4), tag(UNKNOWN, 4))),
    beside('200 unknown messages in one another', inner),
    beside('field number 0', rope(tag(0, 0), [1])),
    beside('the largest field number', integer(2 ** 29 - 1, [1])),
    beside('a tag of more than 32 bits', rope([0xf8, 0xff, 0xff, 0xff, 0x1f, 1])),
    beside('a zero byte', rope([0])),
  ];
}

/** Members of the oneof together in one frame. */
function together(others: readonly MessageSpec[]): Change[] {
  return [
    light('twice, to be merged', ({ one }) => rope(one(0), one(0))),
    ...others.flatMap((other) => {
      const empty = delimited(other.number, EMPTY);
      return [
        light(`${other.name} before it`, ({ one }) => rope(empty, one(0))),
        light(`${other.name} behind it`, ({ one }) => rope(one(0), empty)),
        light(`${other.name} between two`, ({ one }) => rope(one(0), empty, one(0))),
      ];
    }),
  ];
}
