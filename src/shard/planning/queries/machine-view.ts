// View of a machine for display: the provider's record, the facts of the shard, who uses it, and the pending action. Used
// by machine-page.ts.

import {
  dollarsOfMicros,
  drainOrderText,
  effectiveAllocatable,
  excerpt,
  formatResources,
  leftOver,
  type MachineUser,
  microsOf,
  type ResourceVector,
  renewalText,
  unclaimedText,
  usersText,
} from '../../../model/index.ts';
import { waitText } from '../../actuation/drain-waits.ts';
import type { MachineView } from '../../views.ts';
import type { ControllerState } from '../controller.ts';
import { actionView, capacityLabel } from './action-view.ts';
import { needId, needRef } from './need-names.ts';
import { firstWithin } from './pages.ts';
import { stateLabel } from './status.ts';

/** Bound on labels of a machine in a list. Most machines have a dozen; 64 of maximum length amount to 24 kB. */
export const LISTED_LABELS = 64;

/** Bytes shown of the reason why a machine is blocked, which may be a provider's message. */
const MAX_WHY_BYTES = 1000;

/** Bounds on the rows that use one machine. */
const MAX_USERS = 1_000;
const MAX_USER_BYTES = 100_000;

/** null: the machine is not on record, or was added after the last commit. `users` are the rows that count on it, if known. */
export function machineView(
  state: ControllerState,
  id: string,
  maxLabels: number,
  users: readonly MachineUser[] = [],
): MachineView | null {
  const { ledger, machineFacts, actuation, profiles } = state;
  const status = ledger.statusOf(id);
  const record = ledger.recordOf(id);
  if (status === null || record === null) return null;
  const { host, lastError } = ledger.particularsOf(id);
  const { quarantine, isForgotten, node, protectedUntilMs } = machineFacts.verdictsOn(id);
  const { fingerprint = '', group = '', priority = 0 } = status.stamp ?? {};
  const { cluster, target } = status;
  const key = target ?? (fingerprint === '' ? null : { cluster, fingerprint, group });
  const action = actuation.actionOf(id);
  const block = actuation.blockOf(id);
  return {
    ...{ id, provider: ledger.ownerOf(id) ?? '', state: stateLabel(status.state), cluster },
    ...{ instanceType: record.instanceType, zone: record.zone },
    capacityType: capacityLabel(record.capacityType),
    ...{ pricePerHour: record.pricePerHour, interruptionProbability: record.interruptionProbability },
    allocatable: formatResources(effectiveAllocatable(record)),
    labels: Object.fromEntries([...record.labels].slice(0, maxLabels)),
    labelsNotShown: Math.max(0, record.labels.size - maxLabels),
    nodeName: node?.name ?? '',
    drain: drainView(state, id),
    protectedUntilMs: actuation.isProtected(id) ? protectedUntilMs : null,
    ...{ hostRef: host?.ref ?? '', lastError: lastError === '' ? (node?.joinError ?? '') : lastError },
    need: key === null ? null : needRef(key, profiles.of(key)?.priority ?? priority ?? 0),
    usage: users.length === 0 ? null : usageView(users, effectiveAllocatable(record)),
    idleSinceMs: status.idleSinceMs,
    unclaimed: status.unclaimedSinceMs === null ? null : unclaimedView(state, id, status.unclaimedSinceMs),
    renewal: renewalView(state, id),
    drainOrder: drainOrderView(state, id),
    held: block === null ? null : { ...block, why: excerpt(block.why, MAX_WHY_BYTES) },
    ...{ quarantine, isForgotten },
    action: action === null ? null : actionView(action),
  };
}

/** `recordedMs`: when it was bought as the journal has it, which outlives the actions in memory and lags behind them. */
export function costSoFarOf(
  { actuation, parts }: ControllerState,
  { id, hostRef, pricePerHour }: MachineView,
  recordedMs: number | null,
): NonNullable<MachineView['costSoFar']> | null {
  let sinceMs = recordedMs ?? Number.NEGATIVE_INFINITY;
  for (const { machine, kind, outcome, endedMs } of actuation.actions())
    if (machine === id && kind === 'Provision' && outcome === 'success' && endedMs !== null)
      sinceMs = Math.max(sinceMs, endedMs);
  const hours = (parts.clock.now() - sinceMs) / 3_600_000;
  if (hostRef === '' || hours < 0 || !Number.isFinite(hours)) return null;
  return { sinceMs, dollars: dollarsOfMicros(Math.round(hours * microsOf(pricePerHour))) };
}

function drainView({ actuation, parts }: ControllerState, id: string): MachineView['drain'] {
  const wait = actuation.drainWaitOf(id);
  if (wait === null) return null;
  const { untilMs, blockedBy } = wait;
  return { untilMs, blockedBy: [...blockedBy], sentence: waitText(id, wait, parts.clock.now()) };
}

function unclaimedView(
  { onHold, parts }: ControllerState,
  id: string,
  sinceMs: number,
): NonNullable<MachineView['unclaimed']> {
  const holdEndsMs = sinceMs + parts.options.economy.reclaimHoldSeconds * 1000;
  const nowMs = parts.clock.now();
  const waitsFor = onHold.waitsFor(id, holdEndsMs);
  const sentence = unclaimedText(nowMs - sinceMs, holdEndsMs - nowMs, waitsFor);
  return { sinceMs, holdEndsMs, waitsFor, sentence };
}

function renewalView({ parts, renewals }: ControllerState, id: string): MachineView['renewal'] {
  const renewal = renewals.of(id);
  if (renewal === undefined) return null;
  const { savesPerHour, sinceMs, untilMs } = renewal;
  const machines = renewal.machines.length;
  const nowMs = parts.clock.now();
  const sentence = renewalText(nowMs - sinceMs, untilMs - nowMs, savesPerHour, machines);
  return { sinceMs, untilMs, machines, savesPerHour, sentence };
}

function drainOrderView(
  { drains, parts }: ControllerState,
  id: string,
): NonNullable<MachineView['drainOrder']> | null {
  const drain = drains.of(id);
  if (drain === undefined) return null;
  const who = excerpt(drain.who, MAX_WHY_BYTES);
  const why = excerpt(drain.why, MAX_WHY_BYTES);
  const sentence = drainOrderText(parts.clock.now() - drain.sinceMs, who, why);
  return { who, why, sinceMs: drain.sinceMs, sentence };
}

function usageView(users: readonly MachineUser[], offer: ResourceVector): NonNullable<MachineView['usage']> {
  const views = users.map(({ key, priority, isShare, amount }) => ({
    need: needRef(key, priority),
    isShare,
    amount: amount === null ? null : formatResources(amount),
  }));
  return {
    users: firstWithin(views, MAX_USERS, MAX_USER_BYTES),
    usersTotal: users.length,
    leftOver: formatResources(leftOver(users, offer)),
    sentence: usersText(users, offer, ({ key }) => excerpt(needId(key))),
  };
}
