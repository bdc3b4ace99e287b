// The state of one cycle: the claimant of each machine and the result of each ranked row, in columns.

import { withRoom } from '../collections/columns.ts';
import { ColumnGroup, shareColumns } from '../collections/table.ts';
import type { FleetView, Pattern, ProfileEntry } from '../fleet/index.ts';
import type { DecisionOptions } from '../model/index.ts';
import { Actions } from './actions.ts';
import { BoundIndex, BoundWalk, MineWalk } from './assign/bound-machines.ts';
import { Contended } from './assign/contended.ts';
import { DirtyClusters } from './assign/dirty-clusters.ts';
import { DomainSums } from './assign/domain-sums.ts';
import { Foldable } from './assign/foldable.ts';
import { Infeasible } from './assign/infeasible.ts';
import { Pass } from './assign/pool-pass.ts';
import { NONE, RankedRows, RowKind } from './assign/ranked-rows.ts';
import { Regions } from './assign/regions.ts';
import { EvenList } from './assign/spread-credit.ts';
import { Unfilled } from './assign/unfilled.ts';
import { isFreeState } from './candidates/class-availability.ts';
import { AvailabilityByDomain } from './candidates/domain-availability.ts';
import { DomainCandidates } from './candidates/domain-candidates.ts';
import { FreeMachines } from './candidates/free-machines.ts';
import { FittingMachines } from './fitting-machines.ts';
import { CycleStats } from './stats.ts';
import type { Unmet } from './unmet.ts';
import type { GangView } from './views.ts';

/**
 * Result of crediting a row. Covered: it has all it wants or may have. Short: it goes on to the free machines with the
 * rest. Waits: it is served from the free machines only.
 */
export const Credit = { Covered: 0, Short: 1, Waits: 2 } as const;
export type Credit = (typeof Credit)[keyof typeof Credit];

/** Reserved cluster number: no cluster has it, so index 0 of a column by cluster holds the value for all clusters. */
const ANY = 0;

/**
 * Serves one cycle after another. State of clusters that have not changed is kept between cycles: their ranked rows, the index of
 * their machines, and the credits of their rows. Claims on free machines are undone when the next cycle begins.
 */
export class Cycle {
  readonly fleet: FleetView;
  options!: DecisionOptions;
  nowMs = 0;
  number = 0;
  /** Slots written since `#forget` last ran. */
  readonly #written: Set<number>;
  /** Clusters that this cycle served again; the credits of all other clusters are unchanged. */
  served: readonly number[] = [];
  /** The subset of `served` that was served before the cycle began. */
  #overlapped: readonly number[] = [];
  stats = new CycleStats();
  readonly rankedRows = new RankedRows();
  readonly bound: BoundIndex;
  readonly mine: MineWalk;
  readonly walk: BoundWalk;
  readonly foldable: Foldable;
  readonly infeasible: Infeasible;
  readonly dirtyClusters: DirtyClusters;
  readonly freeMachines: FreeMachines;
  /** Free machines by domain, and the domains found for the gang being served. */
  readonly availability: AvailabilityByDomain;
  readonly sums: DomainSums;
  /** Candidates of the strict-spread row being served. */
  readonly domainCandidates: DomainCandidates;
  readonly fittingMachines: FittingMachines;
  readonly unfilled: Unfilled;
  /** What will remain of `unfilled` once the machines draining for the ranked row have arrived. */
  readonly #rest: Unfilled;
  /** What the strict-spread row being credited may claim. */
  readonly even = new EvenList(this);
  readonly actions = new Actions(this);
  readonly bySlot = new ColumnGroup(this);
  /** The claiming ranked row plus one; 0 for none. */
  readonly claimedBy = this.bySlot.i32();
  /** By slot: 1 if Phase 2 picked it. `picks` lists these slots, so that resetting them does not scan the column. */
  picked = new Uint8Array(0);
  picks: number[] = [];
  /** Machines that rows of the cluster being credited might claim in the pass. */
  readonly contended: Contended;

