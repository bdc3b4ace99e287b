// Every limit of actuation, with its default.

import { MachineState } from '../../../model/index.ts';
import type { BackoffLimits } from '../backoff.ts';

export interface ActuationLimits {
  /** How long an operator may take to render a blob. */
  readonly bootstrapMs: number;
  /** Times a mutation is called before the machine is given up for now. Each is several attempts of the client. */
  readonly attempts: number;
  /** Between two calls for one action. */
  readonly retry: BackoffLimits;
  /** How long a machine whose action failed is kept out of decisions. */
  readonly machine: BackoffLimits;
  /** How long nothing of an offering is bought after a stock-out. */
  readonly offering: BackoffLimits;
  /** How long a cluster that sent no blob is asked for none. */
  readonly cluster: BackoffLimits;
  /** Actions that may wait for a provider. More than a few cycles' worth only grows stale. */
  readonly queuePerProvider: number;
  /** How long a machine may stay in each state before a Get decides; a drain has its grace on top. */
  readonly deadlineMs: Readonly<Record<TransitionalState, number>>;
  /** Ended actions that are kept to be shown. */
  readonly records: number;
}

export type TransitionalState =
  | typeof MachineState.Creating
  | typeof MachineState.Configuring
  | typeof MachineState.Draining
  | typeof MachineState.Deleting;

export function isTransitional(state: MachineState): state is TransitionalState {
  return (
    state === MachineState.Creating ||
    state === MachineState.Configuring ||
    state === MachineState.Draining ||
    state === MachineState.Deleting
  );
}

const MINUTE_MS = 60_000;

export const ACTUATION_LIMITS: ActuationLimits = {
  bootstrapMs: 30_000,
  attempts: 3,
  retry: { baseMs: 1000, maxMs: 30_000 },
  machine: { baseMs: 10_000, maxMs: 10 * MINUTE_MS },
  offering: { baseMs: 30_000, maxMs: 15 * MINUTE_MS },
  cluster: { baseMs: 5000, maxMs: 5 * MINUTE_MS },
  queuePerProvider: 10_000,
  // Providers of the kit give up after 5 minutes, drains after 10; ours come later, so that theirs are heard first.
  deadlineMs: {
    [MachineState.Creating]: 10 * MINUTE_MS,
    [MachineState.Configuring]: 10 * MINUTE_MS,
    [MachineState.Draining]: 15 * MINUTE_MS,
    [MachineState.Deleting]: 10 * MINUTE_MS,
  },
  records: 10_000,
};
