// The ledger plus the changes since the last cycle. The ledger is immutable while a cycle reads it, so changes queue in a
// journal until the next cycle. The ledger returns the current status of a machine with the journal applied, its provider,
// and two fields that decisions do not read: its host and its last error.

import {
  type AppliedChanges,
  afterMove,
  afterSighting,
  atFirstSight,
  type Fleet,
  type LedgerRecord,
  type MachineStatus,
  type Move,
  type Overlap,
  type PendingChange,
  PendingChanges,
} from '../../fleet/index.ts';
import { type HostRef, hasHost, isBound, type Machine, MachineState } from '../../model/index.ts';
import { FailedHosts } from './failed-hosts.ts';
import { Owners } from './owners.ts';

/** Fields of a provider's record that no decision reads. */
export interface Particulars {
  readonly host: HostRef | null;
  readonly lastError: string;
}

/** The facts of a machine apart from its status. */
export type Portrait = Particulars &
  Pick<Machine, 'instanceType' | 'zone' | 'labels' | 'resources' | 'allocatable'>;

/**
 * Called synchronously for every machine that is added, moved or removed. `seen` is the provider's record that caused the
 * change, if any; until all listeners have returned, `portraitOf` still returns the facts from before that record.
 */
export type MachineStatusListener = (
  id: string,
  before: MachineStatus | null,
  after: MachineStatus | null,
  seen: Machine | null,
) => void;

/** null or omitted: any. */
export interface MachineStatusFilter {
  readonly state: MachineState | null;
  readonly cluster?: string | undefined;
  readonly provider?: string | undefined;
}

type StillEntry = Extract<
  PendingChange,
  { readonly kind: 'demand' | 'row-ended' | 'restamp' | 'drain-seconds' }
>;

const NOTHING_KNOWN: Particulars = { host: null, lastError: '' };

export const ANY_STATE: ReadonlySet<MachineState> = new Set(Object.values(MachineState));

export class MachineLedger {
  readonly fleet: Fleet;
  /** Failed machines that have a host, as of the last cycle. */
  readonly failedHosts: FailedHosts;
  readonly #pending: PendingChanges;
  readonly #owners = new Owners();
  /** By id: the status of a machine once the journal is applied; null: removed. */
  readonly #pendingStatus = new Map<string, MachineStatus | null>();
  /** By cluster: machines of `#pendingStatus` that are in it, or were at some time since the last cycle. */
  readonly #joined = new Map<string, Set<string>>();
  /** By id: the latest record received since the last cycle. */
  readonly #seen = new Map<string, Machine>();
  readonly #particulars = new Map<string, Particulars>();
  readonly #listeners: MachineStatusListener[] = [];
  /** Whether a machine stays blocked without a hold of actuation, as those of frozen clusters do. */
  alwaysBlocked: (standing: MachineStatus) => boolean = () => false;

  constructor(fleet: Fleet, journal: PendingChanges = new PendingChanges()) {
    this.fleet = fleet;
    this.failedHosts = new FailedHosts(fleet);
    this.#pending = journal;
  }

  listen(listener: MachineStatusListener): void {
    this.#listeners.push(listener);
  }

  /** The current status of a machine; null if it is not on record. */
  standing(id: string): MachineStatus | null {
    const pendingStatus = this.#pendingStatus.get(id);
    if (pendingStatus !== undefined) return pendingStatus;
    const { machines } = this.fleet;
    const slot = machines.slotOf(id);
    return slot === undefined ? null : machines.standingOf(slot);
  }

  /** The record as of the last cycle; null for a machine added since. */
  recordOf(id: string): LedgerRecord | null {
    const { machines } = this.fleet;
    const slot = machines.slotOf(id);
    return slot === undefined ? null : machines.recordAt(slot);
  }

  /** The provider of a machine; undefined if it is not on record. */
  ownerOf(id: string): string | undefined {
    return this.#owners.of(id, this.fleet.machines.slotOf(id));
  }

  /** Number of a provider's machines on record. */
  countOf(provider: string): number {
    return this.#owners.countOf(provider);
  }

