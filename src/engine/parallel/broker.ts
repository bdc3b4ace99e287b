// The commit broker: the only writer of claims while lanes run in parallel. A lane reads the sequence numbers of its row's
// conflict keys, solves the row against its own view, and proposes the machines it picked. The broker plans the whole proposal
// before it changes anything, lets the better-ranked row win, and displaces the others.
//
// Committed state is never stale: when a better-ranked row invalidates the view that a row was solved with, the broker
// displaces that row, which releases its whole acquisition and is queued again. So at the barrier every row up to the
// first one without retries left is as if all rows had been solved one by one. Lanes call it from their own threads;
// its state is in shared memory under one lock.

import { sharedInt32, sharedUint8 } from '../../collections/columns.ts';

/** Whether a proposal may be committed in part. */
export const Mode = { Incremental: 0, AllOrNothing: 1 } as const;
export type Mode = (typeof Mode)[keyof typeof Mode];

export const RowStatus = { Queued: 0, InFlight: 1, Committed: 2, Exhausted: 3 } as const;

/** Rows are named by their place in rank order: a smaller number is better. */
export interface Proposal {
  readonly row: number;
  readonly mode: Mode;
  /** Slots in claim order. */
  readonly machines: readonly number[];
  /** Length of the prefix of `machines` that are credits: bound to the row or on their way to it. */
  readonly credited: number;
  /** Conflict keys that the row read (conflict-keys.ts), and their sequence numbers before it read them. */
  readonly conflictKeys: readonly number[];
  readonly observed: readonly number[];
  /** End of the log as applied to the view that the row was solved with. */
  readonly clock: number;
  /** A claim on a machine that the row did not pick could change its result: a gang, a strict spread. */
  readonly sensitive: boolean;
}

export type Outcome =
  | {
      readonly status: 'committed';
      readonly machines: readonly number[];
      /** Claimed by better-ranked rows; only an incremental proposal is committed with any. */
      readonly conflicted: readonly number[];
      /** Rows that lost a machine to this one, or whose view it invalidated. */
      readonly displaced: readonly number[];
    }
  | {
      readonly status: 'conflict' | 'exhausted';
      /** Current sequence numbers of the row's conflict keys. */
      readonly sequence: readonly number[];
    };

/** Event counts by mode. */
export interface BrokerCounts {
  readonly proposals: readonly [number, number];
  readonly commits: readonly [number, number];
  readonly conflicts: readonly [number, number];
  /** Commits of rows that had a conflict or were displaced before. */
  readonly retried: readonly [number, number];
  readonly displacements: readonly [number, number];
  readonly exhausted: readonly [number, number];
}

/** Offsets in the control block that all lanes share. */
const Place = {
  Lock: 0,
  /** End of the log, which is append-only. */
  Clock: 1,
  /** No row before this one is queued. */
  Next: 2,
  InFlight: 3,
  /** The worst-ranked row committed so far. */
  Worst: 4,
  /** Incremented when a waiting lane might find work. */
  Bell: 5,
  /** Counters, one per mode, start here. */
  Displacements: 6,
  Exhausted: 8,
  Proposals: 10,
  Commits: 12,
  Conflicts: 14,
  Retried: 16,
  Length: 18,
} as const;

/** A lane holds the lock for microseconds; if a waiter times out, the holder is gone. */
const PATIENCE_MS = 10_000;

const FREE = 0;
const TAKEN = 1;
const CONTENDED = 2;

/** Memory of a broker, shared by all lanes. */
export interface BrokerMemory {
  /** Attempts that a row may lose to conflicts and displacements before it is exhausted. */
  readonly retries: number;
  readonly control: Int32Array;
  /** By slot: the row that claims it plus one; 0 for none. */
  readonly owner: Int32Array;
  readonly sequence: Int32Array;
  readonly status: Uint8Array;
  readonly sensitive: Uint8Array;
  readonly mode: Uint8Array;
  /** By row: retries left, offset of its commit in the log, and end of the log as of its view. */
  readonly budget: Int32Array;
  readonly entry: Int32Array;
  readonly seen: Int32Array;
  /** Entries: row, number of machines (RELEASED for a release), of credits, of conflict keys; machines, conflict keys. */
  readonly log: Int32Array;
}

const RELEASED = -1;
const HEADER = 4;
/**
 * Words of the log per row and per machine: enough for a few rounds of displacement; rows that no longer fit are left to
 * the barrier.
 */
const LOG_PER_ROW = 24;
const LOG_PER_MACHINE = 2;

