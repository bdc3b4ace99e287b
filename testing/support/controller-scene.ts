// Test support: a whole controller on a manual clock; the test plays providers and operators. Imported by tests of
// src/shard, most of them of planning.

import {
  type Machine,
  type MachineState,
  mergeNeeds,
  type Need,
  wholeRollup,
} from '../../src/model/index.ts';
import type {
  CallEffect,
  CallOutcome,
  Effect,
  ListEffect,
  ProviderRequest,
  SessionFeatures,
} from '../../src/shard/events.ts';
import { Controller, type ControllerParts } from '../../src/shard/planning/controller.ts';
import { type ControllerOptions, DEFAULT_CONTROLLER } from '../../src/shard/planning/options.ts';
import { MemoryControllerStore } from '../../src/shard/storage/controller-store-memory.ts';
import type { CycleView, MachineView, Order, OrderResult, ShardEvent } from '../../src/shard/views.ts';
import { batchOf, HandClock, REPORT, record } from './actuation-scene.ts';
import { NO_FEATURES } from './session-defaults.ts';

const SECOND_MS = 1000;
/** After a start the Reclaims of the last seconds are unknown, so none is admitted before this time; see RECLAIM_WINDOW_MS. */
export const SETTLED_MS = 11_000;

/** The standard rules without a reclaim hold: unclaimed machines are given back at once. */
export const NO_HOLD: Partial<ControllerOptions> = {
  economy: { ...DEFAULT_CONTROLLER.economy, reclaimHoldSeconds: 0 },
};

type Command = ProviderRequest['command'];

export class ControllerScene {
  readonly hand = new HandClock();
  readonly effects: Effect[] = [];
  readonly events: ShardEvent[] = [];
  readonly store: MemoryControllerStore;
  readonly controller: Controller;
  readonly #answered = new Set<Effect>();
  #sessions = 0;

  constructor(
    options: Partial<ControllerOptions> = {},
    store = new MemoryControllerStore(),
    journal?: ControllerParts['journal'],
  ) {
    this.store = store;
    this.controller = new Controller({
      clock: this.hand,
      monotonicMs: () => this.hand.now(),
      emit: (effect) => this.effects.push(effect),
      publish: (event) => this.events.push(event),
      store,
      journal,
      options: { ...DEFAULT_CONTROLLER, shard: 's', epoch: 1n, providers: ['p'], seed: 1, ...options },
    });
    this.controller.start();
  }

  /** Completes the List in flight, or the next one. */
  list(machines: readonly Machine[], provider = 'p', gone: readonly string[] = []): this {
    const { reading, wanted } = this.#reading(provider);
    this.controller.handle({ kind: 'list-changed', provider, reading, batch: batchOf(machines) });
    if (gone.length > 0) this.controller.handle({ kind: 'list-gone', provider, reading, ids: gone });
    const kind = gone.length > 0 ? 'full' : wanted;
    this.controller.handle({ kind: 'list-ended', provider, reading, error: '', report: { ...REPORT, kind } });
    return this;
  }

  failList(provider = 'p', error = 'no route'): this {
    const { reading } = this.#reading(provider);
    this.controller.handle({ kind: 'list-ended', provider, reading, report: null, error });
    return this;
  }

  open(...clusters: readonly string[]): this {
    return this.openWith(NO_FEATURES, ...clusters);
  }

  openWith(features: SessionFeatures, ...clusters: readonly string[]): this {
    for (const cluster of clusters)
      this.controller.handle({ kind: 'session-opened', cluster, session: ++this.#sessions, features });
    return this;
  }

  /** Closes the session opened last. */
  close(cluster: string): this {
    this.controller.handle({ kind: 'session-closed', cluster, session: this.#sessions });
    return this;
  }

  demand(cluster: string, ...needs: readonly Need[]): this {
    this.controller.handle({
      kind: 'demand',
      delta: wholeRollup(cluster, mergeNeeds(needs)),
      rowsSetAside: 0,
    });
    return this;
  }

  /** The demand of a cluster of which some rows exceed a limit. */
  demandWithRowsSetAside(cluster: string, rowsSetAside: number, ...needs: readonly Need[]): this {
    this.controller.handle({ kind: 'demand', delta: wholeRollup(cluster, mergeNeeds(needs)), rowsSetAside });
    return this;
  }

  tick(ms = SECOND_MS): this {
    this.hand.advance(ms);
    return this;
  }

  order(order: Order): OrderResult {
    return this.controller.order(order);
  }

  freeze(cluster: string): this {
    this.order({ kind: 'freeze', scope: { cluster, action: null }, who: 'ada', why: 'a test' });
    return this;
  }

  unfreeze(cluster: string): this {
    this.order({ kind: 'unfreeze', id: `cluster:${cluster}`, who: 'ada' });
    return this;
  }

  /** Calls without an answer yet. */
  calls(command?: Command): readonly CallEffect[] {
    return this.of('call').filter(
      (effect) =>
        !this.#answered.has(effect) && (command === undefined || effect.request.command === command),
    );
  }

  answer(command: Command, outcome: CallOutcome): CallEffect {
    const [call] = this.calls(command);
    if (call === undefined) throw new Error(`no ${command} is under way`);
    this.#answered.add(call);
    this.controller.handle({ kind: 'call-ended', call: call.call, outcome });
    return call;
  }

  /** The provider accepts the oldest call of a kind and returns the machine's record. */
  accept(command: Command, state: MachineState, given: Partial<Machine> = {}): this {
    const machine = record(this.calls(command)[0]?.machine ?? '', state, given);
    this.answer(command, { kind: 'accepted', operation: 'op', machine });
    return this;
  }

  /** Answers every open bootstrap request. */
  blobs(error = ''): this {
    for (const asked of this.of('ask-bootstrap')) {
      if (this.#answered.has(asked)) continue;
      this.#answered.add(asked);
      const blob = error === '' ? Buffer.from('join') : null;
      this.controller.handle({
        ...{ kind: 'bootstrap-answered', request: asked.request, ttlSeconds: 0 },
        ...{ blob, error },
      });
    }
    return this;
  }

  of<K extends Effect['kind']>(kind: K): readonly Extract<Effect, { readonly kind: K }>[] {
    return this.effects.filter((effect) => effect.kind === kind) as Extract<Effect, { readonly kind: K }>[];
  }

  get cycles(): readonly CycleView[] {
    return this.events.flatMap((event) => (event.kind === 'cycle' ? [event.status.cycle!] : []));
  }

  /** Log lines of one event. */
  logged(name: string): readonly Readonly<Record<string, unknown>>[] {
    return this.events.flatMap((event) =>
      event.kind === 'log' && event.event === name ? [event.fields] : [],
    );
  }

  machine(id: string): MachineView | undefined {
    return this.controller.ask('machines', { where: { id }, limit: 1 }).items[0];
  }

  /** The value of a metric, by the text before it on its line. */
  metric(name: string): number {
    const lines = this.controller.ask('metrics', {}).split('\n');
    const line = lines.find((each) => each.startsWith(`bigfleet_shard_${name} `));
    if (line === undefined) throw new Error(`there is no metric ${name}`);
    return Number(line.slice(line.lastIndexOf(' ') + 1));
  }

  #reading(provider: string): ListEffect {
    const find = (): ListEffect | undefined =>
      this.of('list').find((effect) => effect.provider === provider && !this.#answered.has(effect));
    for (let i = 0; i < 100 && find() === undefined; i++) this.tick();
    const reading = find();
    if (reading === undefined) throw new Error('no reading in progress');
    this.#answered.add(reading);
    return reading;
  }
}
