import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyText, type NeedKey } from '../../model/index.ts';
import { KeyTable, NameTable } from './names.ts';

const name = fc.constantFrom('', 'a', 'b', '1/2', '/');
const key: fc.Arbitrary<NeedKey> = fc.record({
  cluster: name,
  fingerprint: name,
  group: fc.oneof(
    name,
    fc.nat(300).map((n) => `job-${n}`),
  ),
});

describe('KeyTable', () => {
  it('given any keys held, exchanged and released, then each that is held has one number of its own, and no other has one', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('block', 'release', 'exchange'), key, key), {
          maxLength: 400,
          size: 'max',
        }),
        fc.array(key),
        (steps, others) => {
          const table = new KeyTable(new NameTable());
          const holders = new Map<string, { key: NeedKey; number: number; times: number }>();
          const held = (it: NeedKey, number: number): void => {
            const known = holders.get(keyText(it));
            if (known !== undefined) expect(number).toBe(known.number);
            holders.set(keyText(it), { key: it, number, times: (known?.times ?? 0) + 1 });
          };
          const released = (it: NeedKey): void => {
            if (--holders.get(keyText(it))!.times === 0) holders.delete(keyText(it));
          };
          for (const [step, it, { group }] of steps) {
            const known = holders.get(keyText(it));
            if (step === 'block') held(it, table.retain(it));
            else if (known !== undefined && step === 'release') {
              table.drop(known.number);
              released(it);
            } else if (known !== undefined) {
              const number = table.exchange(known.number, group);
              released(it);
              held({ ...it, group }, number);
            }
          }
          expect(table.count).toBe(holders.size);
          expect(new Set([...holders.values()].map(({ number }) => number)).size).toBe(holders.size);
          for (const { key: it, number } of holders.values()) {
            expect(table.find(it)).toBe(number);
            expect(table.keyOf(number)).toEqual(it);
          }
          for (const it of others) if (!holders.has(keyText(it))) expect(table.find(it)).toBe(0);
        },
      ),
    );
  });

  it('given 10,000 keys that come and go, then numbers are given out again', () => {
    const table = new KeyTable(new NameTable());
    for (let round = 0; round < 3; round++) {
      const numbers = Array.from({ length: 10_000 }, (_, i) =>
        table.retain({ cluster: 'a', fingerprint: `f${i % 7}`, group: `${round}-${i}` }),
      );
      expect(table.count).toBe(10_000);
      for (const number of numbers) table.drop(number);
      expect(table.count).toBe(0);
    }
    expect(table.size).toBe(10_001);
  });
});
