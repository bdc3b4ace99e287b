// Freezing a view is applying the journal. Every entry is understood in the order it was written, against what the
// entries before it left; but a machine is written once and a cluster's rows once, however often they changed. So
// where freezes cut a journal makes no difference to the ledgers.

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
import { type ClassFacts, sameFacts } from './classes.ts';
import type { Fleet } from './fleet.ts';
import type { Journal, JournalEntry } from './journal.ts';
import type { Standing } from './machines.ts';
import type { RollUp } from './roll-up.ts';
import { afterMove, afterSighting, atFirstSight, sameStanding } from './standing.ts';

/** A sighting that was news. */
export interface Seen {
  readonly id: string;
  /** The state on record; null for a machine that was not. */
  readonly known: MachineState | null;
  readonly seen: Sighting;
  readonly meaning: Meaning | 'discovered';
}

/** An entry that was left out, with every reason. */
export interface RefusedEntry {
  readonly entry: JournalEntry;
  readonly problems: readonly Problem[];
}

/** What one freeze did to the ledgers. */
export interface AppliedChanges {
  /** Numbers of the clusters whose rows are not what they were, ascending. */
  readonly clusters: readonly number[];
  /** Slots of machines that are new or of which something changed, ascending. */
  readonly slots: readonly number[];
  /** Of those, the machines that are new or stand otherwise than before: more than their price or the like is news. */
  readonly restood: readonly number[];
  /** By instance type: how long its machines drain, measured anew. Machines that changed in nothing else are not in `slots`. */
  readonly retimed: ReadonlyMap<string, number>;
  /** Ids of machines that left the ledger. */
  readonly removed: readonly string[];
  /** Sightings in journal order, without those that found a machine in the state on record. */
  readonly sightings: readonly Seen[];
  readonly refused: readonly RefusedEntry[];
  /**
   * By cluster that reported: rows that name a resource beyond the limit of the ledger and were set aside for it. With 0
   * rows: there were some before and there are none now. Other clusters are as they were.
   */
  readonly rowsSetAside: ReadonlyMap<string, RowsSetAside>;
}

export interface RowsSetAside {
  readonly rows: number;
  /** The first resource of them that has no dimension; '' without rows. */
  readonly resource: string;
}

/** A machine as it will stand once the freeze is written. */
interface Draft {
  /** Its place in the columns; undefined before the first write. */
  readonly slot: number | undefined;
  /** null: not on record. */
  readonly standing: Standing | null;
  /** null: as its class has it. */
  readonly facts: ClassFacts | null;
  /** Measurements that the facts know of. */
  readonly measured: number;
}

/** How long machines of an instance type drain, by the last of the measurements so far. */
interface Measurement {
  readonly seconds: number;
  readonly number: number;
}

type EntryOf<K extends JournalEntry['kind']> = JournalEntry & { readonly kind: K };

/**
 * Work that can go on once the machines are written, while rows are: told the numbers of the clusters that report, which are
 * not to be looked at. What it returns is called when all is written.
 */
export type Meanwhile = (reporting: ReadonlySet<number>) => () => void;

/** Applies all entries in order and empties the journal. A refused entry costs its neighbours nothing. */
export function applyJournal(
  fleet: Fleet,
  journal: Journal,
  meanwhile: Meanwhile = () => () => {},
): AppliedChanges {
  const freeze = new Freeze(fleet, journal.take());
  freeze.writeMachines();
  const end = meanwhile(freeze.reporting());
  try {
    return freeze.finish();
  } finally {
    end();
  }
}

