// Rounds: work that threads share. A round is a list of pieces that are done in any order, each by one thread, which
// touches nothing that belongs to another piece. What a new kind of round needs stands here and in `mirror.ts`, which
// says what the threads see.

import { creditCluster, serveCluster } from './credit.ts';
import type { Cycle } from './cycle.ts';
import { NONE } from './turns.ts';

/** Kinds of rounds. */
export const Round = {
  /** Makes the turns of clusters, indexes their machines and credits them; nothing of them is claimed yet. */
  Serve: 0,
  /** Credits clusters that were put off. */
  Credit: 1,
  /** Serves clusters some of whose machines are still claimed from before. */
  ServeAgain: 2,
} as const;
export type Round = (typeof Round)[keyof typeof Round];

interface Piecework {
  /** Does a piece of the round. */
  readonly work: (cycle: Cycle, piece: number) => void;
  /** Undoes a piece that may have been done, half done or not begun: a thread has failed and nobody can tell. */
  readonly undo: (cycle: Cycle, piece: number) => void;
}

/** Takes back all credits of a cluster, however far they got. */
function uncredit({ claimedBy, putOff, walk }: Cycle, cluster: number): void {
  walk.begin(cluster);
  for (let slot = walk.next(); slot !== NONE; slot = walk.next()) claimedBy[slot] = 0;
  putOff[cluster] = 0;
}

function serveAgain(cycle: Cycle, cluster: number): void {
  uncredit(cycle, cluster);
  serveCluster(cycle, cluster);
}

/** What is done in each kind of round. */
export const PIECEWORK: Readonly<Record<Round, Piecework>> = {
  [Round.Serve]: { work: serveCluster, undo: uncredit },
  [Round.Credit]: { work: creditCluster, undo: uncredit },
  [Round.ServeAgain]: { work: serveAgain, undo: uncredit },
};
