// Past cycles from a journal: found by their number, their plan, and the same cycle decided again.

import { DatabaseSync } from 'node:sqlite';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aMachine, aNeed, resources } from '../../../testing/support/fleets.ts';
import { ALL_READY, aCycleView, fileAt, Recorded, withPath } from '../../../testing/support/journal.ts';
import { type Action, MachineState, wholeRollup } from '../../model/index.ts';
import type { ActionView, CyclePlanView, WaitingActionView } from '../views.ts';
import { JournalReader } from './journal-reader.ts';
import { cyclePlan } from './past-cycle.ts';
import { redecide } from './redecide.ts';

const NO_WAIT = { now: () => 0, pause: () => {}, limitMs: 1000 };

/** Events that a shard records about a cycle: the first actions were started, and `held` others are frozen. */
function recordActions(recorded: Recorded, actions: readonly Action[], held: number): void {
  const started = actions.slice(0, actions.length - held);
  for (const { kind, machine, cluster, reason } of started) {
    const action: ActionView = {
      ...{
        id: machine,
        kind,
        machine,
        cluster,
        reason,
        provider: 'p',
        need: null,
        startedMs: recorded.nowMs,
      },
      ...{ endedMs: null, outcome: null, message: '', attempts: 0 },
    };
    recorded.recorder.event({ kind: 'action-started', action });
    const ended = { ...action, endedMs: recorded.nowMs, outcome: 'success' } as const;
    recorded.recorder.event({ kind: 'action-ended', action: ended });
  }
  recorded.recorder.outcome(
    null,
    aCycleView(1, recorded.nowMs),
    actions.slice(-held || actions.length).map(heldBack),
  );
}

function heldBack({ kind, machine, cluster, reason }: Action): WaitingActionView {
  return {
    ...{ kind, machine, cluster, reason, why: 'frozen', provider: 'p', capacityType: 'SPOT', zone: 'a' },
    ...{ pricePerHour: 2, need: null, from: null, leaving: null },
    freeze: { id: 'fleet', who: 'ann', why: 'a look' },
  };
}

/** The third cycle decides `machines` actions, of which `held` are held back. */
function withActions(machines: number, held: number, use: (path: string) => void): void {
  withPath((path) => {
    const file = fileAt(path);
    const recorded = new Recorded(file);
    recorded.cycle([]);
    recorded.cycle(
      Array.from({ length: machines }, (_, i) => {
        const machine = aMachine(`m${i}`, MachineState.Speculative, { resources: resources({ cpu: 4 }) });
        return { kind: 'observe', machine, atMs: 0 } as const;
      }),
    );
    const need = aNeed({ aggregate: resources({ cpu: 4 * machines }), minUnit: resources({ cpu: 4 }) });
    const decision = recorded.cycle([{ kind: 'demand', delta: wholeRollup('c1', [need]) }])!;
    const actions = decision.actions();
    expect(actions).toHaveLength(machines);
    // The cycles of this scene have no counts.
    setOutcome(path, 3, { '$.decided.Provision': machines, '$.admitted.Provision': machines - held });
    recordActions(recorded, actions, held);
    recorded.cycle([]);
    use(path);
    file.close();
  });
}

function setOutcome(path: string, cycle: number, values: Readonly<Record<string, number | string>>): void {
  const database = new DatabaseSync(path);
  for (const [at, value] of Object.entries(values))
    database
      .prepare('UPDATE cycles SET outcome = json_set(outcome, ?, ?) WHERE cycle = ?')
      .run(at, value, cycle);
  database.close();
}

