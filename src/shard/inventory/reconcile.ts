// Reconciles the ledger with the inventories of the providers. A record is applied only if its reading began after the
// last mutation of the machine had ended. A stale record, or one that arrives while an action owns the machine, is
// dropped and the machine is read with a Get, because the List reader does not deliver the same record twice. A List
// alone does not remove a bound machine. A machine belongs to the provider that listed it first; its id is refused
// from any other. Owned by planning/controller.ts, on its thread.

import type { MachineStatus } from '../../fleet/index.ts';
import { isBound, type Machine, MachineState } from '../../model/index.ts';
import { type ListKind, type ListReport, machinesOf } from '../../provider/index.ts';
import { backoffMs } from '../../runtime/backoff.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Actuation } from '../actuation/actuation.ts';
import type { CallScheduler } from '../actuation/call-scheduler.ts';
import type { CallOutcome, Effect, ListEvent } from '../events.ts';
import { failpoint } from '../failpoints.ts';
import type { MachineFacts, MachineFactsStore } from './machine-facts-store.ts';
import { ANY_STATE, type MachineLedger } from './machine-ledger.ts';
import type { ReconcileLimits } from './reconcile-limits.ts';
import { type RefusalReason, refusalsOf } from './refusals.ts';
import { ShrinkGuard } from './shrink-guard.ts';

/** For metrics and logs. */
export interface ReconcileObserver {
  listed(provider: string, report: ListReport): void;
  listFailed(provider: string, error: string): void;
  /** A List that is empty or has shrunk sharply is not applied yet; `timesInARow` such Lists have come in sequence. */
  listHeld(provider: string, known: number, missing: number, timesInARow: number): void;
  refused(provider: string, reason: RefusalReason, count: number): void;
  /** Two providers list one id; the record of `other` is ignored. */
  collided(machine: string, owner: string, other: string): void;
  /** A machine that the ledger has as Speculative has a host, and so a cost. */
  orphanFound(machine: string, provider: string, state: MachineState): void;
  /** A machine that served a cluster before the restart is Failed or Speculative now; `seen` null: it is not listed. */
  lostWhileAway(facts: MachineFacts, provider: string, seen: Machine | null): void;
  /** A record was stale or the machine was busy; the machine is read again. */
  dropped(machine: string): void;
}

export interface ReconcileParts {
  readonly providers: readonly string[];
  readonly ledger: MachineLedger;
  readonly scheduler: CallScheduler;
  readonly machineFacts: MachineFactsStore;
  readonly actuation: Actuation;
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: (effect: Effect) => void;
  readonly limits: ReconcileLimits;
  readonly observer: ReconcileObserver;
}

export interface ReadingFacts {
  /** Whether a full List has been completed and accepted since the start. */
  readonly hasListed: boolean;
  /** When the last successful reading ended; null: none yet. */
  readonly lastListMs: number | null;
  /** '' if the last reading succeeded. */
  readonly lastError: string;
}

interface Reading {
  readonly number: number;
  readonly began: number;
  readonly wanted: ListKind;
  /** Ids received, to compute the missing ones if the List reader has lost its cache; null: not tracked. */
  readonly seen: Set<string> | null;
}

interface Source {
  readonly name: string;
  readonly guard: ShrinkGuard;
  /** Offset that staggers full Lists: the second one is due this much earlier than `fullMs` after the first. */
  readonly aheadMs: number;
  reading: Reading | null;
  failures: number;
  lastFullMs: number;
  hasListed: boolean;
  lastListMs: number | null;
  lastError: string;
}

export class Reconcile {
  readonly #parts: ReconcileParts;
  readonly #sources: ReadonlyMap<string, Source>;
  /** Machines to read as soon as their action lets go of them. */
  readonly #owed = new Set<string>();
  /** Machines with a Get in flight or in back-off; at most one Get per machine. */
  readonly #checking = new Set<string>();
  /** The subset of `#checking` in back-off after a failed Get: by machine, the function that cancels the timer. */
  readonly #backingOff = new Map<string, () => void>();
  readonly #collisions = new Set<string>();
  #readings = 0;
  #progressMs = Number.NEGATIVE_INFINITY;
  #isStopped = false;

