import { describe, expect, it } from 'vitest';
import { CapacityType, MachineLimits, MachineState } from '../../model/index.ts';
import { Machine, type MachineList } from '../gen/bigfleet/v1alpha1/provider.ts';
import { machineFromWire, machinesFromWire, machineToWire } from './machine.ts';
import { FINGERPRINT_KEY, GROUP_KEY, PRIORITY_KEY } from './stamp.ts';

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

describe('decoding of machines', () => {
  it('given a valid record, then it is in whole units with its stamp, and is unchanged when encoded and decoded again', () => {
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

  it('given an amount with a fraction of a unit, then it is rounded down', () => {
    const result = machineFromWire(
      wireMachine({ allocatable: { resources: new Map([['memory', '1023m']]) } }),
      'm',
    );
    expect(result.ok && result.value.allocatable).toEqual(new Map([['memory', 1]]));
  });

  it('given invalid records among valid ones, then only those are refused, each with its index, id and field', () => {
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

  it('given as many labels as the limit allows, with NUL and control characters, then all are decoded byte for byte', () => {
    const labels = new Map([
      ['a\u0000b', '\u0001'],
      ['__proto__', 'x'],
    ]);
    while (labels.size < MachineLimits.labels) labels.set(`k${labels.size}`, `v${labels.size}`);
    const decoded = Machine.decode(Machine.encode(wireMachine({ labels })).finish());
    const result = machineFromWire(decoded, 'm');
    expect(result.ok && result.value.labels).toEqual(labels);
  });

  it('given a group with a NUL in the metadata, then the stamp has it', () => {
    const result = machineFromWire(
      wireMachine({ shardMetadata: new Map([[GROUP_KEY, 'rack\u0000app=x']]) }),
      'm',
    );
    expect(result.ok && result.value.stamp).toMatchObject({ priority: null, group: 'rack\u0000app=x' });
  });
});

describe('limits of a machine record', () => {
  const named = (count: number, bytes: number): Map<string, string> =>
    new Map(Array.from({ length: count }, (_, i) => [`${i}`.padStart(bytes, 'n'), '1']));
  const host = (provider: string, ref: string) => ({ host: { provider, ref } });

  /** A field, its limit, and a record with that field at a given length or count. */
  const PARTS: readonly (readonly [string, number, (size: number) => Partial<Machine>])[] = [
    ['id', 253, (size) => ({ id: 'x'.repeat(size) })],
    ['cluster', 253, (size) => ({ cluster: 'x'.repeat(size) })],
    ['instanceType', 63, (size) => ({ instanceType: 'x'.repeat(size) })],
    ['zone', 63, (size) => ({ zone: 'x'.repeat(size) })],
    ['host.provider', 1024, (size) => host('x'.repeat(size), 'r')],
    ['host.ref', 1024, (size) => host('p', 'x'.repeat(size))],
    ['labels', 317, (size) => ({ labels: named(1, size) })],
    ['labels', 63, (size) => ({ labels: new Map([['rack', 'x'.repeat(size)]]) })],
    ['labels', 256, (size) => ({ labels: named(size, 3) })],
    ['resources', 317, (size) => ({ resources: { resources: named(1, size) } })],
    ['resources', 64, (size) => ({ resources: { resources: named(size, 3) } })],
    ['allocatable', 317, (size) => ({ allocatable: { resources: named(1, size) } })],
    ['allocatable', 64, (size) => ({ allocatable: { resources: named(size, 3) } })],
  ];

  it.each(PARTS)(
    'given %s at its limit of %i, then the record is accepted; given one more, then only that record is refused',
    (field, limit, parts) => {
      const good = wireMachine({ id: 'good' });
      const atLimit = machinesFromWire(list(wireMachine(parts(limit)), good));
      expect(atLimit).toMatchObject({ machines: [{}, { id: 'good' }], problems: [] });
      const { machines, problems } = machinesFromWire(list(wireMachine(parts(limit + 1)), good));
      expect(machines.map(({ id }) => id)).toEqual(['good']);
      expect(problems).toMatchObject([
        { code: 'BF_MACHINE_LIMIT', path: expect.stringMatching(`\\.${field}$`) },
      ]);
    },
  );

  it('given names outside ASCII, then the limit counts UTF-8 bytes', () => {
    expect(machineFromWire(wireMachine({ zone: 'ü'.repeat(31) }), 'm').ok).toBe(true);
    expect(machineFromWire(wireMachine({ zone: 'ü'.repeat(32) }), 'm').ok).toBe(false);
    expect(machineFromWire(wireMachine({ zone: '端'.repeat(21) }), 'm').ok).toBe(true);
    expect(machineFromWire(wireMachine({ zone: '端'.repeat(22) }), 'm').ok).toBe(false);
  });

  it('given texts of 16 MiB in every field, then each problem is short', () => {
    const long = 'x'.repeat(16 << 20);
    const problems = machinesFromWire(
      list(
        wireMachine({
          ...{ id: long, cluster: long, instanceType: long, zone: long, host: { provider: long, ref: long } },
          labels: new Map([[long, long]]),
          resources: { resources: new Map([[long, long]]) },
        }),
      ),
    ).problems;
    expect(problems).toHaveLength(8);
    for (const { path, message } of problems) expect(path.length + message.length).toBeLessThan(700);
  });

  it('given a long last error, then it is truncated and the record is accepted', () => {
    const result = machineFromWire(wireMachine({ lastError: `a\u001b${'x'.repeat(1 << 20)}` }), 'm');
    const lastError = result.ok ? result.value.lastError : '';
    expect(lastError).toMatch(/^a\\u001bx+… \(1048578 characters\)$/);
    expect(lastError.length).toBeLessThan(1_100);
  });

  it('given stamps with texts beyond the limit, then those texts are dropped and the rest is kept', () => {
    const stampOf = (fingerprint: number, group: number) => {
      const shardMetadata = new Map([
        [PRIORITY_KEY, '7'],
        [FINGERPRINT_KEY, 'f'.repeat(fingerprint)],
        [GROUP_KEY, 'g'.repeat(group)],
      ]);
      const result = machineFromWire(wireMachine({ shardMetadata }), 'm');
      const stamp = result.ok ? result.value.stamp : null;
      return [stamp?.priority, stamp?.fingerprint.length, stamp?.group.length];
    };
    expect(stampOf(300_000, 1024)).toEqual([7, 300_000, 1024]);
    expect(stampOf(300_001, 1025)).toEqual([7, 0, 0]);
  });
});

function fail(): never {
  throw new Error('expected a valid machine');
}
