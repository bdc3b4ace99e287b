// The last update of a machine, as a shard sends it, and what the operator makes of it.

import { describe, expect, it } from 'vitest';
import { MachineState } from '../../src/model/index.ts';
import { Machines } from '../../src/operator/nodes/machines.ts';
import { VirtualClock } from '../../src/runtime/virtual-clock.ts';
import { nodeStateUpdates } from '../../src/shard/planning/node-state.ts';
import { aMachine } from '../../testing/support/fleets.ts';

const { Idle, Configuring, Configured, Draining, Speculative } = MachineState;

describe('a machine that leaves its cluster', () => {
  it.each([
    ['is no longer listed by its provider', Configured, null],
    ['is no longer listed while it drains', Draining, null],
    ['has drained', Draining, aMachine('m', Idle)],
    ['was not configured after all', Configuring, aMachine('m', Idle)],
    ['was given back without a drain', Configured, aMachine('m', Speculative)],
    ['serves another cluster', Configured, aMachine('m', Configured, { cluster: 'other' })],
  ])('given one that %s, then the operator keeps nothing of it', (_, state, after) => {
    const machines = new Machines({
      clock: new VirtualClock(0),
      before: { isEmpty: true, wasInCluster: () => false, ready: () => [] },
      gone: () => {},
      resynced: () => {},
    });
    machines.connected();
    for (const update of nodeStateUpdates(null, aMachine('m', state))) machines.apply(update);
    expect(machines.size).toBe(1);
    for (const update of nodeStateUpdates(aMachine('m', state), after))
      if (update.clusterId === 'c1') expect(machines.apply(update)).toBe('left');
    expect(machines.size).toBe(0);
  });
});
