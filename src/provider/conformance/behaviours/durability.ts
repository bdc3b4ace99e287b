// Behaviours of the durable target, listed by harness/registry.ts: what a provider still knows after it was killed and
// started again. harness/durable-stage.ts prepares the target.

import { excerpt, MachineState } from '../../../model/index.ts';
import { type Behaviour, ExcusedSkip, inArea } from '../harness/behaviour.ts';
import { textOfState } from '../harness/calls.ts';
import type { Interrupted } from '../harness/durable-stage.ts';
import {
  accepted,
  demand,
  failedWithReason,
  fenced,
  hasState,
  isUnbound,
  same,
  sameMetadata,
} from '../harness/expect.ts';

const behaviour = inArea('durability', 'durable', 'durable');
const { Idle, Configured, Failed } = MachineState;

export const DURABILITY: readonly Behaviour[] = [
  behaviour('B1001', 'a stale token is still stale after a restart', async (trial) => {
    const { id, token } = trial.durable.before.created;
    fenced('the Create from before the restart', await trial.calls.create(id, token));
  }),
  behaviour('B1002', 'an operation keeps its id over a restart', async (trial) => {
    const { id, binding, operationId } = trial.durable.before.bound;
    const again = accepted('the Configure from before', await trial.calls.configure(id, binding));
    same('its operation id', operationId, again.operationId);
  }),
  behaviour('B1003', 'a binding and its metadata survive a restart', async (trial) => {
    const { id, binding } = trial.durable.before.bound;
    const machine = await trial.read(id);
    hasState('the bound machine', machine, Configured);
    same('its cluster', binding.cluster, machine.cluster);
    sameMetadata('the bound machine', binding.metadata, machine.shardMetadata);
  }),
  behaviour('B1004', 'every machine is in the state it was in', async ({ durable }) => {
    const { inventory } = durable.before;
    const after = durable.inventoryAfter;
    for (const [id, state] of inventory) {
      const came = after.get(id);
      const text = came === undefined ? 'no such machine' : textOfState(came);
      demand(came === state, `${id} to be ${textOfState(state)} after the restart`, text);
    }
    same('the number of machines', inventory.size, after.size);
  }),
  behaviour('B1005', 'revisions and operation ids go on', async (trial) => {
    const { revision } = await trial.list({ max: 1 });
    demand(revision.length > 0, 'a revision after the restart', 'none');
    const id = await trial.speculative();
    const { operationId } = accepted('Create after the restart', await trial.calls.create(id));
    const isNew = !trial.durable.before.operationIds.has(operationId);
    demand(isNew, 'a new operation id', `${operationId}, which was given out before the restart`);
  }),
  behaviour('B1006', 'a machine caught in Configuring is Failed with a reason', async ({ durable }) => {
    const { isHanging, machines } = await durable.interrupted();
    for (const machine of machines) isAsInterrupted(machine, isHanging);
    if (machines.some(({ after }) => after.state === Failed)) return;
    throw new ExcusedSkip(
      'every Configure had settled before the kill; a provider with the fault selectors shows what becomes of others',
    );
  }),
  behaviour('B1007', 'a new shard is let in after a restart', async (trial) => {
    const id = await trial.speculative();
    const token = { shard: 'durB', epoch: 1n, sequence: 1n };
    accepted('Create (1,1) by a new shard', await trial.calls.create(id, token));
  }),
];

/**
 * What a kill may leave of a Configure: Failed with a reason. Unless a fault selector kept the machine in Configuring,
 * the Configure may also have succeeded before the kill or, if it was not acknowledged, never have arrived.
 */
function isAsInterrupted(machine: Interrupted['machines'][number], isHanging: boolean): void {
  const { binding, isAcknowledged, after } = machine;
  const what = `${excerpt(after.id)}, ${isAcknowledged ? 'acknowledged' : 'not acknowledged'}, after the restart`;
  const settled = isHanging ? [] : isAcknowledged ? [Configured] : [Configured, Idle];
  hasState(what, after, Failed, ...settled);
  if (after.state === Failed) failedWithReason(what, after);
  if (after.state === Idle) isUnbound(what, after);
  if (after.state !== Configured) return;
  same(`the cluster of ${what}`, binding.cluster, after.cluster);
  sameMetadata(what, binding.metadata, after.shardMetadata);
}
