// Frames of a hostile operator, built field by field. First every single mutation of every field, in a fixed order;
// then two or three of them at once, with bytes truncated or changed, drawn from a seed. A seed and a number determine
// a frame. Used by the frame-fuzz tests and `npm run soak:frames`.

import { Random } from '../../src/runtime/random.ts';
import { type Mutation, mutationsOf } from './frame-fuzz-mutations.ts';
import { type Rope, RopeWriter } from './frame-fuzz-rope.ts';
import { type MessageSpec, membersOf, render } from './frame-fuzz-schema.ts';

export interface FuzzedFrame {
  readonly index: number;
  /** Its mutations, for people. */
  readonly label: string;
  /** Overwritten by the next frame. */
  readonly bytes: Uint8Array;
}

/** One of this many random frames has a heavy mutation among its own. */
const HEAVY_ONE_IN = 50;
/** Bound of a random frame: half of what a session accepts by default, and more than any single mutation creates. */
const MOST_BYTES = 32 * 1024 * 1024;
/** Roll-ups have nearly all of the fields. */
const ROLLUP_SHARE = 0.8;

interface Recipe {
  readonly label: string;
  readonly rope: Rope;
  readonly spoil?: (bytes: Uint8Array) => Uint8Array;
}

/** A member of the oneof, with all its mutations. */
interface Fuzzed {
  readonly member: MessageSpec;
  readonly light: readonly Mutation[];
  readonly heavy: readonly Mutation[];
}

export class FrameFuzzer {
  readonly seed: number;
  readonly #rollup: MessageSpec;
  readonly #fuzzed: readonly Fuzzed[];
  readonly #singles: readonly (() => Recipe)[];
  readonly #writer = new RopeWriter(MOST_BYTES);
  #cluster = '';

  constructor(seed: number) {
    this.seed = seed;
    const members = membersOf(() => this.#cluster);
    this.#rollup = members.find(({ name }) => name === 'rollup')!;
    this.#fuzzed = members.map((member) => {
      const mutations = mutationsOf(
        member,
        members.filter((other) => other !== member),
      );
      const { light = [], heavy = [] } = Object.groupBy(mutations, ({ isHeavy }) =>
        isHeavy ? 'heavy' : 'light',
      );
      return { member, light, heavy };
    });
    this.#singles = this.#fuzzed.flatMap(({ member, light, heavy }) => [
      ...[...light, ...heavy].map((mutation) => () => mutated(member, [mutation])),
      ...cuts(member),
    ]);
  }

  /** Number of frames with a single mutation; frames from this number on have several. */
  get singles(): number {
    return this.#singles.length;
  }

  /** Allocates the buffers that all later frames use, so that they are not mistaken for a leak. */
  prepare(): void {
    for (const { member, heavy } of this.#fuzzed)
      for (const mutation of heavy) this.#writer.bytesOf(mutated(member, [mutation]).rope);
  }

  /** The ordinary roll-up from which others are derived. */
  good(cluster: string): Uint8Array {
    this.#cluster = cluster;
    return Uint8Array.from(this.#writer.bytesOf(render(this.#rollup, this.#rollup.name, new Map())));
  }

  /** A frame by its number. Roll-ups and hellos name `cluster` unless that field is mutated. */
  at(index: number, cluster: string): FuzzedFrame {
    this.#cluster = cluster;
    const recipe = this.#singles[index]?.() ?? this.#drawn(new Random(this.seed, index));
    const written = this.#writer.bytesOf(recipe.rope);
    return { index, label: recipe.label, bytes: recipe.spoil?.(written) ?? written };
  }

  #drawn(random: Random): Recipe {
    const isRollup = random.chance(ROLLUP_SHARE);
    const { member, light, heavy } = isRollup
      ? this.#fuzzed.find((each) => each.member === this.#rollup)!
      : random.pick(this.#fuzzed);
    const first = random.pick(random.below(HEAVY_ONE_IN) === 0 ? heavy : light);
    const chosen = new Map([[first.path, first]]);
    for (let left = random.between(1, 2); left > 0; left--) {
      const mutation = random.pick(light);
      if (!chosen.has(mutation.path)) chosen.set(mutation.path, mutation);
    }
    const several = mutated(member, [...chosen.values()]);
    // Nested sizes and counts multiply: a thousand times 16 MB exceeds any frame.
    const recipe = several.rope.size > MOST_BYTES ? mutated(member, [first]) : several;
    if (random.chance(0.1)) return { ...recipe, ...cutOff(recipe, random) };
    if (random.chance(0.1)) return { ...recipe, ...flipped(recipe, random) };
    return recipe;
  }
}

function mutated(member: MessageSpec, mutations: readonly Mutation[]): Recipe {
  const replacements = new Map(mutations.map(({ path, replace }) => [path, replace]));
  const label = mutations.map((mutation) => mutation.label).join(' + ');
  return { label, rope: render(member, member.name, replacements) };
}

/** An ordinary frame, truncated after each of its bytes. */
function cuts(member: MessageSpec): (() => Recipe)[] {
  const ordinary = (): Rope => render(member, member.name, new Map());
  return Array.from({ length: ordinary().size }, (_, size) => () => ({
    label: `${member.name}: ends after ${size} bytes`,
    rope: ordinary(),
    spoil: (bytes) => bytes.subarray(0, size),
  }));
}

function cutOff({ label, rope: { size } }: Recipe, random: Random): Partial<Recipe> {
  const end = random.below(size + 1);
  return { label: `${label}, ends after ${end} bytes`, spoil: (bytes) => bytes.subarray(0, end) };
}

function flipped({ label, rope: { size } }: Recipe, random: Random): Partial<Recipe> {
  const places = Array.from(
    { length: random.between(1, 3) },
    () => [random.below(size), random.below(256)] as const,
  );
  const spoil = (bytes: Uint8Array): Uint8Array => {
    for (const [at, value] of places) if (at < bytes.length) bytes[at] = value;
    return bytes;
  };
  return { label: `${label}, bytes ${places.map(([at, value]) => `${at}=${value}`).join(' ')}`, spoil };
}
