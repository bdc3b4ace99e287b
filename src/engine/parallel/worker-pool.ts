// Pool of worker threads that share steps of work with the thread that runs the cycle. They are started once, parked
// between steps, and woken through shared memory; only changes of the tables are copied to them. A thread that is not
// up yet, has failed or has exited is left out of the step: that costs time, never a cycle. engine.ts owns it; solve.ts
// and lanes.ts share steps through it.

import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { withRoom } from '../../collections/columns.ts';
import { SupplyPublisher, type SupplyUpdate } from '../../fleet/index.ts';
import { moduleBeside } from '../../runtime/module-path.ts';
import { LanesAbandoned } from '../assign/serve.ts';
import type { Cycle } from '../cycle.ts';
import { awaitValue } from './await-value.ts';
import type { ClusterWork } from './cluster-lane.ts';
import type { LaneWork } from './lane.ts';
import type { LaneResult } from './lane-result.ts';
import { type ParallelStep, TASKS } from './parallel-step.ts';
import { SharedStatePublisher, type SharedStateUpdate } from './shared-state.ts';
import { abandon } from './turns.ts';

/** Offsets in the control block that all threads share. */
const Control = {
  /** Index of the next task that no thread has claimed. */
  Next: 0,
  Length: 1,
  /** Tasks claimed at a time. */
  Chunk: 2,
  /** A value of `ParallelStep`. */
  Kind: 3,
  /** From here on three numbers per thread: its WorkerState, the step it must run (STOP: exit), the last step it ended. */
  Threads: 4,
} as const;
export const WorkerState = { Away: 0, Up: 1, Failed: 2 } as const;
export const STOP = -1;

/** Upper bound of tasks claimed at a time: enough that claiming is cheap, few enough that threads end together. */
const LARGEST_CHUNK = 4;
/** With fewer tasks, waking the other threads costs more than it saves. */
export const SMALLEST_STEP = 64;
/** Timeout after which a thread that has not ended its step is abandoned; a step lasts tens of milliseconds. */
const PATIENCE_MS = 60_000;
/** Reads of shared memory before a thread parks; parking and waking cost some 30 µs. */
export const SPINS = 2_000;

export interface WorkerStart {
  readonly control: Int32Array;
  readonly port: MessagePort;
  /** Offset of the thread's numbers in the control block. */
  readonly place: number;
}

/** Message to a thread before a step, sent only if something in it has changed. */
export interface StepStart {
  readonly update: SharedStateUpdate | null;
  readonly tasks: Uint32Array;
  /** Not null: the thread runs lanes instead of tasks. */
  readonly lane: LaneStart | null;
}

/** The initial state of lanes on another thread. */
export interface LaneStart {
  readonly work: LaneWork | ClusterWork;
  /** Numbers of its lanes. */
  readonly lanes: readonly number[];
  /** Null for cluster lanes, which do not read free machines. */
  readonly supply: SupplyUpdate | null;
}

interface Member {
  readonly worker: Worker;
  readonly port: MessagePort;
  readonly place: number;
  readonly publisher: SharedStatePublisher;
  readonly supplyPublisher: SupplyPublisher;
  /** The list of tasks it received last. */
  tasks: Uint32Array | null;
}

export class WorkerPool {
  readonly #cycle: Cycle;
  readonly #smallestStep: number;
  readonly #pause: () => void;
  readonly #control: Int32Array;
  readonly #members: readonly Member[];
  #tasks = new Uint32Array(0);

  /**
   * `workers` threads in all, this one included; steps of fewer tasks than `smallestStep` run on this thread alone. `pause` is
   * called after each task of a step that does.
   */
  constructor(cycle: Cycle, workers: number, smallestStep: number, pause = () => {}) {
    this.#cycle = cycle;
    this.#smallestStep = smallestStep;
    this.#pause = pause;
    const numbers = Control.Threads + 3 * (workers - 1);
    this.#control = new Int32Array(new SharedArrayBuffer(numbers * Int32Array.BYTES_PER_ELEMENT));
    this.#members = Array.from({ length: workers - 1 }, (_, i) => this.#hire(Control.Threads + 3 * i));
  }

