// The shard process: opens the data directory, starts the controller on its thread and the sessions on this one, dials
// providers, and serves sessions and the API. Makes no decisions. Started by `bigfleet shard` and `bigfleet up`.

import { randomInt } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Server } from '@grpc/grpc-js';
import { BigFleetError } from '../../model/index.ts';
import { grpcTransport, ListThread } from '../../provider/index.ts';
import type { Log as ShardLog } from '../../runtime/logger.ts';
import { moduleBeside } from '../../runtime/module-path.ts';
import { Random } from '../../runtime/random.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import { serverCredentials, stopServer, watchConnections } from '../../wire/index.ts';
import { type ApiOptions, type ApiServer, serveApi } from '../api/serve.ts';
import { addShardRead, type ReadCounters } from '../api/shard-read-grpc.ts';
import { controllerOptionsOf, type ShardConfig } from '../config/config.ts';
import { killAtFailpoint } from '../failpoints.ts';
import { EpochWatch, fencedText, raisedText } from '../inventory/epoch-watch.ts';
import { addSessions, sessionServerOptions } from '../sessions/session-grpc.ts';
import { Sessions } from '../sessions/sessions.ts';
import { type DataDir, openDataDir } from '../storage/data-dir.ts';
import { DemandStoreThread } from '../storage/demand-store-thread.ts';
import { SessionMetrics } from '../telemetry/metrics.ts';
import { LAG_RESOLUTION_MS, sessionsText } from '../telemetry/session-metrics.ts';
import type { StatusView } from '../views.ts';
import { ControllerThread } from './controller-thread.ts';
import { carryOut } from './effects.ts';
import { PacedController } from './paced-controller.ts';
import { newPacing } from './pacing.ts';
import { PastCycles } from './past-cycles.ts';
import { ProviderCalls, type ProviderEnd, shardClient } from './provider-calls.ts';
import type { EndReason, RunningShard, ShardIo, StartShard } from './running.ts';
import { ShardFacade } from './shard-facade.ts';
import { WhatIfService } from './what-if-service.ts';

/** Longest wait at stop for in-flight work of the controller, such as calls to providers. */
const STOP_MS = 5000;
/** Longest wait at stop for sessions to receive their status. */
const FAREWELL_MS = 2000;
/** The shard is unready when the controller's oldest unprocessed event has waited longer than this. */
const STUCK_MS = 60_000;

export const startShard: StartShard = async (config, { log, ...pages }) => {
  killAtFailpoint();
  const parts = new Parts(log);
  try {
    return await assemble(config, parts, pages);
  } catch (error) {
    await parts.close();
    throw error;
  }
};

type ShardPages = Omit<ShardIo, 'log'>;

/** Opened resources, closed in reverse order. */
class Parts {
  readonly log: ShardLog;
  readonly #closers: (() => unknown)[] = [];
  #isClosed = false;

  constructor(log: ShardLog) {
    this.log = log;
  }

  /** A resource that is added while all are being closed is closed at once. */
  add<T>(part: T, close: (part: T) => unknown): T {
    this.#closers.push(() => close(part));
    if (!this.#isClosed) return part;
    void this.close();
    throw new Error('The shard ended while it was being started.');
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) {
      try {
        await close();
      } catch (error) {
        this.log('error', 'close-failed', { error });
      }
    }
  }
}

