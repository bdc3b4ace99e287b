// Leader election by a Lease, so that of two replicas one acts and the other takes over. As client-go does it, clocks are
// never compared between replicas: a replica takes the Lease only after it has seen it unchanged for its whole duration by
// its own monotonic clock, which a correction of the system's time does not step. The leader gives up `renewMs` after its
// last renewal by the same clock, which is sooner than another may take over. Used by process/operator.ts.
//
//   candidate -> leader -> candidate (Lease lost) ...   stop: the leader releases the Lease

import type { MonotonicClock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { type KubeClient, KubeError } from '../kube/client.ts';
import { createLease, getLease, type Lease, type LeaseSpec, microTime, updateLease } from '../kube/writes.ts';

export interface ElectionTimes {
  /** How long others wait for a leader that no longer renews. */
  readonly leaseMs: number;
  /** A leader that could not renew for this long gives up; less than `leaseMs` by more than a request may take. */
  readonly renewMs: number;
  /** Interval of attempts to acquire or renew; with jitter for candidates. */
  readonly retryMs: number;
}

/** How long the end of the process may wait for an API server that does not answer. */
const RELEASE_MS = 5_000;

export const ELECTION_TIMES: ElectionTimes = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 };

export interface ElectionParts {
  readonly client: KubeClient;
  readonly clock: MonotonicClock;
  readonly random: Random;
  readonly namespace: string;
  readonly name: string;
  /** Unique among replicas: the name of the pod. */
  readonly identity: string;
  readonly times?: ElectionTimes;
  /** This replica acts from now on. */
  readonly onElected: () => void;
  /** This replica must not act any more. Called before another replica can be elected. */
  readonly onLost: (why: string) => void;
  readonly onProblem?: (error: unknown) => void;
}

export class LeaderElection {
  readonly #parts: ElectionParts;
  readonly #times: ElectionTimes;
  #isRunning = false;
  #isLeader = false;
  /** The Lease as last seen, and when it was first seen like this, on the monotonic clock. */
  #seen: { readonly lease: Lease; readonly text: string; readonly sinceMs: number } | null = null;
  /** When the last successful renewal began, on the monotonic clock. */
  #renewedMs = 0;
  #abort = new AbortController();
  #cancelAttempt = () => {};
  #cancelDeadline = () => {};
  #attempt: Promise<void> = Promise.resolve();

  constructor(parts: ElectionParts) {
    this.#parts = parts;
    this.#times = parts.times ?? ELECTION_TIMES;
  }

  /** Whether this replica may act now. False as soon as its last renewal is too old, also if a timer is late. */
  get isLeader(): boolean {
    return this.#isLeader && this.#isFresh();
  }

  /** Who holds the Lease, as far as this replica knows; '' if unknown. */
  get holder(): string {
    return this.#seen?.lease.spec?.holderIdentity ?? '';
  }

