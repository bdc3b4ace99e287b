// Writes Events (events.k8s.io/v1, which `kubectl describe` shows as well) on pods, nodes and other objects: only when
// what they say changes, at a limited rate, and repeated as a series of one Event so that they outlive the hour after
// which API servers delete Events. Used by every part of the operator that tells people something.

import { createHash } from 'node:crypto';
import type { Clock } from '../../runtime/clock.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import { type KubeClient, KubeError } from './client.ts';
import type { KubeObject } from './objects.ts';
import { pathOf, RESOURCES } from './paths.ts';
import { Throttle } from './throttle.ts';
import { microTime } from './writes.ts';

export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name: string;
  readonly uid?: string | undefined;
}

export interface RecordedEvent {
  readonly regarding: EventSubject;
  readonly type: 'Normal' | 'Warning';
  /** CamelCase, for programs: 'WaitingForMachines'. One subject has one latest Event per reason. */
  readonly reason: string;
  /** What was done or tried, CamelCase: 'Drain'. */
  readonly action: string;
  /** For people; cut at 1,024 characters, which is the API server's limit. */
  readonly note: string;
}

export interface EventLimits {
  /** Events a second in the long run. Default 10. */
  readonly qps: number;
  readonly burst: number;
  /** Events that wait for the rate; the oldest is dropped for a newer one. Default 5,000. */
  readonly maxWaiting: number;
  /** Subjects and reasons whose last note is remembered; the oldest are forgotten. Default 50,000. */
  readonly maxRemembered: number;
  /** An unchanged note is written again after this time. Default 20 min: Events live for an hour. */
  readonly repeatMs: number;
}

const DEFAULT_LIMITS: EventLimits = {
  qps: 10,
  burst: 100,
  maxWaiting: 5_000,
  maxRemembered: 50_000,
  repeatMs: 20 * 60_000,
};

const MAX_NOTE = 1_024;

interface Remembered {
  readonly note: string;
  readonly atMs: number;
  readonly count: number;
}

export interface EventCounters {
  written: number;
  /** Not written because nothing changed. */
  unchanged: number;
  /** Not written because too many waited. */
  dropped: number;
  failed: number;
}

export interface EventRecorderOptions {
  readonly client: KubeClient;
  /** 'bigfleet.lucy.sh/operator'. */
  readonly controller: string;
  /** Name of the pod. */
  readonly instance: string;
  readonly limits?: Partial<EventLimits>;
  readonly clock?: Clock;
}

