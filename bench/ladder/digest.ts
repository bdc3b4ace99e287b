// The digest of a plan: SHA-256 over its actions in order. Two runs with equal digests decided the same, whatever the
// number of workers: measure.ts reports it, speedup.ts and verify-digests.ts compare it. Computed action by action,
// because a cold fleet has megabytes of them.

import { createHash } from 'node:crypto';
import type { Action } from '../../src/model/index.ts';

export function digestOf(actions: Iterable<Action>): string {
  const hash = createHash('sha256');
  for (const action of actions) hash.update(`${textOf(action)}\n`);
  return hash.digest('hex');
}

function textOf({ kind, machine, cluster, reason, graceSeconds, preemptorPriority, need }: Action): string {
  const row = need === null ? null : [need.cluster, need.fingerprint, need.group];
  return JSON.stringify([kind, machine, cluster, reason, graceSeconds, preemptorPriority, row]);
}
