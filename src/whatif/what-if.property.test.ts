// What a question says is what the engine decides: the same changes, made to the plain input by naive code, and decided by
// the engine's entry point for plain values.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runUntilQuiet, startLoop } from '../../testing/loop/loop.ts';
import { anyFleets } from '../../testing/support/fleets.ts';
import { decide as decideFleet } from '../engine/index.ts';
import { fleetOf } from '../fleet/index.ts';
import {
  ACTION_KINDS,
  type Action,
  CapacityType,
  type DecisionInput,
  keyText,
  type LedgerMachine,
  MachineState,
  makeProfile,
  mergeNeeds,
  type Need,
  type NeedKey,
  type Plan,
} from '../model/index.ts';
import { validate } from '../runtime/validation.ts';
import { planJson } from '../scenario/plan-json.ts';
import type { WhatIfAction } from './answer.ts';
import type { WhatIfRequest } from './changes.ts';
import { whatIfOn } from './on-input.ts';
import { WHAT_IF_REQUEST } from './request.ts';
import { WhatIf } from './what-if.ts';

const decide = (input: DecisionInput): Plan => decideFleet(fleetOf(input), input.nowMs, input.options);

const RUNS = Number(process.env['BIGFLEET_RUNS'] ?? 300);
const nameOf = (key: NeedKey): string => keyText(key);

type Change = (input: DecisionInput) => DecisionInput;

/** A change as a question has it, and the same as plain code. */
interface Pair {
  readonly document: Readonly<Record<string, unknown>>;
  readonly apply: Change;
}

const mapMachines =
  (change: (machine: LedgerMachine) => LedgerMachine | null): Change =>
  (input) => ({ ...input, machines: input.machines.flatMap((machine) => change(machine) ?? []) });

const mapNeeds =
  (change: (need: Need) => Need): Change =>
  (input) => ({ ...input, needs: mergeNeeds(input.needs.map(change)) });

const spot = (machine: LedgerMachine): boolean => machine.capacityType === CapacityType.Spot;

const MATCHES: readonly { match: object; test: (machine: LedgerMachine) => boolean }[] = [
  { match: { capacityType: 'spot' }, test: spot },
  { match: { name: ['on-dem*'] }, test: ({ capacityType }) => capacityType === CapacityType.OnDemand },
  { match: { state: 'configured' }, test: ({ state }) => state === MachineState.Configured },
  {
    match: { state: ['idle', 'spec*'] },
    test: ({ state }) => ([MachineState.Idle, MachineState.Speculative] as MachineState[]).includes(state),
  },
  { match: { cluster: 'c1' }, test: ({ cluster }) => cluster === 'c1' },
  { match: { zone: '*a', capacityType: '*' }, test: ({ zone }) => zone.endsWith('a') },
  { match: { labels: { rack: '*' } }, test: ({ labels }) => labels.has('rack') },
];

const match = fc.constantFrom(...MATCHES);

const without: fc.Arbitrary<Pair> = match.map((one) => ({
  document: { without: [one.match] },
  apply: mapMachines((machine) => (one.test(machine) ? null : machine)),
}));

const price: fc.Arbitrary<Pair> = fc
  .record({ one: match, times: fc.constantFrom(null, 0, 2, 3), set: fc.constantFrom(0, 1, 7) })
  .map(({ one, times, set }) => ({
    document: { prices: [{ match: one.match, ...(times === null ? { set } : { times }) }] },
    apply: mapMachines((machine) =>
      one.test(machine)
        ? { ...machine, pricePerHour: times === null ? set : machine.pricePerHour * times }
        : machine,
    ),
  }));

const probability: fc.Arbitrary<Pair> = fc
  .record({ one: match, times: fc.constantFrom(0, 2, 50) })
  .map(({ one, times }) => ({
    document: { probabilities: [{ match: one.match, times }] },
    apply: mapMachines((machine) =>
      one.test(machine)
        ? { ...machine, interruptionProbability: Math.min(1, machine.interruptionProbability * times) }
        : machine,
    ),
  }));

const demand: fc.Arbitrary<Pair> = fc
  .record({ cluster: fc.constantFrom('c1', '*'), times: fc.constantFrom(0, 0.5, 1, 1.5, 3) })
  .map(({ cluster, times }) => ({
    document: { demand: [{ cluster, times }] },
    apply: mapNeeds((need) =>
      (cluster === '*' || need.cluster === cluster) && need.setAside !== true
        ? {
            ...need,
            aggregate: new Map(
              [...need.aggregate].map(([name, units]) => [
                name,
                Math.min(2 ** 53 - 1, Math.ceil(units * times)),
              ]),
            ),
          }
        : need,
    ),
  }));

const priority: fc.Arbitrary<Pair> = fc
  .record({ cluster: fc.constantFrom('c1', '*'), set: fc.constantFrom(0, 10, 1000) })
  .map(({ cluster, set }) => ({
    document: { priorities: [{ cluster, set }] },
    apply: mapNeeds((need) =>
      cluster === '*' || need.cluster === cluster
        ? { ...need, profile: makeProfile({ ...need.profile, priority: set }) }
        : need,
    ),
  }));

