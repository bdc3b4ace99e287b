// What `bench web` reports. Read by bench/record/web-section.ts, too.

import type { Quantiles } from '../quantiles.ts';
import type { Settings } from '../shard/settings.ts';

/** One window of the measurement. */
export interface ShardCpu {
  /** Percent of one core, all threads of the shard. */
  readonly cpuPercent: number;
  readonly cycles: number;
}

export interface PageTraffic {
  readonly events: number;
  readonly requests: number;
  /** Requests that were not answered with 200. */
  readonly refused: number;
  readonly megabytes: number;
  readonly answerMs: Quantiles;
}

export interface WebFigures {
  readonly settings: Pick<Settings, 'clusters' | 'needs' | 'machines' | 'intervalMs' | 'seconds'>;
  /** Before and after the window with the page. */
  readonly without: readonly ShardCpu[];
  readonly withPage: ShardCpu;
  /** `withPage` less the mean of `without`. */
  readonly differencePercent: number;
  readonly page: PageTraffic;
}
