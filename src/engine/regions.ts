// Regions: each cluster's part of some columns, reserved before the cluster is served, so that threads write side by
// side. A region stays where it is for as long as what the cluster needs fits into it.

import { type Block, Blocks } from '../fleet/index.ts';

/** A region that is more than so many times too large is given back. */
const SLACK = 4;

export class Regions {
  readonly #blocks = new Blocks();
  readonly #of: (Block | undefined)[] = [];

  /** One more than the largest index in any region. */
  get end(): number {
    return this.#blocks.end;
  }

  /** Where the region of a cluster begins, with room for `length` entries. What the cluster had there may be gone. */
  reserve(cluster: number, length: number): number {
    const old = this.#of[cluster];
    if (old !== undefined && length <= old.capacity && length * SLACK >= old.capacity) return old.offset;
    if (old !== undefined) this.#blocks.giveBack(old);
    const block = length === 0 ? undefined : this.#blocks.take(length);
    this.#of[cluster] = block;
    return block?.offset ?? 0;
  }
}
