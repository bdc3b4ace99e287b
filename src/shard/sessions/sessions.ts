// The shard's side of operator sessions. Operators connect through ports; their reports are posted to the controller
// as events, and the controller sends to clusters through the methods here. Makes no decisions. Made by
// process/shard.ts, on the main thread.

import { excerpt, type Problem } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import {
  type AvailableCapacityUpdate,
  type BootstrapBlobResponse,
  type NeedVerdicts,
  type NodeReport,
  NodeReport_Kind,
  type NodeStateUpdate,
  type ReclaimAck,
} from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { status } from '../../wire/index.ts';
import type { ReportView } from '../demand/cluster-demand.ts';
import { type DemandLoad, Rollups } from '../demand/rollups.ts';
import type { ControllerEvent, Effect, NodeReported, SessionFeatures, SessionRef } from '../events.ts';
import type { DemandStore } from '../storage/demand-store.ts';
import { SessionCounters } from './counters.ts';
import { GreetingPlaces } from './greeting.ts';
import {
  FULL_RETRY_MS,
  GREETING_RETRY_MS,
  MAX_BLOB_BYTES,
  type SessionLimits,
  sessionLimits,
} from './limits.ts';
import type { SessionLog } from './log.ts';
import { gatedLog } from './log-gate.ts';
import {
  type Ask,
  askFrame,
  askKey,
  availableCapacityFrame,
  nodeStateFrame,
  type Outgoing,
  verdictsFrame,
  withdrawalFrame,
} from './messages.ts';
import { ReportRate } from './node-report-rate.ts';
import { OutstandingRequests } from './outstanding-requests.ts';
import type { Identify, Origin, SessionLink, SessionPort, SessionStatus } from './port.ts';
import { Reconnects } from './reconnects.ts';
import { Session, type SessionHost } from './session.ts';
import { frameSizeText, statusFor, statusForLater } from './session-status.ts';
import { UnsentWithdrawals } from './unsent-withdrawals.ts';

/** The receiver of events. It may call back at any time, also from within `post`. */
export interface Controller {
  post(event: ControllerEvent): void;
}

export interface SessionsParts {
  readonly clock: Clock;
  readonly controller: Controller;
  readonly store: DemandStore;
  /** Grows with every start of the shard. */
  readonly shardEpoch: bigint;
  readonly log?: SessionLog;
  readonly limits?: Partial<SessionLimits>;
  /** The store has failed. All sessions have been ended, and new ones are refused. */
  readonly onFailure?: (error: unknown) => void;
}

export interface SessionView extends SessionRef {
  /** Number of frames queued until the operator reads. */
  readonly waiting: number;
}

type EffectOf<K extends Effect['kind']> = Extract<Effect, { readonly kind: K }>;

const REQUEST_ID = /^[0-9a-f]{16}$/;

export class Sessions {
  readonly counters = new SessionCounters();
  readonly clock: Clock;
  readonly #parts: SessionsParts;
  readonly #log: SessionLog;
  /** The effective limits, defaults included. */
  readonly limits: SessionLimits;
  readonly #requests = new OutstandingRequests();
  readonly #reconnects = new Reconnects();
  readonly #withdrawals = new UnsentWithdrawals();
  readonly #reports = new ReportRate();
  /** Every connection that has not ended. */
  readonly #connections = new Set<Session>();
  /** Connections that have not sent a hello. */
  readonly #greeting: GreetingPlaces<Session>;
  /** By cluster: the session whose hello was accepted. */
  readonly #sessions = new Map<string, Session>();
  readonly #host: SessionHost;
  #rollups!: Rollups;
  #lastNumber = 0;
  /** Verdicts add to each other, so none replaces another that waits. */
  #verdictFrames = 0;
  #isStopped = false;

