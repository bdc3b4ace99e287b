// Pending changes of the ledgers since the last commit. Owned by `MachineLedger` on the controller's thread: roll-ups,
// reconcile and actuation append through it, and each cycle begins with a commit. A cycle therefore reads ledgers that
// do not change, without a copy of them. Every change is applied to the pending state when it is appended, so a reader
// sees the status that the commit is going to write.

import {
  BigFleetError,
  type Machine,
  type NeedKey,
  type NodeFacts,
  type RollupDelta,
} from '../model/index.ts';
import { Commit, type Refusals } from './commit.ts';
import { PendingRollUps } from './demand/pending-roll-ups.ts';
import type { Fleet } from './fleet.ts';
import {
  type MachineChange,
  type MachineDraft,
  MachineDrafts,
  type Measured,
} from './machines/machine-drafts.ts';
import type { Move } from './machines/machine-status.ts';
import type { MachineStatus } from './machines/machine-table.ts';
import type { ClassFacts } from './tables/classes.ts';

/** A provider's record of a machine. Records are applied in the order in which the provider made them. */
interface Observation {
  readonly kind: 'observe';
  readonly machine: Machine;
  /** Shard clock; the release hold of a machine that is newly Idle starts here. */
  readonly atMs: number;
}

/** The provider no longer lists the machine. */
interface Disappearance {
  readonly kind: 'gone';
  readonly id: string;
}

/** A transition that the shard starts, as accepted. */
type CommandGiven = Move & {
  readonly kind: 'command';
  readonly id: string;
  readonly atMs: number;
};

/** A transition withdrawn before the provider received the call: restores the previous status, except `blocked`. */
interface Withdrawal {
  readonly kind: 'withdraw';
  readonly id: string;
  readonly before: MachineStatus;
}

/** A gang took over a bound machine. */
interface Restamp {
  readonly kind: 'restamp';
  readonly id: string;
  readonly key: NeedKey;
  readonly priority: number;
  readonly interruptionPenaltyDollars: number;
  readonly reclamationPenaltyDollars: number;
}

/** A row took over a machine that drains for a row which is gone. */
interface Retarget {
  readonly kind: 'retarget';
  readonly id: string;
  readonly key: NeedKey;
}

/** Back-off, quarantine or freeze begins or ends. */
interface Block {
  readonly kind: 'block';
  readonly id: string;
  readonly blocked: boolean;
}

/** The time in which no row claims a bound machine begins, or ends with null. */
interface Unclaimed {
  readonly kind: 'unclaimed';
  readonly id: string;
  readonly sinceMs: number | null;
}

/** A cluster's roll-up, as its difference from the previous one. */
export interface DemandReported {
  readonly kind: 'demand';
  readonly delta: RollupDelta;
}

/**
 * What a cluster says about the use of all its machines; those it does not list become unknown. A fact is dropped if its
 * machine is not bound to the cluster, and when it leaves the cluster, so the caller repeats the facts with every report.
 * Unchanged facts change nothing.
 */
interface FactsReported {
  readonly kind: 'facts';
  readonly cluster: string;
  readonly facts: NodeFacts;
}

/** A row was absent for a whole cycle: clears the target of every machine on its way to it. */
interface RowEnded {
  readonly kind: 'row-ended';
  readonly key: NeedKey;
}

/** The measured median drain time of one machine, or of all present and future machines of an instance type. */
interface DrainMeasured {
  readonly kind: 'drain-seconds';
  readonly of: Measured;
  readonly seconds: number;
}

export type PendingChange =
  | Observation
  | Disappearance
  | CommandGiven
  | Withdrawal
  | Restamp
  | Retarget
  | Block
  | Unclaimed
  | DemandReported
  | FactsReported
  | RowEnded
  | DrainMeasured;

/**
 * Default limit of entries between two commits. The lower bound is a full List of the largest benchmark rung (2,250,000
 * records), which must fit at startup. With a much higher limit a stalled cycle would exhaust memory before BF_JOURNAL_FULL
 * is raised.
 */
const PENDING_LIMIT = 4_194_304;

/** Everything that one commit writes. */
interface Batch {
  readonly machines: MachineDrafts;
  readonly rollUps: PendingRollUps;
  readonly refused: Refusals;
}

export class PendingChanges {
  readonly limit: number;
  readonly #fleet: Fleet;
  #batch: Batch;
  /** Entries since the last commit, refused ones included. */
  #length = 0;

  constructor(fleet: Fleet, limit: number = PENDING_LIMIT) {
    this.#fleet = fleet;
    this.limit = limit;
    this.#batch = emptyBatch(fleet);
  }

