// Assertions of the behaviours on answers and records. Each throws a `Failure` with the expected and the actual value.

import { status } from '@grpc/grpc-js';
import type { Machine, MachineState, TransitionAck } from '../../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { Failure } from './behaviour.ts';
import { type AckReply, type Reply, textOfReply, textOfState } from './calls.ts';

export function fail(expected: string, came: string): never {
  throw new Failure(`expected ${expected}, got ${came}`);
}

export function demand(holds: boolean, expected: string, came: string): asserts holds {
  if (!holds) fail(expected, came);
}

/** Asserts an acknowledgement with an operation id and the machine of the call. */
export function accepted(what: string, reply: AckReply): TransitionAck & { readonly machine: Machine } {
  if (!reply.ok) fail(`${what} to be accepted`, textOfReply(reply));
  const { operationId, machine } = reply.value;
  demand(operationId !== '', `${what} to carry an operation id`, 'an empty one');
  if (machine === undefined) fail(`${what} to carry the machine`, 'none');
  return { operationId, machine };
}

export function fenced(what: string, reply: Reply<TransitionAck>): void {
  const isFenced = !reply.ok && reply.code === status.FAILED_PRECONDITION;
  demand(isFenced, `${what} to be FAILED_PRECONDITION`, textOfReply(reply));
}

/** A refusal by position or arguments. FAILED_PRECONDITION is the fence's alone. */
export function refused(what: string, reply: AckReply): void {
  demand(!reply.ok, `${what} to be refused`, textOfReply(reply));
  unfenced(what, reply);
}

export function unfenced(what: string, reply: AckReply): void {
  const isFenced = !reply.ok && reply.code === status.FAILED_PRECONDITION;
  demand(
    !isFenced,
    `${what} not to be FAILED_PRECONDITION, which is for stale tokens only`,
    textOfReply(reply),
  );
}

export function answersWith(
  what: string,
  reply: Reply<TransitionAck | Machine>,
  ...codes: readonly status[]
): void {
  const names = codes.map((code) => status[code]).join(' or ');
  demand(!reply.ok && codes.includes(reply.code), `${what} to be ${names}`, textOfReply(reply));
}

/** Whether the provider cannot delete at all. */
export function isUnimplemented(reply: Reply<TransitionAck>): boolean {
  return !reply.ok && reply.code === status.UNIMPLEMENTED;
}

export function isInvalidArgument(reply: Reply<TransitionAck>): boolean {
  return !reply.ok && reply.code === status.INVALID_ARGUMENT;
}

export function same(what: string, expected: unknown, came: unknown): void {
  demand(Object.is(expected, came), `${what} to be ${show(expected)}`, show(came));
}

export function differ(what: string, values: readonly string[]): void {
  const isDistinct = new Set(values).size === values.length;
  demand(isDistinct, `${what} to be all different`, values.map(show).join(', '));
}

export function hasState(what: string, machine: Machine, ...states: readonly MachineState[]): void {
  const names = states.map(textOfState).join(' or ');
  demand(states.includes(machine.state), `${what} to be ${names}`, textOfState(machine.state));
}

export function hasHost({ host }: Machine): boolean {
  return host !== undefined && (host.provider !== '' || host.ref !== '');
}

/** Asserts that the machine has no cluster and no shard metadata. */
export function isUnbound(what: string, machine: Machine): void {
  same(`cluster of ${what}`, '', machine.cluster);
  same(`number of metadata keys of ${what}`, 0, machine.shardMetadata.size);
}

export function failedWithReason(what: string, machine: Machine): void {
  demand(machine.lastError !== '', `${what} to say in last_error why it failed`, 'an empty last_error');
}

/** Asserts that both maps have equal keys and values. */
export function sameMetadata(
  what: string,
  expected: ReadonlyMap<string, string>,
  came: ReadonlyMap<string, string>,
): void {
  for (const [key, value] of expected) {
    const found = came.get(key);
    if (found === undefined) fail(`${what} to hold metadata key ${show(key)}`, 'no such key');
    demand(found === value, `${what} to hold ${show(value)} under metadata key ${show(key)}`, show(found));
  }
  for (const key of came.keys()) {
    demand(expected.has(key), `${what} to hold only the metadata that was sent`, `also key ${show(key)}`);
  }
}

const SHOWN = 60;

function show(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}… (${text.length} characters)` : text;
}