export class EventRecorder {
  readonly counters: EventCounters = { written: 0, unchanged: 0, dropped: 0, failed: 0 };
  readonly #options: EventRecorderOptions;
  readonly #limits: EventLimits;
  readonly #clock: Clock;
  readonly #throttle: Throttle;
  /** By subject and reason, the latest wins. */
  readonly #waiting = new Map<string, RecordedEvent>();
  readonly #remembered = new Map<string, Remembered>();
  #isWriting = false;
  #isStopped = false;
  #problem: string | null = null;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#clock = options.clock ?? systemClock;
    const { qps, burst } = this.#limits;
    this.#throttle = new Throttle(this.#clock, { qps, burst, maxInFlight: 1, maxWaiting: 1 });
  }

  /** Why the last Event could not be written; null if it was. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Returns at once; the Event is written later, unless nothing changed. Never throws. */
  record(event: RecordedEvent): void {
    if (this.#isStopped) return;
    const key = keyOf(event.regarding, event.reason);
    const note = event.note.length > MAX_NOTE ? `${event.note.slice(0, MAX_NOTE - 1)}…` : event.note;
    const last = this.#remembered.get(key);
    const isRecent = last !== undefined && this.#clock.now() - last.atMs < this.#limits.repeatMs;
    if (isRecent && last.note === note) {
      this.counters.unchanged++;
      this.#waiting.delete(key);
      return;
    }
    this.#waiting.set(key, { ...event, note });
    if (this.#waiting.size > this.#limits.maxWaiting) {
      const [oldest] = this.#waiting.keys();
      this.#waiting.delete(oldest!);
      this.counters.dropped++;
    }
    if (!this.#isWriting) void this.#write();
  }

  /** The subject is gone: an Event that waits is not written. */
  forget(regarding: EventSubject, reason: string): void {
    const key = keyOf(regarding, reason);
    this.#waiting.delete(key);
    this.#remembered.delete(key);
  }

  /** Drops what waits. */
  stop(): void {
    this.#isStopped = true;
    this.#waiting.clear();
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    try {
      while (this.#waiting.size > 0) {
        await this.#throttle.acquire();
        const [next] = this.#waiting;
        try {
          if (next !== undefined) await this.#writeOne(next[0], next[1]);
        } finally {
          this.#throttle.release();
        }
      }
    } finally {
      this.#isWriting = false;
    }
  }

  async #writeOne(key: string, event: RecordedEvent): Promise<void> {
    this.#waiting.delete(key);
    const last = this.#remembered.get(key);
    const count = last !== undefined && last.note === event.note ? last.count + 1 : 1;
    try {
      await this.#send(event, count);
      this.counters.written++;
      this.#problem = null;
      this.#remember(key, { note: event.note, atMs: this.#clock.now(), count });
    } catch (error) {
      // Not repeated: the next change, or the next call after it, writes it.
      this.counters.failed++;
      this.#problem = error instanceof Error ? error.message : String(error);
    }
  }

  /** The name follows from what the Event says, so that a restarted operator continues the series of its predecessor. */
  async #send(event: RecordedEvent, count: number): Promise<void> {
    const { client } = this.#options;
    const namespace = event.regarding.namespace ?? 'default';
    const name = nameOf(event);
    if (count > 1 && (await this.#continued(namespace, name, count))) return;
    try {
      await client.create(pathOf(RESOURCES.events, { namespace }), this.#object(event, namespace, name));
    } catch (error) {
      if (!(error instanceof KubeError) || !error.isConflict) throw error;
      await this.#continued(namespace, name, Math.max(2, count));
    }
  }

  /** Whether the Event still exists and is now part of a series. */
  async #continued(namespace: string, name: string, count: number): Promise<boolean> {
    const series = { count, lastObservedTime: microTime(this.#clock.now()) };
    try {
      const path = pathOf(RESOURCES.events, { namespace, name });
      await this.#options.client.patch<KubeObject>(path, 'merge', { series });
      return true;
    } catch (error) {
      if (error instanceof KubeError && error.isNotFound) return false;
      throw error;
    }
  }

  #object(event: RecordedEvent, namespace: string, name: string): unknown {
    const { controller, instance } = this.#options;
    return {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name, namespace },
      eventTime: microTime(this.#clock.now()),
      reportingController: controller,
      reportingInstance: instance,
      action: event.action,
      reason: event.reason,
      type: event.type,
      note: event.note,
      regarding: event.regarding,
    };
  }

  #remember(key: string, remembered: Remembered): void {
    this.#remembered.delete(key);
    this.#remembered.set(key, remembered);
    if (this.#remembered.size <= this.#limits.maxRemembered) return;
    const [oldest] = this.#remembered.keys();
    this.#remembered.delete(oldest!);
  }
}

function keyOf({ uid, kind, namespace, name }: EventSubject, reason: string): string {
  return `${uid ?? `${kind} ${namespace ?? ''}/${name}`} ${reason}`;
}

function nameOf({ regarding, reason, note }: RecordedEvent): string {
  const hash = createHash('sha256')
    .update(`${keyOf(regarding, reason)}\n${note}`)
    .digest('hex')
    .slice(0, 16);
  // A name has at most 253 characters.
  return `${regarding.name.slice(0, 230)}.${hash}`;
}
