// A thread of the pool: waits for a step, applies the update, and runs tasks until none is left. Started by
// worker-pool.ts.

import { receiveMessageOnPort, workerData } from 'node:worker_threads';
import { LanesAbandoned } from '../assign/serve.ts';
import type { LaneResult } from './lane-result.ts';
import { WorkerCycle } from './shared-state.ts';
import { abandon } from './turns.ts';
import {
  type LaneStart,
  SPINS,
  STOP,
  type StepStart,
  takeChunks,
  type WorkerStart,
  WorkerState,
} from './worker-pool.ts';

const { control, place, port } = workerData as WorkerStart;
const workerCycle = new WorkerCycle();
let tasks: Uint32Array = new Uint32Array(0);
let lane: LaneStart | null = null;

Atomics.store(control, place, WorkerState.Up);
for (let step = 0; ; ) {
  for (let i = 0; i < SPINS; i++) if (Atomics.load(control, place + 1) !== step) break;
  while (Atomics.load(control, place + 1) === step) Atomics.wait(control, place + 1, step);
  step = Atomics.load(control, place + 1);
  if (step === STOP) break;
  try {
    // Messages were posted before the step began, so all have arrived.
    for (let entry = receiveMessageOnPort(port); entry !== undefined; entry = receiveMessageOnPort(port)) {
      const start = entry.message as StepStart;
      if (start.update !== null) workerCycle.takeOver(start.update);
      tasks = start.tasks;
      lane = start.lane;
    }
    if (lane === null) takeChunks(workerCycle.cycle, control, tasks);
    else port.postMessage(lanesOf(lane));
    lane = null;
  } catch (error) {
    port.postMessage(error instanceof Error ? (error.stack ?? error.message) : String(error));
    Atomics.store(control, place, WorkerState.Failed);
  }
  Atomics.store(control, place + 2, step);
  Atomics.notify(control, place + 2);
}

/** The results of lanes; null if one cannot go on. */
function lanesOf(start: LaneStart): readonly LaneResult[] | null {
  try {
    return workerCycle.drive(start);
  } catch (error) {
    // The other threads do not wait for this one any longer.
    abandon(start.work.control);
    if (error instanceof LanesAbandoned) return null;
    throw error;
  }
}
