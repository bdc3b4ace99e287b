// The pending state of machines: one draft for every machine that has changed since the last commit. A change is
// applied once, when it arrives, to the state that the changes before it left. The commit writes each draft once,
// however often the machine changed, so the ledger does not depend on where commits cut a sequence of changes. Owned by
// pending-changes.ts.

import {
  BigFleetError,
  DEFAULT_DRAIN_SECONDS,
  effectiveAllocatable,
  GONE,
  isBound,
  keyText,
  type Machine,
  MachineState,
  Meaning,
  machineProblems,
  meaningOf,
  type NeedKey,
  type NodeFacts,
  printable,
  type Sighting,
  type Stamp,
  sameKey,
} from '../../model/index.ts';
import type { PendingRollUps } from '../demand/pending-roll-ups.ts';
import type { Fleet } from '../fleet.ts';
import { type ClassFacts, classText, sameFacts, sameOffer } from '../tables/classes.ts';
import {
  afterMove,
  afterSighting,
  atFirstSight,
  type Move,
  sameBinding,
  sameStatus,
} from './machine-status.ts';
import type { MachineStatus } from './machine-table.ts';

/** One change of a machine. */
export interface MachineChange {
  readonly id: string;
  /** null: not on record. */
  readonly before: MachineStatus | null;
  readonly after: MachineStatus | null;
  /** null if the machine was not on record. */
  readonly factsBefore: ClassFacts | null;
  /** The provider's record that caused the change, if any. */
  readonly seen: Machine | null;
}

/** An observation that changed the state on record. */
interface Seen {
  readonly id: string;
  /** The state on record before; null if the machine was unknown. */
  readonly known: MachineState | null;
  readonly seen: Sighting;
  readonly meaning: Meaning | 'discovered';
}

/** What a commit did to the machine ledger. */
export interface WrittenMachines {
  /** Slots of new and changed machines, ascending. */
  readonly slots: readonly number[];
  /**
   * The subset of `slots` that is new or has a changed status, without machines of which only class facts, only the time
   * since which they are unclaimed, or only the use changed.
   */
  readonly statusChanged: readonly number[];
  /** New drain times in seconds by instance type. Machines that changed in nothing else are not in `slots`. */
  readonly retimed: ReadonlyMap<string, number>;
  /** Ids of machines that left the ledger. */
  readonly removed: readonly string[];
  /** Observations in order of arrival, except those that found a machine in the state on record. */
  readonly sightings: readonly Seen[];
}

/** The pending state of one machine. */
export interface MachineDraft {
  readonly id: string;
  /** undefined: new since the last commit. */
  readonly slot: number | undefined;
  /** null: removed, or never known. */
  readonly status: MachineStatus | null;
}

interface Draft extends MachineDraft {
  status: MachineStatus | null;
  /** null: the facts of its class, unchanged. */
  facts: ClassFacts | null;
  /** Number of the last measurement that `facts` takes into account. */
  measured: number;
  /** Whether the draft is in `#unindexed`. */
  isQueued: boolean;
}

/** The last measured drain time of an instance type. `number` counts measurements across all types. */
interface Measurement {
  readonly seconds: number;
  readonly number: number;
}

/** What a drain time was measured of. */
export type Measured = { readonly id: string } | { readonly instanceType: string };

/** The part of a stamp that does not name a row. */
type StampTerms = Omit<Stamp, 'fingerprint' | 'group'>;

/** The draft of a machine on record. */
type Known = Draft & { status: MachineStatus };

const NO_IDS: ReadonlySet<string> = new Set();

export class MachineDrafts {
  readonly #fleet: Fleet;
  readonly #rollUps: PendingRollUps;
  readonly #drafts = new Map<string, Draft>();
  /** Drafts that were saved since the indexes below were last brought up to date. */
  #unindexed: Draft[] = [];
  /** By cluster, and by text of a target's key: ids of drafts that have it now or had it at an earlier update. */
  readonly #byCluster = new Map<string, Set<string>>();
  readonly #byTarget = new Map<string, Set<string>>();
  /** By instance type. Applied lazily: when the facts of a machine are next read, or to its class at the commit. */
  readonly #measured = new Map<string, Measurement>();
  #measurements = 0;
  /** By text of a class: the facts that drafts of it share. */
  readonly #facts = new Map<string, ClassFacts>();
  readonly #sightings: Seen[] = [];

  /** `rollUps` are those that arrived since the same commit. */
  constructor(fleet: Fleet, rollUps: PendingRollUps) {
    this.#fleet = fleet;
    this.#rollUps = rollUps;
  }

