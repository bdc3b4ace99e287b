// Where a provider keeps what must outlive it. The kit writes single changes, never the whole; a store makes each
// write whole or nothing, keeps their order, and answers when it is safe on disk.

import type { MachineState } from '../../model/index.ts';
import type { TransitionKind } from './transitions.ts';

/** One machine. `body` is a `Machine` message: first what the cloud says of it, then where it is in its life. */
export interface MachineRow {
  /** Numbered from 0 in the order of arrival; a machine keeps its number. */
  readonly slot: number;
  readonly state: MachineState;
  /** The revision of its last change. */
  readonly revision: number;
  readonly body: Uint8Array;
  /** How much of `body` is the first part. */
  readonly describedBytes: number;
  /** Per kind of transition the number of the last operation; 0 for none. */
  readonly operations: readonly number[];
}

/** The highest token seen from one shard for one machine, on record or not. */
export interface MarkRow {
  readonly machine: string;
  readonly shard: string;
  readonly epoch: bigint;
  readonly sequence: bigint;
}

/** What is needed to repeat a transition after a restart; kept only for a backend that can. */
export interface FlightRow {
  readonly slot: number;
  readonly kind: TransitionKind;
  readonly graceSeconds: number;
  readonly bootstrapBlob: Uint8Array;
}

/** Numbers of the provider as a whole. */
export interface Counters {
  /** When this inventory began, ms since the epoch; part of every cursor, so that those of another one are noticed. */
  readonly born: number;
  readonly revision: number;
  /** Operations started so far. */
  readonly operations: number;
}

export interface Changes {
  readonly counters?: Counters;
  readonly machines?: readonly MachineRow[];
  readonly marks?: readonly MarkRow[];
  readonly forgottenMarks?: readonly Pick<MarkRow, 'machine' | 'shard'>[];
  readonly flights?: readonly FlightRow[];
  /** Slots whose flight has ended. */
  readonly landed?: readonly number[];
}

export interface StoredState {
  /** null: nothing was ever written. */
  readonly counters: Counters | null;
  /** In the order of their slots, without gaps. */
  readonly machines: Iterable<MachineRow>;
  /** Those longest untouched first. */
  readonly marks: Iterable<MarkRow>;
  readonly flights: Iterable<FlightRow>;
}

export interface Store {
  /** Everything written so far. Called once, before anything is written; the iterables are read at once. */
  load(): Promise<StoredState>;
  /**
   * Resolves when the changes are safe. Writes take effect in the order of the calls, each whole or not at all; when one
   * fails, all later ones fail too. The store keeps what it is given only if it is sure nobody changes it: rows are final.
   */
  write(changes: Changes): Promise<void>;
  close(): Promise<void>;
}
