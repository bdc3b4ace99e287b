// The demand store on a thread: writes are durable, and a failure rejects every later write.

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
  it('given writes and a close, then a new store loads their result', async () => {
    const path = newPath();
    const store = await opened(path);
    await store.write({ baseline, seen: [row('a'), row('b')] });
    await store.write({ forgotten: [row('a').key] });
    await store.close();

    const { baselines, seen } = await (await opened(path)).load();

    expect([...baselines]).toEqual([baseline]);
    expect([...seen]).toEqual([row('b')]);
  });

  it('given queued writes, when it is closed, then they are committed', async () => {
    const path = newPath();
    const store = await opened(path);
    const writing = [store.write({ seen: [row('a')] }), store.write({ seen: [row('b')] })];
    await Promise.all([...writing, store.close()]);

    const { seen } = await (await opened(path)).load();

    expect([...seen]).toEqual([row('a'), row('b')]);
  });

  it('given a file of another format, then opening it rejects with the reason', async () => {
    const path = newPath();
    writeFileSync(path, 'not a database, and longer than the header of one'.repeat(100));

    const error: unknown = await DemandStoreThread.open(path).catch((reason: unknown) => reason);

    // The error class survives the thread boundary, so that a command prints one line and no stack trace.
    expect(error).toBeInstanceOf(BigFleetError);
    expect(error).toMatchObject({ code: 'BF_STORE_UNREADABLE' });
  });

  it('given a failed write, then all later writes fail', async () => {
    const store = await opened(newPath());
    const bad = { seen: [{ ...row('a'), firstSeenMs: 'soon' as unknown as number }] };

    const writes = [store.write(bad), store.write({ seen: [row('b')] })];

    for (const { status } of await Promise.allSettled(writes)) expect(status).toBe('rejected');
    await expect(store.write({ seen: [row('c')] })).rejects.toThrow(/^BF_STORE_FAILED: .*demand\.db: /);
  });

  it('given a closed store, then a write is rejected', async () => {
    const store = await opened(newPath());
    await store.close();

    await expect(store.write({ seen: [row('a')] })).rejects.toThrow('ended');
  });
});
