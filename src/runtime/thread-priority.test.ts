// The priority of a thread, as the system has it.

import { getPriority } from 'node:os';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';

describe('the priority of a thread', () => {
  it('given a thread that lowers its own, then that of the others is as before', async () => {
    // Given
    const module = new URL('./thread-priority.ts', import.meta.url);
    const code = `import('${module}').then(({ lowerThreadPriority }) => {
      lowerThreadPriority();
      require('node:worker_threads').parentPort.postMessage(require('node:os').getPriority());
    })`;
    const own = getPriority();
    // When
    const worker = new Worker(code, { eval: true });
    const lowered = await new Promise<number>((resolve, reject) => {
      worker.on('message', resolve).on('error', reject);
    });
    await worker.terminate();
    // Then
    expect(lowered).toBe(process.platform === 'linux' ? Math.max(10, own) : own);
    expect(getPriority()).toBe(own);
  });
});