async function assemble(config: ShardConfig, parts: Parts, pages: ShardPages): Promise<RunningShard> {
  const { log } = parts;
  const ended = Promise.withResolvers<EndReason>();
  const directory = parts.add(openDataDir(config.dataDir, config.epochAtLeast), (it) => it.close());
  const { epoch } = directory;
  const watch = new EpochWatch(epoch, directory.isNew);
  let stopping: Promise<void> | null = null;
  const end = (reason: EndReason): Promise<void> => {
    stopping ??= shutDown(parts, reason, ended);
    return stopping;
  };
  const fail = (error: unknown): void => {
    log('error', 'shard-failed', { error });
    void end({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
  };
  // The store opens while the controller starts.
  const opening = parts.add(DemandStoreThread.open(directory.demandFile), closeOpened);
  opening.catch(() => {});
  const pacing = newPacing();
  const controller = parts.add(await startController(config, directory, pacing, fail), (it) => it.stop());
  controller.listen((event) => {
    if (event.kind === 'log') log(event.level, event.event, event.fields);
  });
  const store = await opening;
  const paced = new PacedController(controller);
  const sessions = parts.add(
    await Sessions.open({
      clock: systemClock,
      controller: paced,
      limits: config.limits,
      store,
      shardEpoch: epoch,
      log,
      onFailure: fail,
    }),
    (it) => it.close(),
  );
  const providers = new ProviderCalls(
    providerEnds(config, epoch, parts),
    (event) => controller.post(event),
    () => controller.room(),
    (provider, newest) => lookAtEpoch(provider, newest),
  );
  const giveWay = (provider: string, newest: bigint | null): void => {
    providers.giveWay();
    log('error', 'fenced', { provider, epoch, ...(newest === null ? {} : { newest }) });
    void end({ kind: 'fenced', message: fencedText(config.id, provider, { epoch, newest }) });
  };
  const onStop = ({ provider }: { readonly provider: string }): void => giveWay(provider, null);
  const lookAtEpoch = (provider: string, newest: bigint | null): void => {
    const { kind } = watch.judge(provider, newest);
    if (kind === 'state-lost') log('warn', 'data-dir-lost', { provider, epoch, seen: newest });
    if (kind === 'fenced') giveWay(provider, newest);
    if (kind !== 'raise-epoch') return;
    // Once in the life of a directory, so that two live processes do not raise each other's epoch forever.
    providers.giveWay();
    directory.raiseTo(newest!);
    fail(new Error(raisedText(config.id, provider, { epoch, newest })));
  };
  controller.onEffect((effect) => carryOut(effect, { sessions, providers, onStop }));
  const journal = config.journal.isEnabled ? directory.journalFile : null;
  const whatIf = parts.add(new WhatIfService(controller, pacing), (it) => it.close());
  const port = new ShardFacade(controller, sessions, journal, (need) => whatIf.findings(need));
  const { address, reads } = await serveSessions(config, sessions, port, parts);
  const cycles = journal === null ? null : parts.add(new PastCycles(journal, pacing), (it) => it.close());
  const given = { config, port, whatIf, cycles, sessions, controller, paced, reads, pages };
  const api = await serveHttp(given, parts);
  // Added last, so that it stops first, while the sessions can still execute effects of in-flight work.
  parts.add(controller, (it) => it.stop(STOP_MS));
  const addresses = { sessions: address, api: api.address };
  log('info', 'shard-started', { epoch, ...addresses, providers: config.providers.map(({ name }) => name) });
  return { port, epoch, addresses, stop: () => end({ kind: 'stopped' }), ended: ended.promise };
}

/** Closes a store whose opening may fail. */
async function closeOpened(opening: Promise<DemandStoreThread>): Promise<void> {
  const store = await opening.catch(() => null);
  await store?.close();
}

async function shutDown(
  parts: Parts,
  reason: EndReason,
  ended: PromiseWithResolvers<EndReason>,
): Promise<void> {
  parts.log('info', 'shard-stopping', { reason: reason.kind });
  await parts.close();
  parts.log('info', 'shard-stopped', {});
  ended.resolve(reason);
}

function startController(
  config: ShardConfig,
  { controllerFile: file, journalFile, epoch }: DataDir,
  pacing: Int32Array,
  onFailure: (error: unknown) => void,
): Promise<ControllerThread> {
  const options = controllerOptionsOf(config, epoch, randomInt(2 ** 31));
  const { isEnabled, ...limits } = config.journal;
  const journal = isEnabled ? { path: journalFile, limits } : undefined;
  const setup = { options, file, journal };
  return ControllerThread.start({
    setup,
    factory: moduleBeside(import.meta.url, 'controller-factory'),
    pacing,
    onFailure,
  });
}

function providerEnds(config: ShardConfig, epoch: bigint, parts: Parts): ReadonlyMap<string, ProviderEnd> {
  const { tls, insecure, id: shardId, calls: limits } = config;
  const random = new Random(randomInt(2 ** 31));
  // One sequence for all providers: machines have one owner, and a number is never used twice.
  let sequence = 0n;
  const fence = { shardId, epoch, nextSequence: () => ++sequence };
  const ends = new Map<string, ProviderEnd>();
  for (const { name, address } of config.providers) {
    const provider = { address, tls, insecure };
    const transport = parts.add(grpcTransport(provider), (it) => it.close());
    const client = shardClient({ transport, fence, clock: systemClock, random, limits });
    const inventory = parts.add(
      new ListThread({ provider, limits, seed: random.below(2 ** 31), shardId }),
      (it) => it.close(),
    );
    ends.set(name, { client, inventory });
  }
  return ends;
}

async function serveSessions(
  { listen, tls, insecure }: ShardConfig,
  sessions: Sessions,
  port: ShardFacade,
  parts: Parts,
): Promise<{ readonly address: string; readonly reads: ReadCounters }> {
  const hasTls = tls !== null;
  const server = parts.add(new Server(sessionServerOptions(sessions.limits)), (it) => {
    // Each session gets its status first; an operator that is cut off would not know the reason.
    sessions.close();
    return stopServer(it, FAREWELL_MS);
  });
  addSessions(server, sessions, { hasTls });
  const reads = addShardRead(
    server,
    async function* inspect({ clusterId, limit }) {
      yield* await port.ask('inspect', { cluster: clusterId, limit });
    },
    { hasTls },
  );
  const credentials = serverCredentials(listen, { tls, insecure });
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(listen, credentials, (error, found) =>
      error === null ? resolve(found) : reject(new BigFleetError('BF_LISTEN_FAILED', error.message)),
    );
  });
  const unwatch = watchConnections(bound, () => sessions.counters.connectionsBroken++);
  parts.add(unwatch, (end) => end());
  return { address: `${listen.slice(0, listen.lastIndexOf(':'))}:${bound}`, reads };
}

