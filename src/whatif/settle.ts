// Cycles until a fleet is quiet: accepts a plan, completes its moves at once, and decides again. Where nothing is left to
// do but to wait for the end of a hold, time moves on to it. Used by what-if.ts.

import type { Decision, Engine } from '../engine/index.ts';
import { type Fleet, NeedProfiles } from '../fleet/index.ts';
import {
  type Action,
  type ActionKind,
  type CapacityType,
  type DecisionOptions,
  dollarsOfBucket,
  MachineState,
  type NeedKey,
  type Stamp,
} from '../model/index.ts';
import type { FleetEdit } from './fleet-edit.ts';
import type { MachineFacts } from './selection.ts';
import { budgetAfter, spendingOf } from './spending.ts';

export interface SettledFleet {
  /** Valid until the fleet changes. */
  readonly decision: Decision;
  readonly nowMs: number;
  readonly cycles: number;
  readonly isQuiet: boolean;
  /** Whether `isOver` ended it. */
  readonly isCutShort: boolean;
  /** Actions of all cycles. */
  readonly counts: Readonly<Record<ActionKind, number>>;
}

/**
 * At most `limit` cycles after the first decision, since which the fleet has not changed. Calls `pause` before each plan is
 * accepted and before each phase of a decision. Once `isOver` returns true, no further cycle begins.
 */
export function settle(
  edit: FleetEdit,
  engine: Engine,
  first: Decision,
  {
    nowMs: startMs,
    options: startOptions,
    facts,
    limit,
    isOver,
    pause,
  }: {
    readonly nowMs: number;
    readonly options: DecisionOptions;
    readonly facts: MachineFacts;
    readonly limit: number;
    readonly isOver: () => boolean;
    readonly pause: () => void;
  },
): SettledFleet {
  const { fleet } = edit;
  const profiles = new NeedProfiles(fleet);
  const counts = { Bootstrap: 0, Provision: 0, Preempt: 0, Reclaim: 0, Delete: 0 };
  let nowMs = startMs;
  let options = startOptions;
  let decision = first;
  let spent = options.purchaseBudget === undefined ? null : spendingOf(fleet, facts);
  for (let cycles = 0; ; cycles++) {
    const isAtRest = isQuiet(decision) && !hasMoves(fleet);
    const nextMs = isAtRest ? nextExpiry(fleet, decision, nowMs, options) : nowMs;
    const isCutShort = nextMs !== null && cycles < limit && isOver();
    if (nextMs === null || cycles === limit || isCutShort)
      return { decision, nowMs, cycles, isQuiet: nextMs === null, isCutShort, counts };
    for (const { kind } of decision.eachAction()) counts[kind]++;
    const marked = clustersOf(fleet, options.retiring);
    pause();
    accept(edit, decision, profiles, nowMs);
    options = { ...options, retiring: stillIn(fleet, marked) };
    if (spent !== null) {
      const before = spent;
      spent = spendingOf(fleet, facts);
      options = { ...options, purchaseBudget: budgetAfter(options.purchaseBudget!, before, spent) };
    }
    nowMs = nextMs;
    decision = engine.decide(nowMs, options, { probe: pause });
  }
}

function isQuiet(decision: Decision): boolean {
  return decision.actionCount === 0 && decision.restamps().size === 0 && decision.retargets().size === 0;
}

/** States that a machine leaves without another action. */
const MOVING: ReadonlySet<number> = new Set([
  MachineState.Creating,
  MachineState.Configuring,
  MachineState.Draining,
  MachineState.Deleting,
]);

function hasMoves({ machines }: Fleet): boolean {
  for (let slot = 0; slot < machines.size; slot++) if (MOVING.has(machines.state[slot]!)) return true;
  return false;
}

/** When the next reclaim hold or release hold ends; null: no machine waits for one. */
function nextExpiry(
  { machines, classes }: Fleet,
  decision: Decision,
  nowMs: number,
  { reclaimHoldSeconds, releaseHoldSeconds }: DecisionOptions,
): number | null {
  let next = Number.POSITIVE_INFINITY;
  const consider = (sinceMs: number, seconds: number): void => {
    const endMs = sinceMs + seconds * 1000;
    // A machine whose hold has ended and that has no action is kept for another reason.
    if (endMs > nowMs) next = Math.min(next, endMs);
  };
  for (const sinceMs of decision.onHold().values()) consider(sinceMs, reclaimHoldSeconds);
  for (let slot = 0; slot < machines.size; slot++) {
    if (machines.state[slot] !== MachineState.Idle || Number.isNaN(machines.idleSinceMs[slot]!)) continue;
    const type = classes.capacityType[machines.classOf[slot]!] as CapacityType;
    const seconds = releaseHoldSeconds.get(type) ?? 0;
    if (seconds > 0) consider(machines.idleSinceMs[slot]!, seconds);
  }
  return next === Number.POSITIVE_INFINITY ? null : next;
}

