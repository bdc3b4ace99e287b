// Renewal: replaces machines of clusters by others that cost less, a few at a time. Marks machines for the decisions that
// follow (`retiring` in their options) and drops the marks once the machines have left. Reads no clock and starts no timer:
// the caller says when to check a cluster. Kept in memory only; a restart begins again. Called by the shard
// (planning/cycles.ts) and by `bench economy`.

import type { FleetView } from '../../fleet/index.ts';
import { type DecisionOptions, MachineState, type RenewalLimits } from '../../model/index.ts';
import { type Finding, type Proposal, type ProposalLimits, proposeRenewal } from './proposal.ts';
import { WhatIf } from './what-if.ts';

/** Machines that a cluster may replace at a time, however small it is: one alone can rarely be replaced by less. */
const LEAST_MACHINES = 4;
/** Machines that are marked at a time over all clusters: each costs some hundred nanoseconds in every cycle. */
const MOST_MACHINES = 5_000;
/** Least part of the expected saving that must show afterwards. Demand changes meanwhile, so not all of it can. */
const LEAST_SHOWN = 0.5;

/** Machines of a cluster that are being replaced. */
export interface Renewal {
  readonly cluster: string;
  /** Ids of the machines that were marked. */
  readonly machines: readonly string[];
  readonly savesPerHour: number;
  readonly sinceMs: number;
  /** When marks end that still exist: their machines are used as before. */
  readonly untilMs: number;
}

/** How renewals end. finished: all machines have left. expired: marks of some have lasted too long. stopped: by a freeze. */
export const RENEWAL_ENDS = ['finished', 'expired', 'stopped'] as const;
type RenewalEnd = (typeof RENEWAL_ENDS)[number];

export interface EndedRenewal {
  readonly renewal: Renewal;
  readonly end: RenewalEnd;
  /** Machines that are used as before. */
  readonly kept: number;
}

/** Whether machines of a cluster may be replaced now. */
export type MayRenew = (cluster: string) => boolean;

interface ClusterState {
  /** When it is checked next, unless a renewal is in progress. */
  dueMs: number;
  /** Renewals in a row that failed: their marks ran out, or too little of the saving showed. */
  failures: number;
  /** Whether the last check found machines to replace. A renewal begins if two checks do: demand that varies has moments. */
  wasWorthIt: boolean;
  /** Whether machines were replaced, and no check since has found that nothing is left to replace. */
  isUnderWay: boolean;
  renewal: Renewal | null;
  /** Cost per hour that the last renewal should lead to, until a check has compared it. */
  unchecked: { readonly expected: number; readonly saves: number } | null;
}

export class Renewals {
  readonly #fleet: FleetView;
  readonly #limits: RenewalLimits;
  readonly #clusters = new Map<string, ClusterState>();
  /** By id of a marked machine. */
  readonly #marks = new Map<string, Renewal>();
  #retiring: ReadonlySet<string> = new Set();
  /** Made by the first check. */
  #whatIf: WhatIf | null = null;
  /** The cluster that was checked last. */
  #last = '';

  constructor(fleet: FleetView, limits: RenewalLimits) {
    this.#fleet = fleet;
    this.#limits = limits;
  }

  /** Ids of marked machines; another set only if they have changed. */
  get retiring(): ReadonlySet<string> {
    return this.#retiring;
  }

  /** The renewal that a machine is marked by. */
  of(id: string): Renewal | undefined {
    return this.#marks.get(id);
  }

