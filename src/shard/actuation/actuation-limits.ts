// Every limit of actuation, with its default. Part of the controller's options (planning/options.ts).

import { MachineState } from '../../model/index.ts';
import type { BackoffLimits } from '../../runtime/backoff.ts';

export interface ActuationLimits {
  /** Timeout of a bootstrap request to an operator. */
  readonly bootstrapMs: number;
  /** Mutation calls per action before it is given up; the client retries within each call. */
  readonly attempts: number;
  /** Between two calls of one action. */
  readonly retry: BackoffLimits;
  /** How long a machine is blocked after a failed action. */
  readonly machine: BackoffLimits;
  /** How long an offering is blocked after a stock-out. */
  readonly offering: BackoffLimits;
  /** How long a cluster is muted after a failed bootstrap request. */
  readonly cluster: BackoffLimits;
  /** Queue bound per provider. Actions beyond a few cycles' worth would be stale by the time they are called. */
  readonly queuePerProvider: number;
  /** Deadline of each state, after which a Get decides; the grace period of a drain is added. */
  readonly deadlineMs: Readonly<Record<TransitionalState, number>>;
  /** How long a machine is not reclaimed again after its cluster could not drain it. */
  readonly protectedMs: number;
  /** Ended actions kept for display. */
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
  // Providers built on the kit time out after 5 minutes, drains after 10. These are longer, so the provider reports first.
  deadlineMs: {
    [MachineState.Creating]: 10 * MINUTE_MS,
    [MachineState.Configuring]: 10 * MINUTE_MS,
    [MachineState.Draining]: 15 * MINUTE_MS,
    [MachineState.Deleting]: 10 * MINUTE_MS,
  },
  protectedMs: 30 * MINUTE_MS,
  records: 10_000,
};
