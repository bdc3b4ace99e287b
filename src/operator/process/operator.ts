// The operator process: connects the session, the demand and the handlers, lets one replica lead, and answers probes. All
// wiring is here; the parts know each other through interfaces only. Started by cli/operator.ts.

import { hostname } from 'node:os';
import type { MonotonicClock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/logger.ts';
import { Random } from '../../runtime/random.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import { RollupReport_Outcome } from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import type { KubeClient } from '../kube/client.ts';
import { GatedKubeClient } from '../leader/gated-client.ts';
import { LeaderElection } from '../leader/leader-election.ts';
import type { SessionHandlers } from '../session/contract.ts';
import { grpcDialer } from '../session/grpc-dialer.ts';
import type { Dialer } from '../session/link.ts';
import { type SessionEvent, ShardSession } from '../session/shard-session.ts';
import {
  BootstrapService,
  bootstrapTemplateOf,
  messageOf,
  type ReadText,
  readText,
} from './bootstrap-service.ts';
import { type HttpListener, listen } from './http.ts';
import { sessionTls } from './load-settings.ts';
import { OperatorMetrics } from './operator-metrics.ts';
import type { ClusterParts, KubeAccess, PartFactories } from './parts.ts';
import type { OperatorSettings } from './settings.ts';

export interface OperatorIo {
  readonly log: Log;
  readonly factories: PartFactories;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly clock?: MonotonicClock;
  readonly read?: ReadText;
  readonly dialer?: Dialer;
  readonly seed?: number;
}

export interface RunningOperator {
  /** Where probes and metrics are. */
  readonly address: string;
  readonly isLeader: boolean;
  /** Ends the session, releases the Lease and closes everything. Idempotent. */
  stop(): Promise<void>;
}

const DEFAULT_NAMESPACE = 'bigfleet-system';

/** Rejects with a `BigFleetError` if the operator cannot start: its template, its certificates or its address. */
export async function startOperator(settings: OperatorSettings, io: OperatorIo): Promise<RunningOperator> {
  const operator = new OperatorProcess(settings, io);
  await operator.start();
  return operator;
}

class OperatorProcess implements RunningOperator {
  readonly #settings: OperatorSettings;
  readonly #log: Log;
  readonly #metrics = new OperatorMetrics();
  readonly #access: KubeAccess;
  readonly #writers: readonly GatedKubeClient[];
  readonly #bootstrap: BootstrapService;
  readonly #session: ShardSession;
  readonly #parts: ClusterParts;
  /** null: this process is the only one. */
  readonly #election: LeaderElection | null;
  #isLeading = false;
  #isStopping = false;
  #http: HttpListener | null = null;
  #stopped: Promise<void> | null = null;

  constructor(settings: OperatorSettings, io: OperatorIo) {
    const { log, factories, env = process.env, clock = systemClock, read = readText } = io;
    const seed = io.seed ?? Date.now() % 2 ** 31;
    const { cluster, session } = settings;
    this.#settings = settings;
    this.#log = log;
    // Checked first: what is wrong with the settings must not be found after a connection.
    const template = bootstrapTemplateOf(settings, read);
    const dialer =
      io.dialer ??
      grpcDialer({
        addresses: settings.shard.addresses,
        security: { tls: sessionTls(settings), insecure: settings.shard.insecure },
      });
    const namespace = settings.kubernetes.namespace ?? env['POD_NAMESPACE'] ?? DEFAULT_NAMESPACE;
    this.#access = factories.connect(settings, clock);
    const { client, urgentClient } = this.#access;
    const gated = (each: KubeClient) => new GatedKubeClient(each, () => this.isLeader);
    const writer = gated(client);
    const urgentWriter = gated(urgentClient);
    this.#writers = [writer, urgentWriter];
    const shared = { settings, clock, log, namespace, metrics: this.#metrics };
    this.#bootstrap = new BootstrapService({
      ...shared,
      template,
      read,
      access: this.#access,
      writer: urgentWriter,
      random: new Random(seed, 1),
    });
    this.#session = new ShardSession({
      cluster,
      clock,
      random: new Random(seed, 2),
      dialer,
      handlers: this.#handlers(),
      limits: { rollupMs: session.rollupInterval, helloMs: session.helloTimeout },
      buildRollup: (timestampUnixNanos) => this.#parts.buildRollup(timestampUnixNanos),
      onEvent: (event) => this.#sessionEvent(event),
    });
    this.#parts = factories.parts({
      ...shared,
      ...{ client, writer, urgentWriter },
      link: this.#session,
      random: new Random(seed, 3),
      joined: (machineId) => this.#bootstrap.joined(machineId),
    });
    this.#election = this.#electionOf(settings, namespace, env, clock, seed);
    this.#metrics.onScrape(() => this.#scrape());
  }

  get address(): string {
    return this.#http?.address ?? '';
  }

  get isLeader(): boolean {
    return this.#isLeading && (this.#election === null || this.#election.isLeader);
  }

  async start(): Promise<void> {
    const { cluster, listen: address } = this.#settings;
    this.#http = await listen(address, {
      metrics: () => this.#metrics.text(),
      unready: () => this.#unready(),
    });
    this.#log('info', 'operator-started', {
      cluster,
      shard: this.#settings.shard.addresses,
      access: this.#access.origin,
      address: this.address,
    });
    this.#parts.start();
    if (this.#election === null) this.#lead();
    else this.#election.start();
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.#isStopping = true;
    this.#rest('the operator stops');
    this.#parts.stop();
    // After the last write, so that the next leader starts from what is written.
    await this.#election?.stop();
    await this.#http?.close();
    this.#access.close();
    this.#log('info', 'operator-stopped');
  }

  #electionOf(
    { leaderElection }: OperatorSettings,
    namespace: string,
    env: Readonly<Record<string, string | undefined>>,
    clock: MonotonicClock,
    seed: number,
  ): LeaderElection | null {
    const { enabled, leaseName, leaseDuration, renewDeadline, retryPeriod } = leaderElection;
    if (!enabled) return null;
    return new LeaderElection({
      client: this.#access.leaseClient,
      clock,
      random: new Random(seed, 4),
      namespace,
      name: leaseName,
      // Unique also if two processes have the same host name.
      identity: `${env['POD_NAME'] ?? hostname()}_${process.pid}_${seed}`,
      times: { leaseMs: leaseDuration, renewMs: renewDeadline, retryMs: retryPeriod },
      onElected: () => this.#lead(),
      onLost: (why) => this.#rest(why),
      onProblem: (error) => this.#log('warn', 'lease-problem', { error: messageOf(error) }),
    });
  }

  #lead(): void {
    this.#isLeading = true;
    this.#log('info', 'leading');
    this.#bootstrap.lead();
    this.#parts.lead(() => {
      if (this.#isLeading) this.#session.start();
    });
  }

  #rest(why: string): void {
    if (!this.#isLeading) return;
    this.#isLeading = false;
    this.#log(this.#isStopping ? 'info' : 'warn', 'no-longer-leading', { why });
    for (const writer of this.#writers) writer.close();
    this.#session.stop();
    this.#parts.rest();
    this.#bootstrap.rest();
  }

  #handlers(): SessionHandlers {
    const parts = (): ClusterParts['handlers'] => this.#parts.handlers;
    return {
      connected: (features) => parts().connected(features),
      disconnected: (why) => parts().disconnected(why),
      bootstrapRequest: (request) => {
        this.#parts.bootstrapRequested(request);
        return this.#bootstrap.answer(request);
      },
      reclaimInstruction: (instruction) => parts().reclaimInstruction(instruction),
      reclaimWithdrawal: (withdrawal) => parts().reclaimWithdrawal(withdrawal),
      nodeStateUpdate: (update) => parts().nodeStateUpdate(update),
      availableCapacity: (update) => parts().availableCapacity(update),
      needVerdicts: (verdicts) => parts().needVerdicts(verdicts),
      rollupReport: (report) => {
        this.#rollupReported(report.outcome);
        if (report.problems.length > 0)
          this.#log('warn', 'rollup-problems', {
            total: report.total,
            problems: report.problems.slice(0, 10),
          });
        parts().rollupReport(report);
      },
      resynced: () => parts().resynced?.(),
      rollupAcknowledged: (timestampUnixNanos) => parts().rollupAcknowledged?.(timestampUnixNanos),
    };
  }

  #rollupReported(outcome: RollupReport_Outcome): void {
    const { rollups } = this.#metrics;
    if (outcome === RollupReport_Outcome.OUTCOME_ACCEPTED) rollups.of({ outcome: 'accepted' }).add();
    if (outcome === RollupReport_Outcome.OUTCOME_HELD) rollups.of({ outcome: 'held' }).add();
    if (outcome === RollupReport_Outcome.OUTCOME_REFUSED) rollups.of({ outcome: 'refused' }).add();
  }

  #sessionEvent(event: SessionEvent): void {
    const metrics = this.#metrics;
    switch (event.kind) {
      case 'connected':
        this.#log('info', 'session-connected', { shardEpoch: event.shardEpoch, features: event.features });
        break;
      case 'disconnected':
        if (event.retryMs > 0) metrics.reconnects.add();
        this.#log(event.retryMs > 0 ? 'warn' : 'info', 'session-disconnected', { ...event });
        break;
      case 'rollup-sent': {
        const ms = event.listMs + event.buildMs + event.sendMs;
        metrics.rollupSeconds.observe(ms / 1000);
        metrics.rollupPhaseSeconds.of({ phase: 'list' }).observe(event.listMs / 1000);
        metrics.rollupPhaseSeconds.of({ phase: 'build' }).observe(event.buildMs / 1000);
        metrics.rollupPhaseSeconds.of({ phase: 'enqueue' }).observe(event.sendMs / 1000);
        metrics.rollups.of({ outcome: 'sent' }).add();
        metrics.rollupRows.set(event.rows);
        metrics.rollupBytes.set(event.bytes);
        this.#log('debug', 'rollup-sent', {
          rows: event.rows,
          bytes: event.bytes,
          ms: Math.round(ms * 1000) / 1000,
        });
        break;
      }
      case 'rollup-acked':
        metrics.rollups.of({ outcome: 'acknowledged' }).add();
        metrics.rollupAckSeconds.observe(event.ms / 1000);
        break;
      case 'problem':
        metrics.problems.add();
        this.#log('error', 'session-problem', { what: event.what, error: messageOf(event.error) });
    }
  }

  #scrape(): void {
    const metrics = this.#metrics;
    const { replies, bootstraps } = this.#session.waiting;
    metrics.isConnected.set(this.#session.isConnected ? 1 : 0);
    metrics.isLeader.set(this.isLeader ? 1 : 0);
    metrics.replies.set(replies);
    metrics.dispatchInFlight.set(bootstraps + this.#parts.pendingWrites);
    for (const { resource, state } of this.#parts.watches)
      metrics.watches.of({ resource }).set(state.isCurrent ? 1 : 0);
  }

  /** A standby is ready when it could take over; a leader when it also has its session. */
  #unready(): string | null {
    if (this.#isStopping) return 'The operator stops.';
    const missing = this.#parts.watches.find(({ state }) => !state.hasListed);
    if (missing !== undefined)
      return `Not listed yet: ${missing.resource}: ${missing.state.problem ?? 'in progress'}.`;
    if (this.#isLeading && !this.#session.isConnected) return 'No session with the shard.';
    return null;
  }
}
