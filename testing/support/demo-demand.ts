// Test support: a supply as the engine sees it, before anything was bought. Imported by demand.test.ts of src/demo.

import type { CloudSupply, Supply } from '../../src/demo/clouds/offerings.ts';
import {
  DEFAULT_DRAIN_SECONDS,
  DEFAULT_SCORE_WEIGHTS,
  type DecisionInput,
  type LedgerMachine,
  MachineState,
  type Need,
  SHARED_OPTIONS,
} from '../../src/model/index.ts';
import { FakeCloud, presetSettings } from '../../src/provider/index.ts';
import { VirtualClock } from '../../src/runtime/virtual-clock.ts';

export const START_MS = Date.UTC(2026, 0, 1);

export async function coldInput(supply: Supply, needs: readonly Need[]): Promise<DecisionInput> {
  return {
    nowMs: START_MS,
    machines: [...(await machinesOf(supply.metal)), ...(await machinesOf(supply.cloud))],
    needs,
    options: {
      readyClusters: null,
      cannotBind: new Set(),
      retiring: new Set(),
      releaseHoldSeconds: new Map(),
      weights: DEFAULT_SCORE_WEIGHTS,
      ...SHARED_OPTIONS,
    },
  };
}

async function machinesOf({ name, offerings, machines }: CloudSupply): Promise<LedgerMachine[]> {
  const cloud = new FakeCloud({
    seed: 1,
    clock: new VirtualClock(START_MS),
    machines,
    settings: presetSettings('calm'),
    catalogue: offerings,
    provider: name,
  });
  return (await cloud.describe()).map((offering) => ({
    ...offering,
    state: offering.host === null ? MachineState.Speculative : MachineState.Idle,
    cluster: '',
    lastError: '',
    stamp: null,
    target: null,
    blocked: false,
    idleSinceMs: null,
    drainSeconds: DEFAULT_DRAIN_SECONDS,
    unclaimedSinceMs: null,
  }));
}
