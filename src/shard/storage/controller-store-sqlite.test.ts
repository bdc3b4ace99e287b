// The controller's store on disk: writes are durable at once, and a file belongs to one process and one format.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, it } from 'vitest';
import type { MachineFacts } from '../inventory/machine-facts-store.ts';
import type { Freeze } from '../planning/freezes.ts';
import type { ControllerStore } from '../planning/options.ts';
import { MemoryControllerStore } from './controller-store-memory.ts';
import { SqliteControllerStore } from './controller-store-sqlite.ts';

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0).reverse()) close();
});

function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bigfleet-brain-'));
  open.push(() => rmSync(folder, { recursive: true }));
  return join(folder, 'brain.db');
}

function opened(path: string): SqliteControllerStore {
  const store = new SqliteControllerStore(path);
  open.push(() => store.close());
  return store;
}

const BARE: MachineFacts = {
  id: 'm-bare',
  provider: 'p',
  target: null,
  cluster: '',
  stamp: null,
  idleSinceMs: null,
  quarantine: null,
  isForgotten: false,
  drain: null,
  protectedUntilMs: null,
  node: null,
};

const FULL: MachineFacts = {
  id: 'm\0 ü',
  provider: 'p\0',
  target: { cluster: 'c\0', fingerprint: 'f\0f', group: 'g\0' },
  cluster: 'c2',
  stamp: {
    priority: -(2 ** 31),
    interruptionPenaltyDollars: Number.POSITIVE_INFINITY,
    reclamationPenaltyDollars: 0.1,
    fingerprint: 'f\0',
    group: '',
  },
  idleSinceMs: 1_700_000_000_123.5,
  quarantine: { by: 'ada', why: '', sinceMs: Number.MAX_SAFE_INTEGER },
  isForgotten: true,
  drain: {
    id: '1-a',
    action: {
      kind: 'Reclaim',
      machine: 'm\0 ü',
      cluster: 'c2',
      reason: 'phase3.excess',
      graceSeconds: 600,
      preemptorPriority: 0,
      need: null,
    },
    about: { need: null, capacityType: 'SPOT', zone: 'a', from: null, leaving: null },
    startedMs: 1_700_000_000_000,
    untilMs: 1_700_000_600_000,
  },
  protectedUntilMs: 1_700_000_000_001,
  node: { name: 'n-1', providerId: 'cloud://1', joinError: '' },
};

const FLEET: Freeze = {
  id: 'fleet',
  cluster: null,
  action: null,
  who: 'ada',
  why: '',
  sinceMs: 5,
  untilMs: null,
};
const RECLAIMS: Freeze = {
  ...FLEET,
  id: 'action:Reclaim/cluster:a\0',
  cluster: 'a\0',
  action: 'Reclaim',
  untilMs: 9,
};

function manyFacts(count: number): MachineFacts[] {
  return Array.from({ length: count }, (_, i) => ({
    ...FULL,
    id: `provider-general-zone-a-${i}`,
    target: { ...FULL.target!, fingerprint: `fingerprint of a row that is as long as they are, ${i % 50}` },
  }));
}

function contentOf({ machines, freezes, drainReporters }: ControllerStore) {
  return {
    machines: new Set(machines.load()),
    freezes: new Set(freezes.freezes()),
    drainReporters: [...drainReporters.drainReporters()],
  };
}

const memory = new MemoryControllerStore();
const STORES: readonly (readonly [string, () => string, (path: string) => ControllerStore])[] = [
  ['on disk', newPath, opened],
  ['in memory', () => '', () => memory],
];

describe.each(STORES)('a controller store %s', (_, where, at) => {
  it('given writes of every kind, then a later load returns their result', () => {
    const path = where();
    const store = at(path);
    const noPriority = { ...FULL, id: 'm-2', stamp: { ...FULL.stamp!, priority: null }, target: null };
    const noNames = { ...BARE, id: 'm-3', target: { cluster: '', fingerprint: '', group: '' } };
    store.machines.save([BARE, { ...FULL, isForgotten: false }, { ...BARE, id: 'gone' }], []);
    store.machines.save([FULL, noPriority, noNames], ['gone', 'never there']);
    for (const freeze of [FLEET, RECLAIMS, { ...FLEET, id: 'lifted' }]) store.freezes.putFreeze(freeze);
    store.freezes.deleteFreezes(['lifted', 'never there']);
    store.drainReporters.saveDrainReporters(['c2', 'a\0', 'gone'], []);
    store.drainReporters.saveDrainReporters(['c1', 'c2'], ['gone', 'never there']);
    if (store instanceof SqliteControllerStore) store.close();
    expect(contentOf(at(path))).toEqual({
      machines: new Set([BARE, FULL, noPriority, noNames]),
      freezes: new Set([FLEET, RECLAIMS]),
      drainReporters: ['c2', 'a\0', 'c1'],
    });
  });
});

