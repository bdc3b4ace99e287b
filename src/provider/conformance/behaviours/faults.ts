// Behaviours of the fault target, listed by harness/registry.ts: what a provider reports when its cloud fails, hangs or
// succeeds too late. They require a target with fault selectors: a label for Create, the name of the cluster for
// Configure and Drain.

import { MachineState } from '../../../model/index.ts';
import { type Behaviour, inArea } from '../harness/behaviour.ts';
import {
  accepted,
  demand,
  failedWithReason,
  hasState,
  isUnimplemented,
  refused,
  same,
} from '../harness/expect.ts';
import type { Trial } from '../harness/trial.ts';

const behaviour = inArea('faults', 'fault', 'fault');
const { Creating, Idle, Configuring, Configured, Draining, Failed } = MachineState;

/** Clusters a fault provider knows by name. */
export const FAULT_CLUSTER = {
  /** Configure fails at once. */
  error: 'fault-error',
  /** Configure hangs until the transition timeout. */
  timeout: 'fault-timeout',
  /** Configure ignores the timeout and succeeds a second after it. */
  slowOk: 'fault-slow-ok',
  /** The host is told to join, but the node never becomes Ready. */
  neverReady: 'fault-readiness-block',
  /** Configures fine; a later Drain fails. */
  drainError: 'fault-drain-error',
} as const;

/** A late success comes this long after the timeout. */
const LATE_MS = 1_000;
/** Tolerance of `LATE_MS`. */
const LATE_SLACK_MS = 500;

export const FAULTS: readonly Behaviour[] = [
  behaviour('B701', 'a failed Configure ends in Failed with a reason', async (trial) => {
    const id = await failsToConfigure(trial, FAULT_CLUSTER.error, trial.timings.configureMs);
    await staysFailed(trial, id);
  }),
  behaviour('B702', 'a failed Create ends in Failed with a reason', async (trial) => {
    const id = await trial.speculativeThatFails();
    accepted('Create', await trial.calls.create(id));
    await fails(trial, id, Creating, trial.timings.createMs);
    await staysFailed(trial, id);
  }),
  behaviour('B703', 'a Configure that hangs is given up at the timeout', async (trial) => {
    await failsToConfigure(trial, FAULT_CLUSTER.timeout, givenUpMs(trial));
  }),
  behaviour('B704', 'a success that comes too late changes nothing', async (trial) => {
    const id = await failsToConfigure(trial, FAULT_CLUSTER.slowOk, givenUpMs(trial));
    await staysFailed(trial, id, LATE_MS + LATE_SLACK_MS);
  }),
  behaviour('B705', 'no call leads out of Failed', async (trial) => {
    const id = await failsToConfigure(trial, FAULT_CLUSTER.error, trial.timings.configureMs);
    const reason = (await trial.read(id)).lastError;
    refused('Configure of a Failed machine', await trial.calls.configure(id, trial.binding()));
    refused('Create of a Failed machine', await trial.calls.create(id));
    refused('Drain of a Failed machine', await trial.calls.drain(id, 0));
    const deleted = await trial.calls.delete(id);
    if (!isUnimplemented(deleted)) refused('Delete of a Failed machine', deleted);
    await trial.stays(id, Failed, ({ lastError }) => same('its last_error', reason, lastError));
  }),
  behaviour('B706', 'a failed Drain ends in Failed with a reason, or in Idle', async (trial) => {
    const { id } = await trial.configured({ cluster: FAULT_CLUSTER.drainError });
    accepted('Drain', await trial.calls.drain(id, 0));
    const machine = await trial.leaves(id, [Draining], givenUpMs(trial));
    hasState('the machine after the Drain', machine, Failed, Idle);
    if (machine.state === Failed) failedWithReason('a machine whose Drain failed', machine);
    await trial.stays(id, machine.state);
  }),
  behaviour('B707', 'the reason stays the same, in Get and in List', async (trial) => {
    const id = await failsToConfigure(trial, FAULT_CLUSTER.error, trial.timings.configureMs);
    const reason = (await trial.read(id)).lastError;
    for (let i = 0; i < 3; i++) same('last_error in Get', reason, (await trial.read(id)).lastError);
    same('last_error in List', reason, (await trial.listed(id, Failed)).lastError);
  }),
  behaviour('B708', 'a node that never gets Ready is never Configured', async (trial) => {
    await failsToConfigure(trial, FAULT_CLUSTER.neverReady, givenUpMs(trial));
  }),
];

/** Longest duration of a hanging transition, from its start until the provider fails it. */
function givenUpMs({ settings, timings }: Trial): number {
  return settings.transitionTimeoutMs + timings.giveUpMs;
}

async function failsToConfigure(trial: Trial, cluster: string, withinMs: number): Promise<string> {
  const id = await trial.idle();
  accepted('Configure', await trial.calls.configure(id, trial.binding({ cluster })));
  await fails(trial, id, Configuring, withinMs);
  return id;
}

async function fails(trial: Trial, id: string, through: MachineState, withinMs: number): Promise<void> {
  const machine = await trial.leaves(id, [through], withinMs);
  demand(machine.state !== Configured, 'never Configured', 'Configured');
  hasState(`the machine within ${withinMs} ms`, machine, Failed);
  failedWithReason('the Failed machine', machine);
}

async function staysFailed(trial: Trial, id: string, forMs?: number): Promise<void> {
  await trial.stays(id, Failed, (machine) => failedWithReason('the Failed machine', machine), forMs);
}
