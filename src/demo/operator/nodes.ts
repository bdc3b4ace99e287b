// The nodes of a simulated cluster, as its shard reports them, and the eviction of pods from nodes that the shard
// reclaims. operator.ts passes the messages of the shard on to it; kubelet and pods do not exist.

import { MachineState } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { NodeStateUpdate, ReclaimInstruction } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { Drains } from './drains.ts';

export interface SimNode {
  readonly machine: string;
  readonly state: MachineState;
  /** '' until the node has joined. */
  readonly name: string;
  readonly providerId: string;
  readonly labels: ReadonlyMap<string, string>;
  /** Quantities as texts, such as `15880m`. */
  readonly resources: ReadonlyMap<string, string>;
  /** Accepts no new pods, since the shard reclaims it. */
  readonly isCordoned: boolean;
  /** Its pods have left. */
  readonly isEmpty: boolean;
}

/** Pods leave after a fraction of their grace period, drawn from this range. */
const LEAVE_AFTER = [0.1, 0.8] as const;
/** Upper bound on the time evictable pods take to leave, however long the grace period. */
const SLOWEST_LEAVE_MS = 30_000;

export class Nodes {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #drains: Drains | null;
  readonly #nodes = new Map<string, SimNode>();
  /** By machine whose pods are leaving: cancels the timer of the eviction. */
  readonly #leaving = new Map<string, () => void>();
  /** Machines reported since the last `expectAll`; null: no resync is in progress. */
  #reported: Set<string> | null = null;

  constructor(clock: Clock, random: Random, drains: Drains | null = null) {
    this.#clock = clock;
    this.#drains = drains;
    this.#random = random;
  }

  get all(): ReadonlyMap<string, SimNode> {
    return this.#nodes;
  }

  /** Applies an update; a machine that no longer serves, joins or leaves this cluster is dropped. */
  apply(update: NodeStateUpdate): void {
    const { machineId: machine, labels } = update;
    const state = update.state as MachineState;
    this.#reported?.add(machine);
    if (!isOfCluster(state)) {
      this.#forget(machine);
      return;
    }
    const known = this.#nodes.get(machine);
    // A machine that was draining and no longer is accepts pods again.
    const { Draining } = MachineState;
    const isBack = known?.state === Draining && state !== Draining;
    const isNew = known === undefined || isBack;
    if (isBack) this.#forget(machine);
    this.#nodes.set(machine, {
      machine,
      state,
      name: update.nodeName,
      providerId: update.providerId,
      labels,
      resources: update.resources?.resources ?? new Map(),
      isCordoned: !isNew && known.isCordoned,
      isEmpty: !isNew && known.isEmpty,
    });
    // An earlier process of the operator began to drain it.
    const isForgotten = state === Draining && !this.#leaving.has(machine);
    if (isForgotten && this.#drains?.isUnfinished(machine) === true)
      this.#empty(machine, SLOWEST_LEAVE_MS, false);
  }

  /** Cordons nodes and starts to evict their pods. Returns how many of them exist here. */
  reclaim(instruction: ReclaimInstruction): number {
    const { nodes, gracePeriodSeconds } = instruction;
    const graceMs = Number(gracePeriodSeconds) * 1000;
    const machines = nodes.flatMap((name) => this.#machineOf(name) ?? []);
    for (const machine of machines)
      this.#empty(machine, graceMs, this.#drains?.started(instruction, machine) ?? false);
    // A node that does not exist has nothing to drain.
    for (const name of nodes) {
      if (this.#machineOf(name) !== undefined) continue;
      this.#drains?.started(instruction, name);
      this.#drains?.ended(name, true);
    }
    return machines.length;
  }

  /** Uncordons nodes whose drain is withdrawn. */
  stay(machines: readonly string[]): void {
    for (const machine of machines) {
      this.#leaving.get(machine)?.();
      this.#leaving.delete(machine);
      const node = this.#nodes.get(machine);
      if (node !== undefined) this.#nodes.set(machine, { ...node, isCordoned: false, isEmpty: false });
    }
  }

  /** Starts a resync: from now on the shard reports all machines of this cluster. */
  expectAll(): void {
    this.#reported = new Set();
  }

  /** Drops machines not reported since `expectAll`: they left while the operator was disconnected. */
  dropUnreported(): void {
    const reported = this.#reported;
    if (reported === null) return;
    this.#reported = null;
    for (const machine of [...this.#nodes.keys()]) if (!reported.has(machine)) this.#forget(machine);
  }

  stop(): void {
    for (const cancel of this.#leaving.values()) cancel();
    this.#leaving.clear();
  }

  #machineOf(name: string): string | undefined {
    if (this.#nodes.has(name)) return name;
    for (const node of this.#nodes.values()) if (node.name === name) return node.machine;
    return undefined;
  }

  #empty(machine: string, graceMs: number, isBlocked: boolean): void {
    const node = this.#nodes.get(machine)!;
    // An instruction may be repeated with a shorter grace period.
    this.#leaving.get(machine)?.();
    this.#nodes.set(machine, { ...node, isCordoned: true });
    if (node.isEmpty) {
      this.#drains?.ended(machine, true);
      return;
    }
    const [least, most] = LEAVE_AFTER;
    const part = least + ((most - least) * this.#random.below(1000)) / 1000;
    const leave = () => {
      this.#leaving.delete(machine);
      const now = this.#nodes.get(machine);
      if (now !== undefined) this.#nodes.set(machine, { ...now, isEmpty: !isBlocked });
      this.#drains?.ended(machine, !isBlocked);
    };
    this.#leaving.set(machine, this.#clock.after(Math.min(graceMs, SLOWEST_LEAVE_MS) * part, leave));
  }

  #forget(machine: string): void {
    this.#leaving.get(machine)?.();
    this.#leaving.delete(machine);
    this.#nodes.delete(machine);
    this.#drains?.forget(machine);
  }
}

function isOfCluster(state: MachineState): boolean {
  const { Configuring, Configured, Draining } = MachineState;
  return state === Configuring || state === Configured || state === Draining;
}
