// Blocks of a candidate list in coverage order: sorted classes with their shapes. A list has one block of its own, or,
// where kinds have many classes, one block for each kind that its pattern can use. Blocks of kinds are shared by all
// patterns: in a fleet in which no two machines are alike, hundreds of patterns would otherwise sort every class, and
// notice every machine that is taken. Used by coverage-list.ts.

import type { Domains, FleetView } from '../../fleet/index.ts';
import type { CandidateOrder } from './candidate-list.ts';
import type { ClassAvailability } from './class-availability.ts';
import { type ClassFilter, ClassGroups, type SortKeys } from './class-groups.ts';
import type { ClassKinds } from './class-kinds.ts';
import { Shapes } from './shapes.ts';

/**
 * A pattern shares the block of a kind if it cannot use at most this number of its classes. They remain in the block, so a
 * search may have to pass over each of them.
 */
const MOST_REFUSED = 16;

/** Some classes in coverage order. */
export class CoverageBlock {
  readonly #fleet: FleetView;
  readonly #order: CandidateOrder;
  readonly groups: ClassGroups;
  readonly shapes: Shapes;
  #parts = new Map<Domains, ReadonlyMap<number, CoverageBlock>>();
  #cycle = 0;
  /** The shape that was first in the last search: it is likely to be first again. */
  last = 0;

  constructor(fleet: FleetView, order: CandidateOrder, groups: ClassGroups) {
    this.#fleet = fleet;
    this.#order = order;
    this.groups = groups;
    this.shapes = new Shapes(fleet, groups, order);
  }

  /** Applies the changes of availability since the last call; returns whether there are other classes now. */
  refresh(): boolean {
    if (!this.groups.refresh()) return false;
    this.shapes.arrange();
    this.#parts = new Map();
    this.last = 0;
    return true;
  }

  /** Prepares a search: in a new cycle, all machines are available again. */
  begin(): void {
    const { cycle } = this.groups.availability;
    if (this.#cycle === cycle) return;
    this.#cycle = cycle;
    this.shapes.beginCycle();
  }

  /** The block of each domain; this one if all its classes are in one domain. */
  partsBy(domains: Domains): ReadonlyMap<number, CoverageBlock> {
    let parts = this.#parts.get(domains);
    if (parts === undefined) {
      const groups = [...this.groups.partsBy(domains)];
      const isOne = groups.length === 1;
      parts = new Map(
        groups.map(([domain, part]) => [
          domain,
          isOne ? this : new CoverageBlock(this.#fleet, this.#order, part),
        ]),
      );
      this.#parts.set(domains, parts);
    }
    return parts;
  }
}

/** A block of a list. */
export interface BlockUse {
  readonly block: CoverageBlock;
  /** Which classes of the block the list may use; null: all. */
  readonly accepts: ClassFilter | null;
}

/** Makes blocks of lists in one order; blocks of kinds are kept and shared. */
export class CoverageBlocks {
  readonly #fleet: FleetView;
  readonly availability: ClassAvailability;
  readonly kinds: ClassKinds;
  readonly order: CandidateOrder;
  readonly #keys: SortKeys;
  readonly #byKind: (CoverageBlock | undefined)[] = [];

  constructor(fleet: FleetView, availability: ClassAvailability, kinds: ClassKinds, order: CandidateOrder) {
    const { classes, dimensions } = fleet;
    this.#fleet = fleet;
    this.availability = availability;
    this.kinds = kinds;
    this.order = order;
    const amountOf = (d: number) => (c: number) => classes.allocatable.data[c * dimensions.stride + d]!;
    this.#keys = () => [
      ...Array.from({ length: dimensions.count }, (_, d) => amountOf(d)),
      order.costOf,
      order.priceOf,
    ];
  }

  /** A block of all classes that fit. */
  blockOf(fits: ClassFilter): CoverageBlock {
    return this.#make(new ClassGroups(this.availability, this.#keys, fits));
  }

  /** The block of the classes of a kind that fit; null if none does. */
  useOf(kind: number, fits: ClassFilter): BlockUse | null {
    const members = this.kinds.membersOf(kind);
    let fitting = 0;
    for (const c of members) if (fits(c)) fitting++;
    if (fitting === 0) return null;
    if (members.length - fitting > MOST_REFUSED) {
      const isOfBoth: ClassFilter = (c) => this.kinds.isOf(kind, c) && fits(c);
      const block = this.#make(new ClassGroups(this.availability, this.#keys, isOfBoth, () => members));
      block.refresh();
      return { block, accepts: null };
    }
    const block = this.#blockOfKind(kind);
    block.refresh();
    return { block, accepts: fitting === members.length ? null : fits };
  }

  #blockOfKind(kind: number): CoverageBlock {
    let block = this.#byKind[kind];
    if (block === undefined) {
      const isOfKind: ClassFilter = (c) => this.kinds.isOf(kind, c);
      const members = (): readonly number[] => this.kinds.membersOf(kind);
      block = this.#make(new ClassGroups(this.availability, this.#keys, isOfKind, members));
      this.#byKind[kind] = block;
    }
    return block;
  }

  #make(groups: ClassGroups): CoverageBlock {
    return new CoverageBlock(this.#fleet, this.order, groups);
  }
}

/** The blocks of all candidates of a pattern, kept between cycles. */
export class PatternBlocks {
  readonly #blocks: CoverageBlocks;
  readonly #fits: ClassFilter;
  /** Null while the pattern uses blocks of kinds. */
  #own: CoverageBlock | null = null;
  /** By kind: what the pattern uses of it. Empty while it has a block of its own. */
  #byKind: (BlockUse | null)[] = [];
  #seen = -1;

  constructor(blocks: CoverageBlocks, fits: ClassFilter) {
    this.#blocks = blocks;
    this.#fits = fits;
  }

  /** Applies the changes of availability since the last call; returns null if the blocks are as before. */
  refresh(): readonly BlockUse[] | null {
    const { availability, kinds } = this.#blocks;
    const { end } = availability.changes;
    if (this.#seen === end) return null;
    const uses = kinds.haveMany ? this.#usesOfKinds() : this.#ownUse();
    this.#seen = end;
    return uses;
  }

  #ownUse(): readonly BlockUse[] | null {
    this.#byKind = [];
    this.#own ??= this.#blocks.blockOf(this.#fits);
    return this.#own.refresh() ? [{ block: this.#own, accepts: null }] : null;
  }

  #usesOfKinds(): readonly BlockUse[] {
    const { kinds } = this.#blocks;
    this.#own = null;
    for (let kind = 0; kind < kinds.count; kind++) {
      if (this.#byKind[kind] === undefined || kinds.changedSince(this.#seen, kind))
        this.#byKind[kind] = this.#blocks.useOf(kind, this.#fits);
    }
    return this.#byKind.filter((use) => use !== null);
  }
}