  /** Claims in claim order: one region per cluster for its credits, then the claims of the pass. */
  readonly claimList = new ColumnGroup(this);
  readonly claims = this.claimList.u32();
  #claimCount = 0;
  /** Value of `#claimCount` when unclaimed machines of the cluster being credited were listed; NONE without a list. */
  #listedAt = NONE;
  readonly #creditRegions = new Regions();
  /** Configured machines that no row was credited with, cluster by cluster, in keep order. */
  readonly unclaimedList = new ColumnGroup(this);
  readonly unclaimed = this.unclaimedList.u32();
  readonly byRankedRow = new ColumnGroup(this);
  /** A value of `Credit`. */
  readonly outcome = this.byRankedRow.u8();
  readonly creditStart = this.byRankedRow.u32();
  readonly creditEnd = this.byRankedRow.u32();
  readonly laterStart = this.byRankedRow.u32();
  readonly laterEnd = this.byRankedRow.u32();
  /** Ranked rows that need free machines, by cluster: from the start of its ranked rows up to `pendingEnd`. */
  readonly pending = this.byRankedRow.u32();
  /** Classes of the later claims of the ranked row being served, in claim order. */
  laterClasses = new Uint32Array(0);
  readonly byCluster = new ColumnGroup(this);
  /** Start of its region in `claims` and, at the same offset, in `unclaimed`. */
  readonly creditPlace = this.byCluster.u32();
  readonly unclaimedEnd = this.byCluster.u32();
  /** End of its uncredited Configuring machines, which follow at `unclaimedEnd`. */
  readonly freeEnd = this.byCluster.u32();
  readonly pendingEnd = this.byCluster.u32();
  /** 1 if a gang was credited with a machine whose stamp does not name it. */
  readonly restamps = this.byCluster.u8();
  /** 1 if it is credited only after the ranked rows of all clusters are made. */
  readonly putOff = this.byCluster.u8();
  /** 1 if it cannot bind machines now; and at ANY, 1 if there is such a cluster. */
  readonly cannotBind = this.byCluster.u8();

  /** Ranked rows that waited for free machines, in the order they were served. */
  readonly pass = new Pass();
  /** Gangs that had to choose a domain. */
  gangs = new Map<number, GangView>();
  unmet: Unmet[] = [];
  /** Bound machines that a gang of the pass claims without their stamp naming it. */
  restamped: number[] = [];
  /** By cluster: bound machines that a gang covered before the pass claims without their stamp naming it. */
  readonly settledRestamps = new Map<number, readonly number[]>();
  /** By fold that could not host all its members: the number of hosted members. */
  hosted = new Map<number, number>();
  /** By cluster: ranked rows of members that their folds could not host, in the order they are served. */
  unhostedOf = new Map<number, number[]>();
  /** By class: index in the pass of the last ranked row that claimed an Idle or Speculative machine of it; NONE if none did. */
  lastTakenAt = new Int32Array(0);
  /** Classes whose `lastTakenAt` is not NONE. */
  takenClasses: number[] = [];
  /** By cluster and pattern: the last ranked row before one that counts on a bound machine that fits. */
  neighbours = new Map<number, { readonly before: number; readonly last: number }>();
  /** True for the cycle of a lane: only the claims of its rows are read. */
  isTrial = false;

  /**
   * Keys of the row that `explain` was called for: its own and its fold's. The row is served in the pass, where it examines
   * every machine.
   */
  readonly explained = new Set<number>();
  /** By explained ranked row: the last ranked row before it that claimed a machine it could have used. */
  readonly explainedBlockers = new Map<number, number>();

