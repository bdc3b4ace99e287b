// Reading inventories: differences only, the last valid state if a provider is faulty, and convergence of every copy.

import { status } from '@grpc/grpc-js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  Copy,
  clientOf,
  kindOf,
  listOf,
  readerOf,
  transportOf,
  wireMachine,
} from '../../../testing/support/provider-client.ts';
import { HeldBackend, offering, scene, turns } from '../../../testing/support/provider-kit.ts';
import { MachineState } from '../../model/index.ts';
import type { ListFilter, Machine as WireMachine } from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { machineFromWire, RpcError } from '../../wire/index.ts';
import { inProcess } from './in-process.ts';
import { InventoryReader } from './inventory-reader.ts';
import type { RecordBatch } from './machine-list.ts';

const abc = ['a', 'b', 'c'].map((id) => wireMachine(id));
const tooLarge = new RpcError(status.RESOURCE_EXHAUSTED, 'Received message larger than max (9 vs 8)');

describe('a full list', () => {
  it('given a first list, then all machines are passed on; given the same again, then none', async () => {
    const { reader, copy } = readerOf(listOf(abc), listOf(abc));
    expect(await reader.read('full', copy)).toMatchObject({
      kind: 'full',
      isFirst: true,
      records: 3,
      added: 3,
    });
    expect(copy.ids).toEqual(['a', 'b', 'c']);
    expect(copy.machines.get('b')).toEqual(okOf(abc[1]!));
    const refuse = { changed: () => Promise.reject(new Error('nothing changed')), gone: () => {} };
    expect(await reader.read('full', refuse)).toMatchObject({
      isFirst: false,
      unchanged: 3,
      added: 0,
      changed: 0,
    });
  });

  it('given changed, new and removed machines, then exactly those are passed on', async () => {
    const next = [abc[0]!, wireMachine('b', { zone: 'zone-b' }), wireMachine('d')];
    const { reader, copy } = readerOf(listOf(abc), listOf(next));
    await reader.read('full', copy);
    const report = await reader.read('full', copy);
    expect(report).toMatchObject({ added: 1, changed: 1, unchanged: 1, gone: 1, missing: 0, refused: 0 });
    expect(copy.ids).toEqual(['a', 'b', 'd']);
    expect(reader.count).toBe(3);
  });

  it('given maps in another order, then no machine has changed; given swapped values, then it has', async () => {
    const sized = (
      resources: [string, string][],
      allocatable: [string, string][],
      labels: [string, string][],
    ) =>
      wireMachine('a', {
        resources: { resources: new Map(resources) },
        allocatable: { resources: new Map(allocatable) },
        labels: new Map(labels),
      });
    const x: [string, string] = ['cpu', '2'];
    const y: [string, string] = ['memory', '8Gi'];
    const k: [string, string] = ['rack', 'r1'];
    const l: [string, string] = ['row', '7'];
    const { reader, copy } = readerOf(
      listOf([sized([x, y], [x], [k, l])]),
      listOf([sized([y, x], [x], [l, k])]),
      listOf([sized([x], [x, y], [k, l])]),
    );
    await reader.read('full', copy);
    expect(await reader.read('full', copy)).toMatchObject({ unchanged: 1 });
    expect(await reader.read('full', copy)).toMatchObject({ changed: 1 });
  });
});

describe('a list of changes', () => {
  it('given revisions, when changes are read, then the last cursor is sent and the new one is kept', async () => {
    const { reader, copy, queries } = readerOf(
      listOf(abc, '1'),
      listOf([wireMachine('d')], '2'),
      listOf([], '2'),
    );
    await reader.read('changes', copy);
    expect(await reader.read('changes', copy)).toMatchObject({
      kind: 'changes',
      records: 1,
      added: 1,
      gone: 0,
    });
    expect(await reader.read('changes', copy)).toMatchObject({ kind: 'changes', records: 0, bytes: 3 });
    expect(queries.map(({ sinceRevision }) => Buffer.from(sinceRevision).toString())).toEqual(['', '1', '2']);
    expect(copy.ids).toEqual(['a', 'b', 'c', 'd']);
  });

  it('given a provider without revisions, then every list is full', async () => {
    const { reader, copy } = readerOf(listOf(abc), listOf(abc.slice(1)));
    expect(await reader.read('changes', copy)).toMatchObject({ kind: 'full', hasRevision: false });
    expect(await reader.read('changes', copy)).toMatchObject({ kind: 'full', gone: 1 });
  });

  it.each([
    ['does not change with a machine', ['1'], '1'],
    ['goes back', ['1', '2', '3'], '2'],
    ['is far too long', ['1'], 'x'.repeat(5000)],
    ['is lost', ['1'], ''],
  ])('given a revision that %s, then a full list is read instead', async (_, earlier, bad) => {
    const lists = earlier.map((revision, i) => listOf(i === 0 ? abc : [], revision));
    const changed = wireMachine('a', { zone: 'zone-b' });
    const { reader, copy } = readerOf(...lists, listOf([changed], bad), listOf([changed, abc[1]!], 'fresh'));
    for (const _ of lists) await reader.read('changes', copy);
    const report = await reader.read('changes', copy);
    expect(report).toMatchObject({ kind: 'full', gone: 1, hasRevision: true });
    expect(report.problems.map(({ code }) => code)).toEqual(bad === '' ? [] : ['BF_LIST_REVISION']);
    expect(copy.machines.get('a')!.zone).toBe('zone-b');
  });

  it('given changes that do not fit into one message, then a full list is read', async () => {
    const { reader, copy } = readerOf(listOf(abc, '1'), tooLarge, listOf(abc, '2'));
    await reader.read('full', copy);
    expect(await reader.read('changes', copy)).toMatchObject({ kind: 'full', unchanged: 3 });
  });
});

