import { describe, expect, it } from 'vitest';
import { CapacityType, MachineState } from '../model/index.ts';
import { Machine, type MachineList } from './gen/bigfleet/v1alpha1/provider.ts';
import { machineFromWire, machinesFromWire, machineToWire } from './machine.ts';
import { GROUP_KEY, PRIORITY_KEY } from './stamp.ts';

function wireMachine(parts: Partial<Machine> = {}): Machine {
  return {
    id: 'm1',
    state: MachineState.Configured,
    host: { provider: 'p', ref: 'h1' },
    instanceType: 'm6i.large',
    zone: 'a',
    capacityType: CapacityType.Spot,
    pricePerHour: 0.25,
    interruptionProbability: 0.05,
    resources: { resources: new Map([['cpu', '2']]) },
    labels: new Map([['rack', 'r1']]),
    lastError: '',
    allocatable: { resources: new Map([['cpu', '1930m']]) },
    cluster: 'c1',
    shardMetadata: new Map([[PRIORITY_KEY, '100']]),
    ...parts,
  };
}

function list(...machines: readonly Machine[]): MachineList {
  return { machines, revision: new Uint8Array() };
}

describe('machines from the wire', () => {
  it('given a sound record, then it is in whole units with its stamp, and goes back unchanged', () => {
    const wire = wireMachine();
    const result = machineFromWire(wire, 'm');
    expect(result.ok && result.value).toMatchObject({
      id: 'm1',
      allocatable: new Map([['cpu', 1930]]),
      stamp: { priority: 100, fingerprint: '', group: '' },
      target: null,
    });
    const decoded = Machine.decode(Machine.encode(machineToWire(result.ok ? result.value : fail())).finish());
    expect(machineFromWire(decoded, 'm')).toEqual(result);
  });

  it('given supply below one unit, then it is rounded down', () => {
    const result = machineFromWire(
      wireMachine({ allocatable: { resources: new Map([['memory', '1023m']]) } }),
      'm',
    );
    expect(result.ok && result.value.allocatable).toEqual(new Map([['memory', 1]]));
  });

  it('given bad records among good ones, then only the bad ones are left out, each by place, id and field', () => {
    const { machines, problems } = machinesFromWire(
      list(
        wireMachine({ id: 'good-1' }),
        wireMachine({ id: 'no\nhost', host: undefined, pricePerHour: Number.NaN }),
        wireMachine({ id: 'odd', state: 99 as 1 }),
        wireMachine({ id: 'unset', state: 0 }),
        wireMachine({
          id: 'words',
          resources: { resources: new Map([['cpu', 'many']]) },
          capacityType: 9 as 1,
        }),
        wireMachine({ id: 'good-2' }),
      ),
    );
    expect(machines.map(({ id }) => id)).toEqual(['good-1', 'good-2']);
    expect(problems.map(({ code, path }) => `${code} at ${path}`)).toEqual([
      'BF_MACHINE_HOST_MISSING at machines[1](no\\u000ahost).host',
      'BF_MACHINE_PRICE at machines[1](no\\u000ahost).pricePerHour',
      'BF_MACHINE_STATE_UNKNOWN at machines[2](odd).state',
      'BF_MACHINE_STATE_UNSPECIFIED at machines[3](unset).state',
      'BF_MACHINE_CAPACITY_TYPE_UNKNOWN at machines[4](words).capacity_type',
      'BF_QUANTITY_SYNTAX at machines[4](words).resources["cpu"]',
    ]);
  });

  it('given a host of two empty strings, then there is no host', () => {
    const parts = {
      state: MachineState.Speculative,
      host: { provider: '', ref: '' },
      cluster: '',
      shardMetadata: new Map(),
    };
    const result = machineFromWire(wireMachine(parts), 'm');
    expect(result.ok && result.value.host).toBeNull();
  });

  it('given labels with NUL, control characters and 10,000 keys, then all arrive byte for byte', () => {
    const labels = new Map([
      ['a\u0000b', '\u0001'],
      ['__proto__', 'x'],
    ]);
    for (let i = 0; i < 10_000; i++) labels.set(`k${i}`, `v${i}`);
    const decoded = Machine.decode(Machine.encode(wireMachine({ labels })).finish());
    const result = machineFromWire(decoded, 'm');
    expect(result.ok && result.value.labels).toEqual(labels);
  });

  it('given metadata with a group that holds a NUL, then the stamp carries it', () => {
    const result = machineFromWire(
      wireMachine({ shardMetadata: new Map([[GROUP_KEY, 'rack\u0000app=x']]) }),
      'm',
    );
    expect(result.ok && result.value.stamp).toMatchObject({ priority: null, group: 'rack\u0000app=x' });
  });
});

function fail(): never {
  throw new Error('expected a sound machine');
}
