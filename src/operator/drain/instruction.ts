// What an instruction of the shard means for one node: kind, grace, and the record that a drain writes. Values in, values
// out.

import { type ReclaimInstruction, ReclaimInstruction_Kind } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { Node } from '../kube/objects.ts';
import { DRAIN_ANNOTATION } from '../nodes/node-table.ts';
import { type DrainKind, type DrainRecord, deadlineMs, recordOf } from './record.ts';

/** The reference's grace for an instruction without one. */
const DEFAULT_GRACE_MS = 30_000;
const MAX_GRACE_MS = 24 * 3_600_000;
const RECLAIM_MARGIN_MS = 3_000;
const PREEMPTION_MARGIN_MS = 10_000;

/**
 * Only a preemption goes on at its deadline. A machine in excess that a Need of another cluster takes is drained like a
 * reclaimed one: the shard calls it a preemption if that Need outranks what the machine was bound for. An instruction without
 * a kind comes from a shard of the reference, whose reclaims have priority 0.
 */
export function kindOf({ kind, preemptorPriority }: ReclaimInstruction): DrainKind {
  if (kind === ReclaimInstruction_Kind.KIND_UNSPECIFIED)
    return preemptorPriority === 0 ? 'reclaim' : 'preemption';
  return kind === ReclaimInstruction_Kind.KIND_PREEMPTION ? 'preemption' : 'reclaim';
}

/**
 * Milliseconds from now to the deadline of the drain. The shard counts the grace by its own clock and acts on it, so the
 * drain is over a little earlier: its report arrives before the shard has to decide without one, and pods of a preemption
 * that are deleted at the deadline have some seconds to end. A reclaim is given up after `maxReclaimMs` if that is earlier.
 */
export function drainMs(instruction: ReclaimInstruction, maxReclaimMs: number): number {
  const ms = Number(instruction.gracePeriodSeconds) * 1000;
  const graceMs = ms <= 0 ? DEFAULT_GRACE_MS : Math.min(ms, MAX_GRACE_MS);
  const isReclaim = kindOf(instruction) === 'reclaim';
  const marginMs = isReclaim ? RECLAIM_MARGIN_MS : PREEMPTION_MARGIN_MS;
  return Math.min(
    graceMs - Math.min(marginMs, graceMs / 4),
    isReclaim ? maxReclaimMs : Number.POSITIVE_INFINITY,
  );
}

/** A repeated instruction keeps its earlier deadline: the time that has passed is not given twice. */
export function recordFor(
  node: Node,
  wanted: Pick<DrainRecord, 'instruction' | 'kind' | 'machine' | 'waits'> & { readonly deadline: number },
): DrainRecord {
  const old = recordOf(node);
  const isUnreadable = old === null && node.metadata.annotations?.[DRAIN_ANNOTATION] !== undefined;
  const cordoned = old?.cordoned ?? (isUnreadable || node.spec?.unschedulable !== true);
  const isSame = old?.instruction === wanted.instruction;
  const deadline = isSame ? Math.min(deadlineMs(old), wanted.deadline) : wanted.deadline;
  const { instruction, kind, machine, waits } = wanted;
  const state = isSame ? old.state : 'draining';
  return { instruction, kind, machine, deadline: new Date(deadline).toISOString(), cordoned, waits, state };
}
