import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide } from '../../src/engine/index.ts';
import { fleetOf } from '../../src/fleet/index.ts';
import {
  type DecisionInput,
  keyOf,
  type LedgerMachine,
  MachineState,
  machineProblems,
  type Plan,
} from '../../src/model/index.ts';
import {
  aMachine,
  aNeed,
  anInput,
  fleets,
  foldKeyOf,
  NOW_MS,
  RACK_KEY,
  resources,
  same,
  stampOf,
} from '../support/fleets.ts';
import {
  acquiredIn,
  countIn,
  isQuiet,
  isSettled,
  type LoopState,
  runLoop,
  runUntilQuiet,
  startLoop,
  stepLoop,
  withEvent,
} from './loop.ts';

const { Speculative, Creating, Idle, Configuring, Configured, Draining, Deleting } = MachineState;

function engine(input: DecisionInput): Plan {
  return decide(fleetOf(input), input.nowMs, input.options);
}

function machineIn(state: LoopState, id: string): LedgerMachine {
  return state.input.machines.find((machine) => machine.id === id)!;
}

/** The state of one machine as seen by each of `cycles` decisions. */
function statesOf(id: string, input: DecisionInput, delays: number, cycles: number): readonly MachineState[] {
  const { steps } = runLoop(startLoop(input), { decide: engine, delays }, cycles);
  return steps.map((step) => step.input.machines.find((machine) => machine.id === id)!.state);
}

describe('a move of the loop', () => {
  it('given no delay, when a machine is bought, then the next decision binds it and the one after finds it bound', () => {
    const input = anInput([aMachine('m', Speculative)], [aNeed()]);
    expect(statesOf('m', input, 0, 4)).toEqual([Speculative, Idle, Configured, Configured]);
  });

  it('given two cycles a move, when a machine is bought, then two decisions see it in each move', () => {
    const input = anInput([aMachine('m', Speculative)], [aNeed()]);
    expect(statesOf('m', input, 2, 8)).toEqual([
      Speculative,
      Creating,
      Creating,
      Idle,
      Configuring,
      Configuring,
      Configured,
      Configured,
    ]);
  });

  it('given delays by machine, then each machine has its own delay', () => {
    const input = anInput(
      [aMachine('a', Idle), aMachine('b', Idle)],
      [aNeed({ aggregate: resources({ cpu: 8 }) })],
    );
    const delays = ({ id }: LedgerMachine): number => (id === 'a' ? 0 : 1);
    const { steps } = runLoop(startLoop(input), { decide: engine, delays }, 3);
    expect(steps.map((step) => step.input.machines.map(({ state }) => state))).toEqual([
      [Idle, Idle],
      [Configured, Configuring],
      [Configured, Configured],
    ]);
  });

  it('given a Bootstrap, then the machine has cluster, stamp and target until it is bound, and no target afterwards', () => {
    const need = aNeed({ priority: 7, interruptionBucket: 4, reclamationBucket: 27 });
    const start = startLoop(anInput([aMachine('m', Idle, { idleSinceMs: 5 })], [need]));
    const rules = { decide: engine, delays: 1 };
    const { next } = stepLoop(start, rules);
    expect(machineIn(next, 'm')).toMatchObject({
      state: Configuring,
      cluster: 'c1',
      target: keyOf(need),
      idleSinceMs: null,
      stamp: {
        priority: 7,
        interruptionPenaltyDollars: 2,
        reclamationPenaltyDollars: Number.POSITIVE_INFINITY,
        fingerprint: need.profile.fingerprint,
        group: '',
      },
    });
    expect(machineIn(stepLoop(next, rules).next, 'm')).toMatchObject({ state: Configured, target: null });
  });

  it('given a Preempt, then the machine drains with the preemptor as its target and becomes Idle without a stamp', () => {
    const low = aNeed({ cluster: 'c2' });
    const high = aNeed({ priority: 9 });
    const start = startLoop(
      anInput([aMachine('m', Configured, { cluster: 'c2', stamp: stampOf(low) })], [low, high]),
    );
    const rules = { decide: engine, delays: 1, cycleMs: 1000 };
    const { next } = stepLoop(start, rules);
    expect(machineIn(next, 'm')).toMatchObject({ state: Draining, cluster: 'c2', target: keyOf(high) });
    expect(machineIn(stepLoop(next, rules).next, 'm')).toMatchObject({
      state: Idle,
      cluster: '',
      stamp: null,
      target: keyOf(high),
      idleSinceMs: NOW_MS + 2000,
    });
  });

  it('given a Reclaim and then a Delete, then the machine is a slot without host, stamp or target', () => {
    const start = startLoop(anInput([aMachine('m', Configured)], []));
    const { steps, end } = runLoop(start, { decide: engine, delays: 0, cycleMs: 300_000 }, 5);
    expect(steps.map(({ counts }) => [counts.Reclaim, counts.Delete])).toEqual([
      [1, 0],
      [0, 0],
      [0, 0],
      [0, 1],
      [0, 0],
    ]);
    expect(machineIn(end, 'm')).toMatchObject({ state: Speculative, host: null, stamp: null, target: null });
  });

  it('given a re-stamp, then the stamp of the bound machine is that of the gang', () => {
    const gang = aNeed({ requirements: [same(RACK_KEY)], aggregate: resources({ cpu: 8 }), group: 'g' });
    const labels = new Map([[RACK_KEY, 'r']]);
    const start = startLoop(
      anInput(
        ['a', 'b'].map((id) => aMachine(id, Configured, { labels })),
        [gang],
      ),
    );
    const { next } = stepLoop(start, { decide: engine, delays: 0 });
    expect(machineIn(next, 'a').stamp).toMatchObject({ fingerprint: gang.profile.fingerprint, group: 'g' });
  });
});

