// Slots for streams that have not sent a hello. Their sender is not known yet, so they are bounded by what is known:
// the connection and, under TLS, the certificate. When all slots are taken, a new stream of a connection that has
// fewer than another gets one of the other's. So the connection with most streams loses first, and an operator, which
// sends its hello at once, has freed its slot long before its stream is the oldest. Used by sessions.ts.

import type { SessionLimits } from './limits.ts';
import type { Origin } from './port.ts';

type GreetingLimits = Pick<SessionLimits, 'greeting' | 'greetingPerPeer'>;

/** A connection. */
interface Peer<T> {
  /** Oldest first. */
  readonly streams: Set<T>;
}

export class GreetingPlaces<T> {
  readonly #limits: GreetingLimits;
  readonly #origins = new Map<T, Origin>();
  readonly #peers = new Map<object, Peer<T>>();
  /** By the number of their streams; those that have had this number longest come first. */
  readonly #byCount: Set<Peer<T>>[] = [];
  readonly #byIdentity = new Map<string, number>();

  constructor(limits: GreetingLimits) {
    this.#limits = limits;
  }

  /** Streams that occupy a slot. */
  get size(): number {
    return this.#origins.size;
  }

  /** Why there is no slot for a stream; null if there is one, or one can be freed. Changes nothing. */
  refusal({ connection, identity }: Origin): string | null {
    const { greeting, greetingPerPeer } = this.#limits;
    const own = this.#peers.get(connection)?.streams.size ?? 0;
    if (own >= greetingPerPeer) return `${own} streams of this connection have not said hello yet.`;
    const named = identity === null ? 0 : (this.#byIdentity.get(identity) ?? 0);
    if (named >= greetingPerPeer) return `${named} streams of this certificate have not said hello yet.`;
    if (this.size < greeting || own < this.#most) return null;
    return `${this.size} streams have not said hello yet.`;
  }

  /** Assigns a slot to a stream, after `refusal` returned null. Returns the stream that is evicted for it, if any. */
  enter(stream: T, origin: Origin): T | null {
    const evicted = this.size < this.#limits.greeting ? null : this.#longest();
    if (evicted !== null) this.leave(evicted);
    this.#origins.set(stream, origin);
    this.#resize(origin.connection, (streams) => streams.add(stream));
    this.#count(origin.identity, 1);
    return evicted;
  }

  /** The stream has sent its hello, or has ended. */
  leave(stream: T): void {
    const origin = this.#origins.get(stream);
    if (origin === undefined) return;
    this.#origins.delete(stream);
    this.#resize(origin.connection, (streams) => streams.delete(stream));
    this.#count(origin.identity, -1);
  }

  /** The most streams that a connection has. */
  get #most(): number {
    return this.#byCount.findLastIndex((peers) => peers.size > 0);
  }

  /** The oldest stream of the connection that has most. */
  #longest(): T | null {
    const [peer] = this.#byCount[this.#most] ?? [];
    const [stream = null] = peer?.streams ?? [];
    return stream;
  }

  #resize(connection: object, change: (streams: Set<T>) => void): void {
    const peer = this.#peers.get(connection) ?? { streams: new Set<T>() };
    this.#byCount[peer.streams.size]?.delete(peer);
    change(peer.streams);
    const { size } = peer.streams;
    if (size === 0) {
      this.#peers.delete(connection);
      return;
    }
    this.#peers.set(connection, peer);
    while (this.#byCount.length <= size) this.#byCount.push(new Set());
    this.#byCount[size]!.add(peer);
  }

  #count(identity: string | null, change: number): void {
    if (identity === null) return;
    const count = (this.#byIdentity.get(identity) ?? 0) + change;
    if (count > 0) this.#byIdentity.set(identity, count);
    else this.#byIdentity.delete(identity);
  }
}
