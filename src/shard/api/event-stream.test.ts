// Filters of a reader of the event stream; serve.test.ts has the stream over HTTP.

import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeShard, STATUS } from '../../../testing/support/fake-shard.ts';
import type { ShardEvent } from '../views.ts';
import { EVENT_STREAM_LIMITS, EventStream } from './event-stream.ts';
import type { EventsWanted } from './route.ts';

const CYCLE: ShardEvent = { kind: 'cycle', status: STATUS };
const LOG: ShardEvent = { kind: 'log', id: '1', atMs: 1, level: 'warn', event: 'x', fields: {} };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

async function reading(wanted: EventsWanted) {
  const shard = new FakeShard();
  const stream = new EventStream(shard, EVENT_STREAM_LIMITS);
  const reader = Object.assign(new PassThrough(), { writeHead: () => {} });
  await stream.add(reader as unknown as ServerResponse, {}, wanted);
  const publish = (event: ShardEvent): void => {
    for (const listener of shard.listeners) listener(event);
  };
  const kinds = (): readonly string[] =>
    [...String(reader.read()).matchAll(/^event: (.*)$/gm)].map(([, kind]) => kind!);
  return { publish, kinds };
}

describe('a reader of the event stream', () => {
  it('given kinds, then it gets only these', async () => {
    const { publish, kinds } = await reading({ kinds: new Set(['log']) });
    publish(CYCLE);
    publish(LOG);
    expect(kinds()).toEqual(['log']);
  });

  it('given a pace, then cycles within it are left out, and other events are not', async () => {
    const { publish, kinds } = await reading({ paceMs: 1_000 });
    for (let i = 0; i < 20; i++) {
      publish(CYCLE);
      publish(LOG);
      vi.advanceTimersByTime(100);
    }
    const all = kinds();
    expect(all.filter((kind) => kind === 'log')).toHaveLength(20);
    expect(all.filter((kind) => kind === 'cycle')).toHaveLength(3);
  });

  it('given neither, then it gets everything', async () => {
    const { publish, kinds } = await reading({});
    publish(CYCLE);
    publish(CYCLE);
    publish(LOG);
    expect(kinds()).toEqual(['cycle', 'cycle', 'log']);
  });
});
