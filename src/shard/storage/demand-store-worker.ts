// The demand store's thread. All writes received in one turn of its event loop are one transaction.

import { parentPort, workerData } from 'node:worker_threads';
import { killAtFailpoint } from '../failpoints.ts';
import type { FromDemandStore, ToDemandStore } from './demand-store-protocol.ts';
import { SqliteDemandStore } from './demand-store-sqlite.ts';

killAtFailpoint();
const port = parentPort!;
const store = new SqliteDemandStore(workerData as string);

function tell(message: FromDemandStore): void {
  port.postMessage(message);
}

port.on('message', (message: ToDemandStore) => {
  if (message.kind === 'close') {
    // Commits queued writes, so that their callers are still notified.
    store.close();
    setImmediate(() => port.close());
    return;
  }
  const { writes } = message;
  Promise.all(writes.map((changes) => store.write(changes))).then(
    () => tell({ kind: 'written', count: writes.length }),
    (error: unknown) => tell({ kind: 'failed', error }),
  );
});

const { baselines, seen } = await store.load();
tell({ kind: 'opened', content: { baselines: [...baselines], seen: [...seen] } });