export function brokerMemory(
  rows: number,
  machines: number,
  conflictKeys: number,
  retries: number,
  logLength = LOG_PER_ROW * rows + LOG_PER_MACHINE * machines,
): BrokerMemory {
  return {
    retries,
    control: sharedInt32(Place.Length),
    owner: sharedInt32(machines),
    sequence: sharedInt32(conflictKeys),
    status: sharedUint8(rows),
    sensitive: sharedUint8(rows),
    mode: sharedUint8(rows),
    budget: sharedInt32(rows).fill(retries),
    entry: sharedInt32(rows),
    seen: sharedInt32(rows),
    log: sharedInt32(logLength),
  };
}

/** A change to a row's claims: worse-ranked rows solved with a different view of them must be solved again. */
interface Event {
  readonly row: number;
  readonly conflictKeys: ReadonlySet<number>;
  /** Offset of the commit that is released; null for new claims. */
  readonly releasedEntry: number | null;
}

export class Broker {
  readonly #memory: BrokerMemory;
  readonly #conflictKeysOf: (slot: number) => readonly number[];

  /** `conflictKeysOf` returns all conflict keys of a machine. */
  constructor(memory: BrokerMemory, conflictKeysOf: (slot: number) => readonly number[]) {
    this.#memory = memory;
    this.#conflictKeysOf = conflictKeysOf;
  }

