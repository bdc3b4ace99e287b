import { describe, expect, it } from 'vitest';
import { record } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene, SETTLED_MS } from '../../../testing/support/controller-scene.ts';
import { aNeed, resources, stampOf } from '../../../testing/support/fleets.ts';
import { MachineState, type Need, UNSHARED_OPTIONS } from '../../model/index.ts';
import { MemoryControllerStore } from '../storage/controller-store-memory.ts';
import type { ControllerOptions } from './options.ts';

const { Configured } = MachineState;
const HOLD: Partial<ControllerOptions> = { economy: { ...UNSHARED_OPTIONS, reclaimHoldSeconds: 600 } };
const HOLD_MS = 600_000;
const MACHINES = ['a', 'b'].map((id) => record(id, Configured, { pricePerHour: 2 }));

function rowOf(machines: number): Need {
  return aNeed({ aggregate: resources({ cpu: 4 * machines }) });
}

/** A shard with machines a and b in cluster c1, which wants one of them since `sinceMs`. */
function shrunk(options: Partial<ControllerOptions> = HOLD, store?: MemoryControllerStore) {
  const scene = new ControllerScene(options, store).open('c1').list(MACHINES);
  scene.tick(SETTLED_MS).demand('c1', rowOf(2)).tick(2000);
  const sinceMs = scene.hand.now();
  scene.demand('c1', rowOf(1)).tick(200);
  return { scene, sinceMs };
}

