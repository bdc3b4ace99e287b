// Test support: a controller's actuation and reconcile over a real ledger, with a manual clock and all answers from the
// test. Imported by tests of src/shard (actuation, inventory, planning).

import { Fleet } from '../../src/fleet/index.ts';
import {
  type Action,
  type ActionKind,
  keyOf,
  keyText,
  type Machine,
  MachineState,
  type Need,
} from '../../src/model/index.ts';
import type { ListReport, RecordBatch } from '../../src/provider/index.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { Random } from '../../src/runtime/random.ts';
import type { ActionRecord } from '../../src/shard/actuation/action-records.ts';
import { Actuation } from '../../src/shard/actuation/actuation.ts';
import { ACTUATION_LIMITS, type ActuationLimits } from '../../src/shard/actuation/actuation-limits.ts';
import {
  CALL_SCHEDULER_LIMITS,
  CallScheduler,
  type CallSchedulerLimits,
} from '../../src/shard/actuation/call-scheduler.ts';
import type {
  ActuationEvent,
  CallEffect,
  CallOutcome,
  Effect,
  ListEffect,
  ProviderRequest,
  SessionFeatures,
} from '../../src/shard/events.ts';
import { MachineFactsStore } from '../../src/shard/inventory/machine-facts-store.ts';
import { MachineLedger } from '../../src/shard/inventory/machine-ledger.ts';
import { Reconcile } from '../../src/shard/inventory/reconcile.ts';
import { RECONCILE_LIMITS } from '../../src/shard/inventory/reconcile-limits.ts';
import { NodeStateRouter } from '../../src/shard/planning/node-state-router.ts';
import { MemoryDrainReporters, MemoryMachines } from '../../src/shard/storage/controller-store-memory.ts';
import { MachineList } from '../../src/wire/gen/bigfleet/v1alpha1/provider.ts';
import type { NodeStateUpdate } from '../../src/wire/gen/bigfleet/v1alpha1/shard.ts';
import { machineToWire } from '../../src/wire/index.ts';
import { aMachine, aNeed } from './fleets.ts';
import { OpenRequests } from './open-requests.ts';
import { NO_FEATURES } from './session-defaults.ts';

/** A clock that tests advance; runs due timers in order. */
export class HandClock implements Clock {
  #now = 1_000_000;
  readonly #timers = new Set<{ readonly at: number; readonly run: () => void }>();

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const due = [...this.#timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#now = due.at;
      due.run();
    }
    this.#now = until;
  }
}

export interface SceneOptions {
  readonly providers?: readonly string[];
  readonly store?: MemoryMachines;
  readonly drainReporters?: MemoryDrainReporters;
  /** Retired clusters; the test may add to it. */
  readonly retired?: ReadonlySet<string>;
  readonly limits?: Partial<ActuationLimits>;
  readonly scheduler?: Partial<CallSchedulerLimits>;
  readonly clock?: Clock;
  readonly onEffect?: (effect: Effect) => void;
}

export const NEED: Need = aNeed({ cluster: 'c1', priority: 100 });
export const OTHER_NEED: Need = aNeed({ cluster: 'c2', priority: 900_000 });

export const REPORT: Omit<ListReport, 'kind'> = {
  ...{ isFirst: false, messages: 1, bytes: 1, records: 0, added: 0, changed: 0 },
  ...{ unchanged: 0, gone: 0, missing: 0, refused: 0, problems: [], hasRevision: true },
};

export class Scene {
  readonly hand = new HandClock();
  readonly effects: Effect[] = [];
  readonly requests = new OpenRequests();
  /** Every notification to observers, as text. */
  readonly reported: string[] = [];
  readonly ended: ActionRecord[] = [];
  readonly store: MemoryMachines;
  readonly ledger = new MachineLedger(new Fleet());
  readonly machineFacts: MachineFactsStore;
  readonly scheduler: CallScheduler;
  readonly actuation: Actuation;
  readonly reconcile: Reconcile;
  readonly nodeStates: NodeStateRouter;
  readonly #answered = new Set<Effect>();
  readonly #needs = new Map([NEED, OTHER_NEED].map((need) => [keyText(keyOf(need)), need.profile]));

