// Retired clusters: their machines are given back without a session, across restarts, until a person takes it back.

import { describe, expect, it } from 'vitest';
import { record } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene, NO_HOLD, SETTLED_MS } from '../../../testing/support/controller-scene.ts';
import { aNeed, resources } from '../../../testing/support/fleets.ts';
import { MachineState } from '../../model/index.ts';

const { Configured } = MachineState;
const MACHINES = [record('m1', Configured), record('m2', Configured)];
const NEED = aNeed({ cluster: 'c1', aggregate: resources({ cpu: 8 }), minUnit: resources({ cpu: 1 }) });
const RETIRE = { kind: 'retire', cluster: 'c1', who: 'ada', why: 'shut down' } as const;

function connected(): ControllerScene {
  return new ControllerScene(NO_HOLD).open('c1').list(MACHINES).demand('c1', NEED).tick(SETTLED_MS);
}

describe('a cluster that is gone', () => {
  it('given silence alone, then nothing is reclaimed', () => {
    const scene = connected().close('c1').tick(60_000);
    expect(scene.calls('drain')).toEqual([]);
  });

  it('given that it is retired, then its machines are drained under the cap, without a session', () => {
    const scene = connected().close('c1');
    expect(scene.order(RETIRE)).toMatchObject({ isDone: true });
    scene.tick();
    expect(scene.calls('drain')).toHaveLength(1);
    scene.tick(SETTLED_MS);
    expect(scene.calls('drain')).toHaveLength(2);
    expect(scene.controller.ask('clusters', { cluster: 'c1', limit: 1 }).items).toMatchObject([
      { retired: { who: 'ada', why: 'shut down' }, needs: 0 },
    ]);
  });

  it('given an operator that reported drains before, then they do not wait for it', () => {
    const scene = new ControllerScene(NO_HOLD).openWith({ drainReport: true, verdicts: false }, 'c1');
    scene.list(MACHINES).demand('c1').tick(SETTLED_MS);
    expect(scene.of('instruct-reclaim').length).toBeGreaterThan(0);
    expect(scene.calls('drain')).toEqual([]);
    const waiting = scene.of('instruct-reclaim').length;
    scene.close('c1').order(RETIRE);
    expect(scene.calls('drain')).toHaveLength(waiting);
    scene.tick(SETTLED_MS);
    expect(scene.calls('drain')).toHaveLength(2);
  });

  it('given a session, or a name that is not known, then it is not retired', () => {
    const scene = connected();
    expect(scene.order(RETIRE)).toMatchObject({
      isDone: false,
      message: expect.stringContaining('connected'),
    });
    expect(scene.order({ ...RETIRE, cluster: 'misspelt' })).toMatchObject({ isDone: false });
    expect(scene.order({ kind: 'unretire', cluster: 'c1', who: 'ada' })).toMatchObject({ isDone: false });
  });

  it('given a restart, then it is still retired', () => {
    const first = connected().close('c1');
    first.order(RETIRE);
    const scene = new ControllerScene(NO_HOLD, first.store).list(MACHINES).tick(2 * SETTLED_MS);
    expect(scene.calls('drain').length).toBeGreaterThan(0);
  });

  it('given that it connects again, then its demand is ignored until it is no longer retired', () => {
    const scene = connected().close('c1');
    scene.order(RETIRE);
    scene.open('c1').demand('c1', NEED).tick(SETTLED_MS);
    expect(scene.logged('retired-cluster-connected')).toHaveLength(1);
    const drains = scene.calls('drain').length;
    expect(drains).toBeGreaterThan(0);
    expect(scene.order({ kind: 'unretire', cluster: 'c1', who: 'ada' })).toMatchObject({ isDone: true });
    expect(scene.of('ask-demand')).toMatchObject([{ cluster: 'c1' }]);
    scene.demand('c1', NEED).tick(SETTLED_MS);
    expect(scene.calls('drain')).toHaveLength(drains);
  });
});
