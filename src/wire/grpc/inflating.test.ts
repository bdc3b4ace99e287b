// Compressed messages: what they become is bounded, and so is how many are inflated at the same time.

import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { Inflater } from './inflating.ts';

const wanted = { isWanted: () => true, maxBytes: 1000 } as const;

describe('given a compressed message', () => {
  test('when it is not too large, then it is inflated, from gzip and from deflate', async () => {
    const inflater = new Inflater(2 ** 20);
    const text = Buffer.alloc(1000, 'x');
    for (const [encoding, bytes] of [
      ['gzip', gzipSync(text)],
      ['deflate', deflateSync(text)],
    ] as const)
      expect(await inflater.inflate({ ...wanted, bytes, encoding })).toEqual(text);
  });

  test('when it becomes larger than the limit, is not compressed, or is not wanted any more, then that is said', async () => {
    const inflater = new Inflater(2 ** 20);
    const bytes = gzipSync(Buffer.alloc(1001));
    const encoding = 'gzip';
    expect(await inflater.inflate({ ...wanted, bytes, encoding })).toBe('large');
    expect(await inflater.inflate({ ...wanted, bytes: Buffer.from('no gzip'), encoding })).toBe('malformed');
    expect(await inflater.inflate({ ...wanted, bytes, encoding, isWanted: () => false })).toBe('unwanted');
  });

  test('when more bytes wait than may, then it is refused, and there is room again when they are inflated', async () => {
    const bytes = gzipSync(Buffer.alloc(1000));
    const inflater = new Inflater(3 * bytes.length);
    const inflate = () => inflater.inflate({ ...wanted, bytes, encoding: 'gzip' });
    const results = await Promise.all(Array.from({ length: 4 }, inflate));
    expect(results.map((result) => typeof result === 'string')).toEqual([false, false, false, true]);
    expect(results[3]).toBe('busy');
    expect(await inflate()).toHaveLength(1000);
  });

  test('when many come at once, then two are inflated at a time', async () => {
    const inflater = new Inflater(2 ** 20);
    const bytes = gzipSync(Buffer.alloc(1000));
    let done = 0;
    const doneAtTurn: number[] = [];
    await Promise.all(
      Array.from({ length: 6 }, async () => {
        const isWanted = () => doneAtTurn.push(done) > 0;
        await inflater.inflate({ ...wanted, bytes, encoding: 'gzip', isWanted });
        done++;
      }),
    );
    // Never more than two have begun and not ended.
    for (const [begun, ended] of doneAtTurn.entries()) expect(begun - ended).toBeLessThan(2);
  });
});
