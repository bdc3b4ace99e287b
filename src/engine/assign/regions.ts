// Regions: each cluster's part of some columns, reserved before the cluster is served, so that threads write in
// parallel. A region keeps its place for as long as the cluster's entries fit into it. Used by ranked-rows.ts,
// bound-machines.ts and credits.ts.

import { type Block, Blocks } from '../../collections/blocks.ts';

/** A region whose capacity exceeds its length by more than this factor is freed and allocated again. */
const SLACK = 4;

export class Regions {
  readonly #blocks = new Blocks();
  readonly #of: (Block | undefined)[] = [];

  /** One more than the largest index in any region. */
  get end(): number {
    return this.#blocks.end;
  }

  /** Start of a cluster's region, with room for `length` entries. Its previous contents may be lost. */
  reserve(cluster: number, length: number): number {
    const old = this.#of[cluster];
    if (old !== undefined && length <= old.capacity && length * SLACK >= old.capacity) return old.offset;
    if (old !== undefined) this.#blocks.giveBack(old);
    const block = length === 0 ? undefined : this.#blocks.take(length);
    this.#of[cluster] = block;
    return block?.offset ?? 0;
  }
}
