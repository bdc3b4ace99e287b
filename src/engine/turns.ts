// Turns: the rows of a cycle, in columns, cluster by cluster and within a cluster in rank order. Small gangs that any
// one machine can host are folded into one row, which stands at the rank of its earliest member.

import { type Block, Blocks, type Fleet, type Pattern } from '../fleet/index.ts';
import { compareText, isBound, MachineState } from '../model/index.ts';

export const TurnKind = { Plain: 0, Spread: 1, Gang: 2, Fold: 3 } as const;

/** No row, no turn. */
export const NONE = -1;

export class Turns {
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
  /** 1 if machines that are not bound yet are on their way to the turn. */
  coming = new Uint8Array(0);
  /** 1 for a gang that no domain could hold; see hopeless.ts. */
  hopeless = new Uint8Array(0);
  nextMember = new Int32Array(0);
  /** Turns of a cluster: from `start` up to `end`. */
  start = new Uint32Array(0);
  end = new Uint32Array(0);
  /** Turn by key; NONE for keys that no turn has. */
  ofKey = new Int32Array(0);

  readonly #blocks = new Blocks();
  readonly #places: (Block | undefined)[] = [];
  /** Turns of members that their fold could not host; they stand behind all clusters' and last for one cycle. */
  #extra = 0;

  /** One more than the largest turn in use. */
  get limit(): number {
    return this.#blocks.end + this.#extra;
  }

  /** Turns in use. */
  get count(): number {
    let count = this.#extra;
    for (let cluster = 1; cluster < this.start.length; cluster++)
      count += this.end[cluster]! - this.start[cluster]!;
    return count;
  }

  /** Forgets the members of last cycle and makes room for a fleet's keys, rows and clusters. */
  beginCycle(fleet: Fleet): void {
    for (let turn = this.#blocks.end; turn < this.limit; turn++) this.ofKey[this.key[turn]!] = NONE;
    this.#extra = 0;
    if (this.ofKey.length < fleet.keys.size) {
      const known = this.ofKey.length;
      this.ofKey = withRoom(this.ofKey, fleet.keys.size);
      this.ofKey.fill(NONE, known);
    }
    this.nextMember = withRoom(this.nextMember, fleet.demand.size);
    this.start = withRoom(this.start, fleet.clusters.size);
    this.end = withRoom(this.end, fleet.clusters.size);
  }

  /** Forgets the turns of a cluster. Do so for all clusters that changed before any of them is made again. */
  forget(cluster: number): void {
    for (let turn = this.start[cluster]!; turn < this.end[cluster]!; turn++)
      this.ofKey[this.key[turn]!] = NONE;
    this.start[cluster] = 0;
    this.end[cluster] = 0;
    const place = this.#places[cluster];
    if (place !== undefined) this.#blocks.giveBack(place);
    this.#places[cluster] = undefined;
  }

  /** Makes the turns of a cluster whose old ones are forgotten. */
  make(fleet: Fleet, foldable: Foldable, cluster: number): void {
    const { length } = fleet.demand.rowsOf(cluster);
    if (length === 0) return;
    const place = this.#blocks.take(length);
    this.#places[cluster] = place;
    this.#reserve(this.#blocks.end);
    this.start[cluster] = place.offset;
    this.end[cluster] = place.offset;
    this.#collect(fleet, foldable, cluster);
    this.#settle(fleet, cluster);
  }

  /** A turn for a member that its fold cannot host: right behind the fold for all this cycle. */
  addUnhosted(fleet: Fleet, row: number, fold: number, behind: number): number {
    const turn = this.limit;
    this.#extra++;
    this.#reserve(this.limit);
    this.#write(fleet, turn, row, TurnKind.Gang);
    this.firstSeenMs[turn] = this.firstSeenMs[fold]!;
    this.place[turn] = this.place[fold]! + behind;
    this.ofKey[this.key[turn]!] = turn;
    this.coming[turn] = isComing(fleet, this.key[turn]!) ? 1 : 0;
    return turn;
  }

  /** Rows of a cluster stand in rank order; a fold takes the place of its first member. */
  #collect(fleet: Fleet, foldable: Foldable, cluster: number): void {
    const { demand } = fleet;
    const { offset, length } = demand.rowsOf(cluster);
    let end = this.end[cluster]!;
    for (let row = offset; row < offset + length; row++) {
      if (demand.same[row] === 0) {
        this.#write(fleet, end++, row, demand.spreads[row] === 0 ? TurnKind.Plain : TurnKind.Spread);
      } else if (!foldable.test(row)) {
        this.#write(fleet, end++, row, TurnKind.Gang);
      } else {
        const key = demand.foldKey[row]!;
        const fold = this.ofKey[key]!;
        if (fold === NONE) {
          this.ofKey[key] = end;
          this.#writeFold(fleet, end++, row);
        } else {
          this.members[fold]!++;
          // Members are sorted when somebody asks; until then the newest stands behind the first.
          this.nextMember[row] = this.nextMember[this.firstMember[fold]!]!;
          this.nextMember[this.firstMember[fold]!] = row;
        }
      }
    }
    this.end[cluster] = end;
  }

