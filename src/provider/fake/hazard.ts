// Which hosts an ever-present danger strikes, and when, without rolling dice for every host at every tick: each host
// can bear so much danger, drawn once; danger adds up over time, faster or slower as the rate moves, and strikes
// whoever has borne enough. Equal to a chance per hour, at the cost of those that are struck.

import { MinHeap } from '../../model/index.ts';

/** A certainty would strike at once and for ever. */
const MOST_PROBABLE = 0.999_999;

export class Hazard<T> {
  readonly #hosts = new MinHeap<T>();
  #sum = 0;

  /** `bears` is exponentially distributed with mean 1. */
  add(host: T, bears: number): void {
    this.#hosts.push(this.#sum + bears, host);
  }

  /** Lets so many hours pass with this chance per hour, times a factor; the hosts that were struck. */
  pass(hours: number, probability: number, factor = 1): readonly T[] {
    this.#sum += -Math.log(1 - Math.min(probability, MOST_PROBABLE)) * factor * hours;
    const struck: T[] = [];
    while (this.#hosts.size > 0 && this.#hosts.rank! <= this.#sum) struck.push(this.#hosts.pop()!);
    return struck;
  }
}
