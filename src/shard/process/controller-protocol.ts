// Messages between the main thread (controller-thread.ts) and the controller's thread (controller-worker.ts), and the
// interface of the controller on that thread.

import type { Clock } from '../../runtime/clock.ts';
import type { Traffic } from '../../runtime/message-exchange.ts';
import type { Random } from '../../runtime/random.ts';
import type { ControllerEvent, Effect } from '../events.ts';
import type { JournalThreadStart } from '../journal/journal-thread.ts';
import type { ControllerOptions } from '../planning/options.ts';
import type { Answer, Order, OrderResult, QuestionName, Questions, ShardEvent } from '../views.ts';
import type { DemandPart, PackedDelta } from './demand-codec.ts';

/** A controller as its thread sees it. */
export interface DecisionController {
  /** There is no in-flight work that a stop would cut off. */
  readonly isIdle: boolean;
  start(): void;
  handle(event: ControllerEvent): void;
  ask<Q extends QuestionName>(name: Q, ask: Questions[Q]['ask']): Answer<Q>;
  order(order: Order): OrderResult;
  /** Accepts no new work, and hands back actions that were not sent to a provider. */
  stop(): void;
  close(): Promise<void>;
}

/** Clock, randomness and outputs that the thread provides to the controller. */
export interface ControllerEnvironment {
  readonly clock: Clock;
  readonly random: Random;
  readonly monotonicMs: () => number;
  readonly emit: (effect: Effect) => void;
  readonly publish: (event: ShardEvent) => void;
  readonly onCycle?: ((isRunning: boolean) => void) | undefined;
}

/** Plain data that a controller is created from; copied to its thread. */
export interface ControllerSetup {
  readonly options: ControllerOptions;
  /** Path of the controller's store. */
  readonly file: string;
  /** undefined: no journal is written. */
  readonly journal?: JournalThreadStart | undefined;
}

/** A module that makes controllers exports this as `makeController`. */
export type MakeController = (
  environment: ControllerEnvironment,
  setup: ControllerSetup,
) => DecisionController | Promise<DecisionController>;

export interface ControllerThreadStart {
  /** URL of a module with a `makeController`, so that tests can run another one (testing/support/thread-controller.ts). */
  readonly factory: string;
  readonly setup: ControllerSetup;
  /** Shared with threads that stand back while a cycle runs; see pacing.ts. */
  readonly pacing?: Int32Array | undefined;
}

type Demand = Extract<ControllerEvent, { readonly kind: 'demand' }>;

export interface ToController extends Traffic {
  readonly item:
    | Exclude<ControllerEvent, Demand>
    | { readonly kind: 'demand-part'; readonly part: DemandPart }
    | { readonly kind: 'demand-delta'; readonly delta: PackedDelta; readonly rowsSetAside: number }
    | { readonly kind: 'stop'; readonly withinMs: number };
  readonly request:
    | { readonly kind: 'ask'; readonly name: QuestionName; readonly ask: object }
    | { readonly kind: 'order'; readonly order: Order };
  /** An `Answer` or an `OrderResult`. */
  readonly answer: unknown;
}

export interface FromController extends Traffic {
  readonly item:
    | { readonly kind: 'effect'; readonly effect: Effect }
    | { readonly kind: 'shard-event'; readonly event: ShardEvent }
    /** The controller is closed; no message follows. */
    | { readonly kind: 'closed' };
  readonly request: never;
}