  #hire(place: number): Member {
    const { port1, port2 } = new MessageChannel();
    const file = moduleBeside(import.meta.url, 'worker');
    const start: WorkerStart = { control: this.#control, port: port2, place };
    const worker = new Worker(file, { workerData: start, transferList: [port2] });
    worker.unref();
    port1.unref();
    const leave = (): void => void Atomics.store(this.#control, place, WorkerState.Away);
    worker.on('error', leave).on('exit', leave);
    return {
      worker,
      port: port1,
      place,
      publisher: new SharedStatePublisher(this.#cycle),
      supplyPublisher: new SupplyPublisher(),
      tasks: null,
    };
  }

  /** Threads that would run a step that began now, this one included. */
  get ready(): number {
    return 1 + this.#up().length;
  }

  /** Messages of failed threads; a failed thread is not used again. */
  readonly failures: string[] = [];

  #up(): Member[] {
    return this.#members.filter(({ place }) => Atomics.load(this.#control, place) === WorkerState.Up);
  }

  /** Runs a step; returns when all its tasks are done. */
  run(kind: ParallelStep, tasks: readonly number[]): void {
    this.begin(kind, tasks)();
  }

  /**
   * Begins a step on the other threads. The returned function does the remaining tasks and waits; it must be called before
   * another step begins.
   */
  begin(kind: ParallelStep, tasks: readonly number[]): () => void {
    const control = this.#control;
    const { undo, work } = TASKS[kind];
    const members = tasks.length < this.#smallestStep ? [] : this.#up();
    if (members.length === 0) {
      for (const task of tasks) {
        work(this.#cycle, task);
        this.#pause();
      }
      return () => {};
    }
    this.#tasks = withRoom(this.#tasks, tasks.length);
    this.#tasks.set(tasks);
    const share = Math.ceil(tasks.length / (4 * (members.length + 1)));
    Atomics.store(control, Control.Kind, kind);
    Atomics.store(control, Control.Chunk, Math.min(LARGEST_CHUNK, share));
    Atomics.store(control, Control.Next, 0);
    Atomics.store(control, Control.Length, tasks.length);
    for (const member of members) this.#wake(member);
    return () => {
      try {
        takeChunks(this.#cycle, control, this.#tasks);
      } finally {
        for (const member of members) this.#await(member);
      }
      // The progress of a thread that failed in its step is unknown: undo all tasks and run them again on this thread.
      if (members.some(({ place }) => Atomics.load(control, place) !== WorkerState.Up)) {
        for (const task of tasks) undo(this.#cycle, task);
        for (const task of tasks) work(this.#cycle, task);
      }
    };
  }

  /**
   * Runs lanes until all rows are served: `lanesOf` on each thread, first of all on this one, with `run`. Returns the results
   * of the other threads. Throws `LanesAbandoned` if a thread failed or could not go on.
   */
  drive(
    lanesOf: readonly (readonly number[])[],
    work: LaneWork | ClusterWork,
    run: () => void,
  ): readonly LaneResult[] {
    const members = this.#up().slice(0, lanesOf.length - 1);
    for (const [i, member] of members.entries()) {
      const supply =
        'requests' in work ? null : member.supplyPublisher.changesSinceLast(this.#cycle.fleet.machines);
      this.#wake(member, { work, lanes: lanesOf[i + 1]!, supply });
    }
    const results: LaneResult[] = [];
    let isComplete = true;
    try {
      run();
    } catch (error) {
      // The other threads do not wait for this one any longer.
      abandon(work.control);
      throw error;
    } finally {
      for (const member of members) {
        this.#await(member);
        const found = this.#resultsOf(member);
        isComplete &&= found !== null;
        results.push(...(found ?? []));
      }
    }
    if (!isComplete) throw new LanesAbandoned('A lane of another thread could not go on.');
    return results;
  }

  /** What the lanes of a thread have found; null if they did not end, or the thread failed. */
  #resultsOf({ place, port }: Member): readonly LaneResult[] | null {
    if (Atomics.load(this.#control, place) !== WorkerState.Up) return null;
    return receiveMessageOnPort(port)?.message ?? null;
  }

  #wake(member: Member, lane: LaneStart | null = null): void {
    const { publisher, place, port } = member;
    const update = publisher.changesSinceLast();
    if (update !== null || lane !== null || member.tasks !== this.#tasks) {
      const start: StepStart = { update, tasks: this.#tasks, lane };
      port.postMessage(start);
      member.tasks = this.#tasks;
    }
    Atomics.add(this.#control, place + 1, 1);
    Atomics.notify(this.#control, place + 1);
  }

  /** Waits until a thread has ended its step, or is abandoned. */
  #await({ place, port, worker }: Member): void {
    const control = this.#control;
    const step = Atomics.load(control, place + 1);
    const ended = awaitValue(control, place + 2, step, { spins: SPINS, patienceMs: PATIENCE_MS });
    if (ended === step && Atomics.load(control, place) === WorkerState.Up) return;
    Atomics.store(control, place, WorkerState.Failed);
    void worker.terminate();
    if (ended !== step) throw new Error(`A worker thread did not end its step within ${PATIENCE_MS} ms.`);
    this.failures.push(String(receiveMessageOnPort(port)?.message));
  }

  /** Ends the threads; cycles continue without them. */
  async close(): Promise<void> {
    for (const { place } of this.#members) {
      Atomics.store(this.#control, place, WorkerState.Away);
      Atomics.store(this.#control, place + 1, STOP);
      Atomics.notify(this.#control, place + 1);
    }
    await Promise.all(this.#members.map(({ worker }) => worker.terminate()));
  }
}

/** Claims chunks of the step's tasks and runs them until none is left. */
export function takeChunks(cycle: Cycle, control: Int32Array, tasks: Uint32Array): void {
  const length = Atomics.load(control, Control.Length);
  const chunk = Atomics.load(control, Control.Chunk);
  const { work } = TASKS[Atomics.load(control, Control.Kind) as ParallelStep];
  for (;;) {
    const from = Atomics.add(control, Control.Next, chunk);
    if (from >= length) return;
    for (let i = from; i < Math.min(from + chunk, length); i++) work(cycle, tasks[i]!);
  }
}
