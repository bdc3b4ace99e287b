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
  it('given any keys retained, exchanged and dropped, then each referenced key has a unique number, and no other key has one', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('retain', 'drop', 'exchange'), key, key), {
          maxLength: 400,
          size: 'max',
        }),
        fc.array(key),
        (steps, others) => {
          const table = new KeyTable(new NameTable());
          const references = new Map<string, { key: NeedKey; number: number; times: number }>();
          const retained = (it: NeedKey, number: number): void => {
            const known = references.get(keyText(it));
            if (known !== undefined) expect(number).toBe(known.number);
            references.set(keyText(it), { key: it, number, times: (known?.times ?? 0) + 1 });
          };
          const dropped = (it: NeedKey): void => {
            if (--references.get(keyText(it))!.times === 0) references.delete(keyText(it));
          };
          for (const [step, it, { group }] of steps) {
            const known = references.get(keyText(it));
            if (step === 'retain') retained(it, table.retain(it));
            else if (known !== undefined && step === 'drop') {
              table.drop(known.number);
              dropped(it);
            } else if (known !== undefined) {
              const number = table.exchange(known.number, group);
              dropped(it);
              retained({ ...it, group }, number);
            }
          }
          expect(table.count).toBe(references.size);
          expect(new Set([...references.values()].map(({ number }) => number)).size).toBe(references.size);
          for (const { key: it, number } of references.values()) {
            expect(table.find(it)).toBe(number);
            expect(table.keyOf(number)).toEqual(it);
          }
          for (const it of others) if (!references.has(keyText(it))) expect(table.find(it)).toBe(0);
        },
      ),
    );
  });

  it('given 10,000 keys that are retained and dropped, then their numbers are reused', () => {
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
