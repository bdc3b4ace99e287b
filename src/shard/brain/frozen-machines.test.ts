import { describe, expect, it } from 'vitest';
import { record, Scene } from '../../../test/shard/scene.ts';
import { MachineState } from '../../model/index.ts';
import { Freezes } from './freezes.ts';
import { FrozenMachines } from './frozen-machines.ts';
import { MemoryBrainStore } from './memory-store.ts';

const { Configuring, Configured } = MachineState;
const C1 = { cluster: 'c1', action: null };

function frozenScene() {
  const scene = new Scene();
  const freezes = new Freezes(new MemoryBrainStore().freezes);
  const isHeld = (id: string): boolean => scene.actuation.holdOf(id) !== null;
  const frozen = new FrozenMachines({ book: scene.book, freezes, isHeld });
  return { scene, freezes, frozen };
}

describe('machines of a frozen cluster', () => {
  it('given one that was Configured after the last cycle, then a freeze before the next one holds it too', () => {
    const { scene, freezes, frozen } = frozenScene();
    scene.list([record('old', Configured), record('new', Configuring)]);
    scene.ledger('new');
    scene.list([record('new', Configured)]);
    freezes.add(C1, 'ann', 'why', 0);
    frozen.changed('c1');
    expect([scene.ledger('old'), scene.ledger('new')]).toMatchObject([{ held: true }, { held: true }]);
    freezes.remove('cluster:c1');
    frozen.changed('c1');
    expect([scene.ledger('old'), scene.ledger('new')]).toMatchObject([{ held: false }, { held: false }]);
  });

  it('given one that is Configured while the freeze is in force, then it is held from then on', () => {
    const { scene, freezes, frozen } = frozenScene();
    scene.list([record('m', Configuring)]);
    freezes.add(C1, 'ann', 'why', 0);
    frozen.changed('c1');
    expect(scene.ledger('m')).toMatchObject({ held: false });
    scene.list([record('m', Configured)]);
    expect(scene.ledger('m')).toMatchObject({ held: true });
  });
});
