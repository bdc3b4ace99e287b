import { describe, expect, it } from 'vitest';
import { NEED, record, some } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../../testing/support/controller-scene.ts';
import { resources, stampOf } from '../../../testing/support/fleets.ts';
import { MachineState, type Need } from '../../model/index.ts';

const { Configuring, Configured } = MachineState;

const COUNT = 'provisioning_latency_seconds_count';
const SUM = 'provisioning_latency_seconds_sum';

function wanting(cpu: number, firstSeenMs: number): Need {
  return { ...NEED, aggregate: resources({ cpu }), firstSeenMs };
}

/** Binds all machines that were decided. */
function bind(scene: ControllerScene): void {
  scene.blobs();
  const ids = scene.calls('configure').map(({ machine }) => machine);
  for (const _ of ids) scene.accept('configure', Configuring, { stamp: stampOf(NEED) });
  // The reading in flight is stale: it began before the calls ended.
  scene.list([]).list(ids.map((id) => record(id, Configured, { stamp: stampOf(NEED) })));
  scene.tick();
}

describe('the provisioning latency', () => {
  it('given a row, then it is the time from first-seen to its first machine', () => {
    const scene = new ControllerScene().list(some(3)).open('c1');
    scene.demand('c1', wanting(4, scene.hand.now())).tick(2000);
    const before = scene.hand.now();

    bind(scene);

    expect(scene.metric(COUNT)).toBe(1);
    expect(scene.metric(SUM)).toBeGreaterThanOrEqual(2);
    expect(scene.metric(SUM)).toBeLessThanOrEqual((scene.hand.now() - before) / 1000 + 2);
  });

  it('given several machines of a row, then it counts once', () => {
    const scene = new ControllerScene().list(some(6)).open('c1');
    scene.demand('c1', wanting(8, 1_000_000)).tick();
    bind(scene);
    scene.demand('c1', wanting(16, 1_000_000)).tick();
    bind(scene);

    expect(scene.metric(COUNT)).toBe(1);
  });

  it('given a restart, then a row is not counted again', () => {
    const first = new ControllerScene().list(some(6)).open('c1').demand('c1', wanting(8, 1_000_000)).tick();
    bind(first);
    const served = [0, 1].map((i) => record(`m-${i}`, Configured, { stamp: stampOf(NEED) }));

    const scene = new ControllerScene({}, first.store).list([...served, ...some(6).slice(2)]).open('c1');
    scene.demand('c1', wanting(16, 1_000_000)).tick();
    bind(scene);

    expect(scene.controller.ask('machines', { where: { state: 'CONFIGURED' }, limit: 9 }).total).toBe(4);
    expect(scene.metric(COUNT)).toBe(0);
  });

  it('given a row that ended and returned, then it starts over', () => {
    const scene = new ControllerScene().list(some(6)).open('c1').demand('c1', wanting(4, 1_000_000)).tick();
    bind(scene);
    scene.list([], 'p', ['m-0']);
    scene.answer('get', { kind: 'unknown-machine' });
    scene.demand('c1').tick(2000);

    scene.demand('c1', wanting(4, scene.hand.now())).tick();
    bind(scene);

    expect(scene.metric(COUNT)).toBe(2);
  });
});