  constructor(
    fleet: FleetView,
    changed = fleet.changes.watch(),
    reshaped = fleet.reshaped.watch(),
    written = fleet.machines.written.watch(),
  ) {
    this.fleet = fleet;
    this.#written = written;
    this.walk = new BoundWalk(fleet);
    this.bound = new BoundIndex(fleet, this.rankedRows, this.walk);
    this.mine = new MineWalk(fleet, this.bound, this.rankedRows);
    this.foldable = new Foldable(fleet, this.walk);
    this.availability = new AvailabilityByDomain(this);
    this.infeasible = new Infeasible(this);
    this.dirtyClusters = new DirtyClusters(fleet, this.foldable, this.infeasible, changed, reshaped);
    this.sums = new DomainSums(this);
    this.domainCandidates = new DomainCandidates(this);
    this.fittingMachines = new FittingMachines(this);
    this.freeMachines = new FreeMachines(fleet);
    this.contended = new Contended(fleet);
    this.unfilled = new Unfilled(fleet);
    this.#rest = new Unfilled(fleet);
  }

  /**
   * A private copy of the cycle for a lane, as of the start of its pass at `passStart`. The lane claims in it freely; no
   * other thread reads it.
   */
  static trialOf(cycle: Cycle, passStart: number): Cycle {
    const trial = new Cycle(cycle.fleet, new Set(), new Set(), new Set());
    trial.isTrial = true;
    trial.options = cycle.options;
    shareColumns(cycle.rankedRows, trial.rankedRows);
    shareColumns(cycle.bound, trial.bound);
    shareColumns(cycle.walk, trial.walk);
    shareColumns(cycle, trial);
    // Columns that serving a row writes to. Plain slices: no other thread reads them.
    trial.bySlot.adopt([cycle.claimedBy.slice()]);
    const claims = new Uint32Array(passStart + cycle.claimedBy.length);
    claims.set(cycle.claims.subarray(0, passStart));
    trial.claimList.adopt([claims]);
    trial.byRankedRow.adopt(cycle.byRankedRow.columns().map((column) => column.slice()));
    trial.#claimCount = passStart;
    trial.freeMachines.begin(trial.claimedBy, true);
    return trial;
  }

