// The thread that decides in live.ts: its heap is that of a controller, and not that of the thread of the replica, which a flag
// of Node would change too. Started by live-thread.ts.

import { WorkerPort } from '../../src/runtime/worker-port.ts';
import { measureLive } from './live.ts';
import type { FromLive, ToLive } from './live-thread.ts';

const port = new WorkerPort<null, FromLive, ToLive>();
port.listen({
  onItem: () => {},
  onRequest: ({ profile, seconds }, answer, refuse) => {
    measureLive(profile, seconds).then(answer, refuse);
  },
});
