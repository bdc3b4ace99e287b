// Intermediate and final state of each transition, repeated here so that defects are defined in terms of the contract,
// not of the kit. Used by fences.ts and operations.ts.

import { MachineState } from '../../../src/model/index.ts';
import type { TransitionKind } from '../../../src/provider/index.ts';

export const TRANSITION_STATES: Readonly<
  Record<TransitionKind, { readonly via: number; readonly to: number }>
> = {
  create: { via: MachineState.Creating, to: MachineState.Idle },
  configure: { via: MachineState.Configuring, to: MachineState.Configured },
  drain: { via: MachineState.Draining, to: MachineState.Idle },
  delete: { via: MachineState.Deleting, to: MachineState.Speculative },
};
