// Test support: a scripted controller, which controller-thread.test.ts (test/shard) runs on the thread of the
// controller. Commands arrive as the names of acknowledged instructions, `command:argument`; results are returned in
// effects that carry a text.

import fc from 'fast-check';
import { Engine } from '../../src/engine/index.ts';
import { Fleet } from '../../src/fleet/index.ts';
import { type Need, type RollupDelta, rowsAfter } from '../../src/model/index.ts';
import type { ControllerEvent, Effect } from '../../src/shard/events.ts';
import type {
  ControllerEnvironment,
  DecisionController,
  MakeController,
} from '../../src/shard/process/controller-protocol.ts';
import type { Answer, Order, OrderResult, QuestionName } from '../../src/shard/views.ts';
import { replaceContent, threadsStarted } from '../../test/engine/warm.ts';
import { planText } from '../oracle/invariants.ts';
import { fleets } from './fleets.ts';

export function command(text: string): ControllerEvent {
  return { kind: 'reclaim-acked', instruction: text };
}

export function textEffect(text: string): Effect {
  return { kind: 'withdraw-reclaim', cluster: '', instruction: text, machine: '', staysBecause: null };
}

/** The plan for a fixed fleet, with `workers` threads. */
export async function planWith(workers: number): Promise<string> {
  const [input] = fc.sample(fleets({ machines: 40, needs: 20 }), { numRuns: 1, seed: 7 });
  const fleet = new Fleet();
  const engine = new Engine(fleet, { workers, smallestStep: 1 });
  try {
    await threadsStarted(engine, workers);
    replaceContent(fleet, undefined, input!);
    return planText(engine.decide(input!.nowMs, input!.options).plan());
  } finally {
    await engine.close();
  }
}

class ScriptedController implements DecisionController {
  readonly environment: ControllerEnvironment;
  readonly #fleet = new Fleet();
  readonly #rows = new Map<string, readonly Need[]>();
  readonly #received: string[] = [];
  isIdle = true;

  constructor(environment: ControllerEnvironment) {
    this.environment = environment;
  }

  start(): void {
    this.emitText('started');
  }

  handle(event: ControllerEvent): void {
    this.#received.push(event.kind === 'reclaim-acked' ? event.instruction : event.kind);
    if (event.kind === 'demand') this.#report(event.delta);
    else if (event.kind === 'bootstrap-answered') this.#takeBlob(event.blob!);
    else if (event.kind === 'reclaim-acked') {
      const [name, argument = ''] = event.instruction.split(':');
      COMMANDS[name!]!(this, argument);
    }
  }

  ask<Q extends QuestionName>(name: Q): Answer<Q> {
    if (name !== 'metrics') throw new TypeError(`there is no query ${name}`);
    const text: Answer<'metrics'> = this.#received.join(' ');
    return text as Answer<Q>;
  }

  order(order: Order): OrderResult {
    if (order.kind === 'unfreeze') throw new Error('an order that breaks it');
    return { isDone: true, message: `${order.kind} by ${order.who}` };
  }

  stop(): void {
    this.emitText('stopping');
  }

  async close(): Promise<void> {
    this.emitText('closing');
  }

  emitText(text: string): void {
    this.environment.emit(textEffect(text));
  }

  /** A blob in shared memory is a gate: blocks until it is opened. */
  #takeBlob(blob: Uint8Array): void {
    if (blob.buffer instanceof SharedArrayBuffer) Atomics.wait(new Int32Array(blob.buffer), 0, 0);
    this.emitText(`blob of ${blob.length}`);
  }

  #report(delta: RollupDelta): void {
    const { cluster, fresh } = delta;
    const needs = rowsAfter(this.#rows.get(cluster) ?? [], delta);
    this.#rows.set(cluster, needs);
    this.#fleet.demand.apply(delta);
    const same = needs.length - fresh.length;
    const profiles = new Set(needs.map(({ profile }) => profile)).size;
    this.emitText(`${needs.length} rows, ${same} known, ${profiles} profiles`);
  }
}

const COMMANDS: Readonly<Record<string, (controller: ScriptedController, argument: string) => void>> = {
  say: (controller, text) => controller.emitText(text),
  burst: (controller, count) => {
    for (let i = 0; i < Number(count); i++) controller.emitText(`${i}`);
  },
  event: ({ environment }, event) => environment.publish({ kind: 'log', level: 'info', event, fields: {} }),
  work: (controller, ms) => {
    controller.isIdle = false;
    controller.environment.clock.after(Number(ms), () => {
      controller.isIdle = true;
      controller.emitText('worked');
    });
  },
  plan: (controller, workers) => void planWith(Number(workers)).then((plan) => controller.emitText(plan)),
  throw: loseItsMind,
  'throw-later': ({ environment }) => void environment.clock.after(1, loseItsMind),
  reject: () => void Promise.reject(new RangeError('out of its mind')),
  exit: () => process.exit(3),
};

function loseItsMind(): never {
  throw new RangeError('out of its mind');
}

export const makeController: MakeController = (environment, { file }) => {
  if (file === 'broken') throw new Error('the store cannot be opened');
  return new ScriptedController(environment);
};
