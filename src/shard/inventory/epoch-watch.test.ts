import { describe, expect, it } from 'vitest';
import { EpochWatch } from './epoch-watch.ts';

const kinds = (watch: EpochWatch, ...readings: readonly (readonly [string, bigint | null])[]): string[] =>
  readings.map(([provider, newest]) => watch.judge(provider, newest).kind);

describe('EpochWatch', () => {
  it('given an existing data directory, then lower epochs are ignored, and a higher one fences the shard', () => {
    const watch = new EpochWatch(10n, false);
    expect(kinds(watch, ['a', 3n], ['a', 10n], ['a', null], ['b', 11n])).toEqual([
      'fine',
      'fine',
      'fine',
      'fenced',
    ]);
  });

  it('given a new data directory, then a lower epoch is reported once as lost state', () => {
    const watch = new EpochWatch(10n, true);
    expect(kinds(watch, ['a', 10n], ['a', 3n], ['b', 4n])).toEqual(['fine', 'state-lost', 'fine']);
  });

  it('given a new data directory, then a higher epoch in the first List of a provider raises the own one, and later fences the shard', () => {
    expect(kinds(new EpochWatch(10n, true), ['a', 12n])).toEqual(['raise-epoch']);
    expect(kinds(new EpochWatch(10n, true), ['a', null], ['a', 12n])).toEqual(['fine', 'fenced']);
    expect(kinds(new EpochWatch(10n, true), ['a', null], ['b', 12n])).toEqual(['fine', 'raise-epoch']);
  });
});
