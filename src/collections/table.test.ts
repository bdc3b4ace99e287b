import { describe, expect, it } from 'vitest';
import { ColumnGroup, columnGroupsOf, shareColumns } from './table.ts';

class Animals {
  readonly byNumber = new ColumnGroup(this, 1);
  readonly legs = this.byNumber.u8();
  readonly name = 'animals';
  readonly weightGrams = this.byNumber.f64();
  readonly byKeeper = new ColumnGroup(this);
  readonly count = this.byKeeper.i32();
}

describe('a column group', () => {
  it('given columns declared as fields, then the group has those fields and no others', () => {
    const animals = new Animals();

    expect(animals.byNumber.names).toEqual(['legs', 'weightGrams']);
    expect(animals.byKeeper.names).toEqual(['count']);
    expect(columnGroupsOf(animals)).toEqual([animals.byNumber, animals.byKeeper]);
    expect(Object.keys(animals)).toEqual([
      ...['byNumber', 'legs', 'name', 'weightGrams', 'byKeeper', 'count'],
    ]);
  });

  it('given more entries than fit, when room is reserved, then all its columns grow and keep their entries', () => {
    const animals = new Animals();
    animals.legs[0] = 4;
    animals.weightGrams[0] = 0.5;

    animals.byNumber.reserve(100_000);

    expect([animals.legs.length, animals.weightGrams.length]).toEqual([100_000, 100_000]);
    expect([animals.legs[0], animals.weightGrams[0], animals.legs[99_999]]).toEqual([4, 0.5, 0]);
    expect([animals.byNumber.length, animals.byNumber.bytes]).toEqual([100_000, 900_000]);
    expect(animals.count).toHaveLength(0);
  });

  it('given enough room, when room is reserved, then the columns stay the same objects', () => {
    const animals = new Animals();
    animals.byNumber.reserve(2);
    const before = animals.byNumber.columns();

    animals.byNumber.reserve(64);

    expect(animals.byNumber.columns().map((column, i) => column === before[i])).toEqual([true, true]);
  });

  it('given another table of the class, when columns are shared, then both read and write the same memory', () => {
    const [ours, theirs] = [new Animals(), new Animals()];
    ours.byNumber.reserve(2);
    ours.byKeeper.reserve(1);

    shareColumns(ours, theirs);
    ours.legs[1] = 6;
    theirs.count[0] = -3;

    expect([theirs.legs[1], ours.count[0]]).toEqual([6, -3]);
  });

  it('when entries are moved or swapped, then they move in every column', () => {
    const animals = new Animals();
    animals.byNumber.reserve(3);
    animals.legs.set([2, 4, 8]);
    animals.weightGrams.set([20, 40, 80]);

    animals.byNumber.swap(0, 2);
    animals.byNumber.copyWithin(1, 0, 1);

    expect([...animals.legs.subarray(0, 3)]).toEqual([8, 8, 2]);
    expect([...animals.weightGrams.subarray(0, 3)]).toEqual([80, 80, 20]);
  });

  it('given a column that is not a public field, when the group is used, then that is an error', () => {
    class Hidden {
      readonly group = new ColumnGroup(this);
      readonly seen = this.group.u8();
      readonly #unseen = this.group.u8();
      get unseen(): Uint8Array {
        return this.#unseen;
      }
    }

    expect(() => new Hidden().group.reserve(1)).toThrow('the group of seen');
  });

  it('given a group in use, when a column is declared, then that is an error', () => {
    const animals = new Animals();
    animals.byNumber.reserve(1);

    expect(() => animals.byNumber.u8()).toThrow('after its group was first used');
  });
});