describe('a list too large for one message', () => {
  const EVERY_STATE = [1, 2, 3, 4, 5, 6, 7, 8];
  const bySize = (list: (filter: ListFilter) => Uint8Array) => (filter: ListFilter) =>
    filter.states.length === 0 && filter.sinceRevision.length === 0
      ? Promise.reject(tooLarge)
      : Promise.resolve(list(filter));
  const readerFor = (list: (filter: ListFilter) => Uint8Array) => {
    const { client } = clientOf(transportOf({ list: bySize(list) }));
    return new InventoryReader({ listBytes: (query) => client.listBytes(query), seed: 1 });
  };

  it('given revisions, then states are read one by one, and finally the changes since the first', async () => {
    const requestedStates: number[][] = [];
    const reader = readerFor(({ states, sinceRevision }) => {
      requestedStates.push([...states]);
      // c moves between states so that neither List per state contains it; only the changes do.
      if (sinceRevision.length > 0) return listOf([abc[2]!], '9');
      return listOf(states[0] === MachineState.Idle ? abc.slice(0, 2) : [], `${states[0]}`);
    });
    const copy = new Copy();
    const report = await reader.read('full', copy);
    expect(report).toMatchObject({ messages: 9, records: 3, added: 3, gone: 0, hasRevision: true });
    expect(requestedStates).toEqual([...EVERY_STATE.map((state) => [state]), []]);
    expect(copy.ids).toEqual(['a', 'b', 'c']);
  });

  it('given no revisions, then a machine is gone only after two lists without it', async () => {
    let idle = abc;
    const reader = readerFor(({ states }) => listOf(states[0] === MachineState.Idle ? idle : []));
    const copy = new Copy();
    await reader.read('full', copy);
    idle = abc.slice(0, 2);
    expect(await reader.read('full', copy)).toMatchObject({ gone: 0 });
    expect(await reader.read('full', copy)).toMatchObject({ gone: 1 });
    expect(copy.ids).toEqual(['a', 'b']);
  });

  it('given one state that is too large by itself, then the error is too-large and the copy is unchanged', async () => {
    const { reader, copy } = readerOf(listOf(abc), tooLarge, tooLarge);
    await reader.read('full', copy);
    expect(await kindOf(reader.read('full', copy))).toBe('too-large');
    expect(copy.ids).toEqual(['a', 'b', 'c']);
  });
});

