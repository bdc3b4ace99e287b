// Compressed messages: their inflated size is bounded, and so is the number of messages inflated at a time.

import { deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { Inflater } from './inflating.ts';

const wanted = { isWanted: () => true, maxBytes: 1000 } as const;

describe('inflating a compressed message', () => {
  test('given gzip or deflate within the size limit, then it is inflated', async () => {
    const inflater = new Inflater(2 ** 20);
    const text = Buffer.alloc(1000, 'x');
    for (const [encoding, bytes] of [
      ['gzip', gzipSync(text)],
      ['deflate', deflateSync(text)],
    ] as const)
      expect(await inflater.inflate({ ...wanted, bytes, encoding })).toEqual(text);
  });

  test('given a message that is too large, malformed or no longer wanted, then the result is the reason', async () => {
    const inflater = new Inflater(2 ** 20);
    const bytes = gzipSync(Buffer.alloc(1001));
    const encoding = 'gzip';
    expect(await inflater.inflate({ ...wanted, bytes, encoding })).toBe('large');
    expect(await inflater.inflate({ ...wanted, bytes: Buffer.from('no gzip'), encoding })).toBe('malformed');
    expect(await inflater.inflate({ ...wanted, bytes, encoding, isWanted: () => false })).toBe('unwanted');
  });

  test('given more waiting bytes than the limit, then it is refused as busy; when they are inflated, then it is accepted', async () => {
    const bytes = gzipSync(Buffer.alloc(1000));
    const inflater = new Inflater(3 * bytes.length);
    const inflate = () => inflater.inflate({ ...wanted, bytes, encoding: 'gzip' });
    const results = await Promise.all(Array.from({ length: 4 }, inflate));
    expect(results.map((result) => typeof result === 'string')).toEqual([false, false, false, true]);
    expect(results[3]).toBe('busy');
    expect(await inflate()).toHaveLength(1000);
  });

  test('given many messages at once, then two are inflated at a time', async () => {
    const inflater = new Inflater(2 ** 20);
    const bytes = gzipSync(Buffer.alloc(1000));
    let done = 0;
    const doneAtStart: number[] = [];
    await Promise.all(
      Array.from({ length: 6 }, async () => {
        const isWanted = () => doneAtStart.push(done) > 0;
        await inflater.inflate({ ...wanted, bytes, encoding: 'gzip', isWanted });
        done++;
      }),
    );
    // At most two are in progress.
    for (const [begun, ended] of doneAtStart.entries()) expect(begun - ended).toBeLessThan(2);
  });
});
