// What the shard must still know of a machine after it was restarted, and no provider keeps for it: where the machine is
// on its way to, what it was stamped for since, how long it has been Idle, and what people said about it. Written before
// the provider is called for a machine.

import type { AppliedChanges } from '../../fleet/index.ts';
import type { NeedKey, Stamp } from '../../model/index.ts';
import type { Book } from './book.ts';

interface Quarantine {
  /** Who: a person, or 'shard'. */
  readonly by: string;
  readonly why: string;
  readonly sinceMs: number;
}

/** What people, or the shard in their place, decided about a machine. */
export interface Verdicts {
  readonly quarantine: Quarantine | null;
  /** A Failed machine that nobody wants to see any more. */
  readonly isForgotten: boolean;
}

export interface MachineFacts extends Verdicts {
  readonly id: string;
  /** That had the machine; '' in files from before it was written. */
  readonly provider: string;
  readonly target: NeedKey | null;
  /** The cluster the stamp belongs to; '' without one. */
  readonly cluster: string;
  readonly stamp: Stamp | null;
  readonly idleSinceMs: number | null;
}

/** The part of the shard's durable file that speaks of machines. */
export interface MachineStore {
  load(): Iterable<MachineFacts>;
  /** Durable when it returns. */
  save(changed: readonly MachineFacts[], dropped: readonly string[]): void;
}

const NO_VERDICTS: Verdicts = { quarantine: null, isForgotten: false };

export class MachineFactsStore {
  readonly #book: Book;
  readonly #store: MachineStore;
  readonly #verdicts = new Map<string, Verdicts>();
  /** From before the restart, of machines that no provider has listed yet. */
  readonly #recalled = new Map<string, MachineFacts>();
  /** Ids that the store speaks of. */
  readonly #stored = new Set<string>();
  /** Machines of which the store may not know the latest. */
  readonly #unsaved = new Set<string>();

  constructor(book: Book, store: MachineStore) {
    this.#book = book;
    this.#store = store;
    for (const facts of store.load()) {
      this.#stored.add(facts.id);
      this.#recalled.set(facts.id, facts);
      if (isVerdict(facts)) this.#verdicts.set(facts.id, facts);
    }
    book.listen((id, _before, after) => {
      this.#unsaved.add(id);
      // Whatever comes under the id later is another machine.
      if (after === null) this.#verdicts.delete(id);
    });
  }

  verdictsOn(id: string): Verdicts {
    return this.#verdicts.get(id) ?? NO_VERDICTS;
  }

  /** Failed machines that people do not want to see any more. */
  *forgotten(): Generator<string> {
    for (const [id, { isForgotten }] of this.#verdicts) if (isForgotten) yield id;
  }

  judge(id: string, verdicts: Partial<Verdicts>): void {
    const { quarantine, isForgotten } = { ...this.verdictsOn(id), ...verdicts };
    if (quarantine === null && !isForgotten) this.#verdicts.delete(id);
    else this.#verdicts.set(id, { quarantine, isForgotten });
    this.#save([id]);
  }

  /** What was known of a machine before the restart; once. */
  recall(id: string): MachineFacts | null {
    const facts = this.#recalled.get(id) ?? null;
    this.#recalled.delete(id);
    return facts;
  }

  /** Machines that a provider had before the restart and has not listed since. Those nothing was known of are not there. */
  unseenOf(provider: string): readonly string[] {
    return [...this.#recalled.values()].flatMap((facts) => (facts.provider === provider ? facts.id : []));
  }

  /** The provider has listed everything, and is believed: what did not come is not there. Returns what was known of it. */
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

  /** Machines that a freeze changed, rows that ended and re-stamps included. */
  frozen({ restood }: AppliedChanges): void {
    for (const slot of restood) this.#unsaved.add(this.#book.fleet.machines.idOf(slot));
  }

  /** Makes all that is known durable, in one go. */
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
    const standing = this.#book.standing(id);
    if (standing === null) return null;
    const { target, cluster, stamp, idleSinceMs } = standing;
    const verdicts = this.verdictsOn(id);
    if (target === null && stamp === null && idleSinceMs === null && !isVerdict(verdicts)) return null;
    const provider = this.#book.ownerOf(id) ?? '';
    return { id, provider, target, cluster, stamp, idleSinceMs, ...verdicts };
  }
}

function isVerdict({ quarantine, isForgotten }: Verdicts): boolean {
  return quarantine !== null || isForgotten;
}
