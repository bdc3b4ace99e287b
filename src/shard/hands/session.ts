// One connection of an operator, from its first frame to its end. The states are `greeting` (a hello is due), `open` and
// `ended`; nothing leads back. What concerns the cluster and not the connection is the host's: see hands.ts.
//
// A frame that finds the outbox full ends the session, whatever it is: questions and instructions must not be lost, and
// a lost node state or hint would stay wrong until its next change. The operator connects again and is told everything.

import { BigFleetError, type Clock, type ErrorCode, printable } from '../../model/index.ts';
import type {
  BootstrapBlobResponse,
  ReclaimAck,
  RollupReport,
} from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import {
  denied,
  type OperatorFrame,
  RpcError,
  readOperatorFrame,
  status,
  WireFormatError,
} from '../../wire/index.ts';
import type { HandsCounters } from './counters.ts';
import { HELLO_TIMEOUT_MS, MAX_CLUSTER_ID, MAX_FRAME_BYTES, STALL_TIMEOUT_MS } from './limits.ts';
import type { HandsLog } from './log.ts';
import { ackFrame, type Outgoing } from './messages.ts';
import { Outbox } from './outbox.ts';
import type { Identify, SessionLink, SessionPort, SessionStatus } from './port.ts';

export interface SessionHost {
  /** Makes this the session of its cluster, or says why not. Called once, before the hello is acknowledged. */
  admit(session: Session): SessionStatus | null;
  /** The hello has been acknowledged. */
  opened(session: Session): void;
  /** Called once, however it came about; `wasOpen` if its hello had been accepted. */
  ended(session: Session, wasOpen: boolean): void;
  rollup(session: Session, bytes: Uint8Array): void;
  bootstrapAnswered(session: Session, answer: BootstrapBlobResponse): void;
  reclaimAcked(session: Session, ack: ReclaimAck): void;
}

export interface SessionParts {
  readonly port: SessionPort;
  readonly identify: Identify;
  readonly host: SessionHost;
  readonly clock: Clock;
  readonly log: HandsLog;
  readonly counters: HandsCounters;
  readonly shardEpoch: bigint;
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

  /** Frames that wait for the reader. */
  get waiting(): number {
    return this.#outbox.length;
  }

  receive(bytes: Uint8Array): void {
    if (this.#state === 'ended') return;
    const frame = this.#read(bytes);
    if (frame === null) return;
    if (this.#state === 'greeting') this.#greet(frame);
    else this.#handle(frame);
  }

  /** Sends a frame now or as soon as the other end takes it; on a session that is not open, never. */
  send({ key, frame }: Outgoing): void {
    if (this.#state !== 'open') return;
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

  /** Takes back a frame that has not been sent yet. */
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
    const fields = { cluster: printable(this.#cluster), session: this.number, why };
    this.#parts.log('info', wasOpen ? 'session-closed' : 'session-refused', fields);
    this.#parts.host.ended(this, wasOpen);
  }

  #watchReader(): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#parts.clock.after(STALL_TIMEOUT_MS, () => {
      // What waited may have been withdrawn.
      if (this.waiting === 0) return;
      this.#parts.counters.sessionsStalled++;
      const detail = `Nothing was read for ${STALL_TIMEOUT_MS / 1000} s while ${this.waiting} frames wait.`;
      this.end(statusFor(status.RESOURCE_EXHAUSTED, 'BF_SESSION_SLOW', detail));
    });
  }

  #read(bytes: Uint8Array): OperatorFrame | null {
    const { counters } = this.#parts;
    if (bytes.length > MAX_FRAME_BYTES) {
      counters.framesOversized++;
      const detail = `The frame has ${bytes.length} bytes, the limit is ${MAX_FRAME_BYTES}.`;
      this.end(statusFor(status.RESOURCE_EXHAUSTED, 'BF_FRAME_SIZE', detail));
      return null;
    }
    try {
      return readOperatorFrame(bytes);
    } catch (error) {
      if (!(error instanceof WireFormatError)) throw error;
      counters.framesMalformed++;
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
    this.#acknowledge('hello');
    const version = frame.kind === 'hello' ? printable(frame.value.protocolVersion.slice(0, 40)) : '';
    this.#parts.log('info', 'session-opened', {
      cluster: printable(this.#cluster),
      session: this.number,
      version,
    });
    this.#parts.host.opened(this);
  }

  #refusalOf(frame: OperatorFrame): SessionStatus | null {
    const { counters, host } = this.#parts;
    const problem = helloProblem(frame);
    if (problem !== null || frame.kind !== 'hello') {
      counters.sessionsRefused++;
      return statusFor(status.INVALID_ARGUMENT, 'BF_SESSION_HELLO', problem ?? '');
    }
    const { clusterId } = frame.value;
    const stranger = this.#strangerAs(clusterId);
    if (stranger !== null) {
      counters.identityRejected++;
      return stranger;
    }
    this.#cluster = clusterId;
    const refusal = host.admit(this);
    if (refusal !== null) counters.sessionsRefused++;
    return refusal;
  }

