// What tests of sessions and drains start from: an operator without features, and a machine without facts.

import { CapacityType } from '../../src/model/index.ts';
import type { JoiningMachine, SessionFeatures } from '../../src/shard/events.ts';

export const NO_FEATURES: SessionFeatures = { drainReport: false, verdicts: false };

export const JOINING: JoiningMachine = {
  machineId: 'm1',
  labels: new Map(),
  instanceType: '',
  zone: '',
  capacityType: CapacityType.Unspecified,
  providerId: '',
};
