import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fleets } from '../../../../testing/support/fleets.ts';
import { fleetOf, NeedProfiles } from '../../../fleet/index.ts';
import { keyOf, keyText } from '../../../model/index.ts';
import { findNeed, needId } from './need-names.ts';

describe('names of rows', () => {
  it('given a name, then it finds exactly its row', () => {
    fc.assert(
      fc.property(fleets(), (input) => {
        const fleet = fleetOf(input);
        for (const need of input.needs) {
          const found = findNeed(fleet, needId(keyOf(need)));
          expect(found && keyText(found)).toBe(keyText(keyOf(need)));
        }
      }),
    );
  });

  it('given any rows, then all names differ, also where fingerprint and group are equal when joined', () => {
    const key = fc.record({
      cluster: fc.constantFrom('a', 'a/b', 'a/'),
      fingerprint: fc.string({ unit: fc.constantFrom('a', 'b', '|'), maxLength: 6 }),
      group: fc.string({ unit: fc.constantFrom('a', 'b', '|', '/'), maxLength: 6 }),
    });
    fc.assert(
      fc.property(fc.uniqueArray(key, { selector: keyText, maxLength: 50, size: 'max' }), (keys) => {
        expect(new Set(keys.map(needId)).size).toBe(keys.length);
      }),
    );
  });

  it.each(['', '/', 'c1', 'c1/', '/0123456789', 'c1/0123456789', 'c9/0123456789'])(
    'given “%s”, then it names no row',
    (id) => {
      const [input] = fc.sample(fleets(), { numRuns: 1, seed: 3 });
      expect(findNeed(fleetOf(input!), id)).toBeUndefined();
    },
  );

  it('given any key, then its profile is found if it is a row, and none otherwise', () => {
    fc.assert(
      fc.property(fleets(), (input) => {
        const profiles = new NeedProfiles(fleetOf(input));
        for (const need of input.needs) {
          expect(profiles.of(keyOf(need))?.fingerprint).toBe(need.profile.fingerprint);
          expect(profiles.of({ ...keyOf(need), group: 'unknown' })).toBeUndefined();
          expect(profiles.of({ ...keyOf(need), cluster: 'unknown' })).toBeUndefined();
        }
      }),
    );
  });
});
