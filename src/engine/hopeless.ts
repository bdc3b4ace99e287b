// Hopeless gangs: those that no domain could hold, whoever used its machines now. Whatever is in the pools, such a gang
// claims bound machines of its own and of nobody only, so the other rows of its cluster need not wait for it; it still
// sees theirs as they were at its turn. Who was found hopeless is tested anew when the next cycle begins.

import type { Cycle } from './cycle.ts';
import { NONE, TurnKind } from './turns.ts';

export class Hopeless {
  readonly #cycle: Cycle;
  readonly #keys = new Set<number>();

  constructor(cycle: Cycle) {
    this.#cycle = cycle;
  }

  /** Remembers a gang that is hopeless. Says whether its cluster was credited without knowing. */
  note(turn: number): boolean {
    const { turns } = this.#cycle;
    const cluster = turns.cluster[turn]!;
    // The turn of a member that its fold could not host lasts for one cycle.
    if (turn < turns.start[cluster]! || turn >= turns.end[cluster]!) return false;
    this.#keys.add(turns.key[turn]!);
    return turns.hopeless[turn] === 0;
  }

  /** Clusters, other than those in `changed`, with gangs that were hopeless and are no more. */
  flipped(changed: ReadonlySet<number>): Set<number> {
    const { turns } = this.#cycle;
    const flipped = new Set<number>();
    for (const key of this.#keys) {
      const turn = turns.ofKey[key]!;
      if (turn === NONE || turns.hopeless[turn] === 0 || changed.has(turns.cluster[turn]!)) continue;
      if (!this.#isHopeless(turn)) flipped.add(turns.cluster[turn]!);
    }
    return flipped;
  }

  /** Marks the turns of all gangs that still are; the turns of all clusters are made. */
  mark(): void {
    const { turns } = this.#cycle;
    for (const key of this.#keys) {
      const turn = turns.ofKey[key]!;
      const still = turn !== NONE && turns.kind[turn] === TurnKind.Gang && this.#isHopeless(turn);
      if (still) turns.hopeless[turn] = 1;
      else this.#keys.delete(key);
    }
  }

  #isHopeless(turn: number): boolean {
    const { stocks, turns } = this.#cycle;
    return stocks.of(turn).possible(turns.row[turn]!).length === 0;
  }
}
