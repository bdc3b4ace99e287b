// One connection of an operator, from its first frame to its end. The states are `greeting` (waits for the hello),
// `open` and `ended`, in this order only. State of the cluster, as opposed to the connection, is kept by the host: see
// sessions.ts. Made by sessions.ts.
//
// A frame that does not fit into the outbox ends the session, whatever its kind: requests and instructions must not be
// lost, and a lost node state or hint would stay stale until its next change. The operator reconnects and is resynced.

import { excerpt } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import type {
  BootstrapBlobResponse,
  Hello,
  NodeReport,
  ReclaimAck,
  RollupReport,
  ShardMessage,
} from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import {
  type OperatorFrame,
  readOperatorFrame,
  status,
  type Verdict,
  WireFormatError,
} from '../../wire/index.ts';
import type { SessionCounters } from './counters.ts';
import { helloProblem, identityProblem } from './hello.ts';
import { HELLO_TIMEOUT_MS, MAX_FIRST_FRAME_BYTES, STALL_TIMEOUT_MS, transportBytes } from './limits.ts';
import type { SessionLog } from './log.ts';
import { ackFrame, featureOf, type Outgoing, rollupReportFrame } from './messages.ts';
import { Outbox } from './outbox.ts';
import type { FrameFailure, Identify, SessionLink, SessionPort, SessionStatus } from './port.ts';
import { firstFrameTooLarge, frameFailed, frameTooLarge, statusFor } from './session-status.ts';

/** Limit for the version of a hello in the log. */
const MAX_VERSION_BYTES = 40;

export interface SessionHost {
  /** Makes this the session of its cluster, or returns why not. Called once, before the hello is acknowledged. */
  admit(session: Session): SessionStatus | null;
  /** The hello has been acknowledged. */
  opened(session: Session): void;
  /** Called once, for any reason; `wasOpen`: its hello had been accepted. */
  ended(session: Session, wasOpen: boolean): void;
  rollup(session: Session, bytes: Uint8Array): void;
  /** A frame was dropped because it is too large. Only roll-ups are that large. */
  oversized(session: Session, bytes: number): void;
  bootstrapAnswered(session: Session, answer: BootstrapBlobResponse): void;
  reclaimAcked(session: Session, ack: ReclaimAck): void;
  nodeReported(session: Session, report: NodeReport): void;
  /** The operator has repeated its hello; `before` are the features of the last one. */
  greetedAgain(session: Session, before: ReadonlySet<string>): void;
}

export interface SessionParts {
  readonly port: SessionPort;
  readonly identify: Identify;
  readonly host: SessionHost;
  readonly clock: Clock;
  readonly log: SessionLog;
  readonly counters: SessionCounters;
  readonly shardEpoch: bigint;
  /** Most bytes of one frame; setting `limits.frameBytes`. */
  readonly frameBytes: number;
  /** Never used twice. */
  readonly number: number;
}

