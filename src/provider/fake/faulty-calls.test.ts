// Transport faults, against a provider that only counts its calls.

import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { createOf, filter } from '../../../testing/support/provider-kit.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { Machine, MachineList } from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { statusOf } from '../../wire/index.ts';
import type { ProviderCalls } from '../kit/provider.ts';
import { Draws } from './draws.ts';
import { FaultyCalls, TRANSPORT_FAULTS } from './faulty-calls.ts';
import { type FakeSettings, presetSettings } from './settings.ts';

const RATE = 0.1;
const CALLS = 3000;

function given(changes: Partial<FakeSettings['transport']>, seed = 1) {
  const clock = new VirtualClock();
  const settings = { ...presetSettings('calm').transport, ...changes };
  const arrived: string[] = [];
  const blank = Machine.decode(new Uint8Array());
  const machines = Array.from({ length: 20 }, (_, i) => ({ ...blank, id: `m-${i}` }));
  const list: MachineList = { machines, revision: Buffer.from('9') };
  const calls = {
    create: ({ machineId }: { machineId: string }) => {
      arrived.push(machineId);
      return Promise.resolve({ operationId: 'op', machine: undefined });
    },
    list: () => Promise.resolve(list),
    listBytes: () => Promise.resolve(Buffer.from(MachineList.encode(list).finish())),
  } as unknown as ProviderCalls;
  const faulty = new FaultyCalls({ calls, clock, draws: new Draws(seed), settings: () => settings });
  return { clock, arrived, faulty, settings };
}

type Scene = ReturnType<typeof given>;

/** Makes concurrent calls; returns the status (0 for an answer) and the duration of each. */
async function makeCalls({ clock, faulty }: Scene, count = CALLS) {
  const begun = clock.now();
  const answers: { code: number; ms: number }[] = [];
  const all = Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const code = await faulty.create(createOf(`m-${i}`)).then(
        () => 0,
        (error: unknown) => statusOf(error) ?? -1,
      );
      answers[i] = { code, ms: clock.now() - begun };
    }),
  );
  await clock.until(all);
  return answers;
}

/** Four standard deviations around the rate. */
function expectRate(count: number, rate = RATE, of = CALLS): void {
  const slack = 4 * Math.sqrt((rate * (1 - rate)) / of);
  expect(Math.abs(count / of - rate)).toBeLessThan(slack);
}

