// The pass over the free machines: turns that waited for it, in the order they were served, and the index of the first
// claim of each. The columns are reused, since a cold fleet has hundreds of thousands of turns.

import { withRoom } from '../../collections/columns.ts';

export class Pass {
  #turns = new Uint32Array(0);
  #from = new Uint32Array(0);
  count = 0;

  /** Adds the next turn; its claims of the pass begin at `from`. */
  enter(turn: number, from: number): void {
    const place = this.count++;
    if (place === this.#turns.length) {
      this.#turns = withRoom(this.#turns, this.count);
      this.#from = withRoom(this.#from, this.count);
    }
    this.#turns[place] = turn;
    this.#from[place] = from;
  }

  turnAt(place: number): number {
    return this.#turns[place]!;
  }

  /** Index of the first claim of the turn at `place`; its claims end where those of the next one begin. */
  fromAt(place: number): number {
    return this.#from[place]!;
  }

  clear(): void {
    this.count = 0;
  }
}
