// Durability defects: state that a provider has lost after it was killed and restarted. Listed in provider.ts.

import { MachineState } from '../../../src/model/index.ts';
import type { Store, StoredState } from '../../../src/provider/index.ts';
import { Machine } from '../../../src/wire/gen/bigfleet/v1alpha1/provider.ts';
import { changes, type Mutant, staleToken } from './mutant.ts';

type Row = StoredState['machines'] extends Iterable<infer R> ? R : never;

/** Part of the stored state is missing after a reload. */
function reloading(change: (stored: StoredState) => Partial<StoredState>): Mutant['build'] {
  return () => ({
    store: (kept): Store => ({
      load: async () => {
        const stored = await kept.load();
        return { ...stored, ...change(stored) };
      },
      write: (changes) => kept.write(changes),
      close: () => kept.close(),
    }),
  });
}

function rows(change: (row: Row) => Partial<Row>): Mutant['build'] {
  return reloading(({ machines }) => ({
    machines: Array.from(machines, (row) => ({ ...row, ...change(row) })),
  }));
}

/** Changes the part of a record that transitions write. */
function withLife({ body, describedBytes }: Row, change: (life: Machine) => Partial<Machine>): Uint8Array {
  const life = Machine.decode(body.subarray(describedBytes));
  const changed = Machine.encode({ ...life, ...change(life) }).finish();
  return Buffer.concat([body.subarray(0, describedBytes), changed]);
}

/** Longer than any test takes, even on a slow machine. */
const LATER_MS = 3_600_000;

/** Reports a write as durable long before it is. */
const writesLater: Mutant['build'] = () => ({
  store: (kept): Store => ({
    load: () => kept.load(),
    write: async (changes) => {
      setTimeout(() => void kept.write(changes).catch(() => {}), LATER_MS).unref();
    },
    close: () => kept.close(),
  }),
});

export const DURABILITY_MUTANTS: readonly Mutant[] = [
  {
    name: 'marks are lost on restart',
    area: 'durability',
    named: ['B1001'],
    build: reloading(() => ({ marks: [] })),
  },
  {
    name: 'operation ids are lost on restart',
    area: 'durability',
    named: ['B1002'],
    build: rows(() => ({ operations: [0, 0, 0, 0] })),
  },
  {
    name: 'bindings are lost on restart',
    area: 'durability',
    named: ['B1003'],
    build: rows((row) =>
      row.state === MachineState.Configured
        ? { body: withLife(row, () => ({ cluster: '', shardMetadata: new Map() })) }
        : {},
    ),
  },
  {
    name: 'hosts are lost on restart',
    area: 'durability',
    named: ['B1004'],
    build: rows((row) =>
      row.state === MachineState.Idle
        ? {
            state: MachineState.Speculative,
            body: withLife(row, () => ({ state: MachineState.Speculative, host: undefined })),
          }
        : {},
    ),
  },
  {
    name: 'operation ids start over on restart',
    area: 'durability',
    named: ['B1005'],
    build: reloading(({ counters }) => ({
      counters: counters === null ? null : { ...counters, operations: 0 },
    })),
  },
  {
    name: 'in-flight transitions continue after a restart',
    area: 'durability',
    named: ['B1006'],
    build: () => ({ backend: (cloud) => ({ ...cloud, resumable: true }) }),
  },
  {
    name: 'no new shard is accepted after a restart',
    area: 'durability',
    named: ['B1007'],
    build: () => ({
      calls: (kit, _store, { counters, marks }) => {
        const known = new Set(Array.from(marks, ({ shard }) => shard));
        return changes(kit, async ({ request, send }) => {
          const isNew = request.shardId !== '' && !known.has(request.shardId);
          if (counters !== null && isNew) throw staleToken();
          return await send();
        });
      },
    }),
  },
  {
    name: 'acknowledged before it is durable',
    area: 'durability',
    named: ['B1001', 'B1002', 'B1003', 'B1004', 'B1006'],
    build: writesLater,
  },
];