describe('a controller store on disk', () => {
  it('given a save that has returned, then it is on disk although the file was not closed', () => {
    const path = newPath();
    opened(path).machines.save([FULL], []);
    const copy = `${path}-copy`;
    for (const end of ['', '-wal']) writeFileSync(copy + end, readFileSync(path + end));
    expect([...opened(copy).machines.load()]).toEqual([FULL]);
  });

  it('given facts of a version without providers, then their provider is unknown', () => {
    const path = newPath();
    const { provider: _, ...old } = FULL;
    const store = opened(path);
    store.machines.save([old as MachineFacts], []);
    expect([...store.machines.load()]).toEqual([{ ...FULL, provider: '' }]);
  });

  it('given a freeze of a version without ends, then it has none', () => {
    const path = newPath();
    const { untilMs: _, ...old } = FLEET;
    const store = opened(path);
    store.freezes.putFreeze(old as Freeze);
    expect([...store.freezes.freezes()]).toEqual([FLEET]);
  });

  it('given a file of a version without later tables, then they are added', () => {
    const path = newPath();
    opened(path).close();
    const database = new DatabaseSync(path);
    for (const table of ['retirements', 'drain_reporters']) database.exec(`DROP TABLE ${table}`);
    database.close();
    const store = opened(path);
    expect([...store.retirements.retirements()]).toEqual([]);
    expect([...store.drainReporters.drainReporters()]).toEqual([]);
  });

  it('given thousands of facts saved repeatedly, then each is stored once', () => {
    const store = opened(newPath());
    const facts = manyFacts(5000);
    for (let i = 0; i < 3; i++) store.machines.save(facts, []);
    expect([...store.machines.load()]).toHaveLength(5000);
  });

  it('given a failed write, then it and all later ones throw', () => {
    const store = opened(newPath());
    store.close();
    expect(() => store.machines.save([FULL], [])).toThrow('BF_STORE_FAILED');
    expect(() => store.freezes.putFreeze(FLEET)).toThrow('BF_STORE_FAILED');
    expect(() => store.drainReporters.saveDrainReporters(['c1'], [])).toThrow('BF_STORE_FAILED');
  });

  it('given facts that cannot be stored, then the whole save is rolled back', () => {
    const path = newPath();
    const store = opened(path);
    const odd = { ...FULL, id: 'odd', idleSinceMs: 5n as unknown as number };
    expect(() => store.machines.save([FULL, odd], [])).toThrow('BF_STORE_FAILED');
    store.close();
    expect([...opened(path).machines.load()]).toEqual([]);
  });

  it('given a file that another process uses, then opening it is refused', () => {
    const path = newPath();
    opened(path);
    expect(() => new SqliteControllerStore(path)).toThrow('BF_STORE_LOCKED');
  });

  it('given a file of another format, then opening it is refused', () => {
    const database = newPath();
    const other = new DatabaseSync(database);
    other.exec('CREATE TABLE t (x)');
    other.close();
    const text = newPath();
    writeFileSync(text, 'this is no database, and long enough to be taken for one at first sight'.repeat(99));
    for (const path of [database, text, '/does/not/exist/brain.db']) {
      expect(() => new SqliteControllerStore(path)).toThrow('BF_STORE_UNREADABLE');
    }
  });

  it('given a file with broken pages, then loading it throws and does not return an empty state', () => {
    const path = newPath();
    const store = opened(path);
    store.machines.save(manyFacts(2000), []);
    store.close();
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.fill(0xff, bytes.length >> 1));
    expect(() => [...opened(path).machines.load()]).toThrow('BF_STORE_UNREADABLE');
  });
});
