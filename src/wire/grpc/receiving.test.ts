// Messages that arrive in pieces: the bytes buffered for them are counted and bounded, and exactly the bytes of kept
// messages are forwarded.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { Receiving, type Verdict } from './receiving.ts';

const STALL_MS = 60_000;

/** A message with its gRPC prefix. */
function framed(bytes: number, fill = 1): Buffer {
  const message = Buffer.alloc(5 + bytes, fill);
  message[0] = 0;
  message.writeUInt32BE(bytes, 1);
  return message;
}

function receivingOf(maxBytes = 2 ** 30) {
  const clock = new VirtualClock(1_000);
  const receiving = new Receiving({ clock, maxBytes, stallMs: STALL_MS });
  const open = (judge: (bytes: number) => Verdict = () => 'keep') => {
    const seen = {
      announced: [] as number[],
      forwarded: [] as Buffer[],
      /** Bytes of memory that each piece keeps. */
      kept: [] as number[],
      ends: [] as string[],
    };
    const stream = receiving.open({
      announced: (bytes) => {
        seen.announced.push(bytes);
        return judge(bytes);
      },
      forward: (piece) => {
        seen.forwarded.push(Buffer.from(piece));
        seen.kept.push(piece.buffer.byteLength);
      },
      overrun: (bytes) => seen.ends.push(`overrun ${bytes > 0}`),
      stalled: (bytes) => seen.ends.push(`stalled ${bytes > 0}`),
    });
    return { stream, seen, whole: () => Buffer.concat(seen.forwarded) };
  };
  return { clock, receiving, open };
}

describe('receiving messages in pieces', () => {
  test('given pieces of any size, then kept messages are forwarded whole and in order, and skipped ones are not', () => {
    const message = fc.record({ bytes: fc.nat(40), isKept: fc.boolean() });
    const property = fc.property(
      fc.array(message, { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 30 })),
      (messages, cuts) => {
        const { open, receiving } = receivingOf();
        let at = 0;
        const { stream, seen, whole } = open(() => (messages[at++]!.isKept ? 'keep' : 'skip'));
        const all = Buffer.concat(messages.map(({ bytes }, i) => framed(bytes, i + 1)));
        let from = 0;
        for (const cut of [...cuts, all.length]) {
          stream.push(all.subarray(from, from + cut));
          from += cut;
        }
        const kept = messages.map(({ bytes, isKept }, i) =>
          isKept ? framed(bytes, i + 1) : Buffer.alloc(0),
        );
        expect(whole()).toEqual(Buffer.concat(kept));
        expect(seen.announced).toEqual(messages.map(({ bytes }) => bytes));
        expect([receiving.heldBytes, stream.isIncomplete]).toEqual([0, false]);
      },
    );
    fc.assert(property, { numRuns: 500 });
  });

  test('given an incomplete message, then none of it is forwarded and its bytes are counted', () => {
    const { open, receiving } = receivingOf();
    const { stream, seen } = open();
    stream.push(framed(1000).subarray(0, 700));
    expect(seen.forwarded).toEqual([]);
    expect(receiving.heldBytes).toBeGreaterThanOrEqual(695);
    stream.stop();
    expect(receiving.heldBytes).toBe(0);
    stream.push(framed(10));
    expect(seen.forwarded).toEqual([]);
  });

  test('given a piece that is a small part of a read buffer, then it does not keep the buffer in memory', () => {
    const { open, receiving } = receivingOf();
    const { stream, seen } = open();
    stream.push(framed(1000).subarray(0, 5));
    const before = receiving.heldBytes;
    const read = Buffer.alloc(65_536);
    stream.push(read.subarray(100, 101));
    // A byte is counted with the overhead of its piece, which is far less than the buffer.
    expect(receiving.heldBytes - before).toBeGreaterThan(100);
    expect(receiving.heldBytes - before).toBeLessThan(1000);
    stream.push(read.subarray(0, 999));
    expect(seen.kept.slice(0, 2)).toEqual([5, 1]);
  });

  test('given a refused length, then nothing after it is read, buffered or forwarded', () => {
    const { open, receiving } = receivingOf();
    const { stream, seen } = open((bytes) => (bytes > 100 ? 'stop' : 'keep'));
    stream.push(Buffer.concat([framed(50), framed(101), framed(7)]));
    expect(seen.announced).toEqual([50, 101]);
    expect(Buffer.concat(seen.forwarded)).toEqual(framed(50));
    expect(receiving.heldBytes).toBe(0);
  });
});

describe('receiving more incomplete bytes than the limit', () => {
  test('given several streams, then the one with most incomplete bytes is ended and the others continue', () => {
    const { open, receiving } = receivingOf(10_000);
    const [small, large, last] = [open(), open(), open()];
    small.stream.push(framed(9000).subarray(0, 2000));
    large.stream.push(framed(9000).subarray(0, 6000));
    last.stream.push(framed(9000).subarray(0, 3000));
    expect([small, large, last].map(({ seen }) => seen.ends)).toEqual([[], ['overrun true'], []]);
    expect(receiving.heldBytes).toBeLessThan(10_000);
    small.stream.push(framed(9000).subarray(2000));
    expect(small.whole()).toEqual(framed(9000));
  });
});

describe('receiving a message that stalls', () => {
  test('given no bytes within the stall timeout, then the stream is ended, kept or skipped; given some bytes, then it is not', async () => {
    const { open, clock } = receivingOf();
    const [kept, skipped, prefix, growing] = [open(), open(() => 'skip'), open(), open()];
    kept.stream.push(framed(9000).subarray(0, 2000));
    skipped.stream.push(framed(9000).subarray(0, 2000));
    prefix.stream.push(framed(9000).subarray(0, 3));
    growing.stream.push(framed(9000).subarray(0, 2000));
    for (let i = 0; i < 4; i++) {
      await clock.advance(STALL_MS / 3);
      growing.stream.push(Buffer.from([1]));
    }
    const ends = [kept, skipped, prefix, growing].map(({ seen }) => seen.ends);
    expect(ends).toEqual([['stalled true'], ['stalled false'], ['stalled false'], []]);
  });

  test('given the rest of the message, then no timer is left', async () => {
    const { open, clock } = receivingOf();
    const { stream } = open();
    stream.push(framed(100).subarray(0, 50));
    expect(clock.waiting).toBe(1);
    stream.push(framed(100).subarray(50));
    expect(clock.waiting).toBe(0);
  });
});
