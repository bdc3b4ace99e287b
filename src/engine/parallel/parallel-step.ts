// Parallel steps: work that threads share. A step is a list of tasks that run in any order, each on one thread, and a task
// writes nothing that belongs to another. A new kind of step needs entries here and in `shared-state.ts`, which defines
// what the threads see.

import { creditCluster, serveCluster } from '../assign/credit.ts';
import type { Cycle } from '../cycle.ts';

export const ParallelStep = {
  /** Makes the ranked rows of clusters, indexes their machines and credits them; none of their machines is claimed yet. */
  Serve: 0,
  /** Credits clusters that were put off. */
  Credit: 1,
  /** Serves clusters some of whose machines are still claimed from the previous cycle. */
  ServeAgain: 2,
} as const;
export type ParallelStep = (typeof ParallelStep)[keyof typeof ParallelStep];

interface StepTask {
  readonly work: (cycle: Cycle, task: number) => void;
  /** Undoes a task that was done, half done or not begun, after a thread has failed. */
  readonly undo: (cycle: Cycle, task: number) => void;
}

function uncredit({ credits }: Cycle, cluster: number): void {
  credits.undo(cluster);
}

function serveAgain(cycle: Cycle, cluster: number): void {
  uncredit(cycle, cluster);
  serveCluster(cycle, cluster);
}

export const TASKS: Readonly<Record<ParallelStep, StepTask>> = {
  [ParallelStep.Serve]: { work: serveCluster, undo: uncredit },
  [ParallelStep.Credit]: { work: creditCluster, undo: uncredit },
  [ParallelStep.ServeAgain]: { work: serveAgain, undo: uncredit },
};
