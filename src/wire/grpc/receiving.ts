// What a gRPC server keeps of messages that have begun to arrive. grpc-js collects the pieces of a message until it is
// whole and has no bound but the size of one message, so that a few thousand streams with half a message each would
// fill any memory. Here every stream is read in front of grpc-js: a message is refused or skipped as soon as its length
// is announced, its pieces wait here until it is whole, and all of them together have a bound. Neighbours: server.ts
// puts this in front of a call, inflating.ts bounds what compressed messages become. The shard uses it for sessions
// (sessions/session-grpc.ts).

import type { Clock } from '../../runtime/clock.ts';

/** What becomes of a message: it is kept, its bytes are skipped, or nothing more is read from the stream. */
export type Verdict = 'keep' | 'skip' | 'stop';

/** Callbacks of a stream. */
export interface ReceivingEnd {
  /** A message of this length begins; compressed ones are announced with the length they are sent with. */
  announced(bytes: number): Verdict;
  /** A piece of a whole message, prefix included. Those of one message follow in one go and must not be kept. */
  forward(piece: Buffer): void;
  /** All incomplete messages together are too many bytes, and this stream has most of them. Nothing more is read. */
  overrun(heldBytes: number): void;
  /** A message has received no byte for `stallMs`. Nothing more is read. */
  stalled(heldBytes: number): void;
}

export interface ReceivingParts {
  readonly clock: Clock;
  /** Of all incomplete messages. */
  readonly maxBytes: number;
  /** Maximum time without a byte while a message is incomplete. */
  readonly stallMs: number;
}

/** A flag that says whether the message is compressed, and its length in four bytes. */
const PREFIX_BYTES = 5;

/** What a piece costs beside its bytes: a `Buffer`, its memory's own bookkeeping, a place in a list. */
const PIECE_COST_BYTES = 256;

/** Progress checks per `stallMs`. */
const CHECKS_PER_STALL = 12;

/** The incomplete messages of all streams. */
export class Receiving {
  readonly #parts: ReceivingParts;
  /** Streams in the middle of a message. */
  readonly #incomplete = new Set<IncomingMessages>();
  #heldBytes = 0;
  #cancelCheck: (() => void) | null = null;

  constructor(parts: ReceivingParts) {
    this.#parts = parts;
  }

  /** Of incomplete messages, with what their pieces cost. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  open(end: ReceivingEnd): IncomingMessages {
    return new IncomingMessages(end, (stream, changeBytes) => this.#changed(stream, changeBytes));
  }

  #changed(stream: IncomingMessages, changeBytes: number): void {
    this.#heldBytes += changeBytes;
    if (!stream.isIncomplete) {
      this.#incomplete.delete(stream);
      if (this.#incomplete.size > 0) return;
      this.#cancelCheck?.();
      this.#cancelCheck = null;
      return;
    }
    stream.progressMs = this.#parts.clock.now();
    this.#incomplete.add(stream);
    this.#checkLater();
    while (this.#heldBytes > this.#parts.maxBytes) this.#largest().fail('overrun');
  }

  /** A scan: it runs only when a stream is about to be ended. */
  #largest(): IncomingMessages {
    let largest: IncomingMessages | null = null;
    for (const stream of this.#incomplete)
      if (largest === null || stream.heldBytes > largest.heldBytes) largest = stream;
    // Bytes are held by incomplete messages alone.
    return largest!;
  }

  #checkLater(): void {
    const { clock, stallMs } = this.#parts;
    this.#cancelCheck ??= clock.after(stallMs / CHECKS_PER_STALL, () => {
      this.#cancelCheck = null;
      const latestMs = clock.now() - stallMs;
      for (const stream of this.#incomplete) {
        if (stream.isPaused) stream.progressMs = clock.now();
        else if (stream.progressMs <= latestMs) stream.fail('stalled');
      }
      if (this.#incomplete.size > 0) this.#checkLater();
    });
  }
}

