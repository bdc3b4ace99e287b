// The worker of `ListThread`: its own connection, a reader, and a message port to the owner.

import { parentPort, workerData } from 'node:worker_threads';
import { Random } from '../../runtime/random.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import { ProviderClient } from './client.ts';
import { asProviderError } from './errors.ts';
import { grpcTransport } from './grpc-transport.ts';
import type { ListSink } from './intake.ts';
import type { FromListThread, ListThreadStart, ToListThread } from './list-protocol.ts';
import { InventoryReader, type ListKind } from './reader.ts';

/** Batches in flight to the owner: enough to keep both threads busy. */
const MAX_IN_FLIGHT = 8;

const port = parentPort!;
const { provider, limits, seed, shardId } = workerData as ListThreadStart;

function tell(message: FromListThread, moved: readonly ArrayBuffer[] = []): void {
  port.postMessage(message, moved);
}

const client = new ProviderClient({
  transport: grpcTransport(provider),
  // Lists carry no token.
  fence: { shardId: '', epoch: 0n, nextSequence: () => 0n },
  clock: systemClock,
  random: new Random(seed),
  limits,
  onAttempt: (attempt) => tell({ kind: 'attempt', attempt }),
});
const reader = new InventoryReader({
  listBytes: (query, signal) => client.listBytes(query, signal),
  release,
  seed,
  maxInFlight: MAX_IN_FLIGHT,
  shardId,
});

/** Frees a long list at once. An idle thread triggers no garbage collection, so the buffer would stay allocated. */
function release({ buffer, length }: Uint8Array): void {
  // Short messages share their buffer with others.
  if (length < 2 ** 20 || buffer.byteLength > length + 64) return;
  if (buffer instanceof ArrayBuffer) buffer.transfer(0);
}

/** Batches sent and not yet acknowledged, oldest first. */
const waiting: PromiseWithResolvers<void>[] = [];
function handOver(message: FromListThread, moved: readonly ArrayBuffer[] = []): Promise<void> {
  const taken = Promise.withResolvers<void>();
  waiting.push(taken);
  tell(message, moved);
  return taken.promise;
}
const sink: ListSink = {
  changed: ({ bytes, count }) => handOver({ kind: 'changed', bytes, count }, [bytes.buffer]),
  gone: (ids) => handOver({ kind: 'gone', ids }),
};

let cancel = new AbortController();

async function read(wanted: ListKind): Promise<void> {
  cancel = new AbortController();
  try {
    const report = await reader.read(wanted, sink, cancel.signal);
    tell({ kind: 'done', report, heldBytes: reader.heldBytes });
  } catch (error) {
    const { kind, problems } = asProviderError(error, 'list');
    tell({ kind: 'failed', error: kind, detail: problems[0]!.message });
  }
}

port.on('message', (message: ToListThread) => {
  switch (message.kind) {
    case 'read':
      void read(message.wanted);
      break;
    case 'cancel':
      cancel.abort();
      break;
    case 'forget':
      reader.forget();
      break;
    case 'taken': {
      const oldest = waiting.shift();
      if (message.error === undefined) oldest?.resolve();
      else oldest?.reject(new Error(message.error));
    }
  }
});