  /** All drafts, in order of the machines' first change. */
  all(): Iterable<MachineDraft> {
    return this.#drafts.values();
  }

  has(id: string): boolean {
    return this.#drafts.has(id);
  }

  /** Ids of drafts with a machine that is in a cluster, or was in it since the last commit. */
  inCluster(cluster: string): ReadonlySet<string> {
    this.#updateIndexes();
    return this.#byCluster.get(cluster) ?? NO_IDS;
  }

  /** The status that a commit would write; null if the machine is not on record. */
  statusOf(id: string): MachineStatus | null {
    const draft = this.#drafts.get(id);
    if (draft !== undefined) return draft.status;
    const { machines } = this.#fleet;
    const slot = machines.slotOf(id);
    return slot === undefined ? null : machines.statusOf(slot);
  }

  /** The class facts that a commit would write; null if the machine is not on record. */
  classFactsOf(id: string): ClassFacts | null {
    const draft = this.#draftOf(id);
    return draft.status === null ? null : this.#factsOf(draft);
  }

  /** Applies a provider's record. Throws, without a change, if it is malformed or names a resource beyond the limit. */
  observe(machine: Machine, atMs: number): MachineChange {
    const { id } = machine;
    const problems = machineProblems(machine);
    if (problems.length > 0) throw new BigFleetError(problems[0]!.code, problems[0]!.message, { problems });
    const draft = this.#draftOf(id);
    const before = draft.status;
    const factsBefore = before === null ? null : this.#factsOf(draft);
    const after = before === null ? atFirstSight(machine, atMs) : afterSighting(before, machine, atMs);
    const isSameClass = factsBefore !== null && sameOffer(factsBefore, machine);
    // Fast path: most records of a List are unchanged.
    if (before !== null && isSameClass && sameStatus(before, after))
      return { id, before, after: before, factsBefore, seen: machine };
    if (!isSameClass) {
      this.#admit(machine);
      draft.facts = this.#shared(this.#factsFrom(machine, factsBefore));
      draft.measured = this.#measurements;
    }
    this.#noteSighting(id, before?.state ?? null, machine.state);
    this.#save(draft, after);
    return { id, before, after, factsBefore, seen: machine };
  }

  /** The provider no longer has the machine; null if it was not on record. */
  lose(id: string): MachineChange | null {
    const draft = this.#draftOf(id);
    const before = draft.status;
    if (before === null) return null;
    const factsBefore = this.#factsOf(draft);
    this.#noteSighting(id, before.state, GONE);
    this.#save(draft, null);
    return { id, before, after: null, factsBefore, seen: null };
  }

  move(id: string, move: Move, atMs: number): MachineChange {
    return this.#change(id, (known) => afterMove(known, move, atMs));
  }

  withdraw(id: string, before: MachineStatus): MachineChange {
    return this.#change(id, ({ blocked }) => ({ ...before, blocked }));
  }

  setBlocked(id: string, blocked: boolean): MachineChange {
    return this.#change(id, (known) => ({ ...known, blocked }));
  }