/** The messages of one stream, taken from its chunks. */
export class IncomingMessages {
  readonly #end: ReceivingEnd;
  readonly #onChange: (stream: IncomingMessages, changeBytes: number) => void;
  readonly #prefix = Buffer.allocUnsafeSlow(PREFIX_BYTES);
  #prefixBytes = 0;
  /** Bytes of the present message that are still to come. */
  #remaining = 0;
  #isSkipping = false;
  #isStopped = false;
  #pieces: Buffer[] = [];
  #heldBytes = 0;
  /** The last value passed to `onChange`. */
  #reportedBytes = 0;
  /** When the last byte of an incomplete message came. */
  progressMs = 0;
  /** The receiver itself does not read on: a message that stays incomplete meanwhile does not stall. */
  isPaused = false;

  constructor(end: ReceivingEnd, onChange: (stream: IncomingMessages, changeBytes: number) => void) {
    this.#end = end;
    this.#onChange = onChange;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  get isIncomplete(): boolean {
    return !this.#isStopped && (this.#remaining > 0 || this.#prefixBytes > 0);
  }

  push(chunk: Buffer): void {
    const wasIncomplete = this.isIncomplete;
    let at = 0;
    while (at < chunk.length && !this.#isStopped)
      at = this.#remaining > 0 ? this.#pushContent(chunk, at) : this.#pushPrefix(chunk, at);
    if (this.isIncomplete || wasIncomplete) this.#report();
  }

  /** Stops reading and frees the held pieces. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#release();
    this.#report();
  }

  fail(why: 'overrun' | 'stalled'): void {
    const heldBytes = this.#heldBytes;
    this.stop();
    this.#end[why](heldBytes);
  }

  #pushPrefix(chunk: Buffer, from: number): number {
    const at = Math.min(chunk.length, from + PREFIX_BYTES - this.#prefixBytes);
    chunk.copy(this.#prefix, this.#prefixBytes, from, at);
    this.#prefixBytes += at - from;
    if (this.#prefixBytes < PREFIX_BYTES) return at;
    const bytes = this.#prefix.readUInt32BE(1);
    const verdict = this.#end.announced(bytes);
    if (verdict === 'stop') this.stop();
    if (this.#isStopped) return at;
    this.#prefixBytes = 0;
    this.#remaining = bytes;
    this.#isSkipping = verdict === 'skip';
    if (!this.#isSkipping) this.#heldBytes = PIECE_COST_BYTES;
    if (bytes === 0) this.#complete();
    return at;
  }

  #pushContent(chunk: Buffer, from: number): number {
    const at = Math.min(chunk.length, from + this.#remaining);
    this.#remaining -= at - from;
    if (!this.#isSkipping) {
      const piece = chunk.subarray(from, at);
      this.#hold(this.#remaining === 0 ? piece : ownPiece(piece));
    }
    if (this.#remaining === 0) this.#complete();
    return at;
  }

  #hold(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#heldBytes += piece.length + PIECE_COST_BYTES;
  }

  #complete(): void {
    const pieces = this.#pieces;
    this.#release();
    if (this.#isSkipping) return;
    this.#end.forward(this.#prefix);
    for (const piece of pieces) this.#end.forward(piece);
  }

  #release(): void {
    this.#pieces = [];
    this.#heldBytes = 0;
  }

  #report(): void {
    const changeBytes = this.#heldBytes - this.#reportedBytes;
    this.#reportedBytes = this.#heldBytes;
    this.#onChange(this, changeBytes);
  }
}

/**
 * A piece that waits must not keep more memory than is counted for it: chunks are views into what was read from the
 * socket, which may hold a single byte of this message beside many of others.
 */
function ownPiece(piece: Buffer): Buffer {
  if (piece.length * 2 >= piece.buffer.byteLength) return piece;
  const own = Buffer.allocUnsafeSlow(piece.length);
  piece.copy(own);
  return own;
}
