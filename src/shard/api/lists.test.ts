// Parameters of lists, history and single items over HTTP, in front of a shard with fixed views.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLUSTERS, FakeShard, STATUS } from '../../../testing/support/fake-shard.ts';
import { Operator } from '../../model/index.ts';
import { packageVersion } from '../../runtime/package-version.ts';
import { type ApiServer, serveApi } from './serve.ts';

let shard: FakeShard;
let server: ApiServer;
beforeEach(async () => {
  shard = new FakeShard();
  server = await serveApi(shard, '127.0.0.1:0', { tls: null });
});
afterEach(() => server.close());

async function get(path: string) {
  const response = await fetch(`${server.url}${path}`);
  return { status: response.status, value: (await response.json()) as unknown };
}

describe('reading', () => {
  it.each([
    ['/v1/clusters/ml', CLUSTERS[1]],
    ['/v1/version', { shard: STATUS.shard, version: packageVersion(), node: process.versions.node }],
    ['/v1/history?machine=m-1&kind=action', { items: [{ kind: 'action', machine: 'm-1' }], next: null }],
  ])('GET %s', async (path, expected) => {
    expect(await get(path)).toMatchObject({ status: 200, value: expected });
  });

  it('given a selector and a sort, then the question to the shard has them', async () => {
    await get('/v1/machines?labels=rack%20in%20(r1,r2),!spot&sort=-price');
    expect(shard.asked).toEqual([
      {
        name: 'machines',
        ask: {
          where: {
            labels: [
              { key: 'rack', operator: Operator.In, values: ['r1', 'r2'] },
              { key: 'spot', operator: Operator.DoesNotExist, values: [] },
            ],
            withForgotten: false,
          },
          sort: { by: 'price', isDescending: true },
          limit: 1_000,
          maxBytes: 900_000,
        },
      },
    ]);
  });

  it('given conditions on history, then the question to the shard has them', async () => {
    await get('/v1/history?need=ml%2F00ff00ff00&cluster=ml&kind=action,loss&since=5&until=9&limit=3');
    expect(shard.asked).toEqual([
      {
        name: 'history',
        ask: {
          ...{ need: 'ml/00ff00ff00', cluster: 'ml', kinds: ['action', 'loss'], sinceMs: 5, untilMs: 9 },
          ...{ limit: 3, maxBytes: 900_000 },
        },
      },
    ]);
  });

  const forged = Buffer.from('machines-sorted:[1').toString('base64url');
  it.each([
    [400, '/v1/machines?labels=a%20b', 'key notin (a,b)'],
    [400, '/v1/machines?sort=size', 'must be one of id, -id, price'],
    [400, '/v1/machines?sort=price&order=trouble', 'Send either'],
    [400, `/v1/machines?sort=price&after=${forged}`, 'is not a cursor of this list'],
    [400, '/v1/history?kind=action,nonsense', 'must be some of action, loss, waiting, need, log'],
    [400, '/v1/history?until=noon', 'must be a time in milliseconds'],
    [404, '/v1/clusters/nowhere', 'There is no cluster nowhere.'],
  ])('given an invalid request, then %i: %s', async (status, path, message) => {
    expect(await get(path)).toMatchObject({
      status,
      value: { error: { message: expect.stringContaining(message) as string } },
    });
  });
});
