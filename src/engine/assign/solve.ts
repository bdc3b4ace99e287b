// Phase 1: serves every row, with the result of serving them one by one in rank order. First each cluster is credited
// by itself, on the threads of the worker pool; then the rows that need free machines are served in rank order over all
// clusters, by lanes. Called by engine.ts.

import type { DecisionOptions } from '../../model/index.ts';
import type { Cycle } from '../cycle.ts';
import type { Lanes } from '../parallel/lanes.ts';
import { ParallelStep } from '../parallel/parallel-step.ts';
import type { WorkerPool } from '../parallel/worker-pool.ts';
import { restampInPass, settleRestamps } from './restamps.ts';
import { addSetAside } from './set-aside.ts';

/** Parts of a cycle that are timed, in the order they end: the first three are Phase 1, `plan` follows Phase 3. */
export type Phase = 'normalise' | 'credit' | 'acquire' | 'preempt' | 'reclaim' | 'plan';

/** Called when a phase has ended. The engine reads no clock; a caller that measures durations does. */
export type Probe = (ended: Phase) => void;

/** Phase 1 of a cycle; with `everything`, clusters that have not changed are credited again too. */
export function solve(
  cycle: Cycle,
  workerPool: WorkerPool,
  lanes: Lanes,
  nowMs: number,
  options: DecisionOptions,
  everything: boolean,
  probe: Probe,
): void {
  const dirty = cycle.begin(nowMs, options, everything);
  probe('normalise');
  workerPool.run(
    cycle.dirtyClusters.isEverything(dirty) ? ParallelStep.Serve : ParallelStep.ServeAgain,
    dirty,
  );
  workerPool.run(ParallelStep.Credit, cycle.takeUp());
  const { served } = cycle;
  settleRestamps(cycle, served);
  probe('credit');
  let rows = 0;
  for (const cluster of served) rows += cycle.rankedRows.end[cluster]! - cycle.rankedRows.start[cluster]!;
  cycle.stats.credited(served.length, rows);
  cycle.pass.open();
  lanes.serve();
  restampInPass(cycle);
  addSetAside(cycle);
  probe('acquire');
}
