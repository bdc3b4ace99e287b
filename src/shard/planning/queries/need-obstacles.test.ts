// Obstacles of a Need as a shard reports them: why machines are blocked, by whom and until when.

import { describe, expect, it } from 'vitest';
import { NEED, record, some } from '../../../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../../../testing/support/controller-scene.ts';
import { aNeed, resources } from '../../../../testing/support/fleets.ts';
import { adviceFor, keyOf, MachineState } from '../../../model/index.ts';
import type { NeedExplanation } from '../../views.ts';
import { DEFAULT_CONTROLLER } from '../options.ts';
import { needId } from './need-names.ts';

const { Configured, Creating, Failed, Idle, Speculative } = MachineState;

/** Two machines of 4 cpu. */
const PAIR = aNeed({ cluster: 'c1', priority: 100, aggregate: resources({ cpu: 8 }) });

function story(scene: ControllerScene, need = NEED): NeedExplanation {
  return scene.controller.ask('explain', { need: needId(keyOf(need)) })!;
}

function sentences(scene: ControllerScene, need = NEED): readonly string[] {
  return story(scene, need).obstacles.map(({ sentence }) => sentence);
}

describe('the obstacles of a Need', () => {
  it('given failed machines, then they have where, how many, and the last error', () => {
    const scene = new ControllerScene()
      .list([
        record('a', Failed, { lastError: 'old error', zone: 'za' }),
        record('b', Idle, { zone: 'zb' }),
        record('c', Failed, { lastError: 'older error', zone: 'zb' }),
      ])
      .open('c1')
      .tick(60_000)
      .list([record('b', Failed, { lastError: 'no power', zone: 'zb' })])
      .demand('c1', NEED)
      .tick();
    const { need, advice } = story(scene);
    expect(need).toMatchObject({
      isMet: false,
      reason: 'supply-failed',
      why: 'all 3 machines that fit have failed',
    });
    expect(sentences(scene)).toEqual(['3 have failed: 2 in zb, 1 in za; the last one: no power.']);
    expect(advice).toEqual([
      'Repair or replace the failed machines: see "bigfleet get machines --state FAILED".',
    ]);
  });

  it('given an offering out of stock, then they have which, until when, and the error of the provider', () => {
    const scene = new ControllerScene().list(some(2, Speculative)).open('c1').demand('c1', NEED).tick();
    scene.answer('create', { kind: 'stock-out', message: 'none left' });
    scene.answer('get', { kind: 'found', machine: record('m-0', Speculative) });
    scene.tick();
    expect(story(scene).need.reason).toBe('supply-blocked');
    expect(sentences(scene)).toEqual([
      expect.stringMatching(/^2 are out of stock: p sells no standard in za until 1970-.*Z \(none left\)\.$/),
    ]);
    expect(story(scene).advice).toEqual([
      'Wait for p to have stock again, or let the Need use other types and zones.',
    ]);
  });

  it('given a provider that does not answer, then they have its name', () => {
    const scene = new ControllerScene().list(some(2, Idle)).open('c1').tick();
    for (let i = 0; i < DEFAULT_CONTROLLER.scheduler.breakerFailures; i++) scene.tick(60_000).failList();
    scene.demand('c1', NEED).tick();
    expect(sentences(scene)).toEqual(['2 are at provider p, which does not answer.']);
    expect(story(scene).advice).toEqual(['Bring provider p back: see "bigfleet get providers".']);
  });

  it('given a provider that denies changes, then they have its error', () => {
    const scene = new ControllerScene().list(some(3, Speculative)).open('c1').demand('c1', NEED).tick();
    scene.answer('create', { kind: 'denied', message: 'who are you' });
    scene.answer('get', { kind: 'found', machine: record('m-0', Speculative) });
    scene.tick();
    expect(sentences(scene)).toEqual(['3 are at provider p, which denies changes: who are you.']);
  });

  it('given a quarantined machine, then they have by whom and why', () => {
    const scene = new ControllerScene().list(some(1, Idle)).open('c1').tick();
    scene.order({ kind: 'quarantine', machine: 'm-0', who: 'ada', why: 'it smokes' });
    scene.demand('c1', NEED).tick();
    expect(sentences(scene)).toEqual(['1 is quarantined by ada: it smokes.']);
    expect(story(scene).advice).toEqual([
      'Check the quarantined machines, then release each with "bigfleet retry MACHINE".',
    ]);
  });

  it('given a machine that is released after the last cycle, then it is free for the next one', () => {
    const scene = new ControllerScene().list(some(1, Idle)).open('c1').tick();
    scene.order({ kind: 'quarantine', machine: 'm-0', who: 'ada', why: 'it smokes' });
    scene.demand('c1', NEED).tick();
    scene.controller.order({ kind: 'retry', machine: 'm-0', who: 'ada', why: 'it is mended' });
    expect(sentences(scene)).toEqual(['1 was blocked in the last cycle and is free for the next one.']);
  });

  it('given a Need that is met, then the machines that it does not use are not needed', () => {
    const low = aNeed({ cluster: 'c2', priority: 1 });
    const scene = new ControllerScene()
      .list([...some(3, Idle), record('x', Configured, { cluster: 'c2' })])
      .open('c1', 'c2')
      .demand('c2', low)
      .demand('c1', NEED)
      .tick();
    expect(story(scene).need.isMet).toBe(true);
    expect(sentences(scene)).toEqual([
      '2 are free and not needed.',
      `1 is used by rows of lower rank and not preempted for it: ${needId(keyOf(low))} (1 at priority 1).`,
    ]);
  });

  it('given lower-priority work in a frozen cluster, then they have by whom and why it is frozen', () => {
    const low = aNeed({ cluster: 'c2', priority: 1 });
    const scene = new ControllerScene()
      .list([record('m', Configured, { cluster: 'c2' })])
      .open('c1', 'c2')
      .demand('c2', low)
      .freeze('c2')
      .tick()
      .demand('c1', NEED)
      .tick();
    expect(story(scene).need.reason).toBe('supply-blocked');
    expect(sentences(scene)).toEqual(['1 serves cluster c2, which is frozen by ada: a test.']);
    expect(story(scene).advice).toEqual([
      'Lift the freeze, if its machines may be preempted: "bigfleet unfreeze cluster:c2".',
    ]);
  });

  it('given better-ranked rows, then they have names, priorities and machines, and the priority to raise to', () => {
    const best = aNeed({ cluster: 'c2', priority: 900, aggregate: resources({ cpu: 8 }) });
    const scene = new ControllerScene()
      .list(some(2, Idle))
      .open('c1', 'c2')
      .demand('c1', NEED)
      .demand('c2', best)
      .tick();
    expect(sentences(scene)).toEqual([
      `2 are claimed by better-ranked rows: ${needId(keyOf(best))} (2 at priority 900).`,
    ]);
    expect(story(scene).advice).toEqual([
      'Add machines that fit it, raise its priority above 900, or let the rows that use them ask for less.',
    ]);
  });

  it('given rows ahead and rows of equal rank, then there is one priority to raise to, by the reason', () => {
    const rowOf = (priority: number) => ({ id: `c/${priority}`, priority, machines: 1 });
    const obstacles = [
      { cause: 'claimed-by-better', machines: 2, rows: [rowOf(900)] },
      { cause: 'claimed-by-equals', machines: 1, rows: [rowOf(100)] },
    ] as const;
    const adviceOf = (reason: 'claimed-by-equals' | 'priority-starved') =>
      adviceFor({ priority: 100, isHighest: false, reason }, obstacles).filter((text) =>
        text.includes('raise'),
      );
    expect(adviceOf('priority-starved')).toEqual([expect.stringContaining('above 900,')]);
    expect(adviceOf('claimed-by-equals')).toEqual([expect.stringContaining('above 100,')]);
  });

  it('given the highest priority of the fleet, then the advice is never to raise it', () => {
    const first = aNeed({ cluster: 'c0', priority: 100, aggregate: resources({ cpu: 8 }) });
    const scene = new ControllerScene().list(some(2, Idle)).open('c0', 'c1').demand('c0', first).tick();
    scene.demand('c1', NEED).tick();
    expect(story(scene).need.isMet).toBe(false);
    expect(story(scene).advice.join()).not.toContain('raise');
  });

  it('given machines in flight, then they have how many, since when, and their usual arrival', () => {
    const scene = new ControllerScene().list(some(3, Speculative)).open('c1').demand('c1', NEED).tick();
    scene.accept('create', Creating);
    const before = story(scene).onTheWay;
    expect(before).toMatchObject([{ state: 'CREATING', machines: 1, expectedByMs: null }]);
    const sinceMs = before[0]!.sinceMs;
    // A reading that began before the purchase is stale.
    scene
      .tick(40_000)
      .list([])
      .list([record('m-0', Idle)]);

    scene.demand('c1', PAIR).tick();
    scene.accept('create', Creating);

    const [way] = story(scene, PAIR).onTheWay.filter(({ state }) => state === 'CREATING');
    expect(way).toMatchObject({ machines: 1 });
    expect(way!.sinceMs).toBeGreaterThan(sinceMs);
    expect(way!.expectedByMs! - way!.sinceMs).toBeGreaterThanOrEqual(40_000);
  });
});
