// The channel between a worker thread and its owner: order, requests both ways, transfers, failures and the end.

import { afterEach, describe, expect, it } from 'vitest';
import type { FromTestWorker, ToTestWorker } from '../../testing/support/channel-worker.ts';
import { BigFleetError } from '../model/index.ts';
import { WorkerChannel, type WorkerChannelParts } from './worker-channel.ts';

type Channel = WorkerChannel<string, ToTestWorker, FromTestWorker>;

const running: Channel[] = [];

afterEach(async () => {
  for (const channel of running.splice(0)) await channel.close();
});

function scene(more: Partial<WorkerChannelParts<string, FromTestWorker>> = {}) {
  const said: string[] = [];
  const failures: Error[] = [];
  const channel: Channel = new WorkerChannel<string, ToTestWorker, FromTestWorker>({
    name: 'test',
    module: new URL('../../testing/support/channel-worker.ts', import.meta.url),
    start: '> ',
    onItem: ({ text }) => said.push(text),
    onFailure: (error) => failures.push(error),
    ...more,
  });
  running.push(channel);
  return { channel, said, failures };
}

describe('messages of a worker channel', () => {
  it('given items and requests of several turns, then the worker handles them in the order they were sent', async () => {
    const { channel, said } = scene();
    const answers: Promise<number>[] = [];
    for (let i = 0; i < 20; i++) {
      channel.queue({ kind: 'echo', text: `${i}` });
      answers.push(channel.request(new Uint8Array(i)));
      if (i % 3 === 0) channel.post({ kind: 'echo', text: `${i} posted` });
      if (i % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 20 }, (_, i) => i));
    expect(said).toEqual(
      Array.from({ length: 20 }, (_, i) => (i % 3 === 0 ? [`> ${i}`, `> ${i} posted`] : [`> ${i}`])).flat(),
    );
  });

  it('given a buffer to transfer, then the worker receives it and the owner no longer has it', async () => {
    const { channel } = scene();
    const bytes = new Uint8Array(5000);
    expect(await channel.request(bytes, [bytes.buffer])).toBe(5000);
    expect(bytes).toHaveLength(0);
  });

  it('given a refused request, then its promise rejects with the error, with its code, and the worker continues', async () => {
    const { channel, failures } = scene();
    await expect(channel.request('refuse')).rejects.toThrow(new TypeError('not a number'));
    const coded = channel.request('refuse-coded');
    await expect(coded).rejects.toBeInstanceOf(BigFleetError);
    await expect(coded).rejects.toMatchObject({ code: 'BF_STORE_FAILED' });
    expect(await channel.request(new Uint8Array(1))).toBe(1);
    expect(failures).toEqual([]);
  });

  it('given requests of the worker, then it receives the answers and refusals of its owner', async () => {
    const { channel, said } = scene({
      onRequest: (text, answer, refuse) => (text === '' ? refuse('no text') : answer(text.toUpperCase())),
    });
    for (const text of ['a', '', 'b']) channel.queue({ kind: 'ask-owner', text });
    await expect.poll(() => said, { interval: 5 }).toEqual(['answer A', 'refusal no text', 'answer B']);
  });
});

describe('a paced worker channel', () => {
  it('given no resume, then messages wait; afterwards all arrive and nothing is unhandled', async () => {
    let reports = 0;
    const { channel, said } = scene({ pace: { turnMs: 5, onHandled: () => reports++ } });
    channel.queue({ kind: 'echo', text: '1' });
    channel.queue({ kind: 'echo', text: '2' });
    expect(channel.unhandled).toBe(2);
    await expect.poll(() => channel.unhandled, { interval: 5 }).toBe(0);
    expect(channel.unhandledMs).toBe(0);
    expect(reports).toBeGreaterThan(0);
    expect(said).toEqual([]);
    channel.resume();
    expect(await channel.request(new Uint8Array(3))).toBe(3);
    expect(said).toEqual(['> 1', '> 2']);
  });
});

describe('a worker that ends', () => {
  it.each([
    ['throw', 'RangeError', 'out of range'],
    ['exit', 'Error', 'The test thread ended with code 3.'],
  ] as const)(
    'by %s, then pending and later requests reject with the reason, which is reported once',
    async (...row) => {
      const [kind, name, message] = row;
      const { channel, failures } = scene();
      const pending = channel.request('never');
      channel.post({ kind });
      await expect(pending).rejects.toMatchObject({ name, message });
      await expect(channel.request('never')).rejects.toMatchObject({ name, message });
      channel.post({ kind: 'echo', text: 'too late' });
      await channel.close({ kind: 'close' });
      expect(failures).toHaveLength(1);
      if (kind === 'throw') expect(failures[0]!.stack).toContain('channel-worker.ts');
    },
  );

  it('on request of its owner, then it handles everything queued before, and no failure is reported', async () => {
    const { channel, said, failures } = scene();
    const answered = channel.request(new Uint8Array(2));
    const pending = channel.request('never').catch((error: Error) => error.message);
    channel.queue({ kind: 'echo', text: 'last' });
    await Promise.all([channel.close({ kind: 'close' }), channel.close({ kind: 'close' })]);
    expect(await answered).toBe(2);
    expect(said).toEqual(['> last']);
    expect(await pending).toBe('The test thread ended with code 0.');
    expect(failures).toEqual([]);
  });

  it('by termination, then pending requests reject and no failure is reported', async () => {
    const { channel, failures } = scene();
    const pending = channel.request('never').catch((error: Error) => error.message);
    await channel.close();
    expect(await pending).toBe('The test thread was closed.');
    expect(failures).toEqual([]);
  });
});
