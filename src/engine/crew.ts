// The crew: worker threads that share rounds of work with the thread that runs the cycle. They are started once,
// parked between rounds, and woken through shared memory; nothing but changes of the tables is ever copied to them.
// A thread that is not up yet, has failed or has gone is left out of the round: that costs time, never a cycle.

import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { type Supply, withRoom } from '../fleet/index.ts';
import { moduleBeside } from '../model/index.ts';
import type { Cycle } from './cycle.ts';
import { driveLanes, type LaneWork } from './lane.ts';
import { Looking, type Reflection } from './mirror.ts';
import { PIECEWORK, type Round } from './round.ts';

/** Places in the block of numbers that all threads share. */
const Control = {
  /** Next entry of the work list that nobody has taken. */
  Next: 0,
  Length: 1,
  /** Pieces taken at a time. */
  Chunk: 2,
  /** What kind of Round it is. */
  Kind: 3,
  /** From here on three numbers per thread: its Standing, the round it is to work in (STOP: end), the last it ended. */
  Threads: 4,
} as const;
export const Standing = { Away: 0, Up: 1, Failed: 2 } as const;
export const STOP = -1;

/** Most pieces taken at a time: enough that taking is cheap, few enough that threads end together. */
const LARGEST_CHUNK = 4;
/** Below so many pieces waking the others costs more than it saves. */
export const SMALLEST_ROUND = 64;
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

/** What a thread is told before a round, if it has not seen it yet. */
export interface RoundStart {
  readonly reflection: Reflection | null;
  readonly pieces: Uint32Array;
  /** The round is none of pieces: the thread is to run a lane. */
  readonly lane: LaneStart | null;
}

/** What a lane of another thread starts from. */
export interface LaneStart {
  readonly work: LaneWork;
  readonly supply: Supply;
}

interface Member {
  readonly worker: Worker;
  readonly port: MessagePort;
  readonly place: number;
  readonly looking: Looking;
  /** The list of pieces it was told of. */
  pieces: Uint32Array | null;
}

export class Crew {
  readonly #cycle: Cycle;
  readonly #smallestRound: number;
  readonly #control: Int32Array;
  readonly #members: readonly Member[];
  #pieces = new Uint32Array(0);

  /** `workers` threads in all, this one included; rounds of fewer pieces than `smallestRound` wake nobody. */
  constructor(cycle: Cycle, workers: number, smallestRound: number) {
    this.#cycle = cycle;
    this.#smallestRound = smallestRound;
    const numbers = Control.Threads + 3 * (workers - 1);
    this.#control = new Int32Array(new SharedArrayBuffer(numbers * Int32Array.BYTES_PER_ELEMENT));
    this.#members = Array.from({ length: workers - 1 }, (_, i) => this.#hire(Control.Threads + 3 * i));
  }

  #hire(place: number): Member {
    const { port1, port2 } = new MessageChannel();
    const file = moduleBeside(import.meta.url, 'worker');
    const start: CrewStart = { control: this.#control, port: port2, place };
    const worker = new Worker(file, { workerData: start, transferList: [port2] });
    worker.unref();
    port1.unref();
    const leave = (): void => void Atomics.store(this.#control, place, Standing.Away);
    worker.on('error', leave).on('exit', leave);
    return { worker, port: port1, place, looking: new Looking(this.#cycle), pieces: null };
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

  /** Does a round; returns when every piece of it is done. */
  run(kind: Round, pieces: readonly number[]): void {
    this.begin(kind, pieces)();
  }

  /** Begins a round on the other threads. It has to be ended before another begins: that does what is left, and waits. */
  begin(kind: Round, pieces: readonly number[]): () => void {
    const control = this.#control;
    const { undo, work } = PIECEWORK[kind];
    const members = pieces.length < this.#smallestRound ? [] : this.#up();
    if (members.length === 0) {
      for (const piece of pieces) work(this.#cycle, piece);
      return () => {};
    }
    this.#pieces = withRoom(this.#pieces, pieces.length);
    this.#pieces.set(pieces);
    const share = Math.ceil(pieces.length / (4 * (members.length + 1)));
    Atomics.store(control, Control.Kind, kind);
    Atomics.store(control, Control.Chunk, Math.min(LARGEST_CHUNK, share));
    Atomics.store(control, Control.Next, 0);
    Atomics.store(control, Control.Length, pieces.length);
    for (const member of members) this.#wake(member);
    return () => {
      try {
        takeChunks(this.#cycle, control, this.#pieces);
      } finally {
        for (const member of members) this.#await(member);
      }
      // Nobody can tell how far a thread got that failed in its round: do everything again, alone.
      if (members.some(({ place }) => Atomics.load(control, place) !== Standing.Up)) {
        for (const piece of pieces) undo(this.#cycle, piece);
        for (const piece of pieces) work(this.#cycle, piece);
      }
    };
  }

  /** Runs lanes until the barrier is reached: one on each other thread, the rest in turn on this one. */
  drive(lanes: number, work: LaneWork): void {
    const members = this.#up().slice(0, lanes - 1);
    const lane = { work, supply: this.#cycle.fleet.machines.supply() };
    for (const member of members) this.#wake(member, lane);
    try {
      const gone = (): boolean =>
        members.some(({ place }) => Atomics.load(this.#control, place) !== Standing.Up);
      driveLanes(this.#cycle, work, lanes - members.length, gone);
    } finally {
      for (const member of members) this.#await(member);
    }
  }

  #wake(member: Member, lane: LaneStart | null = null): void {
    const { looking, place, port } = member;
    const reflection = looking.look();
    if (reflection !== null || lane !== null || member.pieces !== this.#pieces) {
      const start: RoundStart = { reflection, pieces: this.#pieces, lane };
      port.postMessage(start);
      member.pieces = this.#pieces;
    }
    Atomics.add(this.#control, place + 1, 1);
    Atomics.notify(this.#control, place + 1);
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

/** Takes pieces of the round off the list and does them until the list is empty. */
export function takeChunks(cycle: Cycle, control: Int32Array, pieces: Uint32Array): void {
  const length = Atomics.load(control, Control.Length);
  const chunk = Atomics.load(control, Control.Chunk);
  const { work } = PIECEWORK[Atomics.load(control, Control.Kind) as Round];
  for (;;) {
    const from = Atomics.add(control, Control.Next, chunk);
    if (from >= length) return;
    for (let i = from; i < Math.min(from + chunk, length); i++) work(cycle, pieces[i]!);
  }
}
