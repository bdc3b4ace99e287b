// Test support: a supply as the engine sees it, before anything was bought. Imported by tests only.

import {
  DEFAULT_DRAIN_SECONDS,
  DEFAULT_SCORE_WEIGHTS,
  type DecisionInput,
  type LedgerMachine,
  MachineState,
  type Need,
  VirtualClock,
} from '../../model/index.ts';
import { FakeCloud, presetSettings } from '../../provider/index.ts';
import type { CloudSupply, Supply } from '../clouds/supply.ts';

export const START_MS = Date.UTC(2026, 0, 1);

export async function coldInput(supply: Supply, needs: readonly Need[]): Promise<DecisionInput> {
  return {
    nowMs: START_MS,
    machines: [...(await machinesOf(supply.metal)), ...(await machinesOf(supply.cloud))],
    needs,
    options: {
      readyClusters: null,
      cannotBind: new Set(),
      releaseHoldSeconds: new Map(),
      weights: DEFAULT_SCORE_WEIGHTS,
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
    held: false,
    idleSinceMs: null,
    drainSeconds: DEFAULT_DRAIN_SECONDS,
  }));
}
