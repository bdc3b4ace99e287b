// The simulated operator of a cluster. It speaks to a shard as a real one does: hello, the whole demand at once, then
// every few seconds and on every change. It answers bootstrap requests, evicts pods from nodes that the shard reclaims,
// and reconnects when the connection is lost. A state machine on a clock and over a link, so that it runs against a
// real process and on virtual time alike. Used by demo.ts, testing/world and test/e2e.

import type { Need } from '../../model/index.ts';
import { type BackoffLimits, backoffMs } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { CapacityNeed } from '../../wire/gen/bigfleet/v1alpha1/capacity.ts';
import {
  type Acknowledgement,
  type AvailableCapacityUpdate,
  type BootstrapRequest,
  OperatorMessage,
  type ReclaimInstruction,
  type RollupReport,
  type ShardMessage,
} from '../../wire/gen/bigfleet/v1alpha1/shard.ts';
import { needToWire } from '../../wire/index.ts';
import { type DrainHabit, type DrainNote, Drains } from './drains.ts';
import type { Dialer, Link } from './link.ts';
import { Nodes, type SimNode } from './nodes.ts';

/** Behaviour on bootstrap requests. */
export type BootstrapHabit =
  | { readonly kind: 'answer' }
  /** Replies with an error. */
  | { readonly kind: 'refuse'; readonly error: string }
  /** Never replies. */
  | { readonly kind: 'ignore' };

export interface OperatorTimes {
  /** Upper bound on the interval between roll-ups. */
  readonly rollupMs: number;
  /** Range of the time that a blob takes. */
  readonly blobMs: readonly [least: number, most: number];
  /** Before another attempt to connect. */
  readonly reconnect: BackoffLimits;
  /** Timeout of the hello; a connection without an acknowledgement by then is closed. */
  readonly helloMs: number;
  /** Time after a hello by which the shard has reported every machine that is ours. */
  readonly resyncMs: number;
}

const OPERATOR_TIMES: OperatorTimes = {
  rollupMs: 10_000,
  blobMs: [20, 200],
  reconnect: { baseMs: 500, maxMs: 30_000 },
  helloMs: 10_000,
  resyncMs: 60_000,
};

export interface OperatorParts {
  readonly cluster: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly dialer: Dialer;
  readonly times?: Partial<OperatorTimes>;
  readonly onEvent?: (event: OperatorEvent) => void;
  /** Announces and reports drains; absent: it does not. */
  readonly drains?: DrainHabit | undefined;
  /** By machine: drains of an earlier process of this operator. */
  readonly drainNotes?: Map<string, DrainNote> | undefined;
}

export type OperatorEvent =
  | { readonly kind: 'connected'; readonly shardEpoch: bigint }
  | { readonly kind: 'disconnected'; readonly why: string }
  /** `ms` since the oldest unacknowledged roll-up was sent. */
  | { readonly kind: 'rollup-acked'; readonly ms: number }
  /** What the shard did with the roll-up, and with single rows of it. */
  | { readonly kind: 'rollup-reported'; readonly report: RollupReport }
  | { readonly kind: 'reclaim'; readonly instruction: ReclaimInstruction; readonly started: number };

export interface OperatorCounts {
  sessions: number;
  rollupsSent: number;
  rollupsAcked: number;
  blobsAnswered: number;
  reclaims: number;
  /** Verdicts on its needs that it received. */
  verdicts: number;
}

type Payload = NonNullable<OperatorMessage['payload']>;

const PROTOCOL_VERSION = 'v1alpha1';
/** Protocol extensions that it supports. */
const FEATURES = ['rollup-report'];
/** Those of an operator that reports drains. */
const DRAIN_FEATURES = [...FEATURES, 'drain-report', 'withdraw', 'verdicts'];
const BLOB_TTL_SECONDS = 3600n;

