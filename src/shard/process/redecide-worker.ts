// The thread that decides one past cycle again (worker side; started by past-cycles.ts, which ends it after the answer).

import { lowerThreadPriority } from '../../runtime/thread-priority.ts';
import { WorkerPort } from '../../runtime/worker-port.ts';
import { redecide } from '../journal/redecide.ts';
import { standBack } from './pacing.ts';
import type { FromRedecide, RedecideStart, ToRedecide } from './redecide-protocol.ts';

lowerThreadPriority();
const port = new WorkerPort<RedecideStart, FromRedecide, ToRedecide>();
const { journal, pacing, readLimitMs: limitMs } = port.start;

port.listen({
  onItem: () => {},
  onRequest: (ask, answer, refuse) => {
    try {
      const pause = (): void => standBack(pacing);
      answer(redecide(journal, ask, { now: () => performance.now(), pause, limitMs }));
    } catch (error) {
      refuse(error);
    }
  },
});
