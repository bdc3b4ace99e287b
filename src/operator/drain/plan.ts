// Which pods a round evicts, over all nodes that drain. Pure: nodes, their pods and the room of the budgets in, steps out.
//
// Nodes: preemptions first, then by the minute of the deadline, then the node with the fewest pods left, so that the room of a
// budget goes to the node it helps to finish. Of a reclaim nothing is evicted while a pod must not be disrupted, and pods that
// need no room in a budget go last: if the reclaim has to be withdrawn, as few pods as possible have moved for nothing.

import type { BudgetRoom } from './budgets.ts';
import { type DrainPod, podId } from './drain-pods.ts';
import { type DrainRecord, deadlineMs } from './record.ts';

/** A node that drains, with what is left on it. */
export interface DrainingNode {
  readonly name: string;
  readonly record: DrainRecord;
  /** The node itself must not be disrupted. */
  readonly isProtected: boolean;
  readonly pods: readonly DrainPod[];
}

export interface Eviction {
  readonly node: string;
  readonly pod: DrainPod;
  /** Budgets that the pod counts for. */
  readonly budgets: readonly string[];
  /** The eviction API asks these budgets for room. */
  readonly needsRoom: boolean;
  /** The deadline has passed: if a budget refuses, the pod is deleted. */
  readonly isForced: boolean;
}

export interface NodePlan {
  readonly node: string;
  readonly evictions: readonly Eviction[];
  /** `pdb/…`, `pod/…` and `node/…` that keep pods on the node for now. */
  readonly blockers: readonly string[];
}

export function planEvictions(
  nodes: readonly DrainingNode[],
  room: BudgetRoom,
  now: number,
): readonly NodePlan[] {
  return [...nodes].sort(compareNodes).map((node) => planNode(node, room, now));
}

function planNode(node: DrainingNode, room: BudgetRoom, now: number): NodePlan {
  const { name, record, pods } = node;
  const isOver = now >= deadlineMs(record);
  const staying = pods.filter(({ endsMs }) => endsMs === null);
  const isWithdrawable = record.kind === 'reclaim' && record.waits;
  const held = staying.filter(({ isHeld }) => isHeld);
  if (isWithdrawable && node.isProtected)
    return { node: name, evictions: [], blockers: [...held.map(podId), nodeId(name)] };
  if (isOver && isWithdrawable) return { node: name, evictions: [], blockers: whatHolds(staying, room) };
  // A shard that does not wait has called the provider already: pods that budgets hold back are left to it.
  if (isOver) {
    const isForced = record.waits;
    return { node: name, evictions: staying.map((pod) => step(name, pod, room, isForced)), blockers: [] };
  }

  if (isWithdrawable && held.length > 0) return { node: name, evictions: [], blockers: held.map(podId) };

  const evictions: Eviction[] = [];
  const blockers = new Set(held.map(podId));
  const free: Eviction[] = [];
  let isBudgeted = false;
  for (const pod of staying) {
    if (pod.isHeld) continue;
    const eviction = step(name, pod, room, false);
    if (!eviction.needsRoom) {
      free.push(eviction);
      continue;
    }
    isBudgeted = true;
    // The eviction API refuses pods of several budgets whatever their room.
    const closed =
      eviction.budgets.length > 1 ? eviction.budgets : eviction.budgets.filter((id) => !room.hasRoom(id));
    for (const id of closed) blockers.add(id);
    if (closed.length > 0) continue;
    for (const id of eviction.budgets) room.spend(id);
    evictions.push(eviction);
  }
  if (!(isWithdrawable && isBudgeted)) evictions.push(...free);
  return { node: name, evictions, blockers: [...blockers].sort() };
}

/** `node/<name>`, as reports name a node that must not be disrupted. */
export function nodeId(name: string): string {
  return `node/${name}`;
}

function step(node: string, pod: DrainPod, room: BudgetRoom, isForced: boolean): Eviction {
  const budgets = room.of(pod);
  return { node, pod, budgets, needsRoom: room.isAsked(pod, budgets), isForced };
}

/** What keeps the pods of a reclaim at its deadline: pods that must not be disrupted and budgets, else all pods. */
function whatHolds(pods: readonly DrainPod[], room: BudgetRoom): readonly string[] {
  const names = new Set<string>();
  for (const pod of pods) {
    const budgets = room.of(pod);
    if (pod.isHeld) names.add(podId(pod));
    else if (room.isAsked(pod, budgets))
      for (const id of budgets) if (budgets.length > 1 || !room.hasRoom(id)) names.add(id);
  }
  return (names.size > 0 ? [...names] : pods.map(podId)).sort();
}

function compareNodes(a: DrainingNode, b: DrainingNode): number {
  if (a.record.kind !== b.record.kind) return a.record.kind === 'preemption' ? -1 : 1;
  const byDeadline = minuteOf(a.record) - minuteOf(b.record);
  if (byDeadline !== 0) return byDeadline;
  if (a.pods.length !== b.pods.length) return a.pods.length - b.pods.length;
  return a.name < b.name ? -1 : 1;
}

function minuteOf(record: DrainRecord): number {
  return Math.floor(deadlineMs(record) / 60_000);
}
