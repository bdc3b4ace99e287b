// A lane: solves rows one after another against its own view, and proposes its picks to the broker. Its view holds the
// claims of all committed better-ranked rows and of no other row, in rank order, so that a row is solved by the same
// code, with the same result, as if rows were served one by one. Run by lanes.ts on the cycle's thread and by
// shared-state.ts on worker threads.

import { Credit } from '../assign/credits.ts';
import { RowKind } from '../assign/ranked-rows.ts';
import { serve } from '../assign/serve.ts';
import type { PoolOptions } from '../candidates/candidate-tier.ts';
import { Cycle } from '../cycle.ts';
import { Broker, type BrokerMemory, Mode, type Proposal } from './broker.ts';
import { ConflictKeys } from './conflict-keys.ts';

/** Input of a lane, on any thread. */
export interface LaneWork {
  readonly memory: BrokerMemory;
  /** Ranked rows in rank order. */
  readonly order: Uint32Array;
  /** Index of the first claim of the pass. */
  readonly passStart: number;
  /** Bucket numbers from here on are clusters. */
  readonly patternCount: number;
  /** The order of free machines; a cycle on another thread has no options. */
  readonly poolOptions: PoolOptions;
}

const Step = { Dequeue: 0, Observe: 1, Solve: 2, Propose: 3 } as const;
type Step = (typeof Step)[keyof typeof Step];

export class Lane {
  readonly #cycle: Cycle;
  readonly #broker: Broker;
  readonly #conflictKeys: ConflictKeys;
  /** Ranked rows in rank order. */
  readonly #order: Uint32Array;
  /** Claims of committed rows, as of `#read` in the log. */
  readonly #committed: (Int32Array | undefined)[] = [];
  /** Committed rows in the view, in rank order, and the index of the first claim of each. */
  readonly #rows: number[] = [];
  readonly #starts: number[] = [];
  /** The view holds every committed row before this one. */
  #built = 0;
  #read = 0;

  #step: Step = Step.Dequeue;
  #row = -1;
  #observed: number[] = [];
  #proposal: Proposal | null = null;

  constructor(cycle: Cycle, { memory, order, passStart, patternCount, poolOptions }: LaneWork) {
    const trial = Cycle.trialOf(cycle, passStart, poolOptions);
    const conflictKeys = new ConflictKeys(trial, order, patternCount);
    this.#cycle = trial;
    this.#broker = new Broker(memory, (slot) => conflictKeys.keysOf(slot));
    this.#conflictKeys = conflictKeys;
    this.#order = order;
  }

  /**
   * Runs one step; between two steps other lanes may run any number of theirs. Returns false when the barrier is reached.
   */
  step(): boolean {
    switch (this.#step) {
      case Step.Dequeue:
        return this.#dequeue();
      case Step.Observe:
        this.#observe();
        return true;
      case Step.Solve:
        this.#solve();
        return true;
      case Step.Propose:
        this.#propose();
        return true;
    }
  }

  #dequeue(): boolean {
    this.#row = this.#broker.next();
    if (this.#row !== -1) this.#step = Step.Observe;
    else if (this.#broker.barrier) return false;
    return true;
  }

  /** Leaves the lane's row in flight to the barrier. */
  leave(): void {
    if (this.#step !== Step.Dequeue) this.#broker.leave(this.#row);
    this.#step = Step.Dequeue;
  }

  /** Waits up to 1 ms for other lanes. */
  rest(): void {
    this.#broker.rest();
  }

  /** Another lane is gone: leaves all rows in flight to the barrier. */
  inherit(): void {
    this.#broker.leaveAll();
  }

  /** Whether the lane has no work until another lane commits or gives up a row. */
  get idle(): boolean {
    return this.#step === Step.Dequeue && this.#row === -1;
  }

  /** Sequence numbers first, then the view: a change in between makes the numbers stale, never the view. */
  #observe(): void {
    const conflictKeys = this.#conflictKeys.keysReadBy(this.#cycle, this.#order[this.#row]!);
    this.#observed = conflictKeys.map((conflictKey) => this.#broker.sequenceOf(conflictKey));
    this.#bringUpToDate();
    this.#step = Step.Solve;
  }

  #bringUpToDate(): void {
    const { clock } = this.#broker;
    let changed = this.#row;
    this.#broker.replay(
      this.#read,
      clock,
      (row, machines) => {
        this.#committed[row] = machines;
        changed = Math.min(changed, row);
      },
      (row) => {
        this.#committed[row] = undefined;
        changed = Math.min(changed, row);
      },
    );
    this.#read = clock;
    this.#rewindTo(changed);
    for (; this.#built < this.#row; this.#built++) this.#adopt(this.#built);
  }