  private constructor(parts: SessionsParts) {
    this.#parts = parts;
    this.clock = parts.clock;
    this.#log = gatedLog(parts.log ?? (() => {}), parts.clock);
    this.limits = sessionLimits(parts.limits);
    this.#greeting = new GreetingPlaces(this.limits);
    this.#host = {
      admit: (session) => this.#admit(session),
      opened: (session) => this.#opened(session),
      ended: (session, wasOpen) => this.#ended(session, wasOpen),
      rollup: (session, bytes) => this.#rollups.receive(session, bytes),
      oversized: (session, bytes) => this.#oversized(session, bytes),
      bootstrapAnswered: (session, answer) => this.#bootstrapAnswered(session, answer),
      reclaimAcked: (session, ack) => this.#reclaimAcked(session, ack),
      nodeReported: (session, report) => this.#nodeReported(session, report),
      greetedAgain: (session, before) => this.#greetedAgain(session, before),
    };
  }

  static async open(parts: SessionsParts): Promise<Sessions> {
    const sessions = new Sessions(parts);
    sessions.#rollups = await Rollups.open({
      clock: parts.clock,
      store: parts.store,
      post: (event) => parts.controller.post(event),
      log: sessions.#log,
      limits: sessions.limits,
      counters: sessions.counters,
      onFailure: (error) => sessions.#fail(error),
    });
    return sessions;
  }

  /**
   * A new stream. The port notifies the returned link of its events. `origin` bounds the cost of streams of one peer;
   * without it, each stream counts as a separate connection.
   */
  connect(
    port: SessionPort,
    identify: Identify,
    origin: Origin = { connection: port, identity: null },
  ): SessionLink {
    const number = ++this.#lastNumber;
    const refusal = this.#refusal(origin);
    if (refusal !== null) {
      this.counters.sessionsRefused++;
      this.#log('info', 'session-refused', { cluster: '', session: number, why: refusal.details });
      port.end(refusal);
      return REFUSED;
    }
    const session = new Session({
      port,
      identify,
      host: this.#host,
      clock: this.#parts.clock,
      log: this.#log,
      counters: this.counters,
      shardEpoch: this.#parts.shardEpoch,
      frameBytes: this.limits.frameBytes,
      number,
    });
    this.#connections.add(session);
    this.#makeRoom(this.#greeting.enter(session, origin));
    return session;
  }

  get sessions(): readonly SessionView[] {
    return [...this.#sessions.values()].map(({ cluster, number, waiting }) => ({
      cluster,
      session: number,
      waiting,
    }));
  }

  /** `cluster`: the one that the machine is bound to, or was bound to until this update. */
  sendNodeState(cluster: string, update: NodeStateUpdate): void {
    this.#send(cluster, nodeStateFrame(update));
  }

  sendAvailableCapacity(cluster: string, update: AvailableCapacityUpdate): void {
    this.#send(cluster, availableCapacityFrame(update));
  }

  sendVerdicts(cluster: string, verdicts: NeedVerdicts): void {
    this.#send(cluster, verdictsFrame(verdicts, ++this.#verdictFrames));
  }

  /** Sends the request once per session of the cluster, until it is answered or withdrawn. */
  askBootstrap(effect: EffectOf<'ask-bootstrap'>): void {
    const { cluster, request: id, requirements, joining } = effect;
    if (!REQUEST_ID.test(id)) throw new Error(`"${excerpt(id)}" is not 16 hexadecimal digits`);
    this.#ask({ kind: 'bootstrap', cluster, id, requirements, joining });
  }

  /** Sends the instruction once per session, with the remaining grace period, until it is acknowledged or withdrawn. */
  instructReclaim(effect: EffectOf<'instruct-reclaim'>): void {
    const { cluster, instruction: id, machine, graceSeconds, preemptorPriority, drainKind } = effect;
    const deadlineMs = this.#parts.clock.now() + graceSeconds * 1000;
    this.#ask({ kind: 'reclaim', cluster, id, machine, deadlineMs, preemptorPriority, drainKind });
  }

  /** Must be called for every request that the controller has given up. */
  withdrawBootstrap({ cluster, request: id }: EffectOf<'withdraw-bootstrap'>): void {
    this.#withdraw(cluster, { kind: 'bootstrap', id });
  }

  /** Must be called for every instruction whose machine has left, or will not leave. */
  withdrawReclaim(effect: EffectOf<'withdraw-reclaim'>): void {
    const { cluster, instruction: id, machine, staysBecause } = effect;
    this.#withdraw(cluster, { kind: 'reclaim', id });
    if (staysBecause === null) return;
    const withdrawal = { instructionId: id, nodes: [machine], reason: staysBecause };
    const session = this.#sessions.get(cluster);
    if (session !== undefined) session.send(withdrawalFrame(withdrawal));
    else this.#withdrawals.add(cluster, withdrawal);
  }

  /** Every cluster that has reported to this process, or whose demand was restored from the store. */
  get reports(): readonly ReportView[] {
    return this.#rollups.views();
  }

  /** Size of the accepted demand and of the queue of roll-ups. */
  get load(): DemandLoad {
    return this.#rollups.load;
  }

  /** Accepts a quarantined roll-up by a person's order. Resolves to false if there is none, or it did not become the demand. */
  acceptQuarantined(cluster: string): Promise<boolean> {
    return this.#rollups.acceptQuarantined(cluster);
  }

  /**
   * Refuses a quarantined roll-up by a person's order: repetitions no longer confirm it. Resolves to false if there is
   * none, or the refusal could not be written.
   */
  refuseQuarantined(cluster: string): Promise<boolean> {
    return this.#rollups.refuseQuarantined(cluster);
  }

  /** Posts the accepted demand of a cluster as a whole. */
  repostDemand(cluster: string): Promise<void> {
    return this.#rollups.repost(cluster);
  }

  /** Ends all sessions and refuses new ones; operators reconnect to the next process of the shard. */
  close(): void {
    this.#isStopped = true;
    this.#rollups.close();
    for (const session of [...this.#connections]) session.end(stopped());
  }

  #fail(error: unknown): void {
    this.close();
    this.#parts.onFailure?.(error);
  }

  #refusal(origin: Origin): SessionStatus | null {
    if (this.#isStopped) return stopped();
    const why = this.#greeting.refusal(origin);
    if (why === null) return null;
    this.counters.greetingsRefused++;
    return full(why, GREETING_RETRY_MS);
  }

  #makeRoom(evicted: Session | null): void {
    if (evicted === null) return;
    this.counters.greetingsEvicted++;
    this.counters.sessionsRefused++;
    const detail = `${this.limits.greeting} streams have not said hello yet; this one gives way to another connection.`;
    evicted.end(full(detail, GREETING_RETRY_MS));
  }

  #admit(session: Session): SessionStatus | null {
    const { cluster } = session;
    const old = this.#sessions.get(cluster);
    if (old === undefined && this.#sessions.size >= this.limits.sessions)
      return full(`${this.limits.sessions} clusters have a session.`);
    if (!this.#rollups.admits(cluster)) return full('No room for the demand of another cluster.');
    const waitMs = this.#reconnects.waitMs(cluster, this.#parts.clock.now());
    if (waitMs > 0) {
      this.counters.sessionsThrottled++;
      const detail = 'The cluster has opened too many sessions in a short while.';
      return statusForLater(status.RESOURCE_EXHAUSTED, 'BF_SESSION_RATE', detail, waitMs);
    }
    this.#sessions.set(cluster, session);
    if (old === undefined) return null;
    this.counters.sessionsReplaced++;
    const detail = `Session ${old.number} gives way to session ${session.number}.`;
    old.end(statusFor(status.ABORTED, 'BF_SESSION_REPLACED', detail));
    return null;
  }

  #opened(session: Session): void {
    const { cluster, number } = session;
    this.#greeting.leave(session);
    const open = this.#requests.openOf(cluster, this.#parts.clock.now());
    this.#parts.controller.post({
      kind: 'session-opened',
      cluster,
      session: number,
      features: featuresOf(session),
    });
    for (const withdrawal of this.#withdrawals.take(cluster)) session.send(withdrawalFrame(withdrawal));
    for (const ask of open) {
      // The controller may have withdrawn it from within `post`.
      if (!this.#requests.isOpen(ask)) continue;
      this.counters.asksReissued++;
      session.send(askFrame(ask, this.#parts.clock.now()));
    }
  }

  #ended(session: Session, wasOpen: boolean): void {
    const { cluster, number } = session;
    this.#connections.delete(session);
    this.#greeting.leave(session);
    if (this.#sessions.get(cluster) === session) this.#sessions.delete(cluster);
    if (!wasOpen) return;
    this.counters.sessionsClosed++;
    this.#parts.controller.post({ kind: 'session-closed', cluster, session: number });
  }

  #oversized(session: Session, bytes: number): void {
    const message = frameSizeText(bytes, this.limits.frameBytes);
    const problem: Problem = { code: 'BF_FRAME_SIZE', path: '', message };
    this.#rollups.refuseUnread(session, problem);
  }

  #send(cluster: string, outgoing: Outgoing): void {
    const session = this.#sessions.get(cluster);
    if (session === undefined) this.counters.framesUndelivered++;
    else session.send(outgoing);
  }

  #ask(ask: Ask): void {
    const forgotten = this.#requests.add(ask);
    if (forgotten !== null) {
      this.counters.asksForgotten++;
      this.#log('error', 'asks-forgotten', { cluster: excerpt(forgotten.cluster), kind: forgotten.kind });
    }
    this.#sessions.get(ask.cluster)?.send(askFrame(ask, this.#parts.clock.now()));
  }

  #withdraw(cluster: string, ask: Pick<Ask, 'kind' | 'id'>): void {
    this.#requests.settle(cluster, ask);
    this.#sessions.get(cluster)?.withdraw(askKey(ask));
  }

  #bootstrapAnswered({ cluster }: Session, answer: BootstrapBlobResponse): void {
    const { requestId: request, userData, ttlSeconds } = answer;
    if (!this.#isAnswer(cluster, { kind: 'bootstrap', id: request })) return;
    const error = answerProblem(answer);
    // A copy: a view would transfer the whole frame to the controller's thread.
    const blob = error === '' ? new Uint8Array(userData) : null;
    const event = {
      kind: 'bootstrap-answered',
      request,
      blob,
      ttlSeconds: Number(ttlSeconds),
      error,
    } as const;
    this.#parts.controller.post(event);
  }

  #reclaimAcked({ cluster }: Session, { instructionId }: ReclaimAck): void {
    if (!this.#isAnswer(cluster, { kind: 'reclaim', id: instructionId })) return;
    this.#parts.controller.post({ kind: 'reclaim-acked', instruction: instructionId });
  }

  /** A hello without features the controller knows changes nothing for it; one with them asks for all verdicts again. */
  #greetedAgain(session: Session, before: ReadonlySet<string>): void {
    const { cluster, number } = session;
    const features = featuresOf(session);
    if (!features.verdicts && features.drainReport === before.has('drain-report') && !before.has('verdicts'))
      return;
    this.#parts.controller.post({ kind: 'session-features', cluster, session: number, features });
  }

  #nodeReported(session: Session, report: NodeReport): void {
    const what = REPORTS.get(report.kind);
    const isMeant = what !== undefined && report.machineId !== '';
    if (!isMeant || !this.#reports.admits(session, this.#parts.clock.now())) {
      this.counters.nodeReportsDropped++;
      const fields = { cluster: excerpt(session.cluster), session: session.number };
      this.#log('warn', 'node-report-dropped', { ...fields, why: isMeant ? 'rate' : 'unknown kind' });
      return;
    }
    this.counters.nodeReports++;
    const {
      machineId: machine,
      instructionId: instruction,
      nodeName,
      providerId,
      reason,
      blockedBy,
    } = report;
    this.#parts.controller.post({
      ...{ kind: 'node-reported', cluster: session.cluster, machine, what, instruction },
      ...{ nodeName, providerId, reason, blockedBy },
    });
  }

  #isAnswer(cluster: string, ask: Pick<Ask, 'kind' | 'id'>): boolean {
    const isExpected = this.#requests.settle(cluster, ask);
    if (!isExpected) this.counters.answersUnknown++;
    return isExpected;
  }
}

