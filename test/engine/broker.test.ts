// The commit broker in isolation: cases 103 to 117 of the catalogue, adapted to our rank order. Rows are named by their
// place in rank order, so "of higher precedence" reads "of smaller number".

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  Broker,
  type BrokerMemory,
  brokerMemory,
  Mode,
  type Outcome,
  type Proposal,
  RowStatus,
} from '../../src/engine/parallel/broker.ts';
import type { Race } from './racer.ts';

const RETRIES = 10;
const M1 = 1;
const M2 = 2;
const M3 = 3;

/** A broker for `rows` rows over `machines` machines with one conflict key each, all rows in flight. */
function aBroker({
  rows = 8,
  machines = 16,
  retries = RETRIES,
  conflictKeysOf = (_slot: number): number[] => [0],
} = {}): Broker {
  const broker = new Broker(brokerMemory(rows, machines, 4, retries), conflictKeysOf);
  for (let i = 0; i < rows; i++) broker.next();
  return broker;
}

/** Proposes with current numbers, unless others are given. */
function propose(broker: Broker, row: number, machines: number[], rest: Partial<Proposal> = {}): Outcome {
  const conflictKeys = rest.conflictKeys ?? [0];
  const observed = conflictKeys.map((conflictKey) => broker.sequenceOf(conflictKey));
  const view = { mode: Mode.Incremental, credited: 0, observed, clock: broker.clock, sensitive: false };
  return broker.propose({ row, machines, conflictKeys, ...view, ...rest });
}

function committed(outcome: Outcome): readonly number[] {
  if (outcome.status !== 'committed') throw new Error(`not committed: ${outcome.status}`);
  return outcome.machines;
}

function displaced(outcome: Outcome): readonly number[] {
  return outcome.status === 'committed' ? outcome.displaced : [];
}

const MODES = [
  ['incremental', Mode.Incremental],
  ['all-or-nothing', Mode.AllOrNothing],
] as const;

