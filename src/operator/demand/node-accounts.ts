// What is counted per node: the DaemonSet and static pods, which belong to the row of the node's best-ranked pod, and how
// many pods a drain would have to evict. Both walk the list of the node's pods, and only if that changed.

import type { ResourceVector } from '../../model/index.ts';
import type { Budgets } from './budgets.ts';
import type { NodeUse } from './contract.ts';
import type { CountedInterner } from './counted-interner.ts';
import type { NodeEntry } from './nodes.ts';
import type { PodTable } from './pod-table.ts';
import { compareRows, type Row, type Rows } from './rows.ts';
import { Flag, NEVER_COUNTS } from './standing.ts';

const NO_USE: NodeUse = { pods: 0, doNotDisrupt: 0, withoutBudget: 0 };

export class NodeAccounts {
  readonly #table: PodTable;
  readonly #rows: Rows;
  readonly #vectors: CountedInterner<ResourceVector>;
  readonly #budgets: Budgets;

  constructor(table: PodTable, rows: Rows, vectors: CountedInterner<ResourceVector>, budgets: Budgets) {
    this.#table = table;
    this.#rows = rows;
    this.#vectors = vectors;
    this.#budgets = budgets;
  }

  /** Counts the overhead of a node for the row of its best-ranked pod; for none if no pod of the node counts. */
  settleOverhead(entry: NodeEntry): void {
    const before = entry.overhead;
    const after = this.#overheadOf(entry);
    if (
      before === null ? after === null : after?.row === before.row && isEqual(after.vectors, before.vectors)
    )
      return;
    for (const vector of after?.vectors ?? []) after!.row.addOverhead(vector);
    entry.overhead = after;
    if (before === null) return;
    for (const vector of before.vectors) before.row.subtractOverhead(vector);
    this.#rows.removeIfEmpty(before.row);
  }

  #overheadOf(entry: NodeEntry): NodeEntry['overhead'] {
    if (!entry.isManaged) return null;
    const { row: rowOf, flags, nextOnNode, vector } = this.#table;
    let best: Row | null = null;
    const vectors: ResourceVector[] = [];
    for (let slot = entry.first; slot !== 0; slot = nextOnNode[slot]!) {
      if (rowOf[slot] !== 0) {
        const row = this.#rows.at(rowOf[slot]!);
        if (best === null || (row !== best && compareRows(row, best) < 0)) best = row;
      } else if ((flags[slot]! & (NEVER_COUNTS | Flag.Ignored)) === Flag.Overhead) {
        const resources = this.#vectors.valueOf(vector[slot]!);
        // Pods that request nothing must not be a reason to refer to a row, which they do not keep from being removed.
        if (resources.size > 0) vectors.push(resources);
      }
    }
    return best === null || vectors.length === 0 ? null : { row: best, vectors };
  }

  useOf(entry: NodeEntry): NodeUse {
    if (entry.first === 0) return NO_USE;
    const { flags, labels, nextOnNode } = this.#table;
    let pods = 0;
    let doNotDisrupt = 0;
    let withoutBudget = 0;
    for (let slot = entry.first; slot !== 0; slot = nextOnNode[slot]!) {
      const each = flags[slot]!;
      if ((each & (Flag.Finished | Flag.Overhead)) !== 0) continue;
      pods++;
      // A pod that is leaving by itself no longer protects its node.
      if ((each & Flag.Terminating) !== 0) continue;
      if ((each & Flag.DoNotDisrupt) !== 0) doNotDisrupt++;
      // The eviction API asks no budget for a pod that has not run yet.
      if ((each & Flag.Pending) !== 0) continue;
      if (this.#budgets.isWithoutRoom(labels[slot]!, (each & Flag.Unready) !== 0)) withoutBudget++;
    }
    return { pods, doNotDisrupt, withoutBudget };
  }
}

/** Equal vectors are one object; another order is no reason to count them again, but does not occur often. */
function isEqual(a: readonly ResourceVector[], b: readonly ResourceVector[]): boolean {
  return a.length === b.length && a.every((vector, i) => vector === b[i]);
}