describe('a machine that no row counts on', () => {
  it('given a reclaim hold, then it says since when it is unclaimed and is given back when the hold has run out', () => {
    const { scene, sinceMs } = shrunk();
    const unclaimed = { sinceMs, holdEndsMs: sinceMs + HOLD_MS, waitsFor: 'hold' };
    expect(scene.machine('b')?.unclaimed).toMatchObject(unclaimed);
    expect(scene.machine('a')?.unclaimed).toBeNull();
    scene.tick(240_000);
    expect(scene.machine('b')?.unclaimed?.sentence).toBe('unclaimed for 4 min, given back in 6 min');
    scene.tick(HOLD_MS - 242_000);
    expect(scene.machine('b')?.unclaimed).toMatchObject(unclaimed);
    expect(scene.of('instruct-reclaim')).toEqual([]);
    scene.tick(4000);
    expect(scene.of('instruct-reclaim').map(({ machine }) => machine)).toEqual(['b']);
    expect(scene.machine('b')).toMatchObject({ state: 'DRAINING', unclaimed: null });
  });

  it('given no hold, then it is given back at once', () => {
    const { scene } = shrunk({ economy: UNSHARED_OPTIONS });
    expect(scene.of('instruct-reclaim').map(({ machine }) => machine)).toEqual(['b']);
  });

  it('given demand that returns and falls again, then the hold starts over', () => {
    const { scene } = shrunk();
    scene
      .tick(HOLD_MS / 2)
      .demand('c1', rowOf(2))
      .tick(2000);
    expect(scene.machine('b')?.unclaimed).toBeNull();
    scene.demand('c1', rowOf(1)).tick(HOLD_MS - 5000);
    expect(scene.machine('b')?.unclaimed).toMatchObject({ waitsFor: 'hold' });
    expect(scene.of('instruct-reclaim')).toEqual([]);
  });

  it('given a restart, then the hold starts over', () => {
    const store = new MemoryControllerStore();
    const { scene: first } = shrunk(HOLD, store);
    first.tick(HOLD_MS / 2);
    const second = new ControllerScene({ ...HOLD, epoch: 2n }, store).open('c1').list(MACHINES);
    second.demand('c1', rowOf(1)).tick(1000);
    const { sinceMs } = second.machine('b')!.unclaimed!;
    expect(second.hand.now() - sinceMs).toBeLessThan(2000);
  });

  it('given a session that closes, then its clock ends, and starts with the next session', () => {
    const { scene, sinceMs } = shrunk();
    scene.tick(1000).close('c1').tick(2000);
    expect(scene.machine('b')?.unclaimed).toBeNull();
    scene.open('c1').tick(2000);
    expect(scene.machine('b')!.unclaimed!.sinceMs).toBeGreaterThan(sinceMs);
  });

  it('given a frozen cluster, then its clock goes on, and it is given back when the freeze is lifted', () => {
    const { scene, sinceMs } = shrunk();
    const scope = { cluster: 'c1', action: null };
    scene.tick(1000).order({ kind: 'freeze', scope, who: 'ada', why: 'a test' });
    scene.tick(HOLD_MS);
    expect(scene.machine('b')?.unclaimed).toMatchObject({ sinceMs, waitsFor: 'guardrails' });
    expect(scene.of('instruct-reclaim')).toEqual([]);
    const [freeze] = scene.controller.ask('freezes', { limit: 1 }).items;
    scene.order({ kind: 'unfreeze', id: freeze!.id, who: 'ada' });
    scene.tick(2000);
    expect(scene.of('instruct-reclaim').map(({ machine }) => machine)).toEqual(['b']);
  });

  it('given a freeze when the hold runs out, then it keeps its clock and says what it waits for', () => {
    const { scene, sinceMs } = shrunk();
    scene
      .tick(1000)
      .order({ kind: 'freeze', scope: { cluster: null, action: 'Reclaim' }, who: 'ada', why: 'a test' });
    scene.tick(HOLD_MS);
    expect(scene.machine('b')?.unclaimed).toMatchObject({ sinceMs, waitsFor: 'guardrails' });
    expect(scene.of('instruct-reclaim')).toEqual([]);
  });

  it('given a row of its cluster that is short of machines it matches, then it is kept after the hold, and says so', () => {
    // It belongs to a live row that wants nothing, so the short row, whose pods it cannot hold, may not take it over.
    const live = aNeed({ group: 'live', aggregate: new Map(), minUnit: new Map() });
    const short = aNeed({ aggregate: resources({ cpu: 64 }), minUnit: resources({ cpu: 64 }) });
    const scene = new ControllerScene(HOLD).open('c1');
    scene.list([record('b', Configured, { stamp: stampOf(live) })]).demand('c1', live, short);
    scene.tick(HOLD_MS + 5000);
    expect(scene.machine('b')?.unclaimed).toMatchObject({ waitsFor: 'needs' });
    expect(scene.of('instruct-reclaim')).toEqual([]);
    scene.demand('c1', live).tick(2000);
    expect(scene.of('instruct-reclaim').map(({ machine }) => machine)).toEqual(['b']);
  });
});

describe('the cost of machines on hold', () => {
  it('given a machine on hold, then its price is a part of its own, in status, cluster and metrics, also without a session', () => {
    const { scene } = shrunk();
    const byPart = { serving: 2, onHold: 2, joining: 0 };
    expect(scene.controller.ask('status', {}).cost).toMatchObject({ perHour: 4, byPart });
    expect(scene.controller.ask('clusters', { limit: 1 }).items[0]?.cost).toMatchObject({
      perHour: 4,
      byPart,
    });
    expect(scene.metric('cost_dollars_per_hour{part="onHold"}')).toBe(2);
    scene.close('c1').tick(2000);
    expect(scene.machine('b')?.unclaimed).toBeNull();
    expect(scene.controller.ask('status', {}).cost).toMatchObject({ perHour: 4, byPart });
    expect(scene.controller.ask('clusters', { limit: 1 }).items[0]?.cost).toMatchObject({ byPart });
    scene.open('c1').demand('c1', rowOf(2)).tick(2000);
    expect(scene.controller.ask('status', {}).cost.byPart).toMatchObject({ serving: 4, onHold: 0 });
    expect(scene.controller.ask('clusters', { limit: 1 }).items[0]?.cost.byPart).toMatchObject({
      serving: 4,
      onHold: 0,
    });
  });
});