describe('the commit broker', () => {
  it('103: given a fresh conflict key, when two machines are proposed at 0, then both are claimed and it is at 1', () => {
    const broker = aBroker();
    expect(committed(propose(broker, 0, [M1, M2]))).toEqual([M1, M2]);
    expect(broker.sequenceOf(0)).toBe(1);
    expect([broker.ownerOf(M1), broker.ownerOf(M2)]).toEqual([0, 0]);
  });

  it('104: given a stale number, then it is a conflict that returns the current one, and nothing is claimed', () => {
    const broker = aBroker();
    propose(broker, 0, [M1]);
    const outcome = propose(broker, 1, [M2], { observed: [0] });
    expect(outcome).toEqual({ status: 'conflict', sequence: [1] });
    expect(broker.ownerOf(M2)).toBe(-1);
    expect(broker.retriesLeft(1)).toBe(RETRIES - 1);
  });

  it('105: given one of three claimed by a better row, when incremental, then the other two are claimed', () => {
    const broker = aBroker();
    propose(broker, 0, [M2]);
    const outcome = propose(broker, 1, [M1, M2, M3]);
    expect(committed(outcome)).toEqual([M1, M3]);
    expect(outcome).toMatchObject({ conflicted: [M2], displaced: [] });
    expect(broker.ownerOf(M2)).toBe(0);
  });

  it('106: given one of three claimed by a better row, when all-or-nothing, then it is a conflict, the other two stay free and the number stays', () => {
    const broker = aBroker();
    propose(broker, 0, [M2]);
    const outcome = propose(broker, 1, [M1, M2, M3], { mode: Mode.AllOrNothing });
    expect(outcome).toEqual({ status: 'conflict', sequence: [1] });
    expect([broker.ownerOf(M1), broker.ownerOf(M3), broker.sequenceOf(0)]).toEqual([-1, -1, 1]);
  });

  it.each(MODES)('107: given all claimed by better rows, when %s, then it is a conflict', (_, mode) => {
    const broker = aBroker();
    propose(broker, 0, [M1, M2]);
    expect(propose(broker, 1, [M1, M2], { mode }).status).toBe('conflict');
  });

  it('107: given an empty proposal, then it is a conflict', () => {
    expect(propose(aBroker(), 0, []).status).toBe('conflict');
  });

  it('108: given five commits, then the conflict key is at 5, and another is unchanged', () => {
    const broker = aBroker({ conflictKeysOf: (slot) => [slot < 8 ? 0 : 1] });
    for (const row of [0, 1, 2, 3, 4]) propose(broker, row, [row]);
    expect([broker.sequenceOf(0), broker.sequenceOf(1)]).toEqual([5, 0]);
    propose(broker, 5, [9], { conflictKeys: [1] });
    expect([broker.sequenceOf(0), broker.sequenceOf(1)]).toEqual([5, 1]);
  });

  it('108: given a machine with two conflict keys, when it is claimed or released, then both numbers advance', () => {
    const broker = aBroker({ conflictKeysOf: (slot) => (slot === M1 ? [0, 1] : [0]) });
    propose(broker, 3, [M1]);
    expect([broker.sequenceOf(0), broker.sequenceOf(1)]).toEqual([1, 1]);
    propose(broker, 4, [M2]);
    // Row 2 claims M2 of row 4, which releases its machine of conflict key 0 alone.
    propose(broker, 2, [M2]);
    expect([broker.sequenceOf(0), broker.sequenceOf(1)]).toEqual([3, 1]);
  });

  it('109: given a machine of a worse row, then a better row displaces that row, which costs it a retry', () => {
    const broker = aBroker();
    propose(broker, 5, [M1]);
    expect(displaced(propose(broker, 2, [M1]))).toEqual([5]);
    expect(broker.ownerOf(M1)).toBe(2);
    expect([broker.statusOf(5), broker.retriesLeft(5)]).toEqual([RowStatus.Queued, RETRIES - 1]);
  });

  it('109: given a displaced row, then its whole acquisition is released', () => {
    const broker = aBroker();
    propose(broker, 5, [M1, M2, M3]);
    propose(broker, 2, [M1]);
    expect([broker.ownerOf(M2), broker.ownerOf(M3)]).toEqual([-1, -1]);
  });

  it('110: given a row of equal priority, then it displaces the other only if it is better ranked', () => {
    const broker = aBroker();
    propose(broker, 2, [M1]);
    expect(propose(broker, 5, [M1]).status).toBe('conflict');
    expect(displaced(propose(broker, 1, [M1]))).toEqual([2]);
  });

  it('111: given two machines of one worse row and a free one, when all-or-nothing, then all three are claimed', () => {
    const broker = aBroker();
    propose(broker, 5, [M1, M2]);
    const outcome = propose(broker, 2, [M1, M2, M3], { mode: Mode.AllOrNothing });
    expect(committed(outcome)).toEqual([M1, M2, M3]);
    expect(displaced(outcome)).toEqual([5]);
  });

  it('112: given machines of a better row, of a worse row and a free one, when all-or-nothing, then none is claimed', () => {
    const broker = aBroker();
    propose(broker, 1, [M1]);
    propose(broker, 5, [M2]);
    expect(propose(broker, 3, [M1, M2, M3], { mode: Mode.AllOrNothing }).status).toBe('conflict');
    expect([broker.ownerOf(M1), broker.ownerOf(M2), broker.ownerOf(M3)]).toEqual([1, 5, -1]);
  });

  it('113: given machines of a better row, of a worse row and a free one, when incremental, then the last two are claimed', () => {
    const broker = aBroker();
    propose(broker, 1, [M1]);
    propose(broker, 5, [M2]);
    const outcome = propose(broker, 3, [M1, M2, M3]);
    expect(committed(outcome)).toEqual([M2, M3]);
    expect(displaced(outcome)).toEqual([5]);
    expect(broker.ownerOf(M1)).toBe(1);
  });

  it('114: given a row displaced with its last retry, then it is set aside for the barrier, not queued again', () => {
    const broker = aBroker({ retries: 1 });
    propose(broker, 5, [M1]);
    propose(broker, 2, [M1]);
    expect([broker.statusOf(5), broker.retriesLeft(5)]).toEqual([RowStatus.Exhausted, 0]);
    expect(broker.next()).toBe(-1);
    expect(broker.counts).toMatchObject({ displacements: [1, 0], exhausted: [1, 0] });
  });

  it('114: given a row that conflicts with its last retry, then the answer says so', () => {
    const broker = aBroker({ retries: 2 });
    propose(broker, 0, [M1]);
    expect(propose(broker, 1, [M1]).status).toBe('conflict');
    expect(propose(broker, 1, [M1]).status).toBe('exhausted');
  });

  it('116: given a row that read a claim which is then released, then it is displaced too, though its own machine is not wanted', () => {
    const broker = aBroker();
    propose(broker, 5, [M1]);
    propose(broker, 6, [M2]); // claimed the second because the first was gone
    expect(displaced(propose(broker, 2, [M1]))).toEqual([5, 6]);
    expect(broker.ownerOf(M2)).toBe(-1);
  });

  it('116: given a row that was solved before that claim, then it keeps its own', () => {
    const broker = aBroker();
    const { clock } = broker;
    propose(broker, 5, [M1], { conflictKeys: [1] });
    propose(broker, 6, [M2], { clock });
    expect(displaced(propose(broker, 2, [M1]))).toEqual([5]);
  });

  it('116: given a gang that read a conflict key, when a better row claims anything of it, then the gang is displaced', () => {
    const broker = aBroker();
    propose(broker, 5, [M1, M2], { mode: Mode.AllOrNothing, sensitive: true });
    propose(broker, 6, [4]);
    expect(displaced(propose(broker, 2, [M3]))).toEqual([5, 6]);
  });

  it('117: given a row that was displaced several times, then it is in flight once', () => {
    const broker = aBroker();
    propose(broker, 5, [M1, M2]);
    propose(broker, 2, [M1]);
    propose(broker, 1, [M2]);
    expect([broker.next(), broker.next()]).toEqual([5, -1]);
  });

  it('given nothing queued and nothing in flight, then the barrier is reached', () => {
    const broker = new Broker(brokerMemory(1, 4, 1, RETRIES), () => [0]);
    expect(broker.barrier).toBe(false);
    broker.next();
    expect(broker.barrier).toBe(false);
    propose(broker, 0, [M1]);
    expect(broker.barrier).toBe(true);
  });

  it('given a full log, then rows are set aside instead of writing beyond its end', () => {
    const broker = new Broker(brokerMemory(2, 4, 1, 2, 20), () => [0]);
    broker.next();
    broker.next();
    expect(propose(broker, 0, [M1]).status).toBe('committed');
    expect(propose(broker, 1, [M2]).status).toBe('conflict');
    expect(propose(broker, 1, [M2]).status).toBe('exhausted');
    expect(broker.barrier).toBe(true);
  });

  it('given any proposals in any order, then owners, claims and counts always agree', () => {
    const proposals = fc.array(
      fc.record({
        row: fc.nat(11),
        machines: fc.uniqueArray(fc.nat(9), { minLength: 1, maxLength: 4 }),
        mode: fc.constantFrom(Mode.Incremental, Mode.AllOrNothing),
        sensitive: fc.boolean(),
      }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(proposals, (steps) => {
        const broker = new Broker(brokerMemory(12, 10, 3, 1_000), (slot) => [slot % 3]);
        for (const { row, ...step } of steps) {
          for (let free = broker.next(); free !== -1; free = broker.next());
          if (broker.statusOf(row) !== RowStatus.InFlight) continue;
          propose(broker, row, step.machines, { ...step, conflictKeys: [0, 1, 2] });
          const owned = new Map<number, number[]>();
          for (let slot = 0; slot < 10; slot++) {
            const owner = broker.ownerOf(slot);
            if (owner !== -1) owned.set(owner, [...(owned.get(owner) ?? []), slot]);
          }
          for (let other = 0; other < 12; other++) {
            const holds = broker.statusOf(other) === RowStatus.Committed ? [...broker.claimsOf(other)] : [];
            expect(holds.sort((a, b) => a - b)).toEqual(owned.get(other) ?? []);
          }
        }
      }),
    );
  });
});

describe('racing proposers', () => {
  /** Runs `threads` threads over one broker until the barrier. */
  async function race(memory: BrokerMemory, machines: number, threads: number): Promise<Broker> {
    const start = new Int32Array(new SharedArrayBuffer(4));
    const workerData: Race = { memory, machines, start };
    const workers = Array.from(
      { length: threads },
      () => new Worker(new URL('./racer.ts', import.meta.url), { workerData }),
    );
    await Promise.all(workers.map((worker) => once(worker, 'online')));
    Atomics.store(start, 0, 1);
    Atomics.notify(start, 0);
    await Promise.all(workers.map((worker) => once(worker, 'exit')));
    return new Broker(memory, () => [0]);
  }

  it('115: given 32 threads and 200 machines, then no machine has two owners and the counts agree', {
    timeout: 600_000,
  }, async () => {
    const rows = 256;
    const broker = await race(brokerMemory(rows, 200, 1, 1_000_000, 4_000_000), 200, 32);
    const owners = Array.from({ length: 200 }, (_, slot) => broker.ownerOf(slot));
    expect(new Set(owners).size).toBe(200);
    const held = Array.from({ length: rows }, (_, row) => broker.claimsOf(row).length);
    const total = held.reduce((a, b) => a + b, 0);
    expect(total).toBe(200);
  });

  it('115: given 4 levels of 64 rows over 100 machines, then the best-ranked hundred rows have them', {
    timeout: 600_000,
  }, async () => {
    const broker = await race(brokerMemory(256, 100, 1, 1_000_000, 4_000_000), 100, 8);
    const owners = Array.from({ length: 100 }, (_, slot) => broker.ownerOf(slot)).sort((a, b) => a - b);
    expect(owners).toEqual(Array.from({ length: 100 }, (_, row) => row));
  });
});
