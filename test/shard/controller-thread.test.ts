// The controller's thread, with a scripted controller: order, batches, demand, failures, the end.

import { spawnSync } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import { makeProfile, type Need } from '../../src/model/index.ts';
import type { ControllerEvent, Effect } from '../../src/shard/events.ts';
import { ControllerThread, DEFAULT_CONTROLLER, type ShardEvent } from '../../src/shard/index.ts';
import { DeltaSource } from '../../testing/support/rollup-deltas.ts';
import { command, planWith, textEffect } from '../../testing/support/thread-controller.ts';

const options = { ...DEFAULT_CONTROLLER, shard: 's1', epoch: 1n, providers: [], seed: 1 };
const factory = new URL('../../testing/support/thread-controller.ts', import.meta.url);
const running: ControllerThread[] = [];

afterEach(async () => {
  for (const thread of running.splice(0)) await thread.stop(0);
});

interface Scene {
  readonly thread: ControllerThread;
  readonly effects: Effect[];
  readonly failures: Error[];
  /** Waits until the controller has emitted this text. */
  readonly emitted: (text: string) => Promise<void>;
}

async function scene(): Promise<Scene> {
  const effects: Effect[] = [];
  const failures: Error[] = [];
  const onFailure = (error: Error): void => void failures.push(error);
  const thread = await ControllerThread.start({ setup: { options, file: '' }, factory, onFailure });
  running.push(thread);
  thread.onEffect((effect) => effects.push(effect));
  const emitted = (text: string): Promise<void> =>
    expect.poll(() => effects, { interval: 5 }).toContainEqual(textEffect(text));
  return { thread, effects, failures, emitted };
}

function needOf(cluster: string, profile: number, cpu: number): Need {
  const amounts = new Map([['cpu', cpu]]);
  const parts = { cluster, group: `${cpu}`, aggregate: amounts, minUnit: amounts, firstSeenMs: 1 };
  return { ...parts, profile: makeProfile({ priority: profile }) };
}

function answerWith(blob: Uint8Array): ControllerEvent {
  return { kind: 'bootstrap-answered', request: '0', blob, ttlSeconds: 1, error: '' };
}

