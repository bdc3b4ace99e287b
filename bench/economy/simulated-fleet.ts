// A fleet under the engine: machines of a catalogue, decisions cycle by cycle, and every transition completed before the next
// cycle. It tracks which machines have a host, since those cost money.

import { type Decision, Engine, Renewals } from '../../src/engine/index.ts';
import { Fleet, type LedgerRecord, type PendingChange, PendingChanges } from '../../src/fleet/index.ts';
import {
  type Action,
  DEFAULT_DRAIN_SECONDS,
  DEFAULT_RENEWAL_LIMITS,
  MachineState,
  type Need,
  type NeedKey,
} from '../../src/model/index.ts';
import { CarryOut } from '../ladder/carry-out.ts';
import { sumOf, vectorOf } from './amounts.ts';
import type { Offering } from './catalogue.ts';
import type { Policy } from './policies.ts';
import { needsOf, START_MS } from './rows.ts';
import type { Scenario } from './scenario.ts';

/** A machine that exists and is paid for. */
export interface Host {
  readonly offering: Offering;
  /** '' while it is in no cluster. */
  readonly cluster: string;
}

export class SimulatedFleet {
  readonly scenario: Scenario;
  nowMs = START_MS;
  /** By machine id. */
  readonly hosts = new Map<string, Host>();
  readonly #fleet = new Fleet();
  readonly #pending = new PendingChanges(this.#fleet);
  readonly #carryOut = new CarryOut(this.#fleet);
  readonly #engine: Engine;
  readonly #renewals = new Renewals(this.#fleet, DEFAULT_RENEWAL_LIMITS);
  /** By offering: machines of it that are not bought. */
  readonly #left: number[];
  /** Since when no row claims a machine, by id, as the last decision said. */
  #onHold: ReadonlyMap<string, number> = new Map();

  /** Nothing is bought; every cluster reports its rows. */
  constructor(scenario: Scenario) {
    this.scenario = scenario;
    const { catalogue, demand, parameters } = scenario;
    const quotas = catalogue.map((offering) => {
      return offering.owned ?? 1 + Math.ceil(mostUsed(scenario, offering) * parameters.catalogue.quota);
    });
    this.#fleet.machines.load(catalogue.flatMap((offering, i) => machinesOf(offering, quotas[i]!)));
    for (const offering of catalogue) {
      for (let i = 0; i < (offering.owned ?? 0); i++)
        this.hosts.set(idOf(offering, i), { offering, cluster: '' });
    }
    this.#left = quotas;
    for (const cluster of demand) this.report(cluster.name, needsOf(cluster));
    this.#engine = new Engine(this.#fleet, { checkEvery: 0 });
  }

  /** Replaces the rows of a cluster. */
  report(cluster: string, needs: readonly Need[]): void {
    this.#fleet.demand.replace(cluster, needs);
  }

  /** A row is gone; machines that were on their way to it are no longer. */
  endRow(key: NeedKey): void {
    this.#pending.append({ kind: 'row-ended', key });
  }

  /** One cycle. `read` gets the decision before it is carried out; afterwards the decision is no longer valid. */
  step(policy: Policy, cycleMs: number, read?: (decision: Decision) => void): readonly Action[] {
    if (policy.renews) this.#renew(policy, cycleMs);
    const decision = this.#engine.decide(this.nowMs, { ...policy, retiring: this.#renewals.retiring });
    read?.(decision);
    const actions = decision.actions();
    const changes = [...this.#clocksAfter(decision), ...this.#carryOut.changesOf(decision, this.nowMs)];
    for (const change of changes) this.#pending.append(change);
    const { refused } = this.#pending.commitMachines().writeRows();
    if (refused.length > 0) throw new Error(`a change was refused: ${JSON.stringify(refused[0])}`);
    for (const action of actions) this.#note(action);
    this.nowMs += cycleMs;
    return actions;
  }

  /** Dollars an hour of every machine with a host. */
  get dollarsPerHour(): number {
    let dollars = 0;
    for (const { offering } of this.hosts.values()) dollars += offering.pricePerHour;
    return dollars;
  }

  /** Machines in clusters. */
  get machinesInUse(): number {
    let count = 0;
    for (const { cluster } of this.hosts.values()) if (cluster !== '') count++;
    return count;
  }

  /** Purchased machines that no cluster has any more and that are still paid for. */
  get idlePurchases(): number {
    let count = 0;
    for (const { cluster, offering } of this.hosts.values())
      if (cluster === '' && offering.owned === null) count++;
    return count;
  }

  /** Checks a cluster for each second of the cycle, as a shard does. */
  #renew(policy: Policy, cycleMs: number): void {
    this.#renewals.settle(this.nowMs);
    for (let second = 0; second * 1000 < cycleMs; second++) this.#renewals.check(this.nowMs, policy);
  }

