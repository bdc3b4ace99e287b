// The ledger's status of a machine after a transition. The provider is authoritative for its own machines, but its
// records carry no target, and carry a stamp only if it echoes our metadata: a missing field never erases ours.
// model/lifecycle.ts defines the transitions; this file computes cluster, stamp, target and clocks after each.
//
//   stamp   ⇒ the machine has a cluster; an unbound machine has no stamp
//   target  is cleared in Speculative, Configured, Deleting and Failed; in every other state it may be set
//   unclaimedSinceMs  is cleared in every state but Configured, and with a new cluster
//   use     is unknown in every state but Configuring and Configured, and with a new cluster

import {
  Command,
  commandTarget,
  isBound,
  type Machine,
  MachineState,
  Meaning,
  meaningOf,
  type NeedKey,
  type Stamp,
  sameKey,
} from '../../model/index.ts';
import type { MachineStatus } from './machine-table.ts';

const { Speculative, Creating, Idle, Configuring, Configured, Draining, Deleting, Failed } = MachineState;

/** A transition that the shard starts. Configure binds the machine to the cluster of its target. */
export type Move =
  | { readonly command: typeof Command.Create; readonly target: NeedKey }
  | { readonly command: typeof Command.Configure; readonly target: NeedKey; readonly stamp: Stamp }
  /** `target` is the row a Preempt is for; null for a Reclaim. */
  | { readonly command: typeof Command.Drain; readonly target: NeedKey | null }
  | { readonly command: typeof Command.Delete }
  | { readonly command: typeof Command.Abandon };

/** The status after a transition that the shard starts; throws BF_MOVE_ILLEGAL from the wrong state. */
export function afterMove(known: MachineStatus, move: Move, atMs: number): MachineStatus {
  const state = commandTarget(move.command, known.state);
  // No transition of the shard leaves a machine bound to the cluster that reported its use.
  const moved = { ...known, state, unclaimedSinceMs: null, use: undefined };
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

/** The status of a machine observed for the first time. A target on its record comes from the shard's own store. */
export function atFirstSight(seen: Machine, atMs: number): MachineStatus {
  const { state } = seen;
  const cluster = clusterAfter(null, seen);
  const stamp = cluster === '' ? null : seen.stamp;
  const target = MAY_BE_COMING.has(state) ? seen.target : null;
  const idleSinceMs = state === Idle ? atMs : null;
  return { state, blocked: false, cluster, stamp, target, idleSinceMs, unclaimedSinceMs: null };
}

const MAY_BE_COMING: ReadonlySet<MachineState> = new Set([Creating, Idle, Configuring, Draining]);

/** The status of a known machine after the provider reported a record of it. */
export function afterSighting(known: MachineStatus, seen: Machine, atMs: number): MachineStatus {
  const cluster = clusterAfter(known, seen);
  return {
    state: seen.state,
    blocked: known.blocked,
    cluster,
    stamp: stampAfter(known, seen.stamp, cluster),
    target: targetAfter(known, seen.state, cluster),
    idleSinceMs: idleSinceAfter(known, seen.state, atMs),
    unclaimedSinceMs: seen.state === Configured && cluster === known.cluster ? known.unclaimedSinceMs : null,
    use: isBound(seen.state) && cluster === known.cluster ? known.use : undefined,
  };
}

// A provider may leave the cluster empty until the machine has joined; until then the ledger's cluster is kept.
function clusterAfter(known: MachineStatus | null, seen: Machine): string {
  if (seen.state === Configured || seen.state === Draining) return seen.cluster;
  if (seen.state !== Configuring) return '';
  return seen.cluster === '' && known?.state === Configuring ? known.cluster : seen.cluster;
}

// The ledger's stamp wins over the provider's echo: when a gang takes over a bound machine, the shard restamps it
// without a call to the provider.
function stampAfter(known: MachineStatus, echoed: Stamp | null, cluster: string): Stamp | null {
  if (cluster === '') return null;
  return cluster === known.cluster ? (known.stamp ?? echoed) : echoed;
}

function targetAfter(known: MachineStatus, seen: MachineState, cluster: string): NeedKey | null {
  switch (seen) {
    case Creating:
      return known.target;
    case Idle:
      // Configured → Idle without a drain means the binding was lost, so a target on record is void.
      return known.state === Configured ? null : known.target;
    case Configuring:
      // Another client of the provider may have bound it to a different cluster.
      return cluster === '' || cluster === known.target?.cluster ? known.target : null;
    case Draining:
      // A drain that the shard did not start has no target row.
      return known.state === Draining ? known.target : null;
    case Speculative:
    case Configured:
    case Deleting:
    case Failed:
      return null;
  }
}

// A rolled-back transition keeps the idle time. Otherwise the release hold of a machine whose cluster never answers would
// restart on every attempt, and the machine would never be released.
function idleSinceAfter(known: MachineStatus, seen: MachineState, atMs: number): number | null {
  if (seen === Configuring || seen === Deleting) return known.idleSinceMs;
  if (seen !== Idle) return null;
  if (known.state === Idle) return known.idleSinceMs;
  return meaningOf(known.state, seen) === Meaning.RolledBack ? (known.idleSinceMs ?? atMs) : atMs;
}

/** Value equality: replacing `a` with `b` would change no column. */
export function sameStatus(a: MachineStatus, b: MachineStatus): boolean {
  return a.unclaimedSinceMs === b.unclaimedSinceMs && a.use === b.use && sameBinding(a, b);
}

/** Whether two statuses are equal apart from what no restart restores: the use, and the time since which it is unclaimed. */
export function sameBinding(a: MachineStatus, b: MachineStatus): boolean {
  return (
    a.state === b.state &&
    a.blocked === b.blocked &&
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
