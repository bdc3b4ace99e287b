// How long machines of an instance type take to drain: the median of the last ones. The ledger hears of it only when it
// has moved by a fifth, because telling it touches every machine of the type.

/** Drains remembered per instance type. */
const WINDOW = 31;
/** Drains from which on a median means something. */
const LEAST = 3;
const CHANGE = 0.2;

interface Times {
  readonly seconds: number[];
  told: number | null;
}

export class DrainTimes {
  readonly #tell: (instanceType: string, seconds: number) => void;
  readonly #types = new Map<string, Times>();

  constructor(tell: (instanceType: string, seconds: number) => void) {
    this.#tell = tell;
  }

  add(instanceType: string, seconds: number): void {
    const times = this.#types.get(instanceType) ?? { seconds: [], told: null };
    this.#types.set(instanceType, times);
    times.seconds.push(seconds);
    if (times.seconds.length > WINDOW) times.seconds.shift();
    if (times.seconds.length < LEAST) return;
    const median = times.seconds.toSorted((a, b) => a - b)[times.seconds.length >> 1]!;
    if (times.told !== null && Math.abs(median - times.told) <= CHANGE * Math.max(times.told, 1)) return;
    times.told = median;
    this.#tell(instanceType, median);
  }
}