describe('a faulty provider', () => {
  it('given malformed bytes at the end, then no record of the list is passed on', async () => {
    const next = listOf([wireMachine('a', { zone: 'zone-b' }), wireMachine('d')]);
    const { reader, copy } = readerOf(listOf(abc), next.subarray(0, next.length - 3), listOf(abc));
    await reader.read('full', copy);
    expect(await kindOf(reader.read('full', copy))).toBe('malformed');
    expect(copy.machines.get('a')!.zone).toBe('zone-a');
    expect(copy.ids).toEqual(['a', 'b', 'c']);
    expect(await reader.read('full', copy)).toMatchObject({ unchanged: 3, gone: 0 });
    expect(reader.count).toBe(3);
  });

  it('given bad records, then the last valid ones stay, the others are passed on, and each is counted every time', async () => {
    const next = [
      wireMachine('a', { state: 99 as never }),
      wireMachine('b', { zone: 'zone-b' }),
      wireMachine('c', { zone: 'zone-b' }),
      wireMachine('c', { zone: 'zone-c' }),
      wireMachine('d', { pricePerHour: -1 }),
    ];
    const { reader, copy } = readerOf(listOf(abc), listOf(next), listOf(next), listOf(abc));
    await reader.read('full', copy);
    for (let i = 0; i < 2; i++) {
      const report = await reader.read('full', copy);
      expect(report).toMatchObject({ records: 5, refused: 4, gone: 0, missing: 0 });
      expect(report.problems.map(({ code }) => code).sort()).toEqual([
        'BF_LIST_DUPLICATE',
        'BF_MACHINE_PRICE',
        'BF_MACHINE_STATE_UNKNOWN',
      ]);
    }
    expect([...copy.machines.values()].map(({ id, zone }) => `${id} ${zone}`).sort()).toEqual([
      'a zone-a',
      'b zone-b',
      'c zone-a',
    ]);
    expect(await reader.read('full', copy)).toMatchObject({ changed: 1, unchanged: 2, refused: 0 });
  });

  it('given a record without a readable id, then no machine is reported as gone', async () => {
    const garbage = Buffer.from([0x0a, 0x02, 0x0a, 0x7f]);
    const { reader, copy } = readerOf(
      listOf(abc),
      Buffer.concat([listOf(abc.slice(0, 2)), garbage]),
      listOf([]),
    );
    await reader.read('full', copy);
    expect(await reader.read('full', copy)).toMatchObject({ refused: 1, gone: 0, missing: 1 });
    expect(copy.ids).toEqual(['a', 'b', 'c']);
    expect(await reader.read('full', copy)).toMatchObject({ gone: 3, missing: 0 });
  });

  it('given an id of the maximum length, then it is accepted; given one byte more, then it is refused and absent machines are gone', async () => {
    const longest = wireMachine('x'.repeat(253));
    const tooLong = wireMachine('x'.repeat(254));
    const { reader, copy } = readerOf(listOf([...abc, longest]), listOf([longest, tooLong]));
    expect(await reader.read('full', copy)).toMatchObject({ added: 4, refused: 0 });
    const report = await reader.read('full', copy);
    expect(report).toMatchObject({ refused: 1, gone: 3, missing: 0 });
    expect(report.problems).toMatchObject([{ code: 'BF_MACHINE_LIMIT', path: 'machines[1].id' }]);
    expect(copy.ids).toEqual([longest.id]);
  });

  it('given a thousand problems, then a hundred are kept', async () => {
    const bad = Array.from({ length: 1000 }, (_, i) => wireMachine(`m-${i}`, { pricePerHour: -1 }));
    const { reader, copy } = readerOf(listOf(bad));
    const report = await reader.read('full', copy);
    expect(report).toMatchObject({ refused: 1000, added: 0 });
    expect(report.problems).toHaveLength(100);
    expect(reader.count).toBe(0);
  });

  it('given an unreachable provider, then the copy is unchanged and the next reading continues', async () => {
    const { reader, copy } = readerOf(
      listOf(abc, '1'),
      new RpcError(status.UNIMPLEMENTED, 'not today'),
      listOf([wireMachine('d')], '2'),
    );
    await reader.read('full', copy);
    expect(await kindOf(reader.read('changes', copy))).toBe('unimplemented');
    expect(await reader.read('changes', copy)).toMatchObject({ kind: 'changes', added: 1 });
    expect(copy.ids).toEqual(['a', 'b', 'c', 'd']);
  });
});

describe('the sink of a reader', () => {
  const many = Array.from({ length: 2000 }, (_, i) => wireMachine(`m-${i}`));

  it('given a slow sink, then a batch is passed only after the previous one was processed', async () => {
    const { reader } = readerOf(listOf(many));
    let waiting = 0;
    let most = 0;
    let batches = 0;
    const changed = async ({ count }: RecordBatch): Promise<void> => {
      expect(count).toBeLessThanOrEqual(64);
      batches++;
      most = Math.max(most, ++waiting);
      await turns(1);
      waiting--;
    };
    await reader.read('full', { changed, gone: () => {} });
    expect({ most, batches }).toEqual({ most: 1, batches: 32 });
  });

  it('given a sink that fails, then the next reading passes its batches again', async () => {
    const { reader, copy } = readerOf(listOf(many, '1'), listOf(many, '1'));
    let batches = 0;
    const failing = {
      changed: (batch: RecordBatch) => {
        if (++batches === 3) throw new Error('disk full');
        copy.changed(batch);
      },
      gone: () => {},
    };
    await expect(reader.read('full', failing)).rejects.toThrow('disk full');
    expect(copy.machines.size).toBe(128);
    expect(await reader.read('changes', copy)).toMatchObject({ kind: 'full', added: 1872, unchanged: 128 });
    expect(copy.machines.size).toBe(2000);
  });

  it('given a sink that lost its copy, when the reader drops its state, then all machines are passed again', async () => {
    const { reader } = readerOf(listOf(abc, '1'), listOf(abc, '1'));
    await reader.read('full', new Copy());
    reader.forget();
    const copy = new Copy();
    expect(await reader.read('changes', copy)).toMatchObject({ kind: 'full', isFirst: true, added: 3 });
  });

  it('given a reading in progress, then a second one is refused', async () => {
    const { reader, copy } = readerOf(listOf(abc));
    const first = reader.read('full', copy);
    await expect(reader.read('full', copy)).rejects.toThrow('under way');
    await first;
  });
});

