// The machine life cycle, as two tables. Commands are moves we start; a command from the wrong state is our
// bug and is refused. Observations are what a provider reports; the provider is right about its own machines,
// so every observation is taken, and the table says what it means. (An observation counts only if the List or
// Get that made it began after our last acknowledged mutation of that machine; the shard sees to that.)
//
//   Speculative ─create→ Creating → Idle ─configure→ Configuring → Configured ─drain→ Draining → Idle
//   Idle ─delete→ Deleting → Speculative          Configuring ─abandon→ Idle          any transition → Failed

import type { ActionKind } from './action.ts';
import { BigFleetError } from './errors.ts';
import { MachineState, stateName } from './machine.ts';

export const Command = {
  Create: 'create',
  Configure: 'configure',
  Drain: 'drain',
  Delete: 'delete',
  /** Give up a binding before the provider was touched: no session, or the cluster sent no bootstrap blob. */
  Abandon: 'abandon',
} as const;
export type Command = (typeof Command)[keyof typeof Command];

export interface CommandMove {
  readonly from: MachineState;
  readonly to: MachineState;
  /** Actions of a plan that start this move; none for moves the shard makes on its own. */
  readonly startedBy: readonly ActionKind[];
}

/** The one table of moves we may start. Crossing clusters always passes Idle. */
export const COMMANDS: Readonly<Record<Command, CommandMove>> = {
  create: { from: MachineState.Speculative, to: MachineState.Creating, startedBy: ['Provision'] },
  configure: { from: MachineState.Idle, to: MachineState.Configuring, startedBy: ['Bootstrap', 'Provision'] },
  drain: { from: MachineState.Configured, to: MachineState.Draining, startedBy: ['Preempt', 'Reclaim'] },
  delete: { from: MachineState.Idle, to: MachineState.Deleting, startedBy: ['Delete'] },
  abandon: { from: MachineState.Configuring, to: MachineState.Idle, startedBy: [] },
};

/** The state a command leads to; throws BF_MOVE_ILLEGAL from any other state than its one legal start. */
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
  /** Nothing moved; price, labels and the like may have. */
  Unchanged: 'unchanged',
  /** A transition is under way or has ended as it should. */
  Progress: 'progress',
  /** A transition was undone: the machine is back where it started. */
  RolledBack: 'rolled-back',
  /** A transition failed. */
  Failed: 'failed',
  /** Capacity that served or could have served is gone. */
  Lost: 'lost',
  /** A Failed machine is usable again, or was cleaned up. */
  Recovered: 'recovered',
  /** Somebody else moved it, or our own move was acknowledged to nobody: take the provider's word, and say so. */
  Foreign: 'foreign',
} as const;
export type Meaning = (typeof Meaning)[keyof typeof Meaning];

const { Speculative, Creating, Idle, Configuring, Configured, Draining, Deleting, Failed } = MachineState;

/** What each sighting means by the state we had on record. Pairs that are not listed are Foreign. */
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

/** What it means that a machine we have as `known` is seen as `seen`. Total: a provider cannot report an illegal move. */
export function meaningOf(known: MachineState, seen: Sighting): Meaning {
  if (known === seen) return Meaning.Unchanged;
  return OBSERVATIONS.get(known)?.get(seen) ?? Meaning.Foreign;
}
