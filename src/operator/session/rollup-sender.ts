// When roll-ups are sent: at once after the hello, at every interval, and soon after a request. At most one is in flight.
// A roll-up is built at the moment it can be sent, so that what is sent is always the latest state and no stale one
// waits anywhere. Used by shard-session.ts.

import type { MonotonicClock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { SessionLimits } from './limits.ts';

/** A roll-up that is ready to be sent. */
export interface OutgoingRollup {
  /** Encoded `ClusterCapacityNeeds`. */
  readonly bytes: Uint8Array;
  /** Differs from that of every earlier one, so that an acknowledgement can be told apart. */
  readonly timestampUnixNanos: bigint;
  readonly rows: number;
  /** How much of the time to build it was for reading what it is made from. */
  readonly listMs?: number;
}

type RollupLimits = Pick<SessionLimits, 'rollupMs' | 'rollupSpacingMs' | 'rollupAckMs'>;

export interface RollupSenderParts {
  readonly clock: MonotonicClock;
  readonly random: Random;
  readonly limits: RollupLimits;
  /** The demand of the cluster now; null while it is not known completely. */
  readonly build: (timestampUnixNanos: bigint) => OutgoingRollup | null;
  /** Whether the connection accepts a frame now. */
  readonly canSend: () => boolean;
  readonly send: (rollup: OutgoingRollup) => void;
  readonly acknowledged: (timestampUnixNanos: bigint, ms: number) => void;
}

const NANOS_PER_MS = 1_000_000n;

export class RollupSender {
  readonly #parts: RollupSenderParts;
  #isOpen = false;
  #isDue = false;
  /** When the last one was built. All times are monotonic: a clock that is set back must not delay roll-ups. */
  #lastMs = Number.NEGATIVE_INFINITY;
  #inFlight: { readonly timestampUnixNanos: bigint; readonly sentMs: number } | null = null;
  #nextAtMs = 0;
  #cancelNext = () => {};
  #cancelAck = () => {};

  constructor(parts: RollupSenderParts) {
    this.#parts = parts;
  }

  /** A connection is open. The first roll-up is due at once. */
  open(): void {
    this.#isOpen = true;
    this.#isDue = true;
    this.pump();
  }

  /** The connection is lost: the roll-up in flight may never arrive. */
  close(): void {
    this.#isOpen = false;
    this.#isDue = false;
    this.#inFlight = null;
    this.#cancelNext();
    this.#cancelAck();
  }

  /** Makes a roll-up due soon. Requests in quick succession are served by one roll-up. */
  request(): void {
    if (!this.#isOpen || this.#isDue) return;
    const { clock, limits } = this.#parts;
    const atMs = Math.max(clock.monotonic(), this.#lastMs + limits.rollupSpacingMs);
    if (atMs < this.#nextAtMs) this.#schedule(atMs);
  }

  /** An acknowledgement; 0 if the shard does not say which roll-up it is for. */
  acknowledge(timestampUnixNanos: bigint): void {
    const sent = this.#inFlight;
    if (sent === null || (timestampUnixNanos !== 0n && timestampUnixNanos !== sent.timestampUnixNanos))
      return;
    this.#settled();
    this.#parts.acknowledged(sent.timestampUnixNanos, this.#parts.clock.monotonic() - sent.sentMs);
    this.pump();
  }

  /** The shard has refused a roll-up, which it does not acknowledge. */
  refused(timestampUnixNanos: bigint): void {
    if (this.#inFlight?.timestampUnixNanos !== timestampUnixNanos) return;
    this.#settled();
    this.pump();
  }

  /** Sends the roll-up that is due, if the connection accepts it and none is in flight. */
  pump(): void {
    const { clock, random, limits, build, canSend, send } = this.#parts;
    if (!this.#isOpen || !this.#isDue || this.#inFlight !== null || !canSend()) return;
    this.#isDue = false;
    this.#lastMs = clock.monotonic();
    // Scheduled first: a builder that fails is called again.
    const spread = Math.floor(limits.rollupMs / 4);
    this.#schedule(this.#lastMs + limits.rollupMs - random.below(spread + 1));
    const rollup = build(BigInt(Math.floor(clock.now())) * NANOS_PER_MS);
    if (rollup === null) return;
    this.#inFlight = { timestampUnixNanos: rollup.timestampUnixNanos, sentMs: this.#lastMs };
    this.#cancelAck = clock.after(limits.rollupAckMs, () => {
      this.#settled();
      this.pump();
    });
    send(rollup);
  }

  #settled(): void {
    this.#cancelAck();
    this.#inFlight = null;
  }

  #schedule(atMs: number): void {
    this.#cancelNext();
    this.#nextAtMs = atMs;
    const { clock } = this.#parts;
    this.#cancelNext = clock.after(atMs - clock.monotonic(), () => {
      this.#isDue = true;
      this.pump();
    });
  }
}
