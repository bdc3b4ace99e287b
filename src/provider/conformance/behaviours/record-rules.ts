// Rules that every machine record must satisfy; shared by the behaviours in baseline.ts, fields.ts and scale.ts.

import { BigFleetError, CapacityType, MachineState, parseQuantity } from '../../../model/index.ts';
import type { Machine } from '../../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { textOfState } from '../harness/calls.ts';
import { hasHost } from '../harness/expect.ts';

/** Price and interruption probability out of bounds. */
export function costProblems({ id, pricePerHour, interruptionProbability }: Machine): string[] {
  const problems: string[] = [];
  if (!(Number.isFinite(pricePerHour) && pricePerHour >= 0)) problems.push(`${id}: price ${pricePerHour}`);
  if (!(interruptionProbability >= 0 && interruptionProbability <= 1)) {
    problems.push(`${id}: interruption probability ${interruptionProbability}`);
  }
  return problems;
}

/** Spot capacity whose interruption probability is 0. */
export function spotProblems({ id, capacityType, interruptionProbability }: Machine): string[] {
  const isCertain = capacityType === CapacityType.Spot && interruptionProbability === 0;
  return isCertain ? [`${id}: spot with interruption probability 0`] : [];
}

const { Speculative, Creating, Idle, Configuring, Configured, Draining, Deleting, Failed } = MachineState;
const HOSTLESS: readonly number[] = [Speculative, Creating];
const HOSTED: readonly number[] = [Idle, Configuring, Configured, Draining, Deleting];
const BOUND: readonly number[] = [Configuring, Configured, Draining];
const UNBOUND: readonly number[] = [Speculative, Creating, Idle, Deleting];

/** Host, cluster and error that the state requires or forbids. Shards drop a record that violates one of these. */
export function stateProblems(machine: Machine): string[] {
  const { id, state, cluster, lastError } = machine;
  const name = `${id} (${textOfState(state)})`;
  const problems: string[] = [];
  if (HOSTLESS.includes(state) && hasHost(machine)) problems.push(`${name} has a host`);
  if (HOSTED.includes(state) && !hasHost(machine)) problems.push(`${name} has no host`);
  if (BOUND.includes(state) && cluster === '') problems.push(`${name} has no cluster`);
  if (UNBOUND.includes(state) && cluster !== '') problems.push(`${name} has cluster ${cluster}`);
  if (state === Failed && lastError === '') problems.push(`${name} has no last_error`);
  return problems;
}

/** Dimensions that both sizes name: resources above zero, allocatable a quantity. */
export function sizeProblems({ id, resources, allocatable }: Machine): string[] {
  const problems: string[] = [];
  for (const [name, total] of resources?.resources ?? []) {
    const usable = allocatable?.resources.get(name);
    if (usable === undefined) continue;
    const amount = quantity(total, name);
    if (amount === undefined || amount <= 0)
      problems.push(`${id}: resources ${name} ${JSON.stringify(total)}`);
    if (quantity(usable, name) === undefined) {
      problems.push(`${id}: allocatable ${name} ${JSON.stringify(usable)}`);
    }
  }
  return problems;
}

function quantity(text: string, resource: string): number | undefined {
  try {
    return parseQuantity(text, resource, 'down');
  } catch (error) {
    if (error instanceof BigFleetError) return undefined;
    throw error;
  }
}
