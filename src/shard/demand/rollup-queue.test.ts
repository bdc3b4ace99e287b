// The order in which roll-ups are read: new ones before the rest of long ones, the rate per cluster, and what is shed.

import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { RollupQueue } from './rollup-queue.ts';

const MIB = 2 ** 20;

/** A queue on a clock that each step of work advances by `stepMs`. */
function aQueue({ stepMs = 1, waitingBytes = 100 * MIB, rollupIntervalMs = 1000 } = {}) {
  const clock = new VirtualClock(1_000_000);
  const now = clock.now.bind(clock);
  let spentMs = 0;
  clock.now = () => now() + spentMs;
  const log: string[] = [];
  const queue = new RollupQueue({
    clock,
    limits: { waitingBytes, rollupIntervalMs },
    onSuperseded: ({ cluster }) => log.push(`superseded ${cluster}`),
    onShed: ({ cluster }) => log.push(`shed ${cluster}`),
  });
  const add = (cluster: string, steps = 1, bytes = 1): void => {
    function* work(): Generator<undefined, void> {
      log.push(`begin ${cluster}`);
      for (let i = 0; i < steps; i++) {
        spentMs += stepMs;
        if (i < steps - 1) yield;
      }
      log.push(`end ${cluster}`);
    }
    queue.add({ cluster, bytes, steps: work });
  };
  return { queue, clock, log, add };
}

describe('RollupQueue, scheduling', () => {
  it('given a long roll-up that has begun, when small ones are added, then they are read first', async () => {
    const { clock, log, add } = aQueue();
    add('long', 1000);
    clock.after(0, () => {
      add('a');
      add('b');
    });
    await clock.advance(10_000);
    expect(log).toEqual(['begin long', 'begin a', 'end a', 'begin b', 'end b', 'end long']);
  });

  it('given several long roll-ups, then they are read in alternating slices', async () => {
    const { clock, log, add } = aQueue();
    add('a', 30);
    add('b', 30);
    await clock.advance(1000);
    expect(log).toEqual(['begin a', 'begin b', 'end a', 'end b']);
  });

  it('given any number of long roll-ups, then together they use a quarter of the time', async () => {
    const { clock, log, add } = aQueue();
    const startMs = clock.now();
    for (let i = 0; i < 5; i++) add(`c${i}`, 110);
    let endedMs = 0;
    // The clock of the queue is ahead by the work done, so the time that advances here is that between slices.
    for (let ms = 0; ms < 5_000 && !log.includes('end c4'); ms++) {
      await clock.advance(1);
      endedMs = clock.now();
    }
    expect(log.filter((line) => line.startsWith('end'))).toHaveLength(5);
    // Five times 100 ms in slices behind the first, and three times as long between them.
    expect(endedMs - startMs).toBeGreaterThan(4 * 500);
    expect(endedMs - startMs).toBeLessThan(4 * 500 + 5 * 10 + 200);
  });

  it('given a step that throws, then the error propagates, and this cluster and others are read afterwards', async () => {
    const { queue, clock, log, add } = aQueue({ rollupIntervalMs: 0 });
    const broken = function* (): Generator<undefined, void> {
      yield;
      throw new Error('broken');
    };
    queue.add({ cluster: 'a', bytes: 5, steps: broken });
    await expect(clock.advance(0)).rejects.toThrow('broken');
    add('a');
    add('b');
    await clock.advance(1);
    expect(log).toEqual(['begin a', 'end a', 'begin b', 'end b']);
    expect([queue.length, queue.bytes]).toEqual([0, 0]);
  });

  it('given a roll-up that has begun, when finish is called, then the rest is read at once', async () => {
    const { queue, clock, log, add } = aQueue();
    add('a', 100);
    clock.after(1, () => {
      queue.finish('a');
      log.push('finished');
    });
    await clock.advance(1);
    expect(log).toEqual(['begin a', 'end a', 'finished']);
  });
});

