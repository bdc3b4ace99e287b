import { describe, expect, it } from 'vitest';
import { NEED, record } from '../../../testing/support/actuation-scene.ts';
import { ControllerScene } from '../../../testing/support/controller-scene.ts';
import { keyOf, MachineState } from '../../model/index.ts';
import { needId } from './queries/need-names.ts';

const { Speculative } = MachineState;

describe('an action whose Need has gone', () => {
  it('given a Need that is withdrawn, then its action keeps the name, the priority and the kind of machine', () => {
    const scene = new ControllerScene().open('c1').list([record('m', Speculative)]);
    scene.demand('c1', NEED).tick();
    scene.accept('create', MachineState.Creating);
    const before = scene.controller.ask('actions', { limit: 10 }).actions.items[0]!;
    scene.demand('c1').tick().tick();

    const [after] = scene.controller.ask('actions', { limit: 10 }).actions.items;
    expect(after).toEqual(before);
    expect(after).toMatchObject({ need: { id: needId(keyOf(NEED)), priority: 100 } });
    expect(after).toMatchObject({ capacityType: 'ON_DEMAND', zone: 'za' });
  });
});
