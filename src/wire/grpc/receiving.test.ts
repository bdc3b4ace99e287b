// Messages that arrive in pieces: what is held of them is counted and bounded, and the reader behind sees every byte of
// the messages that were kept and no other.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { Receiving, type Verdict } from './receiving.ts';

const STALL_MS = 60_000;

/** A message with its prefix. */
function framed(bytes: number, fill = 1): Buffer {
  const message = Buffer.alloc(5 + bytes, fill);
  message[0] = 0;
  message.writeUInt32BE(bytes, 1);
  return message;
}

function bench(maxBytes = 2 ** 30) {
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

describe('given messages in pieces', () => {
  test('when they are cut anywhere, then the kept ones come out whole and in order, and the skipped ones not at all', () => {
    const message = fc.record({ bytes: fc.nat(40), isKept: fc.boolean() });
    const property = fc.property(
      fc.array(message, { maxLength: 8 }),
      fc.array(fc.integer({ min: 1, max: 30 })),
      (messages, cuts) => {
        const { open, receiving } = bench();
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

  test('when one is incomplete, then nothing of it is handed on and its bytes are counted', () => {
    const { open, receiving } = bench();
    const { stream, seen } = open();
    stream.push(framed(1000).subarray(0, 700));
    expect(seen.forwarded).toEqual([]);
    expect(receiving.heldBytes).toBeGreaterThanOrEqual(695);
    stream.stop();
    expect(receiving.heldBytes).toBe(0);
    stream.push(framed(10));
    expect(seen.forwarded).toEqual([]);
  });

  test('when a piece is a small part of what was read, then it does not keep the rest in memory', () => {
    const { open, receiving } = bench();
    const { stream, seen } = open();
    stream.push(framed(1000).subarray(0, 5));
    const before = receiving.heldBytes;
    const read = Buffer.alloc(65_536);
    stream.push(read.subarray(100, 101));
    // One byte costs more than a byte, and far less than what it was read with.
    expect(receiving.heldBytes - before).toBeGreaterThan(100);
    expect(receiving.heldBytes - before).toBeLessThan(1000);
    stream.push(read.subarray(0, 999));
    expect(seen.kept.slice(0, 2)).toEqual([5, 1]);
  });

  test('when the length is refused, then nothing that follows is read, held or handed on', () => {
    const { open, receiving } = bench();
    const { stream, seen } = open((bytes) => (bytes > 100 ? 'stop' : 'keep'));
    stream.push(Buffer.concat([framed(50), framed(101), framed(7)]));
    expect(seen.announced).toEqual([50, 101]);
    expect(Buffer.concat(seen.forwarded)).toEqual(framed(50));
    expect(receiving.heldBytes).toBe(0);
  });
});

describe('given more incomplete bytes than there is room for', () => {
  test('then the stream with most of them is ended, and the others go on', () => {
    const { open, receiving } = bench(10_000);
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

describe('given a message that does not grow', () => {
  test('then its stream is ended after a while, also while it is skipped, and one that grows is not', async () => {
    const { open, clock } = bench();
    const [held, skipped, prefix, growing] = [open(), open(() => 'skip'), open(), open()];
    held.stream.push(framed(9000).subarray(0, 2000));
    skipped.stream.push(framed(9000).subarray(0, 2000));
    prefix.stream.push(framed(9000).subarray(0, 3));
    growing.stream.push(framed(9000).subarray(0, 2000));
    for (let i = 0; i < 4; i++) {
      await clock.advance(STALL_MS / 3);
      growing.stream.push(Buffer.from([1]));
    }
    const ends = [held, skipped, prefix, growing].map(({ seen }) => seen.ends);
    expect(ends).toEqual([['stalled true'], ['stalled false'], ['stalled false'], []]);
  });

  test('then no timer is left when all messages are whole', async () => {
    const { open, clock } = bench();
    const { stream } = open();
    stream.push(framed(100).subarray(0, 50));
    expect(clock.waiting).toBe(1);
    stream.push(framed(100).subarray(50));
    expect(clock.waiting).toBe(0);
  });
});
