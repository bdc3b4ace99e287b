// Configured machines by class, cluster and priority. Computed per class on first use and discarded with the survey's
// refresh: the ledger itself keeps counts by class and state only. Used by capacity-survey.ts.

import type { MachineTable } from '../../fleet/index.ts';

/** Number of machines by priority of their stamp. */
type ByPriority = Map<number, number>;

interface ClassHolders {
  readonly all: ByPriority;
  readonly byCluster: Map<number, ByPriority>;
}

export class Holders {
  readonly #machines: MachineTable;
  readonly #classes = new Map<number, ClassHolders>();
  /** Machines visited so far. */
  visits = 0;

  constructor(machines: MachineTable) {
    this.#machines = machines;
  }

  /** Number of unblocked Configured machines of a class that serve other clusters at a priority below `priority`. */
  below(classNumber: number, priority: number, cluster: number): number {
    const { all, byCluster } = this.#holdersOf(classNumber);
    return countBelow(all, priority) - countBelow(byCluster.get(cluster), priority);
  }

  #holdersOf(classNumber: number): ClassHolders {
    let holders = this.#classes.get(classNumber);
    if (holders === undefined) {
      holders = this.#look(classNumber);
      this.#classes.set(classNumber, holders);
    }
    return holders;
  }

  #look(classNumber: number): ClassHolders {
    const { arena, cluster, configuredSlices, stamp, stamps } = this.#machines;
    const holders: ClassHolders = { all: new Map(), byCluster: new Map() };
    const run = configuredSlices[classNumber];
    if (run === undefined) return holders;
    this.visits += run.length;
    for (let i = run.offset; i < run.offset + run.length; i++) {
      const slot = arena.data[i]!;
      // A machine without a recorded priority cannot be a victim.
      if (stamps.hasPriority[stamp[slot]!] === 0) continue;
      const priority = stamps.priority[stamp[slot]!]!;
      let own = holders.byCluster.get(cluster[slot]!);
      if (own === undefined) {
        own = new Map();
        holders.byCluster.set(cluster[slot]!, own);
      }
      for (const counts of [holders.all, own]) counts.set(priority, (counts.get(priority) ?? 0) + 1);
    }
    return holders;
  }
}

function countBelow(counts: ByPriority | undefined, limit: number): number {
  let sum = 0;
  for (const [priority, count] of counts ?? []) if (priority < limit) sum += count;
  return sum;
}
