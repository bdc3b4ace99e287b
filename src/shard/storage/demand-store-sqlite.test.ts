// The durable demand store: writes survive a restart, and a file belongs to one process and one format.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, it } from 'vitest';
import { aClock, bench, quarantinedIn, rollupOf, wireNeed } from '../../../testing/support/sessions.ts';
import type { BaselineRow, FirstSeenRow } from './demand-store.ts';
import { SqliteDemandStore } from './demand-store-sqlite.ts';

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0).reverse()) close();
});

function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bigfleet-demand-'));
  open.push(() => rmSync(folder, { recursive: true }));
  return join(folder, 'demand.db');
}

function opened(path: string): SqliteDemandStore {
  const store = new SqliteDemandStore(path);
  open.push(() => store.close());
  return store;
}

async function contentOf(path: string) {
  const store = opened(path);
  const { baselines, seen } = await store.load();
  return { baselines: [...baselines], seen: [...seen] };
}

const baseline: BaselineRow = {
  cluster: 'c\0 1',
  rows: 20,
  totals: new Map([
    ['cpu', 2 ** 60],
    ['a\0b', 0],
  ]),
  isRefused: true,
};
const row = (group: string, absentSinceMs: number | null = null): FirstSeenRow => ({
  key: { cluster: 'c\0 1', fingerprint: 'f\0', group },
  firstSeenMs: 1_700_000_000_123,
  absentSinceMs,
});

describe('a demand store on disk', () => {
  it('given writes of every kind, then a new process loads their result', async () => {
    const path = newPath();
    const store = opened(path);
    await Promise.all([
      store.write({ baseline: { ...baseline, rows: 1 }, seen: [row('a'), row('b\0'), row('')] }),
      store.write({ baseline, seen: [row('a', 5)], forgotten: [row('').key] }),
    ]);
    store.close();
    const { baselines, seen } = await contentOf(path);
    expect(baselines).toEqual([baseline]);
    expect(new Set(seen)).toEqual(new Set([row('a', 5), row('b\0')]));
  });

  it('given a shard that is restarted, then rows keep their first-seen times and a collapsed roll-up is quarantined', async () => {
    const path = newPath();
    const clock = aClock();
    const needs = Array.from({ length: 20 }, (_, i) => wireNeed(i, { group: `g\0${i}` }));
    const startedMs = clock.now();
    for (const rows of [needs, []]) {
      const store = new SqliteDemandStore(path);
      const { greet, settle, sessions, demandOf } = await bench({ store, clock });
      greet('c1').rollup(rollupOf('c1', rows));
      await settle();
      await settle();
      expect(demandOf('c1')?.[0]?.firstSeenMs).toBe(rows === needs ? startedMs : undefined);
      expect(quarantinedIn(sessions)).toHaveLength(rows === needs ? 0 : 1);
      sessions.close();
      store.close();
      await clock.advance(1000);
    }
    const { seen } = await contentOf(path);
    expect(new Set(seen.map(({ firstSeenMs }) => firstSeenMs))).toEqual(new Set([startedMs]));
  });

  it('given a failed write, then all later ones fail', async () => {
    const store = opened(newPath());
    store.close();
    await expect(store.write({ baseline })).rejects.toThrow();
    await expect(store.write({ baseline })).rejects.toThrow();
  });

  it('given a file in use or of another format, then opening it is refused', () => {
    const path = newPath();
    opened(path);
    expect(() => new SqliteDemandStore(path)).toThrow('BF_STORE_LOCKED');
    const other = newPath();
    const database = new DatabaseSync(other);
    database.exec('CREATE TABLE t (x)');
    database.close();
    expect(() => new SqliteDemandStore(other)).toThrow('BF_STORE_UNREADABLE');
  });
});
