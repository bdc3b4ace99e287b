// The four transitions as one table: start state, transient state, final state and timeout of each. The states are the
// model's; no other file of the kit repeats them. The fake cloud uses the kinds.

import { COMMANDS, MachineState } from '../../model/index.ts';

/** In the order of their columns in a stored record; append only. */
export const TRANSITION_KINDS = ['create', 'configure', 'drain', 'delete'] as const;
/** One of the four transitions that a shard can ask for. */
export type TransitionKind = (typeof TRANSITION_KINDS)[number];

export interface Transition {
  /** The one state it may start from. */
  readonly from: MachineState;
  /** The state while it runs. */
  readonly via: MachineState;
  /** The state when it has succeeded. */
  readonly to: MachineState;
}

export const TRANSITIONS: Readonly<Record<TransitionKind, Transition>> = {
  create: { from: COMMANDS.create.from, via: COMMANDS.create.to, to: MachineState.Idle },
  configure: { from: COMMANDS.configure.from, via: COMMANDS.configure.to, to: MachineState.Configured },
  drain: { from: COMMANDS.drain.from, via: COMMANDS.drain.to, to: MachineState.Idle },
  delete: { from: COMMANDS.delete.from, via: COMMANDS.delete.to, to: MachineState.Speculative },
};

/**
 * Timeout of each transition in ms, after which the machine is Failed. Too short fails hosts that would have come up; too
 * long keeps a shard waiting for one that never will. A drain gets its grace period in addition.
 */
export type TransitionTimeouts = Readonly<Record<TransitionKind, number>>;

const MINUTE_MS = 60_000;
export const DEFAULT_TIMEOUTS_MS: TransitionTimeouts = {
  create: 5 * MINUTE_MS,
  configure: 5 * MINUTE_MS,
  drain: 10 * MINUTE_MS,
  delete: 5 * MINUTE_MS,
};

const BY_VIA = new Map(TRANSITION_KINDS.map((kind) => [TRANSITIONS[kind].via, kind]));

/** The in-flight transition of a machine in this state; undefined for stable states. */
export function transitionThrough(state: MachineState): TransitionKind | undefined {
  return BY_VIA.get(state);
}