  /** Puts folds where their own key belongs among equals in precedence and time, then notes places and keys. */
  #settle(fleet: Fleet, cluster: number): void {
    const start = this.start[cluster]!;
    const end = this.end[cluster]!;
    for (let i = start + 1; i < end; i++) {
      for (let j = i; j > start && this.#comesBefore(fleet, j, j - 1); j--) this.#swap(j, j - 1);
    }
    for (let turn = start; turn < end; turn++) {
      this.place[turn] = turn - start;
      this.ofKey[this.key[turn]!] = turn;
      this.coming[turn] = isComing(fleet, this.key[turn]!) ? 1 : 0;
    }
  }

  #comesBefore(fleet: Fleet, a: number, b: number): boolean {
    if (this.kind[a] !== TurnKind.Fold && this.kind[b] !== TurnKind.Fold) return false;
    if (this.precedence[a] !== this.precedence[b]) return this.precedence[a]! > this.precedence[b]!;
    if (this.firstSeenMs[a] !== this.firstSeenMs[b]) return this.firstSeenMs[a]! < this.firstSeenMs[b]!;
    return this.#textOf(fleet, a) < this.#textOf(fleet, b);
  }

  /** Place of a turn's key among all keys of its cluster's rows and folds. */
  #textOf(fleet: Fleet, turn: number): number {
    const row = this.row[turn]!;
    return this.kind[turn] === TurnKind.Fold ? fleet.demand.foldText[row]! : fleet.demand.text[row]!;
  }

  #write(fleet: Fleet, turn: number, row: number, kind: number): void {
    const { demand } = fleet;
    this.kind[turn] = kind;
    this.row[turn] = row;
    this.cluster[turn] = demand.cluster[row]!;
    this.key[turn] = demand.key[row]!;
    this.profile[turn] = demand.profile[row]!;
    this.pattern[turn] = demand.pattern[row]!;
    this.firstSeenMs[turn] = demand.firstSeenMs[row]!;
    this.precedence[turn] = demand.precedence[row]!;
    this.members[turn] = 0;
    this.hopeless[turn] = 0;
  }

  /** A fold, with its first member. */
  #writeFold(fleet: Fleet, turn: number, row: number): void {
    const { demand } = fleet;
    this.#write(fleet, turn, row, TurnKind.Fold);
    this.key[turn] = demand.foldKey[row]!;
    this.profile[turn] = demand.foldProfile[row]!;
    this.pattern[turn] = demand.foldPattern[row]!;
    this.members[turn] = 1;
    this.firstMember[turn] = row;
    this.nextMember[row] = NONE;
  }

  #swap(a: number, b: number): void {
    for (const column of [this.row, this.key, this.profile, this.pattern]) exchange(column, a, b);
    for (const column of [this.members, this.firstMember]) exchange(column, a, b);
    for (const column of [this.firstSeenMs, this.precedence]) exchange(column, a, b);
    exchange(this.kind, a, b);
  }

  #reserve(needed: number): void {
    if (needed <= this.kind.length) return;
    this.kind = withRoom(this.kind, needed);
    this.cluster = withRoom(this.cluster, needed);
    this.row = withRoom(this.row, needed);
    this.key = withRoom(this.key, needed);
    this.profile = withRoom(this.profile, needed);
    this.pattern = withRoom(this.pattern, needed);
    this.firstSeenMs = withRoom(this.firstSeenMs, needed);
    this.precedence = withRoom(this.precedence, needed);
    this.place = withRoom(this.place, needed);
    this.members = withRoom(this.members, needed);
    this.firstMember = withRoom(this.firstMember, needed);
    this.coming = withRoom(this.coming, needed);
    this.hopeless = withRoom(this.hopeless, needed);
  }

  /** Negative if `a` is served before `b`. */
  compare(fleet: Fleet, a: number, b: number): number {
    const order = this.precedence[b]! - this.precedence[a]! || this.firstSeenMs[a]! - this.firstSeenMs[b]!;
    if (order !== 0) return order;
    if (this.cluster[a] === this.cluster[b]) return this.place[a]! - this.place[b]!;
    return fleet.clusters.placeOf(this.cluster[a]!) - fleet.clusters.placeOf(this.cluster[b]!);
  }

  /** All turns, in no particular order. */
  *all(): Generator<number> {
    for (let cluster = 1; cluster < this.start.length; cluster++) {
      for (let turn = this.start[cluster]!; turn < this.end[cluster]!; turn++) yield turn;
    }
    for (let turn = this.#blocks.end; turn < this.limit; turn++) yield turn;
  }

  /** All turns as they were served. */
  inOrder(fleet: Fleet): number[] {
    return [...this.all()].sort((a, b) => this.compare(fleet, a, b));
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

/** Whether machines that are not bound yet are on their way to the row with this key. */
function isComing(fleet: Fleet, key: number): boolean {
  const { machines } = fleet;
  const run = machines.targetedAt(key);
  if (run === undefined) return false;
  for (let i = run.offset; i < run.offset + run.length; i++) {
    if (!isBound(machines.stateOf(machines.arena.data[i]!))) return true;
  }
  return false;
}

/** Room for so many entries and half as many again, so that a growing fleet rarely moves. */
function roomFor(entries: number): number {
  return Math.ceil(entries * 1.5);
}

type Column = Uint8Array | Uint32Array | Int32Array | Float64Array;

/** The array itself if it is long enough, else a longer one with the same entries, on memory that threads share. */
export function withRoom<T extends Column>(column: T, needed: number): T {
  if (column.length >= needed) return column;
  const make = column.constructor as new (buffer: SharedArrayBuffer) => T;
  const longer = new make(new SharedArrayBuffer(roomFor(needed) * column.BYTES_PER_ELEMENT));
  longer.set(column);
  return longer;
}

function exchange(column: Column, a: number, b: number): void {
  const value = column[a]!;
  column[a] = column[b]!;
  column[b] = value;
}

const ANYWHERE = [MachineState.Idle, MachineState.Speculative, MachineState.Creating, MachineState.Draining];

/** Whether a `Same` row may fold: it owns no machine, and some machine it could get holds all of it. */
export class Foldable {
  readonly #fleet: Fleet;
  /** By pattern: whether a machine outside all clusters would do, as the cycle before knew it. */
  readonly #anywhere = new Map<number, { readonly pattern: Pattern; found: boolean }>();
  /** By cluster and pattern: a machine bound to the cluster would do. Good for one cycle. */
  #bound = new Map<number, boolean>();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** Looks at the pools again. Says which clusters have rows whose answer is another than last time. */
  refresh(): Set<number> {
    this.#bound = new Map();
    const flipped = new Set<number>();
    for (const [number, known] of this.#anywhere) {
      if (this.#fleet.patterns.find(number) !== known.pattern) this.#anywhere.delete(number);
      else if (known.found !== this.#look(known.pattern)) {
        known.found = !known.found;
        flipped.add(number);
      }
    }
    return flipped.size === 0 ? new Set() : this.#clustersWith(flipped);
  }

  test(row: number): boolean {
    const { demand, machines } = this.#fleet;
    if (machines.ownedBy(demand.key[row]!) > 0) return false;
    const pattern = demand.wholePattern[row]!;
    return this.#foundAnywhere(pattern) || this.#foundBound(demand.cluster[row]!, pattern);
  }

  #foundAnywhere(number: number): boolean {
    let known = this.#anywhere.get(number);
    const pattern = this.#fleet.patterns.patternOf(number);
    if (known === undefined || known.pattern !== pattern) {
      known = { pattern, found: this.#look(pattern) };
      this.#anywhere.set(number, known);
    }
    return known.found;
  }

  #look(pattern: Pattern): boolean {
    const { freeCounts } = this.#fleet.machines;
    for (const c of pattern.fittingClasses()) {
      for (const state of ANYWHERE) if ((freeCounts[c * 9 + state] ?? 0) > 0) return true;
    }
    return false;
  }

  #clustersWith(patterns: ReadonlySet<number>): Set<number> {
    const { clusters, demand } = this.#fleet;
    const found = new Set<number>();
    for (let cluster = 1; cluster < clusters.size; cluster++) {
      const { offset, length } = demand.rowsOf(cluster);
      for (let row = offset; row < offset + length; row++) {
        if (demand.same[row] === 1 && patterns.has(demand.wholePattern[row]!)) found.add(cluster);
      }
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
