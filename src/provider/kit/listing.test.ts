// List with its filters, cursors and deltas, through the calls of a provider.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  configureOf,
  createOf,
  filter,
  HeldBackend,
  hostOf,
  offering,
  refusedWith,
  scene,
  token,
  turns,
  walk,
} from '../../../testing/support/provider-kit.ts';
import { MachineState } from '../../model/index.ts';
import { type ListFilter, MachineList } from '../../wire/gen/bigfleet/v1alpha1/provider.ts';
import { MAX_MESSAGE_BYTES, status } from '../../wire/index.ts';
import { MAX_METADATA_BYTES } from './limits.ts';
import type { Provider } from './provider.ts';

const ids = async (provider: Provider, changes: Partial<ListFilter> = {}) =>
  (await provider.list(filter(changes))).machines.map(({ id }) => id).sort();
const head = async (provider: Provider) => (await provider.list(filter())).revision;

describe('List', () => {
  it('given a filter of states, then the machines in any of these states are returned', async () => {
    const given = await scene();
    await walk(given, 'm-1', 'Idle');
    await walk(given, 'm-2', 'Configured');
    const { Speculative, Idle, Configured, Failed } = MachineState;
    expect(await ids(given.provider, { states: [Speculative] })).toEqual(['m-0', 'm-3']);
    expect(await ids(given.provider, { states: [Idle] })).toEqual(['m-1']);
    expect(await ids(given.provider, { states: [Configured, Idle, Idle] })).toEqual(['m-1', 'm-2']);
    expect(await ids(given.provider, { states: [Failed] })).toEqual([]);
    expect(await ids(given.provider)).toEqual(['m-0', 'm-1', 'm-2', 'm-3']);
  });

  it('given unknown states or a negative limit, then INVALID_ARGUMENT', async () => {
    const { provider } = await scene();
    const bad: Partial<ListFilter>[] = [{ states: [0] }, { states: [1, 9 as 8] }, { maxResults: -1 }];
    for (const changes of bad) {
      expect(await refusedWith(provider.list(filter(changes)))).toBe(status.INVALID_ARGUMENT);
    }
  });

  it('given a limit, then repeated calls rotate through all machines', async () => {
    const given = await scene({ backend: new HeldBackend(5) });
    await walk(given, 'm-4', 'Idle');
    const one = { states: [MachineState.Speculative], maxResults: 1 };
    const seen: string[] = [];
    for (let i = 0; i < 4; i++) {
      seen.push(...(await ids(given.provider, one)));
      await given.provider.list(filter({ states: [MachineState.Idle], maxResults: 1 }));
    }
    expect(new Set(seen).size).toBe(4);
    expect(await ids(given.provider, { maxResults: 3 })).toHaveLength(3);
    expect(new Set(await ids(given.provider, { maxResults: 3 })).size).toBe(3);
    expect(await ids(given.provider, { maxResults: 99 })).toHaveLength(5);
  });

  it('given an inventory above the size limit of a message, then List is refused, and a smaller List is not', async () => {
    // Names are limited, so only shard metadata can make records long.
    const shardMetadata = new Map([['notes', 'x'.repeat(MAX_METADATA_BYTES - 'notes'.length)]]);
    const count = Math.ceil(MAX_MESSAGE_BYTES / MAX_METADATA_BYTES);
    const hosted = Array.from({ length: count }, (_, i) => offering(`m-${i}`, { host: hostOf(`m-${i}`) }));
    const { provider } = await scene({ backend: new HeldBackend(hosted) });
    for (const { id } of hosted) await provider.configure(configureOf(id, token(), { shardMetadata }));
    expect(await refusedWith(provider.listBytes(filter()))).toBe(status.RESOURCE_EXHAUSTED);
    expect(MachineList.decode(await provider.listBytes(filter({ maxResults: 1 }))).machines).toHaveLength(1);
  });
});

