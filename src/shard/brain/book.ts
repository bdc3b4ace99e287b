// The ledger with what has happened since the last cycle. The ledger itself stands still while a cycle reads it, so
// entries wait in the journal; the book knows at any time how a machine stands, journal included, which provider has
// it, and what no decision reads but people do: its host and its last error.

import {
  type AppliedChanges,
  afterMove,
  afterSighting,
  atFirstSight,
  type Fleet,
  Journal,
  type JournalEntry,
  type LedgerRecord,
  type Meanwhile,
  type Move,
  type Standing,
} from '../../fleet/index.ts';
import { type HostRef, hasHost, isBound, type Machine, MachineState } from '../../model/index.ts';
import { FailedHosts } from './failed-hosts.ts';
import { Owners } from './owners.ts';

/** What the provider says of a machine beside what decisions are made from. */
export interface Particulars {
  readonly host: HostRef | null;
  readonly lastError: string;
}

/** What a machine is, beside how it stands. */
export type Portrait = Particulars &
  Pick<Machine, 'instanceType' | 'zone' | 'labels' | 'resources' | 'allocatable'>;

/**
 * Told of every machine that moves, comes or goes, at once. `seen` is the record that said so, if one did; until all
 * listeners have heard of it, `portraitOf` still says what was known before.
 */
export type StandingListener = (
  id: string,
  before: Standing | null,
  after: Standing | null,
  seen: Machine | null,
) => void;

/** null or left out: any. */
export interface StandingFilter {
  readonly state: MachineState | null;
  readonly cluster?: string | undefined;
  readonly provider?: string | undefined;
}

type StillEntry = Extract<
  JournalEntry,
  { readonly kind: 'demand' | 'row-ended' | 'restamp' | 'drain-seconds' }
>;

const NOTHING_KNOWN: Particulars = { host: null, lastError: '' };

/** For whoever asks for machines whatever they are doing. */
export const ANY_STATE: ReadonlySet<MachineState> = new Set(Object.values(MachineState));

export class Book {
  readonly fleet: Fleet;
  /** Failed machines that have a host, as of the last freeze. */
  readonly failedHosts: FailedHosts;
  readonly #journal: Journal;
  readonly #owners = new Owners();
  /** By id: how machines will stand once the journal is applied; null: gone. */
  readonly #ahead = new Map<string, Standing | null>();
  /** By cluster: machines of `#ahead` that are there, or were at some time since the last freeze. */
  readonly #joined = new Map<string, Set<string>>();
  /** By id: the last records that came since the last freeze. */
  readonly #seen = new Map<string, Machine>();
  readonly #particulars = new Map<string, Particulars>();
  readonly #listeners: StandingListener[] = [];
  /** Whether a machine stays held although nobody holds it: those of frozen clusters. */
  alwaysHeld: (standing: Standing) => boolean = () => false;

  constructor(fleet: Fleet, journal: Journal = new Journal()) {
    this.fleet = fleet;
    this.failedHosts = new FailedHosts(fleet);
    this.#journal = journal;
  }

  listen(listener: StandingListener): void {
    this.#listeners.push(listener);
  }

  /** How a machine stands now; null if it is not on record. */
  standing(id: string): Standing | null {
    const ahead = this.#ahead.get(id);
    if (ahead !== undefined) return ahead;
    const { machines } = this.fleet;
    const slot = machines.slotOf(id);
    return slot === undefined ? null : machines.standingOf(slot);
  }

  /** The record that the last cycle saw; null for a machine that came since. */
  recordOf(id: string): LedgerRecord | null {
    const { machines } = this.fleet;
    const slot = machines.slotOf(id);
    return slot === undefined ? null : machines.recordAt(slot);
  }

  /** The provider that has the machine; undefined if none does. */
  ownerOf(id: string): string | undefined {
    return this.#owners.of(id, this.fleet.machines.slotOf(id));
  }

  /** Machines on record that a provider has. */
  countOf(provider: string): number {
    return this.#owners.countOf(provider);
  }

