import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { awaitValue } from './await-value.ts';

function controlBlock(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(8));
}

/** A thread that runs `code` with `control` after this thread has had time to park. */
function thread(control: Int32Array, code: string): Worker {
  return new Worker(
    `const { workerData: control } = require('node:worker_threads');
     const pause = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
     while (Atomics.load(control, 1) === 0) pause(1);
     pause(20);
     ${code}`,
    { eval: true, workerData: control },
  );
}

describe('waiting for a value in shared memory', () => {
  it('given the value, then it returns at once', () => {
    expect(awaitValue(controlBlock(), 0, 0, { spins: 1, patienceMs: 0 })).toBe(0);
  });

  it('given a thread that notifies without a change, then it waits for the value all the same', async () => {
    const control = controlBlock();
    const worker = thread(
      control,
      `for (let i = 0; i < 20; i++) { Atomics.notify(control, 0); pause(2); }
       Atomics.store(control, 0, 6); Atomics.notify(control, 0); pause(5);
       Atomics.store(control, 0, 7); Atomics.notify(control, 0);`,
    );
    await new Promise((resolve) => worker.once('online', resolve));
    Atomics.store(control, 1, 1);
    expect(awaitValue(control, 0, 7, { spins: 1, patienceMs: 60_000 })).toBe(7);
    await worker.terminate();
  });

  it('given another value when its patience ends, then it returns that', () => {
    const control = controlBlock();
    control[0] = 3;
    expect(awaitValue(control, 0, 7, { spins: 1, patienceMs: 5 })).toBe(3);
  });
});
