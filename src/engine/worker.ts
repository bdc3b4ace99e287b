// A thread of the crew: waits for a round, takes over what changed, does pieces of it until the list is empty.

import { receiveMessageOnPort, workerData } from 'node:worker_threads';
import {
  type CrewStart,
  type LaneStart,
  type RoundStart,
  SPINS,
  STOP,
  Standing,
  takeChunks,
} from './crew.ts';
import { MirroredCycle } from './mirror.ts';

const { control, place, port } = workerData as CrewStart;
const mirror = new MirroredCycle();
let pieces: Uint32Array = new Uint32Array(0);
let lane: LaneStart | null = null;

Atomics.store(control, place, Standing.Up);
for (let round = 0; ; ) {
  for (let i = 0; i < SPINS; i++) if (Atomics.load(control, place + 1) !== round) break;
  while (Atomics.load(control, place + 1) === round) Atomics.wait(control, place + 1, round);
  round = Atomics.load(control, place + 1);
  if (round === STOP) break;
  try {
    // Messages were posted before the round began, so they are all there.
    for (let entry = receiveMessageOnPort(port); entry !== undefined; entry = receiveMessageOnPort(port)) {
      const start = entry.message as RoundStart;
      if (start.reflection !== null) mirror.takeOver(start.reflection);
      pieces = start.pieces;
      lane = start.lane;
    }
    if (lane === null) takeChunks(mirror.cycle, control, pieces);
    else mirror.drive(lane);
    lane = null;
  } catch (error) {
    port.postMessage(error instanceof Error ? (error.stack ?? error.message) : String(error));
    Atomics.store(control, place, Standing.Failed);
  }
  Atomics.store(control, place + 2, round);
  Atomics.notify(control, place + 2);
}