describe('convergence of a copy', () => {
  it('given the kit and any transitions, then changes and full lists converge to its inventory', async () => {
    const step = fc.record({
      machine: fc.nat({ max: 7 }),
      what: fc.constantFrom('create', 'configure', 'drain', 'delete', 'lose', 'reprice', 'add'),
      read: fc.constantFrom('full', 'changes', null),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const backend = new HeldBackend(8);
        backend.isPrompt = true;
        const { provider } = await scene({ backend });
        const { client } = clientOf(inProcess(provider));
        const reader = new InventoryReader({ listBytes: (query) => client.listBytes(query), seed: 7 });
        const copy = new Copy();
        await reader.read('changes', copy);
        for (const { machine, what, read } of steps) {
          const id = `m-${machine}`;
          if (what === 'lose') await provider.lose(id, 'gone up in smoke');
          else if (what === 'reprice' || what === 'add') {
            const added = what === 'add' ? [offering(`m-${backend.offerings.length}`)] : [];
            const reprice = (o: (typeof backend.offerings)[number]) =>
              o.id === id ? { ...o, pricePerHour: o.pricePerHour + 1 } : o;
            backend.offerings = [...backend.offerings.map(reprice), ...added];
            await provider.refresh();
          } else {
            const binding = { cluster: 'c', bootstrapBlob: Buffer.from(''), metadata: new Map() };
            const call =
              what === 'configure'
                ? client.configure(id, binding)
                : what === 'drain'
                  ? client.drain(id, 0)
                  : client[what](id);
            await call.catch(() => {});
          }
          if (read === null) continue;
          await reader.read(read, copy);
          expectSame(
            copy,
            (await provider.list({ states: [], maxResults: 0, sinceRevision: Buffer.from('') })).machines,
          );
        }
      }),
      { numRuns: 60 },
    );
  });

  it('given any changes of machines and lists of any kind, then a full list converges to the inventory', async () => {
    const record = fc.record({
      id: fc.constantFrom('a', 'b', 'c', 'dd', 'é', 'f\0'),
      zone: fc.constantFrom('x', 'y'),
    });
    const inventory = fc.uniqueArray(record, { selector: ({ id }) => id });
    const moment = fc.record({
      inventory,
      hasRevisions: fc.boolean(),
      fits: fc.boolean(),
      wanted: fc.constantFrom('full', 'changes'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(moment, { maxLength: 12 }), async (moments) => {
        let machines: WireMachine[] = [];
        let revision = 0;
        let now = { hasRevisions: true, fits: true };
        // Reports every machine as changed: a provider may always return more than it must.
        const list = ({ states, sinceRevision }: ListFilter): Promise<Uint8Array> => {
          if (!now.fits && states.length === 0 && sinceRevision.length === 0) return Promise.reject(tooLarge);
          const shown = machines.filter(({ state }) => states.length === 0 || states.includes(state));
          return Promise.resolve(listOf(shown, now.hasRevisions ? `${++revision}` : ''));
        };
        const { client } = clientOf(transportOf({ list }));
        const reader = new InventoryReader({ listBytes: (query) => client.listBytes(query), seed: 3 });
        const copy = new Copy();
        for (const { inventory, wanted, ...how } of moments) {
          machines = inventory.map(({ id, zone }) => wireMachine(id, { zone }));
          now = how;
          await reader.read(wanted as 'full' | 'changes', copy);
          for (const machine of machines) expect(copy.machines.get(machine.id)).toEqual(okOf(machine));
        }
        now = { hasRevisions: true, fits: true };
        await reader.read('full', copy);
        expectSame(copy, machines);
        expect(reader.count).toBe(machines.length);
      }),
      { numRuns: 200 },
    );
  });
});

function okOf(wire: WireMachine) {
  const machine = machineFromWire(wire, '');
  if (!machine.ok) throw new Error('not a valid machine');
  return machine.value;
}

function expectSame(copy: Copy, machines: readonly WireMachine[]): void {
  expect(new Map(copy.machines)).toEqual(new Map(machines.map((wire) => [wire.id, okOf(wire)])));
}
