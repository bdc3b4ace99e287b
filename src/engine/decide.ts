// The decision engine: from a frozen fleet to a plan, as a pure function. No clock, no I/O, no randomness; equal
// fleets give equal plans to the byte. docs/engine.md says in words what this does.

import type { Fleet } from '../fleet/index.ts';
import {
  type Action,
  type DecisionOptions,
  MachineState,
  type NeedKey,
  type Plan,
  RECLAIM_GRACE_SECONDS,
} from '../model/index.ts';
import type { Cycle } from './cycle.ts';
import { type Preemption, preempt } from './preempt.ts';
import { reclaims, releases } from './reclaim.ts';
import { solve } from './solve.ts';
import { TurnKind } from './turns.ts';
import { verdictsOf } from './verdict.ts';

export function decide(fleet: Fleet, nowMs: number, options: DecisionOptions): Plan {
  const cycle = solve(fleet, nowMs, options);
  return planOf(cycle, preempt(cycle));
}

function planOf(cycle: Cycle, preemptions: ReadonlyMap<number, Preemption>): Plan {
  const { clusters, demand, keys, machines } = cycle.fleet;
  const actions: Action[] = [];
  const claims = new Map<string, NeedKey>();
  const restamps = new Map<string, NeedKey>();
  for (let turn = 0; turn < cycle.turns.count; turn++) {
    const need = keys.keyOf(cycle.turns.key[turn]!);
    const gang = cycle.turns.kind[turn] === TurnKind.Gang;
    for (const slot of cycle.claimsOf(turn)) {
      claims.set(machines.idOf(slot), need);
      if (gang && machines.cluster[slot] !== 0 && machines.stampKey[slot] !== cycle.turns.key[turn]) {
        restamps.set(machines.idOf(slot), need);
      }
    }
  }
  for (const turn of cycle.pass) {
    const need = keys.keyOf(cycle.turns.key[turn]!);
    for (const slot of cycle.acquiredOf(turn)) {
      const idle = machines.state[slot] === MachineState.Idle;
      actions.push({
        kind: idle ? 'Bootstrap' : 'Provision',
        machine: machines.idOf(slot),
        cluster: need.cluster,
        reason: idle ? 'phase1.idle' : 'phase1.speculative',
        graceSeconds: 0,
        preemptorPriority: 0,
        need,
      });
    }
  }
  const picked = new Set<number>();
  for (const [turn, { picks }] of preemptions) {
    const { priority } = demand.profiles.entryOf(cycle.turns.profile[turn]!).profile;
    for (const { slot, graceSeconds, excess } of picks) {
      picked.add(slot);
      actions.push({
        kind: 'Preempt',
        machine: machines.idOf(slot),
        cluster: clusters.nameOf(machines.cluster[slot]!),
        reason: excess ? 'phase2.excess' : 'phase2.inversion',
        graceSeconds,
        preemptorPriority: priority,
        need: keys.keyOf(cycle.turns.key[turn]!),
      });
    }
  }
  for (const slot of reclaims(cycle, picked)) {
    actions.push({
      kind: 'Reclaim',
      machine: machines.idOf(slot),
      cluster: clusters.nameOf(machines.cluster[slot]!),
      reason: 'phase3.excess',
      graceSeconds: RECLAIM_GRACE_SECONDS,
      preemptorPriority: 0,
      need: null,
    });
  }
  for (const slot of releases(cycle)) {
    actions.push({
      kind: 'Delete',
      machine: machines.idOf(slot),
      cluster: '',
      reason: 'phase3.release',
      graceSeconds: 0,
      preemptorPriority: 0,
      need: null,
    });
  }
  return { actions, verdicts: verdictsOf(cycle, preemptions), claims, restamps };
}