describe('cursors of List', () => {
  it('given a transition, then acceptance and completion each advance the cursor, and a delta has the changed machine', async () => {
    const { provider, backend } = await scene();
    const start = await head(provider);
    expect(start.length).toBeGreaterThan(0);
    await provider.create(createOf('m-1'));
    const accepted = await head(provider);
    backend.last.succeed();
    await turns();
    const completed = await head(provider);
    expect(new Set([start, accepted, completed].map((cursor) => Buffer.from(cursor).toString())).size).toBe(
      3,
    );
    expect(await ids(provider, { sinceRevision: start })).toEqual(['m-1']);
    expect(await ids(provider, { sinceRevision: accepted })).toEqual(['m-1']);
    expect(await ids(provider, { sinceRevision: completed })).toEqual([]);
    expect(await ids(provider, { sinceRevision: start, states: [MachineState.Speculative] })).toEqual([]);
  });

  it('given bytes that are not exactly a cursor, then the List is full', async () => {
    const { provider } = await scene();
    const cursor = Buffer.from(await head(provider));
    const text = cursor.toString();
    const [born] = text.split('.');
    for (const junk of [
      `${text}!`,
      `~${text}`,
      `${text}\0\xff`,
      ` ${text}`,
      `${text}.0`,
      `${born}.0${text.split('.')[1]}`,
      `${born}.-1`,
      `${born}.1e1`,
      `${born}.99999999`,
      '4',
      'x'.repeat(4096),
      '1.4',
    ]) {
      expect(await ids(provider, { sinceRevision: Buffer.from(junk, 'latin1') })).toHaveLength(4);
    }
    expect(await ids(provider, { sinceRevision: cursor })).toEqual([]);
  });

  it('given a cursor of an older inventory, then the List is full', async () => {
    const first = await scene();
    const cursor = await head(first.provider);
    const second = await scene({ clock: first.clock });
    await first.clock.advance(1);
    const third = await scene({ clock: first.clock });
    expect(await ids(third.provider, { sinceRevision: cursor })).toHaveLength(4);
    expect(second.provider.machineCount).toBe(4);
  });

  it('given deltas with a limit, when each is read from the cursor before, then they have every change', async () => {
    const { provider } = await scene({ backend: new HeldBackend(9) });
    let cursor = await head(provider);
    const changed = ['m-1', 'm-3', 'm-4', 'm-6', 'm-8'];
    for (const id of changed) await provider.create(createOf(id));
    const seen: string[] = [];
    for (let page = 0; page < 3; page++) {
      const list = await provider.list(filter({ sinceRevision: cursor, maxResults: 2 }));
      expect(list.machines.length).toBeLessThanOrEqual(2);
      seen.push(...list.machines.map(({ id }) => id));
      cursor = list.revision;
    }
    expect(seen.sort()).toEqual(changed);
    expect(cursor).toEqual(await head(provider));
  });

  it('given any history, then a delta has exactly the machines that changed after its cursor', async () => {
    const step = fc.record({
      machine: fc.integer({ min: 0, max: 5 }),
      what: fc.constantFrom('create', 'lose', 'recover', 'price'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const { provider, backend } = await scene({ backend: new HeldBackend(6) });
        const cursors = [await head(provider)];
        const changes: Set<string>[] = [];
        for (const [i, { machine, what }] of steps.entries()) {
          const id = `m-${machine}`;
          const before = await provider.list(filter());
          if (what === 'create') await provider.create(createOf(id)).catch(() => {});
          if (what === 'lose') await provider.lose(id, 'lost');
          if (what === 'recover') await provider.recover(id, null);
          if (what === 'price') {
            backend.offerings = backend.offerings.map((known) =>
              known.id === id ? { ...known, pricePerHour: i % 3 } : known,
            );
            await provider.refresh();
          }
          const after = await provider.list(filter());
          const old = new Map(before.machines.map((record) => [record.id, JSON.stringify(shown(record))]));
          const moved = after.machines.filter(
            (record) => old.get(record.id) !== JSON.stringify(shown(record)),
          );
          expect(Buffer.from(after.revision).equals(Buffer.from(before.revision))).toBe(moved.length === 0);
          changes.push(new Set(moved.map((record) => record.id)));
          cursors.push(after.revision);
        }
        for (const [i, cursor] of cursors.entries()) {
          const expected = new Set(changes.slice(i).flatMap((set) => [...set]));
          expect(await ids(provider, { sinceRevision: cursor })).toEqual([...expected].sort());
        }
      }),
      { numRuns: 40 },
    );
  });
});

function shown(record: MachineList['machines'][number]) {
  return { ...record, labels: [...record.labels], shardMetadata: [...record.shardMetadata] };
}