interface HttpParts {
  readonly config: ShardConfig;
  readonly port: ShardFacade;
  readonly whatIf: WhatIfService;
  readonly cycles: PastCycles | null;
  readonly sessions: Sessions;
  readonly controller: ControllerThread;
  readonly paced: PacedController;
  readonly reads: ReadCounters;
  readonly pages: ShardPages;
}

async function serveHttp(given: HttpParts, parts: Parts): Promise<ApiServer> {
  const { config, port, whatIf, cycles, sessions, controller, paced, reads, pages } = given;
  const metrics = new SessionMetrics();
  let phase: StatusView['phase'] = 'starting';
  controller.listen((event) => {
    if (event.kind === 'cycle') phase = event.status.phase;
  });
  const lag = parts.add(monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS }), (it) => it.disable());
  lag.enable();
  const options: ApiOptions = {
    tls: config.apiTls,
    whatIf,
    cycles,
    insecure: config.insecure,
    metrics: async () => {
      const readers = { ...api.counters, inspect_refused: reads.refused, inspect_slow: reads.stalled };
      const own = sessionsText(metrics, sessions, lag, { controller, paced, readers });
      return `${own}${await port.ask('metrics', {})}`;
    },
    // Probes are not authenticated, so this must not cost the controller a question.
    unready: () => {
      if (controller.waitingMs > STUCK_MS) return 'The controller has processed no event for a minute.';
      return phase === 'running' ? null : `The shard is ${phase}.`;
    },
    tokensFile: config.apiTokensFile,
    log: parts.log,
    ...pages,
  };
  const api: ApiServer = parts.add(await serveApi(port, config.api, options), (it) => it.close());
  return api;
}