describe('RollupQueue, asynchronous work', () => {
  it('given work that yields a promise, then other clusters are read until it settles, and no other roll-up of its cluster', async () => {
    const { queue, clock, log, add } = aQueue({ stepMs: 0, rollupIntervalMs: 0 });
    const written = Promise.withResolvers<void>();
    function* steps(): Generator<Promise<unknown> | undefined, void> {
      log.push('begin a');
      yield written.promise;
      log.push('end a');
    }
    queue.add({ cluster: 'a', bytes: 10, steps });
    await clock.advance(0);
    add('a');
    add('b');
    await clock.advance(0);
    expect(log).toEqual(['begin a', 'begin b', 'end b']);
    expect([queue.has('a'), queue.length, queue.bytes]).toEqual([true, 2, 11]);
    written.resolve();
    await clock.advance(0);
    await clock.advance(0);
    expect(log.slice(3)).toEqual(['end a', 'begin a', 'end a']);
  });

  it('given a promise that rejects, then the work continues; finish does not wait for promises', async () => {
    const { queue, clock, log } = aQueue({ stepMs: 0, rollupIntervalMs: 0 });
    const work = (name: string, until: () => Promise<unknown>) =>
      function* steps(): Generator<Promise<unknown> | undefined, void> {
        yield until();
        log.push(`end ${name}`);
      };
    queue.add({ cluster: 'a', bytes: 1, steps: work('a', () => Promise.reject(new Error('no room'))) });
    queue.add({ cluster: 'b', bytes: 1, steps: work('b', () => new Promise(() => {})) });
    await clock.advance(0);
    await clock.advance(0);
    expect(log).toEqual(['end a']);
    queue.finish('b');
    expect(log).toEqual(['end a', 'end b']);
    expect([queue.length, queue.bytes]).toEqual([0, 0]);
  });
});

describe('RollupQueue, rate per cluster', () => {
  it('given consecutive roll-ups, then they begin a second apart, and of those that wait only the newest is read', async () => {
    const { clock, log, add } = aQueue({ stepMs: 0 });
    add('a');
    await clock.advance(0);
    for (let i = 0; i < 3; i++) add('a');
    await clock.advance(999);
    expect(log).toEqual(['begin a', 'end a', 'superseded a', 'superseded a']);
    await clock.advance(1);
    expect(log.slice(-2)).toEqual(['begin a', 'end a']);
  });

  it('given a roll-up that takes long, then the next begins after twenty times that time', async () => {
    const { clock, log, add } = aQueue({ stepMs: 10 });
    add('a', 30);
    await clock.advance(2_000);
    expect(log).toEqual(['begin a', 'end a']);
    add('a');
    // 300 ms of work: 6 s from its beginning, which include the work itself.
    await clock.advance(3_600);
    expect(log).toEqual(['begin a', 'end a']);
    await clock.advance(200);
    expect(log.slice(2)).toEqual(['begin a', 'end a']);
  });

  it('given a cluster that must wait, then others are read without delay', async () => {
    const { clock, log, add } = aQueue({ stepMs: 0 });
    add('a');
    await clock.advance(0);
    add('a');
    add('b');
    await clock.advance(0);
    expect(log.slice(2)).toEqual(['begin b', 'end b']);
  });
});

describe('RollupQueue, limit of waiting bytes', () => {
  it('given more bytes than the limit, then the largest roll-up is shed, not the last', async () => {
    const { queue, clock, log, add } = aQueue({ waitingBytes: 100 });
    add('small', 1, 10);
    add('large', 1, 80);
    add('middle', 1, 30);
    expect(log).toEqual(['shed large']);
    expect([queue.length, queue.bytes]).toEqual([2, 40]);
    add('huge', 1, 101);
    expect(log).toEqual(['shed large', 'shed huge']);
    await clock.advance(0);
    expect(log.slice(2)).toEqual(['begin small', 'end small', 'begin middle', 'end middle']);
  });

  it('given large roll-ups that are being read, then they use at most half of the limit, so that others can wait', async () => {
    const { queue, clock, log, add } = aQueue({ waitingBytes: 100 });
    for (const cluster of ['a', 'b', 'c']) add(cluster, 50, 30);
    clock.after(0, () => {
      expect(log).toEqual(['begin a']);
      expect(queue.bytes).toBe(90);
      add('small', 1, 10);
    });
    await clock.advance(10_000);
    const ended = ['end a', 'end b', 'end c', 'end small'].map((line) => log.indexOf(line));
    expect(Math.min(...ended)).toBeGreaterThan(0);
    expect(log.indexOf('begin b')).toBeGreaterThan(log.indexOf('end a'));
    expect(log.filter((line) => line.startsWith('shed'))).toEqual([]);
    expect([queue.length, queue.bytes]).toEqual([0, 0]);
  });
});
