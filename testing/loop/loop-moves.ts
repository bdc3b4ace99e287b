// The effects of a plan and of time on the ledger: accepted actions start moves, moves complete, and targets of rows
// that are no longer reported are dropped. loop.ts combines them.

import {
  type Action,
  Command,
  canonicalResources,
  commandTarget,
  dollarsOfBucket,
  type HostRef,
  keyOf,
  keyText,
  type LedgerMachine,
  MachineState,
  type Need,
  type NeedKey,
  type Plan,
  sameTermOf,
  withoutSame,
} from '../../src/model/index.ts';

/** The provider of hosts that are created during a loop. */
const LOOP_PROVIDER = 'loop';

/** Rows by the text of their key. A fold is listed under its own key, for any of its members. */
export type RowsByKey = ReadonlyMap<string, Need>;

/** Every key an action may name given these Needs: their own, and those of the folds they may be in. */
export function rowsByKey(needs: readonly Need[]): RowsByKey {
  const rows = new Map<string, Need>();
  for (const need of needs) {
    if (sameTermOf(need.profile) !== undefined) rows.set(keyText(foldKeyOf(need)), need);
  }
  for (const need of needs) rows.set(keyText(keyOf(need)), need);
  return rows;
}

function foldKeyOf(need: Need): NeedKey {
  const { fingerprint } = withoutSame(need.profile);
  return { cluster: need.cluster, fingerprint, group: `fold:${canonicalResources(need.aggregate)}` };
}

/** The ledger once every action of the plan is accepted: stamps, targets and clocks rewritten, every move in flight. */
export function acceptPlan(
  machines: readonly LedgerMachine[],
  rows: RowsByKey,
  plan: Plan,
): readonly LedgerMachine[] {
  const actions = new Map(plan.actions.map((action) => [action.machine, action]));
  return machines.map((machine) => {
    const action = actions.get(machine.id);
    const restamped = retarget(
      restamp(machine, plan.restamps.get(machine.id)),
      plan.retargets.get(machine.id),
    );
    const accepted = action === undefined ? restamped : begin(restamped, action, rows);
    return timed(accepted, plan.onHold.get(machine.id));
  });
}

function retarget(machine: LedgerMachine, target: NeedKey | undefined): LedgerMachine {
  return target === undefined ? machine : { ...machine, target };
}

/** A machine that begins to move is no longer on hold. An unchanged machine keeps its identity. */
function timed(machine: LedgerMachine, since: number | undefined): LedgerMachine {
  const unclaimedSinceMs = machine.state === MachineState.Configured ? (since ?? null) : null;
  return machine.unclaimedSinceMs === unclaimedSinceMs ? machine : { ...machine, unclaimedSinceMs };
}

function restamp(machine: LedgerMachine, key: NeedKey | undefined): LedgerMachine {
  if (key === undefined) return machine;
  const { fingerprint, group } = key;
  const unknown = { priority: null, interruptionPenaltyDollars: 0, reclamationPenaltyDollars: 0 };
  return { ...machine, stamp: { ...(machine.stamp ?? unknown), fingerprint, group } };
}

function begin(machine: LedgerMachine, action: Action, rows: RowsByKey): LedgerMachine {
  const { need: target } = action;
  switch (action.kind) {
    case 'Bootstrap':
      return {
        ...machine,
        state: commandTarget(Command.Configure, machine.state),
        cluster: action.cluster,
        use: undefined,
        stamp: stampFor(target!, rows),
        target,
        idleSinceMs: null,
      };
    case 'Provision':
      return { ...machine, state: commandTarget(Command.Create, machine.state), target };
    case 'Preempt':
    case 'Reclaim':
      // A Reclaim has no row, so the machine's target is cleared here.
      return { ...machine, state: commandTarget(Command.Drain, machine.state), target, use: undefined };
    case 'Delete':
      return {
        ...machine,
        state: commandTarget(Command.Delete, machine.state),
        target: null,
        idleSinceMs: null,
      };
  }
}

function stampFor(key: NeedKey, rows: RowsByKey): LedgerMachine['stamp'] {
  const { priority, interruptionBucket, reclamationBucket } = rows.get(keyText(key))!.profile;
  return {
    priority,
    interruptionPenaltyDollars: dollarsOfBucket(interruptionBucket),
    reclamationPenaltyDollars: dollarsOfBucket(reclamationBucket),
    fingerprint: key.fingerprint,
    group: key.group,
  };
}

/** States that a machine leaves without another action. */
export function isMoving({ state }: LedgerMachine): boolean {
  return (
    state === MachineState.Creating ||
    state === MachineState.Configuring ||
    state === MachineState.Draining ||
    state === MachineState.Deleting
  );
}

/** The machine after its current move has completed. */
export function endMove(machine: LedgerMachine, nowMs: number): LedgerMachine {
  switch (machine.state) {
    case MachineState.Creating:
      return { ...idle(machine, nowMs), host: newHost(machine.id) };
    case MachineState.Draining:
      return idle(machine, nowMs);
    case MachineState.Configuring:
      // The cluster it was to join is unknown, so the move is rolled back.
      if (machine.cluster === '') return idle(machine, nowMs);
      return { ...machine, state: MachineState.Configured, target: null };
    case MachineState.Deleting:
      return { ...machine, state: MachineState.Speculative, host: null, stamp: null, target: null };
    case MachineState.Speculative:
    case MachineState.Idle:
    case MachineState.Configured:
    case MachineState.Failed:
      return machine;
  }
}

/** Unbound and without a stamp. The target is kept, so that the machine goes to the row it was acquired for. */
function idle(machine: LedgerMachine, nowMs: number): LedgerMachine {
  return {
    ...machine,
    state: MachineState.Idle,
    cluster: '',
    stamp: null,
    idleSinceMs: nowMs,
    use: undefined,
  };
}

function newHost(id: string): HostRef {
  return { provider: LOOP_PROVIDER, ref: id };
}

/** A target is dropped when its row was absent for a whole cycle. A fold is present while any member is reported. */
export function dropStaleTargets(
  machines: readonly LedgerMachine[],
  rows: RowsByKey,
): readonly LedgerMachine[] {
  return machines.map((machine) => {
    const stale = machine.target !== null && !rows.has(keyText(machine.target));
    return stale ? { ...machine, target: null } : machine;
  });
}
