// The pass over the pools: turns that waited for it, in the order they were served, and where the claims of each begin.
// In columns that stay, since a cold fleet has hundreds of thousands.

import { withRoom } from '../fleet/index.ts';

export class Pass {
  #turns = new Uint32Array(0);
  #from = new Uint32Array(0);
  count = 0;

  /** The next turn is served; its claims of the pass begin at `from`. */
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

  /** Where the claims of the turn at a place begin; they end where those of the next one begin. */
  fromAt(place: number): number {
    return this.#from[place]!;
  }

  clear(): void {
    this.count = 0;
  }
}
