// Applies pending changes to the ledgers. Entries are interpreted in order, each against the state that the entries before
// it left, but every machine and every cluster's rows are written once, however often they changed. The ledgers therefore
// do not depend on how entries are split between two freezes.

import {
  BigFleetError,
  DEFAULT_DRAIN_SECONDS,
  effectiveAllocatable,
  GONE,
  isBound,
  keyText,
  type Machine,
  type MachineState,
  Meaning,
  machineProblems,
  meaningOf,
  type NeedKey,
  type Problem,
  printable,
  type Sighting,
  sameKey,
} from '../model/index.ts';
import type { RollUp } from './demand/roll-up.ts';
import type { Fleet } from './fleet.ts';
import { afterMove, afterSighting, atFirstSight, sameStatus } from './machines/machine-status.ts';
import type { MachineStatus } from './machines/machine-table.ts';
import type { PendingChange, PendingChanges } from './pending-changes.ts';
import { type ClassFacts, sameFacts } from './tables/classes.ts';

/** An observation that changed the state on record. */
interface Seen {
  readonly id: string;
  /** The state on record before; null if the machine was unknown. */
  readonly known: MachineState | null;
  readonly seen: Sighting;
  readonly meaning: Meaning | 'discovered';
}

/** An entry that was not applied, with every reason. */
interface RefusedEntry {
  readonly entry: PendingChange;
  readonly problems: readonly Problem[];
}

/** What one freeze did to the ledgers. */
export interface AppliedChanges {
  /** Numbers of the clusters whose rows changed, ascending. */
  readonly clusters: readonly number[];
  /** Slots of new and changed machines, ascending. */
  readonly slots: readonly number[];
  /** The subset of `slots` that is new or has a changed status, without machines of which only class facts changed. */
  readonly restood: readonly number[];
  /** New drain times in seconds by instance type. Machines that changed in nothing else are not in `slots`. */
  readonly retimed: ReadonlyMap<string, number>;
  /** Ids of machines that left the ledger. */
  readonly removed: readonly string[];
  /** Observations in order of arrival, except those that found a machine in the state on record. */
  readonly sightings: readonly Seen[];
  readonly refused: readonly RefusedEntry[];
  /**
   * By cluster that reported: rows set aside because they name a resource beyond the ledger's limit. An entry with 0 rows
   * means that the previous roll-up had such rows and this one has none. Clusters without an entry are unchanged.
   */
  readonly rowsSetAside: ReadonlyMap<string, RowsSetAside>;
}

export interface RowsSetAside {
  readonly rows: number;
  /** The first resource that has no dimension; '' if `rows` is 0. */
  readonly resource: string;
}

/** The pending state of a machine, written at the end of the freeze. */
interface Draft {
  /** undefined before the first write. */
  readonly slot: number | undefined;
  /** null: unknown or removed. */
  readonly standing: MachineStatus | null;
  /** null: the facts of its class, unchanged. */
  readonly facts: ClassFacts | null;
  /** Number of the last measurement that `facts` takes into account. */
  readonly measured: number;
}

/** The last measured drain time of an instance type. `number` counts measurements across all types. */
interface Measurement {
  readonly seconds: number;
  readonly number: number;
}

type EntryOf<K extends PendingChange['kind']> = PendingChange & { readonly kind: K };

/**
 * Work that overlaps with writing rows, started once the machines are written. It receives the numbers of the reporting
 * clusters, whose rows it must not read. The function it returns is called when all rows are written.
 */
export type Overlap = (reporting: ReadonlySet<number>) => () => void;

/** Applies all entries in order and empties the pending. A refused entry does not affect the others. */
export function applyPending(
  fleet: Fleet,
  pending: PendingChanges,
  overlap: Overlap = () => () => {},
): AppliedChanges {
  const application = new PendingApplication(fleet, pending.take());
  application.writeMachines();
  const end = overlap(application.reporting());
  try {
    return application.finish();
  } finally {
    end();
  }
}

