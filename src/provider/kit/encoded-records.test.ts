// Records replaced repeatedly: their content stays correct, and holes do not accumulate.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { offering } from '../../../testing/support/provider-kit.ts';
import { CapacityType } from '../../model/index.ts';
import { decodeLife, decodeMachine, encodeLife, encodeOffering } from './body.ts';
import { EncodedRecords } from './encoded-records.ts';

describe('encoded records', () => {
  it('given many replacements of all sizes, then each slot has its last bytes, a snapshot has those of its time, and memory is bounded', () => {
    const encoded = new EncodedRecords();
    const slots = 500;
    const last: Buffer[] = [];
    for (let round = 0; round < 60; round++) {
      for (let slot = 0; slot < slots; slot++) {
        // Some are never replaced, so that chunks are emptied around them.
        if (round > 0 && (slot % 10 === 0 || (slot * 7 + round) % 3 === 0)) continue;
        const bytes = Buffer.alloc(1 + ((slot * 131 + round * 17) % 4000), slot + round);
        encoded.set(slot, [bytes.subarray(0, 1), bytes.subarray(1)]);
        last[slot] = bytes;
      }
    }
    for (let slot = 0; slot < slots; slot++) expect(encoded.at(slot).equals(last[slot]!)).toBe(true);
    const all = Int32Array.from({ length: slots }, (_, slot) => slot);
    const snapshot = encoded.snapshot(all);
    const whole = Buffer.alloc(snapshot.bytes);
    for (let slot = 0; slot < slots; slot += 2) encoded.set(slot, [Buffer.alloc(2000, 255)]);
    while (!snapshot.copyTo(whole, 10_000));
    expect(whole.equals(Buffer.concat(last))).toBe(true);
    expect(encoded.heldBytes).toBeLessThan(whole.length + 16 * 2 ** 20);
  });

  it('given a record larger than a chunk, then it is stored whole', () => {
    const encoded = new EncodedRecords();
    const large = Buffer.alloc(9 << 20, 3);
    encoded.set(0, [Buffer.of(1)]);
    encoded.set(1, [large]);
    encoded.set(0, [Buffer.of(2)]);
    expect(encoded.at(1).equals(large)).toBe(true);
    expect([...encoded.at(0)]).toEqual([2]);
  });
});

describe('the encoding of a record', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', '\0', 'x'.repeat(200), 'ü'.repeat(9000)),
  );
  const map = fc.array(fc.tuple(text, text), { maxLength: 6 }).map((entries) => new Map(entries));

  it('given any life, when encoded and decoded, then it is unchanged', () => {
    const host = fc.option(fc.record({ provider: text, ref: text }));
    const state = fc.constantFrom(1, 2, 3, 4, 5, 6, 7, 8);
    fc.assert(
      fc.property(fc.record({ state, host, cluster: text, lastError: text, metadata: map }), (life) => {
        expect(decodeLife(encodeLife(life))).toEqual(life);
      }),
    );
  });

  it('given any offering, when encoded and decoded, then it is unchanged', () => {
    fc.assert(
      fc.property(text, text, map, fc.double({ noNaN: true }), (id, zone, labels, price) => {
        const given = offering(id, { zone, labels, pricePerHour: price, capacityType: CapacityType.Spot });
        expect(decodeMachine(encodeOffering(given))).toMatchObject({
          id,
          zone,
          labels,
          instanceType: 'm5.large',
          capacityType: 4,
          pricePerHour: price === 0 ? 0 : price,
          resources: {
            resources: new Map([
              ['cpu', '2'],
              ['memory', '8Gi'],
            ]),
          },
          allocatable: undefined,
        });
      }),
    );
  });
});
