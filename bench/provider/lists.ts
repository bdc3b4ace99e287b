// The parts `lists` and `fleet` of `bench provider` (main.ts): whole inventories and changes, read on a list thread
// while the thread that would serve sessions receives the differences; for comparison, the same list decoded as objects
// on that thread.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import {
  grpcTransport,
  type ListKind,
  type ListReport,
  type ListSink,
  ListThread,
  machinesOf,
  ProviderClient,
} from '../../src/provider/index.ts';
import { Random } from '../../src/runtime/random.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { rounded } from '../quantiles.ts';
import { type ProviderProcess, startProvider } from './provider-process.ts';

export interface ListFigures {
  readonly name: string;
  readonly seconds: number;
  /** List calls; more than one where a list exceeds the size of a message. */
  readonly messages: number;
  readonly megabytes: number;
  readonly records: number;
  /** Machines sent to the main thread and decoded. */
  readonly handedOver: number;
  /** The longest time for which the main thread was blocked. */
  readonly longestPauseMs: number;
  /** Resident memory of the reading process at the end, and its peak. */
  readonly rssMiB: number;
  readonly peakRssMiB: number;
}

type Read = Pick<ListReport, 'messages' | 'bytes' | 'records' | 'added' | 'changed'>;

/** Measures the duration of `work` and the longest delay of this thread's event loop during it. */
async function observe(name: string, work: () => Promise<Read>): Promise<ListFigures> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const started = performance.now();
  const report = await work();
  const seconds = rounded((performance.now() - started) / 1000);
  // A delay is recorded only in the event loop turn after it.
  await new Promise((resolve) => setTimeout(resolve, 5));
  delay.disable();
  return {
    name,
    seconds,
    messages: report.messages,
    megabytes: rounded(report.bytes / 1e6),
    records: report.records,
    handedOver: report.added + report.changed,
    longestPauseMs: rounded(delay.max / 1e6),
    rssMiB: Math.round(process.memoryUsage.rss() / 2 ** 20),
    peakRssMiB: Math.round(process.resourceUsage().maxRSS / 1024),
  };
}

/** Decodes machines as a shard does, and drops them. */
const DECODING: ListSink = { changed: (batch) => void machinesOf(batch), gone: () => {} };

const threadTo = ({ address }: ProviderProcess): ListThread =>
  new ListThread({ provider: { address, tls: null }, seed: 1 });

export interface ListsResult {
  readonly lists: readonly ListFigures[];
  /** Memory that the list thread keeps between two lists. */
  readonly heldBytesPerMachine: number;
  readonly providerRssMiB: number;
  readonly providerReadySeconds: number;
}

/** One provider with this many machines. */
export async function measureLists(machines: number, seed: number): Promise<ListsResult> {
  const provider = await startProvider({ machines, seed, store: 'none' });
  const thread = threadTo(provider);
  const read = (name: string, kind: ListKind) => observe(name, () => thread.read(kind, DECODING));
  try {
    const idle = await observe('nothing: noise of the machine', doNothing);
    const lists = [await read('full list, the first', 'full')];
    const heldBytesPerMachine = Math.round(thread.heldBytes / machines);
    lists.push(await read('full list, nothing changed', 'full'));
    lists.push(await read('changes, none', 'changes'));
    await provider.reprice(0.01);
    lists.push(await read('changes, 1 % of the machines', 'changes'));
    await provider.reprice(0.01);
    lists.push(await read('full list, 1 % changed', 'full'));
    const { messages, megabytes } = lists[0]!;
    if (messages === 1) {
      const asObjects = () => listAsObjects(provider, megabytes * 1e6);
      lists.push(await observe('as objects on the main thread', asObjects));
    }
    const providerRssMiB = Math.round(await provider.memory());
    return {
      lists: [...lists, idle],
      heldBytesPerMachine,
      providerRssMiB,
      providerReadySeconds: rounded(provider.readySeconds),
    };
  } finally {
    await thread.close();
    provider.stop();
  }
}

async function doNothing(): Promise<Read> {
  await new Promise((resolve) => setTimeout(resolve, 3000));
  return { messages: 0, bytes: 0, records: 0, added: 0, changed: 0 };
}

async function listAsObjects({ address }: ProviderProcess, bytes: number): Promise<Read> {
  const client = new ProviderClient({
    transport: grpcTransport({ address, tls: null }),
    fence: { shardId: 'bench', epoch: 1n, nextSequence: () => 1n },
    clock: systemClock,
    random: new Random(1),
  });
  const { machines } = await client.list();
  client.close();
  return { messages: 1, bytes, records: machines.length, added: machines.length, changed: 0 };
}

/** Several providers at once, each with its own list thread, as a shard of a large fleet has them. */
export async function measureFleet(providers: number, machinesEach: number): Promise<readonly ListFigures[]> {
  const processes: ProviderProcess[] = [];
  for (let i = 0; i < providers; i++) {
    processes.push(await startProvider({ machines: machinesEach, seed: i + 1, store: 'none' }));
  }
  const threads = processes.map(threadTo);
  const inSequence = async (kind: ListKind) => {
    const reports: ListReport[] = [];
    for (const thread of threads) reports.push(await thread.read(kind, DECODING));
    return sumOf(reports);
  };
  const sideBySide = async (kind: ListKind) =>
    sumOf(await Promise.all(threads.map((thread) => thread.read(kind, DECODING))));
  try {
    return [
      await observe('the first, one after another', () => inSequence('full')),
      await observe('no change, one after another', () => inSequence('full')),
      await observe('no change, side by side', () => sideBySide('full')),
      await observe('changes, none, side by side', () => sideBySide('changes')),
    ];
  } finally {
    await Promise.all(threads.map((thread) => thread.close()));
    for (const provider of processes) provider.stop();
  }
}

function sumOf(reports: readonly ListReport[]): Read {
  const sum = (field: keyof Read) => reports.reduce((total, report) => total + report[field], 0);
  return {
    messages: sum('messages'),
    bytes: sum('bytes'),
    records: sum('records'),
    added: sum('added'),
    changed: sum('changed'),
  };
}
