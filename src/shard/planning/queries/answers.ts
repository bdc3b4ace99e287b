// Answers queries about a running shard, computed on request: machines in their current state, Needs and verdicts as
// of the last cycle. Called by controller.ts for the questions of API and commands; changes nothing.

import {
  adviceFor,
  compareText,
  effectiveAllocatable,
  formatResources,
  type Need,
  type NeedKey,
  type Obstacle,
  obstacleText,
  type RemainderCounts,
  remaindersText,
  type Share,
  unmetText,
  type Verdict,
  verdictText,
} from '../../../model/index.ts';
import type { InspectNeedsResponse } from '../../../wire/gen/bigfleet/v1alpha1/shardread.ts';
import type { ActionRecord } from '../../actuation/action-records.ts';
import type { Answer, NeedExplanation, Page, QuestionName, Questions } from '../../views.ts';
import type { ControllerState } from '../controller.ts';
import type { Cycles } from '../cycles.ts';
import { ReplicaFeed } from '../replica-feed.ts';
import { actionView } from './action-view.ts';
import { clusterPage } from './cluster-page.ts';
import { costReport, costSeries, remediesFor } from './cost.ts';
import { inspectNeeds } from './inspect.ts';
import { machineCounts } from './machine-counts.ts';
import { machinePage } from './machine-page.ts';
import { findingsOn, type NeedFindings } from './need-findings.ts';
import { findNeed, needId, needRef } from './need-names.ts';
import { explainNeed } from './need-obstacles.ts';
import { IN_EXPLANATION, IN_LIST, needView } from './need-view.ts';
import { EMPTY_PAGE, firstWithin, offsetOf, offsetPage, pageOf } from './pages.ts';
import { planOf } from './plan.ts';
import { recentHistory } from './recent-history.ts';
import { remarksOn } from './remarks.ts';
import { statusOf } from './status.ts';

type Demand = ControllerState['ledger']['fleet']['demand'];
type Ask<Q extends QuestionName> = Questions[Q]['ask'];
type Answerers = { readonly [Q in QuestionName]: (ask: Ask<Q>) => Answer<Q> };

