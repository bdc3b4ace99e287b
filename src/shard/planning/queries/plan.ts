// Answers the `plan` query: actions that the last cycle decided and did not carry out, with the reason. Used by
// answers.ts.

import type { PlanView, Questions, WaitingActionView } from '../../views.ts';
import type { ControllerState } from '../controller.ts';
import type { Cycles } from '../cycles.ts';
import { offsetPage } from './pages.ts';

/** Bound on frozen clusters in one answer; the list of freezes has all of them. */
const MAX_FROZEN_CLUSTERS = 20;

export function planOf(state: ControllerState, cycles: Cycles, ask: Questions['plan']['ask']): PlanView {
  const { machine, cluster } = ask;
  const { last, waiting } = cycles;
  const isWanted = ({ machine: id, cluster: of, need }: WaitingActionView): boolean =>
    (machine === undefined || id === machine) &&
    (cluster === undefined || of === cluster || need?.cluster === cluster);
  const wanted = waiting.filter(isWanted);
  const all = (last?.heldBack ?? []).reduce((sum, { total }) => sum + total, 0);
  // Only the first actions are kept, but all are counted.
  const total = machine === undefined && cluster === undefined ? all : wanted.length;
  return {
    ...{ cycle: last?.number ?? null, atMs: last?.atMs ?? null },
    dryRun: state.parts.options.guardrails.dryRun,
    heldBack: last?.heldBack ?? [],
    frozenClusters: frozenClusters(state, cycles),
    actions: offsetPage(ask, wanted, total),
  };
}

function frozenClusters({ freezes }: ControllerState, { decision }: Cycles): PlanView['frozenClusters'] {
  const unmet = new Map<string, number>();
  for (const { key } of decision?.decided.unmet ?? [])
    unmet.set(key.cluster, (unmet.get(key.cluster) ?? 0) + 1);
  return [...freezes.cannotBind()]
    .map((cluster) => ({ cluster, unmet: unmet.get(cluster) ?? 0 }))
    .sort((a, b) => b.unmet - a.unmet)
    .slice(0, MAX_FROZEN_CLUSTERS);
}
