// The state of a cycle: coordinates the tables that rows, claims and results are kept in. Each table is the only
// writer of its columns; other files read them and call its methods. engine.ts owns one from cycle to cycle and passes
// it to all phases; lanes and worker threads have cycles of their own over the same columns (shared-state.ts).

import type { ReadonlyColumns } from '../collections/table.ts';
import type { FleetView, Pattern, ProfileEntry } from '../fleet/index.ts';
import type { DecisionOptions } from '../model/index.ts';
import { Actions } from './actions.ts';
import { Adoptable } from './assign/adoptable.ts';
import { Bindable } from './assign/bindable.ts';
import { Blockers } from './assign/blockers.ts';
import { BoundIndex, BoundWalk, type BoundWalkView, OwnAndOrphanWalk } from './assign/bound-machines.ts';
import { Claims, type ClaimsView } from './assign/claims.ts';
import { Credits, type CreditsView } from './assign/credits.ts';
import { DirtyClusters } from './assign/dirty-clusters.ts';
import { DomainSums } from './assign/domain-sums.ts';
import { Foldable } from './assign/foldable.ts';
import { Infeasible } from './assign/infeasible.ts';
import { PoolPass, type PoolPassView } from './assign/pool-pass.ts';
import { Purchases } from './assign/purchases.ts';
import { NONE, RankedRows, type RankedRowsView, RowKind } from './assign/ranked-rows.ts';
import { Retiring } from './assign/retiring.ts';
import { Sharing } from './assign/sharing.ts';
import { EvenList } from './assign/spread-credit.ts';
import { TurnsAhead } from './assign/turns-ahead.ts';
import { Unfilled } from './assign/unfilled.ts';
import type { CandidateTier, PoolOptions } from './candidates/candidate-tier.ts';
import { DomainCandidates } from './candidates/domain-candidates.ts';
import { FreeMachines } from './candidates/free-machines.ts';
import { GangAvailability } from './candidates/gang-availability.ts';
import { CycleResult, type CycleResultView } from './cycle-result.ts';
import { FittingMachines } from './fitting-machines.ts';
import { CycleStats } from './stats.ts';

/**
 * Serves one cycle after another. State of clusters that have not changed is kept between cycles: their ranked rows, the
 * index of their machines, and the credits of their rows. Claims on free machines are undone when the next cycle begins.
 */
export class Cycle {
  readonly fleet: FleetView;
  /** Whether other lanes serve rows of this pass as well. */
  #hasOtherLanes = false;
  #options!: DecisionOptions;
  #nowMs = 0;
  #number = 0;
  #stats = new CycleStats();
  /** Slots written since `#forget` last ran. */
  readonly #written: Set<number>;
  #served: readonly number[] = [];
  /** The subset of `#served` that was served before the cycle began. */
  #overlapped: readonly number[] = [];
  readonly #explained = new Set<number>();

  // What rows want, which clusters are served again, and which row claims which machine.
  readonly rankedRows: RankedRowsView;
  readonly foldable: ReadonlyColumns<Foldable>;
  readonly infeasible: Infeasible;
  readonly dirtyClusters: ReadonlyColumns<DirtyClusters>;
  readonly bindable: ReadonlyColumns<Bindable>;
  readonly claims: ClaimsView;
  readonly credits: CreditsView;
  readonly retiring: ReadonlyColumns<Retiring>;
  readonly sharing: ReadonlyColumns<Sharing>;
  readonly pass: PoolPassView;
  readonly purchases: Purchases;
  readonly turnsAhead: TurnsAhead;
  readonly blockers: Blockers;
  readonly result: CycleResultView;
  readonly actions: ReadonlyColumns<Actions>;

  // Machines that rows may use.
  readonly walk: BoundWalkView;
  readonly bound: ReadonlyColumns<BoundIndex>;
  readonly ownAndOrphans: OwnAndOrphanWalk;
  readonly adoptable: Adoptable;
  readonly freeMachines: FreeMachines;
  /** Free machines by domain, for gangs. */
  readonly availability: GangAvailability;
  readonly fittingMachines: FittingMachines;

  // The row being served.
  readonly unfilled: Unfilled;
  /** What will remain of `unfilled` once the machines draining for the ranked row have arrived. */
  readonly #rest: Unfilled;
  /** Domains of the gang being served. */
  readonly sums: DomainSums;
  /** Candidates of the strict-spread row being served, and what it may claim while it is credited. */
  readonly domainCandidates: DomainCandidates;
  readonly evenList: EvenList;

