// The cost of a fleet per hour by use of its machines, as the rooms of the shard read it; defined in the model.

import { MachineState, PART_OF_STATE } from '../../model/index.ts';

export {
  COST_PARTS,
  type CostPart,
  type CostView,
  costView,
  noCost,
  ON_HOLD,
  PART_OF_STATE,
  SERVING,
} from '../../model/index.ts';

/** Whether machines in a state have a host; a Failed one may or may not. */
export function hasHostState(state: number): boolean {
  return (PART_OF_STATE[state] ?? -1) !== -1 && state !== MachineState.Failed;
}