/** The fleet once every action of a plan has been carried out. */
function accept(edit: FleetEdit, decision: Decision, profiles: NeedProfiles, nowMs: number): void {
  const { machines, keys, demand } = edit.fleet;
  const actions = decision.actions();
  const restamps = decision.restamps();
  const retargets = decision.retargets();
  const onHold = decision.onHold();
  const moved = new Set(actions.map(({ machine }) => machine));
  const slotOf = (id: string): number => machines.slotOf(id)!;
  for (let slot = 0; slot < machines.size; slot++) {
    if (machines.state[slot] !== MachineState.Configured) continue;
    const since = onHold.size === 0 ? undefined : onHold.get(machines.idOf(slot));
    const before = machines.unclaimedSinceMs[slot]!;
    if (since === undefined ? !Number.isNaN(before) : since !== before)
      edit.setUnclaimedSince(slot, since ?? null);
  }
  edit.batch(() => {
    for (const [id, key] of restamps) {
      const stamp = machines.statusOf(slotOf(id)).stamp ?? NO_STAMP;
      edit.update(slotOf(id), { stamp: { ...stamp, fingerprint: key.fingerprint, group: key.group } });
    }
    for (const [id, key] of retargets) edit.update(slotOf(id), { target: key });
    for (let slot = 0; slot < machines.size; slot++) {
      if (MOVING.has(machines.state[slot]!) && !moved.has(machines.idOf(slot))) arrive(edit, slot, nowMs);
    }
    for (const action of actions) carryOut(edit, slotOf(action.machine), action, profiles, nowMs);
  });
  edit.batch(() => {
    for (let slot = 0; slot < machines.size; slot++) {
      const target = machines.target[slot]!;
      if (target === 0 || demand.hasKey(target) || profiles.isFold(keys.keyOf(target))) continue;
      edit.update(slot, { target: null });
    }
  });
}

const NO_STAMP: Stamp = {
  priority: null,
  interruptionPenaltyDollars: 0,
  reclamationPenaltyDollars: 0,
  fingerprint: '',
  group: '',
};

function carryOut(
  edit: FleetEdit,
  slot: number,
  { kind, cluster, need }: Action,
  profiles: NeedProfiles,
  nowMs: number,
): void {
  switch (kind) {
    case 'Bootstrap':
      edit.update(slot, {
        ...{ state: MachineState.Configured, cluster, target: null, idleSinceMs: null },
        ...{ stamp: stampFor(profiles, need!), unclaimedSinceMs: null, use: undefined },
      });
      break;
    case 'Provision':
      edit.update(slot, { ...idle(nowMs), target: need });
      break;
    case 'Preempt':
    case 'Reclaim':
      edit.update(slot, { ...idle(nowMs), target: need });
      break;
    case 'Delete':
      edit.update(slot, { ...idle(nowMs), state: MachineState.Speculative, target: null, idleSinceMs: null });
  }
}

/** Ends a move that was under way. */
function arrive(edit: FleetEdit, slot: number, nowMs: number): void {
  const { state, cluster, stamp } = edit.fleet.machines.statusOf(slot);
  if (state === MachineState.Deleting)
    edit.update(slot, { ...idle(nowMs), state: MachineState.Speculative, target: null, idleSinceMs: null });
  // The cluster it was to join may be unknown, so that the move is rolled back.
  else if (state === MachineState.Configuring && cluster !== '')
    edit.update(slot, { state: MachineState.Configured, stamp, target: null });
  else edit.update(slot, idle(nowMs));
}

/** Unbound. The target is kept, so that the machine goes to the row it was acquired for. */
function idle(nowMs: number) {
  return {
    ...{ state: MachineState.Idle, cluster: '', stamp: null, idleSinceMs: nowMs },
    ...{ unclaimedSinceMs: null, use: undefined },
  };
}

/** By id: the cluster of each of these machines that is Configured. */
function clustersOf({ machines }: Fleet, ids: ReadonlySet<string>): ReadonlyMap<string, number> {
  const clusters = new Map<string, number>();
  for (const id of ids) {
    const slot = machines.slotOf(id);
    if (slot !== undefined && machines.state[slot] === MachineState.Configured)
      clusters.set(id, machines.cluster[slot]!);
  }
  return clusters;
}

/** The mark of a machine that is to be replaced ends when the machine leaves its cluster. */
function stillIn(fleet: Fleet, marked: ReadonlyMap<string, number>): ReadonlySet<string> {
  const now = clustersOf(fleet, new Set(marked.keys()));
  return new Set([...now].filter(([id, cluster]) => marked.get(id) === cluster).map(([id]) => id));
}

/** The stamp of a machine that is bound for a row or fold. */
function stampFor(profiles: NeedProfiles, key: NeedKey): Stamp {
  const profile = profiles.of(key)!;
  return {
    priority: profile.priority,
    interruptionPenaltyDollars: dollarsOfBucket(profile.interruptionBucket),
    reclamationPenaltyDollars: dollarsOfBucket(profile.reclamationBucket),
    fingerprint: key.fingerprint,
    group: key.group,
  };
}
