import { describe, expect, it } from 'vitest';
import { NEED, record, some } from '../../../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../../../testing/support/controller-scene.ts';
import { keyOf, MachineState } from '../../../model/index.ts';
import { DEFAULT_CONTROLLER } from '../options.ts';
import { needId } from './need-names.ts';

const { Idle } = MachineState;

function remarks(scene: ControllerScene, need = NEED): readonly string[] {
  return scene.controller.ask('explain', { need: needId(keyOf(need)) })!.remarks;
}

describe('remarks on a Need', () => {
  it('given no obstacle, then there are none', () => {
    const scene = new ControllerScene().list(some(1)).open('c1').demand('c1', NEED).tick();
    expect(remarks(scene)).toEqual([]);
  });

  it('given a cluster without a session, then it is named', () => {
    const scene = new ControllerScene().list(some(1)).demand('c1', NEED).tick();
    expect(remarks(scene)).toEqual(['Cluster c1 has no session, so no machine can join it.']);
  });

  it('given a cluster that sent no blob, then it is named with the end of the wait and its error', () => {
    const scene = new ControllerScene().list(some(1)).open('c1').demand('c1', NEED).tick();
    scene.blobs('no token');
    expect(remarks(scene)).toEqual([
      expect.stringMatching(/^Cluster c1 is asked for no .* until .*Z: no token$/),
    ]);
  });

  it('given freezes, then those of the cluster and of the fleet are named, and no others', () => {
    const scene = new ControllerScene().list([]).open('c1').demand('c1', NEED).freeze('c1').freeze('c2');
    scene.order({ kind: 'freeze', scope: { cluster: null, action: 'Reclaim' }, who: 'bob', why: 'audit' });
    scene.tick();
    expect([...remarks(scene)].sort()).toEqual([
      'Action reclaim is frozen (action:reclaim) by bob: audit',
      'Everything is frozen (cluster:c1) by ada: a test',
    ]);
  });

  it('given a provider that was never read, then it is named with its last error', () => {
    const cycle = { ...DEFAULT_CONTROLLER.cycle, readyWaitMs: 0 };
    const scene = new ControllerScene({ cycle, providers: ['p', 'q'] })
      .open('c1')
      .demand('c1', NEED)
      .list([]);
    scene.tick();
    expect(remarks(scene)).toEqual(['Provider q has not been read since the start.']);

    for (let i = 0; i < DEFAULT_CONTROLLER.scheduler.breakerFailures; i++) scene.failList('q').tick(100);

    expect(remarks(scene)).toEqual(['Provider q has not been read since the start: no route']);
  });

  it('given a dry run, then it is named', () => {
    const scene = new ControllerScene({
      guardrails: { ...DEFAULT_CONTROLLER.guardrails, dryRun: true },
    }).open('c1');
    scene
      .list([record('m', Idle)])
      .demand('c1', NEED)
      .tick();
    expect(remarks(scene)).toEqual(['This is a dry run: nothing is carried out.']);
  });
});
