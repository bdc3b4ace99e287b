// A real shard on loopback, with clouds and clusters: its journal is replayed and read while it runs and after it
// ended.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { historyCommand } from '../../src/cli/journal/history.ts';
import { replayCommand } from '../../src/cli/journal/replay.ts';
import { noPaint } from '../../src/cli/table.ts';
import { startDemoEnvironment } from '../../src/demo/demo.ts';
import {
  ALWAYS,
  defaultConfig,
  JournalReader,
  journalFileIn,
  type RunningShard,
  replay,
  type ShardConfig,
} from '../../src/shard/index.ts';
import { startShard } from '../../src/shard/process/shard.ts';

/** A shard, clouds and clusters in one process are slow on a slow machine. */
const PATIENCE_MS = 60_000;
let dir: string;
const open: (() => Promise<void> | void)[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'bigfleet-journal-'));
});
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
  rmSync(dir, { recursive: true });
});

function configOf(providers: ShardConfig['providers']): ShardConfig {
  return {
    ...defaultConfig(),
    ...{ providers, dataDir: join(dir, 'data'), listen: '127.0.0.1:0', api: '127.0.0.1:0' },
    cycle: { intervalMs: 100, spacingMs: 20, readyWaitMs: 30_000 },
  };
}

async function started(): Promise<RunningShard> {
  const environment = await startDemoEnvironment({
    ...{ dir: join(dir, 'clouds'), clusters: 4, machines: 80, seed: 1, speed: 200 },
    onEvent: () => {},
  });
  open.push(() => environment.stop());
  const shard = await startShard(configOf(environment.providers), { log: () => {} });
  open.push(() => shard.stop());
  environment.connect(shard.addresses.sessions);
  await vi.waitFor(async () => {
    const { cycle, machinesByState } = await shard.port.ask('status', {});
    expect(cycle?.number).toBeGreaterThan(20);
    expect(machinesByState['CONFIGURED']).toBeGreaterThan(0);
  }, PATIENCE_MS);
  return shard;
}

function verdicts(): { isSame: boolean | null; cycle: number | undefined }[] {
  const reader = new JournalReader(journalFileIn(join(dir, 'data')));
  try {
    return [...replay(reader, ALWAYS)].map(({ isSame, recorded }) => ({ isSame, cycle: recorded?.cycle }));
  } finally {
    reader.close();
  }
}

async function run(command: typeof replayCommand | typeof historyCommand, ...args: string[]) {
  let text = '';
  let code = 0;
  const io = {
    out: (more: string) => {
      text += more;
    },
    paint: noPaint,
    exitCode: (n: number) => {
      code = n;
    },
  };
  await command(io).parseAsync(['--data-dir', join(dir, 'data'), ...args], { from: 'user' });
  return { text, code };
}

describe('the journal of a running shard', () => {
  it('given a replay while it is written and after the end, then every cycle has its digest', async () => {
    const shard = await started();
    await vi.waitFor(() => expect(verdicts().length).toBeGreaterThan(20), PATIENCE_MS);
    expect(verdicts().filter(({ isSame }) => isSame === false)).toEqual([]);
    const [anAction] = (await shard.port.ask('actions', { limit: 1 })).actions.items;
    await shard.port.order({
      kind: 'freeze',
      scope: { cluster: null, action: null },
      who: 'ann',
      why: 'a look',
    });
    await shard.port.order({ kind: 'quarantine', machine: anAction!.machine, who: 'ann', why: 'smells' });
    const { cycle } = await shard.port.ask('status', {});
    await shard.stop();

    const all = verdicts();
    expect(all.every(({ isSame }) => isSame === true)).toBe(true);
    expect(all.at(-1)!.cycle).toBeGreaterThanOrEqual(cycle!.number);
    expect(all.map(({ cycle: number }) => number)).toEqual(all.map((_, i) => i + 1));

    const { text, code } = await run(replayCommand, '--from', '1h');
    expect(code).toBe(0);
    expect(text).toContain(`${all.length} cycles: ${all.length} the same, 0 different`);
    const plan = JSON.parse((await run(replayCommand, '--cycle', '3', '--plan')).text) as object;
    expect(Object.keys(plan)).toEqual(['actions', 'needs', 'claims', 'restamps', 'digest']);

    const history = await run(historyCommand, 'machine', anAction!.machine);
    expect(history.code).toBe(0);
    expect(history.text).toMatch(/is on record: (Idle|Speculative)/);
    expect(history.text).toContain('quarantine by ann (smells)');
    expect((await run(historyCommand, 'cluster', anAction!.cluster || 'web')).text).toContain(
      'its demand changed',
    );
    expect((await run(historyCommand, 'machine', 'no-such')).code).toBe(1);
  }, 180_000);
});
