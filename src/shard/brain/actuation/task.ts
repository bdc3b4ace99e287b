// One accepted action on its way: what was decided, how far it has come, and how the machine stood before.

import type { Standing } from '../../../fleet/index.ts';
import {
  type Action,
  type ActionKind,
  COMMANDS,
  type Machine,
  MachineState,
  type Profile,
  type Stamp,
} from '../../../model/index.ts';
import type { CallOutcome, ProviderRequest } from '../../events.ts';
import type { ActionRecord } from './records.ts';

export type MutationCommand = Exclude<ProviderRequest['command'], 'get'>;

export type Failure = Extract<
  CallOutcome,
  { readonly kind: 'transient' | 'denied' | 'stock-out' | 'permanent' | 'unknown-machine' }
>;

export interface Task {
  readonly id: string;
  readonly action: Action;
  readonly command: MutationCommand;
  readonly provider: string;
  readonly before: Standing;
  /** Of the row it binds a machine for; null for other kinds. */
  readonly binding: { readonly profile: Profile; readonly stamp: Stamp } | null;
  /** What a record of it says about its row and its machine, as they were when it was accepted. */
  readonly about: Pick<ActionRecord, 'need' | 'capacityType' | 'zone' | 'from' | 'leaving'>;
  readonly startedMs: number;
  /** Finds out whether a provider that denied everything still does. */
  readonly isProbe: boolean;
  /** `queued` has not reached the provider yet; after that only the provider knows what became of it. */
  stage: 'asking' | 'queued' | 'called' | 'looking' | 'waiting';
  /** When the provider accepted it; null: it has not. */
  acceptedMs: number | null;
  blob: { readonly bytes: Uint8Array; readonly validUntilMs: number } | null;
  attempts: number;
  /** Why it is to be called again, until it is. */
  retryOf: Failure | null;
  /** Gets in a row that brought nothing. */
  blindLooks: number;
  message: string;
  /** Takes the call back if it has not been made. */
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

/** Whether a command gets a machine for somebody, rather than to give one back. */
export function isAcquiring(command: MutationCommand): boolean {
  return command === 'create' || command === 'configure';
}

/** What a record says about a mutation of which the answer was lost. */
export function whatBecameOf(
  { command, action }: Task,
  { state, cluster }: Machine,
): 'done' | 'not-done' | 'other' {
  if (state === COMMANDS[command].from) return 'not-done';
  if (state !== COMMANDS[command].to && state !== ENDS[command]) return 'other';
  const isElsewhere = command === 'configure' && cluster !== '' && cluster !== action.cluster;
  return isElsewhere ? 'other' : 'done';
}

type Ended = Pick<ActionRecord, 'endedMs' | 'outcome' | 'errorClass'>;

const PENDING: Ended = { endedMs: null, outcome: null, errorClass: null };

export function recordOf(task: Task, ended: Ended = PENDING): ActionRecord {
  const { id, action, about, provider, startedMs, acceptedMs, message, attempts } = task;
  const { kind, machine, cluster, reason } = action;
  return {
    ...{ id, kind, machine, provider, cluster, ...about, reason },
    ...{ startedMs, acceptedMs, ...ended, message, attempts },
  };
}
