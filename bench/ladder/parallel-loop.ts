// A plain parallel loop for speedup.ts: reads every column of the fleet once, on this thread alone or split evenly
// among several. Its speed-up is what the machine provides at that moment; cycles are compared with it and not with the
// number of cores. As a worker thread, this file reads one share.

import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import type { Fleet } from '../../src/fleet/index.ts';
import { ledgerColumns, passOver, type UsedColumn } from '../floor.ts';

/** Places in the block of numbers that all threads share. */
const Control = { Round: 0, Done: 1 } as const;
const STOP = -1;

interface Share {
  readonly control: Int32Array;
  readonly columns: readonly UsedColumn[];
  readonly passes: number;
}

/** Target duration of a loop, long enough that the time to wake a thread is negligible. */
const LOOP_MS = 40;

export class ParallelLoop {
  readonly #control = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  readonly #whole: readonly UsedColumn[];
  readonly #own: readonly UsedColumn[];
  readonly #passes: number;
  readonly #workers: readonly Worker[];
  readonly #up: Promise<unknown>;

  /** `threads` in all, this one included. */
  constructor(fleet: Fleet, threads: number) {
    this.#whole = ledgerColumns(fleet);
    this.#passes = passesFor(this.#whole);
    this.#own = shareOf(this.#whole, 0, threads);
    this.#workers = Array.from({ length: threads - 1 }, (_, i) => {
      const columns = shareOf(this.#whole, i + 1, threads);
      const share: Share = { control: this.#control, columns, passes: this.#passes };
      return new Worker(new URL(import.meta.url), { workerData: share });
    });
    this.#up = Promise.all(
      this.#workers.map((worker) => new Promise((resolve) => worker.once('message', resolve))),
    );
  }

  /** Waits until all threads have started. */
  async ready(): Promise<void> {
    await this.#up;
  }

  /** Milliseconds of the loop on this thread alone. */
  alone(): number {
    const start = performance.now();
    passOver(this.#whole, this.#passes);
    return performance.now() - start;
  }

  /** Milliseconds of the loop on all threads. */
  together(): number {
    const start = performance.now();
    Atomics.store(this.#control, Control.Done, 0);
    Atomics.add(this.#control, Control.Round, 1);
    Atomics.notify(this.#control, Control.Round);
    passOver(this.#own, this.#passes);
    let done = Atomics.load(this.#control, Control.Done);
    while (done < this.#workers.length) {
      Atomics.wait(this.#control, Control.Done, done);
      done = Atomics.load(this.#control, Control.Done);
    }
    return performance.now() - start;
  }

  async close(): Promise<void> {
    Atomics.store(this.#control, Control.Round, STOP);
    Atomics.notify(this.#control, Control.Round);
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}

/** An even share of every column: the same work for each thread, since the kinds of column differ in cost. */
function shareOf(columns: readonly UsedColumn[], index: number, of: number): readonly UsedColumn[] {
  return columns.map(({ column, used }) => {
    const from = Math.floor((used * index) / of);
    const to = Math.floor((used * (index + 1)) / of);
    return { column: column.subarray(from, to), used: to - from };
  });
}

function passesFor(columns: readonly UsedColumn[]): number {
  let passes = 1;
  for (;;) {
    const start = performance.now();
    passOver(columns, passes);
    if (performance.now() - start >= LOOP_MS) return passes;
    passes *= 2;
  }
}

function work({ control, columns, passes }: Share): void {
  // The loops should be compiled before anything is timed.
  passOver(columns, passes);
  parentPort?.postMessage('up');
  for (let round = 0; ; ) {
    Atomics.wait(control, Control.Round, round);
    round = Atomics.load(control, Control.Round);
    if (round === STOP) return;
    passOver(columns, passes);
    Atomics.add(control, Control.Done, 1);
    Atomics.notify(control, Control.Done);
  }
}

if (!isMainThread) work(workerData as Share);
