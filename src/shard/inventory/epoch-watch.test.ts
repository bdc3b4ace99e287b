import { describe, expect, it } from 'vitest';
import { EpochWatch } from './epoch-watch.ts';

const kinds = (watch: EpochWatch, ...looks: readonly (readonly [string, bigint | null])[]): string[] =>
  looks.map(([provider, newest]) => watch.judge(provider, newest).kind);

describe('epochs on machines', () => {
  it('given a directory that is not new, then lower ones are its past and higher ones a newer process', () => {
    const watch = new EpochWatch(10n, false);
    expect(kinds(watch, ['a', 3n], ['a', 10n], ['a', null], ['b', 11n])).toEqual([
      'fine',
      'fine',
      'fine',
      'fenced',
    ]);
  });

  it('given a new directory, then a past is told once', () => {
    const watch = new EpochWatch(10n, true);
    expect(kinds(watch, ['a', 10n], ['a', 3n], ['b', 4n])).toEqual(['fine', 'state-lost', 'fine']);
  });

  it('given a new directory, then a higher one in the first reading is an earlier process, and a later one a live process', () => {
    expect(kinds(new EpochWatch(10n, true), ['a', 12n])).toEqual(['raise-epoch']);
    expect(kinds(new EpochWatch(10n, true), ['a', null], ['a', 12n])).toEqual(['fine', 'fenced']);
    expect(kinds(new EpochWatch(10n, true), ['a', null], ['b', 12n])).toEqual(['fine', 'raise-epoch']);
  });
});
