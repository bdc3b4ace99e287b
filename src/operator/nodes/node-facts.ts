// Facts about the managed nodes for the roll-up: empty, in use, or protected. The shard breaks ties by them, so every
// change may move machines; they change rarely by design:
//
//   in use     at once when a pod appears on an empty node
//   empty      after `emptyMs` (2 min) without pods that a drain would evict; before that the earlier fact stays
//   protected  at once by an annotation or a failed drain; after `budgetMs` (1 min) without room in a budget, which every
//              rolling update passes through for seconds; ends after `unprotectedMs` (5 min) without a reason
//
// A standby refreshes as well, so that a new leader reports what the old one did. A process that has just started does not
// know for how long a budget has had no room: the nodes that it finds in this state count as protected at once, since the
// process before it has most likely reported them so.
//
// A failed drain protects for 30 min, which drain/ writes on the Node. Read by the roll-up and by episodes/.

import type { Clock } from '../../runtime/clock.ts';
import { type NodeFacts, NodeFacts_Protected_Reason } from '../../wire/gen/bigfleet/v1alpha1/capacity.ts';
import type { PodsView } from '../demand/contract.ts';
import type { NodeTable, TrackedNode } from './node-table.ts';

export interface FactSettings {
  readonly emptyMs: number;
  readonly budgetMs: number;
  readonly unprotectedMs: number;
}

export const DEFAULT_FACT_SETTINGS: FactSettings = {
  emptyMs: 2 * 60_000,
  budgetMs: 60_000,
  unprotectedMs: 5 * 60_000,
};

/** Ids beyond this make a shard ignore all facts. */
const MAX_FACTS = 100_000;
const MAX_ID_BYTES = 253;

const { REASON_PDB, REASON_ANNOTATION, REASON_DRAIN_FAILED } = NodeFacts_Protected_Reason;
type Reason = NodeFacts_Protected_Reason;

interface State {
  /** Null: not known long enough. */
  fact: 'empty' | 'in-use' | null;
  emptySinceMs: number | null;
  protection: Reason | null;
  /** When the current reason appeared; null: there is none now. */
  reasonSinceMs: number | null;
  lastReasonMs: number;
}

export class NodeFactTracker {
  readonly #clock: Clock;
  readonly #nodes: NodeTable;
  readonly #pods: Pick<PodsView, 'useOf'>;
  readonly #failedUntilMs: (node: TrackedNode) => number;
  readonly #settings: FactSettings;
  readonly #states = new Map<string, State>();
  #facts: NodeFacts = { empty: [], inUse: [], protected: [] };
  #text = '';
  #hasRefreshed = false;

  constructor(deps: {
    readonly clock: Clock;
    readonly nodes: NodeTable;
    readonly pods: Pick<PodsView, 'useOf'>;
    /** Until when a failed drain protects a node; 0 without one. */
    readonly drainFailedUntilMs: (node: TrackedNode) => number;
    readonly settings?: FactSettings;
  }) {
    this.#clock = deps.clock;
    this.#nodes = deps.nodes;
    this.#pods = deps.pods;
    this.#failedUntilMs = deps.drainFailedUntilMs;
    this.#settings = deps.settings ?? DEFAULT_FACT_SETTINGS;
  }

  /** The facts as of the last refresh. */
  get current(): NodeFacts {
    return this.#facts;
  }

  /** Reads the use of all managed nodes. Returns the same object while nothing has changed, sorted by machine. */
  refresh(): NodeFacts {
    const now = this.#clock.now();
    const seen = new Set<string>();
    for (const [machine, node] of this.#nodes.managed()) {
      if (machine.length > MAX_ID_BYTES) continue;
      seen.add(machine);
      this.#update(machine, node, now);
    }
    this.#hasRefreshed = true;
    for (const machine of [...this.#states.keys()]) if (!seen.has(machine)) this.#states.delete(machine);
    this.#publish();
    return this.#facts;
  }

  /** Since when the node of a machine has run no pods that a drain would evict; null if it runs some or is not known. */
  emptySinceMs(machine: string): number | null {
    return this.#states.get(machine)?.emptySinceMs ?? null;
  }

  #update(machine: string, node: TrackedNode, now: number): void {
    const use = this.#pods.useOf(node.name);
    if (use === null) {
      this.#states.delete(machine);
      return;
    }
    const state = this.#states.get(machine) ?? {
      fact: null,
      emptySinceMs: null,
      protection: null,
      reasonSinceMs: null,
      lastReasonMs: Number.NEGATIVE_INFINITY,
    };
    this.#states.set(machine, state);
    if (use.pods > 0) {
      state.emptySinceMs = null;
      state.fact = 'in-use';
    } else {
      state.emptySinceMs ??= now;
      if (now - state.emptySinceMs >= this.#settings.emptyMs) state.fact = 'empty';
    }
    this.#protect(state, this.#reasonOf(node, use.doNotDisrupt, use.withoutBudget, now), now);
  }

  #reasonOf(node: TrackedNode, doNotDisrupt: number, withoutBudget: number, now: number): Reason | null {
    if (node.isProtected || doNotDisrupt > 0) return REASON_ANNOTATION;
    if (this.#failedUntilMs(node) > now) return REASON_DRAIN_FAILED;
    return withoutBudget > 0 ? REASON_PDB : null;
  }

  #protect(state: State, reason: Reason | null, now: number): void {
    if (reason === null) {
      state.reasonSinceMs = null;
      // An empty node has nothing left to protect.
      const isOver = now - state.lastReasonMs >= this.#settings.unprotectedMs || state.fact === 'empty';
      if (isOver) state.protection = null;
      return;
    }
    state.reasonSinceMs ??= now;
    const isSettled =
      reason !== REASON_PDB || !this.#hasRefreshed || now - state.reasonSinceMs >= this.#settings.budgetMs;
    if (isSettled || state.protection !== null) {
      // The reason shown changes only from a budget to a stronger one: budgets come and go.
      if (state.protection === null || reason !== REASON_PDB) state.protection = reason;
      state.lastReasonMs = now;
    }
  }

  #publish(): void {
    const empty: string[] = [];
    const inUse: string[] = [];
    const guarded: { readonly machineId: string; readonly reason: Reason }[] = [];
    for (const machineId of [...this.#states.keys()].sort().slice(0, MAX_FACTS)) {
      const { fact, protection } = this.#states.get(machineId)!;
      if (protection !== null) guarded.push({ machineId, reason: protection });
      else if (fact === 'empty') empty.push(machineId);
      else if (fact === 'in-use') inUse.push(machineId);
    }
    const text = JSON.stringify([empty, inUse, guarded]);
    if (text === this.#text) return;
    this.#text = text;
    this.#facts = { empty, inUse, protected: guarded };
  }
}
