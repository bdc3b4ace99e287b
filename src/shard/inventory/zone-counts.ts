// Counts of one provider's machines by zone: those with a host that has not failed, and failing ones by error. Zones
// with neither are dropped, so the number of zones is at most that of machines. Part of provider-health.ts.

import type { ErrorClass } from './error-class.ts';

export interface Failure {
  readonly errorClass: ErrorClass;
  /** The purchase failed, so the machine never had a host. */
  readonly isPurchase: boolean;
}

export interface FailingZone {
  readonly zone: string;
  readonly failing: number;
  readonly failedPurchases: number;
  /** The most frequent error class, with its latest message. */
  readonly errorClass: ErrorClass;
  readonly error: string;
}

interface Sums {
  failing: number;
  purchases: number;
  readonly classes: Map<ErrorClass, { count: number; error: string }>;
}

export class ZoneCounts {
  #hosts = 0;
  readonly #hostsByZone = new Map<string, number>();
  readonly #failingByZone = new Map<string, Sums>();

  /** In all zones. */
  get hosts(): number {
    return this.#hosts;
  }

  hostsIn(zone: string): number {
    return this.#hostsByZone.get(zone) ?? 0;
  }

  addHost(zone: string, by: 1 | -1): void {
    const count = this.hostsIn(zone) + by;
    this.#hosts += by;
    if (count === 0) this.#hostsByZone.delete(zone);
    else this.#hostsByZone.set(zone, count);
  }

  addFailing(zone: string, { errorClass, isPurchase }: Failure, error: string): void {
    const sums = this.#failingByZone.get(zone) ?? { failing: 0, purchases: 0, classes: new Map() };
    this.#failingByZone.set(zone, sums);
    sums.failing++;
    sums.purchases += Number(isPurchase);
    sums.classes.set(errorClass, { count: (sums.classes.get(errorClass)?.count ?? 0) + 1, error });
  }

  removeFailing(zone: string, { errorClass, isPurchase }: Failure): void {
    const sums = this.#failingByZone.get(zone)!;
    const ofClass = sums.classes.get(errorClass)!;
    sums.failing--;
    sums.purchases -= Number(isPurchase);
    ofClass.count--;
    if (ofClass.count === 0) sums.classes.delete(errorClass);
    if (sums.failing === 0) this.#failingByZone.delete(zone);
  }

  /** Zones with failing machines; the counts of `hidden` are subtracted. */
  *failing(hidden: ZoneCounts): Generator<FailingZone> {
    for (const [zone, sums] of this.#failingByZone) {
      const left = hidden.#failingByZone.get(zone);
      const failing = sums.failing - (left?.failing ?? 0);
      if (failing === 0) continue;
      const visible = [...sums.classes].map(([errorClass, { count, error }]) => ({
        ...{ errorClass, error, count: count - (left?.classes.get(errorClass)?.count ?? 0) },
      }));
      const { errorClass, error } = visible.reduce((most, each) => (each.count > most.count ? each : most));
      yield {
        ...{ zone, failing, failedPurchases: sums.purchases - (left?.purchases ?? 0) },
        ...{ errorClass, error },
      };
    }
  }
}
