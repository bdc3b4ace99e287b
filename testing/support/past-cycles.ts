// Test support: answers about a past cycle, as the API gives them. Imported by the tests of its routes, of the page and of the
// commands.

import type {
  CycleActionView,
  CyclePlanView,
  CycleRedecisionView,
  PastCyclesPort,
} from '../../src/shard/views.ts';
import { NOW_MS } from './fake-shard.ts';

const KINDS = { Bootstrap: 0, Provision: 2, Preempt: 0, Reclaim: 0, Delete: 0 };
const NEED = { id: 'ml/00ff00ff00', cluster: 'ml', group: '', priority: 7 };
const BOUGHT: CycleActionView = {
  ...{
    kind: 'Provision',
    machine: 'gpu/7',
    cluster: 'ml',
    reason: 'phase1.speculative',
    why: null,
    need: NEED,
  },
  ...{ provider: 'cloud', capacityType: 'SPOT', zone: 'a' },
};
const FROZEN: CycleActionView = {
  ...{ ...BOUGHT, kind: 'Reclaim', machine: 'm-2', reason: 'phase3.excess', why: 'frozen', need: null },
  ...{ from: NEED, leaving: { cause: 'work-ended', domain: null, goesTo: null } },
  freeze: { id: 'fleet', who: 'ann', why: 'a look' },
};
export const PAST_PLAN: CyclePlanView = {
  ...{ cycle: 812, epoch: 3, atMs: NOW_MS - 60_000, durationMs: 12, digest: '8b91', unmet: 1 },
  ...{ decided: KINDS, admitted: KINDS, waiting: { capped: 1, frozen: 4 }, notListed: 3 },
  actions: { items: [BOUGHT, FROZEN], total: 9, next: '41' },
};
const SIDE = { digest: '8b91', decided: KINDS, unmet: 1 };
export const NO_ACTIONS = { total: 0, items: [] };
const { why: _, freeze: __, leaving: ___, ...AGAIN } = FROZEN;
export const REPEATED_ACTION: CycleActionView = AGAIN;
export const SAME_PLAN: CycleRedecisionView = {
  ...{ cycle: 812, epoch: 3, atMs: NOW_MS, isSame: true, recorded: SIDE, again: SIDE },
  ...{ durationMs: 3, readMs: 40, cyclesRead: 1, onlyRecorded: NO_ACTIONS, onlyAgain: NO_ACTIONS },
  actions: { total: 2, items: [REPEATED_ACTION] },
};
export const OTHER_PLAN: CycleRedecisionView = {
  ...{
    ...SAME_PLAN,
    isSame: false,
    again: { digest: 'ffff', decided: { ...KINDS, Provision: 1 }, unmet: 0 },
  },
  ...{ onlyRecorded: { total: 1, items: [BOUGHT] }, onlyAgain: { total: 2, items: [REPEATED_ACTION] } },
};

/** A shard that has one cycle in its journal. */
export function onePastCycle(redecision: CycleRedecisionView = SAME_PLAN): PastCyclesPort & {
  readonly asked: unknown[];
} {
  const asked: unknown[] = [];
  return {
    asked,
    plan: async (ask) => {
      asked.push(ask);
      return PAST_PLAN;
    },
    redecide: async (ask) => {
      asked.push(ask);
      return redecision;
    },
  };
}
