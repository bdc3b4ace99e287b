// Requests for bootstrap blobs, which only a cluster's operator can render. A cluster without a session gets no
// requests; one that does not answer in time or answers with an error is muted for a back-off. The machine is not
// blocked. Part of actuation.ts; action-executor.ts requests a blob before each Configure.

import { excerpt, type NeedKey, type Requirement } from '../../model/index.ts';
import { type BackoffLimits, backoffMs } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { ActuationEvent, Effect, JoiningMachine } from '../events.ts';

/** Bytes kept of an operator's error message. */
const MAX_ERROR_BYTES = 1000;

export interface BlobQuestion {
  readonly cluster: string;
  readonly machine: string;
  readonly need: NeedKey;
  readonly requirements: readonly Requirement[];
  readonly joining: JoiningMachine;
}

export type BlobAnswer =
  | { readonly kind: 'blob'; readonly blob: Uint8Array; readonly validUntilMs: number }
  | { readonly kind: 'no-session' | 'timeout' | 'error'; readonly message: string };

/** A cluster in back-off: no bootstrap requests are sent to it. */
export interface MutedCluster {
  readonly cluster: string;
  readonly why: string;
  readonly untilMs: number;
}

export interface BootstrapRequestsParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: (effect: Effect) => void;
  readonly timeoutMs: number;
  readonly backoff: BackoffLimits;
  readonly onAnswer: (seconds: number) => void;
}

interface Asked {
  readonly cluster: string;
  readonly atMs: number;
  readonly cancel: () => void;
  readonly answered: (answer: BlobAnswer) => void;
}

export class BootstrapRequests {
  readonly #parts: BootstrapRequestsParts;
  /** By cluster. */
  readonly #sessions = new Map<string, number>();
  readonly #asked = new Map<string, Asked>();
  /** Clusters whose last request failed; a blob or a new session deletes the entry. */
  readonly #failed = new Map<string, MutedCluster & { readonly failures: number }>();

  constructor(parts: BootstrapRequestsParts) {
    this.#parts = parts;
  }

  hasSession(cluster: string): boolean {
    return this.#sessions.has(cluster);
  }

  /** Whether the cluster has a session and is not muted. */
  canBind(cluster: string): boolean {
    return this.hasSession(cluster) && !this.#isMuted(cluster);
  }

  get muted(): readonly MutedCluster[] {
    return [...this.#failed.values()].filter(({ cluster }) => this.#isMuted(cluster));
  }

  sessionOpened(cluster: string, session: number): void {
    this.#sessions.set(cluster, session);
    // A new session may be a restarted or repaired operator, so the back-off ends.
    this.#failed.delete(cluster);
  }

  sessionClosed(cluster: string, session: number): void {
    if (this.#sessions.get(cluster) === session) this.#sessions.delete(cluster);
  }

  /**
   * Asks the cluster's operator. The request survives the end of the session: it is sent again if a new session opens
   * before the timeout. The returned function withdraws the request and returns whether it was still open.
   */
  ask(question: BlobQuestion, answered: (answer: BlobAnswer) => void): () => boolean {
    const { clock, emit, timeoutMs } = this.#parts;
    const { cluster } = question;
    if (!this.hasSession(cluster)) {
      answered({ kind: 'no-session', message: 'The cluster has no session.' });
      return () => false;
    }
    const request = this.#newRequest();
    const cancel = clock.after(timeoutMs, () => {
      const kind = this.hasSession(cluster) ? 'timeout' : 'no-session';
      emit({ kind: 'withdraw-bootstrap', cluster, request });
      this.#end(request, { kind, message: `There was no blob within ${timeoutMs / 1000} s.` });
    });
    this.#asked.set(request, { cluster, atMs: clock.now(), cancel, answered });
    emit({ kind: 'ask-bootstrap', request, ...question });
    return () => {
      cancel();
      const wasOpen = this.#asked.delete(request);
      if (wasOpen) emit({ kind: 'withdraw-bootstrap', cluster, request });
      return wasOpen;
    };
  }

  answered(event: Extract<ActuationEvent, { readonly kind: 'bootstrap-answered' }>): void {
    const asked = this.#asked.get(event.request);
    if (asked === undefined) return;
    const { clock, onAnswer } = this.#parts;
    onAnswer((clock.now() - asked.atMs) / 1000);
    if (event.blob === null || event.error !== '') {
      const message =
        event.error === '' ? 'The operator sent no blob.' : excerpt(event.error, MAX_ERROR_BYTES);
      this.#end(event.request, { kind: 'error', message });
      return;
    }
    this.#failed.delete(asked.cluster);
    const validUntilMs =
      event.ttlSeconds > 0 ? clock.now() + event.ttlSeconds * 1000 : Number.POSITIVE_INFINITY;
    this.#end(event.request, { kind: 'blob', blob: event.blob, validUntilMs });
  }

  #end(request: string, answer: BlobAnswer): void {
    const { cluster, cancel, answered } = this.#asked.get(request)!;
    this.#asked.delete(request);
    cancel();
    if (answer.kind !== 'blob') this.#mute(cluster, answer.message);
    answered(answer);
  }

  #mute(cluster: string, why: string): void {
    // Concurrent requests to one cluster that fail together count as one failure.
    if (this.#isMuted(cluster)) return;
    const { clock, random, backoff } = this.#parts;
    const failures = (this.#failed.get(cluster)?.failures ?? 0) + 1;
    const untilMs = clock.now() + backoffMs(random, backoff, failures);
    this.#failed.set(cluster, { cluster, why, untilMs, failures });
  }

  #isMuted(cluster: string): boolean {
    return (this.#failed.get(cluster)?.untilMs ?? 0) > this.#parts.clock.now();
  }

  #newRequest(): string {
    const { random } = this.#parts;
    const half = (): string => random.next32().toString(16).padStart(8, '0');
    return half() + half();
  }
}
