// The routes about past cycles, on a shard with a fixed answer, and on one without a journal.

import { afterEach, describe, expect, it } from 'vitest';
import { FakeShard } from '../../../testing/support/fake-shard.ts';
import { AnswerCheck, type OpenApi } from '../../../testing/support/openapi.ts';
import { onePastCycle } from '../../../testing/support/past-cycles.ts';
import { BigFleetError } from '../../model/index.ts';
import type { CyclePlanView, PastCyclesPort } from '../views.ts';
import { serveApi } from './serve.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function served(port: Partial<PastCyclesPort> | null = {}) {
  const past = onePastCycle();
  const { asked } = past;
  const cycles = port === null ? null : { ...past, ...port };
  const shard = new FakeShard();
  const server = await serveApi(shard, '127.0.0.1:0', { tls: null, cycles });
  cleanups.push(() => server.close());
  const get = async (path: string) => read(await fetch(`${server.url}${path}`));
  const redecide = async (body: object = {}, path = '/v1/cycles/7/redecide') =>
    read(
      await fetch(`${server.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    );
  return { asked, get, redecide, shard };
}

async function read(response: Response) {
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    value: (await response.json()) as { error: { code: string; message: string } },
  };
}

function failing(code: ConstructorParameters<typeof BigFleetError>[0]) {
  return async (): Promise<never> => {
    throw new BigFleetError(code, 'Reason.');
  };
}

describe('past cycles over HTTP', () => {
  it('given answers, then the document describes every field of them', async () => {
    const { get, redecide } = await served();
    const check = new AnswerCheck((await get('/v1/openapi.json')).value as unknown as OpenApi);
    expect(check.problems('/v1/cycles/{n}', 'get', (await get('/v1/cycles/7')).value)).toEqual([]);
    expect(check.problems('/v1/cycles/{n}/redecide', 'post', (await redecide()).value)).toEqual([]);
  });

  it('given a page, then its cursor leads to the next one', async () => {
    const { get, asked } = await served();
    const { value } = await get('/v1/cycles/7?epoch=3&limit=1');
    const { next } = (value as unknown as CyclePlanView).actions;
    await get(`/v1/cycles/7?after=${next}`);
    expect(asked).toMatchObject([
      { cycle: 7, epoch: 3, limit: 1, after: undefined, maxBytes: 900_000 },
      { cycle: 7, epoch: undefined, limit: 1_000, after: '41' },
    ]);
  });

  it('given a body, then the question has its epoch and limit, and else the defaults', async () => {
    const { redecide, asked } = await served();
    await redecide({ epoch: 3, limit: 5 });
    await redecide();
    expect(asked).toEqual([
      { cycle: 7, epoch: 3, limit: 5 },
      { cycle: 7, epoch: undefined, limit: 100 },
    ]);
  });

  it.each([
    ['/v1/cycles/first', 'must be a whole number'],
    ['/v1/cycles/7?epoch=x', 'must be a whole number'],
    ['/v1/cycles/7?after=xyz', 'is not a cursor of this list'],
    ['/v1/history?epoch=3', 'needs "cycle"'],
    ['/v1/history?cycle=-1', 'must be a whole number'],
  ])('GET %s is refused', async (path, message) => {
    const { get } = await served();
    expect(await get(path)).toMatchObject({ status: 400 });
    expect((await get(path)).value.error.message).toContain(message);
  });

  it.each([
    ['BF_JOURNAL_RANGE', 404, 'not_found'],
    ['BF_JOURNAL_UNREADABLE', 503, 'unavailable'],
    ['BF_REDECIDE_BUSY', 503, 'busy'],
    ['BF_REDECIDE_LATE', 504, 'timeout'],
  ] as const)('given %s, then it answers %i', async (code, status, word) => {
    const { redecide, get } = await served({ redecide: failing(code), plan: failing(code) });
    for (const answer of [await redecide(), await get('/v1/cycles/7')]) {
      expect(answer).toMatchObject({ status, value: { error: { code: word } } });
      expect(answer.value.error.message).toMatch(/^Reason\. \S/);
      expect(answer.retryAfter).toBe(word === 'busy' ? '1' : null);
    }
  });

  it('given a cycle for history, then the question to the shard has it', async () => {
    const { get, shard } = await served();
    await get('/v1/history?cycle=7&epoch=3&kind=action');
    expect(shard.asked).toMatchObject([{ name: 'history', ask: { cycle: 7, epoch: 3, kinds: ['action'] } }]);
  });

  it('given a shard without a journal, then each question about a cycle is refused with the reason', async () => {
    const { get, redecide, shard } = await served(null);
    const answers = [await get('/v1/cycles/7'), await redecide(), await get('/v1/history?cycle=7')];
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 409, value: { error: { code: 'refused' } } });
      expect(answer.value.error.message).toContain('keeps no journal');
    }
    expect(shard.asked).toEqual([]);
  });
});
