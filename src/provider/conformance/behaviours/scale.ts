// Behaviours of the scale target, listed by harness/registry.ts: a fleet of thousands is listed whole, delta-listed
// exactly, and stays quick and clean under load.

import { CapacityType, MachineState } from '../../../model/index.ts';
import type { Machine } from '../../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { type Behaviour, inArea } from '../harness/behaviour.ts';
import { accepted, demand, differ, isUnbound, same } from '../harness/expect.ts';
import type { Trial } from '../harness/trial.ts';
import { isDistinct, isSameSet, pagesFit } from './lists.ts';
import { costProblems, spotProblems } from './record-rules.ts';

const behaviour = inArea('scale', 'scale', 'scale');
const { Speculative, Idle } = MachineState;

const PAGE = 500;

export const SCALE: readonly Behaviour[] = [
  behaviour('B1101', 'the whole fleet is listed, every record complete', async (trial) => {
    const { machines } = await trial.list();
    const { scaleSeed } = trial.settings;
    demand(machines.length >= scaleSeed, `at least ${scaleSeed} machines`, `${machines.length}`);
    isDistinct(machines);
    const problems = machines.flatMap(recordProblems);
    demand(problems.length === 0, 'complete records', `${problems.length} problems: ${problems[0]}`);
  }),
  behaviour('B1102', 'a delta is exactly what changed', async (trial) => {
    const ids = await trial.several(20, () => trial.idle());
    const since = await trial.cursor();
    await Promise.all(ids.map((id) => trial.configure(id, trial.binding())));
    const { machines } = await trial.list({ since });
    isDistinct(machines);
    isSameSet(
      'the delta of 20 Configures',
      ids,
      machines.map(({ id }) => id),
    );
  }),
  behaviour('B1103', 'pages of 500 repeat nothing and make nothing up', async (trial) => {
    const whole = (await trial.list()).machines.map(({ id }) => id);
    await pagesFit(trial, PAGE, new Uint8Array(0), whole);
  }),
  behaviour('B1104', 'eight machines bound and drained all the time stay clean', async (trial) => {
    const ids = await trial.several(8, () => trial.idle());
    await Promise.all(
      ids.map((id) =>
        forSoak(trial, async () => {
          await trial.configure(id, trial.binding({ metadata: new Map([['example.com/soak', id]]) }));
          isUnbound('the drained machine', await trial.drain(id, 0));
        }),
      ),
    );
  }),
  behaviour('B1105', 'buying and giving back all the time loses no machine', async (trial) => {
    const before = (await trial.list()).machines.length;
    const ids = await trial.several(4, () => trial.speculative());
    const balance = { created: 0, deleted: 0 };
    await Promise.all(
      ids.map((id) =>
        forSoak(trial, async () => {
          accepted('Create', await trial.calls.create(id));
          balance.created++;
          await trial.settles(id, Idle);
          await trial.deleteOrSkip(id);
          balance.deleted++;
        }),
      ),
    );
    // One stays bought, so that the expected balance is not 0.
    accepted('the last Create', await trial.calls.create(ids[0]!));
    balance.created++;
    await trial.settles(ids[0]!, Idle);
    const states = await Promise.all(ids.map((id) => trial.read(id)));
    const resident = states.filter(({ state }) => state !== Speculative).length;
    same('machines bought and not given back', balance.created - balance.deleted, resident);
    same('the size of the fleet', before, (await trial.list()).machines.length);
  }),
  behaviour('B1106', 'Get, Create and List are quick', async (trial) => {
    const { timings } = trial;
    const ids = await trial.several(60, () => trial.speculative());
    await isQuick('Get', 120, timings.getP99Ms, (i) => trial.read(ids[i % ids.length]!));
    await isQuick('Create', 60, timings.createP99Ms, async (i) => {
      accepted('Create', await trial.calls.create(ids[i]!));
    });
    await isQuick('a full List', 120, timings.listP99Ms, () => trial.list());
  }),
  behaviour('B1107', 'a full List is quick once warm', async (trial) => {
    await trial.list();
    await isQuick('a warm full List', 1, trial.timings.warmListMs, () => trial.list());
  }),
  behaviour('B1108', 'sixteen machines are created at once', async (trial) => {
    const ids = await trial.several(16, () => trial.speculative());
    const replies = await Promise.all(ids.map((id) => trial.calls.create(id)));
    differ(
      'operation ids of sixteen Creates',
      replies.map((reply) => accepted('Create', reply).operationId),
    );
    await Promise.all(ids.map((id) => trial.settles(id, Idle, trial.timings.parallelCreateMs)));
  }),
  behaviour('B1109', 'idle machines do not drift', async (trial) => {
    const ids = await trial.several(8, () => trial.idle());
    const forMs = Math.min(3_000, Math.max(500, trial.settings.soakMs / 4));
    await Promise.all(ids.map((id) => trial.stays(id, Idle, (machine) => isUnbound(id, machine), forMs)));
  }),
];

function recordProblems(machine: Machine): string[] {
  const { id, state, instanceType, zone, capacityType } = machine;
  const missing = [
    ...(id === '' ? ['id'] : []),
    ...(state === 0 ? ['state'] : []),
    ...(instanceType === '' ? ['instance_type'] : []),
    ...(zone === '' ? ['zone'] : []),
    ...(capacityType === CapacityType.Unspecified ? ['capacity_type'] : []),
  ];
  return [
    ...missing.map((field) => `${id}: no ${field}`),
    ...costProblems(machine),
    ...spotProblems(machine),
  ];
}

/** Repeats something for the length of the soak, once at least. */
async function forSoak(trial: Trial, round: () => Promise<void>): Promise<void> {
  const until = performance.now() + trial.settings.soakMs;
  do await round();
  while (performance.now() < until);
}

/** 99 of 100 calls, one after another, within the limit. */
async function isQuick(
  what: string,
  samples: number,
  limitMs: number,
  call: (i: number) => Promise<unknown>,
): Promise<void> {
  const timesMs: number[] = [];
  for (let i = 0; i < samples; i++) {
    const started = performance.now();
    await call(i);
    timesMs.push(performance.now() - started);
  }
  timesMs.sort((a, b) => a - b);
  const p99 = timesMs[Math.ceil(samples * 0.99) - 1]!;
  demand(p99 <= limitMs, `p99 of ${what} within ${limitMs} ms`, `${p99.toFixed(0)} ms`);
}
