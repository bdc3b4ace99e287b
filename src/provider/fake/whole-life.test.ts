// Simulated days in the fake cloud, driven by a caller that mixes calls: equal seeds produce equal histories,
// and every record satisfies the contract.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type FakeScene,
  fakeScene,
  HOUR_MS,
  inventory,
  MINUTE_MS,
} from '../../../testing/support/fake-provider.ts';
import {
  configureOf,
  createOf,
  deleteOf,
  drainOf,
  filter,
  token,
} from '../../../testing/support/provider-kit.ts';
import { MachineState } from '../../model/index.ts';
import { Random } from '../../runtime/random.ts';
import { type Machine, MachineList } from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { machineFromWire, statusOf } from '../../wire/index.ts';
import type { PresetName } from './settings.ts';

const { Speculative, Idle, Configured } = MachineState;

/** One round of a simple caller: lists, then starts transitions of some machines, each with its own token. */
async function round({ fake }: FakeScene, random: Random, number: number): Promise<readonly string[]> {
  const answers: string[] = [];
  const attempt = async (what: string, call: Promise<unknown>) => {
    const code = await call.then(
      () => 0,
      (error: unknown) => statusOf(error) ?? -1,
    );
    answers.push(`${what} ${code}`);
  };
  let machines: readonly Machine[] = [];
  await attempt(
    'list',
    fake.list(filter()).then((list) => (machines = list.machines)),
  );
  let sequence = BigInt(number) * 1000n;
  const calls = machines.map(async ({ id, state }) => {
    if (!random.chance(0.3)) return;
    const fence = token('shard-0', 1n, ++sequence);
    if (state === Speculative) return await attempt(`create ${id}`, fake.create(createOf(id, fence)));
    if (state === Configured) return await attempt(`drain ${id}`, fake.drain(drainOf(id, fence, 60n)));
    if (state !== Idle) return;
    const isBound = random.chance(0.8);
    return isBound
      ? await attempt(`configure ${id}`, fake.configure(configureOf(id, fence, { clusterId: 'prod' })))
      : await attempt(`delete ${id}`, fake.delete(deleteOf(id, fence)));
  });
  await Promise.all(calls);
  return answers;
}

/** Simulates some hours; returns all answers to the caller and all events of the cloud, in order. */
async function simulate(preset: PresetName, seed: number, hours: number) {
  const scene = await fakeScene({ preset, seed, machines: 48 });
  const random = new Random(seed, 99);
  const answers: string[] = [];
  for (let number = 1; number <= hours * 12; number++) {
    answers.push(...(await scene.clock.until(round(scene, random, number))));
    await scene.clock.advance(5 * MINUTE_MS);
  }
  const end = Buffer.from(MachineList.encode(await scene.fake.kit.list(filter())).finish()).toString('hex');
  const { events } = scene;
  const { counts } = scene.fake;
  await scene.fake.close();
  expect(scene.clock.waiting).toBe(0);
  return { answers, events, counts, end };
}

describe('a simulated history', () => {
  it('given equal seeds, then all answers are equal; given different seeds, they differ', {
    timeout: 600_000,
  }, async () => {
    const first = await simulate('hostile', 11, 12);
    expect(await simulate('hostile', 11, 12)).toEqual(first);
    expect((await simulate('hostile', 12, 12)).answers).not.toEqual(first.answers);
    // A hostile day includes every kind of event that settings cause.
    expect(new Set(first.events.map(({ what }) => what))).toEqual(
      new Set(['interrupted', 'died', 'failed', 'cleaned up']),
    );
    const { partialList, ...faults } = first.counts;
    expect(Math.min(...Object.values(faults))).toBeGreaterThan(0);
    expect(first.answers).toContain('list 14');
    expect(partialList).toBeGreaterThan(0);
  });

  it('given the realistic preset, then most transitions succeed and some fail', {
    timeout: 600_000,
  }, async () => {
    const { answers, events } = await simulate('realistic', 3, 24);
    const refused = answers.filter((answer) => !answer.endsWith(' 0')).length;
    expect(refused).toBeGreaterThan(0);
    expect(refused / answers.length).toBeLessThan(0.05);
    expect(events.some(({ what }) => what === 'interrupted')).toBe(true);
  });

  it('given the calm preset, then no transition fails in a day', { timeout: 600_000 }, async () => {
    const { answers, events, counts } = await simulate('calm', 5, 24);
    expect(answers.filter((answer) => !answer.endsWith(' 0'))).toEqual([]);
    expect(events).toEqual([]);
    expect(counts).toEqual({
      calls: answers.length,
      ...Object.fromEntries(
        Object.keys(counts)
          .slice(1)
          .map((key) => [key, 0]),
      ),
    });
  });
});

describe('a simulation with all kinds of faults', () => {
  it('given any faults, then every record satisfies the contract, and no machine is added or removed', {
    timeout: 600_000,
  }, async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('round' as const), seed: fc.nat() }),
      fc.record({ kind: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 60 }) }),
      fc.record({ kind: fc.constant('interrupt' as const), count: fc.integer({ min: 1, max: 5 }) }),
      fc.record({
        kind: fc.constant('outage' as const),
        zone: fc.constantFrom('zone-a', 'zone-b', 'zone-c'),
      }),
      fc.record({ kind: fc.constant('preset' as const), hang: fc.double({ min: 0, max: 1, noNaN: true }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.array(step, { maxLength: 25 }), async (seed, steps) => {
        const scene = await fakeScene({ preset: 'hostile', seed, machines: 32 });
        const ids = (await inventory(scene)).map(({ id }) => id).sort();
        for (const [i, each] of steps.entries()) {
          if (each.kind === 'round') await scene.clock.until(round(scene, new Random(each.seed), i + 1));
          else if (each.kind === 'wait') await scene.clock.advance(each.minutes * MINUTE_MS);
          else if (each.kind === 'interrupt') scene.fake.cloud.interrupt({ count: each.count });
          else if (each.kind === 'outage') scene.fake.cloud.outage(each.zone, HOUR_MS);
          else scene.fake.cloud.set({ operations: { hang: each.hang } });
          await scene.clock.advance(0);
          const machines = await inventory(scene);
          expect(machines.map(({ id }) => id).sort()).toEqual(ids);
          for (const machine of machines)
            expect(machineFromWire(machine, machine.id)).toMatchObject({ ok: true });
        }
        await scene.fake.close();
      }),
      { numRuns: 30 },
    );
  });
});
