// The thread of the demand store. Everything that has come in one turn of its loop is one transaction.

import { parentPort, workerData } from 'node:worker_threads';
import { killAtFailpoint } from '../failpoints.ts';
import { SqliteDemandStore } from '../hands/demand-store-sqlite.ts';
import type { FromDemandStore, ToDemandStore } from './demand-store-protocol.ts';

killAtFailpoint();
const port = parentPort!;
const store = new SqliteDemandStore(workerData as string);

function tell(message: FromDemandStore): void {
  port.postMessage(message);
}

port.on('message', (message: ToDemandStore) => {
  if (message.kind === 'close') {
    // Commits what waits, so that its writers still hear of it.
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
