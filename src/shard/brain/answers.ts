// Answers to questions about a running shard, made when somebody asks: machines as they stand now, Needs and verdicts as
// of the last cycle.

import { explain } from '../../engine/index.ts';
import {
  effectiveAllocatable,
  firstOf,
  formatResources,
  isMachineState,
  MachineState,
  type Need,
  type NeedKey,
  Operator,
  type Requirement,
  type ResourceVector,
  type Verdict,
} from '../../model/index.ts';
import type { InspectNeedsResponse } from '../../wire/gen/bigfleet/v1alpha1/shardread.ts';
import type {
  ActionView,
  Answer,
  ClusterView,
  MachineFilter,
  MachineView,
  NeedStory,
  NeedView,
  Page,
  Quantities,
  QuestionName,
  Questions,
  SetAsideView,
  ShortfallView,
} from '../views.ts';
import { actionView, capacityLabel } from './action-view.ts';
import type { ActionRecord } from './actuation/records.ts';
import type { BrainState } from './brain.ts';
import type { Cycles } from './cycles.ts';
import type { IncompleteCluster } from './incomplete-demand.ts';
import { inspectNeeds } from './inspect.ts';
import { findNeed, needRef } from './need-names.ts';
import { remarksOn } from './remarks.ts';
import { clusterMachines, stateLabel, statusOf } from './status.ts';

type Answerers = { readonly [Q in QuestionName]: (ask: Questions[Q]['ask']) => Answer<Q> };

export class Answers {
  readonly #state: BrainState;
  readonly #cycles: Cycles;
  readonly #answerers: Answerers = {
    status: () => statusOf(this.#state, this.#cycles.last),
    machines: ({ where, limit }) => this.#machines(where, limit),
    needs: ({ cluster, onlyUnmet, limit }) => this.#needs(cluster, onlyUnmet, limit),
    explain: ({ need }) => this.#story(need),
    clusters: () => this.#clusters(),
    shortfalls: ({ limit }) => this.#shortfalls(limit),
    actions: ({ machine, cluster, limit }) => this.#actions(machine, cluster, limit),
    freezes: () => this.#state.freezes.list(),
    metrics: () => this.#state.metrics.text(),
    inspect: ({ cluster, limit }) => this.#inspect(cluster, limit),
  };

  constructor(state: BrainState, cycles: Cycles) {
    this.#state = state;
    this.#cycles = cycles;
  }

  to<Q extends QuestionName>(name: Q, ask: Questions[Q]['ask']): Answer<Q> {
    return this.#answerers[name](ask);
  }

  #machines(where: MachineFilter, limit: number): Page<MachineView> {
    const { machines } = this.#state.book.fleet;
    if (where.id !== undefined) {
      const view = this.#machine(where.id);
      return view === null ? NOTHING : { items: [view], total: 1 };
    }
    const state = where.state === undefined ? null : stateOfLabel(where.state);
    if (state === undefined) return NOTHING;
    const hidden = where.withForgotten === true ? new Set<number>() : this.#forgotten();
    const slots = this.#state.book.slotsOf({ ...where, state }).filter((slot) => !hidden.has(slot));
    const { first, count } = firstOf(slots, limit, machines.idOrder);
    const items = first.flatMap((slot) => this.#machine(machines.idOf(slot)) ?? []);
    return { items, total: count };
  }