  start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#abort = new AbortController();
    this.#try();
  }

  /** Stops, and releases the Lease so that another replica can take over at once. */
  async stop(): Promise<void> {
    if (!this.#isRunning) return;
    this.#isRunning = false;
    this.#cancelAttempt();
    // An attempt under way could renew what is being released.
    this.#abort.abort();
    const wasLeader = this.#isLeader;
    this.#lose('the operator stops');
    await this.#attempt;
    if (wasLeader) await this.#release();
  }

  #try(): void {
    this.#attempt = this.#acquireOrRenew().then(
      (isHeld) => this.#settle(isHeld),
      (error: unknown) => {
        if (this.#isRunning && !(error instanceof KubeError && error.isConflict))
          this.#parts.onProblem?.(error);
      },
    );
    void this.#attempt.then(() => {
      if (!this.#isRunning) return;
      // Candidates spread their attempts; the leader renews at a steady pace.
      const { retryMs } = this.#times;
      const waitMs = this.#isLeader
        ? retryMs
        : retryMs + this.#parts.random.below(Math.floor(retryMs / 5) + 1);
      this.#cancelAttempt = this.#parts.clock.after(waitMs, () => this.#try());
    });
  }

  #settle(heldSinceMs: number | null): void {
    if (!this.#isRunning) return;
    if (heldSinceMs === null) {
      if (this.#isLeader) this.#lose(`${this.holder} holds the Lease`);
      return;
    }
    this.#renewedMs = heldSinceMs;
    this.#watchDeadline();
    if (this.#isLeader || !this.#isFresh()) return;
    this.#isLeader = true;
    this.#parts.onElected();
  }

  /** A renewal that took longer than it is valid for counts for nothing. */
  #isFresh(): boolean {
    return this.#parts.clock.monotonic() < this.#renewedMs + this.#times.renewMs;
  }

  #watchDeadline(): void {
    this.#cancelDeadline();
    const { clock } = this.#parts;
    this.#cancelDeadline = clock.after(this.#renewedMs + this.#times.renewMs - clock.monotonic(), () =>
      this.#lose('the Lease could not be renewed in time'),
    );
  }

  #lose(why: string): void {
    this.#cancelDeadline();
    if (!this.#isLeader) return;
    this.#isLeader = false;
    this.#parts.onLost(why);
  }

  /** When the attempt that now holds the Lease began; null if another replica holds it. */
  async #acquireOrRenew(): Promise<number | null> {
    const { client, clock, namespace, name, identity } = this.#parts;
    const startedMs = clock.monotonic();
    // For the text of the Lease alone, which no replica compares with its own time.
    const nowMs = clock.now();
    const { signal } = this.#abort;
    const lease = await getLease(client, namespace, name, { signal });
    if (lease === null) {
      const fresh = { ...this.#record(nowMs), acquireTime: microTime(nowMs), leaseTransitions: 0 };
      this.#see(await createLease(client, namespace, name, fresh, { signal }));
      return startedMs;
    }
    this.#see(lease);
    const { holderIdentity, leaseTransitions, acquireTime } = lease.spec ?? {};
    const isOurs = holderIdentity === identity;
    if (!isOurs && (holderIdentity ?? '') !== '' && !this.#isExpired()) return null;
    // The resource version makes the API server refuse this if another replica was quicker.
    const spec: LeaseSpec = {
      ...this.#record(nowMs),
      acquireTime: isOurs ? (acquireTime ?? microTime(nowMs)) : microTime(nowMs),
      leaseTransitions: (leaseTransitions ?? 0) + (isOurs ? 0 : 1),
    };
    this.#see(await updateLease(client, lease, spec, { signal }));
    return startedMs;
  }

  #record(nowMs: number): LeaseSpec {
    const { identity } = this.#parts;
    return {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(this.#times.leaseMs / 1000),
      renewTime: microTime(nowMs),
    };
  }

  #see(lease: Lease): void {
    const text = JSON.stringify(lease.spec ?? {});
    if (this.#seen?.text !== text) this.#seen = { lease, text, sinceMs: this.#parts.clock.monotonic() };
  }

  /** Whether the Lease has not changed for its duration. */
  #isExpired(): boolean {
    const { lease, sinceMs } = this.#seen!;
    const leaseMs = (lease.spec?.leaseDurationSeconds ?? this.#times.leaseMs / 1000) * 1000;
    return this.#parts.clock.monotonic() >= sinceMs + leaseMs;
  }

  async #release(): Promise<void> {
    const { client, clock, namespace, name, identity } = this.#parts;
    const abort = new AbortController();
    const { signal } = abort;
    const cancel = clock.after(RELEASE_MS, () => abort.abort());
    try {
      const lease = await getLease(client, namespace, name, { signal });
      if (lease?.spec?.holderIdentity !== identity) return;
      const renewTime = microTime(clock.now());
      const spec: LeaseSpec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime };
      await updateLease(client, lease, spec, { signal });
    } catch (error) {
      // It expires by itself.
      this.#parts.onProblem?.(error);
    } finally {
      cancel();
    }
  }
}
