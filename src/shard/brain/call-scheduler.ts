// Schedules calls to providers. It bounds the mutations that are in flight, in all and for each provider, and the Gets beside
// them; it starts none while the provider's breaker is open, and no mutation while the provider denies them. It also orders
// readings: one says something about a machine only if it began after the machine's last mutation had ended.

import type { Clock, Random } from '../../model/index.ts';
import type { CallOutcome, Effect, ProviderRequest } from '../events.ts';
import type { BackoffLimits } from './backoff.ts';
import { Breaker, type BreakerState } from './breaker.ts';

export interface CallSchedulerLimits {
  /** Mutations at a time, of all providers. Lower starves a burst; higher only fills the providers' own queues. */
  readonly mutations: number;
  /** Mutations at a time at one provider, so that a slow one does not take the whole pool. */
  readonly mutationsPerProvider: number;
  /** Gets at a time at one provider. */
  readonly getsPerProvider: number;
  /** Calls in a row without an answer that open a provider's breaker. */
  readonly breakerFailures: number;
  /** How long the breaker stays open. */
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
  /** Goes before all mutations that are not. */
  readonly isUrgent?: boolean;
  /** Right before the call is made. */
  readonly starting?: () => void;
  /** `began` is the moment the call was made, in the scheduler's order. */
  readonly ended: (outcome: CallOutcome, began: number) => void;
}

interface Lane {
  readonly urgent: Set<Call>;
  readonly mutations: Set<Call>;
  readonly gets: Set<Call>;
  readonly breaker: Breaker;
  /** Opens when the provider denies a mutation, and only a mutation closes it: whoever may read may not always write. */
  readonly permit: Breaker;
  /** What it said; '' while it denies nothing. */
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
  readonly #lanes = new Map<string, Lane>();
  readonly #inFlight = new Map<number, InFlight>();
  readonly #breakerListeners: BreakerListener[] = [];
  readonly #permitListeners: BreakerListener[] = [];
  /** By machine: when its last mutation ended, kept while a reading that began before is under way. */
  readonly #mutated = new Map<string, number>();
  /** Readings under way, the oldest first. */
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

  /** Tells when a provider denies mutations (open), when one may be tried again, and when it lets them through. */
  onPermit(listener: BreakerListener): void {
    this.#permitListeners.push(listener);
  }

  breakerOf(provider: string): BreakerState {
    return this.#laneOf(provider).breaker.state;
  }

  permitOf(provider: string): BreakerState {
    return this.#laneOf(provider).permit.state;
  }

  /** Why the provider lets this shard change nothing; '' if it does. */
  denialOf(provider: string): string {
    return this.#laneOf(provider).denial;
  }

  /** Calls that wait for their turn. */
  waitingAt(provider: string): number {
    const { urgent, mutations, gets } = this.#laneOf(provider);
    return urgent.size + mutations.size + gets.size;
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Hands in a call; the returned function takes it back, and says whether it was in time. */
  submit(call: Call): () => boolean {
    const lane = this.#laneOf(call.provider);
    const queue = queueOf(lane, call);
    queue.add(call);
    this.#pump(lane);
    return () => queue.delete(call);
  }

  /** Whether calls that are handed in may still be made. */
  get isStopped(): boolean {
    return this.#takes === 'nothing';
  }

  /** No mutation is called any more. Gets are: they find out what became of those under way. */
  stopMutations(): void {
    if (!this.isStopped) this.#takes = 'gets';
  }

  /** Nothing is called any more; what was handed in and not called is dropped. */
  stop(): void {
    this.#takes = 'nothing';
    for (const { urgent, mutations, gets } of this.#lanes.values()) {
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
    const lane = this.#laneOf(call.provider);
    const isReading = call.request.command === 'get';
    if (isReading) lane.getting--;
    else {
      lane.mutating--;
      this.#mutating--;
      // Taken out first, so that the map stays in the order of the ends.
      this.#mutated.delete(call.machine);
      this.#mutated.set(call.machine, ++this.#order);
    }
    if (!isReading) heardPermit(lane, outcome);
    const isAnswer = outcome.kind !== 'transient' && !(isReading && outcome.kind === 'denied');
    this.heard(call.provider, isAnswer);
    call.ended(outcome, began);
    // Not earlier: who reads the answer has to know whether it is current.
    if (isReading) this.readingEnded(began);
    this.#pumpAll();
  }

  /** Whether a provider answered, a List included. */
  heard(provider: string, answered: boolean): void {
    const { breaker } = this.#laneOf(provider);
    if (answered) breaker.answered();
    else breaker.failed();
  }

  /** The moment from which a reading counts. */
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
      // Ends are in order, so the rest ended later still.
      if (at > oldest) break;
      this.#mutated.delete(machine);
    }
  }

  /** Whether a reading that began then knows of the machine's last mutation. */
  isCurrent(machine: string, began: number): boolean {
    return began > (this.#mutated.get(machine) ?? 0);
  }

  #pumpAll(): void {
    for (const lane of this.#lanes.values()) this.#pump(lane);
  }

  #pump(lane: Lane): void {
    const { mutationsPerProvider, getsPerProvider, mutations } = this.#parts.limits;
    while (lane.gets.size > 0 && lane.getting < getsPerProvider && this.#mayCall(lane)) {
      lane.getting++;
      this.#make(first(lane.gets));
    }
    while (
      lane.urgent.size + lane.mutations.size > 0 &&
      lane.mutating < mutationsPerProvider &&
      this.#mutating < mutations &&
      this.#mayMutate(lane)
    ) {
      lane.mutating++;
      this.#mutating++;
      this.#make(first(lane.urgent.size > 0 ? lane.urgent : lane.mutations));
    }
  }

  #mayCall({ breaker, mutating, getting }: Lane): boolean {
    if (this.isStopped || breaker.state === 'open') return false;
    return breaker.state === 'closed' || mutating + getting === 0;
  }

  #mayMutate(lane: Lane): boolean {
    const { state } = lane.permit;
    if (this.#takes !== 'all') return false;
    return state !== 'open' && (state === 'closed' || lane.mutating === 0) && this.#mayCall(lane);
  }

  #make(call: Call): void {
    const number = ++this.#calls;
    const began = call.request.command === 'get' ? this.readingBegins() : ++this.#order;
    this.#inFlight.set(number, { call, began });
    call.starting?.();
    const { provider, machine, request } = call;
    this.#parts.emit({ kind: 'call', call: number, provider, machine, request });
  }

  #laneOf(provider: string): Lane {
    const known = this.#lanes.get(provider);
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
    const lane: Lane = { ...queues, breaker, permit, denial: '', mutating: 0, getting: 0 };
    this.#lanes.set(provider, lane);
    return lane;
  }

  #changed(listeners: readonly BreakerListener[], provider: string, state: BreakerState): void {
    for (const listener of listeners) listener(provider, state);
    if (state !== 'open') this.#pump(this.#laneOf(provider));
  }
}

function heardPermit(lane: Lane, outcome: CallOutcome): void {
  if (outcome.kind === 'denied') {
    lane.denial = outcome.message;
    lane.permit.failed();
  } else if (outcome.kind !== 'transient') {
    lane.denial = '';
    lane.permit.answered();
  }
}

function queueOf(lane: Lane, { request, isUrgent = false }: Call): Set<Call> {
  if (request.command === 'get') return lane.gets;
  return isUrgent ? lane.urgent : lane.mutations;
}

function first(queue: Set<Call>): Call {
  const [call] = queue;
  queue.delete(call!);
  return call!;
}
