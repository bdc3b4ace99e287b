// Median drain time per instance type. The ledger is updated only when the median has halved or doubled: an update touches
// every machine of the type, and a smaller change hardly affects a victim's score. Fed by actuation.ts after each drain;
// Phase 2 scores victims with the result.

/** Latest drains kept per instance type. */
const WINDOW = 31;
/** Fewest drains for which the median is reported. */
const MIN_DRAINS = 3;
const FACTOR = 2;

interface Times {
  readonly seconds: number[];
  reported: number | null;
}

export class DrainTimes {
  readonly #report: (instanceType: string, seconds: number) => void;
  readonly #types = new Map<string, Times>();

  constructor(report: (instanceType: string, seconds: number) => void) {
    this.#report = report;
  }

  add(instanceType: string, seconds: number): void {
    const times = this.#types.get(instanceType) ?? { seconds: [], reported: null };
    this.#types.set(instanceType, times);
    times.seconds.push(seconds);
    if (times.seconds.length > WINDOW) times.seconds.shift();
    if (times.seconds.length < MIN_DRAINS) return;
    const median = times.seconds.toSorted((a, b) => a - b)[times.seconds.length >> 1]!;
    if (times.reported !== null && isAlike(median, times.reported)) return;
    times.reported = median;
    this.#report(instanceType, median);
  }
}

/** Values below 1 s count as 1 s. */
function isAlike(a: number, b: number): boolean {
  const [least, most] = [Math.max(1, Math.min(a, b)), Math.max(1, a, b)];
  return most < least * FACTOR;
}
