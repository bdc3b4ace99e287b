// Processes one List message for inventory-reader.ts in two passes: the first scans all of it and throws on malformed
// bytes before the sink has received anything; the second sends new and changed records to the sink, with a bounded
// number of batches in flight.

import { NameLimits, type Problem } from '../../model/index.ts';
import { binderEpoch, WireFormatError } from '../../wire/index.ts';
import { ProviderError } from './errors.ts';
import type { KnownRecords } from './known-records.ts';
import { duplicate, type RecordBatch, readRecord, walkList } from './machine-list.ts';
import { RecordHash } from './record-hash.ts';

/** Receives the differences that a List brings. A returned promise applies backpressure until it resolves. */
export interface ListSink {
  /** Machines that are new or whose record changed. */
  changed(batch: RecordBatch): void | Promise<void>;
  /** Ids of machines that the provider no longer has. */
  gone(ids: readonly string[]): void | Promise<void>;
}

/** Counters of one reading. */
export class Tally {
  messages = 0;
  bytes = 0;
  records = 0;
  added = 0;
  changed = 0;
  unchanged = 0;
  refused = 0;
  /** Rejected records without a readable id; each may belong to any machine. */
  unnamed = 0;
  /** The highest epoch of this shard in which one of the changed machines was bound; null if no record has one. */
  newestEpoch: bigint | null = null;
  readonly problems: Problem[] = [];

  /** Counts a rejected record. At most `MAX_PROBLEMS` reasons are kept: a faulty provider has one for each machine. */
  refuse(problems: readonly Problem[]): void {
    this.refused++;
    this.addProblems(problems);
  }

  sawEpoch(epoch: bigint | null): void {
    if (epoch !== null && epoch > (this.newestEpoch ?? 0n)) this.newestEpoch = epoch;
  }

  addProblems(problems: readonly Problem[]): void {
    this.problems.push(...problems.slice(0, MAX_PROBLEMS - this.problems.length));
  }
}

const MAX_PROBLEMS = 100;
/** A batch ends at the first limit reached. The receiver decodes one in about 0.5 ms, ten times that when cold. */
const BATCH_RECORDS = 64;
const BATCH_BYTES = 64 * 1024;
/** Most machines tracked; beyond that, the provider is assumed to invent ids. */
const MAX_RECORDS = 8_000_000;

/** Numbers per candidate: start of list entry, start and end of record, index in the list, slot, hash (two). */
const STRIDE = 7;

export class Intake {
  readonly #known: KnownRecords;
  readonly #maxInFlight: number;
  readonly #shardId: string;
  readonly #recordHash = new RecordHash();
  #candidates = new Int32Array(STRIDE * 256);
  #count = 0;
  /** Slots allocated by this message; freed at its end unless the sink has received the record. */
  #fresh: number[] = [];
  /** Slots of ids that this message names twice. */
  readonly #twice = new Set<number>();

  /** `maxInFlight` bounds the batches in flight to the sink; `shardId` is the shard whose epochs are tracked. */
  constructor(known: KnownRecords, maxInFlight: number, shardId: string) {
    this.#known = known;
    this.#maxInFlight = maxInFlight;
    this.#shardId = shardId;
  }

  /** Processes message number `message` and returns its revision. */
  async take(bytes: Uint8Array, message: number, sink: ListSink, tally: Tally): Promise<Uint8Array> {
    this.#count = 0;
    this.#twice.clear();
    try {
      const revision = this.#scan(bytes, message, tally);
      tally.messages++;
      tally.bytes += bytes.length;
      await this.#sendBatches(bytes, sink, tally);
      return revision;
    } finally {
      for (const slot of this.#fresh) if (!this.#known.isDelivered(slot)) this.#known.forget(slot);
      this.#fresh = [];
      this.#candidates = new Int32Array(STRIDE * 256);
    }
  }

  #scan(bytes: Uint8Array, message: number, tally: Tally): Uint8Array {
    let place = 0;
    return walkList(bytes, (entry, from, to) => {
      tally.records++;
      this.#scanRecord(bytes, entry, from, to, place++, message, tally);
    });
  }

