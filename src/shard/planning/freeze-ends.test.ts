// Freezes that end by themselves, through a whole controller: by its clock, in its cycles, across restarts, and in its
// journal.

import { describe, expect, it } from 'vitest';
import { NEED, OTHER_NEED, record } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene, SETTLED_MS } from '../../../testing/support/controller-scene.ts';
import { resources, stampOf } from '../../../testing/support/fleets.ts';
import { fileAt, replayAll, withPath } from '../../../testing/support/journal.ts';
import { MachineState } from '../../model/index.ts';
import { JOURNAL_LIMITS, type JournalSink } from '../journal/format.ts';
import type { MemoryControllerStore } from '../storage/controller-store-memory.ts';
import { freezeName } from './freezes.ts';
import { DEFAULT_GUARDRAILS } from './guardrails.ts';

const MINUTE_MS = 60_000;
const WHO = 'ada';

/** A cluster with a machine that another would preempt; a dry run, so that decisions can be read repeatedly. */
function scarce(store?: MemoryControllerStore, sink?: JournalSink): ControllerScene {
  const guardrails = { ...DEFAULT_GUARDRAILS, reclaimFraction: 1, dryRun: true };
  const journal = sink === undefined ? undefined : { sink, limits: JOURNAL_LIMITS };
  const scene = new ControllerScene({ guardrails }, store, journal).open('c1', 'c2');
  scene.list([
    record('a', MachineState.Configured, { cluster: 'c1', stamp: stampOf(NEED) }),
    record('idle', MachineState.Idle, { resources: resources({ cpu: 1 }), allocatable: new Map() }),
  ]);
  return scene.demand('c1', NEED).demand('c2', OTHER_NEED).tick(SETTLED_MS);
}

function freezeFor(scene: ControllerScene, forSeconds: number, cluster: string | null = 'c1'): string {
  const scope = { cluster, action: null };
  return scene.order({ kind: 'freeze', scope, who: WHO, why: 'a test', forSeconds }).message;
}

const preempts = (scene: ControllerScene): number => scene.cycles.at(-1)!.decided.Preempt;
const inForce = (scene: ControllerScene): readonly string[] =>
  scene.controller.ask('freezes', { limit: 100 }).items.map(freezeName);

describe('a freeze with an end', () => {
  it('given its time is over, then it ends in the next cycle, with an event, and is decided on at once', () => {
    const scene = scarce();
    const atMs = scene.hand.now();
    expect(freezeFor(scene, 600)).toBe(
      `cluster:c1 is frozen until ${new Date(atMs + 10 * MINUTE_MS).toISOString()}.`,
    );

    scene.tick(10 * MINUTE_MS - 1000);
    expect([inForce(scene), preempts(scene)]).toEqual([['cluster:c1'], 0]);
    expect(scene.logged('freeze-ended')).toEqual([]);

    scene.tick(2000);
    expect([inForce(scene), preempts(scene)]).toEqual([[], 1]);
    expect(scene.logged('freeze-ended')).toEqual([
      { freeze: 'cluster:c1', who: WHO, why: 'a test', sinceMs: atMs, untilMs: atMs + 10 * MINUTE_MS },
    ]);
    const first = scene.cycles.find(({ decided, atMs: cycleMs }) => decided.Preempt > 0 && cycleMs > atMs);
    expect(first!.atMs - atMs - 10 * MINUTE_MS).toBeLessThanOrEqual(1000);
  });

  it('given a restart, then it ends when it would have ended, and not again after the next restart', () => {
    const before = scarce();
    freezeFor(before, 600);
    freezeFor(before, 20, 'c2');

    // The clock of the new process begins where that of the other one began.
    const scene = scarce(before.store);
    expect(inForce(scene)).toEqual(['cluster:c1', 'cluster:c2']);
    scene.tick(60_000);
    expect(inForce(scene)).toEqual(['cluster:c1']);
    scene.tick(10 * MINUTE_MS);
    expect([inForce(scene), preempts(scene)]).toEqual([[], 1]);
    expect(inForce(scarce(before.store))).toEqual([]);
  });

  it('given many that end together, then the first are logged in a line each and the others counted', () => {
    const scene = scarce();
    for (let i = 0; i < 25; i++) freezeFor(scene, 60, `c${100 + i}`);

    scene.tick(61_000);

    expect(scene.logged('freeze-ended')).toHaveLength(20);
    expect(scene.logged('more-freezes-ended')).toEqual([{ more: 5 }]);
    expect(inForce(scene)).toEqual([]);
  });

  it('given another freeze of its scope, then the answer says when it ends', () => {
    const scene = scarce();
    freezeFor(scene, 600);
    const again = { kind: 'freeze', scope: { cluster: 'c1', action: null }, who: 'bob', why: 'y' } as const;

    expect(scene.order({ ...again, forSeconds: 60 }).message).toMatch(/by ada: a test; it ends at .*Z$/);
    expect(scene.order(again).message).toMatch(/by ada: a test$/);
    expect(scene.order({ ...again, forSeconds: 60 }).message).toMatch(/; it stays until it is lifted$/);
  });

  it('given one that ends, then a replay of the journal decides every cycle as the shard did', () => {
    withPath((path) => {
      const file = fileAt(path);
      const scene = scarce(undefined, file);
      freezeFor(scene, 60);
      scene.tick(30_000);
      expect(preempts(scene)).toBe(0);
      scene.tick(60_000);
      expect(preempts(scene)).toBe(1);
      scene.controller.stop();
      file.close();

      const cycles = replayAll(path);
      expect(new Set(cycles.map(({ recorded }) => recorded?.decided.Preempt))).toEqual(new Set([0, 1]));
      expect(cycles.filter(({ isSame }) => isSame !== true)).toEqual([]);
    });
  });
});