describe('the mark of a machine that is to be replaced', () => {
  const rules = { decide: engine, delays: 0 };
  const row = aNeed();

  /** One bound machine and one that could replace it; the row needs one of them. */
  const marked = (retiring: readonly string[]): DecisionInput =>
    anInput([aMachine('bound', Configured, { stamp: stampOf(row) }), aMachine('free', Idle)], [row], {
      retiring: new Set(retiring),
    });

  it('given a machine that is replaced, then its mark lasts until it leaves its cluster', () => {
    const { steps } = runLoop(startLoop(marked(['bound'])), { ...rules, delays: 1 }, 4);
    expect(steps.map(({ input, acquired }) => [[...input.options.retiring], acquired])).toEqual([
      [['bound'], ['free']],
      [[], []],
      [[], []],
      [[], []],
    ]);
  });

  it('given a free machine with a mark, when it is the replacement, then it is not replaced in turn', () => {
    const { steps } = runUntilQuiet(startLoop(marked(['bound', 'free'])), rules, 20);
    expect([...acquiredIn(steps)]).toEqual(['free']);
    expect(isQuiet(steps.at(-1)!)).toBe(true);
  });
});

describe('the target of a machine', () => {
  const inFlight = (need: ReturnType<typeof aNeed>): LedgerMachine =>
    aMachine('m', Creating, { target: keyOf(need) });

  it('given a reported row, then it is kept, and after one decision without the row it is dropped', () => {
    const need = aNeed();
    const rules = { decide: engine, delays: 3 };
    const { next } = stepLoop(startLoop(anInput([inFlight(need)], [need])), rules);
    expect(machineIn(next, 'm').target).toEqual(keyOf(need));
    const { next: after } = stepLoop(withEvent(next, { needs: [] }), rules);
    expect(machineIn(after, 'm').target).toBeNull();
  });

  it('given a fold, then it is kept while one member is reported', () => {
    const member = aNeed({ requirements: [same(RACK_KEY)], group: 'g' });
    const start = startLoop(anInput([aMachine('m', Creating, { target: foldKeyOf(member) })], [member]));
    expect(machineIn(stepLoop(start, { decide: engine, delays: 3 }).next, 'm').target).toEqual(
      foldKeyOf(member),
    );
  });
});

describe('events and records', () => {
  it('given a lost machine that was in a move, when its id appears again, then its move starts over', () => {
    const rules = { decide: engine, delays: 2 };
    const { next } = stepLoop(startLoop(anInput([aMachine('m', Deleting)], [])), rules);
    const again = withEvent(next, { lost: ['m'], added: [aMachine('m', Deleting)] });
    expect(runLoop(again, rules, 3).steps.map((step) => step.input.machines[0]!.state)).toEqual([
      Deleting,
      Deleting,
      Deleting,
    ]);
  });

  it('given events by cycle, then each is applied before the decision of its number', () => {
    const input = anInput([aMachine('a', Idle), aMachine('b', Idle)], []);
    const events = new Map([
      [1, { needs: [aNeed()] }],
      [2, { lost: ['a'] }],
    ]);
    const { steps } = runLoop(startLoop(input), { decide: engine, delays: 0 }, 4, events);
    expect(steps.map(({ acquired }) => acquired)).toEqual([[], ['a'], ['b'], []]);
    expect([...acquiredIn(steps)]).toEqual(['a', 'b']);
    expect(countIn(steps, 'Bootstrap')).toBe(2);
  });

  it('given a fleet at rest, then running until quiet takes one decision', () => {
    const { steps, end } = runUntilQuiet(startLoop(anInput([], [])), { decide: engine, delays: 0 }, 10);
    expect(steps).toHaveLength(1);
    expect(isQuiet(steps[0]!) && isSettled(end)).toBe(true);
  });

  it('given any fleet, then records stay valid, ids stay, and a repeated run has the same steps', () => {
    fc.assert(
      fc.property(fleets({ machines: 20, needs: 8 }), fc.nat(3), (input, delays) => {
        const run = (): ReturnType<typeof runLoop> =>
          runLoop(startLoop(input), { decide: engine, delays }, 6);
        const { steps, end } = run();
        for (const { machines } of [...steps.map((step) => step.input), end.input]) {
          expect(machines.flatMap((machine) => machineProblems(machine))).toEqual([]);
          expect(machines.map(({ id }) => id)).toEqual(input.machines.map(({ id }) => id));
        }
        expect(run().end).toEqual(end);
      }),
      { numRuns: 60 },
    );
  });
});
