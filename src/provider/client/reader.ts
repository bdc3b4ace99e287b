// Keeps somebody's copy of a provider's inventory up to date: reads everything, or what changed since the last time, and
// hands over only differences. Nothing here knows threads or sockets; list-thread.ts runs it on a thread of its own.
// Whatever a provider does, the receiver's copy stays what the last good answers made it.

import { MachineState, type Problem } from '../../model/index.ts';
import type { ListQuery } from './client.ts';
import { asProviderError, ProviderError } from './errors.ts';
import { Intake, type ListSink, Tally } from './intake.ts';
import { KnownRecords } from './known.ts';

/** `full` sees also what is gone; `changes` is short, and becomes `full` where the provider has no revisions. */
export type ListKind = 'full' | 'changes';

export interface ListReport {
  /** What was read in the end. */
  readonly kind: ListKind;
  /**
   * Nothing was remembered from earlier lists: everything came as changed, and nothing can be known to be gone. Whoever
   * holds machines from before drops those that did not come.
   */
  readonly isFirst: boolean;
  /** List calls and their bytes. */
  readonly messages: number;
  readonly bytes: number;
  readonly records: number;
  readonly added: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly gone: number;
  /** Machines that did not show but may still be there, because a record without a readable id may be theirs. */
  readonly missing: number;
  /** Records left out; the last good record of such a machine stays in force. */
  readonly refused: number;
  /** Why, for the first hundred; and what else was wrong. */
  readonly problems: readonly Problem[];
  /** Whether the next reading can ask for changes. */
  readonly hasRevision: boolean;
  /**
   * The highest epoch of our shard that a machine was bound in, among those that came as changed. Above our own: another
   * process acts for this shard, or did, and counted further.
   */
  readonly newestEpoch?: bigint;
}

export interface InventoryReaderParts {
  /** `ProviderClient.listBytes`, which brings deadlines and retries with it. */
  readonly listBytes: (query: ListQuery, signal?: AbortSignal) => Promise<Uint8Array>;
  /** Called with the bytes of each list once it has been read, by somebody who can give their memory back early. */
  readonly release?: (bytes: Uint8Array) => void;
  /** Any number; protects the memory of ids from ids that were made to collide. */
  readonly seed: number;
  /** Batches handed to the sink before it has taken the first. Default 1: one at a time. */
  readonly ahead?: number;
  /** Whose epochs are looked for. Default: nobody's. */
  readonly shardId?: string;
}

const EVERY_STATE: readonly MachineState[] = Object.values(MachineState);
const NO_CURSOR = new Uint8Array();
/** A cursor is sent back with each reading; one longer than this is not kept. */
const MAX_CURSOR_BYTES = 4096;
/** Revisions remembered to notice one that comes again. */
const MAX_REVISIONS = 64;
/** Ids of machines that are gone, handed over at a time. */
const GONE_LOT = 1000;

export class InventoryReader {
  readonly #listBytes: InventoryReaderParts['listBytes'];
  readonly #release: (bytes: Uint8Array) => void;
  readonly #seed: number;
  readonly #ahead: number;
  readonly #shardId: string;
  #known: KnownRecords;
  #intake: Intake;
  /** Counts every message ever read; the first of the last full reading, and of the one before. */
  #message = 0;
  #lastFullBegan = 0;
  #hasFull = false;
  #cursor: Uint8Array = NO_CURSOR;
  #revisions: string[] = [];
  #isReading = false;

  constructor(parts: InventoryReaderParts) {
    this.#listBytes = parts.listBytes;
    this.#release = parts.release ?? (() => {});
    this.#seed = parts.seed;
    this.#ahead = parts.ahead ?? 1;
    this.#shardId = parts.shardId ?? '';
    this.#known = new KnownRecords(this.#seed);
    this.#intake = new Intake(this.#known, this.#ahead, this.#shardId);
  }

  /** Machines whose record was handed over and is still in force. */
  get count(): number {
    return this.#known.count;
  }

  /** Memory held between readings, in bytes. */
  get heldBytes(): number {
    return this.#known.heldBytes;
  }