  /** Ids of a provider's machines in some states, as they stand now. One pass over the ledger. */
  *idsIn(provider: string, states: ReadonlySet<MachineState>): Generator<string> {
    const { machines } = this.fleet;
    for (let slot = 0; slot < machines.size; slot++) {
      // Slots that are not in use have state 0, which is no machine's.
      if (!states.has(machines.stateOf(slot)) || !this.#owners.hasSlot(provider, slot)) continue;
      const id = machines.idOf(slot);
      if (!this.#ahead.has(id)) yield id;
    }
    for (const [id, standing] of this.#ahead) {
      if (standing !== null && states.has(standing.state) && this.ownerOf(id) === provider) yield id;
    }
  }

  /** Places in the ledger of machines that stand so now; those that came since the last freeze have none yet. */
  slotsOf({ state, cluster, provider }: StandingFilter): number[] {
    const { machines, clusters } = this.fleet;
    const ahead = new Map<number, Standing | null>();
    for (const [id, standing] of this.#ahead) {
      const slot = machines.slotOf(id);
      if (slot !== undefined) ahead.set(slot, standing);
    }
    const number = clusters.find(cluster ?? '');
    // Names nobody knows are found under the number of no name, and must not be taken for it.
    const isKnown = clusters.nameOf(number) === (cluster ?? '');
    const stands = (slot: number): boolean => {
      const moved = ahead.get(slot);
      if (moved === null) return false;
      if (state !== null && (moved?.state ?? machines.stateOf(slot)) !== state) return false;
      if (cluster === undefined) return true;
      return moved === undefined ? isKnown && machines.cluster[slot] === number : moved.cluster === cluster;
    };
    const found: number[] = [];
    for (let slot = 0; slot < machines.size; slot++) {
      // Slots that are not in use have state 0.
      if (machines.state[slot] === 0 || !stands(slot)) continue;
      if (provider === undefined || this.#owners.hasSlot(provider, slot)) found.push(slot);
    }
    return found;
  }

  /** Ids of the machines bound to a cluster, as they stand now. */
  *boundTo(cluster: string): Generator<string> {
    const { machines, clusters } = this.fleet;
    const runs = machines.boundOf(clusters.find(cluster));
    for (const { offset, length } of runs === undefined ? [] : [runs.configured, runs.configuring]) {
      for (let i = offset; i < offset + length; i++) {
        const id = machines.idOf(machines.arena.data[i]!);
        if (!this.#ahead.has(id)) yield id;
      }
    }
    for (const id of this.#joined.get(cluster) ?? []) {
      const standing = this.#ahead.get(id);
      if (standing?.cluster === cluster && isBound(standing.state)) yield id;
    }
  }

  particularsOf(id: string): Particulars {
    return this.#particulars.get(id) ?? NOTHING_KNOWN;
  }

  /** null if the machine is not on record. */
  portraitOf(id: string): Portrait | null {
    const { machines, classes } = this.fleet;
    const slot = machines.slotOf(id);
    const facts =
      this.#seen.get(id) ?? (slot === undefined ? null : classes.factsOf(machines.classOf[slot]!));
    return facts === null ? null : { ...facts, ...this.particularsOf(id) };
  }

  /** The zone of a machine, as it was known before a record that listeners are being told of; '' if it is not known. */
  zoneOf(id: string): string {
    const seen = this.#seen.get(id);
    if (seen !== undefined) return seen.zone;
    const { machines, classes } = this.fleet;
    const slot = machines.slotOf(id);
    return slot === undefined ? '' : (classes.attributes[machines.classOf[slot]!]?.zone ?? '');
  }

  /** Takes a provider's word. The record has been checked, and the provider owns the machine or nobody does. */
  observe(machine: Machine, provider: string, atMs: number): void {
    const { id } = machine;
    const known = this.standing(id);
    if (known === null) this.#owners.note(id, provider);
    this.#journal.append({ kind: 'observe', machine, atMs });
    const after = known === null ? atFirstSight(machine, atMs) : afterSighting(known, machine, atMs);
    this.#stand(id, known, after, machine);
    this.#particularise(machine);
    this.#seen.set(id, machine);
  }

  /** The provider no longer has the machine. */
  lose(id: string): void {
    const known = this.standing(id);
    if (known === null) return;
    this.#journal.append({ kind: 'gone', id });
    // Listeners may still ask whose it was.
    this.#stand(id, known, null, null);
    this.#owners.forget(id, this.fleet.machines.slotOf(id));
    this.#particulars.delete(id);
    this.#seen.delete(id);
  }

  /** Starts a move; throws BF_MOVE_ILLEGAL from the wrong state. */
  move(id: string, move: Move, atMs: number): void {
    const known = this.#known(id);
    const after = afterMove(known, move, atMs);
    this.#journal.append({ kind: 'command', id, atMs, ...move });
    this.#stand(id, known, after, null);
  }

  /** Takes back a move that the provider has not heard of, or of which nobody can say whether it did. */
  withdraw(id: string, before: Standing): void {
    const known = this.standing(id);
    if (known === null) return;
    this.#journal.append({ kind: 'withdraw', id, before });
    this.#stand(id, known, { ...before, held: known.held }, null);
  }

  hold(id: string, isWanted: boolean): void {
    const known = this.standing(id);
    if (known === null) return;
    const held = isWanted || this.alwaysHeld(known);
    if (known.held === held) return;
    this.#journal.append({ kind: 'hold', id, held });
    this.#setAhead(id, { ...known, held });
  }

  /** Entries that move no machine. */
  append(entry: StillEntry): void {
    this.#journal.append(entry);
    if (entry.kind !== 'restamp') return;
    const { id, key, priority, interruptionPenaltyDollars, reclamationPenaltyDollars } = entry;
    const known = this.standing(id);
    if (known?.cluster !== key.cluster || !isBound(known.state)) return;
    const { fingerprint, group } = key;
    const penalties = { interruptionPenaltyDollars, reclamationPenaltyDollars };
    this.#setAhead(id, { ...known, stamp: { priority, ...penalties, fingerprint, group } });
  }

  /** Makes the view that the next cycle reads. */
  freeze(meanwhile?: Meanwhile): AppliedChanges {
    const applied = this.fleet.freeze(this.#journal, meanwhile);
    this.#ahead.clear();
    this.#joined.clear();
    this.#seen.clear();
    this.#owners.settle(this.fleet.machines);
    this.failedHosts.frozen(applied, (id) =>
      hasHost({ state: MachineState.Failed, host: this.particularsOf(id).host }),
    );
    return applied;
  }

  #known(id: string): Standing {
    const known = this.standing(id);
    if (known === null) throw new Error(`machine ${id} is not on record`);
    return known;
  }

  #stand(id: string, before: Standing | null, after: Standing | null, seen: Machine | null): void {
    this.#setAhead(id, after);
    for (const listener of this.#listeners) listener(id, before, after, seen);
  }

  #setAhead(id: string, standing: Standing | null): void {
    this.#ahead.set(id, standing);
    if (standing !== null && standing.cluster !== '') this.#join(standing.cluster, id);
  }

  #join(cluster: string, id: string): void {
    const joined = this.#joined.get(cluster);
    if (joined === undefined) this.#joined.set(cluster, new Set([id]));
    else joined.add(id);
  }

  #particularise(machine: Machine): void {
    const { host, lastError } = particularsIn(machine);
    if (machine.state === MachineState.Failed) this.failedHosts.observed(machine.id);
    if (host === null && lastError === '') this.#particulars.delete(machine.id);
    else this.#particulars.set(machine.id, { host, lastError });
  }
}

/** An error that is over is no news. */
export function particularsIn({ host, lastError, state }: Machine): Particulars {
  return { host, lastError: state === MachineState.Failed ? lastError : '' };
}
