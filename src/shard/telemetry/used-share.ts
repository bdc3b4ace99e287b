// How much of serving machines is used, as one figure: the share of the resource that is used most, since spare amounts of
// the others are of little use without it. Defined here for all figures: of the fleet by kind of hardware
// (planning/queries/series.ts, cost.ts) and of a cluster (planning/queries/cluster-page.ts).

export interface UsedShare {
  /** 0 to 1. */
  readonly share: number;
  /** Index of the resource, the first one of those with this share. */
  readonly index: number;
}

/** `used` and `offered` by resource; null if nothing is offered. */
export function usedShareOf(used: ArrayLike<number>, offered: ArrayLike<number>): UsedShare | null {
  let most: UsedShare | null = null;
  for (let index = 0; index < offered.length; index++) {
    if (offered[index] === 0) continue;
    const share = Math.min(1, used[index]! / offered[index]!);
    if (most === null || share > most.share) most = { share, index };
  }
  return most;
}

/** For display: to a hundredth of a percent. */
export function roundedShare(share: number): number {
  return Math.round(share * 10_000) / 10_000;
}
