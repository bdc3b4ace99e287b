// The answer of an assessment as plain values: what `bigfleet assess -o json` prints, and what the terminal report and the page
// are made of. assess.ts makes it; docs/start/assess.md defines every figure.

import type { Remark } from './cluster-demand.ts';
import type { LeftOut } from './priced-nodes.ts';
import type { UnmetPods } from './settled.ts';
import type { StrandedResource } from './stranded.ts';

export interface CatalogueFacts {
  readonly file: string;
  readonly isInvented: boolean;
  /** Where the prices come from; '' if the file does not say. */
  readonly source: string;
  readonly date: string;
}

/** Machines of one kind. */
export interface TypeCount {
  readonly instanceType: string;
  readonly capacityType: string;
  readonly machines: number;
  readonly dollarsPerHour: number;
}

export interface Fleet {
  readonly machines: number;
  readonly dollarsPerHour: number;
  /** Most expensive first. */
  readonly types: readonly TypeCount[];
}

/** What BigFleet would run for the same pods, beginning with nothing but owned and reserved machines. */
export interface FreshFleet extends Fleet {
  /** By cluster; machines that no cluster uses are in the total alone. */
  readonly clusters: readonly {
    readonly name: string;
    readonly machines: number;
    readonly dollarsPerHour: number;
  }[];
  readonly unmet: readonly UnmetPods[];
  readonly withoutRoom: number;
  /** Dollars per hour of rented machines after each cycle. */
  readonly course: readonly number[];
}

export interface ClusterAssessment {
  readonly name: string;
  readonly now: Fleet;
  /** Nodes that are in no figure, and neither are their pods. */
  readonly leftOut: readonly LeftOut[];
  readonly needs: number;
  /** Pods that count for a Need; of those, pods that wait for a node. */
  readonly pods: number;
  readonly waitingPods: number;
  readonly stranded: readonly StrandedResource[];
  /** Pods that no Need could express, by reason, and what Needs leave out of pods that they count. */
  readonly notExpressed: readonly Remark[];
  readonly remarks: readonly Remark[];
  readonly gaps: readonly string[];
}

/** One side of the comparison of sharing: the nodes that exist, and what is bought in addition. */
export interface SharingSide {
  readonly bought: Fleet;
  /** Nodes that no pod needs. */
  readonly spare: Fleet;
  /** Pods that are not served. */
  readonly unmetPods: number;
}

export interface Sharing {
  /** Sums over the clusters, each with its own nodes only. */
  readonly apart: SharingSide;
  readonly apartByCluster: readonly (SharingSide & { readonly name: string })[];
  /** All clusters with all nodes. */
  readonly together: SharingSide;
  /** Purchases that another cluster's spare nodes make unnecessary, in dollars per hour. */
  readonly avoidedPerHour: number;
  /** Spare nodes beyond the largest spare of one cluster, in dollars per hour; a possibility, not a saving by itself. */
  readonly headroomPerHour: number;
}

export interface Assessment {
  readonly catalogue: CatalogueFacts;
  readonly at: string;
  readonly now: Fleet;
  readonly clusters: readonly ClusterAssessment[];
  readonly strandedPerHour: number;
  /** With on-demand machines alone, and with spot machines too; null if the catalogue has none of that kind. */
  readonly onDemand: FreshFleet | null;
  readonly withSpot: FreshFleet | null;
  /** null for one cluster. */
  readonly sharing: Sharing | null;
}
