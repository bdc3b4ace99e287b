// Schedules calls to providers. It bounds the mutations in flight, in all and per provider, and the Gets per provider.
// It starts no call while the provider's breaker is open, and no mutation while the provider denies them. It also
// orders readings: a reading of a machine is current only if it began after the machine's last mutation had ended.
// Used by actuation and by inventory/reconcile.ts; process/provider-calls.ts makes the calls.

import type { BackoffLimits } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { CallOutcome, Effect, ProviderRequest } from '../events.ts';
import { Breaker, type BreakerState } from './breaker.ts';

export interface CallSchedulerLimits {
  /** Mutations in flight at all providers. Lower slows a burst; higher only fills the providers' own queues. */
  readonly mutations: number;
  /** Mutations in flight at one provider, so that a slow one cannot occupy all of `mutations`. */
  readonly mutationsPerProvider: number;
  /** Gets in flight at one provider. */
  readonly getsPerProvider: number;
  /** Consecutive unanswered calls that open a provider's breaker. */
  readonly breakerFailures: number;
  readonly breaker: BackoffLimits;
}

export const CALL_SCHEDULER_LIMITS: CallSchedulerLimits = {
  mutations: 256,
  mutationsPerProvider: 64,
  getsPerProvider: 16,
  breakerFailures: 5,
  breaker: { baseMs: 10_000, maxMs: 120_000 },
};

export interface CallSchedulerParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: (effect: Effect) => void;
  readonly limits: CallSchedulerLimits;
}

export interface Call {
  readonly provider: string;
  readonly machine: string;
  readonly request: ProviderRequest;
  /** Starts before all queued mutations that are not urgent. */
  readonly isUrgent?: boolean;
  /** Called right before the call is made. */
  readonly starting?: () => void;
  /** `began` is the start of the call in the scheduler's logical order, not a time. */
  readonly ended: (outcome: CallOutcome, began: number) => void;
}

interface ProviderQueue {
  readonly urgent: Set<Call>;
  readonly mutations: Set<Call>;
  readonly gets: Set<Call>;
  readonly breaker: Breaker;
  /** Opens when the provider denies a mutation. Only a mutation closes it: a successful Get does not prove write access. */
  readonly permit: Breaker;
  /** Message of the denial; '' while the provider denies nothing. */
  denial: string;
  mutating: number;
  getting: number;
}

type BreakerListener = (provider: string, state: BreakerState) => void;

interface InFlight {
  readonly call: Call;
  readonly began: number;
}

export class CallScheduler {
  readonly #parts: CallSchedulerParts;
  readonly #queues = new Map<string, ProviderQueue>();
  readonly #inFlight = new Map<number, InFlight>();
  readonly #breakerListeners: BreakerListener[] = [];
  readonly #permitListeners: BreakerListener[] = [];
  /** By machine: when its last mutation ended, kept while a reading that began earlier is in flight. */
  readonly #mutated = new Map<string, number>();
  /** Readings in flight, oldest first. */
  readonly #readings = new Set<number>();
  #mutating = 0;
  #calls = 0;
  #order = 0;
  #takes: 'all' | 'gets' | 'nothing' = 'all';

  constructor(parts: CallSchedulerParts) {
    this.#parts = parts;
  }

  onBreaker(listener: BreakerListener): void {
    this.#breakerListeners.push(listener);
  }

  /** Subscribes to denials: open (mutations denied), half-open (one may be tried), closed (mutations allowed). */
  onPermit(listener: BreakerListener): void {
    this.#permitListeners.push(listener);
  }

  breakerOf(provider: string): BreakerState {
    return this.#queueOf(provider).breaker.state;
  }

  permitOf(provider: string): BreakerState {
    return this.#queueOf(provider).permit.state;
  }

  /** Why the provider denies mutations; '' if it does not. */
  denialOf(provider: string): string {
    return this.#queueOf(provider).denial;
  }

