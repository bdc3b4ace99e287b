// What is counted per node: the DaemonSet and static pods, which belong to the row of the node's best-ranked pod, and how
// many pods a drain would have to evict. The first walks the list of the node's pods, and only if that changed; the second
// follows each pod.

import type { ResourceVector } from '../../model/index.ts';
import type { Budgets } from './budgets.ts';
import type { CountedInterner } from './counted-interner.ts';
import type { NodeEntry } from './nodes.ts';
import type { PodTable } from './pod-table.ts';
import { compareRows, type Row, type Rows } from './rows.ts';
import { Flag, NEVER_COUNTS } from './standing.ts';

/** Bits of the column `use`: in which counts of `NodeUse` a pod is. */
const Use = { Pod: 1, DoNotDisrupt: 2, WithoutBudget: 4 } as const;

export class NodeAccounts {
  readonly #table: PodTable;
  readonly #rows: Rows;
  readonly #vectors: CountedInterner<ResourceVector>;
  readonly #budgets: Budgets;
  #changedUse = new Set<string>();

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

  /** With pods that opt out: they take room of their node all the same, as min_unit expects them to. */
  #overheadOf(entry: NodeEntry): NodeEntry['overhead'] {
    if (!entry.isManaged) return null;
    const { row: rowOf, flags, nextOnNode, vector } = this.#table;
    let best: Row | null = null;
    const vectors: ResourceVector[] = [];
    for (let slot = entry.first; slot !== 0; slot = nextOnNode[slot]!) {
      if (rowOf[slot] !== 0) {
        const row = this.#rows.at(rowOf[slot]!);
        if (best === null || (row !== best && compareRows(row, best) < 0)) best = row;
      } else if ((flags[slot]! & NEVER_COUNTS) === Flag.Overhead) {
        const resources = this.#vectors.valueOf(vector[slot]!);
        // Pods that request nothing must not be a reason to refer to a row, which they do not keep from being removed.
        if (resources.size > 0) vectors.push(resources);
      }
    }
    return best === null || vectors.length === 0 ? null : { row: best, vectors };
  }

  /** Counts a pod for the use of its node; again after its flags, its labels or a budget changed. */
  countUse(slot: number, entry: NodeEntry): void {
    this.#replaceUse(slot, entry, this.#useBits(slot));
  }

  /** The pod leaves the node. */
  uncountUse(slot: number, entry: NodeEntry): void {
    this.#replaceUse(slot, entry, 0);
  }

  /** Names of the nodes whose use changed, or whose object appeared or disappeared, since the last call. */
  takeChangedUse(): ReadonlySet<string> {
    const changed = this.#changedUse;
    this.#changedUse = new Set();
    return changed;
  }

  useChanged({ name }: NodeEntry): void {
    this.#changedUse.add(name);
  }

  #replaceUse(slot: number, entry: NodeEntry, after: number): void {
    const { use } = this.#table;
    const before = use[slot]!;
    if (before === after) return;
    use[slot] = after;
    const { pods, doNotDisrupt, withoutBudget } = entry.use;
    const change = (bit: number): number =>
      (after & bit) === (before & bit) ? 0 : (after & bit) === 0 ? -1 : 1;
    entry.use = {
      pods: pods + change(Use.Pod),
      doNotDisrupt: doNotDisrupt + change(Use.DoNotDisrupt),
      withoutBudget: withoutBudget + change(Use.WithoutBudget),
    };
    this.useChanged(entry);
  }

  #useBits(slot: number): number {
    const flags = this.#table.flags[slot]!;
    if ((flags & (Flag.Finished | Flag.Overhead)) !== 0) return 0;
    // A pod that is leaving by itself no longer protects its node.
    if ((flags & Flag.Terminating) !== 0) return Use.Pod;
    const bits = Use.Pod | ((flags & Flag.DoNotDisrupt) === 0 ? 0 : Use.DoNotDisrupt);
    // The eviction API asks no budget for a pod that has not run yet.
    if ((flags & Flag.Pending) !== 0) return bits;
    const isWithoutRoom = this.#budgets.isWithoutRoom(
      this.#table.labels[slot]!,
      (flags & Flag.Unready) !== 0,
    );
    return isWithoutRoom ? bits | Use.WithoutBudget : bits;
  }
}

/** Equal vectors are one object; another order is no reason to count them again, but does not occur often. */
function isEqual(a: readonly ResourceVector[], b: readonly ResourceVector[]): boolean {
  return a.length === b.length && a.every((vector, i) => vector === b[i]);
}