class PendingApplication {
  readonly #fleet: Fleet;
  readonly #entries: readonly PendingChange[];
  /** By id: machines with pending changes. */
  readonly #drafts = new Map<string, Draft>();
  /** By text of a key: ids of drafts that had the row as their target at any time in this freeze. */
  readonly #drafted = new Map<string, Set<string>>();
  /** By instance type. Applied lazily: when the facts of a machine are next read, or to its class at the end. */
  readonly #measured = new Map<string, Measurement>();
  #measurements = 0;
  /** Roll-ups in order of arrival; the first `#checked` of them have been checked. */
  readonly #reports: EntryOf<'demand'>[] = [];
  #checked = 0;
  /** By cluster: the last accepted roll-up. */
  readonly #rollUps = new Map<string, RollUp>();
  readonly #slots: number[] = [];
  readonly #restood: number[] = [];
  readonly #removed: string[] = [];
  readonly #sightings: Seen[] = [];
  readonly #refused = new Map<PendingChange, RefusedEntry>();

  constructor(fleet: Fleet, entries: readonly PendingChange[]) {
    this.#fleet = fleet;
    this.#entries = entries;
  }

  /** Interprets all entries and writes the resulting machines. */
  writeMachines(): void {
    for (const entry of this.#entries) this.#orRefuse(entry, () => this.#take(entry));
    this.#tellMeasured();
    if (this.#drafts.size === 0) return;
    this.#fleet.machines.batch(() => {
      for (const [id, draft] of this.#drafts) this.#writeOne(id, draft);
    });
  }

  #orRefuse(entry: PendingChange, work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof BigFleetError)) throw error;
      this.#refused.set(entry, { entry, problems: error.problems });
    }
  }

  /** Numbers of the clusters whose rows `finish` may write. */
  reporting(): ReadonlySet<number> {
    return new Set(this.#reports.map(({ cluster }) => this.#fleet.clusters.find(cluster)));
  }

  /** Writes the rows. */
  finish(): AppliedChanges {
    this.#checkReports();
    const { demand, clusters } = this.#fleet;
    const rowsSetAside = this.#rowsSetAside();
    const changed = [...this.#rollUps].filter(([cluster, rollUp]) => demand.write(cluster, rollUp));
    return {
      rowsSetAside,
      clusters: changed.map(([cluster]) => clusters.find(cluster)).sort((a, b) => a - b),
      slots: this.#slots.sort((a, b) => a - b),
      restood: this.#restood.sort((a, b) => a - b),
      retimed: new Map([...this.#measured].map(([type, { seconds }]) => [type, seconds])),
      removed: this.#removed,
      sightings: this.#sightings,
      refused:
        this.#refused.size === 0 ? [] : this.#entries.flatMap((entry) => this.#refused.get(entry) ?? []),
    };
  }

  #rowsSetAside(): ReadonlyMap<string, RowsSetAside> {
    const found = new Map<string, RowsSetAside>();
    for (const [cluster, { before, beyond }] of this.#rollUps) {
      if (beyond.rows.size + before.beyond.rows.size === 0) continue;
      found.set(cluster, { rows: beyond.rows.size, resource: beyond.resource });
    }
    return found;
  }

  #take(entry: PendingChange): void {
    switch (entry.kind) {
      case 'observe':
        this.#observe(entry);
        break;
      case 'gone':
        this.#lose(entry.id);
        break;
      case 'command':
        this.#restand(entry.id, (known) => afterMove(known, entry, entry.atMs));
        break;
      case 'withdraw':
        this.#restand(entry.id, ({ blocked }) => ({ ...entry.before, blocked }));
        break;
      case 'block':
        this.#restand(entry.id, (known) => ({ ...known, blocked: entry.blocked }));
        break;
      case 'restamp':
        this.#restamp(entry);
        break;
      case 'demand':
        this.#reports.push(entry);
        break;
      case 'row-ended':
        this.#endTargets(entry.key);
        break;
      case 'drain-seconds':
        this.#measure(entry);
        break;
    }
  }

  #observe(entry: EntryOf<'observe'>): void {
    const { machine, atMs } = entry;
    const problems = machineProblems(machine);
    if (problems.length > 0) {
      this.#refused.set(entry, { entry, problems });
      return;
    }
    const draft = this.#draftOf(machine.id);
    const known = draft.standing;
    const current = known === null ? null : this.#factsOf(draft);
    const standing = known === null ? atFirstSight(machine, atMs) : afterSighting(known, machine, atMs);
    const seen = this.#factsFrom(machine, current);
    const isAlike = current !== null && sameFacts(current, seen);
    // Fast path: most records of a List are unchanged.
    if (known !== null && isAlike && sameStatus(known, standing)) return;
    if (!isAlike) this.#admit(machine);
    this.#report(machine.id, known?.state ?? null, machine.state);
    // Unchanged facts keep the draft's value, null in most cases, so that the write does not compare them again.
    const facts = isAlike ? draft.facts : seen;
    const measured = isAlike ? draft.measured : this.#measurements;
    this.#draft(machine.id, { ...draft, standing, facts, measured });
  }

  // Dimensions are limited and assigned in order of arrival, so pending roll-ups from before this record are checked first.
  #admit(machine: Machine): void {
    const { classes, dimensions } = this.#fleet;
    if (dimensions.knows(effectiveAllocatable(machine))) return;
    this.#checkReports();
    classes.admit([machine]);
  }

  /**
   * Checks pending roll-ups. This is deferred until a machine needs a new dimension or rows are written. Roll-ups are
   * checked even if a later one of the same cluster follows, because the last *valid* one is applied.
   */
  #checkReports(): void {
    for (; this.#checked < this.#reports.length; this.#checked++) {
      const report = this.#reports[this.#checked]!;
      const { cluster, needs } = report;
      this.#orRefuse(report, () => this.#rollUps.set(cluster, this.#fleet.demand.check(cluster, needs)));
    }
  }

  #lose(id: string): void {
    const draft = this.#draftOf(id);
    if (draft.standing === null) return;
    this.#report(id, draft.standing.state, GONE);
    this.#draft(id, { ...draft, standing: null, facts: null });
  }

  #report(id: string, known: MachineState | null, seen: Sighting): void {
    const meaning = known === null ? 'discovered' : meaningOf(known, seen);
    if (meaning !== Meaning.Unchanged) this.#sightings.push({ id, known, seen, meaning });
  }

  #restamp(entry: EntryOf<'restamp'>): void {
    const { id, priority, interruptionPenaltyDollars, reclamationPenaltyDollars } = entry;
    const { cluster, fingerprint, group } = entry.key;
    const penalties = { interruptionPenaltyDollars, reclamationPenaltyDollars };
    this.#restand(id, (known) => {
      if (!isBound(known.state) || known.cluster !== cluster) {
        const detail = `Machine "${printable(id)}" is not bound to cluster "${printable(cluster)}".`;
        throw new BigFleetError('BF_STAMP_MISPLACED', detail);
      }
      return { ...known, stamp: { priority, ...penalties, fingerprint, group } };
    });
  }

  // The ledger lists the machines that had this target before the freeze; `#drafted` lists those that got it since.
  #endTargets(key: NeedKey): void {
    const { machines, keys } = this.#fleet;
    const ids = new Set(this.#drafted.get(keyText(key)));
    const run = machines.targetedAt(keys.find(key));
    if (run !== undefined) {
      for (let i = run.offset; i < run.offset + run.length; i++)
        ids.add(machines.idOf(machines.arena.data[i]!));
    }
    for (const id of ids) {
      const target = this.#draftOf(id).standing?.target;
      if (target && sameKey(target, key)) this.#restand(id, (known) => ({ ...known, target: null }));
    }
  }

  #measure({ of, seconds }: EntryOf<'drain-seconds'>): void {
    if (!Number.isFinite(seconds) || seconds < 0) {
      throw new BigFleetError('BF_DRAIN_SECONDS', `The drain took ${seconds} seconds.`);
    }
    if ('id' in of) {
      const draft = this.#known(of.id);
      const facts = { ...this.#factsOf(draft), drainSeconds: seconds };
      this.#draft(of.id, { ...draft, facts, measured: this.#measurements });
      return;
    }
    this.#fleet.drainSecondsOfType.set(of.instanceType, seconds);
    this.#measured.set(of.instanceType, { seconds, number: ++this.#measurements });
  }

  /**
   * Applies measurements to the classes of an instance type, of which there are few. Machines are drafted only where their
   * class becomes equal to another one, in a single pass over all slots.
   */
  #tellMeasured(): void {
    const { machines, classes } = this.#fleet;
    const concerned = new Set<number>();
    for (const [instanceType, { seconds }] of this.#measured)
      for (const number of classes.retime(instanceType, seconds)) concerned.add(number);
    if (concerned.size === 0) return;
    for (let slot = 0; slot < machines.size; slot++) {
      if (machines.state[slot] === 0 || !concerned.has(machines.classOf[slot]!)) continue;
      const id = machines.idOf(slot);
      if (!this.#drafts.has(id)) this.#draft(id, this.#draftOf(id));
    }
  }

  #restand(id: string, change: (known: MachineStatus) => MachineStatus): void {
    const draft = this.#known(id);
    this.#draft(id, { ...draft, standing: change(draft.standing) });
  }

  #draft(id: string, draft: Draft): void {
    this.#drafts.set(id, draft);
    const target = draft.standing?.target;
    if (!target) return;
    const text = keyText(target);
    const ids = this.#drafted.get(text);
    if (ids === undefined) this.#drafted.set(text, new Set([id]));
    else ids.add(id);
  }

  #known(id: string): Draft & { readonly standing: MachineStatus } {
    const { standing, ...draft } = this.#draftOf(id);
    if (standing !== null) return { standing, ...draft };
    throw new BigFleetError('BF_MACHINE_UNKNOWN', `Machine "${printable(id)}" is not on record.`);
  }

  #draftOf(id: string): Draft {
    const draft = this.#drafts.get(id);
    if (draft !== undefined) return draft;
    const slot = this.#fleet.machines.slotOf(id);
    const standing = slot === undefined ? null : this.#fleet.machines.standingOf(slot);
    return { slot, standing, facts: null, measured: 0 };
  }

  /** The facts of a known machine, with later measurements of its instance type applied. */
  #factsOf({ slot, facts, measured }: Draft): ClassFacts {
    const { machines, classes } = this.#fleet;
    const known = facts ?? classes.factsOf(machines.classOf[slot!]!);
    const last = this.#measured.get(known.instanceType);
    if (last === undefined || last.number <= measured) return known;
    return { ...known, drainSeconds: last.seconds };
  }

  // The shard measures drain times, so provider records do not carry them. A machine that is new, or that changed its
  // instance type, starts with the value of that type.
  #factsFrom(seen: Machine, known: ClassFacts | null): ClassFacts {
    const drainSeconds =
      known?.instanceType === seen.instanceType
        ? known.drainSeconds
        : (this.#fleet.drainSecondsOfType.get(seen.instanceType) ?? DEFAULT_DRAIN_SECONDS);
    const { instanceType, zone, labels, capacityType, pricePerHour, interruptionProbability } = seen;
    const { resources, allocatable } = seen;
    const offer = { pricePerHour, interruptionProbability, resources, allocatable };
    return { instanceType, zone, labels, capacityType, ...offer, drainSeconds };
  }

  /** Writes a draft if it differs from the columns. */
  #writeOne(id: string, draft: Draft): void {
    const { machines } = this.#fleet;
    const { slot, standing } = draft;
    if (standing !== null) {
      if (slot === undefined) {
        const place = machines.put({ id, ...standing, ...this.#factsOf(draft) });
        this.#slots.push(place);
        this.#restood.push(place);
      } else if (this.#rewrite(slot, standing, this.#hasFacts(draft) ? this.#factsOf(draft) : null))
        this.#slots.push(slot);
    } else if (slot !== undefined) {
      machines.remove(id);
      this.#removed.push(id);
    }
  }

  #hasFacts({ facts }: Draft): boolean {
    return facts !== null || this.#measured.size > 0;
  }

  #rewrite(slot: number, standing: MachineStatus, facts: ClassFacts | null): boolean {
    const { machines, classes } = this.#fleet;
    const stands = sameStatus(machines.standingOf(slot), standing);
    const moved = facts !== null && !sameFacts(facts, classes.factsOf(machines.classOf[slot]!));
    if (!moved && stands) return false;
    if (!stands) this.#restood.push(slot);
    machines.update(slot, standing, moved ? facts : undefined);
    return true;
  }
}
