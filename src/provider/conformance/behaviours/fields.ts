// Behaviours of the record's fields, listed by harness/registry.ts: top-level fields and their bounds. Shards drop a
// record that violates them.

import { CapacityType, MachineState } from '../../../model/index.ts';
import type { Machine } from '../../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { type Behaviour, ExcusedSkip, inArea } from '../harness/behaviour.ts';
import { accepted, demand, hasHost, isUnbound, same } from '../harness/expect.ts';
import type { Trial } from '../harness/trial.ts';
import { costProblems, sizeProblems, spotProblems, stateProblems } from './record-rules.ts';

const behaviour = inArea('fields', 'core', 'core');
const { Speculative, Idle, Configured } = MachineState;

/** Labels that would repeat a field of the record. */
const FORBIDDEN_LABELS = [
  'instance-type',
  'instance_type',
  'instanceType',
  'zone',
  'availability-zone',
  'availability_zone',
  'capacity-type',
  'capacity_type',
  'capacityType',
];

export const FIELDS: readonly Behaviour[] = [
  behaviour('B801', 'id, state and type are fields, not labels', async (trial) => {
    await allHold(trial, ({ id, state, instanceType, labels }) => [
      ...(id === '' ? ['a machine without an id'] : []),
      ...(state === 0 ? [`${id}: no state`] : []),
      ...(instanceType === '' ? [`${id}: no instance_type`] : []),
      ...FORBIDDEN_LABELS.filter((label) => labels.has(label)).map((label) => `${id}: a label ${label}`),
    ]);
  }),
  behaviour(
    'B802',
    'prices and probabilities are in bounds, and spot can be interrupted',
    async (trial) => {
      await allHold(trial, (machine) => [...costProblems(machine), ...spotProblems(machine)]);
    },
    'spot',
  ),
  behaviour('B803', 'host and cluster are there when the state says so', async (trial) => {
    await allHold(trial, stateProblems);
    const id = await trial.speculative();
    const watch = trial.watch(id);
    const created = accepted('Create', await trial.calls.create(id)).machine;
    const seen = [created, ...(await trial.traces(id, Idle))];
    const configured = accepted('Configure', await trial.calls.configure(id, trial.binding())).machine;
    seen.push(configured, ...(await trial.traces(id, Configured)));
    const drained = accepted('Drain', await trial.calls.drain(id, 5)).machine;
    seen.push(drained, ...(await trial.traces(id, Idle, trial.timings.drainMs)));
    const problems = [...(await watch.stop()), ...seen].flatMap(stateProblems);
    demand(problems.length === 0, 'records that fit their state', problems.join('; '));
  }),
  behaviour('B804', 'resources and allocatable are quantities of the same things', async (trial) => {
    const { machines } = await trial.list();
    const hasBoth = ({ resources, allocatable }: Machine) =>
      (resources?.resources.size ?? 0) > 0 && (allocatable?.resources.size ?? 0) > 0;
    const sized = machines.filter(hasBoth);
    if (sized.length === 0) throw new ExcusedSkip('no machine has both resources and allocatable');
    nothingWrong(sized.flatMap(sizeProblems));
  }),
  behaviour('B805', 'the provider of a host never changes', async (trial) => {
    const id = await trial.idle();
    const provider = (await trial.read(id)).host?.provider ?? '';
    demand(provider !== '', 'host.provider of an Idle machine', 'nothing');
    const isThere = async (state: MachineState) => {
      for (const { host } of [await trial.read(id), await trial.listed(id, state)]) {
        same('host.provider', provider, host?.provider);
      }
    };
    await isThere(Idle);
    await trial.configure(id, trial.binding());
    await isThere(Configured);
    await trial.drain(id, 5);
    await isThere(Idle);
  }),
  behaviour('B806', 'a machine with a host has a zone and a capacity type', async (trial) => {
    await trial.idle();
    await allHold(trial, (machine) => {
      const { id, state, zone, capacityType } = machine;
      const isStable = state === Speculative || state === Idle || state === Configured;
      if (!isStable || !hasHost(machine)) return [];
      return [
        ...(zone === '' ? [`${id}: no zone`] : []),
        ...(capacityType === CapacityType.Unspecified ? [`${id}: no capacity_type`] : []),
      ];
    });
  }),
  behaviour(
    'B807',
    'a deleted machine has no host, cluster or metadata',
    async (trial) => {
      const { id } = await trial.configured({ metadata: new Map([['example.com/note', 'x']]) });
      await trial.drain(id, 5);
      const machine = await trial.deleteOrSkip(id);
      demand(!hasHost(machine), 'a deleted machine to have no host', 'one');
      isUnbound('a deleted machine', machine);
    },
    'cloud',
  ),
];

async function allHold(trial: Trial, problemsOf: (machine: Machine) => readonly string[]): Promise<void> {
  nothingWrong((await trial.list()).machines.flatMap(problemsOf));
}

function nothingWrong(problems: readonly string[]): void {
  const more = problems.length > 3 ? `; and ${problems.length - 3} more` : '';
  demand(problems.length === 0, 'every record to be in order', problems.slice(0, 3).join('; ') + more);
}