class Freeze {
  readonly #fleet: Fleet;
  readonly #entries: readonly JournalEntry[];
  /** By id: machines that something happened to. */
  readonly #drafts = new Map<string, Draft>();
  /** By text of a key: ids of drafts that were on their way to the row at some time. */
  readonly #drafted = new Map<string, Set<string>>();
  /** By instance type; machines are told when they are next looked at, or at the end. */
  readonly #measured = new Map<string, Measurement>();
  #measurements = 0;
  /** Roll-ups, in journal order; so many of them are checked. */
  readonly #reports: EntryOf<'demand'>[] = [];
  #checked = 0;
  /** By cluster: the last accepted roll-up. */
  readonly #rollUps = new Map<string, RollUp>();
  readonly #slots: number[] = [];
  readonly #restood: number[] = [];
  readonly #removed: string[] = [];
  readonly #sightings: Seen[] = [];
  readonly #refused = new Map<JournalEntry, RefusedEntry>();

  constructor(fleet: Fleet, entries: readonly JournalEntry[]) {
    this.#fleet = fleet;
    this.#entries = entries;
  }

  /** Understands all entries and writes what they come to for machines. */
  writeMachines(): void {
    for (const entry of this.#entries) this.#orRefuse(entry, () => this.#take(entry));
    this.#tellMeasured();
    if (this.#drafts.size === 0) return;
    this.#fleet.machines.batch(() => {
      for (const [id, draft] of this.#drafts) this.#writeOne(id, draft);
    });
  }

  #orRefuse(entry: JournalEntry, work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof BigFleetError)) throw error;
      this.#refused.set(entry, { entry, problems: error.problems });
    }
  }

  /** Numbers of the clusters whose rows are still to be written. */
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

  #take(entry: JournalEntry): void {
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
        this.#restand(entry.id, ({ held }) => ({ ...entry.before, held }));
        break;
      case 'hold':
        this.#restand(entry.id, (known) => ({ ...known, held: entry.held }));
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
    // Most records of a List say nothing new and cost nothing more.
    if (known !== null && isAlike && sameStanding(known, standing)) return;
    if (!isAlike) this.#admit(machine);
    this.#report(machine.id, known?.state ?? null, machine.state);
    // What is as it was said to be need not be compared again.
    const facts = isAlike ? draft.facts : seen;
    const measured = isAlike ? draft.measured : this.#measurements;
    this.#draft(machine.id, { ...draft, standing, facts, measured });
  }

  // Which names get a dimension, where there is room for few, depends on who comes first: the roll-ups before it do.
  #admit(machine: Machine): void {
    const { classes, dimensions } = this.#fleet;
    if (dimensions.knows(effectiveAllocatable(machine))) return;
    this.#checkReports();
    classes.admit([machine]);
  }

  /**
   * Checks roll-ups that wait for it; else nothing depends on them before their rows are written. They are checked even if a
   * later one replaces them: the last *good* one counts.
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

  // The ledger knows which machines were on their way to a row; what happened to them since, the drafts do.
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
   * Measurements are told to the classes of a type, of which there are few. Only machines whose class becomes like another
   * one are drafted, in one pass however many there were.
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

  #restand(id: string, change: (known: Standing) => Standing): void {
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

  #known(id: string): Draft & { readonly standing: Standing } {
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

  /** What a machine on record shares with its class, with what was measured of its type since. */
  #factsOf({ slot, facts, measured }: Draft): ClassFacts {
    const { machines, classes } = this.#fleet;
    const known = facts ?? classes.factsOf(machines.classOf[slot!]!);
    const last = this.#measured.get(known.instanceType);
    if (last === undefined || last.number <= measured) return known;
    return { ...known, drainSeconds: last.seconds };
  }

  // How long it drains is measured by us, so a record does not say; a machine of a new type starts as its like do.
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

  /** Writes what differs from the columns, if anything does. */
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

  #rewrite(slot: number, standing: Standing, facts: ClassFacts | null): boolean {
    const { machines, classes } = this.#fleet;
    const stands = sameStanding(machines.standingOf(slot), standing);
    const moved = facts !== null && !sameFacts(facts, classes.factsOf(machines.classOf[slot]!));
    if (!moved && stands) return false;
    if (!stands) this.#restood.push(slot);
    machines.update(slot, standing, moved ? facts : undefined);
    return true;
  }
}
