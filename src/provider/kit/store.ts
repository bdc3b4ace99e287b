// Durable state of a provider, as rows, and the interface of the stores (sqlite-store.ts, memory-store.ts, or one of
// the provider's author). provider.ts loads it once and store-writer.ts writes incremental changes; a store applies
// each write atomically, in order, and resolves it when it is durable.

import type { MachineState } from '../../model/index.ts';
import type { TransitionKind } from './transitions.ts';

/** One machine. `body` is a `Machine` message: the described part, then the life-cycle part (body.ts). */
export interface MachineRow {
  /** Numbered from 0 in the order of insertion; never changes. */
  readonly slot: number;
  readonly state: MachineState;
  /** The revision of its last change. */
  readonly revision: number;
  readonly body: Uint8Array;
  /** Length of the described part of `body`. */
  readonly describedBytes: number;
  /** Number of the last operation of each transition kind; 0 for none. */
  readonly operations: readonly number[];
}

/** The highest token seen from one shard for one machine id, whether or not the machine exists. */
export interface MarkRow {
  readonly machine: string;
  readonly shard: string;
  readonly epoch: bigint;
  readonly sequence: bigint;
}

/** Arguments to repeat an in-flight transition after a restart; kept only for a resumable backend. */
export interface FlightRow {
  readonly slot: number;
  readonly kind: TransitionKind;
  readonly graceSeconds: number;
  readonly bootstrapBlob: Uint8Array;
}

/** Provider-wide counters. */
export interface Counters {
  /** Creation time of this inventory, ms since the epoch; part of every cursor, to detect cursors of another inventory. */
  readonly born: number;
  readonly revision: number;
  /** Operations started so far. */
  readonly operations: number;
}

/** One atomic write: rows to insert or replace, and rows to forget. */
export interface Changes {
  readonly counters?: Counters;
  readonly machines?: readonly MachineRow[];
  readonly marks?: readonly MarkRow[];
  readonly forgottenMarks?: readonly Pick<MarkRow, 'machine' | 'shard'>[];
  readonly flights?: readonly FlightRow[];
  /** Slots whose flight has ended. */
  readonly landed?: readonly number[];
}

/** Everything a store has kept. */
export interface StoredState {
  /** null: the store is new. */
  readonly counters: Counters | null;
  /** In the order of their slots, without gaps. */
  readonly machines: Iterable<MachineRow>;
  /** Least recently used first. */
  readonly marks: Iterable<MarkRow>;
  readonly flights: Iterable<FlightRow>;
}

/** Where a provider keeps its state: `SqliteStore`, `MemoryStore` or one of your own. */
export interface Store {
  /** Called once, before the first write; the iterables are consumed immediately. */
  load(): Promise<StoredState>;
  /**
   * Resolves when the changes are durable. Writes take effect in the order of the calls, each atomically; after one fails,
   * all later ones fail too. The store may keep references to rows: the caller does not modify them.
   */
  write(changes: Changes): Promise<void>;
  close(): Promise<void>;
}
