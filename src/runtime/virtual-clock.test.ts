import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MinHeap } from '../collections/heap.ts';
import { VirtualClock } from './virtual-clock.ts';

describe('a heap', () => {
  it('given any ranks, then entries are popped smallest first, ties in the order they were pushed', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 9 })), (ranks) => {
        const heap = new MinHeap<readonly [number, number]>();
        for (const [i, rank] of ranks.entries()) heap.push(rank, [rank, i]);
        const out = ranks.map(() => heap.pop());
        expect(out).toEqual(ranks.map((rank, i) => [rank, i]).sort((a, b) => a[0]! - b[0]! || a[1]! - b[1]!));
        expect(heap).toMatchObject({ size: 0, rank: undefined });
        expect(heap.pop()).toBeUndefined();
      }),
    );
  });
});

describe('a virtual clock', () => {
  it('given timers, when time passes, then they run in order at their own time', async () => {
    const clock = new VirtualClock(1000);
    const seen: string[] = [];
    const note = (name: string) => () => seen.push(`${name} at ${clock.now()}`);
    clock.after(50, note('late'));
    clock.after(10, note('early'));
    clock.after(10, note('early too'));
    clock.after(200, note('beyond'));
    await clock.advance(100);
    expect(seen).toEqual(['early at 1010', 'early too at 1010', 'late at 1050']);
    expect(clock).toMatchObject({ waiting: 1 });
    expect(clock.now()).toBe(1100);
  });

  it('given a timer that sets another, when both are due, then both run, with promises in between', async () => {
    const clock = new VirtualClock();
    const sleep = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve));
    const seen: number[] = [];
    void (async () => {
      for (let i = 0; i < 3; i++) {
        await sleep(10);
        await Promise.resolve();
        seen.push(clock.now());
      }
    })();
    await clock.advance(100);
    expect(seen).toEqual([10, 20, 30]);
  });

  it('given a cancelled timer, then it neither runs nor advances the clock', async () => {
    const clock = new VirtualClock();
    const cancel = clock.after(10, () => expect.unreachable());
    cancel();
    cancel();
    expect(clock.waiting).toBe(0);
    await expect(clock.until(new Promise(() => {}))).rejects.toThrow('no timer is left');
    expect(clock.now()).toBe(0);
  });

  it('given a timer that has run, when it is cancelled, then nothing happens', async () => {
    const clock = new VirtualClock();
    const cancel = clock.after(10, () => {});
    await clock.advance(10);
    cancel();
    expect(clock.waiting).toBe(0);
  });

  it('given a promise, when the clock runs until it settles, then it advances no further than needed', async () => {
    const clock = new VirtualClock();
    clock.after(5000, () => {});
    const answer = new Promise<string>((resolve) => clock.after(70, () => resolve('done')));
    expect(await clock.until(answer)).toBe('done');
    expect(clock.now()).toBe(70);
    await expect(clock.until(Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  });
});