  /**
   * `owner`: the cycle of the same fleet that this one serves a lane of. `follows`: it keeps what it found from cycle to cycle,
   * so it must be told what has changed; a lane has its owner for that.
   */
  constructor(fleet: FleetView, owner: Cycle | null = null, follows = owner === null) {
    this.fleet = fleet;
    const changed = follows ? fleet.changes.watch() : new Set<number>();
    const reshaped = follows ? fleet.reshaped.watch() : new Set<number>();
    this.#written = follows ? fleet.machines.written.watch() : new Set();
    this.unfilled = new Unfilled(fleet);
    this.#rest = new Unfilled(fleet);
    // Lanes of one thread number the members that no fold hosts together.
    this.rankedRows = owner?.rankedRows ?? new RankedRows();
    this.walk = new BoundWalk(fleet);
    this.bound = new BoundIndex(fleet, this.rankedRows, this.walk);
    this.ownAndOrphans = new OwnAndOrphanWalk(fleet, this.bound, this.rankedRows);
    this.adoptable = new Adoptable(fleet, this.rankedRows);
    this.foldable = new Foldable(fleet, this.walk);
    this.freeMachines = new FreeMachines(fleet);
    this.availability = new GangAvailability(this);
    this.infeasible = new Infeasible(this);
    this.dirtyClusters = new DirtyClusters(fleet, this.foldable, this.infeasible, changed, reshaped);
    this.bindable = new Bindable(fleet);
    this.claims = new Claims();
    this.credits = new Credits(fleet, this.rankedRows, this.walk, this.claims, this.unfilled);
    this.retiring = new Retiring(fleet);
    this.sharing = new Sharing(this);
    this.pass = new PoolPass(this);
    this.purchases = new Purchases(fleet, this.rankedRows);
    this.turnsAhead = new TurnsAhead(this);
    this.blockers = new Blockers(this);
    this.result = new CycleResult();
    this.actions = new Actions(this);
    this.fittingMachines = new FittingMachines(this);
    this.sums = new DomainSums(this);
    this.domainCandidates = new DomainCandidates(this);
    this.evenList = new EvenList(this);
  }

  /**
   * Begins the pass of a lane, over columns that are those of the owner's cycle. Its claims are at `claimsStart` of
   * `claims.slots` and following; `adoptable` is what the owner found.
   */
  beginLane(
    claimsStart: number,
    options: PoolOptions,
    adoptable: ReadonlyMap<number, readonly number[]>,
  ): void {
    this.#hasOtherLanes = true;
    this.#stats = new CycleStats();
    this.claims.continueAt(claimsStart);
    this.pass.clear();
    this.result.clear();
    this.blockers.beginLane();
    this.adoptable.beginLane(adoptable);
    this.availability.beginCycle();
    this.freeMachines.beginLane(this.claims.claimedBy, options);
  }

  /** Begins the pass of a lane that does not read free machines. */
  beginClusterLane(claimsStart: number): void {
    this.#hasOtherLanes = true;
    this.#stats = new CycleStats();
    this.claims.continueAt(claimsStart);
    this.pass.clear();
    this.result.clear();
  }

  /**
   * Opens the pass for `lanes` lanes, this cycle being the first. Makes room for all they may claim and for all `members` of
   * folds, since columns must not be replaced while lanes share them. Returns where the claims of each lane begin.
   */
  openLanes(lanes: number, members: number): readonly number[] {
    this.#hasOtherLanes = true;
    this.rankedRows.reserveUnhosted(members);
    this.credits.reserveRows(members);
    const { size } = this.fleet.machines;
    this.claims.reserveClaims(this.credits.end + lanes * size);
    return Array.from({ length: lanes }, (_, lane) => this.credits.end + lane * size);
  }

  /** All lanes have ended. */
  closeLanes(): void {
    this.#hasOtherLanes = false;
  }

  /** Whether other lanes serve rows of this pass as well. */
  get hasOtherLanes(): boolean {
    return this.#hasOtherLanes;
  }

  get options(): DecisionOptions {
    return this.#options;
  }

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Number of the cycle, from 1. */
  get number(): number {
    return this.#number;
  }

  get stats(): CycleStats {
    return this.#stats;
  }

  /** Clusters that this cycle served again; the credits of all other clusters are unchanged. */
  get served(): readonly number[] {
    return this.#served;
  }

  /** Counts the next cycle in these statistics. */
  measure(stats: CycleStats): void {
    this.#stats = stats;
  }

  /** Serves the row of a key in the pass, where it examines every machine. */
  explain(key: number): void {
    this.#explained.add(key);
  }

  /** Whether the row of some key is explained. */
  get explains(): boolean {
    return this.#explained.size > 0;
  }

  isExplained(rankedRow: number): boolean {
    return this.#explained.size > 0 && this.#explained.has(this.rankedRows.key[rankedRow]!);
  }

