// Rows that Phase 1 left short, recorded when they are served: how short, and which row claimed machines before them.
// Written by serve.ts, spread.ts, gang.ts and set-aside.ts; read by Phase 2 and verdicts.

import type { Share } from './assign/sharing.ts';
import type { Shortage } from './assign/unfilled.ts';
import type { Cycle } from './cycle.ts';
import type { SpreadView } from './views.ts';

export interface Unmet {
  readonly rankedRow: number;
  readonly shortage: Shortage;
  readonly deficit: Float64Array;
  readonly shares: readonly Share[];
  readonly spread: SpreadView | null;
  /** The last ranked row before this one that claimed a machine this one could have used; NONE for none. */
  readonly blocker: number;
  /** Whether it would have acquired more without the ceiling on spending. */
  readonly isStopped: boolean;
}

/** Records that the ranked row being served is short. */
export function addUnmet(
  { blockers, result, sharing, unfilled }: Cycle,
  rankedRow: number,
  spread: SpreadView | null,
  isStopped: boolean,
): void {
  const blocker = blockers.of(rankedRow);
  const [shortage, deficit] = [unfilled.save(), unfilled.deficit()];
  const shares = sharing.sharesOfTurn();
  result.addUnmet({ rankedRow, shortage, deficit, shares, spread, blocker, isStopped });
}
