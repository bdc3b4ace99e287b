// The demand store's thread (worker side; started by demand-store-thread.ts). All writes received in one turn of its
// event loop are one transaction.

import { WorkerPort } from '../../runtime/worker-port.ts';
import { killAtFailpoint } from '../failpoints.ts';
import type { FromDemandStore, ToDemandStore } from './demand-store-protocol.ts';
import { SqliteDemandStore } from './demand-store-sqlite.ts';

killAtFailpoint();
const port = new WorkerPort<string, FromDemandStore, ToDemandStore>();
const store = new SqliteDemandStore(port.start);

port.listen({
  onItem: () => {
    // Commits queued writes, so that they are still answered.
    store.close();
    setImmediate(() => port.close());
  },
  onRequest: (changes, answer, refuse) => {
    store.write(changes).then(() => answer(undefined), refuse);
  },
});

const { baselines, seen } = await store.load();
port.post({ kind: 'opened', content: { baselines: [...baselines], seen: [...seen] } });
