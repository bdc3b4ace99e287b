// Rows that wait for machines: short ones, and those that count on a machine that is not yet Configured. What they wait for
// may not arrive, so a machine on hold that meets their requirements is not reclaimed. Used by reclaim.ts.

import { isBound, MachineState } from '../../model/index.ts';
import { NONE, RowKind } from '../assign/ranked-rows.ts';
import type { Cycle } from '../cycle.ts';

export class AwaitingRows {
  readonly #cycle: Cycle;
  /** By cluster: the patterns of its short rows and of its rows with claims on machines that are not bound. */
  readonly #patterns = new Map<number, Set<number>>();
  /** Clusters of which the claims on Configuring machines, and the borrowers, were added as well. */
  readonly #complete = new Set<number>();

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
    const { claims, credits, fleet, rankedRows, result } = cycle;
    for (const { rankedRow } of result.unmet) {
      // How much a row that is set aside wants is not known.
      if (rankedRows.kind[rankedRow] !== RowKind.SetAside) this.#add(rankedRow);
    }
    // Machines that are not bound are claimed in the pass only.
    for (const { from, to } of claims.ofPass(credits.end)) {
      for (let i = from; i < to; i++) {
        const slot = claims.slots[i]!;
        if (!isBound(fleet.machines.stateOf(slot))) this.#add(claims.claimedBy[slot]! - 1);
      }
    }
  }

  /** Whether a bound machine meets the requirements of such a row of its cluster. */
  matches(slot: number): boolean {
    const { classOf, cluster } = this.#cycle.fleet.machines;
    const patterns = this.#patternsOf(cluster[slot]!);
    for (const number of patterns) {
      if (this.#cycle.fleet.patterns.patternOf(number).matches(classOf[slot]!)) return true;
    }
    return false;
  }

  #patternsOf(cluster: number): ReadonlySet<number> {
    if (!this.#complete.has(cluster)) {
      this.#complete.add(cluster);
      const { claims, fleet } = this.#cycle;
      const slice = fleet.machines.boundOf(cluster)!.configuring;
      for (let i = slice.offset; i < slice.offset + slice.length; i++)
        this.#add(claims.claimedBy[fleet.machines.arena.data[i]!]! - 1);
      this.#addBorrowers(cluster);
    }
    return this.#patterns.get(cluster) ?? NO_PATTERNS;
  }

  /** Adds rows that borrow from machines that are not yet Configured. */
  #addBorrowers(cluster: number): void {
    const { fleet, rankedRows, sharing } = this.#cycle;
    if (!sharing.isActive) return;
    for (let rankedRow = rankedRows.start[cluster]!; rankedRow < rankedRows.end[cluster]!; rankedRow++) {
      const waits = sharing
        .sharesOf(rankedRow)
        .some(({ slot }) => fleet.machines.state[slot] !== MachineState.Configured);
      if (waits) this.#add(rankedRow);
    }
  }

  #add(rankedRow: number): void {
    if (rankedRow === NONE) return;
    const { cluster, pattern } = this.#cycle.rankedRows;
    const patterns = this.#patterns.get(cluster[rankedRow]!);
    if (patterns === undefined) this.#patterns.set(cluster[rankedRow]!, new Set([pattern[rankedRow]!]));
    else patterns.add(pattern[rankedRow]!);
  }
}

const NO_PATTERNS: ReadonlySet<number> = new Set();
