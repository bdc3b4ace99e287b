// Frames replaced repeatedly: their content stays correct, and holes do not accumulate.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { offering } from '../../../testing/support/provider-kit.ts';
import { CapacityType } from '../../model/index.ts';
import { decodeLife, decodeMachine, encodeLife, encodeOffering } from './body.ts';
import { Frames } from './frames.ts';

describe('frames', () => {
  it('given many replacements of all sizes, then each slot has its last bytes, also in an extract made before more came, and memory stays bounded', () => {
    const frames = new Frames();
    const slots = 500;
    const last: Buffer[] = [];
    for (let round = 0; round < 60; round++) {
      for (let slot = 0; slot < slots; slot++) {
        // Some are never replaced, so that chunks are emptied around them.
        if (round > 0 && (slot % 10 === 0 || (slot * 7 + round) % 3 === 0)) continue;
        const bytes = Buffer.alloc(1 + ((slot * 131 + round * 17) % 4000), slot + round);
        frames.set(slot, [bytes.subarray(0, 1), bytes.subarray(1)]);
        last[slot] = bytes;
      }
    }
    for (let slot = 0; slot < slots; slot++) expect(frames.at(slot).equals(last[slot]!)).toBe(true);
    const all = Int32Array.from({ length: slots }, (_, slot) => slot);
    const extract = frames.extract(all);
    const whole = Buffer.alloc(extract.bytes);
    for (let slot = 0; slot < slots; slot += 2) frames.set(slot, [Buffer.alloc(2000, 255)]);
    while (!extract.copyTo(whole, 10_000));
    expect(whole.equals(Buffer.concat(last))).toBe(true);
    expect(frames.heldBytes).toBeLessThan(whole.length + 16 * 2 ** 20);
  });

  it('given a frame larger than a chunk, then it is kept whole', () => {
    const frames = new Frames();
    const large = Buffer.alloc(9 << 20, 3);
    frames.set(0, [Buffer.of(1)]);
    frames.set(1, [large]);
    frames.set(0, [Buffer.of(2)]);
    expect(frames.at(1).equals(large)).toBe(true);
    expect([...frames.at(0)]).toEqual([2]);
  });
});

describe('the bytes of a record', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', '\0', 'x'.repeat(200), 'ü'.repeat(9000)),
  );
  const map = fc.array(fc.tuple(text, text), { maxLength: 6 }).map((entries) => new Map(entries));

  it('given any life, when encoded and decoded, then it is the same', () => {
    const host = fc.option(fc.record({ provider: text, ref: text }));
    const state = fc.constantFrom(1, 2, 3, 4, 5, 6, 7, 8);
    fc.assert(
      fc.property(fc.record({ state, host, cluster: text, lastError: text, metadata: map }), (life) => {
        expect(decodeLife(encodeLife(life))).toEqual(life);
      }),
    );
  });

  it('given any offering, when encoded and decoded, then it is the same', () => {
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
