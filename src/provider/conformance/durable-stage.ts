// The stage of the durable lane: a provider is started, given something to remember, killed without warning, and started
// again on another port with the same state. What stood before the kill is what the behaviours compare with.

import { setTimeout as sleep } from 'node:timers/promises';
import { MachineState } from '../../model/index.ts';
import type { Machine } from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { Skip } from './behaviour.ts';
import { type Binding, type Token, textOfState } from './calls.ts';
import { accepted } from './expect.ts';
import { FAULT_CLUSTER } from './faults.ts';
import type { Trial } from './trial.ts';

/** What the provider was told before it was killed. */
export interface BeforeKill {
  /** Created with this token. */
  readonly created: { readonly id: string; readonly token: Token };
  /** Configured by this operation. */
  readonly bound: { readonly id: string; readonly binding: Binding; readonly operationId: string };
  readonly inventory: ReadonlyMap<string, MachineState>;
  /** Every operation id that was ever given out. */
  readonly operationIds: ReadonlySet<string>;
}

/** A machine that was Configuring when the provider was killed, as the restarted provider shows it. */
export interface Interrupted {
  readonly id: string;
  readonly after: Machine;
}

export interface DurableStage {
  readonly before: BeforeKill;
  /** The inventory right after the restart. */
  readonly inventoryAfter: ReadonlyMap<string, MachineState>;
  /** Kills another provider in the middle of a Configure. Made once, when first asked for. */
  readonly interrupted: () => Promise<Interrupted>;
}

/** Everything to remember: a fence mark, a binding with notes and its operation, and the states of all machines. */
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

/** Leaves a machine in Configuring, by a cluster on which the fault provider hangs; returns its id. */
export async function hangInConfiguring(trial: Trial): Promise<string> {
  const id = await trial.idle();
  accepted(
    'Configure',
    await trial.calls.configure(id, { cluster: FAULT_CLUSTER.timeout, metadata: new Map() }),
  );
  // Long enough for a write that does not wait for the acknowledgement to be caught out.
  await sleep(trial.timings.pollMs);
  const { state } = await trial.read(id);
  if (state !== MachineState.Configuring) {
    throw new Skip(
      `Configure to ${FAULT_CLUSTER.timeout} left the machine ${textOfState(state)}, so it could not be killed in the middle: start a fault provider`,
    );
  }
  return id;
}
