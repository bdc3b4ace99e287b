// The shared pools: free Idle and Speculative machines in the order a row takes them. Machines of a class are taken
// in id order, so what is left of a class is always the tail of its run, and one head per class says where it starts.

import type { Domains, Fleet, Pattern, Run } from '../fleet/index.ts';
import { effectiveCost, MachineState } from '../model/index.ts';
import type { Want } from './want.ts';

/** Which classes a step may take from: all, those of one domain, or those of the domains a spread allows. */
export type ClassFilter = (classNumber: number) => boolean;

/** Classes a pattern can use, grouped by what they cost; dearer groups later. */
interface Shelf {
  readonly runs: readonly (Run | undefined)[];
  readonly heads: Int32Array;
  readonly groups: (readonly number[])[];
  /** Groups before this one are empty. */
  cursor: number;
  /** The same classes by domain, once a gang has asked. A pattern with `Same` knows one topology key. */
  byDomain: Map<number, Shelf> | null;
}

const EMPTY_SHELF: Shelf = { runs: [], heads: new Int32Array(0), groups: [], cursor: 0, byDomain: null };

/** What a row may take from. */
export interface Shelves {
  readonly pattern: number;
  readonly idle: Shelf;
  readonly speculative: Shelf;
}

export class Pools {
  readonly #fleet: Fleet;
  readonly #claimedBy: Int32Array;
  readonly #idleHeads: Int32Array;
  readonly #speculativeHeads: Int32Array;
  readonly #rewinds: boolean;
  #trial: boolean;
  readonly #special = new Map<number, { readonly slots: readonly number[]; next: number }>();
  readonly #idleShelves = new Map<number, Shelf>();
  readonly #speculativeShelves = new Map<number, Map<number, Shelf>>();

  /** With `rewinds` machines may be put back at any time, as in a trial that never ends. */
  constructor(fleet: Fleet, claimedBy: Int32Array, rewinds = false) {
    this.#rewinds = rewinds;
    this.#trial = rewinds;
    this.#fleet = fleet;
    this.#claimedBy = claimedBy;
    this.#idleHeads = new Int32Array(fleet.classes.size);
    this.#speculativeHeads = new Int32Array(fleet.classes.size);
  }

