// Whether a `Same` row may fold: it owns no machine, no pod of it is larger than the whole, and some machine it could get
// holds all of it. Machines outside
// all clusters are the same for every row of a pattern, so that part of the answer is cached between cycles and shared
// by all threads; only the thread that runs the cycle computes it. Used by ranked-rows.ts and dirty-clusters.ts.

import { withRoom } from '../../collections/columns.ts';
import { ColumnGroup } from '../../collections/table.ts';
import type { FleetView, Pattern } from '../../fleet/index.ts';
import { MachineState } from '../../model/index.ts';
import type { BoundWalkView } from './bound-machines.ts';
import { NONE } from './ranked-rows.ts';

/** Asked: not computed yet, and a row is waiting for it. */
const Answer = { Unknown: 0, No: 1, Yes: 2, Asked: 3 } as const;

const ANYWHERE = [MachineState.Idle, MachineState.Speculative, MachineState.Creating, MachineState.Draining];

export class Foldable {
  readonly #fleet: FleetView;
  readonly #walk: BoundWalkView;
  readonly byPattern = new ColumnGroup(this);
  /** The Answer for machines outside all clusters. */
  readonly anywhere = this.byPattern.u8();
  /** By pattern: the pattern that the answer is about, since numbers are reused, and a class that makes it Yes. */
  readonly #patterns: (Pattern | undefined)[] = [];
  readonly #witness: number[] = [];
  /** Classes that have machines, and had none when the answers were last refreshed. */
  readonly #supplied: Set<number>;
  /** By pattern: the Answer for machines bound to the cluster being served. */
  #bound = new Uint8Array(0);
  /** Whether a row of the cluster being served depends on the machines bound to it. */
  hasScanned = false;

  constructor(fleet: FleetView, walk: BoundWalkView) {
    this.#fleet = fleet;
    this.#walk = walk;
    this.#supplied = fleet.machines.supplied.watch();
  }

  /** Brings the answers up to date. Returns the clusters with rows whose answer has changed. */
  refresh(): Set<number> {
    const flipped = this.refreshAnswers();
    return flipped.size === 0 ? flipped : this.#clustersWith(flipped);
  }

  /** Brings the answers up to date. Returns the patterns whose answer has changed. */
  refreshAnswers(): Set<number> {
    this.byPattern.reserve(this.#fleet.patterns.size);
    const flipped = new Set<number>();
    for (let number = 0; number < this.#patterns.length; number++) {
      const pattern = this.#patterns[number];
      if (pattern === undefined) continue;
      if (this.#fleet.patterns.find(number) !== pattern) {
        this.#patterns[number] = undefined;
        this.anywhere[number] = Answer.Unknown;
      } else if (this.anywhere[number] === Answer.Yes) {
        if (!this.#offers(pattern, this.#witness[number]!) && !this.#look(number)) flipped.add(number);
      } else if (this.#isSupplied(pattern) && this.#look(number)) flipped.add(number);
    }
    this.#supplied.clear();
    return flipped;
  }

  /** Computes the answers that rows are waiting for. */
  answer(): void {
    for (let number = 0; number < this.#fleet.patterns.size; number++) {
      if (this.anywhere[number] === Answer.Asked) this.#look(number);
    }
  }

  /** Prepares the rows of a cluster: the machines bound to it may have changed. */
  openCluster(): void {
    this.#bound = withRoom(this.#bound, this.#fleet.patterns.size);
    this.#bound.fill(Answer.Unknown);
    this.hasScanned = false;
  }

  /** Whether a row may fold; null if that is unknown until `answer` was called. */
  test(row: number): boolean | null {
    const { demand, machines } = this.#fleet;
    // A machine that holds the row need not hold a pod that is larger.
    if (machines.ownedBy(demand.key[row]!) > 0 || demand.unitExceedsWhole[row] === 1) return false;
    const pattern = demand.wholePattern[row]!;
    const anywhere = this.anywhere[pattern];
    if (anywhere === Answer.Yes) return true;
    if (anywhere === Answer.No) return this.#foundBound(demand.cluster[row]!, pattern);
    this.anywhere[pattern] = Answer.Asked;
    return null;
  }

  #look(number: number): boolean {
    const pattern = this.#fleet.patterns.patternOf(number);
    let c = 0;
    const { size } = this.#fleet.classes;
    while (c < size && !this.#offers(pattern, c)) c++;
    this.#patterns[number] = pattern;
    this.#witness[number] = c < size ? c : NONE;
    this.anywhere[number] = c < size ? Answer.Yes : Answer.No;
    return c < size;
  }

  /** Whether a class fits and has a machine outside all clusters. */
  #offers(pattern: Pattern, classNumber: number): boolean {
    const { machines } = this.#fleet;
    for (const state of ANYWHERE) {
      if (machines.unblockedCountOf(classNumber, state) > 0) return pattern.fits(classNumber);
    }
    return false;
  }

  #isSupplied(pattern: Pattern): boolean {
    for (const classNumber of this.#supplied) if (this.#offers(pattern, classNumber)) return true;
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

  #foundBound(cluster: number, pattern: number): boolean {
    this.hasScanned = true;
    if (this.#bound[pattern] === Answer.Unknown)
      this.#bound[pattern] = this.#scanBound(cluster, pattern) ? Answer.Yes : Answer.No;
    return this.#bound[pattern] === Answer.Yes;
  }

  #scanBound(cluster: number, number: number): boolean {
    const { machines, patterns } = this.#fleet;
    const pattern = patterns.patternOf(number);
    const walk = this.#walk.begin(cluster);
    for (let slot = walk.next(); slot !== NONE; slot = walk.next()) {
      if (machines.blocked[slot] === 0 && pattern.fits(machines.classOf[slot]!)) return true;
    }
    return false;
  }
}
