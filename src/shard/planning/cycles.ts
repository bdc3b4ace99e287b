// Schedules cycles and runs them. A cycle starts at every interval, and earlier when demand changes or a person gives
// an order, but not before `spacingMs` after the previous one. A cycle reads all of its input before it writes
// anything. Part of controller.ts.

import { ClaimWatch, type Decision, type ServedHardware, ServedTally } from '../../engine/index.ts';
import type { AppliedChanges, RowsSetAside } from '../../fleet/index.ts';
import {
  type Action,
  type DecisionOptions,
  excerpt,
  formatResources,
  keyText,
  type Leaving,
  type NeedKey,
  type RollupDelta,
  unmetText,
  type Verdict,
} from '../../model/index.ts';
import { stampOf } from '../actuation/actuation.ts';
import type { RefusedAction } from '../actuation/actuation-types.ts';
import type { SessionFeatures } from '../events.ts';
import { failpoint } from '../failpoints.ts';
import type { CycleView, WaitingActionView } from '../views.ts';
import { AvailableCapacity } from './available-capacity.ts';
import type { ControllerState } from './controller.ts';
import { type Admission, countByKind } from './guardrails.ts';
import { heldBackOf } from './held-back.ts';
import { leavingOf } from './leaving.ts';
import { OperatorVerdicts } from './operator-verdicts.ts';
import { settleDrains } from './ordered-drains.ts';
import { endFreezes } from './orders.ts';
import { needRef } from './queries/need-names.ts';
import { statusOf } from './queries/status.ts';
import type { Shortfall } from './shortfalls.ts';
import { PurchaseBudgets } from './spend-limit.ts';

/** Bound on the wait for first inventories, as a multiple of `readyWaitMs`; then decisions begin regardless. */
const LONGEST_READY_WAITS = 20;
/** Newly escalated rows per cycle that are logged in a line each. */
const MAX_SHORT_LINES = 20;
/** Between two commits of pending changes while the first inventories are read. */
const STARTING_COMMIT_MS = 5000;

export class Cycles {
  readonly #state: ControllerState;
  readonly #capacity: AvailableCapacity;
  readonly #verdicts: OperatorVerdicts;
  readonly #claims = new ClaimWatch();
  readonly #servedTally = new ServedTally();
  #cancel: () => void = () => {};
  #dueMs = Number.POSITIVE_INFINITY;
  #endedMs = Number.NEGATIVE_INFINITY;
  #committedMs = Number.NEGATIVE_INFINITY;
  #number = 0;
  #isStopped = false;
  #decision: Decision | null = null;
  #options: DecisionOptions | null = null;
  #last: CycleView | null = null;
  #served: readonly ServedHardware[] = [];
  #waiting: readonly WaitingActionView[] = [];
  #failuresLogged = 0;
  readonly #budgets: PurchaseBudgets;

