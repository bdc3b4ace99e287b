import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { Throttle } from './throttle.ts';

describe('the throttle', () => {
  it('given any requests, then rate, burst and requests in flight are never exceeded and all start in order', async () => {
    const limits = fc.record({
      qps: fc.integer({ min: 1, max: 50 }),
      burst: fc.integer({ min: 1, max: 20 }),
      maxInFlight: fc.integer({ min: 1, max: 8 }),
    });
    const request = fc.record({ pauseMs: fc.nat(500), lastsMs: fc.nat(300), isAborted: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(limits, fc.array(request, { maxLength: 60 }), async (limit, requests) => {
        const clock = new VirtualClock(0);
        const throttle = new Throttle(clock, { ...limit, maxWaiting: 100 });
        const starts: { index: number; atMs: number }[] = [];
        let aborted = 0;
        for (const [index, { pauseMs, lastsMs, isAborted }] of requests.entries()) {
          const stop = new AbortController();
          throttle.acquire(stop.signal).then(
            () => {
              starts.push({ index, atMs: clock.now() });
              expect(throttle.inFlight).toBeLessThanOrEqual(limit.maxInFlight);
              clock.after(lastsMs, () => throttle.release());
            },
            () => aborted++,
          );
          await clock.advance(pauseMs);
          if (isAborted) stop.abort(new Error('enough'));
        }
        await clock.advance(1_000_000);
        expect(starts.length + aborted).toBe(requests.length);
        expect(starts.map(({ index }) => index)).toEqual(
          starts.map(({ index }) => index).toSorted((a, b) => a - b),
        );
        for (const [i, { atMs }] of starts.entries())
          for (let j = i; j < starts.length; j++) {
            const spanMs = starts[j]!.atMs - atMs;
            expect(j - i + 1).toBeLessThanOrEqual(limit.burst + (spanMs * limit.qps) / 1000 + 1e-6);
          }
        expect({ inFlight: throttle.inFlight, waiting: throttle.waiting }).toEqual({
          inFlight: 0,
          waiting: 0,
        });
      }),
    );
  });
});
