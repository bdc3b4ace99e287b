// What a question says is what the engine decides: the same changes, made to the plain input by naive code, and decided by
// the engine's entry point for plain values.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LoopRules, startLoop, stepLoop } from '../../testing/loop/loop.ts';
import { anyFleets, foldKeyOf } from '../../testing/support/fleets.ts';
import {
  type Changed,
  type Document,
  nameOf,
  purchased,
  questionPairsOn,
  questionsOn,
} from '../../testing/support/what-if-changes.ts';
import { decide as decideFleet } from '../engine/index.ts';
import { fleetOf } from '../fleet/index.ts';
import {
  ACTION_KINDS,
  type Action,
  type DecisionInput,
  formatResources,
  keyOf,
  keyText,
  type Plan,
  type PurchaseBudget,
  sameTermOf,
  type Verdict,
} from '../model/index.ts';
import { validate } from '../runtime/validation.ts';
import { planJson } from '../scenario/plan-json.ts';
import type { Listed, WhatIfAction, WhatIfVerdict } from './answer.ts';
import type { WhatIfRequest } from './changes.ts';
import { whatIfOn } from './on-input.ts';
import { WHAT_IF_REQUEST } from './request.ts';
import { WhatIf } from './what-if.ts';

const decide = (input: DecisionInput): Plan => decideFleet(fleetOf(input), input.nowMs, input.options);

const RUNS = Number(process.env['BIGFLEET_RUNS'] ?? 300);

function requestOf(changes: Document, settle: number | boolean = false): WhatIfRequest {
  const result = validate(WHAT_IF_REQUEST, { changes, settle, limit: 200 });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.value;
}

function countsOf(plan: Plan): Readonly<Record<string, number>> {
  return Object.fromEntries(
    ACTION_KINDS.map((kind) => [kind, plan.actions.filter((action) => action.kind === kind).length]),
  );
}

const textOf = ({ kind, machine, cluster, reason }: Action | WhatIfAction): string =>
  `${kind} ${machine} ${cluster} ${reason}`;

/** Every item of a list, sorted; there are fewer than the limit. */
function sortedTexts<T>({ total, items }: Listed<T>, text: (item: T) => string): string[] {
  expect(items.length).toBe(total);
  return items.map(text).sort();
}

/** Texts of actions of the first plan that the second one does not have; a renamed Need is the same Need. */
function actionsOnlyIn(
  plan: Plan,
  other: Plan,
  isSameNeed: (of: Action, others: Action) => boolean,
): string[] {
  const others = new Map(other.actions.map((action) => [action.machine, action]));
  return plan.actions
    .filter((action) => {
      const match = others.get(action.machine);
      return match?.kind !== action.kind || match.cluster !== action.cluster || !isSameNeed(action, match);
    })
    .map(textOf)
    .sort();
}

/** Whether two actions are for one Need; for a fold, whether some Need that would be in the first may be in the second. */
function sameNeedIn({ needs }: DecisionInput, { input: after, keys }: Changed) {
  const folds = new Map<string, Set<string>>();
  const changed = new Map(after.needs.map((need) => [keyText(keyOf(need)), need]));
  for (const need of needs) {
    const to = changed.get(keyText(keys.get(keyText(keyOf(need)))!))!;
    if (sameTermOf(need.profile) === undefined) continue;
    const text = keyText(foldKeyOf(need));
    folds.set(text, (folds.get(text) ?? new Set()).add(keyText(foldKeyOf(to))));
  }
  return (now: Action, later: Action): boolean => {
    if (now.need === null || later.need === null) return now.need === later.need;
    const [text, to] = [keyText(now.need), keyText(later.need)];
    return keyText(keys.get(text) ?? now.need) === to || folds.get(text)?.has(to) === true;
  };
}

const verdictText = ({ need, reason, reasonNow, missing }: WhatIfVerdict): string =>
  JSON.stringify([need.id, reasonNow, reason, missing]);

/** Texts of verdicts by kind of change; each original Need is looked up under its own key before and after. */
function verdictTexts({ needs }: DecisionInput, { keys }: Changed, now: Plan, after: Plan) {
  const byKey = ({ verdicts }: Plan): ReadonlyMap<string, Verdict> =>
    new Map(verdicts.map((verdict) => [keyText(verdict.key), verdict]));
  const [before, later] = [byKey(now), byKey(after)];
  const texts: Record<'met' | 'unmet' | 'changed', string[]> = { met: [], unmet: [], changed: [] };
  for (const key of needs.map(keyOf)) {
    const was = before.get(keyText(key))!;
    const is = later.get(keyText(keys.get(keyText(key))!))!;
    const [reasonNow, reason] = [was.unmet?.reason ?? null, is.unmet?.reason ?? null];
    if (reasonNow === reason) continue;
    const missing = is.satisfied ? {} : formatResources(is.deficit);
    const kind = reason === null ? 'met' : reasonNow === null ? 'unmet' : 'changed';
    texts[kind].push(JSON.stringify([nameOf(key), reasonNow, reason, missing]));
  }
  for (const list of Object.values(texts)) list.sort();
  return texts;
}