describe('the thread of the controller', () => {
  it('given many events, then each is delivered once and in order, and so are effects and answers', async () => {
    const { thread, effects } = await scene();
    const expected = ['started'];
    for (let i = 0; i < 300; i++) {
      thread.post(command(`say:${i}`));
      expected.push(`${i}`);
      if (i % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    const answer = await thread.ask('metrics', {});
    expect(answer.split(' ')).toEqual(expected.slice(1).map((text) => `say:${text}`));
    expect(effects).toEqual(expected.map(textEffect));
    await expect.poll(() => thread.waiting).toBe(0);
    expect(thread.waitingMs).toBe(0);
  });

  it('given demand, then only fresh rows are sent, and profiles are shared', async () => {
    const { thread, emitted } = await scene();
    const rows = [needOf('c1', 1, 1), needOf('c1', 1, 2), needOf('c1', 2, 3)];
    const source = new DeltaSource('c1');
    const post = (...needs: readonly Need[]): void =>
      thread.post({ kind: 'demand', delta: source.next(needs), rowsSetAside: 0 });
    post(...rows);
    await emitted('3 rows, 0 known, 2 profiles');
    post(needOf('c1', 2, 4), ...rows);
    await emitted('4 rows, 3 known, 2 profiles');
    post(...rows.slice(1));
    await emitted('2 rows, 2 known, 2 profiles');
  });

  it('given a structured clone of a Need, then it is equal', () => {
    const need = needOf('c1', 1, 1);
    expect(structuredClone(need)).toEqual(need);
  });

  it('given a blob that owns its buffer, then it is transferred; given a view of a larger buffer, then it is copied', async () => {
    const { thread, emitted } = await scene();
    const own = new Uint8Array(10_000);
    const part = new Uint8Array(20_000).subarray(0, 9000);
    thread.post(answerWith(own));
    thread.post(answerWith(part));
    await emitted('blob of 10000');
    await emitted('blob of 9000');
    expect(own).toHaveLength(0);
    expect(part).toHaveLength(9000);
  });

  it('given a controller that is busy, then the main thread does not wait, and posted events are queued', async () => {
    const { thread, emitted } = await scene();
    const gate = new Int32Array(new SharedArrayBuffer(4));
    thread.post(answerWith(new Uint8Array(gate.buffer)));
    for (let i = 0; i < 1000; i++) thread.post(command(`say:${i}`));
    let hasRoom = false;
    void thread.room().then(() => (hasRoom = true));
    for (let turns = 0; turns < 100; turns++) await new Promise((resolve) => setImmediate(resolve));
    expect(thread.waiting).toBe(1001);
    expect(thread.waitingMs).toBeGreaterThan(0);
    expect(hasRoom).toBe(false);
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
    await thread.room();
    await emitted('999');
    await expect.poll(() => thread.waiting).toBe(0);
  });

  it('given very many effects, then they are executed in short turns', async () => {
    const { thread, effects, emitted } = await scene();
    let turn = 0;
    const counting = setInterval(() => turn++, 0);
    const turns = new Set<number>();
    thread.onEffect((effect) => {
      for (const until = performance.now() + 0.05; performance.now() < until; );
      effects.push(effect);
      turns.add(turn);
    });
    thread.post(command('burst:3000'));
    await emitted('2999');
    clearInterval(counting);
    expect(effects.slice(1)).toEqual(Array.from({ length: 3000 }, (_, i) => textEffect(`${i}`)));
    // 150 ms of work in turns of 5 ms.
    expect(turns.size).toBeGreaterThan(10);
  });

  it('given an event, then listeners receive it until they unsubscribe', async () => {
    const { thread, emitted } = await scene();
    const events: ShardEvent[] = [];
    const end = thread.listen((event) => events.push(event));
    thread.post(command('event:first'));
    thread.post(command('say:1'));
    await emitted('1');
    end();
    thread.post(command('event:second'));
    thread.post(command('say:2'));
    await emitted('2');
    expect(events).toEqual([{ kind: 'log', level: 'info', event: 'first', fields: {} }]);
  });

  it('given orders and queries, then they are answered, and a query that fails rejects only its caller', async () => {
    const { thread, failures } = await scene();
    await expect(thread.order({ kind: 'retry', machine: 'm1', who: 'ada' })).resolves.toEqual({
      isDone: true,
      message: 'retry by ada',
    });
    await expect(thread.ask('status', {})).rejects.toThrow('there is no query status');
    await expect(thread.ask('metrics', {})).resolves.toBe('');
    expect(failures).toEqual([]);
  });

  it('given several threads of the engine, then they run from within the thread of the controller', async () => {
    const { thread, emitted } = await scene();
    thread.post(command('plan:3'));
    await emitted(await planWith(1));
  });
});

describe('a controller that fails', () => {
  it.each(['throw', 'throw-later', 'reject'])(
    'given a failure by %s, then its error is reported once, with its stack',
    async (how) => {
      const { thread, failures } = await scene();
      const asked = thread.ask('metrics', {});
      await asked;
      thread.post(command(how));
      await expect.poll(() => failures, { interval: 5 }).toHaveLength(1);
      expect(failures[0]).toMatchObject({ name: 'RangeError', message: 'out of its mind' });
      expect(failures[0]!.stack).toContain('thread-controller.ts');
    },
  );

  it('given a failure by an order, then the caller of the order receives the error', async () => {
    const { thread, failures } = await scene();
    await expect(thread.order({ kind: 'unfreeze', id: '1', who: 'ada' })).rejects.toThrow('has stopped');
    expect(failures).toMatchObject([{ message: 'an order that breaks it' }]);
  });

  it('given no failure handler, then the process ends with the error', () => {
    const code = `
      import { ControllerThread, DEFAULT_CONTROLLER } from ${JSON.stringify(import.meta.resolve('../../src/shard/index.ts'))};
      const options = { ...DEFAULT_CONTROLLER, shard: 's1', epoch: 1n, providers: [], seed: 1 };
      const factory = new URL(${JSON.stringify(factory.href)});
      const thread = await ControllerThread.start({ setup: { options, file: '' }, factory });
      setInterval(() => {}, 1000);
      thread.post({ kind: 'reclaim-acked', instruction: 'throw' });
    `;
    const { status, stderr } = spawnSync(process.execPath, ['--eval', code], {
      encoding: 'utf8',
    });
    expect(stderr).toMatch(/RangeError: out of its mind\n +at .*thread-controller\.ts/);
    expect(status).toBe(1);
  });

  it('given the end of its thread, then that is a failure, and later events are dropped', async () => {
    const { thread, failures } = await scene();
    thread.post(command('exit'));
    await expect.poll(() => failures, { interval: 5 }).toHaveLength(1);
    expect(failures[0]!.message).toContain('code 3');
    thread.post(command('say:1'));
    await expect(thread.ask('metrics', {})).rejects.toThrow('has stopped');
    await thread.room();
    await thread.stop();
  });

  it('given a failure before it is running, then the start rejects', async () => {
    const start = ControllerThread.start({ setup: { options, file: 'broken' }, factory });
    await expect(start).rejects.toThrow('the store cannot be opened');
  });

  it('given a failure while it stops, then the stop rejects', async () => {
    const { thread, failures } = await scene();
    thread.post(command('work:10000'));
    const stopped = thread.stop();
    thread.post(command('throw'));
    await expect(stopped).rejects.toThrow('out of its mind');
    expect(failures).toHaveLength(1);
    running.length = 0;
  });
});

describe('a controller that is stopped', () => {
  it('given in-flight work, then it finishes it and emits its effects before the thread ends', async () => {
    const { thread, effects, failures } = await scene();
    thread.post(command('work:100'));
    await Promise.all([thread.stop(), thread.stop()]);
    expect(effects).toEqual(['started', 'stopping', 'worked', 'closing'].map(textEffect));
    expect(failures).toEqual([]);
  });

  it('given events while it stops, then it handles them', async () => {
    const { thread, effects } = await scene();
    thread.post(command('work:200'));
    const stopped = thread.stop();
    thread.post(command('say:late'));
    await stopped;
    expect(effects).toContainEqual(textEffect('late'));
  });

  it('given work beyond the time limit, then it is closed at the limit', async () => {
    const { thread, effects } = await scene();
    thread.post(command('work:60000'));
    await thread.stop(50);
    expect(effects).toEqual(['started', 'stopping', 'closing'].map(textEffect));
  });

  it('given no handler of its effects, then it ends nevertheless', async () => {
    const thread = await ControllerThread.start({ setup: { options, file: '' }, factory });
    await thread.stop();
  });
});
