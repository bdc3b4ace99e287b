// The journal's thread. Writes all queued messages in batches, and drops expired entries every EXPIRE_MS.

import { renameSync, rmSync } from 'node:fs';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { BigFleetError } from '../../model/index.ts';
import type { JournalMessage } from './format.ts';
import { JournalFile } from './journal-file.ts';
import { bytesOf, type FromJournal, type JournalThreadStart } from './journal-thread.ts';

/** Bound for a transaction; its last message may exceed it. */
const MAX_BATCH_BYTES = 8 * 2 ** 20;
const EXPIRE_MS = 60_000;

const port: MessagePort = parentPort!;
const { path, limits } = workerData as JournalThreadStart;
let waiting: JournalMessage[] = [];
let isEnding = false;
let isDue = false;

function say(message: FromJournal): void {
  port.postMessage(message);
}

/** An unreadable journal is renamed, so that a new one can be written. */
function opened(): JournalFile {
  try {
    return new JournalFile(path, limits);
  } catch (error) {
    if (!(error instanceof BigFleetError) || error.code !== 'BF_STORE_UNREADABLE') throw error;
    for (const end of ['-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
    renameSync(path, `${path}.unreadable`);
    say({ kind: 'replaced', why: error.message });
    return new JournalFile(path, limits);
  }
}

function attempt(act: () => void): void {
  try {
    act();
  } catch (error) {
    say({ kind: 'failed', why: error instanceof Error ? error.message : String(error) });
    process.exit();
  }
}

function write(journal: JournalFile): void {
  isDue = false;
  let batch: JournalMessage[] = [];
  let bytes = 0;
  const finish = (): void => {
    if (batch.length === 0) return;
    journal.write(batch);
    say({ kind: 'written', bytes });
    batch = [];
    bytes = 0;
  };
  for (const message of waiting) {
    batch.push(message);
    bytes += bytesOf(message);
    if (bytes >= MAX_BATCH_BYTES) finish();
  }
  finish();
  waiting = [];
  if (!isEnding) return;
  journal.close();
  process.exit();
}

attempt(() => {
  const journal = opened();
  journal.expire(Date.now());
  setInterval(() => attempt(() => journal.expire(Date.now())), EXPIRE_MS).unref();
  // null: nothing comes any more.
  port.on('message', (message: JournalMessage | null) => {
    if (message === null) isEnding = true;
    else waiting.push(message);
    if (isDue) return;
    isDue = true;
    setImmediate(() => attempt(() => write(journal)));
  });
});