  constructor(options: SceneOptions = {}) {
    const clock = options.clock ?? this.hand;
    const { ledger } = this;
    const emit = (effect: Effect): void => {
      this.effects.push(effect);
      this.requests.carryOut(effect);
      options.onEffect?.(effect);
    };
    const random = new Random(7);
    this.store = options.store ?? new MemoryMachines();
    this.machineFacts = new MachineFactsStore(ledger, this.store);
    this.scheduler = new CallScheduler({
      clock,
      random,
      emit,
      limits: { ...CALL_SCHEDULER_LIMITS, ...options.scheduler },
    });
    this.nodeStates = new NodeStateRouter(
      { ledger, nodeOf: (id) => this.machineFacts.verdictsOn(id).node },
      emit,
    );
    const note = (...parts: readonly (string | number)[]): number => this.reported.push(parts.join(' '));
    const { scheduler, machineFacts } = this;
    this.actuation = new Actuation({
      ...{ ledger, scheduler, machineFacts, clock, random, emit, epoch: 1n },
      drainReporters: options.drainReporters ?? new MemoryDrainReporters(),
      isRetired: (cluster) => options.retired?.has(cluster) ?? false,
      profileOf: (key) => this.#needs.get(keyText(key)),
      limits: { ...ACTUATION_LIMITS, ...options.limits },
      observer: {
        started: () => {},
        ended: (record) => this.ended.push(record),
        leftTransition: () => {},
        bootstrapAnswered: () => {},
        drainWaited: ({ machine }, _kind, end, broken) => note('drain', end, machine, ...broken),
        overdue: (machine, state) => note('overdue', machine, state),
      },
    });
    this.reconcile = new Reconcile({
      ...{
        ledger,
        scheduler,
        machineFacts,
        clock,
        random,
        emit,
        actuation: this.actuation,
        limits: RECONCILE_LIMITS,
      },
      providers: options.providers ?? ['p'],
      observer: {
        listed: () => {},
        listFailed: (provider) => note('list-failed', provider),
        listHeld: (provider, known, missing, times) => note('list-held', provider, known, missing, times),
        refused: (provider, reason, count) => note('refused', provider, reason, count),
        collided: (machine, owner, other) => note('collided', machine, owner, other),
        orphanFound: (machine, provider) => note('orphan', machine, provider),
        lostWhileAway: ({ id }, provider) => note('lost-while-away', id, provider),
        dropped: (machine) => note('dropped', machine),
      },
    });
    this.reconcile.start();
  }

  /** Completes the List in flight, or the next one. */
  list(
    changed: readonly Machine[],
    { provider = 'p', gone = [] as readonly string[], ...report }: ListAnswer = {},
  ): void {
    const { reading, wanted } = this.reading(provider);
    const kind = gone.length > 0 ? 'full' : wanted;
    this.reconcile.handle({ kind: 'list-changed', provider, reading, batch: batchOf(changed) });
    if (gone.length > 0) this.reconcile.handle({ kind: 'list-gone', provider, reading, ids: gone });
    this.reconcile.handle({
      ...{ kind: 'list-ended', provider, reading, error: '' },
      report: { ...REPORT, kind, ...report },
    });
  }

  failList(provider = 'p'): void {
    const { reading } = this.reading(provider);
    this.reconcile.handle({ kind: 'list-ended', provider, reading, report: null, error: 'no route' });
  }

  /** The unanswered List of a provider; advances the clock until there is one. */
  reading(provider = 'p'): ListEffect {
    const find = (): ListEffect | undefined =>
      this.effects.find(
        (effect): effect is ListEffect =>
          effect.kind === 'list' && effect.provider === provider && !this.#answered.has(effect),
      );
    if (find() === undefined) this.hand.advance(RECONCILE_LIMITS.changesMs);
    const reading = find();
    if (reading === undefined) throw new Error('no reading in progress');
    this.#answered.add(reading);
    return reading;
  }

  /** Calls without an answer yet. */
  calls(command?: ProviderRequest['command']): readonly CallEffect[] {
    return this.effects.filter(
      (effect): effect is CallEffect =>
        effect.kind === 'call' &&
        !this.#answered.has(effect) &&
        (command === undefined || effect.request.command === command),
    );
  }

  /** Answers the oldest open call of a kind. */
  answer(command: ProviderRequest['command'], outcome: CallOutcome): CallEffect {
    const [call] = this.calls(command);
    if (call === undefined) throw new Error(`no ${command} is under way`);
    this.#answered.add(call);
    this.actuation.handle({ kind: 'call-ended', call: call.call, outcome });
    return call;
  }