describe('the number of a cycle', () => {
  it('given any starts with any cycles, decided or not, then each cycle is found by its number', () => {
    const starts = fc.array(fc.array(fc.boolean(), { maxLength: 12 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(starts, (given) => {
        withPath((path) => {
          const file = fileAt(path);
          const expected: (readonly [epoch: number, cycle: number])[] = [];
          for (const [start, cycles] of given.entries()) {
            const recorded = new Recorded(file, { epoch: BigInt(start * 3 + 1) });
            let number = 0;
            for (const isDecided of cycles) {
              recorded.cycle([], isDecided ? ALL_READY : null);
              if (isDecided) expected.push([start * 3 + 1, ++number]);
            }
          }
          const reader = new JournalReader(path);
          const newest = new Map(expected.map(([epoch, cycle]) => [cycle, epoch]));
          for (const [epoch, cycle] of expected) {
            expect(reader.numbered(cycle, epoch)).toMatchObject({ epoch, cycle });
            expect(reader.numbered(cycle, null)).toMatchObject({ epoch: newest.get(cycle), cycle });
          }
          for (const epoch of [null, 0, 1, 2, 99]) expect(reader.numbered(13, epoch)).toBeUndefined();
          reader.close();
          file.close();
        });
      }),
      { numRuns: 30 },
    );
  });
});

describe('the plan of a past cycle', () => {
  it('given actions that were started and held back, then it has them with their reasons, and not how they ended', () => {
    withActions(3, 1, (path) => {
      const plan = cyclePlan(path, { cycle: 3, limit: 10 });
      expect(plan).toMatchObject({
        ...{ cycle: 3, epoch: 1, decided: { Provision: 3 }, admitted: { Provision: 2 }, notListed: 0 },
        actions: { total: 3, next: null },
      });
      expect(plan.actions.items.map(({ machine, why, freeze }) => [machine, why, freeze?.who])).toEqual([
        ['m0', null, undefined],
        ['m1', null, undefined],
        ['m2', 'frozen', 'ann'],
      ]);
    });
  });

  it('given a limit of items or bytes, then pages have each action exactly once', () => {
    withActions(7, 2, (path) => {
      for (const bound of [{ limit: 3 }, { limit: 100, maxBytes: 900 }]) {
        const machines: string[] = [];
        let page: CyclePlanView['actions'] | undefined;
        do {
          page = cyclePlan(path, { cycle: 3, ...bound, after: page?.next ?? undefined }).actions;
          expect(page.items.length).toBeLessThan(7);
          machines.push(...page.items.map(({ machine }) => machine));
        } while (page.next !== null);
        expect(machines).toEqual(['m0', 'm1', 'm2', 'm3', 'm4', 'm5', 'm6']);
      }
    });
  });

  it('given actions that an earlier cycle held back already, then they are counted as not listed', () => {
    withActions(3, 1, (path) => {
      setOutcome(path, 4, { '$.decided.Provision': 5 });
      const plan = cyclePlan(path, { cycle: 4, limit: 10 });
      expect(plan).toMatchObject({ actions: { items: [], total: 0 }, notListed: 5 });
    });
  });

  it('given a number that the journal does not have, then the error has the range that it has', () => {
    withActions(1, 0, (path) => {
      for (const ask of [{ cycle: 9 }, { cycle: 2, epoch: 5 }])
        expect(() => cyclePlan(path, { ...ask, limit: 10 })).toThrow(
          /^BF_JOURNAL_RANGE.*cycle 1 of epoch 1 \(1970-.*\) to cycle 4 of epoch 1 \(1970-/,
        );
    });
  });
});

describe('a past cycle that is decided again', () => {
  it('given an unchanged journal, then the plan is the same, with all its actions', () => {
    withActions(3, 1, (path) => {
      const answer = redecide(path, { cycle: 3, limit: 2 }, NO_WAIT);
      expect(answer).toMatchObject({
        ...{ cycle: 3, epoch: 1, isSame: true, cyclesRead: 3 },
        again: { decided: { Provision: 3 }, unmet: 0 },
        onlyRecorded: { total: 0, items: [] },
        onlyAgain: { total: 0, items: [] },
        actions: { total: 3, items: [{ machine: 'm0', need: { cluster: 'c1' } }, { machine: 'm1' }] },
      });
      expect(answer.again.digest).toBe(answer.recorded.digest);
    });
  });

  it('given a record of another decision, then it has the actions of one side only', () => {
    withActions(3, 1, (path) => {
      setOutcome(path, 3, { '$.digest': '0000000000000000' });
      const database = new DatabaseSync(path);
      database.exec(
        `UPDATE events SET body = replace(body, '"m1"', '"other"'); UPDATE events SET machine = '"other"' WHERE machine = '"m1"'`,
      );
      database.close();
      expect(redecide(path, { cycle: 3, limit: 10 }, NO_WAIT)).toMatchObject({
        isSame: false,
        onlyRecorded: { total: 1, items: [{ machine: 'other', why: null }] },
        onlyAgain: { total: 1, items: [{ machine: 'm1' }] },
      });
    });
  });

  it('given a cycle whose record does not list every action, then actions are not said to be new', () => {
    withActions(3, 1, (path) => {
      setOutcome(path, 3, { '$.decided.Provision': 4 });
      expect(redecide(path, { cycle: 3, limit: 10 }, NO_WAIT).onlyAgain).toBeNull();
    });
  });

  it('given more to read than there is time for, then the error says how far it came', () => {
    withActions(1, 0, (path) => {
      let nowMs = 0;
      const slow = { ...NO_WAIT, now: () => (nowMs += 400) };
      expect(() => redecide(path, { cycle: 4, limit: 1 }, slow)).toThrow(
        'The input of cycle 4 is in 4 cycles from the last checkpoint on, and 2 of them were read in 1 s.',
      );
    });
  });

  it('given a checkpoint that is gone, then the error says that the input is not complete', () => {
    withActions(1, 0, (path) => {
      const database = new DatabaseSync(path);
      database.exec('DELETE FROM cycles WHERE seq < 3');
      database.close();
      expect(() => redecide(path, { cycle: 3, limit: 1 }, NO_WAIT)).toThrow('BF_JOURNAL_RANGE');
    });
  });

  it('given any cycle, then it waits before each cycle that is read, and between the parts of the decision', () => {
    withActions(1, 0, (path) => {
      const pausesFor = (cycle: number): number => {
        let pauses = 0;
        redecide(path, { cycle, limit: 1 }, { ...NO_WAIT, pause: () => pauses++ });
        return pauses;
      };
      expect(pausesFor(1)).toBeGreaterThan(3);
      expect(pausesFor(2) - pausesFor(1)).toBe(1);
    });
  });
});