  get length(): number {
    return this.#length;
  }

  /** The status of a machine as the next commit will write it; null if it is not on record. */
  statusOf(id: string): MachineStatus | null {
    return this.#batch.machines.statusOf(id);
  }

  /** The class facts of a machine as the next commit will write them; null if it is not on record. */
  classFactsOf(id: string): ClassFacts | null {
    return this.#batch.machines.classFactsOf(id);
  }

  /** Whether a machine has changed since the last commit. */
  hasChanged(id: string): boolean {
    return this.#batch.machines.has(id);
  }

  /** Machines that changed since the last commit. */
  changedMachines(): Iterable<MachineDraft> {
    return this.#batch.machines.all();
  }

  /** Ids of machines that changed since the last commit, among them all that are now in the cluster. */
  changedIn(cluster: string): ReadonlySet<string> {
    return this.#batch.machines.inCluster(cluster);
  }

  /**
   * Applies an entry. A refused entry changes nothing and is reported by the next commit; roll-ups may be refused as late
   * as that. Throws BF_JOURNAL_FULL at the limit, as all methods below do.
   */
  append(entry: PendingChange): void {
    this.#count();
    try {
      this.#apply(entry);
    } catch (error) {
      this.#refuse(entry, error);
    }
  }

  /** Applies a provider's record. A refused record returns null, and the next commit reports it. */
  observe(machine: Machine, atMs: number): MachineChange | null {
    this.#count();
    try {
      return this.#batch.machines.observe(machine, atMs);
    } catch (error) {
      this.#refuse({ kind: 'observe', machine, atMs }, error);
      return null;
    }
  }

  /** The provider no longer lists the machine. Returns null if it is not on record. */
  lose(id: string): MachineChange | null {
    this.#count();
    return this.#batch.machines.lose(id);
  }

  /** Starts a transition. Throws, without a change: BF_MACHINE_UNKNOWN, or BF_MOVE_ILLEGAL from the wrong state. */
  move(id: string, move: Move, atMs: number): MachineChange {
    this.#count();
    return this.#batch.machines.move(id, move, atMs);
  }

  /** Restores the status from before a transition, except `blocked`. Throws BF_MACHINE_UNKNOWN. */
  withdraw(id: string, before: MachineStatus): MachineChange {
    this.#count();
    return this.#batch.machines.withdraw(id, before);
  }

  /**
   * Writes the machines and returns the commit, whose `writeRows` writes the demand. Changes that are appended in between
   * belong to the next commit.
   */
  commitMachines(): Commit {
    const { machines, rollUps, refused } = this.#batch;
    this.#batch = emptyBatch(this.#fleet);
    this.#length = 0;
    return new Commit(machines.write(), rollUps, refused);
  }

  #apply(entry: PendingChange): void {
    const { machines, rollUps } = this.#batch;
    switch (entry.kind) {
      case 'observe':
        machines.observe(entry.machine, entry.atMs);
        break;
      case 'gone':
        machines.lose(entry.id);
        break;
      case 'command':
        machines.move(entry.id, entry, entry.atMs);
        break;
      case 'withdraw':
        machines.withdraw(entry.id, entry.before);
        break;
      case 'block':
        machines.setBlocked(entry.id, entry.blocked);
        break;
      case 'unclaimed':
        machines.setUnclaimedSince(entry.id, entry.sinceMs);
        break;
      case 'restamp':
        machines.restamp(entry.id, entry.key, entry);
        break;
      case 'retarget':
        machines.retarget(entry.id, entry.key);
        break;
      case 'demand':
        rollUps.add(entry, this.#length);
        break;
      case 'facts':
        machines.setFacts(entry.cluster, entry.facts);
        break;
      case 'row-ended':
        machines.endTargets(entry.key);
        break;
      case 'drain-seconds':
        machines.measure(entry.of, entry.seconds);
        break;
    }
  }

  #count(): void {
    if (this.#length >= this.limit) {
      throw new BigFleetError(
        'BF_JOURNAL_FULL',
        `${this.limit} changes are pending, and no more may be kept in memory until the next cycle.`,
      );
    }
    this.#length++;
  }

  /** Reports the entry that was counted last; throws errors that are not a refusal. */
  #refuse(entry: PendingChange, error: unknown): void {
    if (!(error instanceof BigFleetError)) throw error;
    this.#batch.refused.set(this.#length, { entry, problems: error.problems });
  }
}

function emptyBatch(fleet: Fleet): Batch {
  const refused: Refusals = new Map();
  const rollUps = new PendingRollUps(fleet, refused);
  return { machines: new MachineDrafts(fleet, rollUps), rollUps, refused };
}
