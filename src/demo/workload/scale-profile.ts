// Scale profiles: size and contents of a generated fleet, and the thresholds that a benchmark on it must meet. Types
// only; testing/workload/scale-profile.ts reads the files in bench/profiles, and the demo makes one of its own
// (demand/average-demand.ts).

import type { Catalogue } from '../catalogues/catalogue.ts';

/** Changes between two cycles, as fractions from 0 to 1. */
export interface Change {
  /** Clusters that send a new roll-up. */
  readonly clusters: number;
  /** Rows of such a roll-up that differ from the last one. */
  readonly rows: number;
  /** Machines whose record changes. */
  readonly machines: number;
}

/** The upper bound of a cycle in one regime, and its justification. */
export interface Threshold {
  readonly regime: string;
  readonly p99Ms: number;
  readonly why: string;
}

export interface ScaleProfile {
  readonly name: string;
  readonly about: string;
  readonly catalogue: Catalogue;
  readonly clusters: number;
  /** Rows of all clusters together. */
  readonly needs: number;
  /** Machine records by state at rest. */
  readonly configured: number;
  readonly idle: number;
  readonly speculative: number;
  /** Pods on a machine, for archetypes that do not set it. */
  readonly density: number;
  /** Whether gangs remain rows of their own; otherwise their pods are plain demand (the aggregated regime). */
  readonly groups: boolean;
  /** Regions; every cluster and every machine is in one of them. 0: there is no region label. */
  readonly regions: number;
  /** Fraction of rows that may use machines of any region; all others are bound to that of their cluster. */
  readonly roaming: number;
  /** Racks per zone; 0: derived from `machinesPerRack`. */
  readonly racksPerZone: number;
  readonly machinesPerRack: number;
  /**
   * Upper bound of a machine's excess over nominal size, as a fraction; above 0 every machine also has a label of its
   * own.
   */
  readonly jitter: number;
  readonly churn: Change;
  readonly burst: Change;
  readonly thresholds: readonly Threshold[];
}