  /** Current end of the log; entries before it may be read without the lock. */
  get clock(): number {
    return Atomics.load(this.#memory.control, Place.Clock);
  }

  sequenceOf(conflictKey: number): number {
    return Atomics.load(this.#memory.sequence, conflictKey);
  }

  /** The row that claims a machine; -1 for none. */
  ownerOf(slot: number): number {
    return Atomics.load(this.#memory.owner, slot) - 1;
  }

  statusOf(row: number): number {
    return this.#memory.status[row]!;
  }

  retriesLeft(row: number): number {
    return this.#memory.budget[row]!;
  }

  get counts(): BrokerCounts {
    const { control } = this.#memory;
    const pair = (place: number): [number, number] => [control[place]!, control[place + 1]!];
    return {
      proposals: pair(Place.Proposals),
      commits: pair(Place.Commits),
      conflicts: pair(Place.Conflicts),
      retried: pair(Place.Retried),
      displacements: pair(Place.Displacements),
      exhausted: pair(Place.Exhausted),
    };
  }

  /** Machines a committed row claims, in claim order. */
  claimsOf(row: number): Int32Array {
    const { entry, log } = this.#memory;
    const at = entry[row]!;
    return log.subarray(at + HEADER, at + HEADER + log[at + 1]!);
  }

  /** How many of a committed row's claims are credits. */
  creditsOf(row: number): number {
    const { entry, log } = this.#memory;
    return log[entry[row]! + 2]!;
  }

  /** Reads the log from `from` to `to` and reports committed rows with their machines, and rows that released theirs. */
  replay(
    from: number,
    to: number,
    committed: (row: number, machines: Int32Array) => void,
    released: (row: number) => void,
  ): void {
    const { log } = this.#memory;
    for (let at = from; at < to; ) {
      const row = log[at]!;
      const count = log[at + 1]!;
      if (count === RELEASED) {
        released(row);
        at += HEADER;
      } else {
        committed(row, log.subarray(at + HEADER, at + HEADER + count));
        at += HEADER + count + log[at + 3]!;
      }
    }
  }

  /** The best-ranked queued row, now in flight; -1 if there is none at the moment, or the barrier is reached. */
  next(): number {
    return this.#exclusively(() => {
      const { control, status } = this.#memory;
      let row = control[Place.Next]!;
      while (row < status.length && status[row] !== RowStatus.Queued) row++;
      control[Place.Next] = row;
      if (row === status.length) return -1;
      control[Place.Next] = row + 1;
      status[row] = RowStatus.InFlight;
      control[Place.InFlight]!++;
      return row;
    });
  }

  /** Nothing is queued and nothing in flight: the lanes are done. */
  get barrier(): boolean {
    return this.#exclusively(() => {
      const { control, status } = this.#memory;
      return control[Place.InFlight] === 0 && control[Place.Next]! >= status.length;
    });
  }

  /** Waits up to 1 ms for another lane's commit, which may queue a row again. */
  rest(): void {
    const { control } = this.#memory;
    Atomics.wait(control, Place.Bell, Atomics.load(control, Place.Bell), 1);
  }

  /** Commits a proposal as far as its mode allows; a conflict costs the row a retry. */
  propose(proposal: Proposal): Outcome {
    return this.#exclusively(() => {
      const { control, owner } = this.#memory;
      const { mode, machines, row } = proposal;
      if (this.statusOf(row) !== RowStatus.InFlight) return this.#leftAlready(proposal);
      control[Place.Proposals + mode]!++;
      if (!this.#isFresh(proposal)) return this.#conflict(proposal);
      const conflicted = machines.filter((slot) => owner[slot] !== 0 && owner[slot]! - 1 < row);
      const nothing = conflicted.length === machines.length;
      if (nothing || (mode === Mode.AllOrNothing && conflicted.length > 0)) return this.#conflict(proposal);
      return this.#commit(proposal, conflicted);
    });
  }

  /** Commits a row that found nothing to propose; it stays committed until a better-ranked row invalidates its view. */
  abstain(proposal: Proposal): Outcome {
    return this.#exclusively(() => {
      if (this.statusOf(proposal.row) !== RowStatus.InFlight) return this.#leftAlready(proposal);
      if (!this.#isFresh(proposal)) return this.#conflict(proposal);
      return this.#commit(proposal, []);
    });
  }

  /**
   * Commits, at the barrier and in rank order, the claims of a row that was solved once more. They cannot be refused;
   * worse-ranked rows solved with a different view are displaced.
   */
  settle(proposal: Proposal): void {
    this.#exclusively(() => {
      const { control, status } = this.#memory;
      const { row } = proposal;
      if (!this.#hasRoom(proposal)) {
        status.fill(RowStatus.Exhausted, row);
        return;
      }
      const events = status[row] === RowStatus.Committed ? [this.#displace(row, [])] : [];
      control[Place.InFlight]!++;
      this.#commit(proposal, [], events);
    });
  }

  /** Leaves a row that no lane can solve to the barrier. */
  leave(row: number): void {
    this.#exclusively(() => {
      if (this.statusOf(row) === RowStatus.InFlight) this.#setAside(row);
    });
  }

  /** Leaves the in-flight rows of all lanes to the barrier, because a lane is gone. */
  leaveAll(): void {
    this.#exclusively(() => {
      const { status } = this.#memory;
      for (let row = 0; row < status.length; row++) {
        if (status[row] === RowStatus.InFlight) this.#setAside(row);
      }
    });
  }

  #isFresh(proposal: Proposal): boolean {
    const { conflictKeys, observed } = proposal;
    const { sequence } = this.#memory;
    return (
      this.#hasRoom(proposal) && conflictKeys.every((conflictKey, i) => sequence[conflictKey] === observed[i])
    );
  }

  /** Whether the log has room for one more commit, and for the release of everything that is committed now. */
  #hasRoom({ conflictKeys, machines }: Proposal): boolean {
    const { control, log, status } = this.#memory;
    const needed = HEADER * (2 + status.length) + machines.length + conflictKeys.length;
    return control[Place.Clock]! + needed <= log.length;
  }

  /** Another lane has called `leaveAll`, which ended this row's attempt. */
  #leftAlready({ conflictKeys }: Proposal): Outcome {
    return { status: 'exhausted', sequence: conflictKeys.map((conflictKey) => this.sequenceOf(conflictKey)) };
  }

  #conflict({ conflictKeys, mode, row }: Proposal): Outcome {
    const { budget, control, mode: modes } = this.#memory;
    const sequence = conflictKeys.map((conflictKey) => this.sequenceOf(conflictKey));
    modes[row] = mode;
    control[Place.Conflicts + mode]!++;
    budget[row]!--;
    if (budget[row]! > 0) return { status: 'conflict', sequence };
    this.#setAside(row);
    return { status: 'exhausted', sequence };
  }

  #setAside(row: number): void {
    this.#memory.control[Place.InFlight]!--;
    this.#exhaust(row);
    this.#ring();
  }

  #exhaust(row: number): void {
    const { control, mode, status } = this.#memory;
    status[row] = RowStatus.Exhausted;
    control[Place.Exhausted + mode[row]!]!++;
  }

  /** `events`: changes made before this commit, which may invalidate other rows too. */
  #commit(proposal: Proposal, conflicted: readonly number[], events: Event[] = []): Outcome {
    const { budget, control, mode: modes, owner, retries, sensitive, seen, sequence, status } = this.#memory;
    const { mode, row } = proposal;
    const machines = proposal.machines.filter((slot) => !conflicted.includes(slot));
    const displaced: number[] = [];
    for (const slot of machines) {
      if (owner[slot] !== 0) events.push(this.#displace(owner[slot]! - 1, displaced));
    }
    for (const slot of machines) owner[slot] = row + 1;
    seen[row] = proposal.clock;
    sensitive[row] = proposal.sensitive ? 1 : 0;
    modes[row] = mode;
    this.#append(proposal, machines);
    status[row] = RowStatus.Committed;
    control[Place.InFlight]!--;
    control[Place.Commits + mode]!++;
    if (budget[row]! < retries) control[Place.Retried + mode]!++;
    const touched = this.#conflictKeysOfAll(machines);
    events.push({ row, conflictKeys: touched, releasedEntry: null });
    for (let event = events.pop(); event !== undefined; event = events.pop()) {
      for (const conflictKey of event.conflictKeys) touched.add(conflictKey);
      this.#unsettle(event, displaced, events);
    }
    control[Place.Worst] = Math.max(control[Place.Worst]!, row);
    // Once for each conflict key, regardless of how many of its machines moved.
    for (const conflictKey of touched) sequence[conflictKey]!++;
    this.#ring();
    return { status: 'committed', machines, conflicted, displaced };
  }

  /** Displaces every worse-ranked row that was solved with a view that an event has invalidated. */
  #unsettle({ row, conflictKeys, releasedEntry }: Event, displaced: number[], events: Event[]): void {
    const { control, seen, sensitive, status } = this.#memory;
    for (let other = row + 1; other <= control[Place.Worst]!; other++) {
      if (status[other] !== RowStatus.Committed) continue;
      // A release affects rows that saw the claim; a new claim affects sensitive rows only.
      const concerned = releasedEntry === null ? sensitive[other] === 1 : seen[other]! > releasedEntry;
      if (concerned && this.#looksAt(other, conflictKeys)) events.push(this.#displace(other, displaced));
    }
  }

  #looksAt(row: number, conflictKeys: ReadonlySet<number>): boolean {
    const { entry, log } = this.#memory;
    const at = entry[row]!;
    const from = at + HEADER + log[at + 1]!;
    for (let i = from; i < from + log[at + 3]!; i++) if (conflictKeys.has(log[i]!)) return true;
    return false;
  }

  /** Releases all claims of a row; the row is queued again if it has a retry left. */
  #displace(row: number, displaced: number[]): Event {
    const { budget, control, entry, log, mode, owner, status } = this.#memory;
    const machines = this.claimsOf(row);
    for (const slot of machines) if (owner[slot] === row + 1) owner[slot] = 0;
    const event = { row, conflictKeys: this.#conflictKeysOfAll(machines), releasedEntry: entry[row]! };
    const at = control[Place.Clock]!;
    log[at] = row;
    log[at + 1] = RELEASED;
    Atomics.store(control, Place.Clock, at + HEADER);
    displaced.push(row);
    control[Place.Displacements + mode[row]!]!++;
    budget[row]!--;
    if (budget[row]! > 0) {
      status[row] = RowStatus.Queued;
      control[Place.Next] = Math.min(control[Place.Next]!, row);
    } else {
      this.#exhaust(row);
    }
    return event;
  }

  #append({ conflictKeys, credited, row }: Proposal, machines: readonly number[]): void {
    const { control, entry, log } = this.#memory;
    const at = control[Place.Clock]!;
    entry[row] = at;
    log[at] = row;
    log[at + 1] = machines.length;
    log[at + 2] = credited;
    log[at + 3] = conflictKeys.length;
    log.set(machines, at + HEADER);
    log.set(conflictKeys, at + HEADER + machines.length);
    Atomics.store(control, Place.Clock, at + HEADER + machines.length + conflictKeys.length);
  }

  #conflictKeysOfAll(machines: Iterable<number>): Set<number> {
    const conflictKeys = new Set<number>();
    for (const slot of machines)
      for (const conflictKey of this.#conflictKeysOf(slot)) conflictKeys.add(conflictKey);
    return conflictKeys;
  }

  #ring(): void {
    const { control } = this.#memory;
    Atomics.add(control, Place.Bell, 1);
    Atomics.notify(control, Place.Bell);
  }

  /** Runs `act` under the lock. A single lock is enough: lanes spend their time solving, not here. */
  #exclusively<T>(act: () => T): T {
    const { control } = this.#memory;
    if (Atomics.compareExchange(control, Place.Lock, FREE, TAKEN) !== FREE) {
      while (Atomics.exchange(control, Place.Lock, CONTENDED) !== FREE) {
        const waited = Atomics.wait(control, Place.Lock, CONTENDED, PATIENCE_MS);
        if (waited === 'timed-out') throw new Error('The commit broker was not given back.');
      }
    }
    try {
      return act();
    } finally {
      if (Atomics.exchange(control, Place.Lock, FREE) === CONTENDED) Atomics.notify(control, Place.Lock, 1);
    }
  }
}
