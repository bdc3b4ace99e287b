// Invariants for every frame, whatever its content: the byte checks and the decoder return or throw WireFormatError,
// their results are small, and the roll-up accepted before remains the one to compare with. Used by frame-fuzz.test.ts
// and `npm run soak:frames`, so it throws plain errors.

import type { Need } from '../../src/model/index.ts';
import { DEFAULT_SESSION_LIMITS } from '../../src/shard/sessions/limits.ts';
import {
  type IntakeResult,
  RollupIntake,
  type RollupProblems,
  readOperatorFrame,
  SharedParts,
  WireFormatError,
} from '../../src/wire/index.ts';
import type { FrameFuzzer } from './frame-fuzzer.ts';

const LIMITS = { maxRows: DEFAULT_SESSION_LIMITS.rollupRows };

/** Fifty problems with a path and a message each. */
const MAX_PROBLEMS_JSON = 100_000;
/** 200 bytes that become six characters each, and the text around them. */
const MAX_TEXT = 1_300;

export const CLUSTER = 'fuzz-00';

/** Reads frames as a session does, without a session. */
export class FrameReader {
  readonly outcomes = new Map<string, number>();
  readonly #good: Uint8Array;
  readonly #goodLater: Uint8Array;
  /** Shared by all clusters, as in a shard: entries that a frame adds to it stay in memory. */
  readonly #shared = new SharedParts();
  /** Has accepted the valid roll-up, and must not be affected by other frames. */
  readonly #settled = new RollupIntake(CLUSTER, this.#shared);

  constructor(fuzzer: FrameFuzzer) {
    const frame = readOperatorFrame(fuzzer.good(CLUSTER));
    if (frame.kind !== 'rollup') throw new Error(`The good frame is a ${frame.kind}.`);
    this.#good = frame.bytes;
    this.#goodLater = Uint8Array.from(this.#good);
    // The last byte of the timestamp, which is behind the cluster and the tag.
    this.#goodLater[2 + CLUSTER.length + 5]! ^= 1;
    this.#settled.accept(this.#settled.read(this.#good, LIMITS));
    this.#checkSettled();
  }

  /** Throws if an invariant is violated. `index` selects one of the ways to read. */
  check(bytes: Uint8Array, index: number): void {
    const outcome = this.#outcomeOf(bytes, index);
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
    this.#checkSettled();
  }

  #outcomeOf(bytes: Uint8Array, index: number): string {
    const frame = unlessMalformed(() => readOperatorFrame(bytes));
    if (frame === null) return 'malformed frame';
    if (frame.kind !== 'rollup') return `frame of kind ${frame.kind}`;
    const isFresh = index % 2 === 0;
    const intake = isFresh ? new RollupIntake(CLUSTER, this.#shared) : this.#settled;
    // A session calls this first, outside of any handling of malformed bytes.
    const repeated = intake.repeats(frame.bytes);
    const read = unlessMalformed(() =>
      index % 4 < 2 ? intake.read(frame.bytes, LIMITS) : inSlices(intake, frame.bytes),
    );
    if (read === null) return 'malformed roll-up';
    if (repeated !== null && read.kind !== 'unchanged') throw new Error(`a repeated roll-up is ${read.kind}`);
    checkIntake(read);
    if (isFresh && read.kind === 'changed') checkAgain(intake, read, frame.bytes);
    return `roll-up ${read.kind}`;
  }

  #checkSettled(): void {
    if (this.#settled.repeats(this.#goodLater) === null) throw new Error('the good roll-up is not known');
    const { kind } = this.#settled.read(this.#good, LIMITS);
    if (kind !== 'unchanged') throw new Error(`the good roll-up is ${kind} after this one`);
  }
}

function unlessMalformed<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof WireFormatError) return null;
    throw error;
  }
}

function inSlices(intake: RollupIntake, bytes: Uint8Array): IntakeResult {
  const steps = intake.reading(bytes, LIMITS);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

function checkIntake(intake: IntakeResult): void {
  if (intake.kind === 'refused') checkProblems(intake.problems);
  if (intake.kind !== 'changed') return;
  checkProblems(intake.remarks);
  for (const need of intake.needs) checkNeed(need);
}

function checkProblems(problems: RollupProblems): void {
  const { length } = JSON.stringify(problems);
  if (length >= MAX_PROBLEMS_JSON) throw new Error(`problems of ${length} characters`);
  for (const { path, message } of problems.first)
    if (Math.max(path.length, message.length) > MAX_TEXT) throw new Error(`a long text: ${path} ${message}`);
}

/** Names that reach the decisions are within their limits. */
function checkNeed({ profile, group, aggregate, minUnit }: Need): void {
  within(group, 1024, 'group');
  within(profile.fingerprint, 2 * 512 * 1024, 'fingerprint');
  for (const { key, values } of profile.requirements) {
    within(key, 317, 'key');
    for (const value of values) within(value, 63, 'value');
  }
  for (const { topologyKey } of profile.spread) within(topologyKey, 317, 'topology key');
  for (const vector of [aggregate, minUnit])
    for (const [name, units] of vector) {
      within(name, 317, 'resource');
      if (!Number.isSafeInteger(units) || units < 0) throw new Error(`an amount of ${units}`);
    }
}

function within(name: string, limit: number, what: string): void {
  if (Buffer.byteLength(name) > limit) throw new Error(`a ${what} of ${Buffer.byteLength(name)} bytes`);
}

/**
 * An accepted roll-up that is sent again is recognised as equal, or has rows beyond a limit and is read to the same
 * result.
 */
function checkAgain(
  intake: RollupIntake,
  first: Extract<IntakeResult, { kind: 'changed' }>,
  bytes: Uint8Array,
): void {
  intake.accept(first);
  const again = intake.read(bytes, LIMITS);
  if (again.kind === 'unchanged') return;
  if (again.kind !== 'changed' || first.rowsSetAside === 0)
    throw new Error(`the same roll-up is ${again.kind} the second time`);
  const same = again.rowsSetAside === first.rowsSetAside && again.needs.length === first.needs.length;
  if (!same || JSON.stringify(again.remarks) !== JSON.stringify(first.remarks))
    throw new Error('the same roll-up has other rows or remarks the second time');
}
