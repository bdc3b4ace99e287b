// The thread that answers what-if questions, and finds what keeps machines from a Need of a large fleet (worker side; started
// by what-if-service.ts). It keeps a replica of the ledger, and waits while the controller is in a cycle.

import { deflateRawSync } from 'node:zlib';
import { lowerThreadPriority } from '../../runtime/thread-priority.ts';
import { WorkerPort } from '../../runtime/worker-port.ts';
import { scenarioPieces } from '../../scenario/scenario-write.ts';
import { FleetReplica } from './fleet-replica.ts';
import { standBack } from './pacing.ts';
import type { FromWhatIf, ToWhatIf, WhatIfThreadStart } from './what-if-protocol.ts';

/** Characters of a piece of an export. */
const PIECE = 1 << 18;

lowerThreadPriority();
const port = new WorkerPort<WhatIfThreadStart, FromWhatIf, ToWhatIf>();
const { pacing, settleMs } = port.start;
const replica = new FleetReplica();
let pieces: Iterator<string> | null = null;

function pause(): void {
  standBack(pacing);
}

/** The next piece, compressed; null: the export has ended, or nothing was decided yet. */
function nextPiece(isFirst: boolean): Uint8Array | null {
  if (isFirst) {
    const found = replica.export();
    pieces = found === null ? null : scenarioPieces(found);
  }
  let text = '';
  while (pieces !== null && text.length < PIECE) {
    const { done, value } = pieces.next();
    if (done === true) pieces = null;
    else text += value;
  }
  // The fastest level: texts of machines are alike, so that little is left of them anyway.
  return text === '' ? null : deflateRawSync(text, { level: 1 });
}

port.listen({
  onItem: ({ part }) => {
    pause();
    replica.apply(part);
  },
  onRequest: (request, answer, refuse) => {
    try {
      pause();
      if (request.kind === 'export') answer(nextPiece(request.isFirst));
      else if (request.kind === 'explain') answer(replica.findings(request.need, pause));
      else if (request.kind === 'prepare') {
        replica.prepare(pause);
        answer(null);
      } else {
        const lastMs = performance.now() + settleMs;
        replica.ask(request.request, {
          pause,
          isOver: () => performance.now() >= lastMs,
          onAnswer: (found) => {
            answer(found);
            // Sent now, not at the end of this turn: the changes are undone first.
            port.flush();
          },
        });
      }
    } catch (error) {
      refuse(error);
    }
  },
});
