// Turns: the rows of a cycle, in columns, cluster by cluster and within a cluster in rank order. Small gangs that any
// one machine can host are folded into one row, which stands at the rank of its earliest member.

import type { Fleet } from '../fleet/index.ts';
import { compareText, MachineState } from '../model/index.ts';

export const TurnKind = { Plain: 0, Spread: 1, Gang: 2, Fold: 3 } as const;

/** No row, no turn. */
export const NONE = -1;

export class Turns {
  /** Turns in use; those of members that their fold could not host are appended behind all others. */
  count = 0;
  kind = new Uint8Array(0);
  cluster = new Uint32Array(0);
  /** Row of demand that says what it wants; of a fold, the row of one member (all are alike). */
  row = new Uint32Array(0);
  key = new Uint32Array(0);
  profile = new Uint32Array(0);
  pattern = new Uint32Array(0);
  firstSeenMs = new Float64Array(0);
  /** Precedence as one number: higher is served first. */
  precedence = new Float64Array(0);
  /** Place among the turns of its cluster; an unhosted member stands between its fold and the next turn. */
  place = new Float64Array(0);
  /** Members of a fold: how many and the first row; `nextMember` links the rows. */
  members = new Int32Array(0);
  firstMember = new Int32Array(0);
  nextMember = new Int32Array(0);
  /** Turns of a cluster: from `start` up to `end`. */
  start = new Uint32Array(0);
  end = new Uint32Array(0);
  /** Turn by key; NONE for keys that no turn has. */
  ofKey = new Int32Array(0);

  /** Makes room for a fleet's turns and forgets those of the cycle before. */
  reset(fleet: Fleet): void {
    this.count = 0;
    // A fold replaces at least one row, and each unhosted member was one: rows plus folds are never more than twice.
    const most = fleet.demand.count * 2;
    if (this.kind.length < most) {
      const room = roomFor(most);
      this.kind = new Uint8Array(room);
      this.cluster = new Uint32Array(room);
      this.row = new Uint32Array(room);
      this.key = new Uint32Array(room);
      this.profile = new Uint32Array(room);
      this.pattern = new Uint32Array(room);
      this.firstSeenMs = new Float64Array(room);
      this.precedence = new Float64Array(room);
      this.place = new Float64Array(room);
      this.members = new Int32Array(room);
      this.firstMember = new Int32Array(room);
    }
    if (this.nextMember.length < fleet.demand.size) this.nextMember = new Int32Array(roomFor(fleet.demand.size));
    if (this.start.length < fleet.clusters.size) {
      this.start = new Uint32Array(roomFor(fleet.clusters.size));
      this.end = new Uint32Array(roomFor(fleet.clusters.size));
    }
    if (this.ofKey.length < fleet.keys.size) this.ofKey = new Int32Array(roomFor(fleet.keys.size));
    this.ofKey.fill(NONE);
  }

  /** A turn for a row of demand served as itself. */
  addRow(fleet: Fleet, row: number, kind: number): number {
    const { demand } = fleet;
    const turn = this.count++;
    this.kind[turn] = kind;
    this.row[turn] = row;
    this.cluster[turn] = demand.cluster[row]!;
    this.key[turn] = demand.key[row]!;
    this.profile[turn] = demand.profile[row]!;
    this.pattern[turn] = demand.pattern[row]!;
    this.firstSeenMs[turn] = demand.firstSeenMs[row]!;
    this.precedence[turn] = demand.precedence[row]!;
    this.members[turn] = 0;
    return turn;
  }

  /** A turn for a fold, with its first member. */
  addFold(fleet: Fleet, row: number): number {
    const { demand } = fleet;
    const turn = this.addRow(fleet, row, TurnKind.Fold);
    this.key[turn] = demand.foldKey[row]!;
    this.profile[turn] = demand.foldProfile[row]!;
    this.pattern[turn] = demand.foldPattern[row]!;
    this.members[turn] = 1;
    this.firstMember[turn] = row;
    this.nextMember[row] = NONE;
    return turn;
  }

  /** Negative if `a` is served before `b`. */
  compare(fleet: Fleet, a: number, b: number): number {
    const order = this.precedence[b]! - this.precedence[a]! || this.firstSeenMs[a]! - this.firstSeenMs[b]!;
    if (order !== 0) return order;
    if (this.cluster[a] === this.cluster[b]) return this.place[a]! - this.place[b]!;
    return fleet.clusters.placeOf(this.cluster[a]!) - fleet.clusters.placeOf(this.cluster[b]!);
  }