  #scanRecord(
    bytes: Uint8Array,
    entry: number,
    from: number,
    to: number,
    place: number,
    message: number,
    tally: Tally,
  ): void {
    const known = this.#known;
    const hash = this.#recordHash;
    const problem = this.#problemOf(bytes, from, to, place);
    const idBytes = hash.idTo - hash.idFrom;
    if (idBytes === 0 || idBytes > NameLimits.machineId) {
      // A well-formed record with an id too long cannot belong to a tracked machine, so it does not count as unnamed.
      if (idBytes === 0 || problem !== null) tally.unnamed++;
      tally.refuse([problem ?? idProblem(idBytes, place)]);
      return;
    }
    const count = known.count;
    const slot = known.slotOf(bytes, hash.idFrom, hash.idTo);
    if (known.count > count) this.#admitted(slot);
    if (known.seenIn(slot) === message) {
      this.#twice.add(slot);
      tally.refuse([duplicate(place, known.idOf(slot))]);
      return;
    }
    known.see(slot, message);
    if (problem !== null) tally.refuse([problem]);
    else if (known.isSame(slot, hash.low, hash.high)) tally.unchanged++;
    else this.#propose([entry, from, to, place, slot, hash.low, hash.high]);
  }

  #problemOf(bytes: Uint8Array, from: number, to: number, place: number): Problem | null {
    try {
      this.#recordHash.read(bytes, from, to);
      return null;
    } catch (error) {
      if (!(error instanceof WireFormatError)) throw error;
      return { ...error.problems[0]!, path: `machines[${place}]` };
    }
  }

  #admitted(slot: number): void {
    this.#fresh.push(slot);
    if (this.#known.count <= MAX_RECORDS) return;
    throw new ProviderError('too-large', 'list', `There are more than ${MAX_RECORDS} machines.`);
  }

  #propose(candidate: readonly number[]): void {
    const at = this.#count * STRIDE;
    if (at === this.#candidates.length) {
      const larger = new Int32Array(at * 2);
      larger.set(this.#candidates);
      this.#candidates = larger;
    }
    this.#candidates.set(candidate, at);
    this.#count++;
  }

  /** Sends batches, at most `#maxInFlight` in flight. A batch that the sink did not accept is sent again by the next reading. */
  async #sendBatches(bytes: Uint8Array, sink: ListSink, tally: Tally): Promise<void> {
    const inFlight: Promise<void>[] = [];
    try {
      for (let next = 0; next < this.#count; ) {
        const chosen: number[] = [];
        next = this.#choose(bytes, next, chosen, tally);
        if (chosen.length === 0) continue;
        if (inFlight.length === this.#maxInFlight) await inFlight.shift();
        const sending = this.#send(bytes, chosen, sink, tally);
        // Awaited later; until then a rejection must not be reported as unhandled.
        sending.catch(() => {});
        inFlight.push(sending);
      }
      for (const sending of inFlight) await sending;
    } catch (error) {
      // The sink may still be processing earlier batches.
      await Promise.allSettled(inFlight);
      throw error;
    }
  }

  /** Collects valid candidates for one batch, from number `next` on; returns where the following batch begins. */
  #choose(bytes: Uint8Array, next: number, chosen: number[], tally: Tally): number {
    let size = 0;
    while (next < this.#count && chosen.length < BATCH_RECORDS && size < BATCH_BYTES) {
      const at = next++ * STRIDE;
      const [entry, from, to, place, slot] = this.#candidates.subarray(at, at + STRIDE) as never as number[];
      if (this.#twice.has(slot!)) {
        // Both records of a duplicate id are rejected; the first pass has counted the second one.
        tally.refuse([]);
        continue;
      }
      const machine = readRecord(bytes, from!, to!, place!, (metadata) =>
        tally.sawEpoch(binderEpoch(metadata, this.#shardId)),
      );
      if (!machine.ok) {
        tally.refuse(machine.problems);
        continue;
      }
      chosen.push(at);
      size += to! - entry!;
    }
    return next;
  }

  async #send(bytes: Uint8Array, chosen: readonly number[], sink: ListSink, tally: Tally): Promise<void> {
    const candidates = this.#candidates;
    const known = this.#known;
    const length = chosen.reduce((sum, at) => sum + candidates[at + 2]! - candidates[at]!, 0);
    const batch = new Uint8Array(length);
    let end = 0;
    for (const at of chosen) {
      batch.set(bytes.subarray(candidates[at]!, candidates[at + 2]!), end);
      end += candidates[at + 2]! - candidates[at]!;
    }
    await sink.changed({ bytes: batch, count: chosen.length });
    for (const at of chosen) {
      const slot = candidates[at + 4]!;
      if (known.isDelivered(slot)) tally.changed++;
      else tally.added++;
      known.setDelivered(slot, candidates[at + 5]!, candidates[at + 6]!);
    }
  }
}

function idProblem(idBytes: number, place: number): Problem {
  const path = `machines[${place}].id`;
  if (idBytes === 0) return { code: 'BF_MACHINE_ID_EMPTY', path, message: 'The machine has no id.' };
  const message = `The id has ${idBytes} bytes, at most ${NameLimits.machineId} are taken.`;
  return { code: 'BF_MACHINE_LIMIT', path, message };
}