  constructor(parts: ReconcileParts) {
    this.#parts = parts;
    // All providers are listed at the start. Later full Lists are staggered, so that they do not cause one burst of work.
    const turnMs = parts.limits.fullMs / parts.providers.length;
    const source = (name: string, place: number): Source => ({
      ...{ name, guard: new ShrinkGuard(), aheadMs: place * turnMs, reading: null, failures: 0 },
      ...{ lastFullMs: Number.NEGATIVE_INFINITY, hasListed: false, lastListMs: null, lastError: '' },
    });
    this.#sources = new Map(parts.providers.map((name, place) => [name, source(name, place)]));
    parts.actuation.onFreed((machine, mustLook) => {
      if (mustLook || this.#owed.has(machine)) this.check(machine);
    });
  }

  /** Whether a full List of every provider has been accepted. */
  get isReady(): boolean {
    return [...this.#sources.values()].every(({ hasListed }) => hasListed);
  }

  /** When the latest batch of any provider's first List arrived. */
  get progressMs(): number {
    return this.#progressMs;
  }

  start(): void {
    for (const source of this.#sources.values()) this.#read(source);
  }

  stop(): void {
    this.#isStopped = true;
  }

  handle(event: ListEvent): void {
    const source = this.#sources.get(event.provider);
    const reading = source?.reading;
    // A stop aborts readings; such an error is not the provider's.
    if (source === undefined || reading?.number !== event.reading || this.#isStopped) return;
    switch (event.kind) {
      case 'list-changed':
        if (!source.hasListed) this.#progressMs = this.#parts.clock.now();
        for (const machine of machinesOf(event.batch)) this.#listed(source, reading, machine);
        break;
      case 'list-gone':
        source.guard.gone(event.ids.filter((id) => this.#parts.ledger.ownerOf(id) === source.name));
        break;
      case 'list-ended':
        this.#ended(source, reading, event.report, event.error);
        failpoint('list.applied');
        break;
    }
  }

  readingsOf(provider: string): ReadingFacts {
    const { hasListed, lastListMs, lastError } = this.#sources.get(provider) ?? NEVER_READ;
    return { hasListed, lastListMs, lastError };
  }

  /** Machines of a provider that are missing from its Lists and kept until the shrink guard accepts the loss. */
  heldLosses(provider: string): number {
    return this.#sources.get(provider)?.guard.missing ?? 0;
  }

  /** Accepts a shrunken List by order of a person. False: there is no such provider. */
  acceptList(provider: string): boolean {
    const source = this.#sources.get(provider);
    if (source === undefined) return false;
    const began = this.#parts.scheduler.readingBegins();
    const isBlocked = source.guard.suspicions > 0;
    this.#lose(source, source.guard.accept(), began);
    // Without a rejected List there is nothing to accept, in particular before the first List has ended.
    if (isBlocked) this.#readWhole(source);
    this.#parts.scheduler.readingEnded(began);
    return true;
  }

  /** Reads one machine immediately on a person's order, ending the back-off after a failed Get. */
  checkNow(id: string): void {
    const endWait = this.#backingOff.get(id);
    endWait?.();
    if (endWait === undefined) this.check(id);
    else this.#checkAgain(id);
  }

  /** Reads one machine with a Get and applies the result. */
  check(id: string, failures = 0): void {
    const { ledger, actuation, scheduler } = this.#parts;
    const provider = ledger.ownerOf(id);
    // Before the returns below, so that a machine that is gone leaves no entry.
    this.#owed.delete(id);
    if (provider === undefined || this.#checking.has(id) || this.#isStopped) return;
    if (actuation.isBusy(id)) {
      this.#owed.add(id);
      return;
    }
    this.#checking.add(id);
    scheduler.submit({
      provider,
      machine: id,
      request: { command: 'get' },
      ended: (outcome, began) => {
        if (!this.#isCurrent(id, began)) this.#checkAgain(id);
        else this.#checked(id, provider, outcome, failures + 1);
      },
    });
  }

  #checked(id: string, provider: string, outcome: CallOutcome, failures: number): void {
    const { clock, random, limits, ledger } = this.#parts;
    if (outcome.kind !== 'found' && outcome.kind !== 'unknown-machine') {
      const wait = backoffMs(random, limits.retry, failures);
      this.#backingOff.set(
        id,
        clock.after(wait, () => this.#checkAgain(id, failures)),
      );
      return;
    }
    this.#checking.delete(id);
    if (outcome.kind === 'found') this.#take(provider, outcome.machine);
    else ledger.lose(id);
  }

  #checkAgain(id: string, failures = 0): void {
    this.#backingOff.delete(id);
    this.#checking.delete(id);
    this.check(id, failures);
  }

  #read(source: Source): void {
    const { clock, scheduler, ledger, limits, emit } = this.#parts;
    if (this.#isStopped) return;
    const isDue = clock.now() - source.lastFullMs >= limits.fullMs;
    const wanted: ListKind = isDue ? 'full' : 'changes';
    const seen = isDue && ledger.countOf(source.name) > 0 ? new Set<string>() : null;
    source.reading = { number: ++this.#readings, began: scheduler.readingBegins(), wanted, seen };
    emit({ kind: 'list', provider: source.name, reading: this.#readings, wanted });
  }

  #listed(source: Source, { began, seen }: Reading, machine: Machine): void {
    const { ledger } = this.#parts;
    const { id } = machine;
    const owner = ledger.ownerOf(id);
    if (owner !== undefined && owner !== source.name) {
      this.#collide(id, owner, source.name);
      return;
    }
    seen?.add(id);
    source.guard.isThere(id);
    if (!this.#isCurrent(id, began)) this.#drop(id);
    else if (isLoss(ledger.statusOf(id), machine)) this.check(id);
    else this.#take(source.name, machine);
  }

  #isCurrent(id: string, began: number): boolean {
    return !this.#parts.actuation.isBusy(id) && this.#parts.scheduler.isCurrent(id, began);
  }

  #drop(id: string): void {
    this.#parts.observer.dropped(id);
    this.check(id);
  }

  #take(provider: string, machine: Machine): void {
    const { ledger, actuation, observer, clock } = this.#parts;
    const { id, state } = machine;
    if (!actuation.isNewInformation(machine)) return;
    const known = ledger.statusOf(id);
    if (known?.state === MachineState.Speculative && hasHost(state))
      observer.orphanFound(id, provider, state);
    if (known === null) this.#meet(provider, machine);
    else ledger.observe(machine, provider, clock.now());
    const ended = known === null ? undefined : ENDED.get(known.state);
    if (ended !== undefined && known!.state !== state) failpoint(`${ended}.seen`);
    actuation.seen(id);
  }

  /** First record since the start: merges the facts that the shard stored before a restart into it. */
  #meet(provider: string, machine: Machine): void {
    const { ledger, machineFacts, clock } = this.#parts;
    const facts = machineFacts.recall(machine.id);
    if (facts === null) {
      ledger.observe(machine, provider, clock.now());
      return;
    }
    if (machine.state === MachineState.Failed || machine.state === MachineState.Speculative)
      this.#lostWhileAway(facts, provider, machine);
    const isSameBinding = facts.stamp !== null && machine.cluster === facts.cluster;
    const stamp = isSameBinding ? facts.stamp : machine.stamp;
    const known = { ...machine, stamp, target: facts.target };
    ledger.observe(known, provider, facts.idleSinceMs ?? clock.now());
  }

  /** Reports machines that were in a cluster only: for others the stored facts do not say whether they had a host. */
  #lostWhileAway(facts: MachineFacts, provider: string, seen: Machine | null): void {
    if (facts.cluster !== '') this.#parts.observer.lostWhileAway(facts, provider, seen);
  }

  #ended(source: Source, reading: Reading, report: ListReport | null, error: string): void {
    const { scheduler, observer, clock, random, limits } = this.#parts;
    source.reading = null;
    source.lastError = report === null ? error : '';
    scheduler.heard(source.name, report !== null);
    if (report === null) {
      source.failures++;
      observer.listFailed(source.name, error);
      clock.after(backoffMs(random, limits.retry, source.failures), () => this.#read(source));
    } else {
      source.failures = 0;
      source.lastListMs = clock.now();
      observer.listed(source.name, report);
      for (const [reason, count] of refusalsOf(report)) observer.refused(source.name, reason, count);
      if (report.kind === 'full') this.#fullEnded(source, reading, report);
      clock.after(limits.changesMs, () => this.#read(source));
    }
    scheduler.readingEnded(reading.began);
  }

  #fullEnded(source: Source, { began, seen }: Reading, report: ListReport): void {
    const { ledger, clock, observer } = this.#parts;
    if (report.isFirst && seen !== null) source.guard.gone(this.#notIn(source.name, seen));
    if (!report.isFirst && seen !== null) this.#checkUnmoved(source.name, seen);
    const isFirst = source.lastFullMs === Number.NEGATIVE_INFINITY;
    source.lastFullMs = clock.now() - (isFirst ? source.aheadMs : 0);
    const unseen = source.hasListed ? [] : this.#unseen(source);
    source.guard.gone(unseen);
    const known = ledger.countOf(source.name) + unseen.length;
    const gone = source.guard.listEnded(known, source.hasListed);
    if (gone === null) {
      observer.listHeld(source.name, known, source.guard.missing, source.guard.suspicions);
      return;
    }
    this.#lose(source, gone, began);
    this.#readWhole(source);
  }

  /**
   * Reads machines in transition that a full List did not deliver. The List reader omits records equal to the last one it
   * delivered, which may predate the shard's own command: without a Get, a machine that returned to that state would go
   * unnoticed until its deadline.
   */
  #checkUnmoved(provider: string, seen: ReadonlySet<string>): void {
    const onTheirWay = [...this.#parts.ledger.idsIn(provider, ON_THEIR_WAY)];
    for (const id of onTheirWay) if (!seen.has(id)) this.check(id);
  }

  /** Removes missing machines; one that was held back by the guard may belong to another provider by now. */
  #lose({ name }: Source, gone: readonly string[], began: number): void {
    for (const id of gone) if (this.#parts.ledger.ownerOf(id) === name) this.#lost(id, began);
  }

  #readWhole(source: Source): void {
    const { machineFacts } = this.#parts;
    if (source.hasListed) return;
    source.hasListed = true;
    const unseen = [
      ...machineFacts.dropUnseen(source.name),
      ...(this.isReady ? machineFacts.dropUnseen(NAMELESS) : []),
    ];
    for (const facts of unseen) this.#lostWhileAway(facts, source.name, null);
  }

  /** Machines known before the restart and not listed since; those without a provider count for the last one to list. */
  #unseen({ name }: Source): readonly string[] {
    const { machineFacts } = this.#parts;
    const isLast = [...this.#sources.values()].every((other) => other.hasListed || other.name === name);
    return [...machineFacts.unseenOf(name), ...(isLast ? machineFacts.unseenOf(NAMELESS) : [])];
  }

  #notIn(provider: string, seen: ReadonlySet<string>): readonly string[] {
    const ids = [...this.#parts.ledger.idsIn(provider, ANY_STATE)];
    return ids.filter((id) => !seen.has(id));
  }

  /** Removes a machine that a List no longer has; one that is in use, or busy, is confirmed with a Get first. */
  #lost(id: string, began: number): void {
    const { ledger } = this.#parts;
    const status = ledger.statusOf(id);
    if (status === null) return;
    const isUsed = isBound(status.state) || status.state === MachineState.Draining;
    if (isUsed || !this.#isCurrent(id, began)) this.check(id);
    else ledger.lose(id);
  }

  #collide(id: string, owner: string, other: string): void {
    const pair = JSON.stringify([id, other]);
    if (this.#collisions.has(pair) || this.#collisions.size >= MAX_COLLISIONS) return;
    this.#collisions.add(pair);
    this.#parts.observer.collided(id, owner, other);
  }
}

/** By transitional state: the command that has ended once the machine leaves it. */
const ENDED: ReadonlyMap<MachineState, 'create' | 'configure' | 'drain' | 'delete'> = new Map([
  [MachineState.Creating, 'create'],
  [MachineState.Configuring, 'configure'],
  [MachineState.Draining, 'drain'],
  [MachineState.Deleting, 'delete'],
]);

const ON_THEIR_WAY: ReadonlySet<MachineState> = new Set(ENDED.keys());

/** Bound on collisions that are reported, once each: more suggest that a whole inventory is listed twice. */
const MAX_COLLISIONS = 10_000;

/** `MachineFacts.provider` of facts stored without one. */
const NAMELESS = '';

const NEVER_READ: ReadingFacts = { hasListed: false, lastListMs: null, lastError: '' };

function hasHost(state: MachineState): boolean {
  return state !== MachineState.Speculative && state !== MachineState.Failed;
}

/** Whether a record removes a Configured machine from its cluster. */
function isLoss(known: MachineStatus | null, seen: Machine): boolean {
  if (known?.state !== MachineState.Configured) return false;
  return seen.state !== MachineState.Configured || seen.cluster !== known.cluster;
}
