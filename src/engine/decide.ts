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
import { Cycle, type Served } from './cycle.ts';
import { serveGang } from './gang.ts';
import { type Preemption, preempt } from './preempt.ts';
import { reclaims, releases } from './reclaim.ts';
import { servePlain } from './serve.ts';
import { serveSpread } from './spread.ts';
import { type Turn, turnOf, turnsOf } from './turns.ts';
import { verdictsOf } from './verdict.ts';

export function decide(fleet: Fleet, nowMs: number, options: DecisionOptions): Plan {
  const turns = turnsOf(fleet);
  const cycle = new Cycle(fleet, options, nowMs, turns);
  for (const turn of turns) {
    const served = serve(cycle, turn);
    // Gangs that found no machine of their own in the fold are served as the gangs they are, right away.
    if (turn.kind === 'fold') {
      for (const row of turn.members.slice(served.hosted)) serve(cycle, turnOf(fleet, row, 'gang'));
    }
  }
  const preemptions = preempt(cycle);
  return planOf(cycle, preemptions);
}

function serve(cycle: Cycle, turn: Turn): Served {
  if (turn.kind === 'gang') return serveGang(cycle, turn);
  const spreads = cycle.fleet.demand.profiles.entryOf(turn.profile).spreadKey !== undefined;
  return turn.kind === 'plain' && spreads ? serveSpread(cycle, turn) : servePlain(cycle, turn);
}

function planOf(cycle: Cycle, preemptions: ReadonlyMap<number, Preemption>): Plan {
  const { clusters, demand, keys, machines } = cycle.fleet;
  const actions: Action[] = [];
  const claims = new Map<string, NeedKey>();
  const restamps = new Map<string, NeedKey>();
  for (const { turn, claims: slots, acquired, gang } of cycle.served) {
    const need = keys.keyOf(turn.key);
    for (const slot of slots) {
      claims.set(machines.idOf(slot), need);
      if (gang !== null && machines.cluster[slot] !== 0 && machines.stampKey[slot] !== turn.key) {
        restamps.set(machines.idOf(slot), need);
      }
    }
    for (const slot of acquired) {
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
  for (const [number, { picks }] of preemptions) {
    const { turn } = cycle.served[number]!;
    const { priority } = demand.profiles.entryOf(turn.profile).profile;
    for (const { slot, graceSeconds, excess } of picks) {
      picked.add(slot);
      actions.push({
        kind: 'Preempt',
        machine: machines.idOf(slot),
        cluster: clusters.nameOf(machines.cluster[slot]!),
        reason: excess ? 'phase2.excess' : 'phase2.inversion',
        graceSeconds,
        preemptorPriority: priority,
        need: keys.keyOf(turn.key),
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
