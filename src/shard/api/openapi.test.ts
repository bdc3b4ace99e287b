// The OpenAPI document that a shard serves, compared with the routes and with answers of a shard with fixed views.

import { afterEach, describe, expect, it } from 'vitest';
import { EVENTS, FakeShard, MACHINES, MET_EXPLANATION } from '../../../testing/support/fake-shard.ts';
import { AnswerCheck, type OpenApi, operationsIn } from '../../../testing/support/openapi.ts';
import { ROUTES } from './routes.ts';
import { serveApi } from './serve.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function served() {
  const shard = new FakeShard();
  const server = await serveApi(shard, '127.0.0.1:0', { tls: null });
  cleanups.push(() => server.close());
  const { url } = server;
  const get = async (path: string) => (await fetch(`${url}${path}`)).json();
  return { shard, url, get, document: (await get('/v1/openapi.json')) as OpenApi };
}

describe('the OpenAPI document', () => {
  it('has every route, and no other', async () => {
    const { document } = await served();
    expect(document.openapi).toBe('3.1.0');
    expect(operationsIn(document)).toEqual(ROUTES.map(({ method, path }) => `${method} ${path}`).toSorted());
  });

  it('has one operation id for each route', async () => {
    const { document } = await served();
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ROUTES.length);
  });

  it.each([
    ['/v1/status', '/v1/status'],
    ['/v1/machines', '/v1/machines?forgotten=true'],
    ['/v1/machines/{id}', `/v1/machines/${encodeURIComponent(MACHINES[2]!.id)}`],
    ['/v1/needs', '/v1/needs'],
    ['/v1/needs/{cluster}/{hash}', `/v1/needs/${MET_EXPLANATION.need.id}`],
    ['/v1/clusters', '/v1/clusters'],
    ['/v1/providers', '/v1/providers'],
    ['/v1/shortfalls', '/v1/shortfalls'],
    ['/v1/actions', '/v1/actions'],
    ['/v1/series', '/v1/series'],
    ['/v1/plan', '/v1/plan'],
    ['/v1/freezes', '/v1/freezes'],
  ])('given the answer of %s, then the document describes every field of it', async (path, url) => {
    const { document, get } = await served();
    expect(new AnswerCheck(document).problems(path, 'get', await get(url))).toEqual([]);
  });

  it('given an answer with a field that is undocumented, missing or of another type, then the check finds it', async () => {
    const { document, get } = await served();
    const check = new AnswerCheck(document);
    const { shard: _, ...status } = (await get('/v1/status')) as Record<string, unknown>;
    const problems = check.problems('/v1/status', 'get', { ...status, needs: 'many', extra: 1 }).join('\n');
    expect(problems).toContain('"missingProperty":"shard"');
    expect(problems).toContain('"additionalProperty":"extra"');
    expect(problems).toContain('/needs must be integer');
  });

  it('given an order, then the document describes its answer and its refusal', async () => {
    const { document, url } = await served();
    const check = new AnswerCheck(document);
    const send = async (body: object) =>
      (
        await fetch(`${url}/v1/freezes`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
      ).json();
    const answer = await send({ who: 'ann@desk', why: 'a drill' });
    expect(check.problems('/v1/freezes', 'post', answer)).toEqual([]);
    expect(check.problemsOfRefusal(await send({}))).toEqual([]);
  });

  it('given events, then the document describes them', async () => {
    const { document } = await served();
    const check = new AnswerCheck(document);
    for (const event of EVENTS) expect(check.problemsOf('ShardEvent', event)).toEqual([]);
  });
});
