// A thread of the crew: waits for a round, takes over what changed, credits clusters until the list is empty.

import { receiveMessageOnPort, workerData } from 'node:worker_threads';
import { Control, type CrewStart, SPINS, STOP, takeChunks } from './crew.ts';
import { MirroredCycle, type Reflection } from './mirror.ts';

const { control, port } = workerData as CrewStart;
const mirror = new MirroredCycle();
let work: Uint32Array = new Uint32Array(0);

for (let round = 0; ; ) {
  for (let i = 0; i < SPINS; i++) if (Atomics.load(control, Control.Round) !== round) break;
  while (Atomics.load(control, Control.Round) === round) Atomics.wait(control, Control.Round, round);
  round = Atomics.load(control, Control.Round);
  if (round === STOP) break;
  try {
    // Messages were posted before the round began, so they are all there.
    for (let entry = receiveMessageOnPort(port); entry !== undefined; entry = receiveMessageOnPort(port)) {
      const message = entry.message as {
        readonly reflection: Reflection | null;
        readonly work: Uint32Array;
      };
      if (message.reflection !== null) mirror.takeOver(message.reflection);
      work = message.work;
    }
    takeChunks(mirror.cycle, control, work);
  } catch (error) {
    port.postMessage(error instanceof Error ? (error.stack ?? error.message) : String(error));
    Atomics.store(control, Control.Failed, 1);
  }
  Atomics.sub(control, Control.Busy, 1);
  Atomics.notify(control, Control.Busy);
}
