// Test support: the sessions of a shard without a controller; events are recorded. Imported by the tests of the demo
// and its operators (src/demo).

import { MachineState, makeProfile, type Need } from '../../src/model/index.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { VirtualClock } from '../../src/runtime/virtual-clock.ts';
import { type ControllerEvent, type Effect, MemoryDemandStore, Sessions } from '../../src/shard/index.ts';
import { NodeStateUpdate } from '../../src/wire/gen/bigfleet/v1alpha1/shard.ts';
import { JOINING } from './session-defaults.ts';

export interface SessionsBench {
  readonly sessions: Sessions;
  readonly events: ControllerEvent[];
  readonly of: <K extends ControllerEvent['kind']>(kind: K) => Extract<ControllerEvent, { kind: K }>[];
}

export async function sessionsBench(clock: Clock = new VirtualClock(1_000_000)): Promise<SessionsBench> {
  const events: ControllerEvent[] = [];
  const sessions = await Sessions.open({
    clock,
    controller: { post: (event) => events.push(event) },
    store: new MemoryDemandStore(),
    shardEpoch: 3n,
  });
  return {
    sessions,
    events,
    of: <K extends ControllerEvent['kind']>(kind: K) =>
      events.filter((event): event is Extract<ControllerEvent, { kind: K }> => event.kind === kind),
  };
}

export function aNeed(cluster: string, cpu: number, priority = 100): Need {
  return {
    cluster,
    profile: makeProfile({ priority }),
    group: '',
    aggregate: new Map([['cpu', cpu * 1000]]),
    minUnit: new Map([['cpu', 1000]]),
    firstSeenMs: 0,
  };
}

type EffectOf<K extends Effect['kind']> = Extract<Effect, { readonly kind: K }>;

export function aQuestion(cluster: string, request: string): EffectOf<'ask-bootstrap'> {
  const need = { cluster, fingerprint: '', group: '' };
  return { kind: 'ask-bootstrap', request, cluster, machine: 'm', need, requirements: [], joining: JOINING };
}

export function anInstruction(
  cluster: string,
  machine: string,
  graceSeconds = 60,
): EffectOf<'instruct-reclaim'> {
  const instruction = `reclaim-${machine}`;
  return {
    ...{ kind: 'instruct-reclaim', instruction, cluster, machine, graceSeconds },
    ...{ preemptorPriority: 0, drainKind: 'reclaim' },
  };
}

export function nodeState(machineId: string, state: MachineState): NodeStateUpdate {
  return {
    ...NodeStateUpdate.decode(new Uint8Array()),
    supersedesKey: `node:${machineId}`,
    machineId,
    state,
    nodeName: state === MachineState.Configured ? `node-${machineId}` : '',
  };
}
