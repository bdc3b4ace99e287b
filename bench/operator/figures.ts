// What `bench operator` reports, and what the measured process prints to the one that feeds it.

import type { Quantiles } from '../quantiles.ts';
import type { ClusterSize } from './workload.ts';

export interface OperatorFigures {
  readonly rows: number;
  readonly rollups: number;
  readonly rollupBytes: number;
  /** Building a roll-up, node facts included, and handing it to the session. */
  readonly rollupMs: Quantiles;
  /** The same as CPU time of the thread, which other work on the machine does not lengthen. */
  readonly rollupCpuMs: Quantiles;
  /** CPU time of the whole process from one roll-up to the next: connections, JSON, events, the roll-up, collections. */
  readonly cpuMs: Quantiles;
  /** CPU and time from the start of the process to the first roll-up. */
  readonly startCpuSeconds: number;
  readonly startSeconds: number;
  /** Largest resident size of the process, start included. */
  readonly peakRssMiB: number;
  readonly endRssMiB: number;
}

/** Printed after each roll-up. */
export interface RollupLine {
  readonly rollup: number;
}

/** A change may not exceed them. */
export interface OperatorLimits {
  /** p99. */
  readonly rollupMs: number;
  readonly rssMiB: number;
  readonly startCpuSeconds: number;
}

/** The JSON document. */
export interface OperatorResult extends OperatorFigures {
  readonly settings: ClusterSize & {
    readonly rollups: number;
    readonly share: number;
    readonly seed: number;
  };
  readonly limits: OperatorLimits;
  /** Empty if every limit is kept. */
  readonly exceeded: readonly string[];
}
