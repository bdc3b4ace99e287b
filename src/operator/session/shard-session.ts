// The session of the operator with its shard: dials, says hello, reports demand, receives instructions, and reconnects
// when the connection is lost. A state machine on a clock and over a link, so that tests run it on virtual time.
//
//   stopped -> dialing -> greeting (hello sent) -> open (hello acknowledged) -> waiting (backoff) -> dialing ...
//
// Neighbours: rollup-sender.ts, reply-queue.ts, bootstrap-calls.ts, grpc-dialer.ts. Made by process/operator.ts.

import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { backoffMs } from '../../runtime/backoff.ts';
import type { MonotonicClock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import {
  type Acknowledgement,
  type NodeReport,
  OperatorMessage,
  type ReclaimAck,
  RollupReport_Outcome,
  type ShardMessage,
} from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { FEATURES, type Feature } from '../../wire/index.ts';
import { BootstrapCalls } from './bootstrap-calls.ts';
import type { SessionHandlers, ShardLink } from './contract.ts';
import { SESSION_LIMITS, type SessionLimits } from './limits.ts';
import type { Dialer, Link } from './link.ts';
import { type Reply, ReplyQueue } from './reply-queue.ts';
import { type OutgoingRollup, RollupSender } from './rollup-sender.ts';

export interface ShardSessionParts {
  readonly cluster: string;
  readonly clock: MonotonicClock;
  readonly random: Random;
  readonly dialer: Dialer;
  readonly handlers: SessionHandlers;
  /** The demand of the cluster now; null while it is not known completely. */
  readonly buildRollup: (timestampUnixNanos: bigint) => OutgoingRollup | null;
  readonly limits?: Partial<SessionLimits>;
  readonly onEvent?: (event: SessionEvent) => void;
}

/** What happens in a session, for log and metrics. */
export type SessionEvent =
  | { readonly kind: 'connected'; readonly shardEpoch: bigint; readonly features: readonly string[] }
  | {
      readonly kind: 'disconnected';
      readonly why: string;
      readonly retryMs: number;
      readonly failures: number;
    }
  | {
      readonly kind: 'rollup-sent';
      readonly rows: number;
      readonly bytes: number;
      readonly listMs: number;
      /** Without `listMs`. */
      readonly buildMs: number;
      readonly sendMs: number;
    }
  | { readonly kind: 'rollup-acked'; readonly ms: number }
  /** A message that could not be built, sent or handled; the session goes on. */
  | { readonly kind: 'problem'; readonly what: string; readonly error: unknown };

export type SessionState = 'stopped' | 'greeting' | 'open' | 'waiting';

const PROTOCOL_VERSION = 'v1alpha1';
const NO_FEATURES: ReadonlySet<Feature> = new Set();

export class ShardSession implements ShardLink {
  readonly #parts: ShardSessionParts;
  readonly #limits: SessionLimits;
  readonly #replies: ReplyQueue;
  readonly #bootstraps: BootstrapCalls;
  readonly #rollups: RollupSender;
  #state: SessionState = 'stopped';
  #link: Link | null = null;
  #features: ReadonlySet<Feature> = NO_FEATURES;
  #failures = 0;
  #openedMs = 0;
  #lastReceivedMs = 0;
  #isPaused = false;
  /** How long the last roll-up took to build. */
  #builtMs = 0;
  /** A second hello that checks a silent shard is unanswered. */
  #isProbing = false;
  /** Timers of this connection, and of the backoff before the next one. */
  readonly #timers = new Set<() => void>();

  constructor(parts: ShardSessionParts) {
    const { cluster, clock, random, handlers } = parts;
    this.#parts = parts;
    this.#limits = { ...SESSION_LIMITS, ...parts.limits };
    this.#replies = new ReplyQueue(this.#limits);
    this.#bootstraps = new BootstrapCalls({
      cluster,
      limit: this.#limits.bootstraps,
      answer: (request) => handlers.bootstrapRequest(request),
      answered: (value) => this.#reply({ $case: 'bootstrapResponse', value }),
      failed: ({ requestId }, error) => {
        this.#problem(`bootstrap request ${requestId}`, error);
        this.#applyBackpressure();
      },
    });
    this.#rollups = new RollupSender({
      clock,
      random,
      limits: this.#limits,
      build: (timestampUnixNanos) => this.#build(timestampUnixNanos),
      canSend: () => this.#link?.isBlocked === false,
      send: (rollup) => this.#sendRollup(rollup),
      acknowledged: (timestampUnixNanos, ms) => {
        this.#event({ kind: 'rollup-acked', ms });
        this.#handle('rollup acknowledgement', () => handlers.rollupAcknowledged?.(timestampUnixNanos));
      },
    });
  }

  get state(): SessionState {
    return this.#state;
  }

  get features(): ReadonlySet<Feature> {
    return this.#features;
  }

  /** Whether the shard has acknowledged the hello. */
  get isConnected(): boolean {
    return this.#state === 'open';
  }

  /** Replies and bootstrap requests that wait. */
  get waiting(): { readonly replies: number; readonly replyBytes: number; readonly bootstraps: number } {
    const { size: replies, bytes: replyBytes } = this.#replies;
    return { replies, replyBytes, bootstraps: this.#bootstraps.waiting + this.#bootstraps.running };
  }

  start(): void {
    if (this.#state !== 'stopped') return;
    this.#failures = 0;
    this.#dial();
  }

  /**
   * Ends the session. Replies that wait are sent if the connection accepts them now. Others are discarded: a replica that
   * leads later must not send what another one may have settled since.
   */
  stop(): void {
    if (this.#state === 'stopped') return;
    this.#pump();
    this.#hangUp('the operator stops', 0);
    this.#replies.clear();
    this.#state = 'stopped';
  }

  sendReclaimAck(value: ReclaimAck): void {
    this.#reply({ $case: 'reclaimAck', value });
  }

  sendNodeReport(value: NodeReport): void {
    if (this.#state === 'open' && !this.#features.has('drain-report')) return;
    this.#reply({ $case: 'nodeReport', value });
  }

  requestRollup(): void {
    this.#rollups.request();
  }

  #dial(): void {
    this.#state = 'greeting';
    const link: Link = this.#parts.dialer.open(
      {
        receive: (message) => {
          if (this.#link === link) this.#receive(message);
        },
        drained: () => {
          if (this.#link === link) this.#pump();
        },
        closed: (why) => {
          if (this.#link === link) this.#lost(why);
        },
      },
      this.#failures,
    );
    this.#link = link;
    this.#isPaused = false;
    this.#greet('the hello was not acknowledged');
  }

  /** Sends a hello; without an acknowledgement in time the connection counts as lost. */
  #greet(otherwise: string): void {
    this.#isProbing = true;
    this.#after(this.#limits.helloMs, () => {
      if (this.#isProbing) this.#lost(otherwise);
    });
    const { cluster: clusterId } = this.#parts;
    const value = { clusterId, protocolVersion: PROTOCOL_VERSION, features: [...FEATURES] };
    this.#link?.send(OperatorMessage.encode({ payload: { $case: 'hello', value } }).finish());
  }

  #lost(why: string): void {
    const { clock, random } = this.#parts;
    const wasHealthy = this.#state === 'open' && clock.monotonic() - this.#openedMs >= this.#limits.healthyMs;
    this.#failures = wasHealthy ? 1 : this.#failures + 1;
    // With jitter: thousands of operators that lost the same shard must not reconnect at the same moment.
    const retryMs = backoffMs(random, this.#limits.reconnect, this.#failures);
    this.#hangUp(why, retryMs);
    this.#state = 'waiting';
    this.#after(retryMs, () => this.#dial());
  }

  #hangUp(why: string, retryMs: number): void {
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    this.#rollups.close();
    const link = this.#link;
    const wasOpen = this.#state === 'open';
    this.#link = null;
    this.#isProbing = false;
    this.#features = NO_FEATURES;
    link?.close();
    if (link !== null) this.#event({ kind: 'disconnected', why, retryMs, failures: this.#failures });
    if (!wasOpen) return;
    // The handler may ask for the state: the session is no longer open.
    this.#state = 'waiting';
    this.#handle('disconnect', () => this.#parts.handlers.disconnected(why));
  }

  #receive({ payload }: ShardMessage): void {
    this.#lastReceivedMs = this.#parts.clock.monotonic();
    const { handlers } = this.#parts;
    if (payload?.$case === 'ack') {
      this.#acknowledged(payload.value);
      return;
    }
    // A shard acknowledges the hello before everything else; what comes earlier is not part of a session.
    if (this.#state !== 'open') return;
    switch (payload?.$case) {
      case 'bootstrapRequest':
        this.#bootstraps.add(payload.value);
        this.#applyBackpressure();
        break;
      case 'reclaimInstruction':
        this.#handle('reclaim instruction', () => handlers.reclaimInstruction(payload.value));
        break;
      case 'reclaimWithdrawal':
        this.#handle('withdrawal', () => handlers.reclaimWithdrawal(payload.value));
        break;
      case 'nodeStateUpdate':
        this.#handle('node state', () => handlers.nodeStateUpdate(payload.value));
        break;
      case 'availableCapacity':
        this.#handle('available capacity', () => handlers.availableCapacity(payload.value));
        break;
      case 'needVerdicts':
        this.#handle('verdicts', () => handlers.needVerdicts(payload.value));
        break;
      case 'rollupReport':
        this.#handle('roll-up report', () => handlers.rollupReport(payload.value));
        if (payload.value.outcome === RollupReport_Outcome.OUTCOME_REFUSED)
          this.#rollups.refused(payload.value.timestampUnixNanos);
        break;
      // A message of a newer protocol version.
      case undefined:
    }
  }

  #acknowledged({ echo, shardEpoch, features, rollupTimestampUnixNanos }: Acknowledgement): void {
    if (echo === 'rollup') this.#rollups.acknowledge(rollupTimestampUnixNanos);
    if (echo !== 'hello') return;
    this.#isProbing = false;
    if (this.#state === 'open') return;
    this.#state = 'open';
    this.#openedMs = this.#parts.clock.monotonic();
    this.#features = new Set(FEATURES.filter((feature) => features.includes(feature)));
    if (!this.#features.has('drain-report')) this.#replies.discard('nodeReport');
    this.#event({ kind: 'connected', shardEpoch, features: [...this.#features] });
    const { handlers } = this.#parts;
    this.#handle('connect', () => handlers.connected(this.#features));
    if (!this.isConnected) return;
    this.#after(this.#limits.resyncMs, () => this.#handle('resync', () => handlers.resynced?.()));
    this.#watchSilence();
    this.#pump();
    this.#rollups.open();
  }

  /** HTTP/2 keepalive finds a dead connection; a hello finds a shard that is behind a proxy and no longer answers. */
  #watchSilence(): void {
    const quietMs = this.#parts.clock.monotonic() - this.#lastReceivedMs;
    const leftMs = this.#limits.silenceMs - quietMs;
    // A session that does not read cannot expect an answer.
    if (leftMs <= 0 && !this.#isProbing && !this.#isPaused) this.#greet('the shard no longer answers');
    this.#after(leftMs > 0 ? leftMs : this.#limits.silenceMs, () => this.#watchSilence());
  }

  #reply(reply: Reply): void {
    this.#replies.add(reply);
    this.#pump();
  }

  /** Sends what waits: replies first, since a roll-up is repeated anyway. */
  #pump(): void {
    if (this.#state === 'open' && this.#link !== null) {
      while (!this.#link.isBlocked) {
        const frame = this.#replies.take();
        if (frame === null) break;
        if (frame.length <= this.#limits.frameBytes) this.#link.send(frame);
        else this.#problem('reply', new Error(`${frame.length} bytes are more than a frame may have`));
      }
      this.#rollups.pump();
    }
    this.#applyBackpressure();
  }

  /** Stops reading while more replies or bootstrap requests wait than the bounds allow. */
  #applyBackpressure(): void {
    const { waitingReplies } = this.#limits;
    const isFull = this.#replies.isFull || this.#bootstraps.waiting >= waitingReplies;
    const hasRoom = this.#replies.hasRoom && this.#bootstraps.waiting <= waitingReplies / 2;
    if (this.#link === null || (this.#isPaused ? !hasRoom : !isFull)) return;
    this.#isPaused = !this.#isPaused;
    this.#link.setPaused(this.#isPaused);
  }

  #build(timestampUnixNanos: bigint): OutgoingRollup | null {
    const startedMs = this.#parts.clock.monotonic();
    try {
      const rollup = this.#parts.buildRollup(timestampUnixNanos);
      this.#builtMs = this.#parts.clock.monotonic() - startedMs;
      return rollup;
    } catch (error) {
      this.#problem('roll-up', error);
      return null;
    }
  }

  #sendRollup({ bytes: body, rows, listMs = 0 }: OutgoingRollup): void {
    const { clock } = this.#parts;
    const startedMs = clock.monotonic();
    const frame = rollupFrame(body);
    const bytes = frame.length;
    if (bytes > this.#limits.frameBytes) {
      this.#problem(
        'roll-up',
        new Error(`${bytes} bytes are more than the ${this.#limits.frameBytes} of a frame`),
      );
      return;
    }
    this.#link?.send(frame);
    const sendMs = clock.monotonic() - startedMs;
    this.#event({ kind: 'rollup-sent', rows, bytes, listMs, buildMs: this.#builtMs - listMs, sendMs });
  }

  /** A handler that fails must not end the session. */
  #handle(what: string, run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#problem(what, error);
    }
  }

  #problem(what: string, error: unknown): void {
    this.#event({ kind: 'problem', what, error });
  }

  #event(event: SessionEvent): void {
    this.#parts.onEvent?.(event);
  }

  /** A timer that is cancelled with the connection. */
  #after(ms: number, run: () => void): void {
    const stop = this.#parts.clock.after(ms, () => {
      this.#timers.delete(cancel);
      run();
    });
    const cancel = () => {
      this.#timers.delete(cancel);
      stop();
    };
    this.#timers.add(cancel);
  }
}

/** Tag of `OperatorMessage.rollup`: field 2, length-delimited. */
const ROLLUP_TAG = (2 << 3) | 2;

/** An `OperatorMessage` with a roll-up that is encoded already. */
function rollupFrame(body: Uint8Array): Uint8Array {
  const head = new BinaryWriter().uint32(ROLLUP_TAG).uint32(body.length).finish();
  return Buffer.concat([head, body]);
}
