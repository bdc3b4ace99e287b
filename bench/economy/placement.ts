// A model of kube-scheduler for one cluster. Pending pods are placed one by one, highest priority first, then oldest. A node is
// feasible if it meets the requirements of the pod and has room for it; the best one has the highest sum of two scores, as in
// the default configuration: least allocated and balanced allocation, each 0 to 100, over cores and memory. Ties go to the
// node that joined first, where kube-scheduler draws one. Pods are never evicted for others, only when their node drains.

import type { Profile } from '../../src/model/index.ts';
import { type Amounts, fits, minus, plus } from './amounts.ts';
import type { Offering } from './catalogue.ts';
import type { Eligibility } from './scenario.ts';

export class Pod {
  readonly profile: Profile;
  readonly amounts: Amounts;
  /** Order of creation in its cluster. */
  readonly serial: number;
  node: Node | null = null;
  pendingSinceMs: number;

  constructor(profile: Profile, amounts: Amounts, serial: number, nowMs: number) {
    this.profile = profile;
    this.amounts = amounts;
    this.serial = serial;
    this.pendingSinceMs = nowMs;
  }
}

interface Node {
  readonly offering: Offering;
  room: Amounts;
  readonly pods: Set<Pod>;
}

export class Placement {
  readonly pending = new Set<Pod>();
  readonly #eligibility: Eligibility;
  readonly #nodes = new Map<string, Node>();
  #pods = 0;
  /** Whether a pod or room was added since the last pass. */
  #isStale = false;

  constructor(eligibility: Eligibility) {
    this.#eligibility = eligibility;
  }

  addNode(id: string, offering: Offering): void {
    this.#nodes.set(id, { offering, room: offering.offers, pods: new Set() });
    this.#isStale = true;
  }

  /** Its pods are pending again. Returns how many there were. */
  removeNode(id: string, nowMs: number): number {
    const node = this.#nodes.get(id);
    this.#nodes.delete(id);
    for (const pod of node?.pods ?? []) this.#suspend(pod, nowMs);
    return node?.pods.size ?? 0;
  }

  addPod(profile: Profile, amounts: Amounts, nowMs: number): Pod {
    const pod = new Pod(profile, amounts, this.#pods++, nowMs);
    this.#suspend(pod, nowMs);
    return pod;
  }

  removePod(pod: Pod): void {
    this.pending.delete(pod);
    if (pod.node === null) return;
    pod.node.pods.delete(pod);
    pod.node.room = plus(pod.node.room, pod.amounts);
    pod.node = null;
    this.#isStale = true;
  }

  /** Pods on a node; 0 for one that is not in the cluster. */
  podsOn(id: string): number {
    return this.#nodes.get(id)?.pods.size ?? 0;
  }

  /** Places every pending pod that fits somewhere. */
  schedule(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    const queue = [...this.pending].sort(
      (a, b) => b.profile.priority - a.profile.priority || a.serial - b.serial,
    );
    // Room only shrinks during a pass: a pod at least as large as one of its profile that did not fit does not fit either.
    const tooLarge = new Map<Profile, Amounts[]>();
    for (const pod of queue) {
      const known = tooLarge.get(pod.profile) ?? [];
      if (known.some((smaller) => fits(smaller, pod.amounts))) continue;
      const node = this.#bestNode(pod);
      if (node === null) tooLarge.set(pod.profile, [...known, pod.amounts]);
      else this.#place(pod, node);
    }
  }

  #suspend(pod: Pod, nowMs: number): void {
    pod.node = null;
    pod.pendingSinceMs = nowMs;
    this.pending.add(pod);
    this.#isStale = true;
  }

  #place(pod: Pod, node: Node): void {
    pod.node = node;
    node.pods.add(pod);
    node.room = minus(node.room, pod.amounts);
    this.pending.delete(pod);
  }

  #bestNode({ amounts, profile }: Pod): Node | null {
    const eligible = this.#eligibility.of(profile);
    let best: Node | null = null;
    let bestScore = -1;
    for (const node of this.#nodes.values()) {
      if (eligible[node.offering.index] === 0 || !fits(amounts, node.room)) continue;
      const score = scoreOf(node, amounts);
      if (score <= bestScore) continue;
      best = node;
      bestScore = score;
    }
    return best;
  }
}

/** Whole numbers, as kube-scheduler has them. */
function scoreOf({ offering, room }: Node, pod: Amounts): number {
  const cpu = (room[0] - pod[0]) / offering.offers[0];
  const memory = (room[1] - pod[1]) / offering.offers[1];
  const leastAllocated = Math.floor((Math.floor(100 * cpu) + Math.floor(100 * memory)) / 2);
  // The standard deviation of two fractions is half their difference.
  const balanced = Math.floor((1 - Math.abs(cpu - memory) / 2) * 100);
  return leastAllocated + balanced;
}
