// For any events of a fleet and any segments of the journal: every recorded cycle is replayed from the file alone and has
// the same digest.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aNeed, anyFleets, resources } from '../../../testing/support/fleets.ts';
import { fileAt, Recorded, replayAll, withPath } from '../../../testing/support/journal.ts';
import { DeltaSource } from '../../../testing/support/rollup-deltas.ts';
import type { PendingChange } from '../../fleet/index.ts';
import {
  type DecisionInput,
  type DecisionOptions,
  type LedgerMachine,
  mergeNeeds,
  wholeRollup,
} from '../../model/index.ts';
import { ALWAYS } from './journal-reader.ts';

interface Step {
  readonly to: DecisionInput;
  /** Chance in ten that a machine or a cluster changes to its state in the next fleet. */
  readonly share: number;
  readonly isDecided: boolean;
}

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    to: anyFleets({ machines: 24, needs: 12 }),
    share: fc.integer({ min: 0, max: 10 }),
    isDecided: fc.boolean(),
  }),
  { minLength: 3, maxLength: 8 },
);

/** Ledger entries that lead from the present state to a part of the next one. */
function entriesTo(
  step: Step,
  known: ReadonlySet<string>,
  draw: () => number,
  atMs: number,
  sources: ReadonlyMap<string, DeltaSource>,
): PendingChange[] {
  const entries: PendingChange[] = [];
  const moves = (): boolean => draw() < step.share;
  const next = new Map(step.to.machines.map((machine): [string, LedgerMachine] => [machine.id, machine]));
  for (const id of known) if (!next.has(id) && moves()) entries.push({ kind: 'gone', id });
  for (const [id, machine] of next) {
    if (!moves()) continue;
    entries.push({ kind: 'observe', machine, atMs });
    entries.push({ kind: 'block', id, blocked: machine.blocked });
    if (moves()) entries.push({ kind: 'unclaimed', id, sinceMs: machine.unclaimedSinceMs });
    if (moves()) entries.push({ kind: 'drain-seconds', of: { id }, seconds: draw() });
    const { instanceType } = machine;
    if (moves() && moves()) entries.push({ kind: 'drain-seconds', of: { instanceType }, seconds: draw() });
    if (machine.stamp !== null && moves())
      entries.push({
        kind: 'restamp',
        id,
        key: { cluster: machine.cluster, fingerprint: machine.stamp.fingerprint, group: 'taken' },
        priority: draw(),
        interruptionPenaltyDollars: Number.POSITIVE_INFINITY,
        reclamationPenaltyDollars: draw(),
      });
  }
  const clusters = Map.groupBy(step.to.needs, ({ cluster }) => cluster);
  for (const cluster of sources.keys()) {
    const uses = step.to.machines.flatMap(({ id, use }) => (use === undefined ? [] : [[id, use] as const]));
    if (moves()) entries.push({ kind: 'facts', cluster, facts: new Map(uses) });
  }
  for (const [cluster, source] of sources)
    if (moves()) {
      const needs = mergeNeeds(clusters.get(cluster) ?? []);
      // Sources repeat themselves in another order, which changes no row.
      for (const list of moves() ? [needs, needs.toReversed()] : [needs])
        entries.push({ kind: 'demand', delta: source.next(list) });
    }
  return entries;
}

function optionsOf({ to, isDecided }: Step): DecisionOptions | null {
  return isDecided ? to.options : null;
}

describe('a journal', () => {
  it('given any fleet and any events, then every replayed cycle has the same digest', {
    timeout: 120_000,
  }, () => {
    const dice = fc.infiniteStream(fc.integer({ min: 0, max: 9 }));
    const cut = fc.record({
      slice: fc.integer({ min: 1, max: 30 }),
      maxBytes: fc.constantFrom(6e4, 1e5, 1e9),
    });
    let passes = 0;
    fc.assert(
      fc.property(steps, dice, cut, (story, draws, { slice, maxBytes }) => {
        withPath((path) => {
          const file = fileAt(path);
          const draw = (): number => draws.next().value as number;
          const decided: number[] = [];
          const sources = new Map(['c1', 'c2', 'c3'].map((cluster) => [cluster, new DeltaSource(cluster)]));
          // The recorder's limit cuts segments; the file keeps them all.
          const recorded = new Recorded(
            {
              behindBytes: 0,
              put: (message) => {
                if (message.kind === 'input' && message.begin === 'pass') passes++;
                if (message.kind === 'outcome') decided.push(recorded.nowMs);
                file.put(message);
              },
            },
            { slice, limits: { maxBytes } },
          );
          for (const step of [...story, ...story]) {
            const { machines } = recorded.fleet;
            const known = new Set<string>();
            for (let slot = 0; slot < machines.size; slot++)
              if (machines.state[slot] !== 0) known.add(machines.idOf(slot));
            const entries = entriesTo(step, known, draw, recorded.nowMs, sources);
            recorded.cycle(entries, optionsOf(step));
          }
          file.close();
          // From any of them on: a replay begins at the last segment that is whole by then.
          for (const fromMs of [decided[0], decided[decided.length >> 1], decided.at(-1)]) {
            if (fromMs === undefined) continue;
            const cycles = replayAll(path, { ...ALWAYS, fromMs });
            expect(cycles.map(({ atMs }) => atMs)).toEqual(decided.filter((atMs) => atMs >= fromMs));
            expect(cycles.filter(({ isSame }) => isSame !== true)).toEqual([]);
          }
        });
      }),
      { numRuns: Number(process.env['BIGFLEET_RUNS'] ?? 50) },
    );
    expect(passes).toBeGreaterThan(0);
  });

  it('given rows that the ledger set aside, then a replay from a later segment sets aside the same', () => {
    withPath((path) => {
      const file = fileAt(path);
      // A limit so small that every cycle begins a segment.
      const recorded = new Recorded(file, { limits: { maxBytes: 1e4 } });
      const rowOf = (name: string) =>
        aNeed({ group: name, aggregate: resources({ [name]: 1 }), minUnit: new Map() });
      const demand = (...names: readonly string[]): PendingChange => {
        return { kind: 'demand', delta: wholeRollup('c1', names.map(rowOf)) };
      };
      const sixteen = Array.from({ length: 16 }, (_, i) => `r${i}`);
      recorded.cycle([demand(...sixteen)]);
      for (let i = 0; i < 4; i++) recorded.cycle([demand('r0', 'seventeenth', `r${i}`)]);
      const { unmet } = recorded.cycle([demand('r0', 'seventeenth')])!;
      file.close();
      expect(unmet.map((verdict) => verdict.unmet!.reason)).toContain('set-aside');
      const cycles = replayAll(path, { ...ALWAYS, fromMs: recorded.nowMs });
      expect(cycles.map(({ isSame }) => isSame)).toEqual([true]);
    });
  });
});
