import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Heap, Heaps, NOTHING_LEFT } from './class-heap.ts';

/** Classes with the ordinals of their machines, lowest first; a prefix of each is taken. */
class Stacks {
  cycle = 1;
  readonly #ordinals: readonly (readonly number[])[];
  readonly #taken: number[];

  constructor(ordinals: readonly (readonly number[])[]) {
    this.#ordinals = ordinals;
    this.#taken = ordinals.map(() => 0);
  }

  takenFrom(classNumber: number): number {
    return this.#taken[classNumber]!;
  }

  firstOrdinalOf(classNumber: number): number {
    return this.#ordinals[classNumber]![this.#taken[classNumber]!] ?? NOTHING_LEFT;
  }

  take(classNumber: number): void {
    this.#taken[classNumber]!++;
  }

  /** Returns all machines. */
  begin(): void {
    this.cycle++;
    this.#taken.fill(0);
  }
}

/** Machines assigned to classes in id order: the class of each ordinal. */
const dealt = fc.integer({ min: 1, max: 40 }).chain((classes) =>
  fc.record({
    classes: fc.constant(classes),
    owners: fc.array(fc.nat({ max: classes - 1 }), { maxLength: 120 }),
    others: fc.infiniteStream(fc.nat({ max: 3 * classes })),
  }),
);

function stacksOf(classes: number, owners: readonly number[]): Stacks {
  const ordinals = Array.from({ length: classes }, (_, c) =>
    owners.flatMap((owner, ordinal) => (owner === c ? [ordinal] : [])),
  );
  return new Stacks(ordinals);
}

/** Takes all machines by `first`, interleaved with machines of any class, and compares each step with a linear search. */
function empty(stacks: Stacks, heaps: Heaps, classes: number, others: Iterator<number>): void {
  for (;;) {
    const lefts = Array.from({ length: classes }, (_, c) => stacks.firstOrdinalOf(c));
    const lowest = Math.min(...lefts);
    const expected = lowest === NOTHING_LEFT ? -1 : lefts.indexOf(lowest);
    const first = heaps.first(stacks.cycle);
    expect(first).toBe(expected);
    if (first === -1) return;
    stacks.take(first);
    const other: number = others.next().value;
    if (other < classes && stacks.firstOrdinalOf(other) !== NOTHING_LEFT) stacks.take(other);
  }
}

describe('heaps of classes', () => {
  it('given machines of classes in several heaps, when others take as well, then the first is always the lowest left', () => {
    fc.assert(
      fc.property(dealt, fc.integer({ min: 1, max: 4 }), ({ classes, owners, others }, parts) => {
        const stacks = stacksOf(classes, owners);
        const all = Array.from({ length: classes }, (_, c) => c);
        const split = [...Map.groupBy(all, (c) => c % parts).values()];
        const heaps = new Heaps(split.map((members) => new Heap(stacks, Uint32Array.from(members))));

        empty(stacks, heaps, classes, others);
        stacks.begin();
        empty(stacks, heaps, classes, others);
      }),
    );
  });
});
