import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linkTo, machineLink, needLink, placeOf, placeOfName } from './place.ts';

const name = fc.string({ minLength: 1, unit: 'binary' }).filter((text) => text.isWellFormed());

describe('places of the dashboard', () => {
  it.each(['', '#', '#/', '/'])('given the address “%s”, then it is the overview', (hash) => {
    expect(placeOf(hash)).toEqual({ page: 'overview', parts: [], query: {} });
  });

  it('given any page, names and filters, then their link leads back to them', () => {
    const query = fc.dictionary(
      fc.string({ minLength: 1 }).filter((text) => text !== '__proto__'),
      name,
    );
    fc.assert(
      fc.property(fc.constantFrom('needs', 'machine'), fc.array(name), query, (page, parts, filters) => {
        expect(placeOf(linkTo(page, parts, filters))).toEqual({ page, parts, query: { ...filters } });
      }),
    );
  });

  it('given filters that are empty or undefined, then the link leaves them out', () => {
    expect(linkTo('needs', [], { cluster: '', unmet: undefined })).toBe('#/needs');
  });

  it('given a Need of a cluster with slashes, then its digits are the last part', () => {
    expect(placeOf(needLink('a/b/00ff00ff00')).parts).toEqual(['a/b', '00ff00ff00']);
  });

  it('given a machine with slashes and markup, then its link is one part', () => {
    expect(placeOf(machineLink('gpu/<7>?#')).parts).toEqual(['gpu/<7>?#']);
  });

  it('given a typed name, then a Need leads to its page, and anything else to a search', () => {
    expect(placeOfName('web/00FF00FF00')).toBe('#/need/web/00ff00ff00');
    expect(placeOfName('Prod/00FF00FF00')).toBe('#/need/Prod/00ff00ff00');
    expect(placeOfName('gpu/7')).toBe('#/machines?text=gpu%2F7');
  });

  it('given an address that is not well encoded, then it is taken as it is', () => {
    expect(placeOf('#/machine/%zz').parts).toEqual(['%zz']);
  });
});
