// The controller's thread. Handles messages in order and posts the results of one turn together. An uncaught error ends the
// thread and is reported to its owner: a controller in an unknown state must not go on.

import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { Random } from '../../runtime/random.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import { chunksOf } from './chunks.ts';
import type {
  ControllerThreadStart,
  DecisionController,
  FromController,
  MakeController,
  ToController,
} from './controller-protocol.ts';
import { DemandReceiver } from './demand-codec.ts';

/** Poll interval for in-flight work of a controller that stops. */
const IDLE_LOOK_MS = 10;

const bell: MessagePort = parentPort!;
const { factory, setup, port } = workerData as ControllerThreadStart;
const demand = new DemandReceiver();
let outbox: FromController[] = [];
let taken = 0;
let isRingDue = false;
let isStopping = false;
let isClosed = false;

function say(item: FromController): void {
  outbox.push(item);
  ringSoon();
}

/** At the end of this turn, be it a message or a timer of the controller. */
function ringSoon(): void {
  if (isRingDue) return;
  isRingDue = true;
  queueMicrotask(ring);
}

function ring(): void {
  isRingDue = false;
  for (const chunk of chunksOf(outbox)) port.postMessage(chunk);
  outbox = [];
  bell.postMessage(taken);
}

function take(controller: DecisionController, item: ToController): void {
  if (item.kind === 'demand-delta') {
    const { delta, rowsSetAside } = item;
    controller.handle({ kind: 'demand', cluster: delta.cluster, needs: demand.unpack(delta), rowsSetAside });
  } else if (item.kind === 'demand-part') demand.receive(item.part);
  else if (item.kind === 'ask') answer(controller, item);
  else if (item.kind === 'order') say({ kind: 'answer', id: item.id, answer: controller.order(item.order) });
  else if (item.kind === 'stop') void stop(controller, item.withinMs);
  else controller.handle(item);
}

/** Questions are read-only: an error is returned to the asker and does not end the thread. */
function answer(
  controller: DecisionController,
  { id, name, ask }: Extract<ToController, { readonly kind: 'ask' }>,
): void {
  let item: FromController;
  try {
    // What belongs together was said where the question was put; it cannot be told again here.
    item = { kind: 'answer', id, answer: controller.ask(name, ask as never) };
  } catch (error) {
    item = { kind: 'refusal', id, error: error instanceof Error ? error : new Error(String(error)) };
  }
  say(item);
}

async function stop(controller: DecisionController, withinMs: number): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  controller.stop();
  const lastMs = performance.now() + withinMs;
  while (!controller.isIdle && performance.now() < lastMs) {
    await new Promise((resolve) => setTimeout(resolve, IDLE_LOOK_MS));
  }
  isClosed = true;
  await controller.close();
  say({ kind: 'closed' });
}

const { makeController } = (await import(factory)) as { readonly makeController: MakeController };
const controller = await makeController(
  {
    clock: systemClock,
    random: new Random(setup.options.seed),
    monotonicMs: () => performance.now(),
    emit: (effect) => say({ kind: 'effect', effect }),
    tell: (event) => say({ kind: 'news', event }),
  },
  setup,
);
bell.on('message', (items: readonly ToController[]) => {
  for (const item of items) if (!isClosed) take(controller, item);
  taken += items.length;
  ringSoon();
});
controller.start();
ringSoon();
