// How long machines of an instance type take to drain: the median of the last ones. The ledger hears of it only when it
// has halved or doubled: telling it touches every machine of the type, and a victim's score hardly feels less.

/** Drains remembered per instance type. */
const WINDOW = 31;
/** Drains from which on a median means something. */
const LEAST = 3;
const FACTOR = 2;

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
    if (times.told !== null && isAlike(median, times.told)) return;
    times.told = median;
    this.#tell(instanceType, median);
  }
}

/** Below a second nobody tells the difference. */
function isAlike(a: number, b: number): boolean {
  const [least, most] = [Math.max(1, Math.min(a, b)), Math.max(1, a, b)];
  return most < least * FACTOR;
}
