// Samples which hosts are lost, without a draw per host and tick. Each host draws a threshold once, exponentially
// distributed with mean 1; the cumulative hazard −ln(1 − p) · factor · hours grows with the current rate p, and a host is
// lost when it reaches its threshold. Equivalent to probability p per hour; a tick costs O(log n) per lost host.

import { MinHeap } from '../../collections/heap.ts';

/** At probability 1 the cumulative hazard would be infinite, and every host added later would be lost at once. */
const MOST_PROBABLE = 0.999_999;

export class Hazard<T> {
  #hosts = new MinHeap<T>();
  #sum = 0;

  /** Entries, including hosts that were removed elsewhere and not yet purged by `keep`. */
  get size(): number {
    return this.#hosts.size;
  }

  /** `bears` is the threshold of the host, exponentially distributed with mean 1. */
  add(host: T, bears: number): void {
    this.#hosts.push(this.#sum + bears, host);
  }

  /** Advances by `hours` at `probability` per hour, times `factor`. Returns the hosts lost, which are removed. */
  pass(hours: number, probability: number, factor = 1): readonly T[] {
    this.#sum += -Math.log(1 - Math.min(probability, MOST_PROBABLE)) * factor * hours;
    const struck: T[] = [];
    while (this.#hosts.size > 0 && this.#hosts.rank! <= this.#sum) struck.push(this.#hosts.pop()!);
    return struck;
  }

  /** Purges hosts that were removed elsewhere. At low rates they would otherwise stay in the heap indefinitely. */
  keep(isThere: (host: T) => boolean): void {
    const kept = new MinHeap<T>();
    while (this.#hosts.size > 0) {
      const rank = this.#hosts.rank!;
      const host = this.#hosts.pop()!;
      if (isThere(host)) kept.push(rank, host);
    }
    this.#hosts = kept;
  }
}
