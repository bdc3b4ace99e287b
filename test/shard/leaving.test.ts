import { describe, expect, it } from 'vitest';
import { keyOf, type Machine, MachineState, type Need } from '../../src/model/index.ts';
import { needId } from '../../src/shard/planning/queries/need-names.ts';
import type { ActionView } from '../../src/shard/views.ts';
import { actionText } from '../../src/web/index.ts';
import { record } from '../../testing/support/actuation-scene.ts';
import { ControllerScene, NO_HOLD, SETTLED_MS } from '../../testing/support/controller-scene.ts';
import { aNeed, RACK_KEY, resources, same, stampOf } from '../../testing/support/fleets.ts';

const { Configured, Idle, Failed } = MachineState;

const GANG = aNeed({
  group: 'g',
  requirements: [same(RACK_KEY)],
  aggregate: resources({ cpu: 8 }),
  priority: 9,
});
const PLAIN = aNeed({ aggregate: resources({ cpu: 4 }) });

function inRack(id: string, rack: string, need: Need, state: MachineState = Configured): Machine {
  const stamp = state === Configured ? stampOf(need) : null;
  return record(id, state, { stamp, labels: new Map([[RACK_KEY, rack]]) });
}

/** A settled controller with these machines and this demand of c1. */
function settled(machines: readonly Machine[], ...needs: readonly Need[]): ControllerScene {
  return new ControllerScene(NO_HOLD)
    .list(machines)
    .open('c1')
    .demand('c1', ...needs)
    .tick(SETTLED_MS)
    .list([]);
}

function actions(scene: ControllerScene): readonly ActionView[] {
  return scene.events.flatMap((event) => (event.kind === 'action-started' ? [event.action] : []));
}

describe('the cause given when a machine leaves its cluster', () => {
  it('given a gang that cannot be whole, then the machines that it leaves in another domain are not called excess', () => {
    const large = { ...GANG, aggregate: resources({ cpu: 16 }) };
    const machines = [inRack('a', 'r1', GANG), inRack('b', 'r1', GANG), inRack('c', 'r2', GANG)];
    const scene = settled(machines, large);

    const [action, ...others] = actions(scene);
    expect(others).toEqual([]);
    expect(action).toMatchObject({
      ...{ kind: 'Reclaim', machine: 'c', from: { id: needId(keyOf(GANG)), priority: 9 } },
      leaving: { cause: 'gang-broken', domain: 'r2', goesTo: null },
    });
    const text = actionText(action!).text;
    expect(text).toContain(
      `its gang ${needId(keyOf(GANG))} can no longer be complete in r2, so no part of it stays there`,
    );
    expect(text).not.toContain('more than it needs');
  });

  it('given a frozen fleet, then the cause is in the plan', () => {
    const scene = new ControllerScene(NO_HOLD);
    scene.order({ kind: 'freeze', scope: { cluster: null, action: null }, who: 'ann', why: 'a look' });
    scene
      .list([inRack('a', 'r1', PLAIN)])
      .open('c1')
      .demand('c1')
      .tick(SETTLED_MS);
    expect(scene.controller.ask('plan', { limit: 10 }).actions.items).toMatchObject([
      { kind: 'Reclaim', from: { id: needId(keyOf(PLAIN)) }, leaving: { cause: 'work-ended' } },
    ]);
  });

  it('given a row that is no longer reported, then it is that the work has ended', () => {
    const scene = settled([inRack('a', 'r1', PLAIN)], PLAIN);
    scene.demand('c1').tick(2000);
    expect(actions(scene)).toMatchObject([{ kind: 'Reclaim', leaving: { cause: 'work-ended' } }]);
    expect(actionText(actions(scene)[0]!).text).toContain(
      `the work it was bound for (${needId(keyOf(PLAIN))}) has ended`,
    );
  });

  it('given a row that wants less, then it is excess', () => {
    const two = { ...PLAIN, aggregate: resources({ cpu: 8 }) };
    const scene = settled([inRack('a', 'r1', PLAIN), inRack('b', 'r1', PLAIN)], two);
    scene.demand('c1', PLAIN).tick(2000);
    expect(actions(scene)).toMatchObject([{ kind: 'Reclaim', leaving: { cause: 'excess' } }]);
    expect(actionText(actions(scene)[0]!).text).toContain('c1 has more than it needs');
  });

  it('given a gang that is whole in another domain, then it names that domain', () => {
    const machines = [inRack('a', 'r1', GANG), inRack('b', 'r1', GANG)];
    const scene = settled([...machines, inRack('x', 'r2', GANG, Idle), inRack('y', 'r2', GANG, Idle)], GANG);
    const failed = record('a', Failed, { lastError: 'the host died' });
    scene.list([failed]);
    scene.answer('get', { kind: 'found', machine: failed });
    scene.tick(2000);

    const reclaim = actions(scene).find(({ kind }) => kind === 'Reclaim');
    expect(reclaim).toMatchObject({ machine: 'b', leaving: { cause: 'gang-moved', goesTo: 'r2' } });
  });
});

describe('the action of a preemption', () => {
  it('given a preemptor that is no longer reported, then it still names that row', () => {
    const taker = aNeed({ cluster: 'c2', priority: 900 });
    const scene = new ControllerScene()
      .list([inRack('a', 'r1', PLAIN)])
      .open('c1', 'c2')
      .demand('c1', PLAIN)
      .demand('c2', taker)
      .tick();
    scene.demand('c2').tick();
    const { items } = scene.controller.ask('actions', { limit: 10 }).actions;
    expect(items).toMatchObject([
      {
        ...{ kind: 'Preempt', cluster: 'c1' },
        need: { id: needId(keyOf(taker)), cluster: 'c2', priority: 900 },
        from: { id: needId(keyOf(PLAIN)), cluster: 'c1', priority: 0 },
      },
    ]);
    expect(actionText(items[0]!).text).toBe(
      `preempting a (on-demand, za) from ${needId(keyOf(PLAIN))} for ${needId(keyOf(taker))}: priority 900 goes before 0`,
    );
  });
});
