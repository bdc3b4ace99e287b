// The journal's thread (worker side; started by journal-thread.ts), the only writer of the journal's file. Writes all queued
// messages in batches, and drops expired entries every EXPIRE_MS. An error ends the thread, and with it the journal.

import { renameSync, rmSync } from 'node:fs';
import { BigFleetError } from '../../model/index.ts';
import { WorkerPort } from '../../runtime/worker-port.ts';
import type { JournalMessage } from './format.ts';
import { JournalFile } from './journal-file.ts';
import { bytesOf, type FromJournal, type JournalThreadStart, type ToJournal } from './journal-thread.ts';

/** Bound for a transaction; its last message may exceed it. */
const MAX_BATCH_BYTES = 8 * 2 ** 20;
const EXPIRE_MS = 60_000;

const port = new WorkerPort<JournalThreadStart, FromJournal, ToJournal>();
const { path, limits } = port.start;
let waiting: JournalMessage[] = [];
let isEnding = false;
let isWriteDue = false;

/** An unreadable journal is renamed, so that a new one can be written. */
function opened(): JournalFile {
  try {
    return new JournalFile(path, limits);
  } catch (error) {
    if (!(error instanceof BigFleetError) || error.code !== 'BF_STORE_UNREADABLE') throw error;
    for (const end of ['-wal', '-shm']) rmSync(`${path}${end}`, { force: true });
    renameSync(path, `${path}.unreadable`);
    port.post({ kind: 'replaced', why: error.message });
    return new JournalFile(path, limits);
  }
}

function write(): void {
  isWriteDue = false;
  let batch: JournalMessage[] = [];
  let bytes = 0;
  const finish = (): void => {
    if (batch.length === 0) return;
    journal.write(batch);
    port.post({ kind: 'written', bytes });
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
  clearInterval(expiring);
  port.close();
}

const journal = opened();
journal.expire(Date.now());
const expiring = setInterval(() => journal.expire(Date.now()), EXPIRE_MS).unref();
port.listen({
  onItem: (message) => {
    if (message.kind === 'close') isEnding = true;
    else waiting.push(message);
    if (isWriteDue) return;
    isWriteDue = true;
    setImmediate(write);
  },
});