export class Answers {
  readonly #state: ControllerState;
  readonly #cycles: Cycles;
  readonly #answerers: Answerers = {
    status: () => statusOf(this.#state, this.#cycles.last, this.#cycles.served),
    machines: (ask) =>
      machinePage(this.#state, ask, (id) => this.#cycles.decision?.decided.usersOf(id) ?? []),
    needs: (ask) => this.#needs(ask),
    explain: ({ need }) => this.#explain(need),
    explainUnlessLarge: ({ need }) =>
      this.isLarge && this.#keyOf(need) !== null ? 'large' : this.#explain(need),
    explainFound: ({ found }) => this.#story(found),
    clusters: (ask) => clusterPage(this.#state, this.#cycles, ask),
    shortfalls: (ask) => this.#shortfalls(ask),
    actions: (ask) => this.#actions(ask),
    plan: (ask) => planOf(this.#state, this.#cycles, ask),
    series: ({ sinceMs }) => this.#state.series.view(this.#state.parts.clock.now(), sinceMs),
    events: (ask) => this.#state.events.view(ask),
    history: (ask) => recentHistory(this.#state.events.view({ limit: ALL_EVENTS }).items, ask),
    freezes: (ask) => this.#freezes(ask),
    cost: (ask) => costReport(this.#state, this.#cycles.served, ask),
    costSeries: (ask) => costSeries(this.#state, ask),
    remedies: (ask) => remediesFor(this.#state, this.#cycles.decision?.decided ?? null, ask),
    machineCounts: (ask) => machineCounts(this.#state, ask),
    metrics: () => this.#state.metrics.text(),
    replica: ({ isFirst }) => this.#replica(isFirst),
    inspect: ({ cluster, limit }) => this.#inspect(cluster, limit),
  };

  constructor(state: ControllerState, cycles: Cycles) {
    this.#state = state;
    this.#cycles = cycles;
  }

  to<Q extends QuestionName>(name: Q, ask: Ask<Q>): Answer<Q> {
    return this.#answerers[name](ask);
  }

  #replica(isFirst: boolean): Answer<'replica'> {
    const { ledger, parts } = this.#state;
    const nowMs = parts.clock.now();
    if (isFirst) this.#state.replica = new ReplicaFeed(ledger, nowMs);
    const { decision, last } = this.#cycles;
    const decided =
      decision === null || last === null ? null : { options: decision.options, atMs: last.atMs };
    return this.#state.replica?.next(nowMs, decided) ?? null;
  }

  #needs(ask: Ask<'needs'>): Page<ReturnType<typeof needView>> {
    const { cluster, onlyUnmet, reason, minPriority = Number.NEGATIVE_INFINITY, limit } = ask;
    const decision = this.#cycles.decision?.decided;
    if (decision === undefined) return EMPTY_PAGE;
    const skip = offsetOf(ask);
    const isOfUnmet = onlyUnmet || reason !== undefined;
    const isWanted = ({ key, priority, unmet }: Verdict): boolean =>
      (cluster === undefined || key.cluster === cluster) &&
      (reason === undefined || unmet?.reason === reason) &&
      priority >= minPriority;
    const unmet = isOfUnmet ? decision.unmet.filter(isWanted) : [];
    const total = isOfUnmet ? unmet.length : this.#rowsOf(cluster, minPriority);
    // Rank begins with the priority, so rows of at least one priority are the first ones.
    const verdicts = isOfUnmet
      ? unmet.slice(skip, skip + limit + 1)
      : decision.verdicts({ cluster, skip, limit: Math.max(0, Math.min(limit + 1, total - skip)) });
    return pageOf(ask, {
      entries: verdicts,
      total,
      viewOf: (verdict) => this.#need(this.#needOf(verdict.key)!, verdict, IN_LIST),
      positionOf: (_, count) => String(skip + count),
    });
  }

  #needOf(key: NeedKey): Need | undefined {
    return this.#state.ledger.fleet.demand.needOf(key);
  }

  #need(need: Need, verdict: Verdict, detail: typeof IN_LIST) {
    return needView(need, verdict, this.#state.shortfalls.unmetCyclesOf(verdict.key), detail);
  }

  get isLarge(): boolean {
    const { demand, machines } = this.#state.ledger.fleet;
    const { largeFleet } = this.#state.parts.options;
    return demand.count >= largeFleet.needs || machines.count >= largeFleet.machines;
  }

  /** null: there is no such Need, or no decision on it. */
  #keyOf(id: string): NeedKey | null {
    return this.#cycles.decision === null ? null : (findNeed(this.#state.ledger.fleet, id) ?? null);
  }

  #explain(id: string): NeedExplanation | null {
    const { decision, last } = this.#cycles;
    const key = this.#keyOf(id);
    if (decision === null || last === null || key === null) return null;
    const decided = { options: decision.options, atMs: last.atMs };
    const found = findingsOn(this.#state.ledger.fleet, decided, key);
    return found && this.#story(found);
  }

  #story(found: NeedFindings): NeedExplanation {
    const { explanation: why, need, verdict } = found;
    const { key } = verdict;
    const { obstacles, onTheWay } = explainNeed(this.#state, found);
    const blocker = verdict.unmet?.blocker ?? why.blocker;
    const candidates = verdict.candidates.length > 0 ? verdict.candidates : why.candidates;
    const extraSupply = verdict.unmet?.extraSupply ?? null;
    const { foldedInto } = verdict;
    // A row that the replica found may be gone.
    const ahead = blocker === null ? undefined : this.#state.profiles.of(blocker);
    const ids = new Set([key, ...(foldedInto === null ? [] : [foldedInto])].map(needId));
    // Actions that served the Need, and actions that took machines from it.
    const isOfNeed = ({ need: of, from }: ActionRecord): boolean =>
      (of !== null && ids.has(of.id)) || (from !== null && ids.has(from.id));
    const actions = [...this.#state.actuation.actions()]
      .filter(isOfNeed)
      .sort(newestFirst)
      .slice(0, STORY.actions);
    return {
      need: this.#need(need, verdict, IN_EXPLANATION),
      sentence: verdictText(verdict),
      claimed: firstWithin(verdict.claimed, STORY.ids, STORY.idBytes),
      claimedTotal: verdict.claimed.length,
      shares: firstWithin(verdict.shares.map(shareView), STORY.ids, STORY.idBytes),
      sharesTotal: verdict.shares.length,
      preempts: firstWithin(verdict.preempts, STORY.ids, STORY.idBytes),
      preemptsTotal: verdict.preempts.length,
      matching: verdict.unmet?.matching ?? why.matching,
      blocker: blocker === null || ahead === undefined ? null : needRef(blocker, ahead.priority),
      extraSupply,
      candidates: candidates.slice(0, STORY.candidates).map(({ domain, worstCoverage, satisfiable }) => ({
        domain,
        coverage: worstCoverage / 1_000_000,
        satisfiable,
      })),
      obstacles: obstacles.map((obstacle) => ({ ...obstacle, sentence: obstacleText(obstacle) })),
      onTheWay,
      advice: this.#advice(verdict, obstacles),
      remainders: remaindersView(why.obstacles.remainders, need),
      remarks: firstWithin(remarksOn(this.#state, verdict), STORY.remarks, STORY.remarkBytes),
      actions: actions.map(actionView),
    };
  }

  #advice({ unmet, priority }: Verdict, obstacles: readonly Obstacle[]): readonly string[] {
    if (unmet === null) return [];
    const [first] = this.#cycles.decision?.decided.verdicts({ limit: 1 }) ?? [];
    const isHighest = first === undefined || first.priority <= priority;
    return adviceFor(
      { priority, isHighest, reason: unmet.reason, missing: unmet.extraSupply?.count },
      obstacles,
    );
  }

  #shortfalls(ask: Ask<'shortfalls'>): Answer<'shortfalls'> {
    const { shortfalls } = this.#state;
    const skip = offsetOf(ask);
    return pageOf(ask, {
      entries: shortfalls.top(skip + ask.limit + 1).slice(skip),
      total: shortfalls.gauges.total,
      viewOf: ({ key, profile, deficit, reason, fitting, ageCycles, isEscalated }) => ({
        ...needRef(key, profile.priority),
        missing: formatResources(deficit),
        ...{ reason, why: unmetText(reason, fitting), ageCycles, isEscalated },
      }),
      positionOf: (_, count) => String(skip + count),
    });
  }

  #freezes(ask: Ask<'freezes'>): Answer<'freezes'> {
    const { id: wanted, after } = ask;
    const freezes = this.#state.freezes.list().filter(({ id }) => wanted === undefined || id === wanted);
    const last = after === undefined ? null : momentOf(after);
    const isBehind = ({ sinceMs, id }: (typeof freezes)[number]): boolean =>
      last === null || sinceMs > last.ms || (sinceMs === last.ms && compareText(id, last.id) > 0);
    return pageOf(ask, {
      entries: freezes.filter(isBehind),
      total: freezes.length,
      viewOf: (freeze) => freeze,
      positionOf: ({ sinceMs, id }) => `${sinceMs} ${id}`,
    });
  }

  #actions(ask: Ask<'actions'>): Answer<'actions'> {
    const { machine, cluster, only } = ask;
    const isWanted = (action: { readonly machine: string; readonly cluster: string }): boolean =>
      (machine === undefined || action.machine === machine) &&
      (cluster === undefined || action.cluster === cluster);
    const records = [...this.#state.actuation.actions()].filter(isWanted).sort(newestFirst);
    const waiting = this.#cycles.waiting.filter(isWanted);
    // Only the first actions are kept, but all are counted.
    const counted = Object.values(this.#cycles.last?.waiting ?? {}).reduce((sum, count) => sum + count, 0);
    const isEverything = machine === undefined && cluster === undefined;
    const waitingTotal = isEverything ? counted : waiting.length;
    // Two lists in one answer share its bytes.
    const maxBytes = only === undefined && ask.maxBytes !== undefined ? ask.maxBytes / 2 : ask.maxBytes;
    const share = { ...ask, maxBytes };
    return {
      actions:
        only === 'waiting' ? { ...EMPTY_PAGE, total: records.length } : this.#actionPage(share, records),
      waiting:
        only === 'actions'
          ? { ...EMPTY_PAGE, total: waitingTotal }
          : offsetPage(share, waiting, waitingTotal),
    };
  }

  #actionPage(ask: Ask<'actions'>, records: readonly ActionRecord[]): Answer<'actions'>['actions'] {
    const last = ask.after === undefined ? null : momentOf(ask.after);
    const isBehind = (record: ActionRecord): boolean =>
      last === null || newestFirst(record, { startedMs: last.ms, id: last.id }) > 0;
    return pageOf(ask, {
      entries: records.filter(isBehind),
      total: records.length,
      viewOf: actionView,
      positionOf: ({ startedMs, id }) => `${startedMs} ${id}`,
    });
  }

  #inspect(cluster: string, limit: number): readonly InspectNeedsResponse[] {
    const { ledger, shortfalls } = this.#state;
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
        const record = ledger.recordOf(machine);
        return record === null ? undefined : effectiveAllocatable(record);
      },
    };
    return [...inspectNeeds(inspected)];
  }

  /** Number of rows of a cluster, or of all clusters, with at least this priority. */
  #rowsOf(cluster: string | undefined, minPriority = Number.NEGATIVE_INFINITY): number {
    const { clusters, demand } = this.#state.ledger.fleet;
    if (cluster === undefined && minPriority === Number.NEGATIVE_INFINITY) return demand.count;
    let rows = 0;
    for (const number of cluster === undefined ? clusters.sorted() : [clusters.find(cluster)])
      rows += rowsFrom(demand, number, minPriority);
    return rows;
  }
}

