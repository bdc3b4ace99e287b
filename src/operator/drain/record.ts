// The state of a drain, which lives on the Node as annotations: an operator that starts, or the other replica, goes on
// from there. See docs/adr/0048-drains-live-on-the-node.md.

import * as z from 'zod';
import type { Node } from '../kube/objects.ts';
import { DRAIN_ANNOTATION, DRAIN_FAILED_ANNOTATION } from '../nodes/node-table.ts';

/** How long a failed drain protects its node from being chosen again. */
export const PROTECTED_AFTER_FAILURE_MS = 30 * 60_000;

/** `reclaim` is withdrawn if pods are left at the deadline, `preemption` goes on. */
export type DrainKind = 'reclaim' | 'preemption';

export interface DrainRecord {
  readonly instruction: string;
  readonly kind: DrainKind;
  readonly machine: string;
  /** RFC 3339. */
  readonly deadline: string;
  /** Whether this operator cordoned the node; if not, it does not uncordon it. */
  readonly cordoned: boolean;
  /** Whether the shard waits for the report of the drain; one that does not has called the provider already. */
  readonly waits: boolean;
  /** `drained`: nothing is left to evict. `ended`: the grace ended with pods left, and the machine leaves anyway. */
  readonly state: 'draining' | 'drained' | 'ended';
}

export interface FailedDrain {
  readonly instruction: string;
  readonly machine: string;
  /** RFC 3339: until when the node counts as protected. */
  readonly until: string;
  readonly blockedBy: readonly string[];
}

const time = z.string().refine((text) => !Number.isNaN(Date.parse(text)));

const recordSchema = z.object({
  instruction: z.string(),
  kind: z.enum(['reclaim', 'preemption']),
  machine: z.string(),
  deadline: time,
  cordoned: z.boolean(),
  waits: z.boolean(),
  state: z.enum(['draining', 'drained', 'ended']),
});

const failedSchema = z.object({
  instruction: z.string(),
  machine: z.string(),
  until: time,
  blockedBy: z.array(z.string()),
});

/** Null if the text is not a record; the node is then cordoned for a reason that is lost. */
export function parseRecord(text: string): DrainRecord | null {
  return parsed(recordSchema, text);
}

export function parseFailed(text: string): FailedDrain | null {
  return parsed(failedSchema, text);
}

/** Until when a failed drain protects the node; 0 without one. For the facts of nodes. */
export function drainFailedUntilMs({ drainFailed }: { readonly drainFailed: string }): number {
  if (drainFailed === '') return 0;
  const failed = parseFailed(drainFailed);
  return failed === null ? 0 : Date.parse(failed.until);
}

export function recordOf(node: Node): DrainRecord | null {
  const text = node.metadata.annotations?.[DRAIN_ANNOTATION];
  return text === undefined ? null : parseRecord(text);
}

export function failedOf(node: Node): FailedDrain | null {
  const text = node.metadata.annotations?.[DRAIN_FAILED_ANNOTATION];
  return text === undefined ? null : parseFailed(text);
}

export function deadlineMs(record: DrainRecord): number {
  return Date.parse(record.deadline);
}

function parsed<T>(schema: z.ZodType<T>, text: string): T | null {
  if (text === '') return null;
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
