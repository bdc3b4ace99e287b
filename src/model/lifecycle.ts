// The machine life cycle, as two tables. Commands are transitions that the shard starts; a command from the wrong state
// is a bug and is refused. Observations are states that a provider reports; the provider is authoritative for its own
// machines, so every observation is accepted, and the table classifies it. (The shard drops observations of a List or
// Get that began before its last acknowledged mutation of that machine.)
//
//   Speculative ─create→ Creating → Idle ─configure→ Configuring → Configured ─drain→ Draining → Idle
//   Idle ─delete→ Deleting → Speculative          Configuring ─abandon→ Idle          any transition → Failed

import type { ActionKind } from './action.ts';
import { BigFleetError } from './errors.ts';
import { MachineState, stateName } from './machine.ts';

/** What a shard may command a provider to do with a machine. */
export const Command = {
  Create: 'create',
  Configure: 'configure',
  Drain: 'drain',
  Delete: 'delete',
  /** Gives up a binding before any call to the provider: no session, or the cluster sent no bootstrap blob. */
  Abandon: 'abandon',
} as const;
export type Command = (typeof Command)[keyof typeof Command];

/** The states between which a command moves a machine. */
export interface CommandMove {
  readonly from: MachineState;
  readonly to: MachineState;
  /** Actions of a plan that start this transition; empty if only the shard itself starts it. */
  readonly startedBy: readonly ActionKind[];
}

/** All transitions that the shard may start. A machine changes its cluster only by way of Idle. */
export const COMMANDS: Readonly<Record<Command, CommandMove>> = {
  create: { from: MachineState.Speculative, to: MachineState.Creating, startedBy: ['Provision'] },
  configure: { from: MachineState.Idle, to: MachineState.Configuring, startedBy: ['Bootstrap', 'Provision'] },
  drain: { from: MachineState.Configured, to: MachineState.Draining, startedBy: ['Preempt', 'Reclaim'] },
  delete: { from: MachineState.Idle, to: MachineState.Deleting, startedBy: ['Delete'] },
  abandon: { from: MachineState.Configuring, to: MachineState.Idle, startedBy: [] },
};

/** The state a command leads to; throws BF_MOVE_ILLEGAL unless `from` is the command's start state. */
export function commandTarget(command: Command, from: MachineState): MachineState {
  const move = COMMANDS[command];
  if (move.from !== from) {
    throw new BigFleetError(
      'BF_MOVE_ILLEGAL',
      `Cannot ${command} a ${stateName(from)} machine; it must be ${stateName(move.from)}.`,
    );
  }
  return move.to;
}

/** A machine that the provider no longer lists. */
export const GONE = 'gone';
export type Sighting = MachineState | typeof GONE;

export const Meaning = {
  /** The same state; price, labels and other facts may have changed. */
  Unchanged: 'unchanged',
  /** A transition is in flight or has succeeded. */
  Progress: 'progress',
  /** A transition was undone: the machine is back in its start state. */
  RolledBack: 'rolled-back',
  /** A transition failed. */
  Failed: 'failed',
  /** Capacity that served or could have served is gone. */
  Lost: 'lost',
  /** A Failed machine is usable again, or was cleaned up. */
  Recovered: 'recovered',
  /** Moved by another client of the provider, or by a call whose acknowledgement was lost: accepted and reported. */
  Foreign: 'foreign',
} as const;
export type Meaning = (typeof Meaning)[keyof typeof Meaning];

const { Speculative, Creating, Idle, Configuring, Configured, Draining, Deleting, Failed } = MachineState;

/** The meaning of each observed state by the state on record. Pairs that are not listed are Foreign. */
const OBSERVATIONS: ReadonlyMap<MachineState, ReadonlyMap<Sighting, Meaning>> = new Map([
  [
    Speculative,
    new Map<Sighting, Meaning>([
      [Failed, Meaning.Lost],
      [GONE, Meaning.Lost],
    ]),
  ],
  [
    Creating,
    new Map<Sighting, Meaning>([
      [Idle, Meaning.Progress],
      [Speculative, Meaning.RolledBack],
      [Failed, Meaning.Failed],
      [GONE, Meaning.Lost],
    ]),
  ],
  [
    Idle,
    new Map<Sighting, Meaning>([
      [Speculative, Meaning.Lost],
      [Failed, Meaning.Lost],
      [GONE, Meaning.Lost],
    ]),
  ],
  [
    Configuring,
    new Map<Sighting, Meaning>([
      [Configured, Meaning.Progress],
      [Idle, Meaning.RolledBack],
      [Speculative, Meaning.Lost],
      [Failed, Meaning.Failed],
      [GONE, Meaning.Lost],
    ]),
  ],
  [
    Configured,
    new Map<Sighting, Meaning>([
      [Idle, Meaning.Lost],
      [Speculative, Meaning.Lost],
      [Deleting, Meaning.Lost],
      [Failed, Meaning.Lost],
      [GONE, Meaning.Lost],
    ]),
  ],
  [
    Draining,
    new Map<Sighting, Meaning>([
      [Idle, Meaning.Progress],
      [Configured, Meaning.RolledBack],
      [Speculative, Meaning.Lost],
      [Failed, Meaning.Failed],
      [GONE, Meaning.Lost],
    ]),
  ],
  [
    Deleting,
    new Map<Sighting, Meaning>([
      [Speculative, Meaning.Progress],
      [GONE, Meaning.Progress],
      [Idle, Meaning.RolledBack],
      [Failed, Meaning.Failed],
    ]),
  ],
  [
    Failed,
    new Map<Sighting, Meaning>([
      [Speculative, Meaning.Recovered],
      [Idle, Meaning.Recovered],
      [Configured, Meaning.Recovered],
      [GONE, Meaning.Recovered],
    ]),
  ],
]);

/** Classifies an observation `seen` of a machine on record as `known`. Total: every observation has a meaning. */
export function meaningOf(known: MachineState, seen: Sighting): Meaning {
  if (known === seen) return Meaning.Unchanged;
  return OBSERVATIONS.get(known)?.get(seen) ?? Meaning.Foreign;
}