  /**
   * Undoes the claims of the last pass, invalidates every cluster that changed and reserves room for its new state. Returns
   * those clusters, which must be served again. With `everything` set, all clusters are invalidated.
   */
  begin(nowMs: number, options: DecisionOptions, everything: boolean): readonly number[] {
    this.#nowMs = nowMs;
    this.#number++;
    this.#options = options;
    const isSwitched = this.sharing.beginCycle(options.sharing === 'on');
    if (isSwitched) this.dirtyClusters.restart();
    for (const cluster of this.retiring.beginCycle(options)) this.dirtyClusters.add(cluster);
    if (everything) this.#clearClaims();
    this.#undoPass();
    this.availability.beginCycle();
    this.adoptable.beginCycle();
    const dirty = this.dirtyClusters.take(everything);
    this.#served = [...new Set([...this.#overlapped, ...dirty])];
    this.#overlapped = [];
    this.infeasible.mark(dirty);
    this.#prepare(dirty);
    this.freeMachines.begin(this.claims.claimedBy, options);
    this.purchases.begin(options.purchaseBudget);
    this.blockers.beginCycle();
    this.bindable.beginCycle(options.cannotBind);
    return dirty;
  }

  /** Begins a cycle that serves one cluster and no other; `endOnly` ends it. The answers of `foldable` must be up to date. */
  beginOnly(cluster: number, nowMs: number, options: DecisionOptions): void {
    this.#nowMs = nowMs;
    this.#number++;
    this.#options = options;
    this.sharing.beginCycle(options.sharing === 'on');
    this.retiring.beginCycle(options);
    this.#undoPass();
    this.availability.beginCycle();
    this.adoptable.beginCycle();
    this.dirtyClusters.takeOnly(cluster);
    this.#served = [cluster];
    this.infeasible.mark(this.#served);
    this.#prepare(this.#served);
    this.credits.undo(cluster);
    this.freeMachines.begin(this.claims.claimedBy, options);
    this.purchases.begin(options.purchaseBudget);
    this.blockers.beginCycle();
    this.bindable.beginCycle(options.cannotBind);
  }

  /** Ends a cycle that served one cluster, and drops all that it has found. */
  endOnly(cluster: number): void {
    this.#undoPass();
    const walk = this.walk.begin(cluster);
    for (let slot = walk.next(); slot !== NONE; slot = walk.next()) this.sharing.forget(slot);
    this.rankedRows.release(cluster);
    this.bound.release(cluster);
    this.credits.release(cluster);
    this.#served = [];
  }

  /**
   * Does the work of `begin` before the cycle, for clusters that `Engine.overlap` serves while the rows of `reporting`
   * clusters are written. Also undoes the claims of the last pass, since they refer to the previous state of machines.
   */
  beginAhead(reporting: ReadonlySet<number>): readonly number[] {
    const overlapped = this.dirtyClusters.takeOverlapped(reporting);
    if (overlapped.length === 0) return overlapped;
    this.#undoPass();
    this.#prepare(overlapped);
    this.#overlapped = [...this.#overlapped, ...overlapped];
    return overlapped;
  }

  #prepare(clusters: readonly number[]): void {
    const changed = clusters.filter((cluster) => this.dirtyClusters.keeps[cluster] === 0);
    this.claims.reserveMachines(this.fleet.machines.size);
    this.sharing.reserveMachines();
    this.walk.locate(clusters);
    this.#forget(clusters);
    this.rankedRows.reserve(this.fleet, changed);
    this.sharing.reserveRows();
    this.bound.reserve(clusters);
    this.credits.reserve(clusters);
  }

  /**
   * Makes the ranked rows of clusters that were deferred, because it was not yet known which of their rows fold, or because
   * they have a machine that is on its way to another cluster's row. Returns these clusters, which must be credited.
   */
  takeUp(): readonly number[] {
    for (const cluster of this.#served) this.dirtyClusters.entangle(cluster, false);
    const late = this.#served.filter((cluster) => this.credits.deferred[cluster] === 1);
    if (late.length === 0) return late;
    this.foldable.answer();
    for (const cluster of late) {
      this.makeRankedRows(cluster);
      this.dirtyClusters.entangle(cluster, this.bound.targetsOtherClusters(cluster));
    }
    return late;
  }

  /** Makes the ranked rows of a cluster; returns false if it is not yet known which rows fold. */
  makeRankedRows(cluster: number): boolean {
    const areMade = this.rankedRows.make(this.fleet, this.foldable, cluster);
    this.dirtyClusters.noteScan(cluster, this.foldable.hasScanned);
    return areMade;
  }

  /** Drops all claims after a cycle failed at an unknown point. The next cycle starts from an empty state. */
  reset(): void {
    this.#clearClaims();
    this.blockers.clear();
    this.availability.clear();
    this.dirtyClusters.restart();
  }

  #clearClaims(): void {
    this.claims.clear();
    this.result.clear();
    this.pass.clear();
  }

