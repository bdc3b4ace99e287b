// Facts about machines that must survive a restart and that no provider stores: target, current stamp, time since
// Idle, and verdicts of people. They are written before the provider is called for a machine. Owned by the controller:
// cycles and actuation flush them, reconcile recalls them. storage/ has the stores.

import type { WrittenMachines } from '../../fleet/index.ts';
import type { Action, NeedKey, Stamp } from '../../model/index.ts';
import type { ActionRecord } from '../actuation/action-records.ts';
import type { MachineLedger } from './machine-ledger.ts';

interface Quarantine {
  /** A person, or 'shard'. */
  readonly by: string;
  readonly why: string;
  readonly sinceMs: number;
}

/** A drain that waits for its cluster: enough to go on with it after a restart. */
export interface StoredDrain {
  /** Id of the action and of the instruction to the operator. */
  readonly id: string;
  readonly action: Action;
  readonly about: Pick<ActionRecord, 'need' | 'capacityType' | 'zone' | 'from' | 'leaving'>;
  readonly startedMs: number;
  readonly untilMs: number;
}

/** What the operator reported of the node of a machine. */
export interface NodeNote {
  /** '' if the node has not registered. */
  readonly name: string;
  /** The provider's id in the Node object; '' if it has none. */
  readonly providerId: string;
  /** Why the node did not register in time; '' if it did. */
  readonly joinError: string;
}

/** What a person, the shard itself or the operator has said about a machine. */
export interface Verdicts {
  readonly quarantine: Quarantine | null;
  /** A person has hidden the Failed machine. */
  readonly isForgotten: boolean;
  /** The drain that waits for the cluster; null if none does. */
  readonly drain: StoredDrain | null;
  /** Until when the machine is not reclaimed, because a drain of it was withdrawn; null if none was. */
  readonly protectedUntilMs: number | null;
  readonly node: NodeNote | null;
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

const NO_VERDICTS: Verdicts = {
  quarantine: null,
  isForgotten: false,
  drain: null,
  protectedUntilMs: null,
  node: null,
};

export class MachineFactsStore {
  readonly #ledger: MachineLedger;
  readonly #store: MachineStore;
  readonly #verdicts = new Map<string, Verdicts>();
  /** Machines with `protectedUntilMs`; apart, because every cycle reads them and every joined machine has verdicts. */
  readonly #protected = new Set<string>();
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
      if (isVerdict(facts)) this.#verdicts.set(facts.id, verdictsIn(facts));
      if (facts.protectedUntilMs !== null) this.#protected.add(facts.id);
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
    this.note(id, verdicts);
    this.#save([id]);
  }

  /** Like `judge`, but saved by the next `flush`. */
  note(id: string, verdicts: Partial<Verdicts>): void {
    const all = { ...this.verdictsOn(id), ...verdicts };
    if (isVerdict(all)) this.#verdicts.set(id, all);
    else this.#verdicts.delete(id);
    if (all.protectedUntilMs !== null) this.#protected.add(id);
    else this.#protected.delete(id);
    this.#unsaved.add(id);
  }

  /** Machines that are not reclaimed until a time, with that time. */
  *protected(): Generator<readonly [id: string, untilMs: number]> {
    for (const id of this.#protected) {
      const { protectedUntilMs } = this.verdictsOn(id);
      if (protectedUntilMs === null) this.#protected.delete(id);
      else yield [id, protectedUntilMs];
    }
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

function isVerdict({ quarantine, isForgotten, drain, protectedUntilMs, node }: Verdicts): boolean {
  return quarantine !== null || isForgotten || drain !== null || protectedUntilMs !== null || node !== null;
}

function verdictsIn({ quarantine, isForgotten, drain, protectedUntilMs, node }: Verdicts): Verdicts {
  return { quarantine, isForgotten, drain, protectedUntilMs, node };
}
