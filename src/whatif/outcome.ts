// A decision in figures, read before the fleet changes again. Used by what-if.ts.

import type { Decision } from '../engine/index.ts';
import type { Fleet } from '../fleet/index.ts';
import {
  type Action,
  type CostPart,
  type CostView,
  costView,
  dollarsOfMicros,
  MachineState,
  microsOf,
  noCost,
  ON_HOLD,
  PART_OF_STATE,
  type Verdict,
} from '../model/index.ts';
import type { ActionCounts, NeedCounts, WhatIfCost } from './answer.ts';
import type { MachineFacts } from './selection.ts';

export interface Outcome {
  readonly actions: readonly Action[];
  readonly counts: ActionCounts;
  readonly unmet: readonly Verdict[];
  readonly needs: NeedCounts;
  readonly cost: WhatIfCost;
}

export function outcomeOf(fleet: Fleet, facts: MachineFacts, decision: Decision): Outcome {
  const actions = decision.actions();
  const { unmet, counts } = decision;
  return {
    actions,
    counts: { ...counts },
    unmet,
    needs: { met: fleet.demand.count - unmet.length, unmet: unmet.length },
    cost: costOf(fleet, facts, decision, actions),
  };
}

function costOf(
  fleet: Fleet,
  facts: MachineFacts,
  decision: Decision,
  actions: readonly Action[],
): WhatIfCost {
  const { classes, machines } = fleet;
  const prices = Float64Array.from(classes.price.subarray(0, classes.size), microsOf);
  const micros = noCost();
  for (let slot = 0; slot < machines.size; slot++) {
    const part = PART_OF_STATE[machines.state[slot]!]!;
    if (part === undefined || part < 0) continue;
    if (machines.state[slot] === MachineState.Failed && !facts.hasFailedHost(slot)) continue;
    micros[part]! += prices[machines.classOf[slot]!]!;
  }
  const serving = PART_OF_STATE[MachineState.Configured]!;
  for (const slot of decision.slotsOnHold()) {
    const price = prices[machines.classOf[slot]!]!;
    micros[serving]! -= price;
    micros[ON_HOLD]! += price;
  }
  let after = micros.reduce((sum, part) => sum + part, 0);
  for (const { kind, machine } of actions) {
    if (kind !== 'Provision' && kind !== 'Delete') continue;
    const price = prices[machines.classOf[machines.slotOf(machine)!]!]!;
    after += kind === 'Provision' ? price : -price;
  }
  const risk = dollarsOfMicros(microsOf(decision.riskPerHour));
  return { ...costView(micros), afterActions: dollarsOfMicros(after), risk };
}

/** Each amount of `a` less that of `b`. */
export function costDifference(a: WhatIfCost, b: WhatIfCost): WhatIfCost {
  const minus = (x: number, y: number): number => dollarsOfMicros(Math.round((x - y) * 1e6));
  const parts = Object.keys(a.byPart) as CostPart[];
  const byPart = Object.fromEntries(parts.map((part) => [part, minus(a.byPart[part], b.byPart[part])]));
  return {
    perHour: minus(a.perHour, b.perHour),
    byPart: byPart as CostView['byPart'],
    afterActions: minus(a.afterActions, b.afterActions),
    risk: minus(a.risk, b.risk),
  };
}
