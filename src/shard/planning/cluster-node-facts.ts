// How clusters use their nodes, as their operators report it with their roll-ups. The ledger keeps the use of a bound
// machine until it leaves its cluster, so facts are applied when they arrive, and again when a machine that they name
// becomes bound. A machine whose drain was withdrawn lately counts as protected, whatever the operator says of it. Made
// by controller.ts.

import type { MachineChange } from '../../fleet/index.ts';
import type { NODE_USES, NodeFacts } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { MachineFactsStore } from '../inventory/machine-facts-store.ts';
import type { MachineLedger } from '../inventory/machine-ledger.ts';

export interface ClusterNodeFactsParts {
  readonly ledger: MachineLedger;
  readonly machineFacts: MachineFactsStore;
  readonly clock: Clock;
  /** Writes the facts of a cluster to the ledger; they replace those before. */
  readonly apply: (cluster: string, facts: NodeFacts) => void;
}

const NO_FACTS: NodeFacts = new Map();

export class ClusterNodeFacts {
  readonly #parts: ClusterNodeFactsParts;
  readonly #byCluster = new Map<string, NodeFacts>();
  /** Clusters whose facts must be applied before the next commit. */
  readonly #dirty = new Set<string>();
  /** Machines that count as protected because a drain of them was withdrawn, as of the last `flush`. */
  #protected: ReadonlyMap<string, string> = new Map();

  constructor(parts: ClusterNodeFactsParts) {
    this.#parts = parts;
    parts.ledger.listen((change) => this.#moved(change));
  }

  reported(cluster: string, facts: NodeFacts): void {
    if (facts.size === 0) this.#byCluster.delete(cluster);
    else this.#byCluster.set(cluster, facts);
    this.#dirty.add(cluster);
  }

  /** The use of a machine as it was last reported, or protected; null if nothing is known. */
  of(machine: string, cluster: string): (typeof NODE_USES)[number] | null {
    if (this.#protected.has(machine)) return 'protected';
    return this.#byCluster.get(cluster)?.get(machine) ?? null;
  }

  /** Applies what changed. Called before each commit, which makes it part of the journal's input. */
  flush(): void {
    this.#noteProtected();
    for (const cluster of this.#dirty) this.#parts.apply(cluster, this.#factsOf(cluster));
    this.#dirty.clear();
  }

  #moved({ id, before, after }: MachineChange): void {
    const cluster = after?.cluster ?? '';
    if (cluster !== '' && before?.cluster !== cluster && this.#byCluster.get(cluster)?.has(id) === true)
      this.#dirty.add(cluster);
  }

  #noteProtected(): void {
    const { machineFacts, ledger, clock } = this.#parts;
    const nowMs = clock.now();
    const now = new Map<string, string>();
    for (const [id, untilMs] of machineFacts.protected()) {
      const cluster = ledger.statusOf(id)?.cluster ?? '';
      if (untilMs > nowMs && cluster !== '') now.set(id, cluster);
    }
    for (const [id, cluster] of now) if (!this.#protected.has(id)) this.#dirty.add(cluster);
    for (const [id, cluster] of this.#protected) if (!now.has(id)) this.#dirty.add(cluster);
    this.#protected = now;
  }

  #factsOf(cluster: string): NodeFacts {
    const reported = this.#byCluster.get(cluster) ?? NO_FACTS;
    const mine = [...this.#protected].flatMap(([id, of]) =>
      of === cluster ? [[id, 'protected'] as const] : [],
    );
    return mine.length === 0 ? reported : new Map([...reported, ...mine]);
  }
}
