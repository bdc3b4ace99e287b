// A lane: solves rows one after the other against a view of its own, and proposes what it picked to the broker. Its view
// holds the claims of all better-ranked rows that are committed and of no other row, in rank order, so that a row is
// solved by the same code, with the same result, as if it were served in its turn.

import { Broker, type BrokerMemory, Mode, type Proposal } from './broker.ts';
import { Buckets } from './buckets.ts';
import { Credit, Cycle } from './cycle.ts';
import { serve } from './serve.ts';
import { TurnKind } from './turns.ts';

/** What a lane has to know, wherever it runs. */
export interface LaneWork {
  readonly memory: BrokerMemory;
  /** Turns in rank order. */
  readonly order: Uint32Array;
  /** Where the claims of the pass begin. */
  readonly passStart: number;
  /** Buckets of clusters have numbers from here on. */
  readonly patternCount: number;
}

/** What a lane does next. */
const Step = { Dequeue: 0, Observe: 1, Solve: 2, Propose: 3 } as const;
type Step = (typeof Step)[keyof typeof Step];

export class Lane {
  readonly #cycle: Cycle;
  readonly #broker: Broker;
  readonly #buckets: Buckets;
  /** Turns in rank order. */
  readonly #order: Uint32Array;
  /** Claims of committed rows, as far as the log was read. */
  readonly #committed: (Int32Array | undefined)[] = [];
  /** Committed rows that the view holds, in rank order, and where the claims of each begin. */
  readonly #rows: number[] = [];
  readonly #starts: number[] = [];
  /** The view holds every committed row before this one. */
  #built = 0;
  #read = 0;

  #step: Step = Step.Dequeue;
  #row = -1;
  #observed: number[] = [];
  #proposal: Proposal | null = null;

  constructor(cycle: Cycle, { memory, order, passStart, patternCount }: LaneWork) {
    const trial = Cycle.trialOf(cycle, passStart);
    const buckets = new Buckets(trial, order, patternCount);
    this.#cycle = trial;
    this.#broker = new Broker(memory, (slot) => buckets.of(slot));
    this.#buckets = buckets;
    this.#order = order;
  }

  /** One step; between two steps other lanes may do whatever they like. Says false when the barrier is reached. */
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

  /** Gives up: what this lane has in flight is left to the barrier. */
  leave(): void {
    if (this.#step !== Step.Dequeue) this.#broker.leave(this.#row);
    this.#step = Step.Dequeue;
  }

  /** Waits a little for others. */
  rest(): void {
    this.#broker.rest();
  }

  /** Nobody else is left: what others had in flight is left to the barrier. */
  inherit(): void {
    this.#broker.leaveAll();
  }

  /** Whether there is nothing to do before another lane has committed or given up something. */
  get idle(): boolean {
    return this.#step === Step.Dequeue && this.#row === -1;
  }

  /** Sequence numbers first, then the view: what changes meanwhile makes the numbers stale, never the reverse. */
  #observe(): void {
    const buckets = this.#buckets.readBy(this.#cycle, this.#order[this.#row]!);
    this.#observed = buckets.map((bucket) => this.#broker.sequenceOf(bucket));
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
      this.#cycle.rewind(this.#starts.pop()!);
    }
    this.#built = Math.min(this.#built, row);
  }

  #adopt(row: number): void {
    const machines = this.#committed[row];
    if (machines === undefined || machines.length === 0) return;
    this.#rows.push(row);
    this.#starts.push(this.#cycle.claimCount);
    for (const slot of machines) this.#cycle.adopt(this.#order[row]!, slot);
  }

  #solve(): void {
    const cycle = this.#cycle;
    const turn = this.#order[this.#row]!;
    const from = cycle.claimCount;
    const waits = cycle.outcome[turn] === Credit.Waits;
    serve(cycle, turn);
    const unhosted = cycle.turns.kind[turn] === TurnKind.Fold && cycle.unfilled.gangsLeft > 0;
    const machines = [...cycle.claims.subarray(from, cycle.claimCount)];
    const credited = waits ? cycle.creditEnd[turn]! - cycle.creditStart[turn]! : 0;
    cycle.takeBack(turn, from);
    cycle.pass.clear();
    cycle.restamped = [];
    cycle.gangs.clear();
    if (unhosted) {
      // Its members become turns of their own, which only the thread that owns the turns can give them.
      this.#broker.leave(this.#row);
      this.#step = Step.Dequeue;
      return;
    }
    this.#proposal = proposalOf(cycle, this.#buckets, this.#row, turn, machines, credited, {
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

/** Runs lanes on this thread, in turn, until the barrier is reached; `deserted` says that another thread's has gone. */
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

/** Gangs are acquired whole or not at all. */
export function modeOf({ turns }: Cycle, turn: number): Mode {
  return turns.kind[turn] === TurnKind.Gang ? Mode.AllOrNothing : Mode.Incremental;
}

export function proposalOf(
  cycle: Cycle,
  buckets: Buckets,
  row: number,
  turn: number,
  machines: readonly number[],
  credited: number,
  view: Pick<Proposal, 'observed' | 'clock'>,
): Proposal {
  const kind = cycle.turns.kind[turn];
  return {
    row,
    mode: modeOf(cycle, turn),
    machines,
    credited,
    buckets: buckets.readBy(cycle, turn),
    sensitive: kind === TurnKind.Gang || kind === TurnKind.Spread,
    ...view,
  };
}
