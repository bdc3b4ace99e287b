// Finds the label that separates the rows of a pass best: most fleets have one, such as the region, whose values most rows
// are bound to one of. Machines with one value of it form a part. A row whose pattern fits machines of one part only belongs
// to it; all others may go anywhere. Used by territories.ts.

import type { Cycle } from '../cycle.ts';

/** Values in place of the number of a part: the pattern fits no machine, or machines of several parts. */
export const NO_PART = -1;
const ANY_PART = -2;

/** Classes of patterns, per row of the pass, above which a label is not tried: reading them would take longer than serving. */
const CLASSES_PER_ROW = 64;
/** Labels with more values than this do not separate rows, and their parts would be too small. */
const MOST_PARTS = 256;

/** Rows of a pass with what divides them, cluster by cluster, as they are in memory: in rank order they are all over it. */
export interface PassRows {
  readonly rankedRow: Uint32Array;
  readonly cluster: Uint32Array;
  readonly pattern: Uint32Array;
}

/** The rows of the pass; `count`: how many there are. */
export function passRowsOf({ credits, fleet, rankedRows }: Cycle, count: number): PassRows {
  const { pending, pendingEnd } = credits;
  const rows = {
    rankedRow: new Uint32Array(count),
    cluster: new Uint32Array(count),
    pattern: new Uint32Array(count),
  };
  let at = 0;
  for (const cluster of fleet.clusters.sorted()) {
    for (let i = rankedRows.start[cluster]!; i < pendingEnd[cluster]!; i++, at++) {
      const rankedRow = pending[i]!;
      rows.rankedRow[at] = rankedRow;
      rows.cluster[at] = cluster;
      rows.pattern[at] = rankedRows.pattern[rankedRow]!;
    }
  }
  return rows;
}

/** Parts by one label. */
export interface Separation {
  /** Number of parts. */
  readonly parts: number;
  /** The part of a pattern, or one of the values above. */
  partOf(pattern: number): number;
  /** Rows of the pass by cluster and part: those of part p at `cluster * parts + p`. */
  readonly rows: Uint32Array;
}

/** Keeps what was found of patterns from pass to pass. */
export class Separations {
  /** By list of fitting classes, which is replaced when it changes, and by label: the part. */
  readonly #parts = new WeakMap<Uint32Array, Map<string, number>>();
  /** Classes that may still be read for the label being tried. */
  #readsLeft = 0;
  /** The label that was best last, which is tried first. */
  #last: string | null = null;

  /**
   * The parts by the label by which fewest rows cross; one part if with every label more than `largestCrossing` of the rows
   * do.
   */
  best(cycle: Cycle, rows: PassRows, largestCrossing: number): Separation {
    const { length } = rows.rankedRow;
    const used = usedPatterns(cycle, rows);
    const most = largestCrossing * length;
    // Which labels the patterns name is not read before it is known that the last one no longer divides the rows.
    if (this.#last !== null) {
      const found = this.#by(this.#last, cycle, rows, used);
      if (found !== null && crossingBy(found, length) <= most) return found;
    }
    let best: Separation | null = null;
    let least = most;
    for (const key of [...this.#keysOf(cycle, length, used)].sort()) {
      const found = this.#by(key, cycle, rows, used);
      const crossing = found === null ? length : crossingBy(found, length);
      if (crossing > least || (best !== null && crossing === least)) continue;
      best = found;
      least = crossing;
      this.#last = key;
    }
    return best ?? counted(cycle, rows, 1, () => 0);
  }

  #keysOf({ fleet }: Cycle, rows: number, used: readonly number[]): ReadonlySet<string> {
    const keys = new Set<string>();
    let classes = 0;
    for (const number of used) {
      const pattern = fleet.patterns.patternOf(number);
      for (const { key } of pattern.requirements) keys.add(key);
      classes += pattern.fittingClasses().length;
    }
    return classes > CLASSES_PER_ROW * rows ? new Set() : keys;
  }

  /** Null if the label has too many values, or if too many classes would have to be read, as where all of them change. */
  #by(key: string, cycle: Cycle, rows: PassRows, used: readonly number[]): Separation | null {
    const { domains, patterns } = cycle.fleet;
    const partOf = new Int32Array(patterns.size);
    this.#readsLeft = CLASSES_PER_ROW * rows.rankedRow.length;
    for (const pattern of used) {
      partOf[pattern] = this.#partOf(key, cycle, pattern);
      if (partOf[pattern]! >= MOST_PARTS || this.#readsLeft < 0) return null;
    }
    // Part 0 is that of the machines without the label.
    return counted(cycle, rows, domains.by(key).names.length + 1, (pattern) => partOf[pattern]!);
  }

  #partOf(key: string, { fleet }: Cycle, pattern: number): number {
    const fitting = fleet.patterns.patternOf(pattern).fittingClasses();
    let byKey = this.#parts.get(fitting);
    if (byKey === undefined) {
      byKey = new Map();
      this.#parts.set(fitting, byKey);
    }
    let part = byKey.get(key);
    if (part === undefined) {
      this.#readsLeft -= fitting.length;
      if (this.#readsLeft < 0) return ANY_PART;
      part = partOfClasses(fleet.domains.by(key), fitting);
      byKey.set(key, part);
    }
    return part;
  }
}

function partOfClasses(domains: { of(classNumber: number): number }, classes: Uint32Array): number {
  if (classes.length === 0) return NO_PART;
  const part = domains.of(classes[0]!) + 1;
  for (let i = 1; i < classes.length; i++) if (domains.of(classes[i]!) + 1 !== part) return ANY_PART;
  return part;
}

function usedPatterns({ fleet }: Cycle, rows: PassRows): number[] {
  const isUsed = new Uint8Array(fleet.patterns.size);
  const used: number[] = [];
  for (const pattern of rows.pattern) {
    if (isUsed[pattern] === 1) continue;
    isUsed[pattern] = 1;
    used.push(pattern);
  }
  return used;
}

function counted(
  { fleet }: Cycle,
  { cluster, pattern }: PassRows,
  parts: number,
  partOf: (pattern: number) => number,
): Separation {
  const rows = new Uint32Array(fleet.clusters.size * parts);
  for (let i = 0; i < pattern.length; i++) {
    const part = partOf(pattern[i]!);
    if (part >= 0) rows[cluster[i]! * parts + part]!++;
  }
  return { parts, partOf, rows };
}

/** How many of `count` rows do not belong to the part of most rows of their cluster. */
function crossingBy({ parts, rows }: Separation, count: number): number {
  let crossing = count;
  for (let at = 0; at < rows.length; at += parts) {
    let most = 0;
    for (let part = 0; part < parts; part++) most = Math.max(most, rows[at + part]!);
    crossing -= most;
  }
  return crossing;
}

/** The part that most rows of a cluster belong to; NO_PART if none belongs to one. */
export function homeOf({ parts, rows }: Separation, cluster: number): number {
  let home = NO_PART;
  let most = 0;
  for (let part = 0; part < parts; part++) {
    const count = rows[cluster * parts + part]!;
    if (count <= most) continue;
    home = part;
    most = count;
  }
  return home;
}
