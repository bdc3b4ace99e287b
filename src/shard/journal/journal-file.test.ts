// The file of a journal: bounded, intact after a crash, and without effect on the shard if it fails.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { aMachine, aNeed, resources } from '../../../testing/support/fleets.ts';
import { ALL_READY, fileAt, Recorded, replayAll, withPath } from '../../../testing/support/journal.ts';
import type { PendingChange } from '../../fleet/index.ts';
import { MachineState, type Need, wholeRollup } from '../../model/index.ts';
import type { JournalMessage } from './format.ts';
import { ALWAYS, JournalReader } from './journal-reader.ts';
import { JournalThread } from './journal-thread.ts';

const { Idle, Speculative } = MachineState;

function seen(...ids: readonly string[]): PendingChange[] {
  return ids.map((id) => ({ kind: 'observe', machine: aMachine(id, Idle), atMs: 1 }));
}

function wanted(cluster: string, cpu: number): PendingChange {
  const needs: Need[] = [aNeed({ cluster, aggregate: resources({ cpu }) })];
  return { kind: 'demand', delta: wholeRollup(cluster, needs) };
}

/** Machines whose names hardly shrink, so that a few hundred cycles fill a small file. */
function arrivals(cycle: number): PendingChange[] {
  return Array.from({ length: 40 }, (_, i) => {
    const id = `m-${Math.sin(cycle * 40 + i)}-${Math.cos(cycle + i)}`;
    return { kind: 'observe', machine: aMachine(id, Speculative), atMs: 1 } as const;
  });
}

function beginnings(path: string): (string | null)[] {
  const reader = new JournalReader(path);
  const found = [...reader.cycles(0)].map(({ begin }) => begin).filter((begin) => begin !== null);
  reader.close();
  return found;
}

describe('JournalFile', () => {
  it('given more than fits, then the oldest entries are dropped, the file stays below its limit, and the rest can be replayed', () => {
    withPath((path) => {
      const maxBytes = 2 ** 20;
      const file = fileAt(path, { maxBytes });
      const recorded = new Recorded(file, { limits: { maxBytes } });
      let known: PendingChange[] = [];
      for (let i = 0; i < 600; i++) {
        const entries = arrivals(i);
        recorded.cycle([...known.map((entry) => goneOf(entry)), ...entries, wanted('c1', i)]);
        known = entries;
        if (i % 50 === 49) expect(statSync(path).size).toBeLessThanOrEqual(maxBytes);
      }
      file.close();
      const cycles = replayAll(path);
      expect(cycles.length).toBeGreaterThan(50);
      expect(cycles.length).toBeLessThan(600);
      expect(cycles.at(-1)!.recorded!.cycle).toBe(600);
      expect(cycles.every(({ isSame }) => isSame)).toBe(true);
    });
  });

  it('given a segment that is older than the limit and a later one that is whole, then the old one is dropped', () => {
    withPath((path) => {
      const limits = { maxAgeMs: 80_000 };
      const file = fileAt(path, limits);
      const recorded = new Recorded(file, { limits });
      for (let i = 0; i < 100; i++) recorded.cycle(seen(`m${i}`));
      file.expire(recorded.nowMs);
      const [first] = replayAll(path);
      expect(recorded.nowMs - first!.atMs).toBeGreaterThanOrEqual(80_000);
      expect(recorded.nowMs - first!.atMs).toBeLessThanOrEqual(92_000);
      file.close();
    });
  });

  it('given cycles that were not written, then a replay continues where the state is complete again', () => {
    withPath((path) => {
      const file = fileAt(path);
      const sink = { behindBytes: 0, put: (message: JournalMessage) => file.put(message) };
      const recorded = new Recorded(sink, { slice: 2 });
      recorded.cycle([...seen('a', 'b', 'c'), wanted('c1', 8)]);
      sink.behindBytes = 2 ** 30;
      recorded.cycle(seen('d'));
      recorded.cycle([{ kind: 'gone', id: 'a' }]);
      sink.behindBytes = 0;
      for (let i = 0; i < 4; i++) recorded.cycle([]);
      file.close();
      expect(recorded.published).toMatchObject([{ event: 'journal-gap' }]);
      expect(beginnings(path)).toEqual(['start', 'gap']);
      const cycles = replayAll(path);
      // A slice has two machines, so the first cycle after the gap is not yet whole.
      expect(cycles.map(({ recorded: was }) => was!.cycle)).toEqual([1, 5, 6, 7]);
      expect(cycles.every(({ isSame }) => isSame)).toBe(true);
    });
  });

  it('given a second process, then its fleet begins empty and both can be replayed', () => {
    withPath((path) => {
      for (const epoch of [1n, 2n]) {
        const file = fileAt(path);
        const recorded = new Recorded(file, { epoch });
        recorded.cycle([...seen(`m${epoch}`), wanted('c1', 4)]);
        recorded.cycle([], { ...ALL_READY, cannotBind: new Set(['c1']) });
        file.close();
      }
      expect(replayAll(path)).toMatchObject([
        { epoch: 1, isSame: true },
        { epoch: 1, isSame: true },
        { epoch: 2, isSame: true },
        { epoch: 2, isSame: true },
      ]);
    });
  });

  it('given a decision that ended the process, then it can be replayed, without a digest to compare', () => {
    withPath((path) => {
      const file = fileAt(path);
      const recorded = new Recorded(file);
      recorded.cycle(seen('a'));
      const applied = recorded.pending.commitMachines().writeRows();
      recorded.recorder.input(applied, recorded.nowMs + 1, ALL_READY);
      file.close();
      expect(replayAll(path)).toMatchObject([{ isSame: true }, { isSame: null, recorded: null }]);
    });
  });

  it('given an input that was changed afterwards, then the digest differs', () => {
    withPath((path) => {
      const file = fileAt(path);
      const recorded = new Recorded({
        behindBytes: 0,
        put: (message) =>
          file.put(
            message.kind === 'outcome'
              ? { ...message, outcome: { ...message.outcome, digest: '0000000000000000' } }
              : message,
          ),
      });
      recorded.cycle([...seen('a'), wanted('c1', 4)]);
      file.close();
      expect(replayAll(path)).toMatchObject([{ isSame: false }]);
    });
  });
});