  /** Starts or ends the time in which no row claims a machine; ignored unless the machine is Configured. */
  setUnclaimedSince(id: string, sinceMs: number | null): void {
    this.#change(id, (known) =>
      known.state === MachineState.Configured ? { ...known, unclaimedSinceMs: sinceMs } : known,
    );
  }

  /**
   * Replaces what is known about the use of a cluster's machines. Concerns machines that are bound to it now; facts about
   * others are dropped. Reads all machines of the cluster, and drafts only those whose use changes.
   */
  setFacts(cluster: string, facts: NodeFacts): void {
    const { clusters, machines } = this.#fleet;
    const bound = machines.boundOf(clusters.find(cluster));
    for (const { offset, length } of bound === undefined ? [] : [bound.configured, bound.configuring]) {
      for (let i = offset; i < offset + length; i++) {
        const slot = machines.arena.data[i]!;
        if (facts.size === 0 && machines.use[slot] === 0) continue;
        const id = machines.idOf(slot);
        if (!this.#drafts.has(id) && machines.useOf(slot) !== facts.get(id)) this.#use(id, facts);
      }
    }
    for (const id of [...this.inCluster(cluster)]) {
      const status = this.#drafts.get(id)!.status;
      if (status === null || status.cluster !== cluster || !isBound(status.state)) continue;
      if (status.use !== facts.get(id)) this.#use(id, facts);
    }
  }

  #use(id: string, facts: NodeFacts): void {
    this.#change(id, (known) => ({ ...known, use: facts.get(id) }));
  }

  /** Throws BF_STAMP_MISPLACED for a machine that is not bound to the cluster of the row. */
  restamp(id: string, { cluster, fingerprint, group }: NeedKey, terms: StampTerms): MachineChange {
    const { priority, interruptionPenaltyDollars, reclamationPenaltyDollars } = terms;
    return this.#change(id, (known) => {
      if (!isBound(known.state) || known.cluster !== cluster) {
        const detail = `Machine "${printable(id)}" is not bound to cluster "${printable(cluster)}".`;
        throw new BigFleetError('BF_STAMP_MISPLACED', detail);
      }
      const penalties = { interruptionPenaltyDollars, reclamationPenaltyDollars };
      return { ...known, stamp: { priority, ...penalties, fingerprint, group } };
    });
  }

  /** Throws BF_TARGET_MISPLACED for a machine that does not drain: only a drain can outlive its row and find another one. */
  retarget(id: string, target: NeedKey): MachineChange {
    return this.#change(id, (known) => {
      if (known.state === MachineState.Draining) return { ...known, target };
      const detail = `Machine "${printable(id)}" does not drain, so its target stays.`;
      throw new BigFleetError('BF_TARGET_MISPLACED', detail);
    });
  }

  /** Clears a row as the target of all machines, those in the ledger as well as those that got it since. */
  endTargets(key: NeedKey): void {
    const { machines, keys } = this.#fleet;
    this.#updateIndexes();
    const ids = new Set(this.#byTarget.get(keyText(key)));
    const run = machines.targetedAt(keys.find(key));
    if (run !== undefined) {
      for (let i = run.offset; i < run.offset + run.length; i++)
        ids.add(machines.idOf(machines.arena.data[i]!));
    }
    for (const id of ids) {
      const draft = this.#draftOf(id);
      const target = draft.status?.target;
      if (target && sameKey(target, key)) this.#save(draft, { ...draft.status!, target: null });
    }
  }

  /** Sets the drain time of one machine, or of all present and future machines of an instance type. */
  measure(of: Measured, seconds: number): void {
    if (!Number.isFinite(seconds) || seconds < 0)
      throw new BigFleetError('BF_DRAIN_SECONDS', `The drain took ${seconds} seconds.`);
    if ('instanceType' in of) {
      this.#measured.set(of.instanceType, { seconds, number: ++this.#measurements });
      return;
    }
    const draft = this.#known(of.id);
    draft.facts = { ...this.#factsOf(draft), drainSeconds: seconds };
    draft.measured = this.#measurements;
    this.#save(draft, draft.status);
  }

  /** Writes all drafts into the ledger. The drafts must not be used afterwards. */
  write(): WrittenMachines {
    const slots: number[] = [];
    const statusChanged: number[] = [];
    const removed: string[] = [];
    const { machines } = this.#fleet;
    this.#retimeClasses();
    if (this.#drafts.size > 0) {
      machines.batch(() => {
        for (const draft of this.#drafts.values()) {
          if (draft.status === null) {
            if (draft.slot === undefined) continue;
            machines.remove(draft.id);
            removed.push(draft.id);
          } else if (draft.slot === undefined) {
            const slot = machines.insert(draft.id, draft.status, this.#factsOf(draft));
            slots.push(slot);
            statusChanged.push(slot);
          } else this.#rewrite(draft.slot, draft as Known, slots, statusChanged);
        }
      });
    }
    return {
      slots: slots.sort((a, b) => a - b),
      statusChanged: statusChanged.sort((a, b) => a - b),
      retimed: new Map([...this.#measured].map(([type, { seconds }]) => [type, seconds])),
      removed,
      sightings: this.#sightings,
    };
  }

  /** Writes the draft of a machine that has a slot, as far as it differs from the columns. */
  #rewrite(slot: number, draft: Known, slots: number[], statusChanged: number[]): void {
    const { machines, classes } = this.#fleet;
    const facts = draft.facts === null && this.#measured.size === 0 ? null : this.#factsOf(draft);
    const known = machines.statusOf(slot);
    const isSameStatus = sameBinding(known, draft.status);
    const isSameClass = facts === null || sameFacts(facts, classes.factsOf(machines.classOf[slot]!));
    if (isSameStatus && isSameClass && known.use === draft.status.use) {
      if (known.unclaimedSinceMs === draft.status.unclaimedSinceMs) return;
      slots.push(slot);
      machines.setUnclaimedSince(slot, draft.status.unclaimedSinceMs);
      return;
    }
    if (!isSameStatus) statusChanged.push(slot);
    slots.push(slot);
    // Named, since a status may lack the field, which then means that the use is unknown.
    const { use } = draft.status;
    machines.update(slot, { ...draft.status, use }, isSameClass ? undefined : facts);
  }

  // Dimensions are limited and assigned in order of arrival, so pending roll-ups from before this record are checked first.
  #admit(machine: Machine): void {
    const { classes, dimensions } = this.#fleet;
    if (dimensions.knows(effectiveAllocatable(machine))) return;
    this.#rollUps.check();
    classes.admit([machine]);
  }

  #noteSighting(id: string, known: MachineState | null, seen: Sighting): void {
    const meaning = known === null ? 'discovered' : meaningOf(known, seen);
    if (meaning !== Meaning.Unchanged) this.#sightings.push({ id, known, seen, meaning });
  }

  /**
   * Applies measurements to the classes of an instance type, of which there are few. Machines are drafted only where their
   * class becomes equal to another one, in a single pass over all slots.
   */
  #retimeClasses(): void {
    const { machines, classes, drainSecondsOfType } = this.#fleet;
    const concerned = new Set<number>();
    for (const [instanceType, { seconds }] of this.#measured) {
      drainSecondsOfType.set(instanceType, seconds);
      for (const number of classes.retime(instanceType, seconds)) concerned.add(number);
    }
    if (concerned.size === 0) return;
    for (let slot = 0; slot < machines.size; slot++) {
      if (machines.state[slot] === 0 || !concerned.has(machines.classOf[slot]!)) continue;
      const draft = this.#draftOf(machines.idOf(slot));
      this.#save(draft, draft.status);
    }
  }

  /** The draft of a machine; a new one becomes pending with `#save`. */
  #draftOf(id: string): Draft {
    const draft = this.#drafts.get(id);
    if (draft !== undefined) return draft;
    const { machines } = this.#fleet;
    const slot = machines.slotOf(id);
    const status = slot === undefined ? null : machines.statusOf(slot);
    return { id, slot, status, facts: null, measured: 0, isQueued: false };
  }

  /** Throws BF_MACHINE_UNKNOWN, or what `change` throws, without a change. */
  #change(id: string, change: (known: MachineStatus) => MachineStatus): MachineChange {
    const draft = this.#known(id);
    const before = draft.status;
    const after = change(before);
    this.#save(draft, after);
    return { id, before, after, factsBefore: this.#factsOf(draft), seen: null };
  }

  #known(id: string): Known {
    const draft = this.#draftOf(id);
    if (draft.status !== null) return draft as Known;
    throw new BigFleetError('BF_MACHINE_UNKNOWN', `Machine "${printable(id)}" is not on record.`);
  }

  #save(draft: Draft, status: MachineStatus | null): void {
    draft.status = status;
    if (draft.isQueued) return;
    draft.isQueued = true;
    this.#unindexed.push(draft);
    this.#drafts.set(draft.id, draft);
  }

  /** Deferred until an index is read: texts of keys are long, and most drafts are committed before that. */
  #updateIndexes(): void {
    for (const draft of this.#unindexed) {
      draft.isQueued = false;
      if (draft.status === null) continue;
      const { cluster, target } = draft.status;
      if (cluster !== '') addTo(this.#byCluster, cluster, draft.id);
      if (target !== null) addTo(this.#byTarget, keyText(target), draft.id);
    }
    this.#unindexed = [];
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
    const { instanceType, zone, labels, capacityType, pricePerHour, interruptionProbability } = seen;
    const { resources, allocatable } = seen;
    const offer = { pricePerHour, interruptionProbability, resources, allocatable };
    const drainSeconds =
      known?.instanceType === instanceType ? known.drainSeconds : this.#drainSecondsOf(instanceType);
    return { instanceType, zone, labels, capacityType, ...offer, drainSeconds };
  }

  /** One object for all equal facts: a full List has millions of machines of few classes. */
  #shared(facts: ClassFacts): ClassFacts {
    const text = classText(facts);
    const known = this.#facts.get(text);
    if (known !== undefined) return known;
    this.#facts.set(text, facts);
    this.#fleet.classes.keepText(facts, text);
    return facts;
  }

  #drainSecondsOf(instanceType: string): number {
    const measured = this.#measured.get(instanceType)?.seconds;
    return measured ?? this.#fleet.drainSecondsOfType.get(instanceType) ?? DEFAULT_DRAIN_SECONDS;
  }
}

function addTo(index: Map<string, Set<string>>, key: string, id: string): void {
  const ids = index.get(key);
  if (ids === undefined) index.set(key, new Set([id]));
  else ids.add(id);
}