  /** Starts again from nothing, for a receiver that lost its copy. */
  forget(): void {
    if (this.#isReading) throw new Error('a reading is under way');
    this.#known = new KnownRecords(this.#seed);
    this.#intake = new Intake(this.#known, this.#ahead, this.#shardId);
    this.#hasFull = false;
    this.#cursor = NO_CURSOR;
    this.#revisions = [];
  }

  /** One reading at a time. Rejects with `ProviderError`, or with what the sink threw; the next one makes up for it. */
  async read(wanted: ListKind, sink: ListSink, signal?: AbortSignal): Promise<ListReport> {
    if (this.#isReading) throw new Error('a reading is under way');
    this.#isReading = true;
    const tally = new Tally();
    try {
      if (wanted === 'changes' && (await this.#readChanges(sink, tally, signal))) {
        return this.#report('changes', false, tally, { gone: 0, missing: 0 });
      }
      const isFirst = !this.#hasFull;
      return this.#report('full', isFirst, tally, await this.#readFull(sink, tally, signal));
    } finally {
      this.#isReading = false;
    }
  }

  #report(
    kind: ListKind,
    isFirst: boolean,
    tally: Tally,
    absent: Pick<ListReport, 'gone' | 'missing'>,
  ): ListReport {
    const { messages, bytes, records, added, changed, unchanged, refused, problems, newestEpoch } = tally;
    const counts = { messages, bytes, records, added, changed, unchanged, refused, ...absent };
    const epoch = newestEpoch === null ? {} : { newestEpoch };
    return { kind, isFirst, ...counts, problems, hasRevision: this.#cursor.length > 0, ...epoch };
  }

  /** False: the changes cannot be had, or cannot be trusted, and everything has to be read. */
  async #readChanges(sink: ListSink, tally: Tally, signal: AbortSignal | undefined): Promise<boolean> {
    if (this.#cursor.length === 0) return false;
    const before = tally.records;
    let revision: Uint8Array;
    try {
      revision = await this.#take({ sinceRevision: this.#cursor }, sink, tally, signal);
    } catch (error) {
      if (isTooLarge(error)) return false;
      throw error;
    }
    const brought = tally.records - before;
    if (revision.length > 0 && this.#advance(revision, brought, tally)) return true;
    this.#cursor = NO_CURSOR;
    return false;
  }

  async #readFull(
    sink: ListSink,
    tally: Tally,
    signal: AbortSignal | undefined,
  ): Promise<Pick<ListReport, 'gone' | 'missing'>> {
    const began = this.#message + 1;
    let revision: Uint8Array;
    let absentSince = began;
    try {
      revision = await this.#take({}, sink, tally, signal);
    } catch (error) {
      if (!isTooLarge(error)) throw error;
      revision = await this.#readByState(sink, tally, signal);
      // Without revisions a machine may have moved from a state not yet read to one already read: gone is only what
      // was not in the full reading before this one either.
      if (revision.length === 0) absentSince = this.#lastFullBegan;
    }
    const absent = await this.#dropAbsent(absentSince, sink, tally);
    this.#lastFullBegan = began;
    this.#hasFull = true;
    this.#revisions = [];
    this.#cursor = NO_CURSOR;
    if (revision.length > 0) this.#advance(revision, 0, tally);
    return absent;
  }

  /** One List per state, then what changed meanwhile. */
  async #readByState(sink: ListSink, tally: Tally, signal: AbortSignal | undefined): Promise<Uint8Array> {
    let first: Uint8Array | null = null;
    for (const state of EVERY_STATE) {
      const revision = await this.#take({ states: [state] }, sink, tally, signal);
      first ??= revision;
    }
    if (first === null || first.length === 0) return NO_CURSOR;
    return this.#take({ sinceRevision: first }, sink, tally, signal);
  }

  async #take(
    query: ListQuery,
    sink: ListSink,
    tally: Tally,
    signal: AbortSignal | undefined,
  ): Promise<Uint8Array> {
    const bytes = await this.#listBytes(query, signal);
    try {
      return await this.#intake.take(bytes, ++this.#message, sink, tally);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'BF_WIRE_MALFORMED') {
        throw asProviderError(error, 'list');
      }
      throw error;
    } finally {
      this.#release(bytes);
    }
  }

  async #dropAbsent(
    since: number,
    sink: ListSink,
    tally: Tally,
  ): Promise<Pick<ListReport, 'gone' | 'missing'>> {
    const absent = Int32Array.from(this.#known.unseenSince(since));
    if (tally.unnamed > 0) return { gone: 0, missing: absent.length };
    for (let from = 0; from < absent.length; from += GONE_LOT) {
      const lot = absent.subarray(from, from + GONE_LOT);
      await sink.gone(Array.from(lot, (slot) => this.#known.idOf(slot)));
      for (const slot of lot) this.#known.forget(slot);
    }
    return { gone: absent.length, missing: 0 };
  }

  /** Takes a revision as the next cursor. False if it cannot be right after what was read. */
  #advance(revision: Uint8Array, brought: number, tally: Tally): boolean {
    const text = Buffer.from(revision).toString('latin1');
    const problem = this.#revisionProblem(text, brought);
    if (problem !== null) {
      tally.tell([{ code: 'BF_LIST_REVISION', path: 'revision', message: problem }]);
      return false;
    }
    this.#cursor = revision;
    if (text !== this.#revisions.at(-1)) this.#revisions.push(text);
    if (this.#revisions.length > MAX_REVISIONS) this.#revisions.shift();
    return true;
  }

  #revisionProblem(text: string, brought: number): string | null {
    if (text.length > MAX_CURSOR_BYTES) return `It has ${text.length} bytes; ${MAX_CURSOR_BYTES} are kept.`;
    const known = this.#revisions.indexOf(text);
    if (known === -1) return null;
    if (known < this.#revisions.length - 1) return 'It is one that was given before, with others since.';
    return brought > 0 ? `It is the one asked for, but ${brought} machines changed since.` : null;
  }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof ProviderError && error.kind === 'too-large';
}
