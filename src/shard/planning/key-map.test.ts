import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyText, type NeedKey } from '../../model/index.ts';
import { KeyMap } from './key-map.ts';

const part = fc.constantFrom('a', 'b', 'ab');
const key: fc.Arbitrary<NeedKey> = fc.record({ cluster: part, fingerprint: part, group: part });
const step = fc.record({ key, value: fc.option(fc.nat(9)) });

describe('values by the key of a row', () => {
  it('given any course of changes, then it equals a map by the text of the key', () => {
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const map = new KeyMap<number>();
        const model = new Map<string, number>();
        for (const { key, value } of steps) {
          if (value === null) map.delete(key);
          else map.set(key, value);
          if (value === null) model.delete(keyText(key));
          else model.set(keyText(key), value);
          expect(map.get(key)).toBe(value ?? undefined);
          expect(map.size).toBe(model.size);
        }
        expect([...map.values()].sort((a, b) => a - b)).toEqual([...model.values()].sort((a, b) => a - b));
      }),
    );
  });
});
