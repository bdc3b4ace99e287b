// Behaviours of the life cycle, listed by harness/registry.ts: the states a machine passes, in order, and what its
// record shows in each of them.

import { MachineState } from '../../../model/index.ts';
import type { Machine } from '../../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { type Behaviour, inArea, withoutDelete } from '../harness/behaviour.ts';
import { textOfState } from '../harness/calls.ts';
import { accepted, demand, hasHost, hasState, isUnbound, isUnimplemented, same } from '../harness/expect.ts';
import type { Trial } from '../harness/trial.ts';
import { isTransitional } from '../harness/trial.ts';

const behaviour = inArea('lifecycle', 'core', 'core');
const { Speculative, Creating, Idle, Configuring, Configured, Draining, Deleting } = MachineState;

/** What may be seen right after a state: transitional states may be missed, stable ones may not. */
const NEXT: ReadonlyMap<number, readonly number[]> = new Map([
  [Speculative, [Creating, Idle]],
  [Creating, [Idle]],
  [Idle, [Configuring, Configured]],
  [Configuring, [Configured]],
  [Configured, [Draining, Idle]],
  [Draining, [Idle]],
]);

export const LIFECYCLE: readonly Behaviour[] = [
  behaviour('B101', 'four rounds of Configure and Drain leave nothing behind', async (trial) => {
    const id = await trial.idle();
    for (let round = 0; round < 4; round++) {
      const metadata = new Map([[`example.com/round-${round}`, 'x']]);
      const bound = await trial.configure(id, trial.binding({ metadata }));
      demand(bound.cluster !== '', 'a Configured machine to name its cluster', 'none');
      const drained = await trial.drain(id, 5);
      isUnbound('a drained machine', drained);
      same('last_error of a drained machine', '', drained.lastError);
    }
  }),
  behaviour('B103', 'from Idle to Configured only Configuring is seen', async (trial) => {
    const id = await trial.idle();
    const binding = trial.binding();
    accepted('Configure', await trial.calls.configure(id, binding));
    passesOnly(await trial.traces(id, Configured), Configuring, Configured);
    await trial.stays(id, Configured);
  }),
  behaviour('B104', 'from Configured to Idle only Draining is seen', async (trial) => {
    const { id } = await trial.configured();
    accepted('Drain', await trial.calls.drain(id, 5));
    passesOnly(await trial.traces(id, Idle, trial.timings.drainMs), Draining, Idle);
    await trial.stays(id, Idle);
  }),
  behaviour('B105', 'no stable state is skipped on the way round', async (trial) => {
    const id = await trial.speculative();
    // A single reader: a second one could miss a state between two calls and report a jump that did not happen.
    const seen = [await trial.read(id)];
    accepted('Create', await trial.calls.create(id));
    seen.push(...(await trial.traces(id, Idle)));
    accepted('Configure', await trial.calls.configure(id, trial.binding()));
    seen.push(...(await trial.traces(id, Configured)));
    accepted('Drain', await trial.calls.drain(id, 5));
    seen.push(...(await trial.traces(id, Idle, trial.timings.drainMs)));
    for (let i = 1; i < seen.length; i++) isNeighbour(seen[i - 1]!, seen[i]!);
  }),
  behaviour('B106', 'the cluster is set from Configuring on and gone at Idle', async (trial) => {
    const id = await trial.idle();
    isUnbound('an Idle machine', await trial.read(id));
    const binding = trial.binding();
    accepted('Configure', await trial.calls.configure(id, binding));
    for (const machine of await trial.traces(id, Configured)) {
      if (machine.state === Idle) continue;
      same(`the cluster of a ${textOfState(machine.state)} machine`, binding.cluster, machine.cluster);
    }
    isUnbound('a drained machine', await trial.drain(id, 5));
  }),
  behaviour('B107', 'the host is there from Idle on, and settled states stay settled', async (trial) => {
    const id = await trial.speculative();
    await isSettled(trial, id, Speculative, false);
    accepted('Create', await trial.calls.create(id));
    await trial.settles(id, Idle);
    await isSettled(trial, id, Idle, true);
    await trial.configure(id, trial.binding());
    await isSettled(trial, id, Configured, true);
    await trial.drain(id, 5);
    await isSettled(trial, id, Idle, true);
  }),
  behaviour('B108', 'a machine that nothing is asked of stays where it is', async (trial) => {
    const { id } = await trial.configured();
    await trial.stays(id, Configured);
    await trial.drain(id, 5);
    await trial.stays(id, Idle);
  }),
  behaviour(
    'B109',
    'from Idle to Speculative only Deleting is seen, and the host goes',
    async (trial) => {
      const id = await trial.idle();
      const reply = await trial.calls.delete(id);
      if (isUnimplemented(reply)) throw withoutDelete();
      accepted('Delete', reply);
      const seen = await trial.traces(id, Speculative);
      passesOnly(seen, Deleting, Speculative);
      demand(!hasHost(seen.at(-1)!), 'a deleted machine to have no host', 'one');
      await trial.stays(id, Speculative);
    },
    'cloud',
  ),
];

function passesOnly(seen: readonly Machine[], through: MachineState, goal: MachineState): void {
  for (const machine of seen) hasState('a state on the way', machine, through, goal);
}

function isNeighbour(from: Machine, to: Machine): void {
  const allowed = NEXT.get(from.state) ?? [];
  if (from.state === to.state) return;
  const move = `${textOfState(from.state)} → ${textOfState(to.state)}`;
  demand(allowed.includes(to.state), 'only moves between neighbouring states', move);
}

/** A settled machine, read again: not under way, and with a host or without. */
async function isSettled(trial: Trial, id: string, state: MachineState, host: boolean): Promise<void> {
  const machine = await trial.read(id);
  demand(!isTransitional(machine.state), 'a settled machine', textOfState(machine.state));
  hasState('a settled machine', machine, state);
  same(`whether a ${textOfState(state)} machine has a host`, host, hasHost(machine));
}
