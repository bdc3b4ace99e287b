// Test support: actions and verdicts. Imported by tests of src/shard, of the steps that follow a decision.

import type { Action, ActionKind, Need, UnmetReason, Verdict } from '../../src/model/index.ts';
import { keyOf } from '../../src/model/index.ts';

export function anAction(kind: ActionKind, machine: string, given: Partial<Action> = {}): Action {
  return {
    kind,
    machine,
    cluster: kind === 'Delete' ? '' : 'c1',
    reason: kind === 'Reclaim' ? 'phase3.excess' : 'phase1.idle',
    graceSeconds: 0,
    preemptorPriority: 0,
    need: null,
    ...given,
  };
}

/** Reclaims of one cluster, in ascending order. */
export function someReclaims(cluster: string, count: number): Action[] {
  return Array.from({ length: count }, (_, i) => anAction('Reclaim', `${cluster}-m${i}`, { cluster }));
}

export function aMetVerdict(need: Need, given: Partial<Verdict> = {}): Verdict {
  return {
    key: keyOf(need),
    priority: need.profile.priority,
    foldedInto: null,
    satisfied: true,
    deficit: new Map(),
    claimed: [],
    shares: [],
    bootstraps: [],
    provisions: [],
    preempts: [],
    domain: null,
    satisfiable: null,
    candidates: [],
    unmet: null,
    ...given,
  };
}

export const NO_FITTING = { total: 0, failed: 0, blocked: 0, deleting: 0 };

export function anUnmetVerdict(need: Need, reason: UnmetReason, given: Partial<Verdict> = {}): Verdict {
  const matching = { idle: 0, speculative: 0, configured: 0 };
  return aMetVerdict(need, {
    satisfied: false,
    deficit: need.aggregate,
    unmet: { reason, matching, fitting: NO_FITTING, blocker: null, extraSupply: null },
    ...given,
  });
}