  constructor(state: ControllerState) {
    this.#state = state;
    this.#budgets = new PurchaseBudgets(state.parts.options.spending, state.ledger);
    this.#capacity = new AvailableCapacity(state.ledger.fleet);
    const { clock, monotonicMs, emit } = state.parts;
    this.#verdicts = new OperatorVerdicts({
      ...{ fleet: state.ledger.fleet, clock, monotonicMs, emit },
      last: () =>
        this.#decision === null ? null : { decision: this.#decision, cycle: this.#last?.number ?? 0 },
      stateOf: (machine) => state.ledger.statusOf(machine)?.state,
    });
  }

  /** The last cycle; null before the first. */
  get last(): CycleView | null {
    return this.#last;
  }

  /** How much of the demand the last cycle found served, by hardware; empty before the first. */
  get served(): readonly ServedHardware[] {
    return this.#served;
  }

  /** What Needs of a cluster use of its Configured machines, by index in HARDWARE and by dimension; null without a decision. */
  usedOf(cluster: string): readonly Float64Array[] | null {
    return this.#decision?.usedOf(this.#servedTally, cluster) ?? null;
  }

  /** The last decision with its options; null before the first. Invalid once the next cycle starts. */
  get decision(): { readonly decided: Decision; readonly options: DecisionOptions } | null {
    return this.#decision === null ? null : { decided: this.#decision, options: this.#options! };
  }

  /** Actions that the last cycle decided and did not start. */
  get waiting(): readonly WaitingActionView[] {
    return this.#waiting;
  }

  start(): void {
    this.#at(this.#now);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
    this.#verdicts.stop();
  }

  /** Applies a cluster's roll-up. */
  demand(delta: RollupDelta, rowsSetAside: number): void {
    const { cluster } = delta;
    const { ledger, ended, reported, awaited, incomplete } = this.#state;
    incomplete.reported(cluster, rowsSetAside);
    ledger.append({ kind: 'demand', delta });
    reported.add(cluster);
    awaited.reported(cluster);
    ended.look(cluster);
    this.soon();
  }

  #reportRefused(refused: AppliedChanges['refused']): void {
    const clusters = new Set<string>();
    for (const { entry, problems } of refused) {
      this.#log('warn', 'entry-refused', { kind: entry.kind, problems: problems.slice(0, 3) });
      // A roll-up refused for its base: without the whole one, all later ones of its cluster would be refused as well.
      if (entry.kind === 'demand' && problems.some(({ code }) => code === 'BF_ROLLUP_BASE'))
        clusters.add(entry.delta.cluster);
    }
    for (const cluster of clusters) this.#state.parts.emit({ kind: 'ask-demand', cluster });
  }

  connected(cluster: string, { verdicts }: SessionFeatures): void {
    this.#capacity.forget(cluster);
    if (verdicts) this.#verdicts.wanted(cluster);
    else this.#verdicts.forget(cluster);
    this.soon();
  }

  disconnected(cluster: string): void {
    this.#capacity.forget(cluster);
    this.#verdicts.forget(cluster);
  }

  /** Requests a cycle as soon as the spacing allows. */
  soon(): void {
    const { spacingMs } = this.#state.parts.options.cycle;
    const left = this.#endedMs + spacingMs - this.#now;
    // Bounded by the spacing: a clock that was set back must not delay the next cycle by the size of the step.
    this.#at(this.#now + Math.min(spacingMs, Math.max(0, left)));
  }

  get #now(): number {
    return this.#state.parts.clock.now();
  }

  #at(dueMs: number): void {
    if (this.#isStopped || dueMs >= this.#dueMs) return;
    this.#cancel();
    this.#dueMs = dueMs;
    this.#cancel = this.#state.parts.clock.after(Math.max(0, dueMs - this.#now), () => this.#run());
  }

  #run(): void {
    this.#dueMs = Number.POSITIVE_INFINITY;
    const { monotonicMs, options } = this.#state.parts;
    const began = monotonicMs();
    const { onCycle } = this.#state.parts;
    onCycle?.(true);
    const hasMore = this.#cycle(began);
    onCycle?.(false);
    this.#endedMs = this.#now;
    this.#verdicts.decided();
    // The interval runs from start to start, so that the length of a cycle does not add to it.
    const spent = monotonicMs() - began;
    this.#at(this.#now + Math.max(options.cycle.spacingMs, options.cycle.intervalMs - spent));
    if (hasMore) this.soon();
  }

  /** Logs failed engine threads: the engine continues without them, only slower, so nothing else reports it. */
  #logFailures(failures: readonly string[]): void {
    for (const why of failures.slice(this.#failuresLogged)) this.#log('warn', 'thread-failed', { why });
    this.#failuresLogged = failures.length;
  }

  /** Returns whether another cycle should follow as soon as the spacing allows. */
  #cycle(began: number): boolean {
    const state = this.#state;
    const { ledger, machineFacts, profiles, metrics, recorder } = state;
    const { monotonicMs } = state.parts;
    if (!this.#isCommitDue()) return false;
    // Before the commit, so that one decision sees both the machines and the clusters of a freeze that ended.
    endFreezes(state, this.#now);
    state.nodeFacts.flush();
    // The old decision refers to rows and slots of the ledger by number, which the commit invalidates.
    this.#decision = null;
    profiles.forget();
    const applied = this.#commit();
    this.#feedReplica(applied);
    this.#budgets.committed(applied.slots);
    const committed = monotonicMs();
    machineFacts.committed(applied);
    machineFacts.flush();
    failpoint('cycle.committed');
    for (const machine of settleDrains(state))
      this.#log('info', 'drain-order-ended', { machine: excerpt(machine) });
    this.#reportRefused(applied.refused);
    this.#noteSetAside(applied.rowsSetAside);
    const nowMs = this.#now;
    const options = this.#mayDecide() ? this.#decisionOptions(nowMs) : null;
    recorder?.input(applied, nowMs, options);
    if (options === null) return false;
    metrics.phase('snapread', committed - began);
    metrics.phase('reconcile', monotonicMs() - committed);
    const decision = state.engine.decide(nowMs, options, {});
    this.#logFailures(state.engine.threadFailures);
    this.#decision = decision;
    this.#options = options;
    const naming = monotonicMs();
    const decided = decision.actions();
    failpoint('cycle.decided');
    const digest = recorder?.digest(decision, decided) ?? null;
    const { normalise, credit, acquire, preempt, reclaim, plan } = state.engine.lastCycle.phaseMs;
    const emitMs = plan + monotonicMs() - naming;
    metrics.phase('phase1', normalise + credit + acquire);
    metrics.phase('phase2', preempt);
    metrics.phase('phase3', reclaim);
    metrics.phase('emit', emitMs);
    // Before `#carryOut`, which sets targets that this cycle's snapshot does not contain, and replaces targets that end here.
    for (const key of state.ended.take()) ledger.append({ kind: 'row-ended', key });
    for (const { id, sinceMs } of state.onHold.observe(decision, nowMs, decided))
      ledger.append({ kind: 'unclaimed', id, sinceMs: this.#heldSince(id, sinceMs) });
    const carrying = monotonicMs();
    const { admission, refused } = this.#carryOut(decision, decided);
    const startMs = monotonicMs() - carrying;
    metrics.phase('execute', startMs);
    this.#follow(decision);
    const phaseMs = {
      ...{ commit: committed - began, assign: normalise + credit + acquire, preempt, reclaim },
      ...{ plan: emitMs, start: startMs },
    };
    this.#publish(decision, { began, decided, admission, refused, phaseMs });
    recorder?.outcome(digest, this.#last!, this.#waiting, state.series.closed);
    // Last, so that no action waits for it. Where purchases were stopped, rows wait for the money that a renewal would spend.
    if (state.shortfalls.gauges.stopped === 0) state.renewals.check(nowMs, options);
    failpoint('cycle.ended');
    return admission.waiting.deferred.length > 0;
  }

  /** A hold that begins, or null for one that ends. That of a machine to be drained on order is over when it begins. */
  #heldSince(id: string, sinceMs: number | null): number | null {
    const { drains, parts } = this.#state;
    if (sinceMs === null || drains.of(id) === undefined) return sinceMs;
    return sinceMs - parts.options.economy.reclaimHoldSeconds * 1000;
  }

  #feedReplica(applied: AppliedChanges): void {
    const { replica } = this.#state;
    if (replica?.isOver(this.#now) === true) this.#state.replica = null;
    else replica?.committed(applied);
  }

  /** Commits the pending changes. Other threads start on the next decision while the rows are written. */
  #commit(): AppliedChanges {
    const { ledger, engine } = this.#state;
    const commit = ledger.commitMachines();
    const endOverlap = engine.overlap(commit.reporting);
    try {
      return commit.writeRows();
    } finally {
      endOverlap();
    }
  }

  /**
   * While the first inventories are read there are no decisions, and each commit costs a pass over all machines read so
   * far. One every `STARTING_COMMIT_MS` releases the memory of pending records and shows the progress.
   */
  #isCommitDue(): boolean {
    const isRecent = this.#now - this.#committedMs < STARTING_COMMIT_MS && this.#now >= this.#committedMs;
    if (isRecent && this.#state.phase === 'starting' && this.#waitsForProviders) return false;
    this.#committedMs = this.#now;
    return true;
  }

  /** The wait of `readyWaitMs` restarts with every batch of a first List, up to `LONGEST_READY_WAITS` times as long. */
  get #waitsForProviders(): boolean {
    const { reconcile, startedMs, parts } = this.#state;
    const { readyWaitMs } = parts.options.cycle;
    if (reconcile.isReady || this.#now - startedMs >= readyWaitMs * LONGEST_READY_WAITS) return false;
    return this.#now - Math.max(startedMs, reconcile.progressMs) < readyWaitMs;
  }

  /**
   * A decision on part of the inventory would buy again what the unread part already has. So the first decision waits for
   * every provider, within the bounds of `#waitsForProviders`.
   */
  #mayDecide(): boolean {
    const state = this.#state;
    if (state.phase === 'running') return true;
    if (state.phase !== 'starting') return false;
    if (this.#waitsForProviders) return false;
    if (!state.reconcile.isReady) {
      const waitedMs = this.#now - state.startedMs;
      const unread = state.parts.options.providers.filter(
        (name) => !state.reconcile.readingsOf(name).hasListed,
      );
      this.#log('warn', 'providers-not-read', { unread, waitedMs });
    }
    state.phase = 'running';
    this.#log('info', 'deciding', { machines: state.ledger.fleet.machines.count });
    return true;
  }

  /** Records rows that exceed a limit of the ledger: nothing is reclaimed from their clusters until that changes. */
  #noteSetAside(rowsSetAside: ReadonlyMap<string, RowsSetAside>): void {
    const { incomplete } = this.#state;
    for (const [cluster, { rows, resource }] of rowsSetAside) {
      if (!incomplete.inLedger(cluster, rows, resource)) continue;
      const fields = { cluster: excerpt(cluster), count: rows, resource: excerpt(resource) };
      this.#log('warn', 'rows-set-aside', fields);
    }
  }

  #decisionOptions(nowMs: number): DecisionOptions {
    const { ledger, actuation, freezes, reported, incomplete, retirements, sessions, parts } = this.#state;
    const { clusters } = ledger.fleet;
    const names = clusters.sorted().map((number) => clusters.nameOf(number));
    const readyClusters = new Set(reported);
    // A machine that no row of such a cluster counts on may serve a row that is set aside, so it is not excess.
    for (const { cluster, isLifted } of incomplete.list()) if (!isLifted) readyClusters.delete(cluster);
    // A retired cluster has no session and no demand; were it among those without one, its machines would not be reclaimed.
    const cannotBind = new Set([
      ...actuation.cannotBind(names.filter((name) => !retirements.has(name))),
      ...freezes.cannotBind(),
    ]);
    const connected = [...cannotBind].filter((name) => sessions.has(name) || retirements.has(name));
    return {
      readyClusters,
      cannotBind,
      connected: new Set(connected),
      releaseHoldSeconds: parts.options.releaseHoldSeconds,
      weights: parts.options.weights,
      retiring: this.#state.drains.marksWith(this.#state.renewals.marks(nowMs)),
      ...parts.options.economy,
      purchaseBudget: this.#budgets.left,
    };
  }

  #carryOut(decision: Decision, decided: readonly Action[]) {
    const { ledger, guardrails, freezes, actuation, profiles, metrics } = this.#state;
    const { machines, clusters } = ledger.fleet;
    for (const [id, key] of decision.restamps()) {
      const profile = profiles.of(key);
      if (profile === undefined) continue;
      const stamp = stampOf(profile, key);
      // A restamp changes the row, not the priority and the penalties that the machine was bound with.
      const priority = ledger.statusOf(id)?.stamp?.priority ?? profile.priority;
      const { interruptionPenaltyDollars, reclamationPenaltyDollars } = ledger.statusOf(id)?.stamp ?? stamp;
      ledger.append({
        kind: 'restamp',
        id,
        key,
        priority,
        interruptionPenaltyDollars,
        reclamationPenaltyDollars,
      });
    }
    for (const [id, key] of decision.retargets()) ledger.append({ kind: 'retarget', id, key });
    const admission = guardrails.admit(decided, {
      nowMs: this.#now,
      configuredOf: (cluster) => machines.boundOf(clusters.find(cluster))?.configured.length ?? 0,
      freezes,
      isProtected: (machine) => actuation.isProtected(machine),
    });
    const refused = actuation.accept(admission.admitted, this.#leavingOf(decision));
    metrics.admitted(admission);
    metrics.dropped.add(refused.filter(({ why }) => why === 'dropped').length);
    metrics.deduped.add(refused.filter(({ why }) => why === 'deduped').length);
    return { admission, refused };
  }

  /** Why machines that no row counts on leave their cluster; caches the verdict of each row. */
  #leavingOf(decision: Decision): (action: Action) => Leaving | null {
    const { ledger, profiles, renewals, drains } = this.#state;
    const whyRetiring = (id: string) => {
      if (drains.of(id) !== undefined) return 'ordered';
      return renewals.of(id) === undefined ? null : 'replaced';
    };
    const verdicts = new Map<string, Verdict | null>();
    const verdictOf = (key: NeedKey): Verdict | null => {
      const text = keyText(key);
      const known = verdicts.get(text);
      if (known !== undefined) return known;
      const verdict = decision.verdictOf(key);
      verdicts.set(text, verdict);
      return verdict;
    };
    return (action) => leavingOf(action, { whyRetiring, ledger, profiles, verdictOf });
  }

  /** Updates shortfalls, their log lines, journal entries and gauges after a decision. */
  #follow(decision: Decision): void {
    const { shortfalls, profiles, metrics, recorder } = this.#state;
    const { changes, escalated } = shortfalls.observe(decision.unmet, (key) => profiles.of(key)!);
    this.#sayShort(escalated);
    recorder?.needsChanged(changes, this.#now);
    metrics.shortfalls(shortfalls.gauges);
  }

  /** Logs each row once, when it escalates: at most `MAX_SHORT_LINES` lines per cycle and a count of the rest. */
  #sayShort(escalated: readonly Shortfall[]): void {
    for (const { key, profile, deficit, reason, fitting, ageCycles } of escalated.slice(0, MAX_SHORT_LINES)) {
      const { id: need, cluster, group, priority } = needRef(key, profile.priority);
      const missing = formatResources(deficit);
      const why = unmetText(reason, fitting);
      const short = { need, cluster, group, priority, reason, why, missing, cycles: ageCycles };
      this.#log('warn', 'need-short', short);
    }
    const more = escalated.length - MAX_SHORT_LINES;
    if (more > 0) this.#log('warn', 'more-needs-short', { more });
  }

  #publish(
    decision: Decision,
    cycle: {
      readonly began: number;
      readonly decided: readonly Action[];
      readonly admission: Admission;
      readonly refused: readonly RefusedAction[];
      readonly phaseMs: Readonly<Record<string, number>>;
    },
  ): void {
    const { parts, sessions, metrics, freezes, actuation, incomplete } = this.#state;
    const { admission, refused } = cycle;
    for (const { cluster, updates } of this.#capacity.updates(sessions.keys(), this.#now))
      parts.emit({ kind: 'available-capacity', cluster, updates });
    const metClaimChanges = decision.claimChanges(this.#claims);
    metrics.metClaimChanges.add(metClaimChanges);
    metrics.freezes(
      freezes.list().length,
      freezes.list().some(({ id }) => id === 'fleet'),
    );
    metrics.incomplete(incomplete.list(), (cluster) => decision.spareOf(cluster));
    const { queued, evicting, inFlight, accepted } = actuation.counts;
    metrics.drainsWaiting.set(evicting);
    metrics.queueDepth.set(queued);
    metrics.inflight.set(inFlight);
    metrics.pending.set(accepted);
    const heldBack = heldBackOf(this.#state, admission, refused, this.#leavingOf(decision));
    this.#waiting = heldBack.actions;
    this.#served = decision.served(this.#servedTally);
    const durationMs = parts.monotonicMs() - cycle.began;
    this.#last = {
      number: ++this.#number,
      atMs: this.#now,
      durationMs,
      phaseMs: cycle.phaseMs,
      unmet: decision.unmet.length,
      metClaimChanges,
      decided: countByKind(cycle.decided),
      admitted: countByKind(admission.admitted),
      waiting: Object.fromEntries(heldBack.counts.map(({ why, total }) => [why, total])),
      heldBack: heldBack.counts,
    };
    const status = statusOf(this.#state, this.#last, this.#served);
    metrics.health(status.providers);
    this.#state.costHistory.sample(status);
    parts.publish({ kind: 'cycle', status });
    metrics.cycle.observe((parts.monotonicMs() - cycle.began) / 1000);
  }

  #log(level: 'info' | 'warn', event: string, fields: Readonly<Record<string, unknown>>): void {
    this.#state.parts.publish({ kind: 'log', level, event, fields });
  }
}