export class SimOperator {
  readonly cluster: string;
  readonly counts: OperatorCounts = {
    sessions: 0,
    rollupsSent: 0,
    rollupsAcked: 0,
    blobsAnswered: 0,
    reclaims: 0,
    verdicts: 0,
  };
  readonly #parts: OperatorParts;
  readonly #times: OperatorTimes;
  readonly #nodes: Nodes;
  readonly #drains: Drains | null;
  readonly #hints = new Map<string, AvailableCapacityUpdate>();
  #bootstrap: BootstrapHabit = { kind: 'answer' };
  #demand: readonly Need[] = [];
  /** The demand in wire form. */
  #rows: CapacityNeed[] = [];
  #link: Link | null = null;
  #isRunning = false;
  #isConnected = false;
  #failures = 0;
  /** When the oldest unacknowledged roll-up was sent. */
  #unackedSinceMs: number | null = null;
  /** Timers of this connection, and of the backoff before the next one. */
  readonly #timers = new Set<() => void>();
  #cancelRollup = () => {};

  constructor(parts: OperatorParts) {
    this.cluster = parts.cluster;
    this.#parts = parts;
    this.#times = { ...OPERATOR_TIMES, ...parts.times };
    this.#drains =
      parts.drains === undefined
        ? null
        : new Drains(
            parts.drains,
            parts.random,
            (value) => this.#send({ $case: 'nodeReport', value }),
            parts.drainNotes,
          );
    this.#nodes = new Nodes(parts.clock, parts.random, this.#drains);
  }

  /** Whether its hello has been acknowledged. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  get demand(): readonly Need[] {
    return this.#demand;
  }

  /** By machine: all that are joining, ours or leaving. */
  get nodes(): ReadonlyMap<string, SimNode> {
    return this.#nodes.all;
  }

  /** Further capacity available, by profile; as reported on the current connection. */
  get hints(): ReadonlyMap<string, AvailableCapacityUpdate> {
    return this.#hints;
  }

