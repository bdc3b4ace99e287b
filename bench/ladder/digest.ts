// A plan in 64 letters: SHA-256 over its actions in order. Two runs decided the same if these are equal, whatever the
// number of workers. Fed action by action, because a cold fleet has millions of bytes of them.

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
