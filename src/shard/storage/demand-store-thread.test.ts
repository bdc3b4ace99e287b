// The demand store on a thread: what was written is found again, and a failure reaches every writer.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { BigFleetError } from '../../model/index.ts';
import type { BaselineRow, FirstSeenRow } from './demand-store.ts';
import { DemandStoreThread } from './demand-store-thread.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bigfleet-demand-thread-'));
  cleanups.push(() => rmSync(folder, { recursive: true }));
  return join(folder, 'demand.db');
}

async function opened(path: string): Promise<DemandStoreThread> {
  const store = await DemandStoreThread.open(path);
  cleanups.push(() => store.close());
  return store;
}

const baseline: BaselineRow = { cluster: 'c', rows: 2, totals: new Map([['cpu', 2 ** 60]]), isRefused: true };
const row = (group: string): FirstSeenRow => ({
  key: { cluster: 'c', fingerprint: 'f\0', group },
  firstSeenMs: 1_700_000_000_123,
  absentSinceMs: null,
});

describe('a demand store on a thread', () => {
  it('finds again what was written before it was closed', async () => {
    const path = newPath();
    const store = await opened(path);
    await store.write({ baseline, seen: [row('a'), row('b')] });
    await store.write({ forgotten: [row('a').key] });
    await store.close();

    const { baselines, seen } = await (await opened(path)).load();

    expect([...baselines]).toEqual([baseline]);
    expect([...seen]).toEqual([row('b')]);
  });

  it('writes what is under way when it is closed', async () => {
    const path = newPath();
    const store = await opened(path);
    const writing = [store.write({ seen: [row('a')] }), store.write({ seen: [row('b')] })];
    await Promise.all([...writing, store.close()]);

    const { seen } = await (await opened(path)).load();

    expect([...seen]).toEqual([row('a'), row('b')]);
  });

  it('rejects a file that is not one, with the reason', async () => {
    const path = newPath();
    writeFileSync(path, 'not a database, and long enough to be looked at as one'.repeat(100));

    const error: unknown = await DemandStoreThread.open(path).catch((reason: unknown) => reason);

    // As what it was on its thread, so that a command shows it as one line and not as a fault of the program.
    expect(error).toBeInstanceOf(BigFleetError);
    expect(error).toMatchObject({ code: 'BF_STORE_UNREADABLE' });
  });

  it('refuses everything after a write that failed', async () => {
    const store = await opened(newPath());
    const bad = { seen: [{ ...row('a'), firstSeenMs: 'soon' as unknown as number }] };

    const writes = [store.write(bad), store.write({ seen: [row('b')] })];

    for (const { status } of await Promise.allSettled(writes)) expect(status).toBe('rejected');
    await expect(store.write({ seen: [row('c')] })).rejects.toThrow(/^BF_STORE_FAILED: .*demand\.db: /);
  });

  it('takes nothing once it is closed', async () => {
    const store = await opened(newPath());
    await store.close();

    await expect(store.write({ seen: [row('a')] })).rejects.toThrow('ended');
  });
});
