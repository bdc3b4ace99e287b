// Turns: the rows of a cycle in the order they are served. Small gangs that any one machine can host are folded into
// one row; a fold stands at the rank of its earliest member. See docs/engine.md, "Fold" and "Rank".

import type { Fleet } from '../fleet/index.ts';
import { comparePrecedence, compareText, MachineState, type NeedKey } from '../model/index.ts';

export type TurnKind = 'plain' | 'gang' | 'fold';

export interface Turn {
  readonly kind: TurnKind;
  readonly cluster: number;
  /** Row of demand that says what it wants; of a fold, the row of one member (all are alike). */
  readonly row: number;
  readonly key: number;
  readonly profile: number;
  readonly pattern: number;
  readonly firstSeenMs: number;
  /** Rows of a fold, earliest first; empty otherwise. */
  readonly members: readonly number[];
}

/** All turns in rank order. Members that their fold cannot host get turns of their own later. */
export function turnsOf(fleet: Fleet): Turn[] {
  const turns: Turn[] = [];
  const folds = new Map<number, number[]>();
  const foldable = new Foldable(fleet);
  for (let cluster = 1; cluster < fleet.clusters.size; cluster++) {
    const { offset, length } = fleet.demand.rowsOf(cluster);
    for (let row = offset; row < offset + length; row++) {
      if (fleet.demand.same[row] === 0) turns.push(turnOf(fleet, row, 'plain'));
      else if (!foldable.test(row)) turns.push(turnOf(fleet, row, 'gang'));
      else {
        const key = fleet.demand.foldKey[row]!;
        const members = folds.get(key);
        if (members === undefined) folds.set(key, [row]);
        else members.push(row);
      }
    }
  }
  for (const members of folds.values()) turns.push(foldOf(fleet, members));
  return turns.sort((a, b) => compareTurns(fleet, a, b));
}

/** A row of demand served as itself. */
export function turnOf(fleet: Fleet, row: number, kind: 'plain' | 'gang'): Turn {
  const { demand } = fleet;
  return {
    kind,
    cluster: demand.cluster[row]!,
    row,
    key: demand.key[row]!,
    profile: demand.profile[row]!,
    pattern: demand.pattern[row]!,
    firstSeenMs: demand.firstSeenMs[row]!,
    members: [],
  };
}

// Rows of a cluster stand in rank order, so members arrive by precedence (all equal), first-seen and fingerprint;
// among equals in time the group decides before the fingerprint does.
function foldOf(fleet: Fleet, rows: readonly number[]): Turn {
  const { demand } = fleet;
  const members = [...rows].sort((a, b) => {
    const x = demand.keyOf(a);
    const y = demand.keyOf(b);
    return (
      demand.firstSeenMs[a]! - demand.firstSeenMs[b]! ||
      compareText(x.group, y.group) ||
      compareText(x.fingerprint, y.fingerprint)
    );
  });
  const first = members[0]!;
  return {
    kind: 'fold',
    cluster: demand.cluster[first]!,
    row: first,
    key: demand.foldKey[first]!,
    profile: demand.foldProfile[first]!,
    pattern: demand.foldPattern[first]!,
    firstSeenMs: demand.firstSeenMs[first]!,
    members,
  };
}

export function compareTurns(fleet: Fleet, a: Turn, b: Turn): number {
  const { profiles } = fleet.demand;
  return (
    comparePrecedence(profiles.entryOf(b.profile).profile, profiles.entryOf(a.profile).profile) ||
    a.firstSeenMs - b.firstSeenMs ||
    compareKeyTexts(fleet.keys.keyOf(a.key), fleet.keys.keyOf(b.key))
  );
}

function compareKeyTexts(a: NeedKey, b: NeedKey): number {
  return (
    compareText(a.cluster, b.cluster) ||
    compareText(a.fingerprint, b.fingerprint) ||
    compareText(a.group, b.group)
  );
}

const ANYWHERE = [MachineState.Idle, MachineState.Speculative, MachineState.Creating, MachineState.Draining];

/** Whether a `Same` row may fold: it owns no machine, and some machine it could get holds all of it. */
class Foldable {
  readonly #fleet: Fleet;
  /** By pattern: a machine outside all clusters would do. */
  readonly #anywhere = new Map<number, boolean>();
  /** By cluster and pattern: a machine bound to the cluster would do. */
  readonly #bound = new Map<number, boolean>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  test(row: number): boolean {
    const { demand, machines } = this.#fleet;
    if (machines.ownedBy(demand.key[row]!) > 0) return false;
    const pattern = demand.wholePattern[row]!;
    return this.#foundAnywhere(pattern) || this.#foundBound(demand.cluster[row]!, pattern);
  }

  #foundAnywhere(number: number): boolean {
    let found = this.#anywhere.get(number);
    if (found === undefined) {
      const { classes, machines, patterns } = this.#fleet;
      const pattern = patterns.patternOf(number);
      found = false;
      for (let c = 0; c < classes.size && !found; c++) {
        found = ANYWHERE.some((state) => (machines.freeCounts[c * 9 + state] ?? 0) > 0) && pattern.fits(c);
      }
      this.#anywhere.set(number, found);
    }
    return found;
  }

  #foundBound(cluster: number, number: number): boolean {
    const memo = cluster * this.#fleet.patterns.size + number;
    let found = this.#bound.get(memo);
    if (found === undefined) {
      found = this.#scanBound(cluster, number);
      this.#bound.set(memo, found);
    }
    return found;
  }

  #scanBound(cluster: number, number: number): boolean {
    const { machines, patterns } = this.#fleet;
    const bound = machines.boundOf(cluster);
    if (bound === undefined) return false;
    const pattern = patterns.patternOf(number);
    for (const run of [bound.configured, bound.configuring]) {
      for (let i = run.offset; i < run.offset + run.length; i++) {
        const slot = machines.arena.data[i]!;
        if (machines.held[slot] === 0 && pattern.fits(machines.classOf[slot]!)) return true;
      }
    }
    return false;
  }
}
