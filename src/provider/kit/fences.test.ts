// Fencing, through the calls of a provider: by shard and machine, before all other checks, bounded for unknown ids.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  configureOf,
  createOf,
  deleteOf,
  drainOf,
  HeldBackend,
  offering,
  refusedWith,
  scene,
  token,
} from '../../../testing/support/provider-kit.ts';
import { status } from '../../wire/index.ts';
import { Fences } from './fences.ts';
import { MemoryStore } from './memory-store.ts';

const MAX = 2n ** 63n - 1n;
const MIN = -(2n ** 63n);
const FENCED = status.FAILED_PRECONDITION;

describe('fencing', () => {
  it('given a mark, then only newer tokens pass; given a newer epoch, then any sequence number passes', async () => {
    const { provider } = await scene();
    const at = (epoch: bigint, sequence: bigint) =>
      provider.create(createOf('m-0', token('s', epoch, sequence)));
    await at(2n, 5n);
    for (const [epoch, sequence] of [
      [2n, 5n],
      [2n, 4n],
      [1n, 999n],
      [0n, MAX],
    ] as const) {
      expect(await refusedWith(at(epoch, sequence))).toBe(FENCED);
    }
    await at(2n, 6n);
    await at(3n, 0n);
    expect(await refusedWith(at(2n, MAX))).toBe(FENCED);
  });

  it('given the largest tokens, then they are compared exactly', async () => {
    const { provider } = await scene();
    await provider.create(createOf('m-0', token('s', MAX, MAX - 1n)));
    await provider.create(createOf('m-0', token('s', MAX, MAX)));
    expect(await refusedWith(provider.create(createOf('m-0', token('s', MAX, MAX))))).toBe(FENCED);
    expect(await refusedWith(provider.create(createOf('m-0', token('s', MAX - 1n, MAX))))).toBe(FENCED);
  });

  it('given tokens below zero, then they are ordered like all others', async () => {
    const { provider } = await scene();
    const at = (epoch: bigint, sequence: bigint) =>
      provider.create(createOf('m-0', token('s', epoch, sequence)));
    const ascending = [MIN, -1n, 0n, 1n, MAX].flatMap((epoch, _, counters) =>
      counters.map((sequence) => [epoch, sequence] as const),
    );
    for (const [i, [epoch, sequence]] of ascending.entries()) {
      await at(epoch, sequence);
      for (const [older, sooner] of ascending.slice(0, i + 1)) {
        expect(await refusedWith(at(older, sooner))).toBe(FENCED);
      }
    }
  });

  it('given no shard id and a counter other than zero, then the token is checked', async () => {
    const { provider } = await scene();
    const at = (epoch: bigint, sequence: bigint) =>
      provider.create(createOf('m-0', token('', epoch, sequence)));
    await at(-1n, 0n);
    expect(await refusedWith(at(-1n, 0n))).toBe(FENCED);
    await at(0n, 0n);
    expect(await refusedWith(at(-1n, 0n))).toBe(FENCED);
    await at(0n, -1n);
  });

  it('given several shards and machines, then each pair has its own mark', async () => {
    const { provider } = await scene();
    await provider.create(createOf('m-0', token('s', 1n, 30n)));
    await provider.create(createOf('m-1', token('s', 1n, 7n)));
    await provider.create(createOf('m-0', token('other', 1n, 1n)));
    expect(await refusedWith(provider.create(createOf('m-1', token('s', 1n, 7n))))).toBe(FENCED);
  });

  it('given a shard id with both counters 0, then the token is checked; given no token, then the call passes', async () => {
    const { provider } = await scene();
    await provider.create(createOf('m-0', token('s', 0n, 0n)));
    expect(await refusedWith(provider.create(createOf('m-0', token('s', 0n, 0n))))).toBe(FENCED);
    await provider.create(createOf('m-0'));
    await provider.create(createOf('m-0'));
  });

  it('given a call that fails, then its token still raises the mark', async () => {
    const { provider } = await scene();
    expect(await refusedWith(provider.drain(drainOf('m-0', token('s', 5n, 5n))))).toBe(status.INTERNAL);
    expect(await refusedWith(provider.create(createOf('m-0', token('s', 5n, 4n))))).toBe(FENCED);
    await provider.create(createOf('m-0', token('s', 5n, 6n)));
  });

  it('given an unknown machine, then its marks apply to all calls, also after the machine is added', async () => {
    const { provider, backend } = await scene();
    const old = token('s', 1n, 1n);
    expect(await refusedWith(provider.create(createOf('ghost', token('s', 5n, 5n))))).toBe(status.NOT_FOUND);
    for (const call of [
      provider.create(createOf('ghost', old)),
      provider.configure(configureOf('ghost', old)),
      provider.drain(drainOf('ghost', old)),
      provider.delete(deleteOf('ghost', old)),
    ]) {
      expect(await refusedWith(call)).toBe(FENCED);
    }
    expect(await refusedWith(provider.create(createOf('ghost', token('s', 9n, 9n))))).toBe(status.NOT_FOUND);
    backend.offerings = [...backend.offerings, offering('ghost')];
    await provider.refresh();
    expect(await refusedWith(provider.create(createOf('ghost', token('s', 9n, 9n))))).toBe(FENCED);
    await provider.create(createOf('ghost', token('s', 9n, 10n)));
  });

  it('given random tokens of several shards and machines, then exactly those above their mark pass, also after restarts', async () => {
    const counter = fc.oneof(
      fc.bigInt({ min: -2n, max: 2n }),
      fc.bigInt({ min: MAX - 2n, max: MAX }),
      fc.bigInt({ min: MIN, max: MIN + 2n }),
    );
    const step = fc.record({
      shard: fc.constantFrom('a', 'b', 'b\0c'),
      machine: fc.constantFrom('m-0', 'm-1', 'ghost'),
      epoch: counter,
      sequence: counter,
      kind: fc.constantFrom('create', 'drain'),
      restarts: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const store = new MemoryStore();
        const backend = new HeldBackend(2);
        let { provider } = await scene({ store, backend });
        const marks = new Map<string, readonly [bigint, bigint]>();
        for (const { shard, machine, epoch, sequence, kind, restarts } of steps) {
          const key = JSON.stringify([shard, machine]);
          const mark = marks.get(key);
          const isNewer = mark === undefined || epoch > mark[0] || (epoch === mark[0] && sequence > mark[1]);
          const fence = token(shard, epoch, sequence);
          const call =
            kind === 'create'
              ? provider.create(createOf(machine, fence))
              : provider.drain(drainOf(machine, fence));
          const code = await call.then(
            () => status.OK,
            (error: { code: number }) => error.code,
          );
          expect(code !== FENCED).toBe(isNewer);
          if (isNewer) marks.set(key, [epoch, sequence]);
          if (!restarts) continue;
          await provider.close();
          ({ provider } = await scene({ store, backend }));
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('retention of marks', () => {
  const mark = (machine: string, shard = 's') => ({ machine, shard, epoch: 1n, sequence: 1n });
  const hasMark = (fences: Fences, machine: string, shard = 's') =>
    'heldBy' in fences.pass(machine, false, { shardId: shard, epoch: 0n, sequence: 0n });

  it('given more marks of unknown machines than the limit, then the least recently used are evicted and returned', () => {
    const fences = new Fences({ strayMarks: 3 });
    for (const id of ['a', 'b', 'c']) expect(fences.set(mark(id), false)).toEqual([]);
    fences.set(mark('a'), false);
    expect(fences.set(mark('d'), false)).toEqual([mark('b')]);
    expect(['a', 'c', 'd'].map((id) => hasMark(fences, id))).toEqual([true, true, true]);
  });

  it('given known machines, then their marks do not count against the limit and are not evicted', () => {
    const fences = new Fences({ strayMarks: 2 });
    for (let i = 0; i < 10; i++) fences.set(mark(`known-${i}`), true);
    fences.set(mark('added later'), false);
    fences.adopt('added later');
    for (let i = 0; i < 5; i++) fences.set(mark(`ghost-${i}`), false);
    expect([hasMark(fences, 'known-0'), hasMark(fences, 'added later'), hasMark(fences, 'ghost-4')]).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('given more shards on one machine than the limit, then the least recently used mark is evicted and returned', () => {
    const fences = new Fences({ shardsPerMachine: 2 });
    fences.set(mark('m', 's1'), true);
    fences.set(mark('m', 's2'), true);
    fences.set(mark('m', 's1'), true);
    expect(fences.set(mark('m', 's3'), true)).toEqual([mark('m', 's2')]);
  });
});
