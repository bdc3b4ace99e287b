// What a move leaves of what we know about a machine. The provider is right about its own machines, but its records
// carry no target, and a stamp only where it echoes our metadata: a record never erases those by being silent.
// Which moves exist and what they mean stands in the model; here stands what becomes of cluster, stamp, target and hold.
//
//   stamp   ⇒ the machine has a cluster: what is bound to nobody was bound for nothing
//   target  ends in Speculative, Configured, Deleting and Failed; every other state may be on its way to a row

import {
  Command,
  commandTarget,
  type Machine,
  MachineState,
  Meaning,
  meaningOf,
  type NeedKey,
  type Stamp,
  sameKey,
} from '../model/index.ts';
import type { Standing } from './machines.ts';

const { Speculative, Creating, Idle, Configuring, Configured, Draining, Deleting, Failed } = MachineState;

/** A move that we start. The cluster a machine is configured for is its target's. */
export type Move =
  | { readonly command: typeof Command.Create; readonly target: NeedKey }
  | { readonly command: typeof Command.Configure; readonly target: NeedKey; readonly stamp: Stamp }
  /** `target` is the row a Preempt is for; null for a Reclaim. */
  | { readonly command: typeof Command.Drain; readonly target: NeedKey | null }
  | { readonly command: typeof Command.Delete }
  | { readonly command: typeof Command.Abandon };

/** The standing after a move that we start; throws BF_MOVE_ILLEGAL from the wrong state. */
export function afterMove(known: Standing, move: Move, atMs: number): Standing {
  const moved = { ...known, state: commandTarget(move.command, known.state) };
  switch (move.command) {
    case Command.Create:
    case Command.Drain:
      return { ...moved, target: move.target };
    case Command.Configure:
      return { ...moved, cluster: move.target.cluster, target: move.target, stamp: move.stamp };
    case Command.Delete:
      return { ...moved, target: null };
    case Command.Abandon:
      return { ...moved, cluster: '', stamp: null, idleSinceMs: known.idleSinceMs ?? atMs };
  }
}

/** The standing of a machine seen for the first time. A target on its record comes from our own file. */
export function atFirstSight(seen: Machine, atMs: number): Standing {
  const { state } = seen;
  const cluster = clusterAfter(null, seen);
  const stamp = cluster === '' ? null : seen.stamp;
  const target = MAY_BE_COMING.has(state) ? seen.target : null;
  return { state, held: false, cluster, stamp, target, idleSinceMs: state === Idle ? atMs : null };
}

const MAY_BE_COMING: ReadonlySet<MachineState> = new Set([Creating, Idle, Configuring, Draining]);

/** The standing of a machine on record after a provider's record of it. */
export function afterSighting(known: Standing, seen: Machine, atMs: number): Standing {
  const cluster = clusterAfter(known, seen);
  return {
    state: seen.state,
    held: known.held,
    cluster,
    stamp: stampAfter(known, seen.stamp, cluster),
    target: targetAfter(known, seen.state, cluster),
    idleSinceMs: idleSinceAfter(known, seen.state, atMs),
  };
}

// A provider may not echo the cluster before the machine has joined; until then ours is the better knowledge.
function clusterAfter(known: Standing | null, seen: Machine): string {
  if (seen.state === Configured || seen.state === Draining) return seen.cluster;
  if (seen.state !== Configuring) return '';
  return seen.cluster === '' && known?.state === Configuring ? known.cluster : seen.cluster;
}

// Ours goes before the echo: a machine that a gang took over was stamped again without telling the provider.
function stampAfter(known: Standing, echoed: Stamp | null, cluster: string): Stamp | null {
  if (cluster === '') return null;
  return cluster === known.cluster ? (known.stamp ?? echoed) : echoed;
}

function targetAfter(known: Standing, seen: MachineState, cluster: string): NeedKey | null {
  switch (seen) {
    case Creating:
      return known.target;
    case Idle:
      // A bound machine that is suddenly free was lost, and with it whatever it was meant for.
      return known.state === Configured ? null : known.target;
    case Configuring:
      // Somebody may have bound it elsewhere under our hands.
      return cluster === '' || cluster === known.target?.cluster ? known.target : null;
    case Draining:
      // A drain that we did not start is for nobody's sake.
      return known.state === Draining ? known.target : null;
    case Speculative:
    case Configured:
    case Deleting:
    case Failed:
      return null;
  }
}

// A move that was undone leaves the hold as it was; else a machine whose cluster never answers is never given back.
function idleSinceAfter(known: Standing, seen: MachineState, atMs: number): number | null {
  if (seen === Configuring || seen === Deleting) return known.idleSinceMs;
  if (seen !== Idle) return null;
  if (known.state === Idle) return known.idleSinceMs;
  return meaningOf(known.state, seen) === Meaning.RolledBack ? (known.idleSinceMs ?? atMs) : atMs;
}

/** Whether writing one over the other would change nothing. */
export function sameStanding(a: Standing, b: Standing): boolean {
  return (
    a.state === b.state &&
    a.held === b.held &&
    a.cluster === b.cluster &&
    a.idleSinceMs === b.idleSinceMs &&
    sameTarget(a.target, b.target) &&
    sameStamp(a.stamp, b.stamp)
  );
}

function sameTarget(a: NeedKey | null, b: NeedKey | null): boolean {
  return a === b || (a !== null && b !== null && sameKey(a, b));
}

function sameStamp(a: Stamp | null, b: Stamp | null): boolean {
  if (a === null || b === null) return a === b;
  return (
    a.priority === b.priority &&
    a.interruptionPenaltyDollars === b.interruptionPenaltyDollars &&
    a.reclamationPenaltyDollars === b.reclamationPenaltyDollars &&
    a.fingerprint === b.fingerprint &&
    a.group === b.group
  );
}