  #forgotten(): ReadonlySet<number> {
    const { book, memory } = this.#state;
    const ids = [...memory.judged].flatMap(([id, { isForgotten }]) => (isForgotten ? id : []));
    return new Set(ids.flatMap((id) => book.fleet.machines.slotOf(id) ?? []));
  }

  #machine(id: string): MachineView | null {
    const { book, memory, actuation, profiles } = this.#state;
    const standing = book.standing(id);
    const record = book.recordOf(id);
    if (standing === null || record === null) return null;
    const { host, lastError } = book.particularsOf(id);
    const { quarantine, isForgotten } = memory.verdictsOn(id);
    const { fingerprint = '', group = '', priority = 0 } = standing.stamp ?? {};
    const { cluster, target } = standing;
    const key = target ?? (fingerprint === '' ? null : { cluster, fingerprint, group });
    const action = actuation.actionOf(id);
    return {
      ...{ id, provider: book.ownerOf(id) ?? '', state: stateLabel(standing.state), cluster },
      ...{ instanceType: record.instanceType, zone: record.zone },
      capacityType: capacityLabel(record.capacityType),
      ...{ pricePerHour: record.pricePerHour, interruptionProbability: record.interruptionProbability },
      allocatable: quantities(effectiveAllocatable(record)),
      labels: Object.fromEntries(record.labels),
      ...{ hostRef: host?.ref ?? '', lastError },
      need: key === null ? null : needRef(key, profiles.of(key)?.priority ?? priority ?? 0),
      idleSinceMs: standing.idleSinceMs,
      held: actuation.holdOf(id),
      ...{ quarantine, isForgotten },
      action: action === null ? null : this.#action(action),
    };
  }

  #needs(cluster: string | undefined, onlyUnmet: boolean, limit: number): Page<NeedView> {
    const decision = this.#cycles.decision?.decided;
    if (decision === undefined) return NOTHING;
    const unmet = decision.unmet.filter(({ key }) => cluster === undefined || key.cluster === cluster);
    const verdicts = onlyUnmet ? unmet.slice(0, limit) : decision.verdicts({ cluster, limit });
    const items = verdicts.map((verdict) => this.#need(this.#needOf(verdict.key)!, verdict));
    return { items, total: onlyUnmet ? unmet.length : this.#rowsOf(cluster) };
  }

  #needOf(key: NeedKey): Need | undefined {
    return this.#state.book.fleet.demand.needOf(key);
  }

  #need(need: Need, verdict: Verdict): NeedView {
    const { shortfalls } = this.#state;
    return {
      ...needRef(verdict.key, verdict.priority),
      fingerprint: verdict.key.fingerprint,
      wants: quantities(need.aggregate),
      minUnit: quantities(need.minUnit),
      requirements: need.profile.requirements.map(requirementText),
      firstSeenMs: need.firstSeenMs,
      isMet: verdict.satisfied,
      missing: quantities(verdict.deficit),
      claimed: verdict.claimed.length,
      bootstraps: verdict.bootstraps.length,
      provisions: verdict.provisions.length,
      preempts: verdict.preempts.length,
      domain: verdict.domain,
      reason: verdict.unmet?.reason ?? null,
      unmetCycles: shortfalls.unmetCyclesOf(verdict.key),
      isFolded: verdict.foldedInto !== null,
    };
  }

  #story(id: string): NeedStory | null {
    const decision = this.#cycles.decision;
    const { book, profiles } = this.#state;
    const key = findNeed(book.fleet, id);
    if (decision === null || key === undefined) return null;
    const verdict = decision.decided.verdictOf(key);
    const need = this.#needOf(key);
    if (verdict === null || need === undefined) return null;
    const why = explain(book.fleet, this.#cycles.last!.atMs, decision.options, key);
    const blocker = verdict.unmet?.blocker ?? why?.blocker ?? null;
    const candidates = verdict.candidates.length > 0 ? verdict.candidates : (why?.candidates ?? []);
    const extraSupply = verdict.unmet?.extraSupply ?? null;
    const { foldedInto } = verdict;
    const isOfNeed = ({ need: of }: ActionRecord): boolean =>
      of !== null && (isSameKey(of, key) || (foldedInto !== null && isSameKey(of, foldedInto)));
    const actions = [...this.#state.actuation.actions()].filter(isOfNeed).slice(-STORY_ACTIONS);
    return {
      need: this.#need(need, verdict),
      claimed: verdict.claimed,
      preempts: verdict.preempts,
      matching: verdict.unmet?.matching ?? why?.matching ?? { idle: 0, speculative: 0, configured: 0 },
      blocker: blocker === null ? null : needRef(blocker, profiles.of(blocker)?.priority ?? 0),
      extraSupply,
      candidates: candidates.map(({ domain, worstCoverage, satisfiable }) => ({
        domain,
        coverage: worstCoverage / 1_000_000,
        satisfiable,
      })),
      remarks: remarksOn(this.#state, verdict),
      actions: actions.map((record) => this.#action(record)),
    };
  }

  #clusters(): readonly ClusterView[] {
    const { book, sessions, reported, freezes, actuation, incomplete } = this.#state;
    const { fleet } = book;
    const decided = this.#cycles.decision?.decided;
    const unmet = new Map<string, number>();
    for (const { key } of this.#cycles.decision?.decided.unmet ?? [])
      unmet.set(key.cluster, (unmet.get(key.cluster) ?? 0) + 1);
    const muted = new Map(actuation.mutedClusters.map(({ cluster, why }) => [cluster, why]));
    const frozen = new Map(freezes.list().map((freeze) => [freeze.cluster, freeze]));
    const names = new Set([
      ...fleet.clusters.sorted().map((number) => fleet.clusters.nameOf(number)),
      ...sessions.keys(),
    ]);
    return [...names].map((cluster) => {
      const hasSession = sessions.has(cluster);
      const freeze = frozen.get(cluster) ?? frozen.get(null) ?? null;
      const cannotBind = hasSession ? (muted.get(cluster) ?? '') : 'It has no session.';
      return {
        ...{ cluster, hasSession, hasReported: reported.has(cluster) },
        needs: fleet.demand.rowsOf(fleet.clusters.find(cluster)).length,
        unmet: unmet.get(cluster) ?? 0,
        ...clusterMachines(fleet, cluster),
        setAside: setAsideView(incomplete.of(cluster), decided?.spareOf(cluster) ?? 0),
        ...{ freeze, cannotBind, reports: null },
      };
    });
  }

  #shortfalls(limit: number): Page<ShortfallView> {
    const { shortfalls } = this.#state;
    const items = shortfalls.top(limit).map(({ key, profile, deficit, reason, ageCycles, isEscalated }) => ({
      ...needRef(key, profile.priority),
      missing: quantities(deficit),
      ...{ reason, ageCycles, isEscalated },
    }));
    return { items, total: shortfalls.gauges.total };
  }

  #actions(machine: string | undefined, cluster: string | undefined, limit: number) {
    const isWanted = (action: { readonly machine: string; readonly cluster: string }): boolean =>
      (machine === undefined || action.machine === machine) &&
      (cluster === undefined || action.cluster === cluster);
    const records = [...this.#state.actuation.actions()].filter(isWanted);
    records.sort((a, b) => b.startedMs - a.startedMs);
    const waiting = this.#cycles.waiting.filter(isWanted);
    // Of very many only the first are kept, but all are counted.
    const counted = Object.values(this.#cycles.last?.waiting ?? {}).reduce((sum, count) => sum + count, 0);
    const isEverything = machine === undefined && cluster === undefined;
    return {
      actions: {
        items: records.slice(0, limit).map((record) => this.#action(record)),
        total: records.length,
      },
      waiting: { items: waiting.slice(0, limit), total: isEverything ? counted : waiting.length },
    };
  }

  #action(record: ActionRecord): ActionView {
    const { book, profiles } = this.#state;
    return actionView(record, book, profiles);
  }

  #inspect(cluster: string, limit: number): readonly InspectNeedsResponse[] {
    const { book, shortfalls } = this.#state;
    const { last, decision } = this.#cycles;
    const question = {
      cluster: cluster === '' ? undefined : cluster,
      limit: limit > 0 ? limit : Number.POSITIVE_INFINITY,
      order: 'priority',
    } as const;
    const inspected = {
      cycle: last?.number ?? 0,
      computedAtMs: last?.atMs ?? 0,
      totalNeeds: decision === null ? 0 : this.#rowsOf(question.cluster),
      verdicts: decision?.decided.verdicts(question) ?? [],
      needOf: (key: NeedKey) => this.#needOf(key),
      unmetCyclesOf: (key: NeedKey) => shortfalls.unmetCyclesOf(key),
      offeredBy: (machine: string) => {
        const record = book.recordOf(machine);
        return record === null ? undefined : effectiveAllocatable(record);
      },
    };
    return [...inspectNeeds(inspected)];
  }

  /** Rows on record, of a cluster or of all. */
  #rowsOf(cluster: string | undefined): number {
    const { clusters, demand } = this.#state.book.fleet;
    return cluster === undefined ? demand.count : demand.rowsOf(clusters.find(cluster)).length;
  }
}

function setAsideView({ rows, isLifted }: IncompleteCluster, spare: number): SetAsideView | null {
  return rows === 0 ? null : { rows, isLifted, machinesKept: isLifted ? 0 : spare };
}

/** Actions in the story of a Need, the latest. */
const STORY_ACTIONS = 20;
const NOTHING = { items: [], total: 0 } as const;

function isSameKey(a: NeedKey, b: NeedKey): boolean {
  return a.group === b.group && a.cluster === b.cluster && a.fingerprint === b.fingerprint;
}

function quantities(vector: ResourceVector): Quantities {
  return formatResources(vector);
}

function stateOfLabel(label: string): MachineState | undefined {
  return Object.values(MachineState).find((state) => isMachineState(state) && stateLabel(state) === label);
}

const OPERATOR_TEXT: ReadonlyMap<Operator, string> = new Map(
  Object.entries(Operator).map(([name, operator]) => [operator as Operator, name]),
);

function requirementText({ key, operator, values }: Requirement): string {
  const name = OPERATOR_TEXT.get(operator) ?? '?';
  return values.length === 0 ? `${key} ${name}` : `${key} ${name} ${values.join(', ')}`;
}
