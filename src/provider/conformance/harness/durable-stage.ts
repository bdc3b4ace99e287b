// The setup of the durable target, carried out by targets.ts: a provider is started, given state to persist, killed
// with no warning, and restarted on another port with the same state file. The behaviours (behaviours/durability.ts)
// compare with the state before the kill.

import { setTimeout as sleep } from 'node:timers/promises';
import { MachineState } from '../../../model/index.ts';
import type { Machine } from '../../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { FAULT_CLUSTER } from '../behaviours/faults.ts';
import { NoAnswer, Skip } from './behaviour.ts';
import { type Binding, type Token, textOfState } from './calls.ts';
import { accepted } from './expect.ts';
import type { Trial } from './trial.ts';

/** The state of the provider before the kill. */
export interface BeforeKill {
  /** Created with this token. */
  readonly created: { readonly id: string; readonly token: Token };
  /** Configured by this operation. */
  readonly bound: { readonly id: string; readonly binding: Binding; readonly operationId: string };
  readonly inventory: ReadonlyMap<string, MachineState>;
  /** Every operation id issued. */
  readonly operationIds: ReadonlySet<string>;
}

/** A machine that was asked to be configured when the provider was killed. */
export interface InterruptedConfigure {
  readonly id: string;
  readonly binding: Binding;
  /** The provider acknowledged the call, so it must be durable. */
  readonly isAcknowledged: boolean;
}

export interface Interrupted {
  /** The fault selectors kept the machines in Configuring, so the kill interrupted all of them. */
  readonly isHanging: boolean;
  /** As the restarted provider shows them; without fault selectors, once they have left Configuring. */
  readonly machines: readonly (InterruptedConfigure & { readonly after: Machine })[];
}

export interface DurableStage {
  readonly before: BeforeKill;
  /** The inventory right after the restart. */
  readonly inventoryAfter: ReadonlyMap<string, MachineState>;
  /** Kills another provider in the middle of Configures. Done once, on the first call. */
  readonly interrupted: () => Promise<Interrupted>;
}

/** Creates the state to persist: a fencing mark, a binding with metadata and its operation, and machine states. */
export async function fillStage(trial: Trial): Promise<BeforeKill> {
  const operationIds = new Set<string>();
  const token: Token = { shard: 'durA', epoch: 3n, sequence: 7n };
  const created = await trial.speculative();
  operationIds.add(accepted('Create', await trial.calls.create(created, token)).operationId);
  await trial.settles(created, MachineState.Idle);

  const bound = await trial.speculative();
  operationIds.add(accepted('Create', await trial.calls.create(bound)).operationId);
  await trial.settles(bound, MachineState.Idle);
  const metadata = new Map([
    ['bigfleet.lucy.sh/assigned-priority', '1000'],
    ['example.com/opaque', 'kept\u0000exactly'],
  ]);
  const binding = { cluster: 'durable-cluster', metadata };
  const { operationId } = accepted('Configure', await trial.calls.configure(bound, binding));
  operationIds.add(operationId);
  await trial.settles(bound, MachineState.Configured);

  const inventory = await inventoryOf(trial);
  return {
    created: { id: created, token },
    bound: { id: bound, binding, operationId },
    inventory,
    operationIds,
  };
}

export async function inventoryOf(trial: Trial): Promise<ReadonlyMap<string, MachineState>> {
  const { machines } = await trial.list();
  return new Map(machines.map(({ id, state }) => [id, state as MachineState]));
}

/** Leaves a machine in Configuring, by a cluster on which the fault provider hangs. */
export async function hangInConfiguring(trial: Trial): Promise<InterruptedConfigure> {
  const id = await trial.idle();
  const binding = { cluster: FAULT_CLUSTER.timeout, metadata: new Map<string, string>() };
  accepted('Configure', await trial.calls.configure(id, binding));
  // Time for a provider that does not hang to leave Configuring, which the check below detects.
  await sleep(trial.timings.pollMs);
  const { state } = await trial.read(id);
  if (state !== MachineState.Configuring) {
    throw new Skip(
      `Configure to ${FAULT_CLUSTER.timeout} left the machine ${textOfState(state)}, so it could not be killed in the middle: start a fault provider`,
    );
  }
  return { id, binding, isAcknowledged: true };
}

/** Machines that are configured at once, so that not all of them have settled when the first is acknowledged. */
const AT_ONCE = 16;

/** Kills a provider that has no fault selectors as soon as it has acknowledged the first of several Configures. */
export async function killInConfiguring(
  trial: Trial,
  kill: () => Promise<void>,
): Promise<readonly InterruptedConfigure[]> {
  const ids = await trial.several(AT_ONCE, () => trial.idle());
  let isKilled = false;
  const configure = async (id: string): Promise<InterruptedConfigure> => {
    const binding = trial.binding({ metadata: new Map([['example.com/cut', id]]) });
    const reply = await trial.calls.configure(id, binding).catch((error: unknown) => {
      if (isKilled && error instanceof NoAnswer) return null;
      throw error;
    });
    // A broken connection may look like a refusal.
    if (reply === null || (isKilled && !reply.ok)) return { id, binding, isAcknowledged: false };
    accepted('Configure', reply);
    isKilled = true;
    await kill();
    return { id, binding, isAcknowledged: true };
  };
  return await Promise.all(ids.map(configure));
}