const REPORTS: ReadonlyMap<NodeReport_Kind, NodeReported['what']> = new Map([
  [NodeReport_Kind.KIND_JOINED, 'joined'],
  [NodeReport_Kind.KIND_JOIN_TIMEOUT, 'join-timeout'],
  [NodeReport_Kind.KIND_DRAINED, 'drained'],
  [NodeReport_Kind.KIND_DRAIN_BLOCKED, 'drain-blocked'],
]);

function featuresOf({ features }: Session): SessionFeatures {
  return { drainReport: features.has('drain-report'), verdicts: features.has('verdicts') };
}

/** Why an answer has no usable blob; '' if it has one. */
function answerProblem({ error, userData: { length } }: BootstrapBlobResponse): string {
  if (error !== '') return excerpt(error);
  return length <= MAX_BLOB_BYTES ? '' : `The blob has ${length} bytes, the limit is ${MAX_BLOB_BYTES}.`;
}

/** The link of a stream that was refused. */
const REFUSED: SessionLink = {
  announced: () => 'stop',
  receive: () => {},
  failed: () => {},
  drained: () => {},
  closed: () => {},
};

function full(detail: string, retryAfterMs: number = FULL_RETRY_MS): SessionStatus {
  return statusForLater(status.RESOURCE_EXHAUSTED, 'BF_SESSION_LIMIT', detail, retryAfterMs);
}

function stopped(): SessionStatus {
  return statusFor(status.UNAVAILABLE, 'BF_SESSION_STOPPED', 'The shard takes no sessions now.');
}
