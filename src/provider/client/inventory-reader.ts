// Keeps a receiver's copy of a provider's inventory up to date: lists everything, or the changes since the last
// revision, and passes only differences to the sink. Independent of threads and sockets: a shard runs it on a worker
// thread (list-worker.ts), simulated worlds call it directly. The copy always reflects the last valid answers, whatever
// a faulty provider sends.

import { MachineState, type Problem } from '../../model/index.ts';
import type { ListQuery } from './client.ts';
import { asProviderError, ProviderError } from './errors.ts';
import { Intake, type ListSink, Tally } from './intake.ts';
import { KnownRecords } from './known-records.ts';

/** `full` also detects machines that are gone; `changes` is incremental and falls back to `full` without a revision. */
export type ListKind = 'full' | 'changes';

/** The result of one reading. */
export interface ListReport {
  /** The kind actually read, after a fallback. */
  readonly kind: ListKind;
  /**
   * The reader had no records from earlier lists: every machine was reported as changed, and none could be reported as
   * gone. A receiver with machines from before must drop those that were not reported.
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
  /** Machines absent from the list that were not reported as gone, because a record without a readable id may be theirs. */
  readonly missing: number;
  /** Records rejected; the last valid record of such a machine stays in effect. */
  readonly refused: number;
  /** Reasons of the rejections and problems of the list itself; at most 100. */
  readonly problems: readonly Problem[];
  /** Whether the next reading can be incremental. */
  readonly hasRevision: boolean;
  /**
   * The highest epoch of this shard in which one of the changed machines was bound. If it exceeds the shard's own epoch,
   * another process acts or has acted for this shard with a newer epoch.
   */
  readonly newestEpoch?: bigint;
}

/** Dependencies of a reader. */
export interface InventoryReaderParts {
  /** `ProviderClient.listBytes`, which applies deadlines and retries. */
  readonly listBytes: (query: ListQuery, signal?: AbortSignal) => Promise<Uint8Array>;
  /** Called with the bytes of each list once it has been read, so that the caller can free their memory early. */
  readonly release?: (bytes: Uint8Array) => void;
  /** Hash seed; protects the id table from ids crafted to collide. */
  readonly seed: number;
  /** Most batches in flight to the sink. Default 1. */
  readonly maxInFlight?: number;
  /** The shard whose epochs `newestEpoch` tracks. Default '', which tracks none. */
  readonly shardId?: string;
}

const EVERY_STATE: readonly MachineState[] = Object.values(MachineState);
const NO_CURSOR = new Uint8Array();
/** Longest revision used as a cursor, which is sent back with each incremental reading. */
const MAX_CURSOR_BYTES = 4096;
/** Past revisions kept to detect a provider that returns an old one. */
const MAX_REVISIONS = 64;
/** Most ids per call of `sink.gone`. */
const GONE_LOT = 1000;

/** Reads an inventory, in full or by its changes, and passes only differences on. */
export class InventoryReader {
  readonly #listBytes: InventoryReaderParts['listBytes'];
  readonly #release: (bytes: Uint8Array) => void;
  readonly #seed: number;
  readonly #maxInFlight: number;
  readonly #shardId: string;
  #known: KnownRecords;
  #intake: Intake;
  /** Number of the last List message read. */
  #message = 0;
  /** Number of the first message of the last full reading. */
  #lastFullBegan = 0;
  #hasFull = false;
  #cursor: Uint8Array = NO_CURSOR;
  #revisions: string[] = [];
  #isReading = false;

  constructor(parts: InventoryReaderParts) {
    this.#listBytes = parts.listBytes;
    this.#release = parts.release ?? (() => {});
    this.#seed = parts.seed;
    this.#maxInFlight = parts.maxInFlight ?? 1;
    this.#shardId = parts.shardId ?? '';
    this.#known = new KnownRecords(this.#seed);
    this.#intake = new Intake(this.#known, this.#maxInFlight, this.#shardId);
  }

  /** Machines that the reader tracks. */
  get count(): number {
    return this.#known.count;
  }

  /** Memory held between readings, in bytes. */
  get heldBytes(): number {
    return this.#known.heldBytes;
  }

  /** Discards all state, for a receiver that lost its copy; the next reading is a first one. */
  forget(): void {
    if (this.#isReading) throw new Error('a reading is under way');
    this.#known = new KnownRecords(this.#seed);
    this.#intake = new Intake(this.#known, this.#maxInFlight, this.#shardId);
    this.#hasFull = false;
    this.#cursor = NO_CURSOR;
    this.#revisions = [];
  }

  /**
   * One reading at a time. Rejects with `ProviderError`, or with the sink's error; the next reading passes on the
   * differences that the failed one did not.
   */
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

  /** False: there is no cursor, the answer is too large, or its revision is not plausible; a full reading is required. */
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
    const received = tally.records - before;
    if (revision.length > 0 && this.#advance(revision, received, tally)) return true;
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
      // Without revisions a machine may have moved from a state not yet read to one already read, so a machine is gone
      // only if the previous full reading did not contain it either.
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

  /** One List per state, then the changes since the first of them. */
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

  /** Makes a revision the next cursor. False if it contradicts the records read or an earlier revision. */
  #advance(revision: Uint8Array, received: number, tally: Tally): boolean {
    const text = Buffer.from(revision).toString('latin1');
    const problem = this.#revisionProblem(text, received);
    if (problem !== null) {
      tally.addProblems([{ code: 'BF_LIST_REVISION', path: 'revision', message: problem }]);
      return false;
    }
    this.#cursor = revision;
    if (text !== this.#revisions.at(-1)) this.#revisions.push(text);
    if (this.#revisions.length > MAX_REVISIONS) this.#revisions.shift();
    return true;
  }

  #revisionProblem(text: string, received: number): string | null {
    if (text.length > MAX_CURSOR_BYTES) return `It has ${text.length} bytes; ${MAX_CURSOR_BYTES} are kept.`;
    const known = this.#revisions.indexOf(text);
    if (known === -1) return null;
    if (known < this.#revisions.length - 1) return 'It was returned before, and a different one after it.';
    return received > 0 ? `It equals the requested one, but ${received} machines changed since.` : null;
  }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof ProviderError && error.kind === 'too-large';
}