  /** The provider accepts and returns the machine's record. */
  accept(command: ProviderRequest['command'], state: MachineState, given: Partial<Machine> = {}): void {
    const [call] = this.calls(command);
    const machine = record(call!.machine, state, given);
    this.answer(command, { kind: 'accepted', operation: 'op', machine });
  }

  find(state: MachineState, given: Partial<Machine> = {}): void {
    const [call] = this.calls('get');
    this.answer('get', { kind: 'found', machine: record(call!.machine, state, given) });
  }

  fail(command: ProviderRequest['command'], message = 'no answer'): void {
    this.answer(command, { kind: 'transient', message });
  }

  /** Answers the last bootstrap request. */
  blob(given: { readonly error?: string; readonly ttlSeconds?: number } = {}): void {
    const asked = this.effects.findLast((effect) => effect.kind === 'ask-bootstrap');
    const { error = '', ttlSeconds = 0 } = given;
    const blob = error === '' ? Buffer.from('join') : null;
    const { request } = asked as Extract<Effect, { readonly kind: 'ask-bootstrap' }>;
    this.#deliver({ kind: 'bootstrap-answered', request, blob, ttlSeconds, error });
  }

  /** The operator acknowledges the last instruction. */
  ack(): void {
    const given = this.effects.findLast((effect) => effect.kind === 'instruct-reclaim');
    const { instruction } = given as Extract<Effect, { readonly kind: 'instruct-reclaim' }>;
    this.#deliver({ kind: 'reclaim-acked', instruction });
  }

  #deliver(event: ActuationEvent): void {
    if (this.requests.lets(event)) this.actuation.handle(event);
  }

  open(...clusters: readonly string[]): this {
    return this.openWith(NO_FEATURES, ...clusters);
  }

  openWith(features: SessionFeatures, ...clusters: readonly string[]): this {
    for (const cluster of clusters)
      this.actuation.handle({ kind: 'session-opened', cluster, session: ++this.#sessions, features });
    return this;
  }

  /** Submits an action as decided by a cycle; returns the reasons of refused actions, one word each. */
  decide(kind: ActionKind, machine: string, given: Partial<Action> = {}): readonly string[] {
    this.ledger.commitMachines().writeRows();
    return this.actuation.accept([action(kind, machine, given)]).map(({ why }) => why);
  }

  /** A machine's record in the ledger that the next cycle would read. */
  committed(id: string) {
    this.machineFacts.committed(this.ledger.commitMachines().writeRows());
    this.machineFacts.flush();
    return this.ledger.recordOf(id);
  }

  /** The states of its machines reported to a cluster. */
  heardBy(cluster: string): readonly MachineState[] {
    return this.updatesTo(cluster).map(({ state }) => state as MachineState);
  }

  updatesTo(cluster: string): readonly NodeStateUpdate[] {
    return this.effects.flatMap((effect) =>
      effect.kind === 'node-state' && effect.cluster === cluster ? [effect.update] : [],
    );
  }

  #sessions = 0;
}

type ListAnswer =
  Partial<ListReport> extends infer R
    ? Omit<R, 'gone'> & { readonly provider?: string; readonly gone?: readonly string[] }
    : never;

/** Records as the inventory reader passes them on. */
export function batchOf(machines: readonly Machine[]): RecordBatch {
  const list = { machines: machines.map(machineToWire), revision: new Uint8Array() };
  return { bytes: new Uint8Array(MachineList.encode(list).finish()), count: machines.length };
}

/** A provider's record. */
export function record(id: string, state: MachineState, given: Partial<Machine> = {}): Machine {
  const {
    blocked: _,
    idleSinceMs: __,
    drainSeconds: ___,
    unclaimedSinceMs: ____,
    ...machine
  } = aMachine(id, state, given);
  return machine;
}

export function action(kind: ActionKind, machine: string, given: Partial<Action> = {}): Action {
  const isFor = kind === 'Bootstrap' || kind === 'Provision';
  const isDrain = kind === 'Preempt' || kind === 'Reclaim';
  return {
    ...{ kind, machine, cluster: kind === 'Delete' ? '' : 'c1', reason: 'phase1.idle' },
    ...{ graceSeconds: isDrain ? 600 : 0, preemptorPriority: 0 },
    need: isFor ? keyOf(NEED) : null,
    ...given,
  };
}

/** `count` machines m-0, m-1, … in a state. */
export function some(count: number, state: MachineState = MachineState.Idle): readonly Machine[] {
  return Array.from({ length: count }, (_, i) => record(`m-${i}`, state));
}
