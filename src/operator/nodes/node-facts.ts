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
  /** When the current reason appeared; null: there was none at the last refresh. */
  reasonSinceMs: number | null;
  /** Time of the last refresh that found the reason of a protection that has none now. */
  lastReasonMs: number;
}

export class NodeFactTracker {
  readonly #clock: Clock;
  readonly #nodes: NodeTable;
  readonly #pods: Pick<PodsView, 'useOf' | 'takeChangedUse'>;
  readonly #failedUntilMs: (node: TrackedNode) => number;
  readonly #settings: FactSettings;
  readonly #states = new Map<string, State>();
  #facts: NodeFacts = { empty: [], inUse: [], protected: [] };
  #text = '';
  /** By node name: its machine as of the last refresh. */
  readonly #machines = new Map<string, string>();
  /** Names of nodes that changed since the last refresh. */
  readonly #changedNodes = new Set<string>();
  /** Machines whose facts may change by the passage of time. */
  readonly #timed = new Set<string>();
  /** Null before the first refresh. */
  #refreshedMs: number | null = null;

  constructor(deps: {
    readonly clock: Clock;
    readonly nodes: NodeTable;
    readonly pods: Pick<PodsView, 'useOf' | 'takeChangedUse'>;
    /** Until when a failed drain protects a node; 0 without one. */
    readonly drainFailedUntilMs: (node: TrackedNode) => number;
    readonly settings?: FactSettings;
  }) {
    this.#clock = deps.clock;
    this.#nodes = deps.nodes;
    this.#pods = deps.pods;
    this.#failedUntilMs = deps.drainFailedUntilMs;
    this.#settings = deps.settings ?? DEFAULT_FACT_SETTINGS;
    for (const { name } of this.#nodes.all()) this.#changedNodes.add(name);
    const changed = (name: string): void => void this.#changedNodes.add(name);
    this.#nodes.onNodeChange(changed);
    this.#nodes.onManagedChange(changed);
  }

  /** The facts as of the last refresh. */
  get current(): NodeFacts {
    return this.#facts;
  }

  /** Reads what changed since the last call. Returns the same object while the facts stay, sorted by machine. */
  refresh(): NodeFacts {
    const now = this.#clock.now();
    let isChanged = false;
    for (const machine of this.#due()) if (this.#update(machine, now)) isChanged = true;
    this.#refreshedMs = now;
    if (isChanged) this.#publish();
    return this.#facts;
  }

  /** Machines whose facts may differ from those of the last refresh. */
  #due(): ReadonlySet<string> {
    const due = new Set(this.#timed);
    for (const name of this.#changedNodes) {
      const before = this.#machines.get(name);
      const machine = this.#nodes.machineOf(name);
      if (before !== undefined) due.add(before);
      if (machine === null) this.#machines.delete(name);
      else {
        this.#machines.set(name, machine);
        due.add(machine);
      }
    }
    this.#changedNodes.clear();
    for (const name of this.#pods.takeChangedUse()) {
      const machine = this.#machines.get(name);
      if (machine !== undefined) due.add(machine);
    }
    return due;
  }

  /** Since when the node of a machine has run no pods that a drain would evict; null if it runs some or is not known. */
  emptySinceMs(machine: string): number | null {
    return this.#states.get(machine)?.emptySinceMs ?? null;
  }

  /** Whether the facts of the machine are other ones now. */
  #update(machine: string, now: number): boolean {
    const node = machine.length > MAX_ID_BYTES ? undefined : this.#nodes.nodeOf(machine);
    const use = node === undefined ? null : this.#pods.useOf(node.name);
    if (node === undefined || use === null) {
      this.#timed.delete(machine);
      return this.#states.delete(machine);
    }
    const state = this.#states.get(machine) ?? {
      fact: null,
      emptySinceMs: null,
      protection: null,
      reasonSinceMs: null,
      lastReasonMs: Number.NEGATIVE_INFINITY,
    };
    this.#states.set(machine, state);
    const { fact, protection } = state;
    if (use.pods > 0) {
      state.emptySinceMs = null;
      state.fact = 'in-use';
    } else {
      state.emptySinceMs ??= now;
      if (now - state.emptySinceMs >= this.#settings.emptyMs) state.fact = 'empty';
    }
    const reason = this.#reasonOf(node, use.doNotDisrupt, use.withoutBudget, now);
    this.#protect(state, reason, now);
    if (isTimed(state, reason)) this.#timed.add(machine);
    else this.#timed.delete(machine);
    return state.fact !== fact || state.protection !== protection;
  }

  #reasonOf(node: TrackedNode, doNotDisrupt: number, withoutBudget: number, now: number): Reason | null {
    if (node.isProtected || doNotDisrupt > 0) return REASON_ANNOTATION;
    if (this.#failedUntilMs(node) > now) return REASON_DRAIN_FAILED;
    return withoutBudget > 0 ? REASON_PDB : null;
  }

  #protect(state: State, reason: Reason | null, now: number): void {
    if (reason === null) {
      // It was there until the last refresh, which need not have read the node.
      if (state.reasonSinceMs !== null) state.lastReasonMs = this.#refreshedMs!;
      state.reasonSinceMs = null;
      // An empty node has nothing left to protect.
      const isOver = now - state.lastReasonMs >= this.#settings.unprotectedMs || state.fact === 'empty';
      if (isOver) state.protection = null;
      return;
    }
    state.reasonSinceMs ??= now;
    const isSettled =
      reason !== REASON_PDB ||
      this.#refreshedMs === null ||
      now - state.reasonSinceMs >= this.#settings.budgetMs;
    // The reason shown changes only from a budget to a stronger one: budgets come and go.
    if (state.protection === null ? isSettled : reason !== REASON_PDB) state.protection = reason;
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

/** Whether the facts may change while node and pods stay as they are. */
function isTimed({ fact, emptySinceMs, protection }: State, reason: Reason | null): boolean {
  if (emptySinceMs !== null && fact !== 'empty') return true;
  if (reason === null) return protection !== null;
  return reason === REASON_DRAIN_FAILED || protection === null;
}
