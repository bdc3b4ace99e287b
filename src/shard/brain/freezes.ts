// Freezes: what an operator has told the shard not to do, at run time and until told otherwise. A freeze is durable
// before it is in force, so that a restart never undoes it. It limits what is carried out, never who wins: the plan is
// made as always, and the guardrails hold back what is frozen. Two things reach the engine, so that others do not suffer:
// a frozen cluster claims no free machine (`cannotBind`), and its machines are nobody's victims (`held`).

import {
  ACTION_WORDS,
  type Action,
  type ActionKind,
  actionKindOf,
  compareText,
  type Machine,
  MachineState,
} from '../../model/index.ts';

/** What a freeze stops. null means "any": both null is the whole fleet. */
export interface FreezeScope {
  /** Actions that bring machines to this cluster, take them from it, or preempt for it. */
  readonly cluster: string | null;
  readonly action: ActionKind | null;
}

export interface Freeze extends FreezeScope {
  readonly id: string;
  readonly who: string;
  readonly why: string;
  /** Shard clock. */
  readonly sinceMs: number;
}

/** Where freezes outlive the process. A write has happened when the call returns. */
export interface FreezeStore {
  freezes(): Iterable<Freeze>;
  putFreeze(freeze: Freeze): void;
  deleteFreeze(id: string): void;
}

/** Freezes at a time: room for every cluster of a large shard, and an end for a script that runs wild. */
export const MAX_FREEZES = 10_000;

export class Freezes {
  readonly #store: FreezeStore;
  readonly #byId = new Map<string, Freeze>();
  /** By cluster and kind, null for any: a plan may have as many actions as there are machines. */
  readonly #byScope = new Map<string | null, Map<ActionKind | null, Freeze>>();

  /** Takes over what the store has from before. */
  constructor(store: FreezeStore) {
    this.#store = store;
    for (const freeze of store.freezes()) this.#take(freeze);
  }

  /** Oldest first. */
  list(): readonly Freeze[] {
    return [...this.#byId.values()].sort((a, b) => a.sinceMs - b.sinceMs || compareText(a.id, b.id));
  }

  /**
   * Freezes a scope; null if there are too many already. A scope that is frozen stays as it is: who was first, and why,
   * is what people look for.
   */
  add({ cluster, action }: FreezeScope, who: string, why: string, nowMs: number): Freeze | null {
    const id = freezeId({ cluster, action });
    const known = this.#byId.get(id);
    if (known !== undefined) return known;
    if (this.#byId.size >= MAX_FREEZES) return null;
    const freeze: Freeze = { id, cluster, action, who, why, sinceMs: nowMs };
    this.#store.putFreeze(freeze);
    this.#take(freeze);
    return freeze;
  }

  /** Lifts a freeze; false if there is none. */
  remove(id: string): boolean {
    const freeze = this.#byId.get(id);
    if (freeze === undefined) return false;
    this.#store.deleteFreeze(id);
    this.#byId.delete(id);
    const kinds = this.#byScope.get(freeze.cluster)!;
    kinds.delete(freeze.action);
    if (kinds.size === 0) this.#byScope.delete(freeze.cluster);
    return true;
  }

  isFrozen(action: Action): boolean {
    return this.freezeOf(action) !== undefined;
  }

  /** The freeze that stops an action, if any; the widest if several do. */
  freezeOf(action: Action): Freeze | undefined {
    if (this.#byId.size === 0) return undefined;
    return (
      this.#freezeAt(null, action.kind) ??
      this.#freezeAt(action.cluster, action.kind) ??
      (action.need === null ? undefined : this.#freezeAt(action.need.cluster, action.kind))
    );
  }

  /**
   * Clusters that must not bind: those frozen by name, in whole or for Bootstrap. If they went on claiming free machines,
   * others would go without. Freezes of the fleet or of a kind concern everybody alike and change no decision.
   */
  cannotBind(): ReadonlySet<string> {
    const clusters = [...this.#byScope.keys()].filter((cluster) => cluster !== null);
    return new Set(clusters.filter((cluster) => this.#freezeAt(cluster, 'Bootstrap') !== undefined));
  }

  /**
   * Whether the engine must look for victims elsewhere: a Configured machine of a cluster that is frozen by name, in
   * whole or for Preempt. It goes on serving its cluster.
   */
  isHeld(machine: Pick<Machine, 'state' | 'cluster'>): boolean {
    return this.heldBy(machine) !== null;
  }

  /** The freeze that keeps a machine from being preempted; null if there is none. */
  heldBy({ state, cluster }: Pick<Machine, 'state' | 'cluster'>): Freeze | null {
    return state === MachineState.Configured ? (this.#freezeAt(cluster, 'Preempt') ?? null) : null;
  }

  #freezeAt(cluster: string | null, action: ActionKind): Freeze | undefined {
    const kinds = this.#byScope.get(cluster);
    return kinds?.get(null) ?? kinds?.get(action);
  }

  #take(freeze: Freeze): void {
    this.#byId.set(freeze.id, freeze);
    const kinds = this.#byScope.get(freeze.cluster) ?? new Map<ActionKind | null, Freeze>();
    kinds.set(freeze.action, freeze);
    this.#byScope.set(freeze.cluster, kinds);
  }
}

/** The id of a scope: `fleet`, `action:Reclaim`, `cluster:a`, `action:Reclaim/cluster:a`. */
export function freezeId({ cluster, action }: FreezeScope): string {
  return scopeText(action, cluster);
}

/** The same as people read and type it: `action:reclaim/cluster:a`, and `action:buy` of a Provision. */
export function freezeName({ cluster, action }: FreezeScope): string {
  return scopeText(action === null ? null : ACTION_WORDS[action].verb, cluster);
}

/** The id that a text means, whichever way its action is spelled. */
export function freezeIdOf(text: string): string {
  const [whole, word] = /^action:([A-Za-z]+)(?=\/cluster:|$)/.exec(text) ?? [];
  const kind = word === undefined ? undefined : actionKindOf(word);
  return kind === undefined ? text : `action:${kind}${text.slice(whole!.length)}`;
}

function scopeText(action: string | null, cluster: string | null): string {
  const parts = [
    ...(action === null ? [] : [`action:${action}`]),
    ...(cluster === null ? [] : [`cluster:${cluster}`]),
  ];
  return parts.length === 0 ? 'fleet' : parts.join('/');
}