  #undoPass(): void {
    this.pass.undoAll();
    this.sharing.undoPass();
    this.result.clear();
    this.rankedRows.beginCycle(this.fleet);
  }

  /**
   * Invalidates the state of clusters, except claims on machines that are still bound to them, from which serving the
   * cluster starts. Machines that left or joined a cluster are among `#written`.
   */
  #forget(dirty: readonly number[]): void {
    if (this.dirtyClusters.isEverything(dirty)) {
      this.claims.releaseAll();
      this.sharing.forgetAll();
      this.rankedRows.forgetAll();
    } else {
      for (const slot of this.#written) {
        this.claims.release(slot);
        this.sharing.forget(slot);
      }
      for (const cluster of dirty)
        if (this.dirtyClusters.keeps[cluster] === 0) this.rankedRows.forget(cluster);
    }
    this.#written.clear();
  }

  /** Adds a ranked row for a member that its fold cannot host. */
  addUnhosted(row: number, fold: number, behind: number): number {
    const rankedRow = this.rankedRows.addUnhosted(this.fleet, row, fold, behind);
    this.result.addUnhosted(this.rankedRows.cluster[rankedRow]!, rankedRow);
    this.credits.settleUnhosted(rankedRow);
    return rankedRow;
  }

  patternOf(rankedRow: number): Pattern {
    return this.fleet.patterns.patternOf(this.rankedRows.pattern[rankedRow]!);
  }

  profileOf(rankedRow: number): ProfileEntry {
    return this.fleet.demand.profiles.entryOf(this.rankedRows.profile[rankedRow]!);
  }

  /** Tiers of the free machines that a ranked row may acquire. */
  tiersOf(rankedRow: number): readonly CandidateTier[] {
    const { kind, pattern, row } = this.rankedRows;
    return this.freeMachines.tiersOf(
      row[rankedRow]!,
      pattern[rankedRow]!,
      kind[rankedRow]!,
      this.purchases.areWithheld(rankedRow),
    );
  }

  /** Free machines of a class that a ranked row may acquire, apart from special ones. */
  freeFor(rankedRow: number, classNumber: number): number {
    const idle = this.freeMachines.freeIdle(classNumber);
    return this.purchases.withholds(rankedRow, classNumber)
      ? idle
      : idle + this.freeMachines.freeSpeculative(classNumber);
  }

  canBind(rankedRow: number): boolean {
    return this.bindable.hasAll || this.bindable.has(this.rankedRows.cluster[rankedRow]!);
  }

  isReady(cluster: number): boolean {
    const { readyClusters } = this.#options;
    return readyClusters === null || readyClusters.has(this.fleet.clusters.nameOf(cluster));
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
   * What a ranked row wants beyond the machines that drain for it. It claims machines of other rows only for this
   * remainder; otherwise two rows would pass machines back and forth while one of them waits.
   */
  beyond(rankedRow: number, drains: readonly number[]): Unfilled {
    if (drains.length === 0 && !this.sharing.hasLeftovers(rankedRow)) return this.unfilled;
    return this.#restBeyond(rankedRow, drains);
  }

  /** The same, beyond the machines that the ranked row may adopt as well. */
  beyondAdopted(rankedRow: number, drains: readonly number[], adoptable: readonly number[]): Unfilled {
    const { classOf } = this.fleet.machines;
    const rest = this.#restBeyond(rankedRow, drains);
    for (const slot of adoptable) {
      if (rest.covered) break;
      if (rest.adds(classOf[slot]!, true)) rest.take(classOf[slot]!, true);
    }
    return rest;
  }

  #restBeyond(rankedRow: number, drains: readonly number[]): Unfilled {
    const rest = this.copyUnfilled(rankedRow);
    if (this.sharing.hasLeftovers(rankedRow)) this.sharing.takeLeftovers(rankedRow, rest);
    for (const slot of drains) rest.take(this.fleet.machines.classOf[slot]!, true);
    return rest;
  }

  /** A copy of `unfilled`, which may be reduced further; valid until the next call. */
  copyUnfilled(rankedRow: number): Unfilled {
    const rest = this.#rest;
    if (this.rankedRows.kind[rankedRow] === RowKind.Fold)
      rest.beginFold(this.rankedRows.row[rankedRow]!, this.unfilled.gangsLeft);
    else rest.restore(this.rankedRows.row[rankedRow]!, this.unfilled.save());
    return rest;
  }
}