  /** The clocks of reclaim holds that begin or end with a decision. */
  #clocksAfter(decision: Decision): PendingChange[] {
    const before = this.#onHold;
    const after = decision.onHold();
    this.#onHold = after;
    const begun = [...after].filter(([id, sinceMs]) => before.get(id) !== sinceMs);
    const ended = [...before.keys()].filter((id) => !after.has(id));
    return [
      ...begun.map(([id, sinceMs]) => ({ kind: 'unclaimed' as const, id, sinceMs })),
      ...ended.map((id) => ({ kind: 'unclaimed' as const, id, sinceMs: null })),
    ];
  }

  #note({ kind, machine, cluster }: Action): void {
    const offering = this.scenario.catalogue[offeringOf(machine)]!;
    switch (kind) {
      case 'Provision':
        // With nothing left of an offering the engine buys its second choice, and the figures mean something else.
        if (--this.#left[offering.index]! <= 0)
          throw new Error(
            `the quota of ${offering.instanceType} in ${offering.zone} is used up: raise quota`,
          );
        this.hosts.set(machine, { offering, cluster });
        break;
      case 'Bootstrap':
        this.hosts.set(machine, { offering, cluster });
        break;
      case 'Preempt':
      case 'Reclaim':
        this.hosts.set(machine, { offering, cluster: '' });
        break;
      case 'Delete':
        this.#left[offering.index]!++;
        this.hosts.delete(machine);
        break;
    }
  }
}

/** Machines of an offering that the rows which may use it would have if they used no other. */
function mostUsed({ demand, eligibility }: Scenario, { index, offers }: Offering): number {
  let machines = 0;
  for (const { groups } of demand) {
    for (const { pods, profile } of groups) {
      if (eligibility.of(profile)[index] === 0) continue;
      const sum = sumOf(pods);
      machines += Math.max(...sum.map((want, d) => (offers[d] === 0 ? 0 : Math.ceil(want / offers[d]!))));
    }
  }
  return machines;
}

function* idsOf(offering: Offering, count: number): Generator<string> {
  for (let i = 0; i < count; i++) yield idOf(offering, i);
}

/** The place of the offering comes first and has three digits, so that `offeringOf` can read it. */
function idOf({ index }: Offering, i: number): string {
  return `m${String(index).padStart(3, '0')}-${String(i).padStart(6, '0')}`;
}

function offeringOf(id: string): number {
  return Number(id.slice(1, 4));
}

function machinesOf(offering: Offering, count: number): LedgerRecord[] {
  const { capacityType, instanceType, interruptionProbability, labels, pricePerHour, zone } = offering;
  const resources = vectorOf(offering.offers);
  const common = {
    ...{ capacityType, instanceType, interruptionProbability, labels, pricePerHour, zone },
    ...{ resources, allocatable: resources, drainSeconds: DEFAULT_DRAIN_SECONDS },
    ...{ blocked: false, cluster: '', stamp: null, target: null, idleSinceMs: null, unclaimedSinceMs: null },
    state: offering.owned === null ? MachineState.Speculative : MachineState.Idle,
  };
  return Array.from(idsOf(offering, count), (id) => ({ id, ...common }));
}
