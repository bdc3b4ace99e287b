import { deserialize, serialize } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { aMachine, anInput } from '../../../testing/support/fleets.ts';
import { Fleet } from '../../fleet/index.ts';
import { type DecisionOptions, MachineState, SHARED_OPTIONS, UNSHARED_OPTIONS } from '../../model/index.ts';
import type { PackedInput } from './format.ts';
import { InputPacker, InputUnpacker } from './packing.ts';

function packed(): Uint8Array {
  const fleet = new Fleet();
  fleet.machines.load([
    aMachine('a', MachineState.Configured, { unclaimedSinceMs: 7 }),
    aMachine('b', MachineState.Configured, { use: 'protected' }),
    aMachine('c', MachineState.Configured, { unclaimedSinceMs: 9, use: 'empty' }),
  ]);
  const { options } = anInput([], [], SHARED_OPTIONS);
  const nothing = { clusters: [], removed: [], retimed: new Map(), oddities: [] };
  return new InputPacker(fleet).pack({ ...nothing, slots: [0, 1, 2], options });
}

describe('the input of a cycle in the journal', () => {
  it('given unclaimed machines and options about sharing, then they are read as written', () => {
    const { machines, options } = new InputUnpacker().unpack(packed());
    expect(machines.map(({ unclaimedSinceMs }) => unclaimedSinceMs)).toEqual([7, null, 9]);
    expect(machines.map(({ use }) => use)).toEqual([undefined, 'protected', 'empty']);
    expect(options).toMatchObject(SHARED_OPTIONS);
  });

  it('given a ceiling on spending that comes, changes and goes, then each cycle has its own', () => {
    const budgets: readonly DecisionOptions['purchaseBudget'][] = [
      ...[undefined, { shard: 5, clusters: new Map([['c1', -2]]) }],
      ...[
        { shard: 5, clusters: new Map([['c1', -2]]) },
        { shard: Number.POSITIVE_INFINITY, clusters: new Map() },
      ],
      undefined,
    ];
    const packer = new InputPacker(new Fleet());
    const nothing = { slots: [], clusters: [], removed: [], retimed: new Map(), oddities: [] };
    const messages = budgets.map((purchaseBudget) =>
      packer.pack({ ...nothing, options: anInput([], [], { purchaseBudget }).options }),
    );
    const unpacker = new InputUnpacker();
    expect(messages.map((bytes) => unpacker.unpack(bytes).options!.purchaseBudget)).toEqual(budgets);
    expect(messages[2]!.length).toBeLessThan(messages[1]!.length);
  });

  it('given clusters that are connected or silent, then each cycle has its own', () => {
    const clusters = [
      new Set<string>(),
      new Set(['c1']),
      new Set(['c1']),
      new Set(['c2']),
      new Set<string>(),
    ];
    const packer = new InputPacker(new Fleet());
    const nothing = { slots: [], clusters: [], removed: [], retimed: new Map(), oddities: [] };
    const messages = clusters.map((connected) =>
      packer.pack({ ...nothing, options: anInput([], [], { connected }).options }),
    );
    const unpacker = new InputUnpacker();
    expect(messages.map((bytes) => unpacker.unpack(bytes).options!.connected)).toEqual(clusters);
    expect(messages[2]!.length).toBeLessThan(messages[1]!.length);
  });

  it('given marks that come, change and go, then each cycle has its own', () => {
    const many = Array.from({ length: 1000 }, (_, i) => `m-${i}`);
    const marks = [[], many, many, ['other', ...many.slice(1)], []].map((ids) => new Set(ids));
    const packer = new InputPacker(new Fleet());
    const nothing = { slots: [], clusters: [], removed: [], retimed: new Map(), oddities: [] };
    const messages = marks.map((retiring) =>
      packer.pack({ ...nothing, options: anInput([], [], { retiring }).options }),
    );
    const unpacker = new InputUnpacker();
    expect(messages.map((bytes) => unpacker.unpack(bytes).options!.retiring)).toEqual(marks);
    // Two of a thousand changed.
    expect(messages[3]!.length).toBeLessThan(messages[1]!.length / 10);
  });

  it('given the form of versions without them, then no clock runs, and every machine serves one row', () => {
    const { machines, options, ...rest } = deserialize(packed()) as PackedInput;
    const { unclaimedSinceMs: _, ...columns } = machines;
    const { releaseHoldSeconds, weights } = options!.others!;
    const old: PackedInput = {
      ...rest,
      // The seven lowest bits are those that such versions know.
      machines: {
        ...columns,
        columns: columns.columns.map((value, i) => (i % 4 === 1 ? value & 127 : value)),
      },
      options: { ...options!, others: { releaseHoldSeconds, weights } },
    };
    const read = new InputUnpacker().unpack(serialize(old));
    expect(read.machines.map(({ unclaimedSinceMs }) => unclaimedSinceMs)).toEqual([null, null, null]);
    expect(read.options).toMatchObject(UNSHARED_OPTIONS);
  });
});