  start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#failures = 0;
    this.#dial();
  }

  /** Disconnects for good. Its nodes keep running, as they do in a cluster whose operator is down. */
  stop(): void {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    this.#hangUp('the operator stops');
    this.#nodes.stop();
  }

  /** Simulates a lost connection; the operator reconnects. */
  drop(): void {
    if (this.#link !== null) this.#lost('the connection was cut');
  }

  /** Replaces the whole demand of the cluster and sends it at once. */
  setDemand(needs: readonly Need[]): void {
    const stranger = needs.find(({ cluster }) => cluster !== this.cluster);
    if (stranger !== undefined) throw new Error(`a Need of ${stranger.cluster} is none of ${this.cluster}`);
    this.#demand = needs;
    this.#rows = needs.map(needToWire);
    if (this.#link !== null) this.#rollUp();
  }

  /** Takes effect with the next request. */
  setBootstrap(habit: BootstrapHabit): void {
    this.#bootstrap = habit;
  }

  #dial(): void {
    const link: Link = this.#parts.dialer.open({
      receive: (message) => {
        if (this.#link === link) this.#receive(message);
      },
      closed: (why) => {
        if (this.#link === link) this.#lost(why);
      },
    });
    this.#link = link;
    this.#after(this.#times.helloMs, () => {
      if (!this.#isConnected) this.#lost('the hello was not acknowledged');
    });
    this.#send({
      $case: 'hello',
      value: {
        clusterId: this.cluster,
        protocolVersion: PROTOCOL_VERSION,
        features: this.#drains === null ? FEATURES : DRAIN_FEATURES,
      },
    });
    this.#rollUp();
  }

  #lost(why: string): void {
    this.#hangUp(why);
    if (!this.#isRunning) return;
    // With jitter: thousands of operators that lost the same shard must not reconnect at the same moment.
    this.#after(backoffMs(this.#parts.random, this.#times.reconnect, ++this.#failures), () => this.#dial());
  }

  #hangUp(why: string): void {
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    const link = this.#link;
    this.#link = null;
    this.#isConnected = false;
    this.#unackedSinceMs = null;
    this.#hints.clear();
    if (link === null) return;
    link.close();
    this.#parts.onEvent?.({ kind: 'disconnected', why });
  }

  #receive({ payload }: ShardMessage): void {
    switch (payload?.$case) {
      case 'ack':
        this.#acknowledged(payload.value);
        break;
      case 'bootstrapRequest':
        this.#answerLater(payload.value);
        break;
      case 'reclaimInstruction':
        this.#reclaim(payload.value);
        break;
      case 'nodeStateUpdate':
        this.#nodes.apply(payload.value);
        break;
      case 'availableCapacity':
        this.#hints.set(payload.value.supersedesKey, payload.value);
        break;
      case 'rollupReport':
        this.#parts.onEvent?.({ kind: 'rollup-reported', report: payload.value });
        break;
      case 'reclaimWithdrawal':
        this.#nodes.stay(this.#drains?.withdrawn(payload.value) ?? []);
        break;
      case 'needVerdicts':
        this.counts.verdicts += payload.value.verdicts.length;
        break;
      // A message kind of a newer protocol version.
      case undefined:
    }
  }

  #acknowledged({ echo, shardEpoch }: Acknowledgement): void {
    const { onEvent, clock } = this.#parts;
    if (echo === 'hello' && !this.#isConnected) {
      this.#isConnected = true;
      this.#failures = 0;
      this.counts.sessions++;
      this.#nodes.expectAll();
      this.#after(this.#times.resyncMs, () => this.#nodes.dropUnreported());
      this.#drains?.repeat();
      onEvent?.({ kind: 'connected', shardEpoch });
    }
    if (echo === 'rollup') {
      this.counts.rollupsAcked++;
      const since = this.#unackedSinceMs;
      this.#unackedSinceMs = null;
      if (since !== null) onEvent?.({ kind: 'rollup-acked', ms: clock.now() - since });
    }
  }

  /** Sends the whole demand now, and again after the interval. */
  #rollUp(): void {
    this.#cancelRollup();
    this.#cancelRollup = this.#after(this.#times.rollupMs, () => this.#rollUp());
    // What is queued is already stale; the next roll-up replaces it anyway.
    if (this.#link?.isBlocked === true) return;
    const nowMs = this.#parts.clock.now();
    const timestampUnixNanos = BigInt(Math.floor(nowMs * 1000)) * 1000n;
    this.#send({
      $case: 'rollup',
      value: { clusterId: this.cluster, timestampUnixNanos, needs: this.#rows, nodeFacts: undefined },
    });
    this.counts.rollupsSent++;
    this.#unackedSinceMs ??= nowMs;
  }

  /** The shard repeats its request on a new connection, so a reply is sent only on the connection the request came by. */
  #answerLater({ requestId, clusterId }: BootstrapRequest): void {
    const habit = this.#bootstrap;
    if (habit.kind === 'ignore') return;
    const stranger = clusterId === this.cluster ? '' : `this is ${this.cluster}, not ${clusterId}`;
    const error = habit.kind === 'refuse' ? habit.error : stranger;
    this.#after(this.#parts.random.between(...this.#times.blobMs), () => {
      const userData = error === '' ? Buffer.from(blobFor(this.cluster, requestId)) : Buffer.alloc(0);
      const ttlSeconds = error === '' ? BLOB_TTL_SECONDS : 0n;
      this.#send({ $case: 'bootstrapResponse', value: { requestId, userData, ttlSeconds, error } });
      this.counts.blobsAnswered++;
    });
  }

  #reclaim(instruction: ReclaimInstruction): void {
    const started = this.#nodes.reclaim(instruction);
    const { instructionId } = instruction;
    this.#send({ $case: 'reclaimAck', value: { instructionId, nodesStarted: started } });
    this.counts.reclaims++;
    this.#parts.onEvent?.({ kind: 'reclaim', instruction, started });
  }

  #send(payload: Payload): void {
    this.#link?.send(OperatorMessage.encode({ payload }).finish());
  }

  /** A timer that is cancelled with the connection. */
  #after(ms: number, run: () => void): () => void {
    const stop = this.#parts.clock.after(ms, () => {
      this.#timers.delete(cancel);
      run();
    });
    const cancel = () => {
      this.#timers.delete(cancel);
      stop();
    };
    this.#timers.add(cancel);
    return cancel;
  }
}

function blobFor(cluster: string, requestId: string): string {
  return `#cloud-config\n# joins ${cluster}\nbigfleet-token: ${requestId}\n`;
}
