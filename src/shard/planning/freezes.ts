// Freezes: actions that a person has ordered the shard not to carry out, until the freeze is lifted or its time is over.
// A freeze is durable before it takes effect, so a restart does not undo it, nor change its end. It limits execution, not the ranking: the engine
// plans as always, and the guardrails hold back frozen actions. Two effects reach the engine, to spare other clusters:
// a frozen cluster claims no free machine (`cannotBind`), and its machines cannot be victims (`blocked`). orders.ts
// sets and lifts them, cycles.ts ends those whose time is over.

import {
  ACTION_WORDS,
  type Action,
  type ActionKind,
  actionKindOf,
  compareText,
  type Machine,
  MachineState,
} from '../../model/index.ts';

/** null means "any": both null is the whole fleet. */
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
  /** Shard clock; null: until it is lifted. */
  readonly untilMs: number | null;
}

/** Durable store of freezes. A write is durable when the call returns. */
export interface FreezeStore {
  freezes(): Iterable<Freeze>;
  putFreeze(freeze: Freeze): void;
  /** In one transaction: many may end at the same time. */
  deleteFreezes(ids: readonly string[]): void;
}

/** Bound on freezes in force: one for every cluster of a large shard fits, and a runaway script is stopped. */
export const MAX_FREEZES = 10_000;

export class Freezes {
  readonly #store: FreezeStore;
  readonly #byId = new Map<string, Freeze>();
  /** By cluster and kind, null for any. Indexed because a plan may have as many actions as there are machines. */
  readonly #byScope = new Map<string | null, Map<ActionKind | null, Freeze>>();

  /** Loads the freezes from the store. */
  constructor(store: FreezeStore) {
    this.#store = store;
    for (const freeze of store.freezes()) this.#take(freeze);
  }

  /** Oldest first. */
  list(): readonly Freeze[] {
    return [...this.#byId.values()].sort((a, b) => a.sinceMs - b.sinceMs || compareText(a.id, b.id));
  }

  /**
   * Freezes a scope; null if there are `MAX_FREEZES` already. A scope that is frozen already keeps its first author and
   * reason, and the later end of the two: neither author loses time that the freeze was ordered for.
   */
  add(
    { cluster, action }: FreezeScope,
    who: string,
    why: string,
    nowMs: number,
    untilMs: number | null = null,
  ): Freeze | null {
    const id = freezeId({ cluster, action });
    const known = this.#byId.get(id);
    if (known !== undefined && !isLater(untilMs, known.untilMs)) return known;
    if (known === undefined && this.#byId.size >= MAX_FREEZES) return null;
    const freeze: Freeze = { ...(known ?? { id, cluster, action, who, why, sinceMs: nowMs }), untilMs };
    this.#store.putFreeze(freeze);
    this.#take(freeze);
    return freeze;
  }

  /** Lifts a freeze; false if it does not exist. */
  remove(id: string): boolean {
    const freeze = this.#byId.get(id);
    if (freeze === undefined) return false;
    this.#drop([freeze]);
    return true;
  }

  /** Ends the freezes whose time is over, and returns them, oldest first. */
  expire(nowMs: number): readonly Freeze[] {
    const over = this.list().filter(({ untilMs }) => untilMs !== null && untilMs <= nowMs);
    if (over.length > 0) this.#drop(over);
    return over;
  }

  isFrozen(action: Action): boolean {
    return this.freezeOf(action) !== undefined;
  }

  /** The freeze that stops an action, if any; the one with the widest scope if there are several. */
  freezeOf(action: Action): Freeze | undefined {
    if (this.#byId.size === 0) return undefined;
    return (
      this.#freezeAt(null, action.kind) ??
      this.#freezeAt(action.cluster, action.kind) ??
      (action.need === null ? undefined : this.#freezeAt(action.need.cluster, action.kind))
    );
  }

  /**
   * Clusters that must not bind: those frozen by name, in whole or for Bootstrap. Their claims would keep free machines
   * from other clusters. Freezes of the fleet or of a kind affect all clusters alike and change no decision.
   */
  cannotBind(): ReadonlySet<string> {
    const clusters = [...this.#byScope.keys()].filter((cluster) => cluster !== null);
    return new Set(clusters.filter((cluster) => this.#freezeAt(cluster, 'Bootstrap') !== undefined));
  }

  /**
   * Whether a machine cannot be a victim: a Configured machine of a cluster that is frozen by name, in whole or for
   * Preempt. It continues to serve its cluster.
   */
  isBlocked(machine: Pick<Machine, 'state' | 'cluster'>): boolean {
    return this.heldBy(machine) !== null;
  }

  /** The freeze that prevents preemption of a machine; null if there is none. */
  heldBy({ state, cluster }: Pick<Machine, 'state' | 'cluster'>): Freeze | null {
    return state === MachineState.Configured ? (this.#freezeAt(cluster, 'Preempt') ?? null) : null;
  }

  /** Whether a freeze of the fleet, of a kind or of a cluster stops one of these kinds of actions for the cluster. */
  stopsAny(cluster: string, kinds: readonly ActionKind[]): boolean {
    if (this.#byId.size === 0) return false;
    return kinds.some(
      (kind) => this.#freezeAt(null, kind) !== undefined || this.#freezeAt(cluster, kind) !== undefined,
    );
  }

  #freezeAt(cluster: string | null, action: ActionKind): Freeze | undefined {
    const kinds = this.#byScope.get(cluster);
    return kinds?.get(null) ?? kinds?.get(action);
  }

  #drop(freezes: readonly Freeze[]): void {
    this.#store.deleteFreezes(freezes.map(({ id }) => id));
    for (const { id, cluster, action } of freezes) {
      this.#byId.delete(id);
      const kinds = this.#byScope.get(cluster)!;
      kinds.delete(action);
      if (kinds.size === 0) this.#byScope.delete(cluster);
    }
  }

  #take(freeze: Freeze): void {
    this.#byId.set(freeze.id, freeze);
    const kinds = this.#byScope.get(freeze.cluster) ?? new Map<ActionKind | null, Freeze>();
    kinds.set(freeze.action, freeze);
    this.#byScope.set(freeze.cluster, kinds);
  }
}

/** Whether one end is after another; null: never. */
function isLater(untilMs: number | null, than: number | null): boolean {
  if (than === null) return false;
  return untilMs === null || untilMs > than;
}

/** The id of a scope: `fleet`, `action:Reclaim`, `cluster:a`, `action:Reclaim/cluster:a`. */
export function freezeId({ cluster, action }: FreezeScope): string {
  return scopeText(action, cluster);
}

/** The name of a scope for display and input, with verbs for kinds: `action:reclaim/cluster:a`, `action:buy`. */
export function freezeName({ cluster, action }: FreezeScope): string {
  return scopeText(action === null ? null : ACTION_WORDS[action].verb, cluster);
}

/** Converts a name or an id to the id. */
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