export class Session implements SessionLink {
  readonly number: number;
  readonly #parts: SessionParts;
  readonly #outbox: Outbox;
  #state: 'greeting' | 'open' | 'ended' = 'greeting';
  #cluster = '';
  #cancelTimer: () => void;
  #hasSeenUnknown = false;
  #hasAnnounced = false;
  /** Size of a frame that was dropped before the preceding hello was read; 0 for none. */
  #droppedEarlyBytes = 0;
  #features: ReadonlySet<string> = new Set();
  /** Content of the last roll-up report; '' if none was sent since the hello. */
  #lastReport = '';

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.number = parts.number;
    this.#outbox = new Outbox(parts.port);
    this.#cancelTimer = parts.clock.after(HELLO_TIMEOUT_MS, () => {
      parts.counters.sessionsRefused++;
      const detail = `No hello within ${HELLO_TIMEOUT_MS / 1000} s.`;
      this.end(statusFor(status.DEADLINE_EXCEEDED, 'BF_SESSION_HELLO', detail));
    });
  }

  /** '' until the hello. */
  get cluster(): string {
    return this.#cluster;
  }

  /** Number of frames in the outbox. */
  get waiting(): number {
    return this.#outbox.length;
  }

  /** Protocol extensions that the operator announced in its last hello. */
  get features(): ReadonlySet<string> {
    return this.#features;
  }

  announced(bytes: number): Verdict {
    if (this.#state === 'ended') return 'stop';
    const isFirst = this.#state === 'greeting' && !this.#hasAnnounced;
    this.#hasAnnounced = true;
    const { frameBytes } = this.#parts;
    if (isFirst && bytes > MAX_FIRST_FRAME_BYTES) return this.#refuseOversized(firstFrameTooLarge(bytes));
    if (bytes > transportBytes(frameBytes)) return this.#refuseOversized(frameTooLarge(bytes, frameBytes));
    if (bytes <= frameBytes) return 'keep';
    this.#drop(bytes);
    return 'skip';
  }

  receive(bytes: Uint8Array): void {
    if (this.#state === 'ended') return;
    const isGreeting = this.#state === 'greeting';
    if (isGreeting && bytes.length > MAX_FIRST_FRAME_BYTES) {
      this.#refuseOversized(firstFrameTooLarge(bytes.length));
      return;
    }
    if (bytes.length > this.#parts.frameBytes) {
      this.#drop(bytes.length);
      return;
    }
    const frame = this.#read(bytes);
    if (frame === null) return;
    if (isGreeting) this.#greet(frame);
    else this.#handle(frame);
  }

  failed(failure: FrameFailure): void {
    if (this.#state === 'ended') return;
    const { counters, log } = this.#parts;
    counters[FAILURE_COUNTERS[failure.kind]]++;
    const cluster = excerpt(this.#cluster);
    log('warn', 'frame-failed', { cluster, session: this.number, why: failure.kind, bytes: failure.bytes });
    this.end(frameFailed(failure));
  }

  /** Sends a frame now, or queues it until the operator reads; drops it if the session is not open. */
  send({ key, frame }: Outgoing): void {
    if (this.#state !== 'open' || !this.#understands(frame)) return;
    const { counters } = this.#parts;
    const offered = this.#outbox.offer(key, frame);
    if (offered === 'sent') counters.framesSent++;
    if (offered === 'coalesced') counters.framesCoalesced++;
    if (offered === 'queued' && this.waiting === 1) this.#watchReader();
    if (offered !== 'full') return;
    counters.outboxOverflows++;
    const detail = `${this.waiting} frames wait and there is no room for another.`;
    this.end(statusFor(status.RESOURCE_EXHAUSTED, 'BF_SESSION_SLOW', detail));
  }

  /**
   * Sends the outcome of a roll-up if the operator announced the feature: once after each hello, and then only when it
   * differs from the last report.
   */
  reportRollup(report: RollupReport): void {
    const { frame, key } = rollupReportFrame(report);
    if (!this.#understands(frame)) return;
    const { outcome, total, problems } = report;
    const text = JSON.stringify([outcome, total, problems]);
    if (text === this.#lastReport) return;
    this.#lastReport = text;
    this.send({ frame, key });
  }

  /** Removes a frame that has not been sent yet. */
  withdraw(key: string): void {
    this.#outbox.withdraw(key);
  }

  drained(): void {
    if (this.#state !== 'open') return;
    this.#parts.counters.framesSent += this.#outbox.flush();
    if (this.waiting > 0) this.#watchReader();
    else this.#cancelTimer();
  }

  closed(): void {
    this.#finish('the operator has gone');
  }

  end(why: SessionStatus): void {
    if (this.#state === 'ended') return;
    this.#finish(why.details);
    this.#parts.port.end(why);
  }

  #finish(why: string): void {
    if (this.#state === 'ended') return;
    const wasOpen = this.#state === 'open';
    this.#state = 'ended';
    this.#cancelTimer();
    this.#outbox.clear();
    const fields = { cluster: excerpt(this.#cluster), session: this.number, why };
    this.#parts.log('info', wasOpen ? 'session-closed' : 'session-refused', fields);
    this.#parts.host.ended(this, wasOpen);
  }

  #watchReader(): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#parts.clock.after(STALL_TIMEOUT_MS, () => {
      // The queued frames may have been withdrawn.
      if (this.waiting === 0) return;
      this.#parts.counters.sessionsStalled++;
      const detail = `Nothing was read for ${STALL_TIMEOUT_MS / 1000} s while ${this.waiting} frames wait.`;
      this.end(statusFor(status.RESOURCE_EXHAUSTED, 'BF_SESSION_SLOW', detail));
    });
  }

  /** Drops a frame above `frameBytes` and within the transport's limit: the session stays, and the drop is reported. */
  #drop(bytes: number): void {
    if (this.#state === 'greeting') {
      this.#droppedEarlyBytes = bytes;
      return;
    }
    const { counters, log, host, frameBytes } = this.#parts;
    counters.framesOversized++;
    const fields = { cluster: excerpt(this.#cluster), session: this.number, bytes, limit: frameBytes };
    log('warn', 'frame-oversized', fields);
    host.oversized(this, bytes);
  }

  #refuseOversized(why: SessionStatus): 'stop' {
    this.#parts.counters.framesOversized++;
    if (this.#state === 'greeting') this.#parts.counters.sessionsRefused++;
    this.end(why);
    return 'stop';
  }

  #read(bytes: Uint8Array): OperatorFrame | null {
    try {
      return readOperatorFrame(bytes);
    } catch (error) {
      if (!(error instanceof WireFormatError)) throw error;
      this.#parts.counters.framesMalformed++;
      this.end({ code: status.INVALID_ARGUMENT, details: error.message });
      return null;
    }
  }

  #greet(frame: OperatorFrame): void {
    const refusal = this.#refusalOf(frame);
    if (refusal !== null) {
      this.end(refusal);
      return;
    }
    this.#cancelTimer();
    this.#state = 'open';
    this.#parts.counters.sessionsOpened++;
    const version = frame.kind === 'hello' ? excerpt(frame.value.protocolVersion, MAX_VERSION_BYTES) : '';
    if (frame.kind === 'hello') this.#features = new Set(frame.value.features);
    this.#acknowledge('hello');
    const cluster = excerpt(this.#cluster);
    this.#parts.log('info', 'session-opened', { cluster, session: this.number, version });
    this.#parts.host.opened(this);
    if (this.#droppedEarlyBytes > 0) this.#drop(this.#droppedEarlyBytes);
  }

  #refusalOf(frame: OperatorFrame): SessionStatus | null {
    const { counters, host } = this.#parts;
    const problem = helloProblem(frame);
    if (problem !== null || frame.kind !== 'hello') {
      counters.sessionsRefused++;
      return statusFor(status.INVALID_ARGUMENT, 'BF_SESSION_HELLO', problem ?? '');
    }
    const { clusterId } = frame.value;
    const stranger = identityProblem(this.#parts.identify, clusterId);
    if (stranger !== null) {
      counters.identityRejected++;
      return stranger;
    }
    this.#cluster = clusterId;
    const refusal = host.admit(this);
    if (refusal !== null) counters.sessionsRefused++;
    return refusal;
  }

  #handle(frame: OperatorFrame): void {
    const { host, counters, log } = this.#parts;
    switch (frame.kind) {
      case 'hello':
        this.#greetAgain(frame.value);
        break;
      case 'refusedHello':
        this.end(statusFor(status.INVALID_ARGUMENT, 'BF_SESSION_HELLO', frame.problem));
        break;
      case 'rollup':
        host.rollup(this, frame.bytes);
        break;
      case 'bootstrapResponse':
        host.bootstrapAnswered(this, frame.value);
        break;
      case 'reclaimAck':
        host.reclaimAcked(this, frame.value);
        break;
      case 'nodeReport':
        host.nodeReported(this, frame.value);
        break;
      case 'unknownAnswer':
        counters.answersUnknown++;
        break;
      case 'unknown':
        counters.framesUnknown++;
        // Logged once per session: a newer operator may send such a frame with every roll-up.
        if (!this.#hasSeenUnknown)
          log('warn', 'frame-unknown', { cluster: excerpt(this.#cluster), session: this.number });
        this.#hasSeenUnknown = true;
    }
  }

  #greetAgain({ clusterId: cluster, features }: Hello): void {
    if (cluster === this.#cluster) {
      const before = this.#features;
      this.#features = new Set(features);
      this.#lastReport = '';
      this.#outbox.withdrawUnless((frame) => this.#understands(frame));
      this.#acknowledge('hello');
      this.#parts.host.greetedAgain(this, before);
      return;
    }
    const detail = `A second hello names "${excerpt(cluster)}", the session is of "${excerpt(this.#cluster)}".`;
    this.end(statusFor(status.INVALID_ARGUMENT, 'BF_CLUSTER_MISMATCH', detail));
  }

  #understands(frame: ShardMessage): boolean {
    const feature = featureOf(frame);
    return feature === null || this.#features.has(feature);
  }

  pause(): void {
    if (this.#state === 'open') this.#parts.port.pause();
  }

  resume(): void {
    if (this.#state === 'open') this.#parts.port.resume();
  }

  /** Sends the ack of a roll-up that has been handled. */
  acknowledgeRollup(timestampUnixNanos: bigint): void {
    this.#acknowledge('rollup', timestampUnixNanos);
  }

  #acknowledge(echo: 'hello' | 'rollup', timestampUnixNanos = 0n): void {
    this.send(ackFrame(echo, this.#parts.shardEpoch, timestampUnixNanos));
  }
}

const FAILURE_COUNTERS = {
  overrun: 'framesOverrun',
  busy: 'framesOverrun',
  stalled: 'framesStalled',
  inflated: 'framesOversized',
  malformed: 'framesMalformed',
} as const satisfies Record<FrameFailure['kind'], keyof SessionCounters>;
