// The crew: worker threads that credit clusters side by side with the thread that runs the cycle. They are started
// once, parked between cycles, and woken through shared memory; nothing but changed tables is ever copied to them.
// A thread that is not up yet, has failed or has gone is left out of the round: that costs time, never a cycle.

import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { creditCluster } from './credit.ts';
import type { Cycle } from './cycle.ts';
import { Looking, type Reflection } from './mirror.ts';
import { withRoom } from './turns.ts';

/** Places in the block of numbers that all threads share. */
const Control = {
  /** Next entry of the work list that nobody has taken. */
  Next: 0,
  Length: 1,
  /** Clusters taken at a time. */
  Chunk: 2,
  /** From here on three numbers per thread: its Standing, the round it is to work in (STOP: end), the last it ended. */
  Threads: 3,
} as const;
export const Standing = { Away: 0, Up: 1, Failed: 2 } as const;
export const STOP = -1;

/** Most clusters taken at a time: enough that taking is cheap, few enough that threads end together. */
const LARGEST_CHUNK = 16;
/** Below so many clusters waking the others costs more than it saves. */
export const SMALLEST_ROUND = 4 * LARGEST_CHUNK;
/** A thread that has not ended a round after so long has gone; a round lasts tens of milliseconds. */
const PATIENCE_MS = 60_000;
/** Looks at shared memory before a thread parks; parking and waking cost some 30 µs. */
export const SPINS = 2_000;

export interface CrewStart {
  readonly control: Int32Array;
  readonly port: MessagePort;
  /** Place of the thread's numbers in the control block. */
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
    const numbers = Control.Threads + 3 * (workers - 1);
    this.#control = new Int32Array(new SharedArrayBuffer(numbers * Int32Array.BYTES_PER_ELEMENT));
    this.#members = Array.from({ length: workers - 1 }, (_, i) => this.#hire(Control.Threads + 3 * i));
  }

  #hire(place: number): Member {
    const { port1, port2 } = new MessageChannel();
    // The published package has built files beside this one, a checkout the sources.
    const file = new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : './worker.js', import.meta.url);
    const start: CrewStart = { control: this.#control, port: port2, place };
    const worker = new Worker(file, { workerData: start, transferList: [port2] });
    worker.unref();
    port1.unref();
    const leave = (): void => void Atomics.store(this.#control, place, Standing.Away);
    worker.on('error', leave).on('exit', leave);
    return { worker, port: port1, place, looking: new Looking(this.#cycle) };
  }

  /** Threads that would work in a round that began now, this one included. */
  get ready(): number {
    return 1 + this.#up().length;
  }

  /** Messages of threads that failed; such a thread works no more. */
  readonly failures: string[] = [];

  #up(): Member[] {
    return this.#members.filter(({ place }) => Atomics.load(this.#control, place) === Standing.Up);
  }

  /** Credits all these clusters; returns when every one of them is done. */
  credit(clusters: readonly number[]): void {
    const control = this.#control;
    const members = clusters.length < this.#smallestRound ? [] : this.#up();
    if (members.length === 0) {
      for (const cluster of clusters) creditCluster(this.#cycle, cluster);
      return;
    }
    this.#work = withRoom(this.#work, clusters.length);
    this.#work.set(clusters);
    const share = Math.ceil(clusters.length / (4 * (members.length + 1)));
    Atomics.store(control, Control.Chunk, Math.min(LARGEST_CHUNK, share));
    Atomics.store(control, Control.Next, 0);
    Atomics.store(control, Control.Length, clusters.length);
    for (const { looking, place, port } of members) {
      const start: RoundStart = { reflection: looking.look(), work: this.#work };
      port.postMessage(start);
      Atomics.add(control, place + 1, 1);
      Atomics.notify(control, place + 1);
    }
    try {
      takeChunks(this.#cycle, control, this.#work);
    } finally {
      for (const member of members) this.#await(member);
    }
    // Nobody can tell how far a thread got that failed in its round: credit everything again, alone.
    if (members.some(({ place }) => Atomics.load(control, place) !== Standing.Up)) {
      for (const cluster of clusters) this.#cycle.uncredit(cluster);
      for (const cluster of clusters) creditCluster(this.#cycle, cluster);
    }
  }

  /** Waits until a thread has ended its round, or has to be given up. */
  #await({ place, port, worker }: Member): void {
    const control = this.#control;
    const round = Atomics.load(control, place + 1);
    for (let i = 0; i < SPINS; i++) if (Atomics.load(control, place + 2) === round) break;
    let ended = Atomics.load(control, place + 2);
    if (ended !== round) {
      Atomics.wait(control, place + 2, ended, PATIENCE_MS);
      ended = Atomics.load(control, place + 2);
    }
    if (ended === round && Atomics.load(control, place) === Standing.Up) return;
    Atomics.store(control, place, Standing.Failed);
    void worker.terminate();
    if (ended !== round) throw new Error(`A worker thread did not end its round within ${PATIENCE_MS} ms.`);
    this.failures.push(String(receiveMessageOnPort(port)?.message));
  }

  /** Ends the threads; cycles go on without them. */
  async close(): Promise<void> {
    for (const { place } of this.#members) {
      Atomics.store(this.#control, place, Standing.Away);
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
