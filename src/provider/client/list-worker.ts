// The worker thread that list-thread.ts starts, one for each provider. It has a connection of its own, reads Lists,
// and posts their differences to the owner, the thread of the `ListThread`.

import { Random } from '../../runtime/random.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import { WorkerPort } from '../../runtime/worker-port.ts';
import { ProviderClient } from './client.ts';
import { asProviderError } from './errors.ts';
import { grpcTransport } from './grpc-transport.ts';
import type { ListSink } from './intake.ts';
import { InventoryReader, type ListKind } from './inventory-reader.ts';
import type { FromListThread, ListBatch, ListThreadStart, ToListThread } from './list-protocol.ts';

/** Batches in flight to the owner: enough to keep both threads busy. */
const MAX_IN_FLIGHT = 8;

const port = new WorkerPort<ListThreadStart, FromListThread, ToListThread>();
const { provider, limits, seed, shardId } = port.start;

const client = new ProviderClient({
  transport: grpcTransport(provider),
  // Lists carry no fencing token.
  fence: { shardId: '', epoch: 0n, nextSequence: () => 0n },
  clock: systemClock,
  random: new Random(seed),
  limits,
  onAttempt: (attempt) => port.post({ kind: 'attempt', attempt }),
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

/** Posted at once, so that the owner processes a batch while this thread scans for the next one. */
function pass(batch: ListBatch, moved: readonly ArrayBuffer[] = []): Promise<void> {
  const processed = port.request(batch, moved);
  port.flush();
  return processed;
}

const sink: ListSink = {
  changed: ({ bytes, count }) => pass({ kind: 'changed', bytes, count }, [bytes.buffer]),
  gone: (ids) => pass({ kind: 'gone', ids }),
};

let cancel = new AbortController();

async function read(wanted: ListKind): Promise<ToListThread['answer']> {
  cancel = new AbortController();
  try {
    const report = await reader.read(wanted, sink, cancel.signal);
    return { kind: 'done', report, heldBytes: reader.heldBytes };
  } catch (error) {
    const { kind, problems } = asProviderError(error, 'list');
    return { kind: 'failed', error: kind, detail: problems[0]!.message };
  }
}

port.listen({
  onItem: ({ kind }) => {
    if (kind === 'cancel') cancel.abort();
    else reader.forget();
  },
  onRequest: (wanted, answer, refuse) => {
    read(wanted).then(answer, refuse);
  },
});