const unmetIn = ({ verdicts }: Plan): number => verdicts.filter(({ satisfied }) => !satisfied).length;

describe('a what-if question', () => {
  it('says what the engine decides on the changed input', () => {
    fc.assert(
      fc.property(questionsOn(anyFleets()), ({ input, question }) => {
        // When
        const answer = whatIfOn(input, requestOf(question.document), nameOf);
        // Then
        const changed = question.apply();
        const [now, after] = [decide(input), decide(changed.input)];
        const isSame = sameNeedIn(input, changed);
        expect(answer.actions.now).toEqual(countsOf(now));
        expect(answer.actions.after).toEqual(countsOf(after));
        expect(sortedTexts(answer.actions.added, textOf)).toEqual(
          actionsOnlyIn(after, now, (later, before) => isSame(before, later)),
        );
        expect(sortedTexts(answer.actions.dropped, textOf)).toEqual(actionsOnlyIn(now, after, isSame));
        expect(answer.verdicts.now.unmet).toBe(unmetIn(now));
        expect(answer.verdicts.after.unmet).toBe(unmetIn(after));
        expect(answer.verdicts.after.met).toBe(after.verdicts.length - unmetIn(after));
        const { unmet, met, changed: others } = answer.verdicts;
        expect({
          met: sortedTexts(met, verdictText),
          unmet: sortedTexts(unmet, verdictText),
          changed: sortedTexts(others, verdictText),
        }).toEqual(verdictTexts(input, changed, now, after));
        const cost = planJson(after, changed.input).cost;
        expect(answer.cost.after.perHour).toBeCloseTo(cost.before, 5);
        expect(answer.cost.after.afterActions).toBeCloseTo(cost.after, 5);
        expect(answer.cost.after.risk).toBeCloseTo(cost.risk, 5);
      }),
      { numRuns: RUNS },
    );
  });

  it('leaves the fleet as it was, for the next question', () => {
    fc.assert(
      fc.property(questionPairsOn(anyFleets()), ({ input, first, second }) => {
        // Given
        const fleet = fleetOf(input);
        const facts = { providerOf: () => '', hasFailedHost: () => true };
        const whatIf = new WhatIf(fleet, { facts, nameOf });
        const ask = (document: Document) => whatIf.ask(input.nowMs, input.options, requestOf(document, 3));
        const alone = new WhatIf(fleetOf(input), { facts, nameOf });
        // When
        ask(first.document);
        // Then
        const expected = alone.ask(input.nowMs, input.options, requestOf(second.document, 3));
        expect(ask(second.document)).toEqual(expected);
      }),
      { numRuns: RUNS },
    );
  });

  it('settles as a closed loop in which moves take no time, under ceilings that stay as they are', () => {
    fc.assert(
      fc.property(anyFleets(), fc.constantFrom(1, 3, 30), (rough, limit) => {
        // Given no machine that waits for a hold, so that no time passes
        const options = { ...rough.options, releaseHoldSeconds: new Map(), reclaimHoldSeconds: 0 };
        const input = { ...rough, options };
        // When
        const settled = whatIfOn(input, requestOf({}, limit), nameOf).settled!;
        // Then
        const rules: LoopRules = { decide: (of) => decide(withBudgetLeft(of, input)), delays: 0 };
        let state = startLoop(input);
        const counts = { Bootstrap: 0, Provision: 0, Preempt: 0, Reclaim: 0, Delete: 0 };
        for (let cycle = 0; cycle < settled.cycles; cycle++) {
          const { step, next } = stepLoop(state, rules);
          for (const kind of ACTION_KINDS) counts[kind] += step.counts[kind];
          state = next;
        }
        const { plan } = stepLoop(state, rules).step;
        expect(settled).toMatchObject({
          ...{ bought: counts.Provision, bound: counts.Bootstrap, released: counts.Delete },
          ...{ drained: counts.Reclaim, preempted: counts.Preempt },
          ...{ simulatedSeconds: 0 },
        });
        expect(settled.needs.unmet).toBe(unmetIn(plan));
        expect(settled.isQuiet ? plan.actions : []).toEqual([]);
        expect(settled.isQuiet || settled.cycles === limit).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });
});

/** The budget that the ceiling of the first input leaves: what has been purchased since then is spent. */
function withBudgetLeft(input: DecisionInput, first: DecisionInput): DecisionInput {
  const { purchaseBudget } = first.options;
  if (purchaseBudget === undefined) return input;
  const left = (micros: number, cluster?: string): number =>
    micros + purchased(first.machines, cluster) - purchased(input.machines, cluster);
  const budget: PurchaseBudget = {
    shard: left(purchaseBudget.shard),
    clusters: new Map([...purchaseBudget.clusters].map(([name, micros]) => [name, left(micros, name)])),
  };
  return { ...input, options: { ...input.options, purchaseBudget: budget } };
}