/** Number of rows of a cluster with at least this priority: in rank order they are the first. */
function rowsFrom(demand: Demand, cluster: number, minPriority: number): number {
  const { offset, length } = demand.rowsOf(cluster);
  let [from, to] = [0, length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    const profile = demand.profile[demand.ranked[offset + middle]!]!;
    if (demand.profiles.entryOf(profile).profile.priority >= minPriority) from = middle + 1;
    else to = middle;
  }
  return from;
}

const ALL_EVENTS = Number.MAX_SAFE_INTEGER;

/** Bounds on the lists in the explanation of a Need: together well below 1 MB for names of any length. */
const STORY = {
  /** The newest. */
  actions: 20,
  /** Claimed machines, and those moved out for it; bytes of JSON of each list. */
  ids: 1_000,
  idBytes: 100_000,
  candidates: 100,
  remarks: 100,
  remarkBytes: 100_000,
} as const;

function shareView({ machine, amount }: Share): NeedExplanation['shares'][number] {
  return { machine, amount: formatResources(amount) };
}

function remaindersView(counts: RemainderCounts, { minUnit }: Need): NeedExplanation['remainders'] {
  return { ...counts, sentence: remaindersText(counts, minUnit) };
}

/** Latest start first; on a tie, the higher action number first. */
function newestFirst(a: Pick<ActionRecord, 'startedMs' | 'id'>, b: typeof a): number {
  return b.startedMs - a.startedMs || b.id.length - a.id.length || compareText(b.id, a.id);
}

/** Parses a page position: a time and an id. */
function momentOf(position: string): { readonly ms: number; readonly id: string } {
  const space = position.indexOf(' ');
  return { ms: Number(position.slice(0, space)), id: position.slice(space + 1) };
}
