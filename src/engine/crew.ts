// The crew: worker threads that credit clusters side by side with the thread that runs the cycle. They are started
// once, parked between cycles, and woken through shared memory; nothing but changed tables is ever copied to them.
// A thread that has not come up yet is left out of the round, so a slow start never holds up a cycle.

import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { creditCluster } from './credit.ts';
import type { Cycle } from './cycle.ts';
import { Looking, type Reflection } from './mirror.ts';
import { withRoom } from './turns.ts';

/** Places in the block of numbers that all threads share. */
export const Control = {
  /** Next entry of the work list that nobody has taken. */
  Next: 0,
  Length: 1,
  /** Clusters taken at a time. */
  Chunk: 2,
  /** Threads still at work. */
  Busy: 3,
  /** 1 if a thread has failed; its message waits in its port. */
  Failed: 4,
  /** From here on two numbers per thread: 1 once it is up, and the round it is to work in (STOP: end). */
  Threads: 5,
} as const;
export const STOP = -1;

/** Most clusters taken at a time: enough that taking is cheap, few enough that threads end together. */
const LARGEST_CHUNK = 16;
/** Below so many clusters waking the others costs more than it saves. */
export const SMALLEST_ROUND = 4 * LARGEST_CHUNK;
/** Looks at shared memory before a thread parks; parking and waking cost some 30 µs. */
export const SPINS = 2_000;

export interface CrewStart {
  readonly control: Int32Array;
  readonly port: MessagePort;
  /** Place of the thread's two numbers in the control block. */
  readonly place: number;
}

/** What a thread is told before a round. */
export interface RoundStart {
  readonly reflection: Reflection | null;
  readonly work: Uint32Array;
}

interface Member {
  readonly worker: Worker;
  readonly port: MessagePort;
  readonly place: number;
  readonly looking: Looking;
}

export class Crew {
  readonly #cycle: Cycle;
  readonly #smallestRound: number;
  readonly #control: Int32Array;
  readonly #members: readonly Member[];
  #work = new Uint32Array(0);

  /** `workers` threads in all, this one included; rounds of fewer clusters than `smallestRound` wake nobody. */
  constructor(cycle: Cycle, workers: number, smallestRound: number) {
    this.#cycle = cycle;
    this.#smallestRound = smallestRound;
    const numbers = Control.Threads + 2 * (workers - 1);
    this.#control = new Int32Array(new SharedArrayBuffer(numbers * Int32Array.BYTES_PER_ELEMENT));
    this.#members = Array.from({ length: workers - 1 }, (_, i) => this.#hire(Control.Threads + 2 * i));
  }

  #hire(place: number): Member {
    const { port1, port2 } = new MessageChannel();
    // The published package has built files beside this one, a checkout the sources.
    const file = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url);
    const start: CrewStart = { control: this.#control, port: port2, place };
    const worker = new Worker(file, { workerData: start, transferList: [port2] });
    worker.unref();
    port1.unref();
    return { worker, port: port1, place, looking: new Looking(this.#cycle) };
  }

  /** Threads that would work in a round that began now, this one included. */
  get ready(): number {
    return 1 + this.#members.filter(({ place }) => Atomics.load(this.#control, place) === 1).length;
  }

  /** Credits all these clusters; returns when every one of them is done. */
  credit(clusters: readonly number[]): void {
    const control = this.#control;
    const members = this.#members.filter(({ place }) => Atomics.load(control, place) === 1);
    if (members.length === 0 || clusters.length < this.#smallestRound) {
      for (const cluster of clusters) creditCluster(this.#cycle, cluster);
      return;
    }
    this.#work = withRoom(this.#work, clusters.length);
    this.#work.set(clusters);
    const share = Math.ceil(clusters.length / (4 * (members.length + 1)));
    Atomics.store(control, Control.Chunk, Math.min(LARGEST_CHUNK, share));
    Atomics.store(control, Control.Next, 0);
    Atomics.store(control, Control.Length, clusters.length);
    Atomics.store(control, Control.Busy, members.length);
    for (const { looking, place, port } of members) {
      const start: RoundStart = { reflection: looking.look(), work: this.#work };
      port.postMessage(start);
      Atomics.add(control, place + 1, 1);
      Atomics.notify(control, place + 1);
    }
    takeChunks(this.#cycle, control, this.#work);
    this.#awaitOthers();
  }

  #awaitOthers(): void {
    const control = this.#control;
    for (let i = 0; i < SPINS; i++) if (Atomics.load(control, Control.Busy) === 0) break;
    for (
      let busy = Atomics.load(control, Control.Busy);
      busy !== 0;
      busy = Atomics.load(control, Control.Busy)
    ) {
      Atomics.wait(control, Control.Busy, busy, 1_000);
    }
    if (Atomics.exchange(control, Control.Failed, 0) === 0) return;
    for (const { port } of this.#members) {
      const failure = receiveMessageOnPort(port);
      if (failure !== undefined) throw new Error(`A worker thread failed: ${String(failure.message)}`);
    }
  }

  /** Ends the threads. */
  async close(): Promise<void> {
    for (const { place } of this.#members) {
      Atomics.store(this.#control, place + 1, STOP);
      Atomics.notify(this.#control, place + 1);
    }
    await Promise.all(this.#members.map(({ worker }) => worker.terminate()));
  }
}

/** Takes clusters off the work list and credits them until the list is empty. */
export function takeChunks(cycle: Cycle, control: Int32Array, work: Uint32Array): void {
  const length = Atomics.load(control, Control.Length);
  const chunk = Atomics.load(control, Control.Chunk);
  for (;;) {
    const from = Atomics.add(control, Control.Next, chunk);
    if (from >= length) return;
    for (let i = from; i < Math.min(from + chunk, length); i++) creditCluster(cycle, work[i]!);
  }
}
