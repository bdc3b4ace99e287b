// The pass over the free machines: ranked rows that waited for it, in the order they were served, and the index of the first
// claim of each. The columns are reused, since a cold fleet has hundreds of thousands of rankedRows.

import { withRoom } from '../../collections/columns.ts';

export class Pass {
  #rankedRows = new Uint32Array(0);
  #from = new Uint32Array(0);
  count = 0;

  /** Adds the next ranked row; its claims of the pass begin at `from`. */
  enter(rankedRow: number, from: number): void {
    const place = this.count++;
    if (place === this.#rankedRows.length) {
      this.#rankedRows = withRoom(this.#rankedRows, this.count);
      this.#from = withRoom(this.#from, this.count);
    }
    this.#rankedRows[place] = rankedRow;
    this.#from[place] = from;
  }

  turnAt(place: number): number {
    return this.#rankedRows[place]!;
  }

  /** Index of the first claim of the ranked row at `place`; its claims end where those of the next one begin. */
  fromAt(place: number): number {
    return this.#from[place]!;
  }

  clear(): void {
    this.count = 0;
  }
}