  #rewindTo(row: number): void {
    while (this.#rows.length > 0 && this.#rows.at(-1)! >= row) {
      this.#rows.pop();
      this.#cycle.pass.rewind(this.#starts.pop()!);
    }
    this.#built = Math.min(this.#built, row);
  }

  #adopt(row: number): void {
    const machines = this.#committed[row];
    if (machines === undefined || machines.length === 0) return;
    this.#rows.push(row);
    this.#starts.push(this.#cycle.claims.count);
    for (const slot of machines) this.#cycle.pass.adopt(this.#order[row]!, slot);
  }

  #solve(): void {
    const cycle = this.#cycle;
    const { claims } = cycle;
    const rankedRow = this.#order[this.#row]!;
    const from = claims.count;
    const waits = cycle.credits.outcome[rankedRow] === Credit.Waits;
    serve(cycle, rankedRow);
    const unhosted = cycle.rankedRows.kind[rankedRow] === RowKind.Fold && cycle.unfilled.gangsLeft > 0;
    const machines = [...claims.slots.subarray(from, claims.count)];
    const credited = waits ? claims.creditEnd[rankedRow]! - claims.creditStart[rankedRow]! : 0;
    cycle.undoTrial(rankedRow, from);
    if (unhosted) {
      // Its members become ranked rows of their own, which only the thread that owns the ranked rows can add.
      this.#broker.leave(this.#row);
      this.#step = Step.Dequeue;
      return;
    }
    this.#proposal = proposalOf(cycle, this.#conflictKeys, this.#row, rankedRow, machines, credited, {
      observed: this.#observed,
      clock: this.#read,
    });
    this.#step = Step.Propose;
  }

  #propose(): void {
    const proposal = this.#proposal!;
    const outcome =
      proposal.machines.length === 0 ? this.#broker.abstain(proposal) : this.#broker.propose(proposal);
    this.#step = outcome.status === 'conflict' ? Step.Observe : Step.Dequeue;
  }
}

/**
 * Runs lanes on this thread, in rotation, until the barrier is reached; `deserted` tells whether a lane of another thread
 * is gone.
 */
export function driveLanes(cycle: Cycle, work: LaneWork, count: number, deserted: () => boolean): void {
  const lanes = Array.from({ length: count }, () => new Lane(cycle, work));
  try {
    for (let running = true; running; ) {
      running = false;
      for (const lane of lanes) if (lane.step()) running = true;
      if (!running || lanes.some((lane) => !lane.idle)) continue;
      lanes[0]!.rest();
      if (deserted()) lanes[0]!.inherit();
    }
  } catch (error) {
    for (const lane of lanes) lane.leave();
    throw error;
  }
}

/** Gangs acquire all machines or none. */
export function modeOf({ rankedRows }: Cycle, rankedRow: number): Mode {
  return rankedRows.kind[rankedRow] === RowKind.Gang ? Mode.AllOrNothing : Mode.Incremental;
}

export function proposalOf(
  cycle: Cycle,
  conflictKeys: ConflictKeys,
  row: number,
  rankedRow: number,
  machines: readonly number[],
  credited: number,
  view: Pick<Proposal, 'observed' | 'clock'>,
): Proposal {
  const kind = cycle.rankedRows.kind[rankedRow];
  return {
    row,
    mode: modeOf(cycle, rankedRow),
    machines,
    credited,
    conflictKeys: conflictKeys.keysReadBy(cycle, rankedRow),
    sensitive: kind === RowKind.Gang || kind === RowKind.Spread,
    ...view,
  };
}
