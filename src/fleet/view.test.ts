import { describe, expect, it } from 'vitest';
import { Fleet, type FleetView } from './index.ts';

describe('FleetView', () => {
  it('given a fleet, then writing through its view does not type-check, and reads return its own columns', () => {
    const fleet = new Fleet();
    const view: FleetView = fleet;
    const writes = (): void => {
      // @ts-expect-error: a column of the view cannot be written
      view.machines.state[0] = 1;
      // @ts-expect-error: nor one of a nested table
      view.classes.allocatable.data[0] = 1;
      // @ts-expect-error: nor can it be replaced
      view.demand.key = new Uint32Array(1);
      // @ts-expect-error: nor filled
      view.demand.key.fill(1);
      // @ts-expect-error: methods that write are not part of it
      view.machines.update(0, {});
      // @ts-expect-error: nor are those of the demand ledger
      view.demand.replace('c1', []);
      // @ts-expect-error: slices belong to the machine table
      view.machines.specialIdle.length = 1;
    };

    expect(writes).toBeTypeOf('function');
    expect(view.machines.state).toBe(fleet.machines.state);
  });
});
