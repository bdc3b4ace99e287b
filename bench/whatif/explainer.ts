// What a caller of the API waits for when it asks about one Need or one machine, on a fleet that a benchmark decides on: the
// answers of a controller with its own parts, except for those that need sessions, provider calls or cycles. They run on
// the thread of the cycles, as in a shard, which also copies the answer for the thread of the API. What keeps machines from
// a Need of a large fleet is found on a replica, as in a shard.

import type { Decision } from '../../src/engine/index.ts';
import { type Fleet, NeedProfiles } from '../../src/fleet/index.ts';
import type { DecisionOptions } from '../../src/model/index.ts';
import { Random } from '../../src/runtime/random.ts';
import { Actuation } from '../../src/shard/actuation/actuation.ts';
import { CallScheduler } from '../../src/shard/actuation/call-scheduler.ts';
import { MachineFactsStore } from '../../src/shard/inventory/machine-facts-store.ts';
import { MachineLedger } from '../../src/shard/inventory/machine-ledger.ts';
import { ProvidersHealth } from '../../src/shard/inventory/provider-health.ts';
import type { ControllerState } from '../../src/shard/planning/controller.ts';
import type { Cycles } from '../../src/shard/planning/cycles.ts';
import { Freezes } from '../../src/shard/planning/freezes.ts';
import { MachinesOnHold } from '../../src/shard/planning/machines-on-hold.ts';
import { DEFAULT_CONTROLLER } from '../../src/shard/planning/options.ts';
import { OrderedDrains } from '../../src/shard/planning/ordered-drains.ts';
import { Answers } from '../../src/shard/planning/queries/answers.ts';
import type { NeedFindings } from '../../src/shard/planning/queries/need-findings.ts';
import { needId } from '../../src/shard/planning/queries/need-names.ts';
import { Shortfalls } from '../../src/shard/planning/shortfalls.ts';
import { explainedNeed } from '../../src/shard/process/need-explainer.ts';
import { MemoryControllerStore } from '../../src/shard/storage/controller-store-memory.ts';
import type { QuestionName, Questions } from '../../src/shard/views.ts';

/** Where a large fleet has a replica: finds what keeps machines from a Need. */
export type Findings = (need: string) => Promise<NeedFindings | null>;

export class Explainer {
  readonly #fleet: Fleet;
  readonly #answers: Answers;
  #decided: { readonly decided: Decision; readonly options: DecisionOptions; readonly atMs: number } | null =
    null;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
    const cycles = {
      decision: () => this.#decided,
      last: () => (this.#decided === null ? null : { number: 1, atMs: this.#decided.atMs }),
    };
    this.#answers = new Answers(
      stateOf(fleet, () => this.#decided?.atMs ?? 0),
      Object.defineProperties(
        {},
        { decision: { get: cycles.decision }, last: { get: cycles.last } },
      ) as Cycles,
    );
  }

  /** To be called after each decision on the fleet. */
  decided(decided: Decision, options: DecisionOptions, atMs: number): void {
    this.#decided = { decided, options, atMs };
  }

  /** Ids of at most this many Needs: up to half of them unmet, and the first ones by rank. */
  needs(count: number): readonly string[] {
    const { decided } = this.#decided!;
    const unmet = decided.unmet.slice(0, Math.floor(count / 2));
    const verdicts = [...unmet, ...decided.verdicts({ limit: count - unmet.length })];
    return [...new Set(verdicts.map(({ key }) => needId(key)))];
  }

  /** Ids of machines of all parts of the fleet. */
  machines(count: number): readonly string[] {
    const { machines } = this.#fleet;
    const step = Math.max(1, Math.floor(machines.size / count));
    const slots = Array.from({ length: count }, (_, i) => i * step);
    return slots.filter((slot) => (machines.state[slot] ?? 0) !== 0).map((slot) => machines.idOf(slot));
  }

  get isLarge(): boolean {
    return this.#answers.isLarge;
  }

  /** `onMain` runs the part of the thread of the cycles. */
  async need(id: string, findings: Findings, onMain: <T>(work: () => T) => T): Promise<unknown> {
    const ask = async <Q extends QuestionName>(name: Q, asked: Questions[Q]['ask']) =>
      onMain(() => structuredClone(this.#answers.to(name, structuredClone(asked))));
    return known(await explainedNeed({ ask }, findings, id), id);
  }

  machine(id: string): unknown {
    const { items } = this.#answers.to('machines', { where: { id, withForgotten: true }, limit: 1 });
    return known(structuredClone(items[0]), id);
  }
}

function known(answer: unknown, id: string): unknown {
  if (answer === null || answer === undefined) throw new Error(`There is no answer about ${id}.`);
  return answer;
}

/** What the thread of the API does with an answer. */
export function sent(answer: unknown): Buffer {
  return Buffer.from(JSON.stringify(answer));
}

function stateOf(fleet: Fleet, now: () => number): ControllerState {
  const clock = { now, after: () => () => {} };
  const emit = (): void => {};
  const random = new Random(1, 1);
  const store = new MemoryControllerStore();
  const ledger = new MachineLedger(fleet);
  const machineFacts = new MachineFactsStore(ledger, store.machines);
  const scheduler = new CallScheduler({ clock, random, emit, limits: DEFAULT_CONTROLLER.scheduler });
  const profiles = new NeedProfiles(fleet);
  const actuation = new Actuation({
    ...{ ledger, scheduler, machineFacts, clock, random, emit, epoch: 1n },
    drainReporters: store.drainReporters,
    isRetired: () => false,
    profileOf: (key) => profiles.of(key),
    limits: DEFAULT_CONTROLLER.actuation,
    observer: {} as never,
  });
  const names = fleet.clusters.sorted().map((number) => fleet.clusters.nameOf(number));
  const state: Partial<ControllerState> = {
    parts: {
      clock,
      options: { ...DEFAULT_CONTROLLER, providers: [] },
    } as unknown as ControllerState['parts'],
    ...{ ledger, machineFacts, scheduler, profiles, actuation },
    freezes: new Freezes(store.freezes),
    health: new ProvidersHealth(ledger, now),
    shortfalls: new Shortfalls(),
    onHold: new MachinesOnHold(fleet),
    drains: new OrderedDrains(),
    renewals: { of: () => undefined } as unknown as ControllerState['renewals'],
    sessions: new Map(names.map((name) => [name, 1])),
  };
  return state as ControllerState;
}
