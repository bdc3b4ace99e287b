// "What if": the decision on a changed fleet, compared with the one on the fleet as it is. Pure: no clock, no I/O, and
// nothing is executed. The fleet is a copy of the caller's, and is as before after each question.

import { type Decision, Engine } from '../engine/index.ts';
import type { Fleet } from '../fleet/index.ts';
import { type Action, type DecisionOptions, MachineState } from '../model/index.ts';
import type { Disruption, Settled, WhatIfAnswer } from './answer.ts';
import { type Applied, applyChanges, type World } from './change-fleet.ts';
import type { WhatIfRequest } from './changes.ts';
import { actionChanges, type Naming, verdictChanges } from './differences.ts';
import { FleetEdit } from './fleet-edit.ts';
import { costDifference, type Outcome, outcomeOf } from './outcome.ts';
import { settle } from './settle.ts';

export interface AskHooks {
  /**
   * Called between steps, also of settling and of undoing the changes, and often within the longest phases of a decision. A
   * caller that shares its cores waits in it.
   */
  readonly pause?: (() => void) | undefined;
  /** Asked before each cycle of settling; true ends it, and the answer says so. */
  readonly isOver?: (() => boolean) | undefined;
  /** Called with the answer before the changes are undone, which takes as long as making them. */
  readonly onAnswer?: ((answer: WhatIfAnswer) => void) | undefined;
}

/** Questions about one fleet, which its owner may change between them. Keeps what does not change from one to the next. */
export class WhatIf {
  readonly #fleet: Fleet;
  readonly #world: World;
  readonly #engine: Engine;
  /** That of the question being answered. */
  #pause = noPause;

  constructor(fleet: Fleet, world: World) {
    this.#fleet = fleet;
    this.#world = world;
    this.#engine = new Engine(fleet, { workers: 1, checkEvery: 0, pause: () => this.#pause() });
  }

  /** Decides on the fleet as it is, so that the first question finds what does not change between questions. */
  prepare(nowMs: number, options: DecisionOptions, pause: () => void): void {
    this.#pause = pause;
    this.#decide(nowMs, options, pause);
  }

  /**
   * Answers a question. Throws BF_WHATIF_UNKNOWN if the question names what the fleet does not have.
   */
  ask(nowMs: number, options: DecisionOptions, request: WhatIfRequest, hooks: AskHooks = {}): WhatIfAnswer {
    const { pause = noPause, isOver = never, onAnswer } = hooks;
    this.#pause = pause;
    const before = this.#outcome(this.#decide(nowMs, options, pause));
    pause();
    const edit = new FleetEdit(this.#fleet, pause);
    try {
      const names: Naming = { limit: request.limit, nameOf: this.#world.nameOf };
      const bound = this.#bound();
      const applied = applyChanges(edit, this.#world, request.changes, options);
      const lost = bound - this.#bound();
      pause();
      const decision = this.#decide(nowMs, applied.options, pause);
      const after = this.#outcome(decision);
      const answer = answerOf(nowMs, { before, after, applied, lost }, names);
      if (request.settle === 0) {
        onAnswer?.(answer);
        return answer;
      }
      const { settle: limit } = request;
      const settled = this.#settle(edit, decision, { nowMs, before, applied, names, limit, isOver, pause });
      const complete = { ...answer, settled };
      onAnswer?.(complete);
      return complete;
    } finally {
      edit.undo();
    }
  }

  #decide(nowMs: number, options: DecisionOptions, pause: () => void): Decision {
    return this.#engine.decide(nowMs, options, { probe: pause });
  }

  #outcome(decision: Decision): Outcome {
    return outcomeOf(this.#fleet, this.#world.facts, decision);
  }

  #bound(): number {
    const { state, size } = this.#fleet.machines;
    let count = 0;
    for (let slot = 0; slot < size; slot++) if (state[slot] === MachineState.Configured) count++;
    return count;
  }

  #settle(
    edit: FleetEdit,
    first: Decision,
    {
      nowMs,
      before,
      applied,
      names,
      limit,
      isOver,
      pause,
    }: {
      readonly nowMs: number;
      readonly before: Outcome;
      readonly applied: Applied;
      readonly names: Naming;
      readonly limit: number;
      readonly isOver: () => boolean;
      readonly pause: () => void;
    },
  ): Settled {
    const { options } = applied;
    const { facts } = this.#world;
    const end = settle(edit, this.#engine, first, { nowMs, options, facts, limit, isOver, pause });
    pause();
    const { cost, needs, unmet } = this.#outcome(end.decision);
    const changes = verdictChanges(before.unmet, unmet, applied.renames, names);
    return {
      cycles: end.cycles,
      isQuiet: end.isQuiet,
      remark: end.isCutShort ? CUT_SHORT : null,
      simulatedSeconds: (end.nowMs - nowMs) / 1000,
      bought: end.counts.Provision,
      bound: end.counts.Bootstrap,
      preempted: end.counts.Preempt,
      drained: end.counts.Reclaim,
      released: end.counts.Delete,
      ...{ cost, costDifference: costDifference(cost, before.cost), needs },
      ...{ unmet: changes.unmet, met: changes.met },
    };
  }
}

function noPause(): void {}

function never(): boolean {
  return false;
}

const CUT_SHORT =
  'The time for an answer was over before the fleet was quiet. On a scenario file, such as an export of the fleet, there is no such limit.';

function answerOf(
  atMs: number,
  {
    before,
    after,
    applied,
    lost,
  }: {
    readonly before: Outcome;
    readonly after: Outcome;
    readonly applied: Applied;
    readonly lost: number;
  },
  naming: Naming,
): WhatIfAnswer {
  const { touched, unmatched, renames } = applied;
  return {
    ...{ atMs, touched, unmatched },
    actions: {
      now: before.counts,
      after: after.counts,
      ...actionChanges(before.actions, after.actions, renames, naming),
    },
    cost: { now: before.cost, after: after.cost, difference: costDifference(after.cost, before.cost) },
    verdicts: {
      now: before.needs,
      after: after.needs,
      ...verdictChanges(before.unmet, after.unmet, renames, naming),
    },
    disruption: { now: disruptionOf(before.actions, 0), after: disruptionOf(after.actions, lost) },
    settled: null,
  };
}

function disruptionOf(actions: readonly Action[], lost: number): Disruption {
  const countOf = (kind: Action['kind']): number => actions.filter((action) => action.kind === kind).length;
  return { preempted: countOf('Preempt'), drained: countOf('Reclaim'), lost };
}
