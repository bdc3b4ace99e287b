// Samples which hosts cloud.ts loses in a tick, without a draw per host. Each host draws a threshold once,
// exponentially distributed with mean 1; the cumulative hazard −ln(1 − p) · factor · hours grows with the current rate
// p, and a host is lost when it reaches its threshold. Equivalent to probability p per hour; a tick costs O(log n) per
// lost host.

import { MinHeap } from '../../collections/heap.ts';

/** At probability 1 the cumulative hazard would be infinite, and every host added later would be lost at once. */
const MAX_PROBABILITY = 0.999_999;

export class Hazard<T> {
  #hosts = new MinHeap<T>();
  #sum = 0;

  /** Entries, including hosts that were removed elsewhere and not yet purged by `keep`. */
  get size(): number {
    return this.#hosts.size;
  }

  /** `threshold` is exponentially distributed with mean 1. */
  add(host: T, threshold: number): void {
    this.#hosts.push(this.#sum + threshold, host);
  }

  /** Advances by `hours` at `probability` per hour, times `factor`. Returns the hosts lost, which are removed. */
  pass(hours: number, probability: number, factor = 1): readonly T[] {
    this.#sum += -Math.log(1 - Math.min(probability, MAX_PROBABILITY)) * factor * hours;
    const lost: T[] = [];
    while (this.#hosts.size > 0 && this.#hosts.rank! <= this.#sum) lost.push(this.#hosts.pop()!);
    return lost;
  }

  /** Purges hosts that were removed elsewhere. At low rates they would otherwise stay in the heap indefinitely. */
  keep(exists: (host: T) => boolean): void {
    const kept = new MinHeap<T>();
    while (this.#hosts.size > 0) {
      const rank = this.#hosts.rank!;
      const host = this.#hosts.pop()!;
      if (exists(host)) kept.push(rank, host);
    }
    this.#hosts = kept;
  }
}
