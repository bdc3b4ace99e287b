// The nodes of a simulated cluster, as its shard has told of them, and the pods that leave those to be given back.

import { type Clock, MachineState, type Random } from '../../model/index.ts';
import type { NodeStateUpdate, ReclaimInstruction } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';

export interface SimNode {
  readonly machine: string;
  readonly state: MachineState;
  /** '' until the node has joined. */
  readonly name: string;
  readonly providerId: string;
  readonly labels: ReadonlyMap<string, string>;
  /** Quantities as texts, such as `15880m`. */
  readonly resources: ReadonlyMap<string, string>;
  /** No new pods, since the shard wants it back. */
  readonly isCordoned: boolean;
  /** Its pods have left. */
  readonly isEmpty: boolean;
}

/** Pods leave after this part of their grace, drawn between the two. */
const LEAVE_AFTER = [0.1, 0.8] as const;
/** Whatever the grace, pods that can leave have left after so long. */
const SLOWEST_LEAVE_MS = 30_000;

export class Nodes {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #nodes = new Map<string, SimNode>();
  readonly #leaving = new Map<string, () => void>();
  /** Machines told of since the last `expectAll`; null: nothing is expected. */
  #heard: Set<string> | null = null;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
  }

  get all(): ReadonlyMap<string, SimNode> {
    return this.#nodes;
  }

  /** A machine that is neither ours nor leaving has said farewell. */
  take(update: NodeStateUpdate): void {
    const { machineId: machine, labels } = update;
    const state = update.state as MachineState;
    this.#heard?.add(machine);
    if (!isOurs(state)) {
      this.#forget(machine);
      return;
    }
    const known = this.#nodes.get(machine);
    // One that was leaving and no longer is takes pods again.
    const { Draining } = MachineState;
    const isNew = known === undefined || (known.state === Draining && state !== Draining);
    if (isNew) this.#forget(machine);
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
  }

  /** Cordons nodes and begins to empty them. Returns how many of them are here. */
  reclaim({ nodes, gracePeriodSeconds }: ReclaimInstruction): number {
    const graceMs = Number(gracePeriodSeconds) * 1000;
    const machines = nodes.flatMap((name) => this.#machineOf(name) ?? []);
    for (const machine of machines) this.#empty(machine, graceMs);
    return machines.length;
  }

  /** From now on the shard tells of all machines that are ours. */
  expectAll(): void {
    this.#heard = new Set();
  }

  /** Drops what the shard has not told of since `expectAll`: it left while nobody listened. */
  dropUnheard(): void {
    const heard = this.#heard;
    if (heard === null) return;
    this.#heard = null;
    for (const machine of [...this.#nodes.keys()]) if (!heard.has(machine)) this.#forget(machine);
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

  #empty(machine: string, graceMs: number): void {
    const node = this.#nodes.get(machine)!;
    // An instruction may come again, with less grace.
    this.#leaving.get(machine)?.();
    this.#nodes.set(machine, { ...node, isCordoned: true });
    if (node.isEmpty) return;
    const [least, most] = LEAVE_AFTER;
    const part = least + ((most - least) * this.#random.below(1000)) / 1000;
    const leave = () => {
      this.#leaving.delete(machine);
      const now = this.#nodes.get(machine);
      if (now !== undefined) this.#nodes.set(machine, { ...now, isEmpty: true });
    };
    this.#leaving.set(machine, this.#clock.after(Math.min(graceMs, SLOWEST_LEAVE_MS) * part, leave));
  }

  #forget(machine: string): void {
    this.#leaving.get(machine)?.();
    this.#leaving.delete(machine);
    this.#nodes.delete(machine);
  }
}

function isOurs(state: MachineState): boolean {
  const { Configuring, Configured, Draining } = MachineState;
  return state === Configuring || state === Configured || state === Draining;
}
