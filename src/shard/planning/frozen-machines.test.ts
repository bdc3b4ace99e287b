import { describe, expect, it } from 'vitest';
import { NEED, OTHER_NEED, record } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene, SETTLED_MS } from '../../../testing/support/controller-scene.ts';
import { aNeed, resources, stampOf } from '../../../testing/support/fleets.ts';
import { MachineState } from '../../model/index.ts';
import { DEFAULT_GUARDRAILS } from './guardrails.ts';

const { Idle, Configuring, Configured } = MachineState;

function serving(id: string) {
  return record(id, Configured, { cluster: 'c1', stamp: stampOf(NEED) });
}

/** Machines that the rich cluster would preempt from the poor one in the next cycle. */
function victims(scene: ControllerScene): readonly string[] {
  scene.tick(3000);
  const { waiting } = scene.controller.ask('actions', { limit: 100 });
  const decided = scene.cycles.at(-1)!.decided.Preempt;
  return decided === 0 ? [] : waiting.items.map(({ machine }) => machine);
}

/** A cluster with machines that another would preempt; a dry run, so that decisions can be read repeatedly. */
function scarce(...machines: readonly string[]): ControllerScene {
  const guardrails = { ...DEFAULT_GUARDRAILS, reclaimFraction: 1, dryRun: true };
  const scene = new ControllerScene({ guardrails }).open('c1', 'c2').list(machines.map(serving));
  const cpu = 4 * machines.length;
  return scene
    .demand('c1', { ...NEED, aggregate: resources({ cpu }) })
    .demand('c2', { ...OTHER_NEED, aggregate: resources({ cpu }) })
    .tick(SETTLED_MS);
}

describe('machines of a frozen cluster', () => {
  it('given a freeze, then they cannot be victims until it is lifted', () => {
    const scene = scarce('a', 'b');
    expect(victims(scene)).toEqual(['a', 'b']);

    scene.freeze('c1');
    expect(victims(scene)).toEqual([]);

    scene.unfreeze('c1');
    expect(victims(scene)).toEqual(['a', 'b']);
  });

  it('given a restart, then they still cannot', () => {
    const { store } = scarce('a').freeze('c1');
    const guardrails = { ...DEFAULT_GUARDRAILS, reclaimFraction: 1, dryRun: true };
    const scene = new ControllerScene({ guardrails }, store).open('c1', 'c2').list([serving('a')]);
    scene.demand('c1', NEED).demand('c2', OTHER_NEED);

    expect(scene.controller.ask('freezes', { limit: 100 }).items).toMatchObject([
      { id: 'cluster:c1', who: 'ada' },
    ]);
    expect(victims(scene)).toEqual([]);
    expect(victims(scene.unfreeze('c1'))).toEqual(['a']);
  });

  it('given machines that are bound later, then they are blocked too', () => {
    const scene = scarce('a').freeze('c1');
    scene.list([]).list([serving('b')]);

    expect(victims(scene)).toEqual([]);
  });

  it('given machines that became Configured since the last cycle, then they are blocked or released with the freeze', () => {
    const joining = record('b', Configuring, { cluster: 'c1', stamp: stampOf(NEED) });
    const scene = scarce('a').list([joining]).tick(2000).list([]);
    scene.demand('c1', { ...NEED, aggregate: resources({ cpu: 8 }) });
    scene.demand('c2', { ...OTHER_NEED, aggregate: resources({ cpu: 8 }) }).tick(2000);

    scene.list([serving('b')]).freeze('c1');
    expect(victims(scene)).toEqual([]);

    scene.list([]);
    const late = record('c', Configuring, { cluster: 'c1', stamp: stampOf(NEED) });
    scene
      .list([late])
      .tick(2000)
      .list([])
      .list([serving('c')])
      .unfreeze('c1');
    scene.demand('c2', { ...OTHER_NEED, aggregate: resources({ cpu: 12 }) });
    expect([...victims(scene)].sort()).toEqual(['a', 'b', 'c']);
  });

  it('given a quarantine, then they stay blocked after the freeze', () => {
    const scene = scarce('a', 'b').freeze('c1');
    scene.order({ kind: 'quarantine', machine: 'a', who: 'ada', why: 'noisy' });

    expect(victims(scene.unfreeze('c1'))).toEqual(['b']);
  });

  it('given another block that ends, then they stay blocked', () => {
    const scene = scarce('a').freeze('c1');
    scene.order({ kind: 'quarantine', machine: 'a', who: 'ada', why: 'noisy' });
    scene.tick();

    scene.order({ kind: 'retry', machine: 'a', who: 'ada' });

    expect(victims(scene)).toEqual([]);
    expect(victims(scene.unfreeze('c1'))).toEqual(['a']);
  });

  it('given a back-off that ends, then they stay blocked', () => {
    const guardrails = { ...DEFAULT_GUARDRAILS, reclaimFraction: 1, dryRun: false };
    const scene = new ControllerScene({ guardrails }).open('c1', 'c2').list([serving('a')]);
    scene.demand('c1', NEED).demand('c2', OTHER_NEED).tick();
    for (let i = 0; i < 3; i++) {
      scene.answer('drain', { kind: 'transient', message: 'busy' });
      scene.answer('get', { kind: 'found', machine: serving('a') });
      if (i < 2) scene.tick(5000);
    }
    expect(scene.machine('a')?.held).toMatchObject({ why: 'busy' });

    scene.freeze('c1').tick(120_000);
    expect(scene.machine('a')?.held).toBeNull();
    expect(scene.calls('drain')).toEqual([]);

    scene.unfreeze('c1').tick();
    expect(scene.calls('drain')).toHaveLength(1);
  });

  it('given a freeze of the whole fleet only, then they may be victims, because nothing is carried out', () => {
    const scene = new ControllerScene().open('c1', 'c2').list([serving('a')]);
    scene.order({ kind: 'freeze', scope: { cluster: null, action: null }, who: 'ada', why: 'a test' });
    scene.demand('c1', NEED).demand('c2', OTHER_NEED).tick();

    expect(scene.cycles.at(-1)).toMatchObject({ decided: { Preempt: 1 }, waiting: { frozen: 1 } });
    expect(scene.calls()).toEqual([]);
  });

  it('given a freeze, then the cluster claims no machines that others could use', () => {
    const rich = aNeed({ cluster: 'c1', priority: 1000 });
    const poor = aNeed({ cluster: 'c2', priority: 1 });
    const scene = new ControllerScene()
      .list([record('m', Idle)])
      .open('c1', 'c2')
      .freeze('c1');

    scene.demand('c1', rich).demand('c2', poor).tick();

    expect(scene.of('ask-bootstrap')).toMatchObject([{ cluster: 'c2', machine: 'm' }]);
  });
});
