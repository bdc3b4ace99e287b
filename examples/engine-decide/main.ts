// Example of `bigfleet/engine`: one decision on plain values. A batch job and a web service want machines, and one
// machine is free.
//   npx node -C bigfleet-source examples/engine-decide/main.ts

import {
  DEFAULT_DRAIN_SECONDS,
  DEFAULT_SCORE_WEIGHTS,
  type DecisionInput,
  decide,
  explain,
  type LedgerMachine,
  type Need,
  SHARED_OPTIONS,
} from 'bigfleet/engine';
import {
  CapacityType,
  keyOf,
  MachineState,
  makeProfile,
  Operator,
  parseQuantity,
  ZONE_KEY,
} from 'bigfleet/model';

const NOW_MS = Date.UTC(2026, 0, 1);

function amounts(cpu: string, memory: string) {
  return new Map([
    ['cpu', parseQuantity(cpu, 'cpu', 'up')],
    ['memory', parseQuantity(memory, 'memory', 'up')],
  ]);
}

function machine(id: string, state: MachineState, zone: string): LedgerMachine {
  return {
    id,
    state,
    host: state === MachineState.Speculative ? null : { provider: 'example', ref: `host-of-${id}` },
    cluster: '',
    instanceType: 'small',
    zone,
    capacityType: CapacityType.OnDemand,
    pricePerHour: 0.2,
    interruptionProbability: 0,
    resources: amounts('4', '16Gi'),
    allocatable: amounts('3900m', '15Gi'),
    labels: new Map(),
    lastError: '',
    stamp: null,
    target: null,
    blocked: false,
    idleSinceMs: state === MachineState.Idle ? NOW_MS : null,
    drainSeconds: DEFAULT_DRAIN_SECONDS,
    unclaimedSinceMs: null,
  };
}

function need(cluster: string, priority: number, cpu: string, zone: string): Need {
  return {
    cluster,
    profile: makeProfile({
      priority,
      requirements: [{ key: ZONE_KEY, operator: Operator.In, values: [zone] }],
    }),
    group: '',
    aggregate: amounts(cpu, '4Gi'),
    minUnit: amounts('500m', '1Gi'),
    firstSeenMs: NOW_MS,
  };
}

const input: DecisionInput = {
  nowMs: NOW_MS,
  machines: [machine('m-1', MachineState.Idle, 'east-1'), machine('m-2', MachineState.Speculative, 'east-1')],
  needs: [need('web', 100, '6', 'east-1'), need('batch', 0, '2', 'east-1'), need('batch', 0, '1', 'west-1')],
  options: {
    readyClusters: null,
    cannotBind: new Set(),
    retiring: new Set(),
    releaseHoldSeconds: new Map(),
    weights: DEFAULT_SCORE_WEIGHTS,
    ...SHARED_OPTIONS,
  },
};

const plan = decide(input);
for (const action of plan.actions) console.log(`${action.kind} ${action.machine} for ${action.cluster}`);
for (const verdict of plan.verdicts) {
  const { key, priority, satisfied, unmet } = verdict;
  console.log(`${key.cluster} (priority ${priority}): ${satisfied ? 'met' : `unmet, ${unmet?.reason}`}`);
}
const unmet = explain(input, keyOf(input.needs[1]!));
console.log(`claimed by better rows: ${unmet?.obstacles.machines['claimed-by-better']}`);