  /** Ids of a provider's machines that are now in one of `states`. One pass over the ledger. */
  *idsIn(provider: string, states: ReadonlySet<MachineState>): Generator<string> {
    const { machines } = this.fleet;
    for (let slot = 0; slot < machines.size; slot++) {
      // Unused slots have state 0, which is not a MachineState.
      if (!states.has(machines.stateOf(slot)) || !this.#owners.hasSlot(provider, slot)) continue;
      const id = machines.idOf(slot);
      if (!this.#pendingStatus.has(id)) yield id;
    }
    for (const [id, standing] of this.#pendingStatus) {
      if (standing !== null && states.has(standing.state) && this.ownerOf(id) === provider) yield id;
    }
  }

  /** Ledger slots of the machines that match now. Machines added since the last cycle have no slot and are omitted. */
  slotsOf({ state, cluster, provider }: MachineStatusFilter): number[] {
    const { machines, clusters } = this.fleet;
    const pendingStatus = new Map<number, MachineStatus | null>();
    for (const [id, standing] of this.#pendingStatus) {
      const slot = machines.slotOf(id);
      if (slot !== undefined) pendingStatus.set(slot, standing);
    }
    const number = clusters.find(cluster ?? '');
    // `find` returns the number of the empty name for an unknown name, which must not match unbound machines.
    const isKnown = clusters.nameOf(number) === (cluster ?? '');
    const stands = (slot: number): boolean => {
      const moved = pendingStatus.get(slot);
      if (moved === null) return false;
      if (state !== null && (moved?.state ?? machines.stateOf(slot)) !== state) return false;
      if (cluster === undefined) return true;
      return moved === undefined ? isKnown && machines.cluster[slot] === number : moved.cluster === cluster;
    };
    const found: number[] = [];
    for (let slot = 0; slot < machines.size; slot++) {
      // Unused slots have state 0.
      if (machines.state[slot] === 0 || !stands(slot)) continue;
      if (provider === undefined || this.#owners.hasSlot(provider, slot)) found.push(slot);
    }
    return found;
  }

  /** Ids of the machines that are bound to a cluster now. */
  *boundTo(cluster: string): Generator<string> {
    const { machines, clusters } = this.fleet;
    const runs = machines.boundOf(clusters.find(cluster));
    for (const { offset, length } of runs === undefined ? [] : [runs.configured, runs.configuring]) {
      for (let i = offset; i < offset + length; i++) {
        const id = machines.idOf(machines.arena.data[i]!);
        if (!this.#pendingStatus.has(id)) yield id;
      }
    }
    for (const id of this.#joined.get(cluster) ?? []) {
      const standing = this.#pendingStatus.get(id);
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

  /** The zone of a machine; inside a listener, the zone from before the record that caused the call. '' if unknown. */
  zoneOf(id: string): string {
    const seen = this.#seen.get(id);
    if (seen !== undefined) return seen.zone;
    const { machines, classes } = this.fleet;
    const slot = machines.slotOf(id);
    return slot === undefined ? '' : (classes.attributes[machines.classOf[slot]!]?.zone ?? '');
  }

  /** Applies a provider's record. The caller has validated it, and no other provider owns the machine. */
  observe(machine: Machine, provider: string, atMs: number): void {
    const { id } = machine;
    const known = this.standing(id);
    if (known === null) this.#owners.note(id, provider);
    this.#pending.append({ kind: 'observe', machine, atMs });
    const after = known === null ? atFirstSight(machine, atMs) : afterSighting(known, machine, atMs);
    this.#stand(id, known, after, machine);
    this.#particularise(machine);
    this.#seen.set(id, machine);
  }

  /** The provider no longer has the machine. */
  lose(id: string): void {
    const known = this.standing(id);
    if (known === null) return;
    this.#pending.append({ kind: 'gone', id });
    // Before the owner is dropped, because listeners may still read it.
    this.#stand(id, known, null, null);
    this.#owners.forget(id, this.fleet.machines.slotOf(id));
    this.#particulars.delete(id);
    this.#seen.delete(id);
  }

  /** Starts a move; throws BF_MOVE_ILLEGAL from the wrong state. */
  move(id: string, move: Move, atMs: number): void {
    const known = this.#known(id);
    const after = afterMove(known, move, atMs);
    this.#pending.append({ kind: 'command', id, atMs, ...move });
    this.#stand(id, known, after, null);
  }

  /** Reverts a move whose call the provider did not receive, or whose outcome could not be read. */
  withdraw(id: string, before: MachineStatus): void {
    const known = this.standing(id);
    if (known === null) return;
    this.#pending.append({ kind: 'withdraw', id, before });
    this.#stand(id, known, { ...before, blocked: known.blocked }, null);
  }

  hold(id: string, isWanted: boolean): void {
    const known = this.standing(id);
    if (known === null) return;
    const blocked = isWanted || this.alwaysBlocked(known);
    if (known.blocked === blocked) return;
    this.#pending.append({ kind: 'block', id, blocked });
    this.#setPending(id, { ...known, blocked });
  }

  /** Appends an entry that moves no machine. */
  append(entry: StillEntry): void {
    this.#pending.append(entry);
    if (entry.kind !== 'restamp') return;
    const { id, key, priority, interruptionPenaltyDollars, reclamationPenaltyDollars } = entry;
    const known = this.standing(id);
    if (known?.cluster !== key.cluster || !isBound(known.state)) return;
    const { fingerprint, group } = key;
    const penalties = { interruptionPenaltyDollars, reclamationPenaltyDollars };
    this.#setPending(id, { ...known, stamp: { priority, ...penalties, fingerprint, group } });
  }

  /** Applies the journal to the ledger, which yields the snapshot that the next cycle reads. */
  applyPending(overlap?: Overlap): AppliedChanges {
    const applied = this.fleet.applyPending(this.#pending, overlap);
    this.#pendingStatus.clear();
    this.#joined.clear();
    this.#seen.clear();
    this.#owners.settle(this.fleet.machines);
    this.failedHosts.frozen(applied, (id) =>
      hasHost({ state: MachineState.Failed, host: this.particularsOf(id).host }),
    );
    return applied;
  }

  #known(id: string): MachineStatus {
    const known = this.standing(id);
    if (known === null) throw new Error(`machine ${id} is not on record`);
    return known;
  }

  #stand(id: string, before: MachineStatus | null, after: MachineStatus | null, seen: Machine | null): void {
    this.#setPending(id, after);
    for (const listener of this.#listeners) listener(id, before, after, seen);
  }

  #setPending(id: string, standing: MachineStatus | null): void {
    this.#pendingStatus.set(id, standing);
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

/** `lastError` is kept for Failed machines only. */
export function particularsIn({ host, lastError, state }: Machine): Particulars {
  return { host, lastError: state === MachineState.Failed ? lastError : '' };
}