  /**
   * Drops marks of machines that have left their cluster, those that have lasted too long, and those of clusters that may not be
   * renewed. Call it before a decision.
   */
  settle(nowMs: number, mayRenew: MayRenew = always): readonly EndedRenewal[] {
    const ended: EndedRenewal[] = [];
    for (const state of this.#clusters.values()) {
      const { renewal } = state;
      if (renewal === null) continue;
      const left = renewal.machines.filter((id) => this.#marks.has(id) && !this.#isIn(id, renewal.cluster));
      for (const id of left) this.#marks.delete(id);
      const kept = renewal.machines.filter((id) => this.#marks.has(id));
      if (left.length > 0) this.#publish();
      const end = endOf(renewal, kept.length, nowMs, mayRenew);
      if (end === null) continue;
      ended.push({ renewal, end, kept: kept.length });
      state.renewal = null;
      if (end !== 'finished') this.#unmark(state, kept);
      if (end === 'expired') this.#leaveAlone(state, nowMs);
      if (end === 'stopped') state.dueMs = nowMs + this.#limits.waitMs;
    }
    return ended;
  }

  /** Checks the next cluster that is due; returns the renewal that begins with it, if one does. */
  check(nowMs: number, options: DecisionOptions, mayRenew: MayRenew = always): Renewal | null {
    // Without a hold, machines would drain before their replacements have booted.
    if (options.reclaimHoldSeconds === 0) return null;
    const room = this.#room();
    if (room <= 0) return null;
    const cluster = this.#nextDue(nowMs, options, mayRenew);
    if (cluster === null) return null;
    this.#last = cluster;
    this.#forgetGone();
    const state = this.#stateOf(cluster);
    const number = this.#fleet.clusters.find(cluster);
    const machines = Math.min(room, this.#limitOf(this.#configuredIn(number)));
    const { isUnderWay } = state;
    const finding = this.#propose(number, nowMs, options, { machines, isUnderWay });
    state.dueMs = nowMs + this.#limits.waitMs;
    const isConfirmed = isUnderWay || state.wasWorthIt;
    state.wasWorthIt = finding.proposal !== null;
    if (finding.isDone) state.isUnderWay = false;
    if (this.#hasFailed(state, finding)) {
      this.#leaveAlone(state, nowMs);
      return null;
    }
    if (finding.proposal === null || !isConfirmed) return null;
    return this.#begin(cluster, state, finding.proposal, nowMs, options);
  }

  #propose(cluster: number, nowMs: number, options: DecisionOptions, limits: ProposalLimits): Finding {
    this.#whatIf ??= new WhatIf(this.#fleet);
    this.#whatIf.open(cluster, nowMs, options);
    try {
      return proposeRenewal(this.#fleet, this.#whatIf, limits);
    } finally {
      this.#whatIf.close();
    }
  }

  /** Whether too little of the last renewal's saving shows, because pods did not fit or demand changed. */
  #hasFailed(state: ClusterState, { now }: Finding): boolean {
    const { unchecked } = state;
    if (now === null || unchecked === null) return false;
    state.unchecked = null;
    const hasFailed = now > unchecked.expected + (1 - LEAST_SHOWN) * unchecked.saves;
    if (!hasFailed) state.failures = 0;
    return hasFailed;
  }

  #leaveAlone(state: ClusterState, nowMs: number): void {
    const { longestWaitMs, waitMs } = this.#limits;
    state.failures++;
    state.dueMs = nowMs + Math.min(waitMs * 2 ** state.failures, longestWaitMs);
  }

  #begin(
    cluster: string,
    state: ClusterState,
    { after, now, slots }: Proposal,
    nowMs: number,
    { reclaimHoldSeconds }: DecisionOptions,
  ): Renewal {
    const renewal: Renewal = {
      cluster,
      machines: slots.map((slot) => this.#fleet.machines.idOf(slot)),
      savesPerHour: now - after,
      sinceMs: nowMs,
      untilMs: nowMs + reclaimHoldSeconds * 1000 + this.#limits.markMs,
    };
    for (const id of renewal.machines) this.#marks.set(id, renewal);
    this.#publish();
    state.renewal = renewal;
    state.isUnderWay = true;
    state.unchecked = { expected: after, saves: now - after };
    // The next check follows when the machines have left.
    state.dueMs = nowMs;
    return renewal;
  }

  #unmark(state: ClusterState, kept: readonly string[]): void {
    for (const id of kept) this.#marks.delete(id);
    this.#publish();
    state.unchecked = null;
  }

  #publish(): void {
    this.#retiring = new Set(this.#marks.keys());
  }

  #isIn(id: string, cluster: string): boolean {
    const { clusters, machines } = this.#fleet;
    const slot = machines.slotOf(id);
    if (slot === undefined || machines.state[slot] !== MachineState.Configured) return false;
    return clusters.nameOf(machines.cluster[slot]!) === cluster;
  }

  #stateOf(cluster: string): ClusterState {
    let state = this.#clusters.get(cluster);
    if (state === undefined) {
      state = {
        dueMs: Number.NEGATIVE_INFINITY,
        failures: 0,
        wasWorthIt: false,
        isUnderWay: false,
        renewal: null,
        unchecked: null,
      };
      this.#clusters.set(cluster, state);
    }
    return state;
  }

  /** Machines that may be marked in addition, over all clusters. */
  #room(): number {
    let configured = 0;
    for (const cluster of this.#fleet.clusters.sorted()) configured += this.#configuredIn(cluster);
    return Math.min(MOST_MACHINES, this.#limitOf(configured)) - this.#marks.size;
  }

  #limitOf(configured: number): number {
    return Math.max(LEAST_MACHINES, Math.floor(this.#limits.fraction * configured));
  }

  #configuredIn(cluster: number): number {
    return this.#fleet.machines.boundOf(cluster)?.configured.length ?? 0;
  }

  /** The first cluster behind the last one, in the order of names, that is due and can be decided on. */
  #nextDue(nowMs: number, { cannotBind, readyClusters }: DecisionOptions, mayRenew: MayRenew): string | null {
    const { clusters } = this.#fleet;
    const sorted = clusters.sorted();
    const start = sorted.findIndex((number) => clusters.nameOf(number) === this.#last) + 1;
    for (let i = 0; i < sorted.length; i++) {
      const number = sorted[(start + i) % sorted.length]!;
      const name = clusters.nameOf(number);
      if (cannotBind.has(name) || readyClusters?.has(name) === false) continue;
      const state = this.#clusters.get(name);
      const isDue = state === undefined || (state.renewal === null && state.dueMs <= nowMs);
      if (isDue && this.#configuredIn(number) > 0 && mayRenew(name)) return name;
    }
    return null;
  }

  /** Drops the state of clusters that are gone. */
  #forgetGone(): void {
    const { clusters } = this.#fleet;
    if (this.#clusters.size < clusters.size) return;
    const names = new Set(clusters.sorted().map((number) => clusters.nameOf(number)));
    for (const [name, { renewal }] of this.#clusters)
      if (renewal === null && !names.has(name)) this.#clusters.delete(name);
  }
}

const always: MayRenew = () => true;

/** How a renewal ends with `kept` machines that have not left; null if it goes on. */
function endOf(renewal: Renewal, kept: number, nowMs: number, mayRenew: MayRenew): RenewalEnd | null {
  if (kept === 0) return 'finished';
  if (nowMs >= renewal.untilMs) return 'expired';
  return mayRenew(renewal.cluster) ? null : 'stopped';
}
