// Replays past decisions: restores the ledger from the journal and runs the engine on it. Equal digests show that a
// decision depends only on what the journal contains. Used by `bigfleet replay`, outside the shard, and by
// redecide.ts.

import { type Decision, Engine } from '../../engine/index.ts';
import { Fleet } from '../../fleet/index.ts';
import { BigFleetError, type DecisionOptions } from '../../model/index.ts';
import { digestOf } from './digest.ts';
import type { CycleOutcome } from './format.ts';
import type { JournalCycle, JournalReader, Span } from './journal-reader.ts';
import type { InputChanges } from './packing.ts';
import { Stretch } from './stretch.ts';

export interface ReplayedCycle {
  /** Its sequence number in the journal. */
  readonly seq: number;
  readonly epoch: number;
  readonly atMs: number;
  /** null: the process ended before it decided. */
  readonly recorded: CycleOutcome | null;
  readonly digest: string;
  /** Whether the digest equals the recorded one; null if none was recorded. */
  readonly isSame: boolean | null;
  /** Valid until the next cycle. */
  readonly decision: Decision;
  /** The ledger that was decided on. Valid until the next cycle. */
  readonly fleet: Fleet;
}

export interface RestoreHooks {
  /** Called before each cycle is read, with the number of those read and of all to be read. */
  readonly onCycle?: (read: number, all: number) => void;
  /** Called between the parts of the decision. */
  readonly probe?: () => void;
}

/**
 * Restores the input of one cycle, from the last checkpoint before it; the returned function decides it. Throws
 * BF_JOURNAL_RANGE if the journal no longer has the whole input.
 */
export function restored(reader: JournalReader, seq: number, hooks: RestoreHooks = {}): () => ReplayedCycle {
  const { onCycle = () => {}, probe = () => {} } = hooks;
  const start = reader.checkpointFor(seq);
  if (start === null) throw incomplete();
  const past = new Past();
  const all = seq - start + 1;
  for (const cycle of reader.cycles(start)) {
    if (cycle.seq > seq) break;
    onCycle(cycle.seq - start, all);
    past.apply(cycle);
    if (cycle.seq === seq && past.isWhole && cycle.isDecided) return () => replayed(cycle, past, probe);
  }
  throw incomplete();
}

function incomplete(): BigFleetError {
  return new BigFleetError('BF_JOURNAL_RANGE', 'The journal does not have the whole input of that cycle.');
}

/**
 * Replays the cycles of a time span, oldest first. Cycles without a complete input are left out: those before the first
 * whole segment, and those in a gap. Throws BF_JOURNAL_RANGE if no cycle is left.
 */
export function* replay(reader: JournalReader, span: Span): Generator<ReplayedCycle> {
  const start = reader.startFor(span.fromMs);
  if (start === null) throw outOfRange(reader);
  const past = new Past();
  let count = 0;
  for (const cycle of reader.cycles(start)) {
    past.apply(cycle);
    if (past.isWhole && cycle.isDecided && isWithin(cycle, span)) {
      count++;
      yield replayed(cycle, past);
    }
    // The clock may have been set back, so a cycle after the span may be followed by cycles within it.
    if (cycle.atMs > span.toMs + LONGEST_STEP_BACK_MS) break;
  }
  if (count === 0) throw outOfRange(reader);
}

/** Largest step back of a clock for which a replay of a time span finds all cycles. */
const LONGEST_STEP_BACK_MS = 60_000;

function isWithin({ atMs }: JournalCycle, { fromMs, toMs }: Span): boolean {
  return atMs >= fromMs && atMs <= toMs;
}

function replayed(
  { seq, epoch, atMs, outcome }: JournalCycle,
  past: Past,
  probe: () => void = () => {},
): ReplayedCycle {
  const decision = past.decide(atMs, probe);
  const hasClaims = outcome?.hasClaims ?? true;
  const digest = digestOf({
    actions: decision.eachAction(),
    restamps: decision.restamps(),
    retargets: decision.retargets(),
    unmet: decision.unmet,
    claims: hasClaims ? decision.claims() : null,
  });
  const isSame = outcome === null ? null : outcome.digest === digest;
  return { seq, epoch, atMs, recorded: outcome, digest, isSame, decision, fleet: past.fleet };
}

/** The restored ledger of a shard, advanced from cycle to cycle. */
class Past {
  readonly #stretch = new Stretch();
  #fleet = new Fleet();
  #engine = new Engine(this.#fleet, { workers: 1, checkEvery: 0 });
  #options: DecisionOptions | null = null;

  /** Whether the ledger is complete. */
  get isWhole(): boolean {
    return this.#stretch.isWhole;
  }

  apply(cycle: JournalCycle): void {
    const changes = this.#stretch.read(cycle, () => this.#forget());
    if (changes === null) return;
    this.#options = changes.options;
    this.#write(changes);
  }

  get fleet(): Fleet {
    return this.#fleet;
  }

  decide(nowMs: number, probe: () => void): Decision {
    return this.#engine.decide(nowMs, this.#options!, { probe });
  }

  #forget(): void {
    this.#fleet = new Fleet();
    this.#engine = new Engine(this.#fleet, { workers: 1, checkEvery: 0 });
  }

  #write({ machines, removed, retimed, demand }: InputChanges): void {
    const { machines: ledger, classes } = this.#fleet;
    for (const [instanceType, seconds] of retimed) classes.retime(instanceType, seconds);
    if (machines.length + removed.length > 0) {
      ledger.batch(() => {
        for (const id of removed) ledger.remove(id);
        for (const machine of machines) ledger.put(machine);
      });
    }
    for (const delta of demand) this.#fleet.demand.apply(delta);
  }
}

function outOfRange(reader: JournalReader): BigFleetError {
  const { span } = reader;
  const kept = span === null ? 'It holds nothing yet.' : `It holds ${iso(span.fromMs)} to ${iso(span.toMs)}.`;
  return new BigFleetError('BF_JOURNAL_RANGE', `No cycle of that time can be replayed. ${kept}`);
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