  /** Number of queued calls. */
  waitingAt(provider: string): number {
    const { urgent, mutations, gets } = this.#queueOf(provider);
    return urgent.size + mutations.size + gets.size;
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Queues a call. The returned function cancels it and returns whether it was still queued. */
  submit(call: Call): () => boolean {
    const queue = this.#queueOf(call.provider);
    const waiting = waitingOf(queue, call);
    waiting.add(call);
    this.#pump(queue);
    return () => waiting.delete(call);
  }

  /** Whether no call is started any more. */
  get isStopped(): boolean {
    return this.#takes === 'nothing';
  }

  /** Starts no more mutations. Gets continue, because they read the outcome of mutations in flight. */
  stopMutations(): void {
    if (!this.isStopped) this.#takes = 'gets';
  }

  /** Starts no more calls and drops the queued ones. */
  stop(): void {
    this.#takes = 'nothing';
    for (const { urgent, mutations, gets } of this.#queues.values()) {
      urgent.clear();
      mutations.clear();
      gets.clear();
    }
  }

  callEnded(number: number, outcome: CallOutcome): void {
    const flight = this.#inFlight.get(number);
    if (flight === undefined) return;
    const { call, began } = flight;
    this.#inFlight.delete(number);
    const queue = this.#queueOf(call.provider);
    const isReading = call.request.command === 'get';
    if (isReading) queue.getting--;
    else {
      queue.mutating--;
      this.#mutating--;
      // Deleted first, so that the map's insertion order stays the order of the ends.
      this.#mutated.delete(call.machine);
      this.#mutated.set(call.machine, ++this.#order);
    }
    if (!isReading) heardPermit(queue, outcome);
    const isAnswer = outcome.kind !== 'transient' && !(isReading && outcome.kind === 'denied');
    this.heard(call.provider, isAnswer);
    call.ended(outcome, began);
    // After `ended`, whose callback may call `isCurrent` with this reading.
    if (isReading) this.readingEnded(began);
    this.#pumpAll();
  }

  /** Reports to the breaker whether a provider answered a call or a List. */
  heard(provider: string, answered: boolean): void {
    const { breaker } = this.#queueOf(provider);
    if (answered) breaker.answered();
    else breaker.failed();
  }

  /** Registers a reading and returns its place in the logical order. */
  readingBegins(): number {
    const began = ++this.#order;
    this.#readings.add(began);
    return began;
  }

  readingEnded(began: number): void {
    this.#readings.delete(began);
    const [oldest = Number.POSITIVE_INFINITY] = this.#readings;
    if (oldest < began) return;
    for (const [machine, at] of this.#mutated) {
      // The map is ordered by end, so the remaining mutations ended later.
      if (at > oldest) break;
      this.#mutated.delete(machine);
    }
  }

  /** Whether a reading with this start began after the machine's last mutation had ended. */
  isCurrent(machine: string, began: number): boolean {
    return began > (this.#mutated.get(machine) ?? 0);
  }

  #pumpAll(): void {
    for (const queue of this.#queues.values()) this.#pump(queue);
  }

  #pump(queue: ProviderQueue): void {
    const { mutationsPerProvider, getsPerProvider, mutations } = this.#parts.limits;
    while (queue.gets.size > 0 && queue.getting < getsPerProvider && this.#mayCall(queue)) {
      queue.getting++;
      this.#make(first(queue.gets));
    }
    while (
      queue.urgent.size + queue.mutations.size > 0 &&
      queue.mutating < mutationsPerProvider &&
      this.#mutating < mutations &&
      this.#mayMutate(queue)
    ) {
      queue.mutating++;
      this.#mutating++;
      this.#make(first(queue.urgent.size > 0 ? queue.urgent : queue.mutations));
    }
  }

  #mayCall({ breaker, mutating, getting }: ProviderQueue): boolean {
    if (this.isStopped || breaker.state === 'open') return false;
    return breaker.state === 'closed' || mutating + getting === 0;
  }

  #mayMutate(queue: ProviderQueue): boolean {
    const { state } = queue.permit;
    if (this.#takes !== 'all') return false;
    return state !== 'open' && (state === 'closed' || queue.mutating === 0) && this.#mayCall(queue);
  }

  #make(call: Call): void {
    const number = ++this.#calls;
    const began = call.request.command === 'get' ? this.readingBegins() : ++this.#order;
    this.#inFlight.set(number, { call, began });
    call.starting?.();
    const { provider, machine, request } = call;
    this.#parts.emit({ kind: 'call', call: number, provider, machine, request });
  }

  #queueOf(provider: string): ProviderQueue {
    const known = this.#queues.get(provider);
    if (known !== undefined) return known;
    const { clock, random, limits } = this.#parts;
    const backoff = limits.breaker;
    const breaker = new Breaker({
      ...{ clock, random, backoff, failures: limits.breakerFailures },
      onChange: (state) => this.#changed(this.#breakerListeners, provider, state),
    });
    const permit = new Breaker({
      ...{ clock, random, backoff, failures: 1 },
      onChange: (state) => this.#changed(this.#permitListeners, provider, state),
    });
    const queues = { urgent: new Set<Call>(), mutations: new Set<Call>(), gets: new Set<Call>() };
    const queue: ProviderQueue = { ...queues, breaker, permit, denial: '', mutating: 0, getting: 0 };
    this.#queues.set(provider, queue);
    return queue;
  }

  #changed(listeners: readonly BreakerListener[], provider: string, state: BreakerState): void {
    for (const listener of listeners) listener(provider, state);
    if (state !== 'open') this.#pump(this.#queueOf(provider));
  }
}

function heardPermit(queue: ProviderQueue, outcome: CallOutcome): void {
  if (outcome.kind === 'denied') {
    queue.denial = outcome.message;
    queue.permit.failed();
  } else if (outcome.kind !== 'transient') {
    queue.denial = '';
    queue.permit.answered();
  }
}

function waitingOf(queue: ProviderQueue, { request, isUrgent = false }: Call): Set<Call> {
  if (request.command === 'get') return queue.gets;
  return isUrgent ? queue.urgent : queue.mutations;
}

function first(queue: Set<Call>): Call {
  const [call] = queue;
  queue.delete(call!);
  return call!;
}
