// The controller's thread (worker side; started by controller-thread.ts). Handles messages in order and posts the results of
// one turn of the event loop together. An uncaught error ends the thread and is reported to the main thread: a controller in
// an unknown state must not continue.

import { Random } from '../../runtime/random.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import { WorkerPort } from '../../runtime/worker-port.ts';
import { chunksOf } from './chunks.ts';
import type {
  ControllerThreadStart,
  DecisionController,
  FromController,
  MakeController,
  ToController,
} from './controller-protocol.ts';
import { DemandReceiver } from './demand-codec.ts';
import { pace } from './pacing.ts';

/** Poll interval for in-flight work of a controller that stops. */
const IDLE_POLL_MS = 10;

const port = new WorkerPort<ControllerThreadStart, FromController, ToController>(chunksOf);
const { factory, setup, pacing } = port.start;
const demand = new DemandReceiver();
let isStopping = false;
let isClosed = false;

function handle(controller: DecisionController, item: ToController['item']): void {
  if (item.kind === 'demand-delta') {
    const { delta, rowsSetAside } = item;
    controller.handle({ kind: 'demand', delta: demand.unpack(delta), rowsSetAside });
  } else if (item.kind === 'demand-part') demand.receive(item.part);
  else if (item.kind === 'stop') void stop(controller, item.withinMs);
  else controller.handle(item);
}

/** Questions are read-only, so an error is returned to the caller. The error of an order ends the thread. */
function reply(
  controller: DecisionController,
  request: ToController['request'],
  answer: (answer: unknown) => void,
  refuse: (error: unknown) => void,
): void {
  if (request.kind === 'order') {
    answer(controller.order(request.order));
    return;
  }
  try {
    // `ControllerThread.ask` checks that name and argument match; that type does not survive the thread boundary.
    answer(controller.ask(request.name, request.ask as never));
  } catch (error) {
    refuse(error);
  }
}

async function stop(controller: DecisionController, withinMs: number): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  controller.stop();
  const endMs = performance.now() + withinMs;
  while (!controller.isIdle && performance.now() < endMs) {
    await new Promise((resolve) => setTimeout(resolve, IDLE_POLL_MS));
  }
  isClosed = true;
  await controller.close();
  port.queue({ kind: 'closed' });
}

const { makeController } = (await import(factory)) as { readonly makeController: MakeController };
const controller = await makeController(
  {
    clock: systemClock,
    random: new Random(setup.options.seed),
    monotonicMs: () => performance.now(),
    emit: (effect) => port.queue({ kind: 'effect', effect }),
    publish: (event) => port.queue({ kind: 'shard-event', event }),
    onCycle: pacing && ((isRunning) => pace(pacing, isRunning)),
  },
  setup,
);
controller.start();
port.listen({
  onItem: (item) => {
    if (!isClosed) handle(controller, item);
  },
  onRequest: (request, answer, refuse) => {
    if (!isClosed) reply(controller, request, answer, refuse);
  },
});
