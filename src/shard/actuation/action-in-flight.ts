// One accepted action in flight: the decision, its progress, and the state of the machine before the move. Made by
// actuation.ts; action-executor.ts advances it until the provider accepts, then pending-actions.ts keeps it.

import type { MachineStatus } from '../../fleet/index.ts';
import {
  type Action,
  type ActionKind,
  COMMANDS,
  type Machine,
  MachineState,
  type Profile,
  type Stamp,
} from '../../model/index.ts';
import type { CallOutcome, DrainKind, ProviderRequest } from '../events.ts';
import type { ActionRecord } from './action-records.ts';

export type MutationCommand = Exclude<ProviderRequest['command'], 'get'>;

export type Failure = Extract<
  CallOutcome,
  { readonly kind: 'transient' | 'denied' | 'stock-out' | 'permanent' | 'unknown-machine' }
>;

export interface ActionInFlight {
  readonly id: string;
  readonly action: Action;
  readonly command: MutationCommand;
  readonly provider: string;
  readonly before: MachineStatus;
  /** Of a Preempt or a Reclaim; null for other kinds. */
  readonly drainKind: DrainKind | null;
  /** Profile and stamp of the row that a Bootstrap binds the machine for; null for other kinds. */
  readonly binding: { readonly profile: Profile; readonly stamp: Stamp } | null;
  /** Snapshot of the row and the machine at acceptance, for the action's record. */
  readonly about: Pick<ActionRecord, 'need' | 'capacityType' | 'zone' | 'from' | 'leaving'>;
  readonly startedMs: number;
  /** Probes whether a provider that denied mutations still does. */
  readonly isProbe: boolean;
  /** A drain that is `evicting` waits for its cluster. A call that is `queued` has not reached the provider; from `called` on, only the provider knows its effect. */
  stage: 'asking' | 'evicting' | 'queued' | 'called' | 'looking' | 'waiting';
  /** null: the provider has not accepted it. */
  acceptedMs: number | null;
  /** Grace that the provider is given; 0 once the cluster has drained the node, or its grace is over. */
  graceSeconds: number;
  /** Whether the operator has been instructed to drain the node. */
  isInstructed: boolean;
  blob: { readonly bytes: Uint8Array; readonly validUntilMs: number } | null;
  attempts: number;
  /** The failure that a scheduled retry is for; null once the call is made again. */
  retryOf: Failure | null;
  /** Gets that failed. */
  blindLooks: number;
  message: string;
  /** Cancels the queued step; returns false if it was too late. */
  cancel: () => boolean;
}

export const COMMAND_OF: Readonly<Record<ActionKind, MutationCommand>> = {
  Bootstrap: 'configure',
  Provision: 'create',
  Preempt: 'drain',
  Reclaim: 'drain',
  Delete: 'delete',
};

/** The stable state a mutation ends in. */
const ENDS: Readonly<Record<MutationCommand, MachineState>> = {
  create: MachineState.Idle,
  configure: MachineState.Configured,
  drain: MachineState.Idle,
  delete: MachineState.Speculative,
};

/** Whether a command acquires a machine for a row (as opposed to drain and delete). */
export function isAcquiring(command: MutationCommand): boolean {
  return command === 'create' || command === 'configure';
}

/** Infers from a record of the machine whether a mutation whose call failed was carried out. */
export function whatBecameOf(
  { command, action }: ActionInFlight,
  { state, cluster }: Machine,
): 'done' | 'not-done' | 'other' {
  if (state === COMMANDS[command].from) return 'not-done';
  if (state !== COMMANDS[command].to && state !== ENDS[command]) return 'other';
  const isElsewhere = command === 'configure' && cluster !== '' && cluster !== action.cluster;
  return isElsewhere ? 'other' : 'done';
}

type Ended = Pick<ActionRecord, 'endedMs' | 'outcome' | 'errorClass'>;

const PENDING: Ended = { endedMs: null, outcome: null, errorClass: null };

export function recordOf(inFlight: ActionInFlight, ended: Ended = PENDING): ActionRecord {
  const { id, action, about, provider, startedMs, acceptedMs, message, attempts } = inFlight;
  const { kind, machine, cluster, reason } = action;
  return {
    ...{ id, kind, machine, provider, cluster, ...about, reason },
    ...{ startedMs, acceptedMs, ...ended, message, attempts },
  };
}
