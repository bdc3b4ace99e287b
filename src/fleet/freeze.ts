// Freezing a view is applying the journal. Every entry is understood in the order it was written, against what the
// entries before it left; but a machine is written once and a cluster's rows once, however often they changed. So
// where freezes cut a journal makes no difference to the ledgers.

import {
  BigFleetError,
  DEFAULT_DRAIN_SECONDS,
  GONE,
  isBound,
  type Machine,
  type MachineState,
  Meaning,
  machineProblems,
  meaningOf,
  type NeedKey,
  type Problem,
  printable,
  type Sighting,
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
  /** Ids of machines that left the ledger. */
  readonly removed: readonly string[];
  /** Sightings in journal order, without those that found a machine in the state on record. */
  readonly sightings: readonly Seen[];
  readonly refused: readonly RefusedEntry[];
}

/** A machine as it will stand once the freeze is written. */
interface Draft {
  /** Its place in the columns; undefined before the first write. */
  readonly slot: number | undefined;
  /** null: not on record. */
  readonly standing: Standing | null;
  /** null: as its class has it. */
  readonly facts: ClassFacts | null;
}

type EntryOf<K extends JournalEntry['kind']> = JournalEntry & { readonly kind: K };

/** Applies all entries in order and empties the journal. A refused entry costs its neighbours nothing. */
export function applyJournal(fleet: Fleet, journal: Journal): AppliedChanges {
  const freeze = new Freeze(fleet);
  for (const entry of journal.take()) freeze.apply(entry);
  return freeze.finish();
}

class Freeze {
  readonly #fleet: Fleet;
  /** By id: machines that something happened to since the last write. */
  #drafts = new Map<string, Draft>();
  /** By cluster: the last accepted roll-up. */
  readonly #rollUps = new Map<string, RollUp>();
  readonly #changed = new Set<string>();
  readonly #sightings: Seen[] = [];
  readonly #refused: RefusedEntry[] = [];

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  apply(entry: JournalEntry): void {
    try {
      this.#take(entry);
    } catch (error) {
      if (!(error instanceof BigFleetError)) throw error;
      this.#refused.push({ entry, problems: error.problems });
    }
  }

  finish(): AppliedChanges {
    this.#write();
    const { machines, demand, clusters } = this.#fleet;
    const changed = [...this.#rollUps].filter(([cluster, rollUp]) => demand.write(cluster, rollUp));
    const slots: number[] = [];
    const removed: string[] = [];
    for (const id of this.#changed) {
      const slot = machines.slotOf(id);
      if (slot === undefined) removed.push(id);
      else slots.push(slot);
    }
    return {
      clusters: changed.map(([cluster]) => clusters.find(cluster)).sort((a, b) => a - b),
      slots: slots.sort((a, b) => a - b),
      removed,
      sightings: this.#sightings,
      refused: this.#refused,
    };
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
      case 'hold':
        this.#restand(entry.id, (known) => ({ ...known, held: entry.held }));
        break;
      case 'restamp':
        this.#restamp(entry);
        break;
      case 'demand':
        // Checked even if a later roll-up replaces it: the last *good* one counts.
        this.#rollUps.set(entry.cluster, this.#fleet.demand.check(entry.cluster, entry.needs));
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
      this.#refused.push({ entry, problems });
      return;
    }
    const draft = this.#draftOf(machine.id);
    const known = draft.standing;
    const current = known === null ? null : this.#factsOf(draft);
    const standing = known === null ? atFirstSight(machine, atMs) : afterSighting(known, machine, atMs);
    const facts = this.#factsFrom(machine, current);
    // Most records of a List say nothing new and cost nothing more.
    if (known !== null && sameStanding(known, standing) && sameFacts(current!, facts)) return;
    this.#fleet.classes.admit([machine]);
    this.#report(machine.id, known?.state ?? null, machine.state);
    this.#drafts.set(machine.id, { ...draft, standing, facts });
  }

  #lose(id: string): void {
    const { slot, standing } = this.#draftOf(id);
    if (standing === null) return;
    this.#report(id, standing.state, GONE);
    this.#drafts.set(id, { slot, standing: null, facts: null });
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

  // The ledger alone knows which machines are on their way to a row, so what is pending goes in first.
  #endTargets(key: NeedKey): void {
    this.#write();
    const { machines, keys } = this.#fleet;
    const run = machines.targetedAt(keys.find(key));
    if (run === undefined) return;
    const slots = machines.arena.data.slice(run.offset, run.offset + run.length);
    for (const slot of slots) this.#restand(machines.idOf(slot), (known) => ({ ...known, target: null }));
  }

  #measure({ of, seconds }: EntryOf<'drain-seconds'>): void {
    if (!Number.isFinite(seconds) || seconds < 0) {
      throw new BigFleetError('BF_DRAIN_SECONDS', `The drain took ${seconds} seconds.`);
    }
    if ('id' in of) {
      this.#setDrainSeconds(of.id, seconds);
      return;
    }
    this.#write();
    const { machines, classes, drainSecondsOfType } = this.#fleet;
    drainSecondsOfType.set(of.instanceType, seconds);
    for (let slot = 0; slot < machines.size; slot++) {
      if (machines.state[slot] === 0) continue;
      const number = machines.classOf[slot]!;
      if (classes.attributes[number]!.instanceType !== of.instanceType) continue;
      if (classes.drainSeconds[number] !== seconds) this.#setDrainSeconds(machines.idOf(slot), seconds);
    }
  }

  #setDrainSeconds(id: string, drainSeconds: number): void {
    const draft = this.#known(id);
    this.#drafts.set(id, { ...draft, facts: { ...this.#factsOf(draft), drainSeconds } });
  }

  #restand(id: string, change: (known: Standing) => Standing): void {
    const draft = this.#known(id);
    this.#drafts.set(id, { ...draft, standing: change(draft.standing) });
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
    return { slot, standing, facts: null };
  }

  /** What a machine on record shares with its class. */
  #factsOf({ slot, facts }: Draft): ClassFacts {
    const { machines, classes } = this.#fleet;
    return facts ?? classes.factsOf(machines.classOf[slot!]!);
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

  #write(): void {
    if (this.#drafts.size === 0) return;
    this.#fleet.machines.batch(() => {
      for (const [id, draft] of this.#drafts) if (this.#writeOne(id, draft)) this.#changed.add(id);
    });
    this.#drafts = new Map();
  }

  /** Writes what differs from the columns; false if nothing does. */
  #writeOne(id: string, { slot, standing, facts }: Draft): boolean {
    const { machines } = this.#fleet;
    if (standing === null) machines.remove(id);
    else if (slot === undefined) machines.put({ id, ...standing, ...facts! });
    else return this.#rewrite(slot, standing, facts);
    return slot !== undefined || standing !== null;
  }

  #rewrite(slot: number, standing: Standing, facts: ClassFacts | null): boolean {
    const { machines, classes } = this.#fleet;
    const current = machines.standingOf(slot);
    const moved = facts !== null && !sameFacts(facts, classes.factsOf(machines.classOf[slot]!));
    if (!moved && sameStanding(current, standing)) return false;
    machines.update(slot, standing, moved ? facts : undefined);
    return true;
  }
}
