// The provider of `bench provider`. `startProvider`, for calls.ts and lists.ts, starts this file as a child process;
// the child serves a provider and, on another port, a bare grpc-js server that answers any call with bytes of the same
// length: the cost of a call without the kit.

import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { NO_STORE, Provider, SqliteStore, serveProvider } from '../../src/provider/index.ts';
import { systemClock } from '../../src/runtime/system-clock.ts';
import { Machine } from '../../src/wire/gen/bigfleet/v1alpha1/provider.ts';
import { BenchCloud, quotaSlotsOf } from './cloud.ts';

export interface ProviderOptions {
  readonly machines: number;
  readonly seed: number;
  readonly store: 'none' | 'sqlite';
}

interface Ready {
  readonly address: string;
  readonly echoAddress: string;
  readonly readySeconds: number;
}

type Order = { readonly kind: 'reprice'; readonly share: number } | { readonly kind: 'settle' | 'memory' };

export interface ProviderProcess extends Ready {
  /** Changes the price of this share of the machines. */
  reprice(share: number): Promise<unknown>;
  /** Waits until no transition is in flight. */
  settle(): Promise<unknown>;
  /** Resident memory of the provider, in MiB. */
  memory(): Promise<number>;
  stop(): void;
}

export async function startProvider(options: ProviderOptions): Promise<ProviderProcess> {
  const child = fork(import.meta.filename, [JSON.stringify(options)], {
    execArgv: ['--max-old-space-size=8192'],
  });
  const ready = (await answerOf(child)) as Ready;
  const ask = (order: Order): Promise<unknown> => {
    child.send(order);
    return answerOf(child);
  };
  return {
    ...ready,
    reprice: (share) => ask({ kind: 'reprice', share }),
    settle: () => ask({ kind: 'settle' }),
    memory: async () => Number(await ask({ kind: 'memory' })),
    stop: () => child.disconnect(),
  };
}

function answerOf(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`the provider ended with code ${code}`));
    child.once('exit', onExit);
    child.once('message', (answer) => {
      child.off('exit', onExit);
      resolve(answer);
    });
  });
}

async function serve({ machines, seed, store }: ProviderOptions): Promise<void> {
  const started = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'bigfleet-bench-'));
  const cloud = new BenchCloud(machines, seed);
  const provider = await Provider.open({
    backend: cloud,
    store: store === 'none' ? NO_STORE : new SqliteStore(join(folder, 'state.db')),
    clock: systemClock,
    options: { describeTimeoutMs: 600_000 },
  });
  const server = await serveProvider(provider, '127.0.0.1:0', { tls: null });
  const sample = Machine.encode(await provider.get({ id: quotaSlotsOf(seed, 1)[0]! })).finish();
  const echoAddress = await serveEcho(Buffer.from(sample));
  const carryOut = async (order: Order): Promise<unknown> => {
    if (order.kind === 'memory') return process.memoryUsage.rss() / 2 ** 20;
    if (order.kind === 'reprice') {
      cloud.reprice(order.share);
      return provider.refresh();
    }
    while (provider.runningCount > 0) await new Promise((resolve) => setTimeout(resolve, 1));
    return null;
  };
  process.on('message', (order: Order) => void carryOut(order).then((answer) => process.send!(answer)));
  process.on('disconnect', () => {
    void server.stop().finally(() => {
      rmSync(folder, { recursive: true });
      process.exit();
    });
  });
  const ready: Ready = {
    address: server.address,
    echoAddress,
    readySeconds: (performance.now() - started) / 1000,
  };
  process.send!(ready);
}

export const ECHO_PATH = '/bench.Echo/Echo';

async function serveEcho(answer: Buffer): Promise<string> {
  const server = new Server();
  const asIs = (bytes: Buffer): Buffer => bytes;
  const method = {
    path: ECHO_PATH,
    requestStream: false,
    responseStream: false,
    requestSerialize: asIs,
    requestDeserialize: asIs,
    responseSerialize: asIs,
    responseDeserialize: asIs,
  } as const;
  server.addService(
    { echo: method },
    { echo: (_: unknown, done: (error: null, bytes: Buffer) => void) => done(null, answer) },
  );
  return new Promise((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(`127.0.0.1:${port}`) : reject(error),
    ),
  );
}

if (import.meta.main) await serve(JSON.parse(process.argv[2]!) as ProviderOptions);