  /** Why the caller may not speak for a cluster; null if it may. */
  #strangerAs(cluster: string): SessionStatus | null {
    try {
      const caller = this.#parts.identify();
      if (caller === null || (caller.kind === 'cluster' && caller.id === cluster)) return null;
      const name = caller.kind === 'cluster' || caller.kind === 'shard' ? ` "${printable(caller.id)}"` : '';
      throw denied(`The caller is ${caller.kind}${name}, the hello is of cluster "${printable(cluster)}".`);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      return { code: error.code, details: error.message };
    }
  }

  #handle(frame: OperatorFrame): void {
    const { host, counters, log } = this.#parts;
    switch (frame.kind) {
      case 'hello':
        this.#greetAgain(frame.value.clusterId);
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
      case 'unknown':
        counters.framesUnknown++;
        // Once is enough for a newer operator that sends something with every roll-up.
        if (!this.#hasSeenUnknown)
          log('warn', 'frame-unknown', { cluster: printable(this.#cluster), session: this.number });
        this.#hasSeenUnknown = true;
    }
  }

  #greetAgain(cluster: string): void {
    if (cluster === this.#cluster) {
      this.#acknowledge('hello');
      return;
    }
    const detail = `A second hello names "${printable(cluster)}", the session is of "${printable(this.#cluster)}".`;
    this.end(statusFor(status.INVALID_ARGUMENT, 'BF_CLUSTER_MISMATCH', detail));
  }

  /** Says that a roll-up has been handled. */
  acknowledgeRollup(): void {
    this.#acknowledge('rollup');
  }

  reportRollup(_report: RollupReport): void {}

  #acknowledge(echo: 'hello' | 'rollup'): void {
    this.send(ackFrame(echo, this.#parts.shardEpoch));
  }
}

function helloProblem(frame: OperatorFrame): string | null {
  if (frame.kind !== 'hello')
    return `The first frame is ${frame.kind === 'unknown' ? 'of an unknown kind' : `a ${frame.kind}`}.`;
  const { length } = frame.value.clusterId;
  if (length === 0) return 'The hello names no cluster.';
  return length <= MAX_CLUSTER_ID
    ? null
    : `The cluster id has ${length} characters, the limit is ${MAX_CLUSTER_ID}.`;
}

export function statusFor(code: SessionStatus['code'], error: ErrorCode, detail: string): SessionStatus {
  return { code, details: new BigFleetError(error, detail).message };
}

/** The same, for what may go well later. */
export function statusForLater(
  code: SessionStatus['code'],
  error: ErrorCode,
  detail: string,
  retryAfterMs: number,
): SessionStatus {
  const wait = `Try again in ${Math.ceil(retryAfterMs / 1000)} s.`;
  return { ...statusFor(code, error, `${detail} ${wait}`), retryAfterMs };
}