describe('transport faults, each at its rate', () => {
  it('given no faults, then every call arrives once and is answered at once', async () => {
    const scene = given({});
    expect(await makeCalls(scene)).toEqual(Array.from({ length: CALLS }, () => ({ code: 0, ms: 0 })));
    expect(scene.arrived).toHaveLength(CALLS);
    const none = Object.fromEntries(TRANSPORT_FAULTS.map((fault) => [fault, 0]));
    expect(scene.faulty.counts).toEqual({ calls: CALLS, ...none });
  });

  it('given unavailable, then the call fails and does not run', async () => {
    const scene = given({ unavailable: RATE });
    const refused = (await makeCalls(scene)).filter(({ code }) => code === status.UNAVAILABLE).length;
    expectRate(refused);
    expect(scene.arrived).toHaveLength(CALLS - refused);
    expect(scene.faulty.counts.unavailable).toBe(refused);
  });

  it('given a lost reply, then the call fails with the same status, but has run', async () => {
    const scene = given({ lostReply: RATE });
    const refused = (await makeCalls(scene)).filter(({ code }) => code === status.UNAVAILABLE).length;
    expectRate(refused);
    expect(scene.arrived).toHaveLength(CALLS);
  });

  it('given throttling, then the call fails with RESOURCE_EXHAUSTED and does not run', async () => {
    const scene = given({ throttle: RATE });
    const refused = (await makeCalls(scene)).filter(({ code }) => code === status.RESOURCE_EXHAUSTED).length;
    expectRate(refused);
    expect(scene.arrived).toHaveLength(CALLS - refused);
  });

  it('given a limit of calls per second, then calls above it fail until time has passed', async () => {
    const scene = given({ callsPerSecond: 10 });
    const codes = (await makeCalls(scene, 15)).map(({ code }) => code);
    expect(codes.filter((code) => code === status.RESOURCE_EXHAUSTED)).toHaveLength(5);
    await scene.clock.advance(500);
    expect((await makeCalls(scene, 15)).filter(({ code }) => code === 0)).toHaveLength(5);
  });

  it('given duplication, then the call arrives twice and is answered once', async () => {
    const scene = given({ duplicate: RATE });
    expect((await makeCalls(scene)).every(({ code }) => code === 0)).toBe(true);
    await scene.clock.advance(0);
    expectRate(scene.arrived.length - CALLS);
  });

  it('given reordering, then later calls arrive before the call', async () => {
    const scene = given({ reorder: RATE });
    const late = (await makeCalls(scene)).filter(({ ms }) => ms > 0);
    expectRate(late.length);
    expect(Math.max(...late.map(({ ms }) => ms))).toBeLessThanOrEqual(scene.settings.reorderMs);
    const numbers = scene.arrived.map((id) => Number(id.slice(2)));
    expect(numbers.filter((number, i) => i > 0 && number < numbers[i - 1]!).length).toBeGreaterThan(50);
  });

  it('given a slow answer, then the call runs at once and is answered late', async () => {
    const scene = given({ slow: RATE });
    const making = makeCalls(scene);
    await Promise.resolve();
    expect(scene.arrived).toHaveLength(CALLS);
    expectRate((await making).filter(({ ms }) => ms > 100).length);
  });

  it('given hanging calls, then none is answered for ten minutes, and half of them ran', async () => {
    const scene = given({ hang: RATE });
    const hung = (await makeCalls(scene)).filter(
      ({ ms, code }) => ms === 600_000 && code === status.UNAVAILABLE,
    ).length;
    expectRate(hung);
    expectRate(CALLS - scene.arrived.length, RATE / 2);
  });

  it('given a partial List, then records are missing under the full revision, as message and as bytes', async () => {
    const { faulty } = given({ partialList: RATE });
    let missing = 0;
    for (let i = 0; i < CALLS / 2; i++) {
      const lists = [await faulty.list(filter()), MachineList.decode(await faulty.listBytes(filter()))];
      for (const { machines, revision } of lists) {
        expect(Buffer.from(revision)).toEqual(Buffer.from('9'));
        if (machines.length < 20) missing++;
      }
    }
    // The random subset is sometimes the complete list.
    expectRate(missing, RATE * (20 / 21));
    expect(faulty.counts.partialList).toBeGreaterThanOrEqual(missing);
  });

  it('given a delay, then it is the median duration of a call', async () => {
    const answers = await makeCalls(given({ delayMs: 20 }));
    const sorted = answers.map(({ ms }) => ms).sort((a, b) => a - b);
    expect(sorted[0]).toBeGreaterThan(0);
    expect(sorted[CALLS / 2]).toBeGreaterThan(18);
    expect(sorted[CALLS / 2]).toBeLessThan(22);
  });
});

describe('the random draws of transport faults', () => {
  it('given equal seeds, then faults are equal; given different seeds, they differ', async () => {
    const all = { unavailable: 0.1, lostReply: 0.1, slow: 0.1, reorder: 0.1, throttle: 0.1, hang: 0.02 };
    const first = await makeCalls(given(all));
    expect(await makeCalls(given(all))).toEqual(first);
    expect(await makeCalls(given(all, 2))).not.toEqual(first);
  });

  it('given a change of one rate, then the other faults still affect the same calls', async () => {
    const lost = (answers: readonly { code: number }[]) =>
      answers.flatMap(({ code }, i) => (code === status.UNAVAILABLE ? [i] : []));
    const alone = lost(await makeCalls(given({ lostReply: RATE })));
    const slowed = lost(await makeCalls(given({ lostReply: RATE, slow: 0.5, reorder: 0.5, duplicate: 0.5 })));
    expect(slowed).toEqual(alone);
  });

  it('given hanging calls, when they are cut off, then all are answered', async () => {
    const scene = given({ hang: 1 });
    const making = makeCalls(scene, 3);
    scene.faulty.cutOff();
    expect((await making).map(({ code }) => code)).toEqual(
      Array.from({ length: 3 }, () => status.UNAVAILABLE),
    );
    expect(scene.clock.waiting).toBe(0);
  });
});