  /** All turns as they were served. */
  inOrder(fleet: Fleet): number[] {
    return [...this.kind.subarray(0, this.count).keys()].sort((a, b) => this.compare(fleet, a, b));
  }

  /** Rows of a fold, earliest first. */
  membersOf(fleet: Fleet, fold: number): number[] {
    const { demand } = fleet;
    const rows: number[] = [];
    for (let row = this.firstMember[fold]!; row !== NONE; row = this.nextMember[row]!) rows.push(row);
    return rows.sort((a, b) => {
      const x = demand.keyOf(a);
      const y = demand.keyOf(b);
      return (
        demand.firstSeenMs[a]! - demand.firstSeenMs[b]! ||
        compareText(x.group, y.group) ||
        compareText(x.fingerprint, y.fingerprint)
      );
    });
  }
}

/** Room for so many entries and half as many again, so that a growing fleet rarely moves. */
export function roomFor(entries: number): number {
  return Math.ceil(entries * 1.5);
}

/** Fills in all turns of a fleet. */
export function makeTurns(fleet: Fleet, turns: Turns): void {
  turns.reset(fleet);
  const foldable = new Foldable(fleet);
  for (let cluster = 1; cluster < fleet.clusters.size; cluster++) {
    turns.start[cluster] = turns.count;
    collect(fleet, turns, foldable, cluster);
    turns.end[cluster] = turns.count;
    settle(fleet, turns, cluster);
  }
}

/** Rows of a cluster stand in rank order; a fold takes the place of its first member. */
function collect(fleet: Fleet, turns: Turns, foldable: Foldable, cluster: number): void {
  const { demand } = fleet;
  const { offset, length } = demand.rowsOf(cluster);
  for (let row = offset; row < offset + length; row++) {
    if (demand.same[row] === 0) {
      turns.addRow(fleet, row, demand.spreads[row] === 0 ? TurnKind.Plain : TurnKind.Spread);
    } else if (!foldable.test(row)) {
      turns.addRow(fleet, row, TurnKind.Gang);
    } else {
      const key = demand.foldKey[row]!;
      const fold = turns.ofKey[key]!;
      if (fold === NONE) turns.ofKey[key] = turns.addFold(fleet, row);
      else {
        turns.members[fold]!++;
        // Members are sorted when somebody asks; until then the newest stands behind the first.
        turns.nextMember[row] = turns.nextMember[turns.firstMember[fold]!]!;
        turns.nextMember[turns.firstMember[fold]!] = row;
      }
    }
  }
}

/** Puts folds where their own key belongs among equals in precedence and time, then notes places and keys. */
function settle(fleet: Fleet, turns: Turns, cluster: number): void {
  const start = turns.start[cluster]!;
  const end = turns.end[cluster]!;
  for (let i = start + 1; i < end; i++) {
    for (let j = i; j > start && comesBefore(fleet, turns, j, j - 1); j--) swap(turns, j, j - 1);
  }
  for (let turn = start; turn < end; turn++) {
    turns.place[turn] = turn - start;
    turns.ofKey[turns.key[turn]!] = turn;
  }
}

function comesBefore(fleet: Fleet, turns: Turns, a: number, b: number): boolean {
  if (turns.kind[a] !== TurnKind.Fold && turns.kind[b] !== TurnKind.Fold) return false;
  if (turns.precedence[a] !== turns.precedence[b]) return turns.precedence[a]! > turns.precedence[b]!;
  if (turns.firstSeenMs[a] !== turns.firstSeenMs[b]) return turns.firstSeenMs[a]! < turns.firstSeenMs[b]!;
  return textOf(fleet, turns, a) < textOf(fleet, turns, b);
}

/** Place of a turn's key among all keys of its cluster's rows and folds. */
function textOf(fleet: Fleet, turns: Turns, turn: number): number {
  const row = turns.row[turn]!;
  return turns.kind[turn] === TurnKind.Fold ? fleet.demand.foldText[row]! : fleet.demand.text[row]!;
}

function swap(turns: Turns, a: number, b: number): void {
  for (const column of [turns.kind, turns.row, turns.key, turns.profile, turns.pattern])
    exchange(column, a, b);
  for (const column of [turns.firstSeenMs, turns.precedence]) exchange(column, a, b);
  for (const column of [turns.members, turns.firstMember]) exchange(column, a, b);
}

function exchange(column: Uint8Array | Uint32Array | Int32Array | Float64Array, a: number, b: number): void {
  const value = column[a]!;
  column[a] = column[b]!;
  column[b] = value;
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