function goneOf(entry: PendingChange): PendingChange {
  return { kind: 'gone', id: entry.kind === 'observe' ? entry.machine.id : '' };
}

describe('a journal after a crash', () => {
  it('given a writer that was killed, then every cycle that it had written is there, with its digest', async () => {
    await withPath(async (path) => {
      const script = fileURLToPath(new URL('../../../testing/support/journal-writer.ts', import.meta.url));
      const child = spawn(process.execPath, [script, path], { stdio: ['ignore', 'pipe', 'inherit'] });
      let written = 0;
      for await (const line of createInterface(child.stdout)) {
        written = Number(line);
        if (written >= 200) break;
      }
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      const cycles = replayAll(path);
      expect(cycles.length).toBeGreaterThanOrEqual(written);
      expect(cycles.filter(({ isSame }) => isSame === false)).toEqual([]);
    });
  });

  it('given a torn tail, then all cycles before it are present', () => {
    withPath((path) => {
      const file = fileAt(path);
      const recorded = new Recorded(file);
      for (let i = 0; i < 50; i++) recorded.cycle(seen(`m${i}`));
      // As a crash of the machine would leave it: the log is there, but not to its end.
      const torn = `${path}.torn`;
      writeFileSync(torn, readFileSync(path));
      writeFileSync(`${torn}-wal`, readFileSync(`${path}-wal`));
      file.close();
      truncateSync(`${torn}-wal`, statSync(`${torn}-wal`).size - 6000);
      const cycles = replayAll(torn);
      expect(cycles.length).toBeGreaterThan(40);
      expect(cycles.length).toBeLessThan(50);
      expect(cycles.filter(({ isSame }) => isSame === false)).toEqual([]);
    });
  });

  it('given a file of another format, then it is refused with BF_JOURNAL_UNREADABLE', () => {
    withPath((path) => {
      expect(() => new JournalReader(path)).toThrow(
        expect.objectContaining({ code: 'BF_JOURNAL_UNREADABLE' }),
      );
      writeFileSync(path, 'nothing of the kind'.repeat(1000));
      expect(() => new JournalReader(path)).toThrow(
        expect.objectContaining({ code: 'BF_JOURNAL_UNREADABLE' }),
      );
    });
  });

  it('given a broken record, then a replay that reads it is refused with BF_JOURNAL_UNREADABLE', () => {
    withPath((path) => {
      const file = fileAt(path);
      const recorded = new Recorded(file);
      recorded.cycle(seen('a'));
      recorded.cycle(seen('b'));
      file.close();
      const database = new DatabaseSync(path);
      database.exec("UPDATE cycles SET input = x'00ff0f' WHERE seq = 2");
      database.close();
      expect(() => replayAll(path)).toThrow(expect.objectContaining({ code: 'BF_JOURNAL_UNREADABLE' }));
    });
  });

  it('given times outside the journal, then a replay is refused with BF_JOURNAL_RANGE', () => {
    withPath((path) => {
      const file = fileAt(path);
      expect(() => replayAll(path)).toThrow(expect.objectContaining({ code: 'BF_JOURNAL_RANGE' }));
      new Recorded(file).cycle(seen('a'));
      expect(() => replayAll(path, { ...ALWAYS, fromMs: 1e15 })).toThrow(
        expect.objectContaining({ code: 'BF_JOURNAL_RANGE' }),
      );
      file.close();
    });
  });
});

