// Facts about machines that must survive a restart and that no provider stores: target, current stamp, time since
// Idle, and verdicts of people. They are written before the provider is called for a machine. Owned by the controller:
// cycles and actuation flush them, reconcile recalls them. storage/ has the stores.

import type { WrittenMachines } from '../../fleet/index.ts';
import type { NeedKey, Stamp } from '../../model/index.ts';
import type { MachineLedger } from './machine-ledger.ts';

interface Quarantine {
  /** A person, or 'shard'. */
  readonly by: string;
  readonly why: string;
  readonly sinceMs: number;
}

/** What a person, or the shard itself, has decided about a machine. */
export interface Verdicts {
  readonly quarantine: Quarantine | null;
  /** A person has hidden the Failed machine. */
  readonly isForgotten: boolean;
}

export interface MachineFacts extends Verdicts {
  readonly id: string;
  /** The provider of the machine; '' in files written before the field existed. */
  readonly provider: string;
  readonly target: NeedKey | null;
  /** The cluster that the stamp belongs to; '' without a stamp. */
  readonly cluster: string;
  readonly stamp: Stamp | null;
  readonly idleSinceMs: number | null;
}

/** The machines' part of the shard's durable file. */
export interface MachineStore {
  load(): Iterable<MachineFacts>;
  /** Durable when it returns. */
  save(changed: readonly MachineFacts[], dropped: readonly string[]): void;
}

const NO_VERDICTS: Verdicts = { quarantine: null, isForgotten: false };

export class MachineFactsStore {
  readonly #ledger: MachineLedger;
  readonly #store: MachineStore;
  readonly #verdicts = new Map<string, Verdicts>();
  /** Facts from before the restart, of machines that no provider has listed yet. */
  readonly #recalled = new Map<string, MachineFacts>();
  /** Ids with an entry in the store. */
  readonly #stored = new Set<string>();
  /** Dirty machines: their entry in the store may be stale. */
  readonly #unsaved = new Set<string>();

  constructor(ledger: MachineLedger, store: MachineStore) {
    this.#ledger = ledger;
    this.#store = store;
    for (const facts of store.load()) {
      this.#stored.add(facts.id);
      this.#recalled.set(facts.id, facts);
      if (isVerdict(facts)) this.#verdicts.set(facts.id, facts);
    }
    ledger.listen(({ id, after }) => {
      this.#unsaved.add(id);
      // A machine that appears under the same id later is a different one.
      if (after === null) this.#verdicts.delete(id);
    });
  }

  verdictsOn(id: string): Verdicts {
    return this.#verdicts.get(id) ?? NO_VERDICTS;
  }

  /** Failed machines that a person has hidden. */
  *forgotten(): Generator<string> {
    for (const [id, { isForgotten }] of this.#verdicts) if (isForgotten) yield id;
  }

  judge(id: string, verdicts: Partial<Verdicts>): void {
    const { quarantine, isForgotten } = { ...this.verdictsOn(id), ...verdicts };
    if (quarantine === null && !isForgotten) this.#verdicts.delete(id);
    else this.#verdicts.set(id, { quarantine, isForgotten });
    this.#save([id]);
  }

  /** Removes and returns the facts of a machine from before the restart. */
  recall(id: string): MachineFacts | null {
    const facts = this.#recalled.get(id) ?? null;
    this.#recalled.delete(id);
    return facts;
  }

  /** Machines that a provider had before the restart and has not listed since. Machines without facts are not included. */
  unseenOf(provider: string): readonly string[] {
    return [...this.#recalled.values()].flatMap((facts) => (facts.provider === provider ? facts.id : []));
  }

  /** Drops and returns the facts of machines missing from the accepted full List of a provider: they no longer exist. */
  dropUnseen(provider: string): readonly MachineFacts[] {
    const ids = this.unseenOf(provider);
    const dropped = ids.map((id) => this.#recalled.get(id)!);
    for (const id of ids) {
      this.#recalled.delete(id);
      this.#verdicts.delete(id);
    }
    this.#save(ids);
    return dropped;
  }

  /** Marks machines dirty whose status a commit changed, by ended rows and re-stamps too. */
  committed({ statusChanged }: Pick<WrittenMachines, 'statusChanged'>): void {
    for (const slot of statusChanged) this.#unsaved.add(this.#ledger.fleet.machines.idOf(slot));
  }

  /** Saves all dirty machines in one write. */
  flush(): void {
    this.#save(this.#unsaved);
    this.#unsaved.clear();
  }

  #save(ids: Iterable<string>): void {
    const changed: MachineFacts[] = [];
    const dropped: string[] = [];
    for (const id of ids) {
      const facts = this.#factsOf(id);
      if (facts !== null) {
        changed.push(facts);
        this.#stored.add(id);
      } else if (this.#stored.delete(id)) dropped.push(id);
    }
    if (changed.length > 0 || dropped.length > 0) this.#store.save(changed, dropped);
  }

  #factsOf(id: string): MachineFacts | null {
    const status = this.#ledger.statusOf(id);
    if (status === null) return null;
    const { target, cluster, stamp, idleSinceMs } = status;
    const verdicts = this.verdictsOn(id);
    if (target === null && stamp === null && idleSinceMs === null && !isVerdict(verdicts)) return null;
    const provider = this.#ledger.ownerOf(id) ?? '';
    return { id, provider, target, cluster, stamp, idleSinceMs, ...verdicts };
  }
}

function isVerdict({ quarantine, isForgotten }: Verdicts): boolean {
  return quarantine !== null || isForgotten;
}