const policy: fc.Arbitrary<Pair> = fc
  .record({ sharing: fc.constantFrom('on', 'off'), reclaimHold: fc.constantFrom(0, 600) })
  .map((options) => ({
    document: { options },
    apply: (input): DecisionInput => ({
      ...input,
      options: {
        ...input.options,
        sharing: options.sharing as 'on' | 'off',
        reclaimHoldSeconds: options.reclaimHold,
      },
    }),
  }));

/** Each kind at most once, in the order in which a question applies them. */
const changes: fc.Arbitrary<Pair> = fc
  .tuple(...[without, price, probability, demand, priority, policy].map((kind) => fc.option(kind)))
  .map((kinds) => {
    const pairs = kinds.filter((kind) => kind !== null);
    return {
      document: Object.assign({}, ...pairs.map(({ document }) => document)) as object as Pair['document'],
      apply: (input) => pairs.reduce((changed, pair) => pair.apply(changed), input),
    };
  });

function requestOf(document: Pair['document'], settle: number | boolean = false): WhatIfRequest {
  const result = validate(WHAT_IF_REQUEST, { changes: document, settle, limit: 200 });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.value;
}

function textOf({ kind, machine, cluster }: Action | WhatIfAction): string {
  return `${kind} ${machine} ${cluster}`;
}

function countsOf(plan: Plan): Readonly<Record<string, number>> {
  return Object.fromEntries(
    ACTION_KINDS.map((kind) => [kind, plan.actions.filter((action) => action.kind === kind).length]),
  );
}

function unmetOf(plan: Plan): string[] {
  return plan.verdicts.filter(({ satisfied }) => !satisfied).map(({ key }) => keyText(key));
}

describe('a what-if question', () => {
  it('says what the engine decides on the changed input', () => {
    fc.assert(
      fc.property(anyFleets(), changes, (input, { document, apply }) => {
        // When
        const answer = whatIfOn(input, requestOf(document), nameOf);
        // Then
        const [now, after] = [decide(input), decide(apply(input))];
        expect(answer.actions.now).toEqual(countsOf(now));
        expect(answer.actions.after).toEqual(countsOf(after));
        const nowTexts = new Set(now.actions.map(textOf));
        const added = new Set(answer.actions.added.items.map(textOf));
        for (const action of after.actions)
          if (!nowTexts.has(textOf(action))) expect(added).toContain(textOf(action));
        expect(answer.verdicts.now.unmet).toBe(unmetOf(now).length);
        expect(answer.verdicts.after.unmet).toBe(unmetOf(after).length);
        const cost = planJson(after, apply(input)).cost;
        expect(answer.cost.after.perHour).toBeCloseTo(cost.before, 5);
        expect(answer.cost.after.afterActions).toBeCloseTo(cost.after, 5);
        expect(answer.cost.after.risk).toBeCloseTo(cost.risk, 5);
        if (document['priorities'] !== undefined) return;
        const nowUnmet = new Set(unmetOf(now));
        const newlyUnmet = unmetOf(after).filter((key) => !nowUnmet.has(key));
        expect(answer.verdicts.unmet.items.map(({ need }) => need.id)).toEqual(newlyUnmet);
      }),
      { numRuns: RUNS },
    );
  });

  it('leaves the fleet as it was, for the next question', () => {
    fc.assert(
      fc.property(anyFleets(), changes, changes, (input, first, second) => {
        // Given
        const fleet = fleetOf(input);
        const facts = { providerOf: () => '', hasFailedHost: () => true };
        const whatIf = new WhatIf(fleet, { facts, nameOf });
        const ask = (document: Pair['document']) =>
          whatIf.ask(input.nowMs, input.options, requestOf(document, 3));
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

  it('settles as a closed loop in which moves take no time', () => {
    fc.assert(
      fc.property(anyFleets(), (rough) => {
        // Given no machine that waits for a hold, so that no time passes
        const options = { ...rough.options, releaseHoldSeconds: new Map(), reclaimHoldSeconds: 0 };
        const input = { ...rough, options };
        // When
        const { settled } = whatIfOn(input, requestOf({}, 30), nameOf);
        // Then
        const run = runUntilQuiet(startLoop(input), { decide, delays: 0 }, 30);
        const last = run.steps.at(-1)!;
        const counted = (kind: keyof typeof last.counts): number =>
          run.steps.reduce((sum, { counts }) => sum + counts[kind], 0);
        if (!settled!.isQuiet) return;
        expect(settled!.bought).toBe(counted('Provision'));
        expect(settled!.bound).toBe(counted('Bootstrap'));
        expect(settled!.drained).toBe(counted('Reclaim'));
        expect(settled!.preempted).toBe(counted('Preempt'));
        expect(settled!.needs.unmet).toBe(unmetOf(last.plan).length);
      }),
      { numRuns: RUNS },
    );
  });
});
