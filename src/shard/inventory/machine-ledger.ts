// The shard's view of its machines: the fleet with the changes that wait for the next commit. The fleet is immutable
// while a cycle reads it, so changes are kept in `PendingChanges`, which also returns the current status of a machine.
// The ledger adds the provider of each machine, and two fields that decisions do not read: its host and its last
// error. Owned by planning/controller.ts; reconcile and actuation write through it.

import {
  type Commit,
  type Fleet,
  type LedgerRecord,
  type MachineChange,
  type MachineStatus,
  type Move,
  type PendingChange,
  PendingChanges,
} from '../../fleet/index.ts';
import {
  type HostRef,
  hasHost,
  isBound,
  type Machine,
  MachineState,
  type NodeFacts,
} from '../../model/index.ts';
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
 * Called synchronously for every machine that is added, moved or removed, and for every record of a provider.
 * `particularsOf` returns those from before the change until all listeners have returned.
 */
export type MachineListener = (change: MachineChange) => void;

/** null or omitted: any. */
export interface MachineStatusFilter {
  readonly state: MachineState | null;
  readonly cluster?: string | undefined;
  readonly provider?: string | undefined;
}

type StillEntry = Extract<
  PendingChange,
  { readonly kind: 'demand' | 'facts' | 'row-ended' | 'restamp' | 'retarget' | 'unclaimed' | 'drain-seconds' }
>;

const NOTHING_KNOWN: Particulars = { host: null, lastError: '' };

export const ANY_STATE: ReadonlySet<MachineState> = new Set(Object.values(MachineState));

export class MachineLedger {
  readonly fleet: Fleet;
  /** Failed machines that have a host, as of the last cycle. */
  readonly failedHosts: FailedHosts;
  readonly #pending: PendingChanges;
  readonly #owners = new Owners();
  readonly #particulars = new Map<string, Particulars>();
  readonly #listeners: MachineListener[] = [];
  /** Whether a machine stays blocked when actuation does not block it, as those of frozen clusters do. */
  alwaysBlocked: (status: MachineStatus) => boolean = () => false;

  constructor(fleet: Fleet) {
    this.fleet = fleet;
    this.failedHosts = new FailedHosts(fleet);
    this.#pending = new PendingChanges(fleet);
  }

  listen(listener: MachineListener): void {
    this.#listeners.push(listener);
  }

  /** The current status of a machine; null if it is not on record. */
  statusOf(id: string): MachineStatus | null {
    return this.#pending.statusOf(id);
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
      if (!this.#pending.hasChanged(id)) yield id;
    }
    for (const { id, status } of this.#pending.changedMachines())
      if (status !== null && states.has(status.state) && this.ownerOf(id) === provider) yield id;
  }

  /** Ledger slots of the machines that match now. Machines added since the last cycle have no slot and are omitted. */
  slotsOf({ state, cluster, provider }: MachineStatusFilter): number[] {
    const { machines, clusters } = this.fleet;
    const changed = new Map<number, MachineStatus | null>();
    for (const { slot, status } of this.#pending.changedMachines())
      if (slot !== undefined) changed.set(slot, status);
    const number = clusters.find(cluster ?? '');
    // `find` returns the number of the empty name for an unknown name, which must not match unbound machines.
    const isKnown = clusters.nameOf(number) === (cluster ?? '');
    const matches = (slot: number): boolean => {
      const status = changed.get(slot);
      if (status === null) return false;
      if (state !== null && (status?.state ?? machines.stateOf(slot)) !== state) return false;
      if (cluster === undefined) return true;
      return status === undefined ? isKnown && machines.cluster[slot] === number : status.cluster === cluster;
    };
    const found: number[] = [];
    for (let slot = 0; slot < machines.size; slot++) {
      // Unused slots have state 0.
      if (machines.state[slot] === 0 || !matches(slot)) continue;
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
        if (!this.#pending.hasChanged(id)) yield id;
      }
    }
    for (const id of this.#pending.changedIn(cluster)) {
      const status = this.#pending.statusOf(id);
      if (status?.cluster === cluster && isBound(status.state)) yield id;
    }
  }

  particularsOf(id: string): Particulars {
    return this.#particulars.get(id) ?? NOTHING_KNOWN;
  }

  /** null if the machine is not on record. */
  portraitOf(id: string): Portrait | null {
    const facts = this.#pending.classFactsOf(id);
    return facts === null ? null : { ...facts, ...this.particularsOf(id) };
  }

  /**
   * Applies a provider's record. The caller has validated it, and no other provider owns the machine. A record that exceeds
   * a limit of the fleet is refused: it changes nothing, and the next commit reports it.
   */
  observe(machine: Machine, provider: string, atMs: number): void {
    const change = this.#pending.observe(machine, atMs);
    if (change === null) return;
    if (change.before === null) this.#owners.note(machine.id, provider);
    this.#notify(change);
    this.#particularise(machine);
  }

  /** The provider no longer has the machine. */
  lose(id: string): void {
    const change = this.#pending.lose(id);
    if (change === null) return;
    // Before the owner is dropped, because listeners may still read it.
    this.#notify(change);
    this.#owners.forget(id, this.fleet.machines.slotOf(id));
    this.#particulars.delete(id);
  }

  /** Starts a move; throws BF_MOVE_ILLEGAL from the wrong state. */
  move(id: string, move: Move, atMs: number): void {
    this.#notify(this.#pending.move(id, move, atMs));
  }

  /** Reverts a move whose call the provider did not receive, or whose outcome could not be read. */
  withdraw(id: string, before: MachineStatus): void {
    if (this.statusOf(id) !== null) this.#notify(this.#pending.withdraw(id, before));
  }

  /** Blocks a machine or, unless it is `alwaysBlocked`, unblocks it. */
  setBlocked(id: string, isWanted: boolean): void {
    const known = this.statusOf(id);
    if (known === null) return;
    const blocked = isWanted || this.alwaysBlocked(known);
    if (known.blocked !== blocked) this.#pending.append({ kind: 'block', id, blocked });
  }

  /** Appends an entry that moves no machine. */
  append(entry: StillEntry): void {
    this.#pending.append(entry);
  }

  /** How a cluster uses its nodes: replaces what it reported before. */
  reportFacts(cluster: string, facts: NodeFacts): void {
    this.append({ kind: 'facts', cluster, facts });
  }

  /** Writes the machines, the first step of a commit; its `writeRows` completes what the next cycle reads. */
  commitMachines(): Commit {
    const commit = this.#pending.commitMachines();
    this.#owners.settle(this.fleet.machines);
    this.failedHosts.committed(commit.machines, (id) =>
      hasHost({ state: MachineState.Failed, host: this.particularsOf(id).host }),
    );
    return commit;
  }

  #notify(change: MachineChange): void {
    for (const listener of this.#listeners) listener(change);
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