  /** Free machines of a class that stand in its run; special Idle machines are not among them. */
  freeIdle(classNumber: number): number {
    return (this.#fleet.machines.idleRuns[classNumber]?.length ?? 0) - this.#idleHeads[classNumber]!;
  }

  freeSpeculative(classNumber: number): number {
    return (
      (this.#fleet.machines.speculativeRuns[classNumber]?.length ?? 0) - this.#speculativeHeads[classNumber]!
    );
  }

  /** Idle machines with a target or a penalty that nobody has claimed yet, in pool order. */
  *freeSpecial(): Generator<number> {
    const { machines } = this.#fleet;
    const { offset, length } = machines.specialIdle;
    for (let i = offset; i < offset + length; i++) {
      const slot = machines.arena.data[i]!;
      if (this.#claimedBy[slot] === 0) yield slot;
    }
  }

  /** Everything a pattern can take, for a row whose interruption costs so many dollars. */
  shelves(pattern: number, dollars: number): Shelves {
    return { pattern, idle: this.#idleShelf(pattern), speculative: this.#speculativeShelf(pattern, dollars) };
  }

  /** The same within one domain: a gang that looks at many racks must not walk all of them for each. */
  shelvesIn(pattern: number, dollars: number, domains: Domains, domain: number): Shelves {
    const { idle, speculative } = this.shelves(pattern, dollars);
    return {
      pattern,
      idle: this.#partOf(idle, domains, domain),
      speculative: this.#partOf(speculative, domains, domain),
    };
  }

  #partOf(shelf: Shelf, domains: Domains, domain: number): Shelf {
    if (shelf.byDomain === null) {
      shelf.byDomain = new Map();
      for (const group of shelf.groups) {
        for (const [at, members] of Map.groupBy(group, (c) => domains.of(c))) {
          const part = shelf.byDomain.get(at);
          if (part === undefined)
            shelf.byDomain.set(at, { ...shelf, groups: [members], cursor: 0, byDomain: null });
          else part.groups.push(members);
        }
      }
    }
    return shelf.byDomain.get(domain) ?? EMPTY_SHELF;
  }

  /**
   * The next Idle machine for a row, or -1. `mayTakeTargeted` says whether a machine on its way to another row may
   * be taken.
   */
  nextIdle(
    shelves: Shelves,
    want: Want,
    key: number,
    allowed: ClassFilter | null,
    mayTakeTargeted: ClassFilter | null,
  ): number {
    const { machines } = this.#fleet;
    const plain = this.#next(shelves.idle, want, allowed);
    if (machines.specialIdle.length === 0) return plain;
    const special = this.#specialOf(shelves.pattern);
    for (let i = special.next; i < special.slots.length; i++) {
      const slot = special.slots[i]!;
      if (this.#claimedBy[slot] !== 0) {
        // What a trial claims is put back, so only real claims move the start.
        if (i === special.next && !this.#trial) special.next++;
        continue;
      }
      const classNumber = machines.classOf[slot]!;
      if (!want.adds(classNumber, true) || (allowed !== null && !allowed(classNumber))) continue;
      const target = machines.target[slot]!;
      if (target !== 0 && target !== key && mayTakeTargeted !== null && !mayTakeTargeted(classNumber))
        continue;
      return plain === -1 || machines.keepOrder(slot, plain) < 0 ? slot : plain;
    }
    return plain;
  }

  /** Special Idle machines that fit a pattern, in pool order; those before `next` are claimed. */
  #specialOf(number: number): { readonly slots: readonly number[]; next: number } {
    let special = this.#special.get(number);
    if (special === undefined) {
      const { machines, patterns } = this.#fleet;
      const pattern = patterns.patternOf(number);
      const { offset, length } = machines.specialIdle;
      const slots = [...machines.arena.data.subarray(offset, offset + length)];
      special = { slots: slots.filter((slot) => pattern.fits(machines.classOf[slot]!)), next: 0 };
      this.#special.set(number, special);
    }
    return special;
  }

  /** The next Speculative machine for a row, or -1. */
  nextSpeculative(shelves: Shelves, want: Want, allowed: ClassFilter | null): number {
    return this.#next(shelves.speculative, want, allowed);
  }

  /** Takes a claimed machine off its run; machines that stand in no run are left alone. */
  take(slot: number): void {
    const { run, heads, classNumber } = this.#placeOf(slot);
    const head = heads[classNumber]!;
    if (run === undefined || head >= run.length) return;
    if (this.#fleet.machines.arena.data[run.offset + head] === slot) heads[classNumber] = head + 1;
  }

  /** Puts back the machine that was taken last from its run. */
  putBack(slot: number): void {
    const { run, heads, classNumber } = this.#placeOf(slot);
    const head = heads[classNumber]! - 1;
    if (run === undefined || head < 0) return;
    if (this.#fleet.machines.arena.data[run.offset + head] === slot) heads[classNumber] = head;
  }

  /** Runs a trial that puts back all it takes: groups that look empty meanwhile are not given up. */
  onTrial(trial: () => void): void {
    this.#trial = true;
    trial();
    this.#trial = this.#rewinds;
  }

  #placeOf(slot: number): { run: Run | undefined; heads: Int32Array; classNumber: number } {
    const { machines } = this.#fleet;
    const classNumber = machines.classOf[slot]!;
    const idle = machines.state[slot] === MachineState.Idle;
    if (!idle && machines.state[slot] !== MachineState.Speculative) {
      return { run: undefined, heads: this.#idleHeads, classNumber };
    }
    return idle
      ? { run: machines.idleRuns[classNumber], heads: this.#idleHeads, classNumber }
      : { run: machines.speculativeRuns[classNumber], heads: this.#speculativeHeads, classNumber };
  }

  #next(shelf: Shelf, want: Want, allowed: ClassFilter | null): number {
    const { machines } = this.#fleet;
    const { runs, heads, groups } = shelf;
    for (let g = shelf.cursor; g < groups.length; g++) {
      let best = -1;
      let left = false;
      for (const classNumber of groups[g]!) {
        const run = runs[classNumber]!;
        const head = heads[classNumber]!;
        if (head >= run.length) continue;
        left = true;
        if (!want.adds(classNumber, true) || (allowed !== null && !allowed(classNumber))) continue;
        const slot = machines.arena.data[run.offset + head]!;
        if (best === -1 || machines.ordinal[slot]! < machines.ordinal[best]!) best = slot;
      }
      if (best !== -1) return best;
      if (!left && g === shelf.cursor && !this.#trial) shelf.cursor++;
    }
    return -1;
  }

  #idleShelf(pattern: number): Shelf {
    let shelf = this.#idleShelves.get(pattern);
    if (shelf === undefined) {
      const { classes, machines } = this.#fleet;
      shelf = this.#shelf(pattern, machines.idleRuns, this.#idleHeads, (c) => classes.price[c]!);
      this.#idleShelves.set(pattern, shelf);
    }
    return shelf;
  }

  #speculativeShelf(pattern: number, dollars: number): Shelf {
    let byDollars = this.#speculativeShelves.get(pattern);
    if (byDollars === undefined) {
      byDollars = new Map();
      this.#speculativeShelves.set(pattern, byDollars);
    }
    let shelf = byDollars.get(dollars);
    if (shelf === undefined) {
      const { classes, machines } = this.#fleet;
      const cost = (c: number): number => effectiveCost(classes.price[c]!, classes.probability[c]!, dollars);
      shelf = this.#shelf(pattern, machines.speculativeRuns, this.#speculativeHeads, cost);
      byDollars.set(dollars, shelf);
    }
    return shelf;
  }

  // Groups by (cost, price): within a group only the id decides.
  #shelf(
    number: number,
    runs: readonly (Run | undefined)[],
    heads: Int32Array,
    costOf: (c: number) => number,
  ): Shelf {
    const { classes } = this.#fleet;
    const pattern: Pattern = this.#fleet.patterns.patternOf(number);
    const fitting: { readonly number: number; readonly cost: number; readonly price: number }[] = [];
    for (const c of pattern.fittingClasses()) {
      if ((runs[c]?.length ?? 0) > 0) fitting.push({ number: c, cost: costOf(c), price: classes.price[c]! });
    }
    // Infinite costs are equal; their difference is not a number.
    fitting.sort((a, b) => (a.cost === b.cost ? 0 : a.cost - b.cost) || a.price - b.price);
    const groups: number[][] = [];
    for (const [i, entry] of fitting.entries()) {
      const before = fitting[i - 1];
      if (before !== undefined && before.cost === entry.cost && before.price === entry.price)
        groups.at(-1)!.push(entry.number);
      else groups.push([entry.number]);
    }
    return { runs, heads, groups, cursor: 0, byDomain: null };
  }
}