  /**
   * Undoes the claims of the last pass, invalidates every cluster that changed and reserves room for its new state. Returns
   * those clusters, which must be served again. With `everything` set, all clusters are invalidated.
   */
  begin(nowMs: number, options: DecisionOptions, everything: boolean): readonly number[] {
    const { fleet } = this;
    this.nowMs = nowMs;
    this.number++;
    this.options = options;
    if (everything) this.#clearClaims();
    this.#takeBackPass();
    this.availability.beginCycle();
    const dirty = this.dirtyClusters.take(everything);
    this.served = [...new Set([...this.#overlapped, ...dirty])];
    this.#overlapped = [];
    this.infeasible.mark(dirty);
    this.#prepare(dirty);
    this.freeMachines.begin(this.claimedBy);
    this.lastTakenAt = new Int32Array(fleet.classes.size).fill(NONE);
    this.takenClasses = [];
    this.byCluster.reserve(fleet.clusters.size);
    this.cannotBind.fill(0);
    for (const name of options.cannotBind) {
      this.cannotBind[fleet.clusters.find(name)] = 1;
      this.cannotBind[ANY] = 1;
    }
    return dirty;
  }

  /**
   * Does the work of `begin` before the cycle, for clusters that can be served while others report. Also undoes the claims
   * of the last pass, since they refer to the previous state of machines.
   */
  beginAhead(reporting: ReadonlySet<number>): readonly number[] {
    const overlapped = this.dirtyClusters.takeOverlapped(reporting);
    if (overlapped.length === 0) return overlapped;
    this.#takeBackPass();
    this.#prepare(overlapped);
    this.#overlapped = [...this.#overlapped, ...overlapped];
    return overlapped;
  }

  #prepare(clusters: readonly number[]): void {
    const changed = clusters.filter((cluster) => this.dirtyClusters.keeps[cluster] === 0);
    this.bySlot.reserve(this.fleet.machines.size);
    this.walk.locate(clusters);
    this.#forget(clusters);
    this.rankedRows.reserve(this.fleet, changed);
    this.bound.reserve(clusters);
    this.byRankedRow.reserve(this.rankedRows.limit);
    this.#reserveCredits(clusters);
  }

  /**
   * Makes the ranked rows of clusters that were put off, because it was not yet known which of their rows fold, or because they
   * have a machine that is on its way to another cluster's row. Returns these clusters, which must be credited.
   */
  takeUp(): readonly number[] {
    for (const cluster of this.served) this.dirtyClusters.entangle(cluster, false);
    const late = this.served.filter((cluster) => this.putOff[cluster] === 1);
    if (late.length === 0) return late;
    this.foldable.answer();
    for (const cluster of late) {
      this.makeRankedRows(cluster);
      this.dirtyClusters.entangle(cluster, this.bound.isEntangled(cluster));
    }
    return late;
  }

  /** Makes the ranked rows of a cluster; returns false if it is not yet known which rows fold. */
  makeRankedRows(cluster: number): boolean {
    const areMade = this.rankedRows.make(this.fleet, this.foldable, cluster);
    this.dirtyClusters.scanned[cluster] = this.foldable.hasScanned ? 1 : 0;
    return areMade;
  }

  /** Drops all claims after a cycle failed at an unknown point. The next cycle starts from an empty state. */
  reset(): void {
    this.#clearClaims();
    this.dirtyClusters.restart();
  }

  /** Clearing whole columns is faster than resetting claims one by one, where there are many. */
  #clearClaims(): void {
    for (const column of [this.creditStart, this.creditEnd, this.laterStart, this.laterEnd]) column.fill(0);
    this.claimedBy.fill(0);
    this.picked.fill(0);
    this.picks = [];
    this.#claimCount = 0;
    this.pass.clear();
  }

  #takeBackPass(): void {
    for (let i = this.#creditRegions.end; i < this.#claimCount; i++) this.claimedBy[this.claims[i]!] = 0;
    for (let place = 0; place < this.pass.count; place++) {
      const rankedRow = this.pass.turnAt(place);
      this.laterStart[rankedRow] = 0;
      this.laterEnd[rankedRow] = 0;
      if (this.creditStart[rankedRow]! < this.#creditRegions.end) continue;
      this.creditStart[rankedRow] = 0;
      this.creditEnd[rankedRow] = 0;
    }
    for (const slot of this.picks) this.picked[slot] = 0;
    this.picks = [];
    this.pass.clear();
    this.#claimCount = 0;
    this.rankedRows.beginCycle(this.fleet);
    this.gangs = new Map();
    this.unmet = [];
    this.restamped = [];
    this.hosted = new Map();
    this.unhostedOf = new Map();
    this.neighbours = new Map();
  }

  /**
   * Invalidates the state of clusters, except claims on machines that are still bound to them, from which serving the
   * cluster starts. Machines that left or joined a cluster are among `#written`.
   */
  #forget(dirty: readonly number[]): void {
    if (this.dirtyClusters.isEverything(dirty)) {
      this.claimedBy.fill(0);
      this.rankedRows.forgetAll();
    } else {
      for (const slot of this.#written) this.claimedBy[slot] = 0;
      for (const cluster of dirty)
        if (this.dirtyClusters.keeps[cluster] === 0) this.rankedRows.forget(cluster);
    }
    this.#written.clear();
  }

  /** Reserves room for the credits of clusters. Only bound machines are credited, so their number is the bound. */
  #reserveCredits(clusters: readonly number[]): void {
    this.byCluster.reserve(this.fleet.clusters.size);
    for (const cluster of clusters) {
      const place = this.#creditRegions.reserve(cluster, this.walk.countOf(cluster));
      this.creditPlace[cluster] = place;
      this.unclaimedEnd[cluster] = place;
      this.freeEnd[cluster] = place;
      this.pendingEnd[cluster] = this.rankedRows.start[cluster]!;
      this.putOff[cluster] = 0;
    }
    this.claimList.reserve(this.#creditRegions.end);
    this.unclaimedList.reserve(this.#creditRegions.end);
  }

  openCluster(cluster: number): void {
    this.#claimCount = this.creditPlace[cluster]!;
    this.#listedAt = NONE;
    this.contended.clear();
    this.restamps[cluster] = 0;
    this.pendingEnd[cluster] = this.rankedRows.start[cluster]!;
  }

  settle(rankedRow: number, outcome: Credit): void {
    this.outcome[rankedRow] = outcome;
    if (outcome !== Credit.Covered)
      this.pending[this.pendingEnd[this.rankedRows.cluster[rankedRow]!]!++] = rankedRow;
  }

  /** Lists the bound machines of a cluster that remain after all its rows are credited. */
  closeCluster(cluster: number): void {
    const { slices } = this.walk;
    const from = cluster * 4;
    const place = this.creditPlace[cluster]!;
    const configured = this.#listFree(slices[from]!, slices[from + 1]!, place);
    this.unclaimedEnd[cluster] = configured;
    this.freeEnd[cluster] = this.#listFree(slices[from + 2]!, slices[from + 3]!, configured);
  }

  /** Writes the unclaimed machines of a part of a slice to `place`, and returns where they end. */
  #listFree(from: number, to: number, place: number): number {
    const slots = this.fleet.machines.arena.data;
    let end = place;
    for (let i = from; i < to; i++) if (this.claimedBy[slots[i]!] === 0) this.unclaimed[end++] = slots[i]!;
    return end;
  }

  /**
   * Walks the bound machines of a cluster that remained after its rows were credited; some may have been claimed since. In
   * the pass a row can be credited with no others, and they are few compared with the claimed ones.
   */
  walkLeft(cluster: number): BoundWalk {
    return this.walk.beginList(this.unclaimed, this.creditPlace[cluster]!, this.freeEnd[cluster]!);
  }

  /**
   * Walks the unclaimed bound machines of the cluster that is being credited. Rows that claim machines of other rows are
   * served late, when most machines are claimed, so the unclaimed ones are listed. The list is filtered again once the
   * claims made since amount to more than half of it.
   */
  walkFree(cluster: number): BoundWalk {
    const place = this.creditPlace[cluster]!;
    if (this.#listedAt === NONE) this.closeCluster(cluster);
    else if (2 * (this.#claimCount - this.#listedAt) <= this.freeEnd[cluster]! - place)
      return this.walkLeft(cluster);
    else this.freeEnd[cluster] = this.#keepFree(place, this.freeEnd[cluster]!);
    this.#listedAt = this.#claimCount;
    return this.walkLeft(cluster);
  }

  /** Removes claimed machines from a part of `unclaimed`, and returns its new end. */
  #keepFree(from: number, to: number): number {
    let end = from;
    for (let i = from; i < to; i++) {
      const slot = this.unclaimed[i]!;
      if (this.claimedBy[slot] === 0) this.unclaimed[end++] = slot;
    }
    return end;
  }

  /** Prepares the pass over the free machines: its claims follow all credits. */
  openPass(): void {
    this.#claimCount = this.#creditRegions.end;
    this.claimList.reserve(this.#creditRegions.end + this.fleet.machines.size);
  }

  /** Adds a ranked row for a member that its fold cannot host. */
  addUnhosted(row: number, fold: number, behind: number): number {
    const rankedRow = this.rankedRows.addUnhosted(this.fleet, row, fold, behind);
    const cluster = this.rankedRows.cluster[rankedRow]!;
    const others = this.unhostedOf.get(cluster);
    if (others === undefined) this.unhostedOf.set(cluster, [rankedRow]);
    else others.push(rankedRow);
    this.byRankedRow.reserve(this.rankedRows.limit);
    this.creditStart[rankedRow] =
      this.creditEnd[rankedRow] =
      this.laterStart[rankedRow] =
      this.laterEnd[rankedRow] =
        0;
    this.outcome[rankedRow] = Credit.Waits;
    return rankedRow;
  }

  patternOf(rankedRow: number): Pattern {
    return this.fleet.patterns.patternOf(this.rankedRows.pattern[rankedRow]!);
  }

  profileOf(rankedRow: number): ProfileEntry {
    return this.fleet.demand.profiles.entryOf(this.rankedRows.profile[rankedRow]!);
  }

  isExplained(rankedRow: number): boolean {
    return this.explained.size > 0 && this.explained.has(this.rankedRows.key[rankedRow]!);
  }

  canBind(rankedRow: number): boolean {
    return this.cannotBind[ANY] === 0 || this.cannotBind[this.rankedRows.cluster[rankedRow]!] === 0;
  }

  isReady(cluster: number): boolean {
    const { readyClusters } = this.options;
    return readyClusters === null || readyClusters.has(this.fleet.clusters.nameOf(cluster));
  }

  isFree(slot: number): boolean {
    return this.claimedBy[slot] === 0;
  }

  /** Whether the machine is bound to the row, or on its way to it. */
  isOwn(slot: number, key: number): boolean {
    const { machines } = this.fleet;
    return machines.stampKey[slot] === key || machines.target[slot] === key;
  }

  /** Whether the machine belongs to another row that still exists, by stamp or target. Such machines are claimed last. */
  isAnothers(slot: number, key: number): boolean {
    if (this.isOwn(slot, key)) return false;
    const { machines } = this.fleet;
    return (
      this.rankedRows.ofKey[machines.stampKey[slot]!] !== NONE ||
      this.rankedRows.ofKey[machines.target[slot]!] !== NONE
    );
  }

  /** Loads what a ranked row wants into `unfilled`. */
  beginUnfilled(rankedRow: number): void {
    if (this.rankedRows.kind[rankedRow] === RowKind.Fold)
      this.unfilled.beginFold(this.rankedRows.row[rankedRow]!, this.rankedRows.members[rankedRow]!);
    else this.unfilled.beginRow(this.rankedRows.row[rankedRow]!, this.patternOf(rankedRow).hasUnit);
  }

  /**
   * What a ranked row wants beyond the machines that drain for it. Only for that it claims machines of other rows; otherwise two
   * rows would pass machines back and forth while one of them waits.
   */
  beyond(rankedRow: number, drains: readonly number[]): Unfilled {
    if (drains.length === 0) return this.unfilled;
    const rest = this.#rest;
    if (this.rankedRows.kind[rankedRow] === RowKind.Fold)
      rest.beginFold(this.rankedRows.row[rankedRow]!, this.unfilled.gangsLeft);
    else rest.restore(this.rankedRows.row[rankedRow]!, this.unfilled.save());
    for (const slot of drains) rest.take(this.fleet.machines.classOf[slot]!, true);
    return rest;
  }

  /** Opens the list of a ranked row's credits, or of its later claims; claims go there until another list is opened. */
  openCredits(rankedRow: number): void {
    this.creditStart[rankedRow] = this.#claimCount;
    this.creditEnd[rankedRow] = this.#claimCount;
  }

  openLater(rankedRow: number): void {
    this.laterStart[rankedRow] = this.#claimCount;
    this.laterEnd[rankedRow] = this.#claimCount;
  }

  /** Claims a bound or in-flight machine for a ranked row. */
  credit(rankedRow: number, slot: number, fits: boolean): void {
    this.unfilled.take(this.fleet.machines.classOf[slot]!, fits);
    this.claimedBy[slot] = rankedRow + 1;
    this.claims[this.#claimCount++] = slot;
    this.creditEnd[rankedRow] = this.#claimCount;
  }

  /** Claims an Idle or Speculative machine for a ranked row, and removes it from the free machines. */
  take(rankedRow: number, slot: number): void {
    const classNumber = this.freeMachines.classOf(slot);
    const place = this.#claimCount - this.laterStart[rankedRow]!;
    this.unfilled.take(classNumber, true);
    this.claimedBy[slot] = rankedRow + 1;
    this.claims[this.#claimCount++] = slot;
    this.laterEnd[rankedRow] = this.#claimCount;
    if (place === this.laterClasses.length) this.laterClasses = withRoom(this.laterClasses, place + 1);
    this.laterClasses[place] = classNumber;
    this.freeMachines.take(slot, classNumber);
    this.availability.touch(classNumber);
  }

  /** Removes a claimed machine from the free machines, if it is one. */
  takeOut(slot: number): void {
    const { classOf, state } = this.fleet.machines;
    this.freeMachines.take(slot, classOf[slot]!);
    if (isFreeState(state[slot])) this.availability.touch(classOf[slot]!);
  }

  /** Returns a machine whose claim is undone. Machines must be returned in reverse order of their claims. */
  #putBack(slot: number): void {
    const { classOf, state } = this.fleet.machines;
    this.claimedBy[slot] = 0;
    this.freeMachines.putBack(slot);
    if (isFreeState(state[slot])) this.availability.touch(classOf[slot]!);
  }

  /** Undoes the credits of a ranked row that has to wait; none of them is a free machine. */
  dropCredits(rankedRow: number): void {
    for (let i = this.creditStart[rankedRow]!; i < this.creditEnd[rankedRow]!; i++)
      this.claimedBy[this.claims[i]!] = 0;
    this.#claimCount = this.creditStart[rankedRow]!;
    this.creditEnd[rankedRow] = this.creditStart[rankedRow]!;
    // Machines claimed before the list was made are missing from it.
    if (this.#listedAt > this.#claimCount) this.#listedAt = NONE;
  }

  /** Undoes all claims of the ranked row being served, in reverse order, which `FreeMachines.putBack` requires. */
  undo(rankedRow: number): void {
    for (let i = this.#claimCount - 1; i >= this.creditStart[rankedRow]!; i--) this.#putBack(this.claims[i]!);
    this.#claimCount = this.creditStart[rankedRow]!;
    this.creditEnd[rankedRow] = this.creditStart[rankedRow]!;
    this.laterStart[rankedRow] = this.creditStart[rankedRow]!;
    this.laterEnd[rankedRow] = this.creditStart[rankedRow]!;
  }

  /** Index of the next claim. */
  get claimCount(): number {
    return this.#claimCount;
  }

  /** Claims a machine for a ranked row without updating `unfilled`: another lane has checked the amounts. */
  adopt(rankedRow: number, slot: number): void {
    this.claimedBy[slot] = rankedRow + 1;
    this.claims[this.#claimCount++] = slot;
    this.takeOut(slot);
  }

  /** Undoes the claims of the pass from index `to` on, last first. */
  rewind(to: number): void {
    for (let i = this.#claimCount - 1; i >= to; i--) this.#putBack(this.claims[i]!);
    this.#claimCount = to;
  }

  /** Undoes the claims that a ranked row made in the pass, from index `from` on; its earlier credits stay. */
  takeBack(rankedRow: number, from: number): void {
    this.rewind(from);
    this.laterStart[rankedRow] = 0;
    this.laterEnd[rankedRow] = 0;
    if (this.outcome[rankedRow] === Credit.Short) return;
    this.creditStart[rankedRow] = 0;
    this.creditEnd[rankedRow] = 0;
  }

  /** Slots that a ranked row claims, in claim order. */
  claimsOf(rankedRow: number): number[] {
    const slots: number[] = [];
    for (let i = this.creditStart[rankedRow]!; i < this.creditEnd[rankedRow]!; i++)
      slots.push(this.claims[i]!);
    for (let i = this.laterStart[rankedRow]!; i < this.laterEnd[rankedRow]!; i++) slots.push(this.claims[i]!);
    return slots;
  }
}