describe('JournalThread', () => {
  const limits = { maxBytes: 2 ** 24, maxAgeMs: 1e12 };

  it('given messages, when it is closed, then all of them are written', async () => {
    await withPath(async (path) => {
      const thread = new JournalThread({ path, limits, onReplaced: fail, onFailure: fail });
      const recorded = new Recorded(thread);
      for (let i = 0; i < 20; i++) recorded.cycle(seen(`m${i}`));
      expect(thread.behindBytes).toBeGreaterThan(0);
      await thread.close();
      expect(replayAll(path)).toHaveLength(20);
    });
  });

  it('given an unreadable file, then it is renamed and a new one is written', async () => {
    await withPath(async (path) => {
      writeFileSync(path, 'broken'.repeat(1000));
      const said: string[] = [];
      const thread = new JournalThread({
        path,
        limits,
        onReplaced: (why) => said.push(why),
        onFailure: fail,
      });
      new Recorded(thread).cycle(seen('a'));
      await thread.close();
      expect(said).toHaveLength(1);
      expect(existsSync(`${path}.unreadable`)).toBe(true);
      expect(replayAll(path)).toHaveLength(1);
    });
  });

  it('given a full disk, then a readable journal is not renamed', () => {
    withPath((path) => {
      const file = fileAt(path);
      new Recorded(file).cycle(seen('a'));
      file.close();
      const url = new URL('./journal-thread.ts', import.meta.url).href;
      const given = JSON.stringify({ path, limits });
      const script = `import(${JSON.stringify(url)}).then(({ JournalThread }) => {
        const say = (what) => (why) => console.log(what, why.slice(0, why.indexOf(':')));
        new JournalThread({ ...${given}, onReplaced: say('replaced'), onFailure: say('failed') });
      })`;
      // A limit on the size of files simulates a full disk.
      const command = 'ulimit -f 1; exec "$0" -e "$1"';
      const { stdout } = spawnSync('bash', ['-c', command, process.execPath, script], { encoding: 'utf8' });
      expect(stdout).toBe('failed BF_STORE_FAILED\n');
      expect(existsSync(`${path}.unreadable`)).toBe(false);
      expect(replayAll(path)).toHaveLength(1);
    });
  });

  it('given a path that cannot be written, then the failure is reported once and later messages are dropped', async () => {
    const said: string[] = [];
    const path = '/nowhere/at/all/journal.db';
    const thread = new JournalThread({ path, limits, onReplaced: fail, onFailure: (why) => said.push(why) });
    const recorded = new Recorded(thread);
    recorded.cycle(seen('a'));
    await expect.poll(() => said).toHaveLength(1);
    recorded.cycle(seen('b'));
    expect(thread.behindBytes).toBe(0);
    await thread.close();
    expect(said).toHaveLength(1);
  });
});

function fail(why: string): never {
  throw new Error(why);
}
