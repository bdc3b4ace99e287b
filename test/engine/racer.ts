// A thread that proposes machines for its rows until each of them is committed: acquires any machine that is free or
// claimed by a worse-ranked row, one at a time, and retries after a conflict. Started several times by broker.test.ts
// on one shared memory.

import { workerData } from 'node:worker_threads';
import { Broker, type BrokerMemory, Mode } from '../../src/engine/parallel/broker.ts';

export interface Race {
  readonly memory: BrokerMemory;
  readonly machines: number;
  /** Flips to 1 when all threads may start. */
  readonly start: Int32Array;
}

const { machines, memory, start } = workerData as Race;
const broker = new Broker(memory, () => [0]);
Atomics.wait(start, 0, 0);
for (;;) {
  const row = broker.next();
  if (row === -1) {
    if (broker.barrier) break;
    broker.rest();
    continue;
  }
  solve(row);
}

function solve(row: number): void {
  for (;;) {
    const observed = [broker.sequenceOf(0)];
    const { clock } = broker;
    const found = pickFor(row);
    const view = {
      row,
      mode: Mode.Incremental,
      credited: 0,
      conflictKeys: [0],
      observed,
      clock,
      sensitive: false,
    };
    const proposal = { ...view, machines: found === -1 ? [] : [found] };
    const { status } = found === -1 ? broker.abstain(proposal) : broker.propose(proposal);
    if (status !== 'conflict') return;
  }
}

function pickFor(row: number): number {
  for (let slot = 0; slot < machines; slot++) {
    const owner = broker.ownerOf(slot);
    if (owner === -1 || owner > row) return slot;
  }
  return -1;
}
