// The API over HTTP on loopback, in front of a shard with fixed views.

import { get, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { connect as tcpConnect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import {
  BOOTSTRAP,
  CLUSTERS,
  EVENTS,
  FakeShard,
  FREEZE,
  MACHINES,
  MET_EXPLANATION,
  PLAN,
  SERIES,
  SHORTFALL,
  STATUS,
  UNMET,
} from '../../../testing/support/fake-shard.ts';
import { BigFleetError } from '../../model/index.ts';
import { type ApiOptions, serveApi } from './serve.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function served(options: Partial<ApiOptions> = {}) {
  const shard = new FakeShard();
  const server = await serveApi(shard, '127.0.0.1:0', { tls: null, ...options });
  cleanups.push(() => server.close());
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    const sent = typeof body === 'string' ? body : JSON.stringify(body);
    const got = await send(`${server.url}${path}`, { method, headers: { ...json, ...headers } }, sent);
    return { ...got, value: got.type === 'application/json' ? (JSON.parse(got.body) as unknown) : null };
  };
  return { shard, server, call };
}

function send(url: string, options: RequestOptions, body?: string) {
  return new Promise<{ status: number; type: string; body: string; headers: IncomingMessage['headers'] }>(
    (resolve, reject) => {
      const request = httpRequest(url, options, (response) => {
        const { statusCode: status = 0, headers } = response;
        text(response).then(
          (content) => resolve({ status, type: headers['content-type'] ?? '', body: content, headers }),
          reject,
        );
      });
      request.on('error', reject);
      request.end(body);
    },
  );
}

const refusal = (code: string, message: unknown = expect.stringMatching(/\.$/)) => ({
  error: { code, message },
});

describe('reading', () => {
  it.each([
    ['/v1/status', STATUS],
    ['/v1/machines', { items: MACHINES.slice(0, 3), total: 3 }],
    ['/v1/machines?forgotten=true&limit=1', { items: MACHINES.slice(0, 1), total: 4 }],
    ['/v1/machines?state=idle', { items: [MACHINES[1]], total: 1 }],
    ['/v1/machines/gpu%2F7', MACHINES[2]],
    ['/v1/machines/m-4', MACHINES[3]],
    ['/v1/needs?unmet=true', { items: [UNMET], total: 1 }],
    [`/v1/needs?reason=${UNMET.reason}&minPriority=${UNMET.priority}`, { items: [UNMET], total: 1 }],
    ['/v1/needs/prod-eu/3fa94c01de', MET_EXPLANATION],
    ['/v1/clusters', { items: CLUSTERS, total: 2 }],
    ['/v1/providers', { items: STATUS.providers, total: 2 }],
    ['/v1/shortfalls?limit=10', { items: [SHORTFALL], total: 1 }],
    ['/v1/freezes', { items: [FREEZE], total: 1 }],
    ['/v1/series', SERIES],
    [`/v1/series?since=${SERIES.fromMs}`, { fromMs: SERIES.fromMs, points: SERIES.points.slice(1) }],
    ['/v1/plan?limit=1', { ...PLAN, actions: { total: 1, next: null } }],
  ])('GET %s', async (path, expected) => {
    const { call } = await served();
    expect(await call('GET', path)).toMatchObject({ status: 200, value: expected });
  });

  it('given filters, then the question to the shard has them', async () => {
    const { shard, call } = await served();
    await call('GET', '/v1/machines?state=CONFIGURED&cluster=a%2Fb&provider=metal&limit=5');
    await call('GET', '/v1/needs?cluster=ml&limit=10000');
    await call('GET', '/v1/actions?machine=m-1&cluster=ml');
    expect(shard.asked).toEqual([
      {
        name: 'machines',
        ask: {
          where: { state: 'CONFIGURED', cluster: 'a/b', provider: 'metal', withForgotten: false },
          limit: 5,
          maxBytes: 900_000,
        },
      },
      { name: 'needs', ask: { cluster: 'ml', onlyUnmet: false, limit: 10_000, maxBytes: 900_000 } },
      { name: 'actions', ask: { machine: 'm-1', cluster: 'ml', limit: 1_000, maxBytes: 900_000 } },
    ]);
  });

  it.each([
    [400, 'bad_request', '/v1/machines?limit=0'],
    [400, 'bad_request', '/v1/machines?limit=10001'],
    [400, 'bad_request', '/v1/machines?limit=ten'],
    [400, 'bad_request', '/v1/machines?state=ASLEEP'],
    [400, 'bad_request', '/v1/machines?clsuter=ml'],
    [400, 'bad_request', '/v1/machines?cluster=a&cluster=b'],
    [400, 'bad_request', '/v1/machines?cluster='],
    [400, 'bad_request', '/v1/needs?unmet=perhaps'],
    [400, 'bad_request', '/v1/needs?reason=luck'],
    [400, 'bad_request', '/v1/needs?minPriority=high'],
    [400, 'bad_request', '/v1/status?x=1'],
    [400, 'bad_request', '/v1/series?since=noon'],
    [400, 'bad_request', '/v1/events?since=-1'],
    [400, 'bad_request', '/v1/machines/%ff'],
    [404, 'not_found', '/v1/machines/m-9'],
    [404, 'not_found', '/v1/needs/prod-eu/ffffffffff'],
    [404, 'not_found', '/v1/machines/'],
    [404, 'not_found', '/v2/status'],
    [404, 'not_found', '/'],
    [404, 'not_found', '/constructor'],
  ])('given an invalid request, then %i %s: %s', async (status, code, path) => {
    const { call } = await served();
    expect(await call('GET', path)).toMatchObject({ status, value: refusal(code) });
  });

  it('given several problems, then one refusal names all of them and suggests names', async () => {
    const { shard, call } = await served();
    const query = 'clsuter=ml&limt=5&state=ASLEEP&limit=0&provider=&order=size&forgotten=true&forgotten=true';
    const message = [
      'The parameter "state" must be one of SPECULATIVE, CREATING, IDLE, CONFIGURING, CONFIGURED, DRAINING, DELETING, FAILED.',
      'The parameter "provider" is empty; leave it out instead.',
      'The parameter "forgotten" was given more than once.',
      'The parameter "order" must be one of name, trouble.',
      'The parameter "limit" must be a whole number from 1 to 10000.',
      'Unknown parameters: clsuter, limt. Did you mean cluster? Did you mean limit? There are text, state, cluster, provider, labels, forgotten, order, sort, limit, after.',
    ].join(' ');
    expect(await call('GET', `/v1/machines?${query}`)).toMatchObject({
      status: 400,
      value: refusal('bad_request', message),
    });
    expect(shard.asked).toEqual([]);
  });

  it.each(['__proto__', 'constructor', 'toString'])('given the parameter %s, then 400', async (name) => {
    const { call } = await served();
    expect(await call('GET', `/v1/machines?${name}=1`)).toMatchObject({
      status: 400,
      value: refusal('bad_request', expect.stringContaining(name)),
    });
  });

  it('given parameters that a probe or a scraper adds, then it is answered all the same', async () => {
    const { call } = await served();
    for (const path of ['/healthz?verbose', '/readyz?x=1', '/metrics?name=up'])
      expect(await call('GET', path)).toMatchObject({ status: 200 });
  });

  it('given a shard that fails or takes too long, then 500 or 504', async () => {
    const { shard, call } = await served({ answerMs: 20 });
    shard.answers.clusters = () => {
      throw new Error('The controller has stopped.');
    };
    expect(await call('GET', '/v1/clusters')).toMatchObject({
      status: 500,
      value: refusal('internal', 'The controller has stopped.'),
    });
    shard.answers.status = () => new Promise(() => {}) as never;
    const value = refusal('timeout', expect.not.stringContaining('order'));
    expect(await call('GET', '/v1/status')).toMatchObject({ status: 504, value });
    shard.order = () => new Promise(() => {});
    const ordered = await call('POST', '/v1/freezes', { why: 'test', who: 'ann' });
    expect(ordered.value).toEqual(refusal('timeout', expect.stringContaining('the order may or may not')));
  });
});

describe('callers that disconnect', () => {
  it('given one that disconnects before its answer, or during an event stream, then the next is served', async () => {
    const { shard, server, call } = await served();
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const { promise: answer, resolve: go } = Promise.withResolvers<typeof STATUS>();
    shard.answers.status = () => {
      ask();
      return answer as never;
    };
    const [host, port] = server.address.split(':');
    const caller = tcpConnect(Number(port), host!);
    caller.write(`GET /v1/status HTTP/1.1\r\nhost: ${server.address}\r\n\r\n`);
    await asked;
    caller.destroy();
    const response = await new Promise<IncomingMessage>((resolve) => get(`${server.url}/v1/events`, resolve));
    response.on('error', () => {});
    response.destroy();
    for (let i = 0; i < 100; i++) {
      shard.publish({ kind: 'log', level: 'info', event: 'e', fields: {} });
      await new Promise((resolve) => setImmediate(resolve));
    }
    go(STATUS);
    expect(await call('GET', '/v1/status')).toMatchObject({ status: 200 });
  });
});

describe('ordering', () => {
  const WHO = { who: 'ann@desk' };

  it.each([
    [
      'POST',
      '/v1/freezes',
      { ...WHO, why: 'w' },
      { kind: 'freeze', scope: { cluster: null, action: null }, ...WHO, why: 'w' },
    ],
    [
      'POST',
      '/v1/freezes',
      { ...WHO, why: 'w', cluster: 'ml', action: null },
      { kind: 'freeze', scope: { cluster: 'ml', action: null }, ...WHO, why: 'w' },
    ],
    [
      'POST',
      '/v1/freezes',
      { ...WHO, why: 'w', cluster: 'ml', action: 'Reclaim' },
      { kind: 'freeze', scope: { cluster: 'ml', action: 'Reclaim' }, ...WHO, why: 'w' },
    ],
    [
      'DELETE',
      '/v1/freezes/action%3AReclaim%2Fcluster%3Aml?who=ann%40desk',
      undefined,
      { kind: 'unfreeze', id: 'action:Reclaim/cluster:ml', ...WHO },
    ],
    ['POST', '/v1/machines/gpu%2F7/retry', WHO, { kind: 'retry', machine: 'gpu/7', ...WHO }],
    [
      'POST',
      '/v1/machines/m-1/quarantine',
      { ...WHO, why: 'w' },
      { kind: 'quarantine', machine: 'm-1', ...WHO, why: 'w' },
    ],
    [
      'POST',
      '/v1/machines/m-1/forget',
      { ...WHO, why: 'w' },
      { kind: 'forget', machine: 'm-1', ...WHO, why: 'w' },
    ],
    ['POST', '/v1/providers/cloud/accept-list', WHO, { kind: 'accept-list', provider: 'cloud', ...WHO }],
    ['POST', '/v1/clusters/ml/accept-rollup', WHO, { kind: 'accept-rollup', cluster: 'ml', ...WHO }],
    ['POST', '/v1/clusters/ml/refuse-rollup', WHO, { kind: 'refuse-rollup', cluster: 'ml', ...WHO }],
  ])('%s %s %j', async (method, path, body, order) => {
    const { shard, call } = await served();
    expect(await call(method, path, body)).toMatchObject({ status: 200, value: { message: 'Done.' } });
    expect(shard.orders).toEqual([order]);
  });

  it.each([
    [409, '/v1/machines/m-1/retry'],
    [404, '/v1/machines/m-9/retry'],
    [409, '/v1/providers/cloud/accept-list'],
    [404, '/v1/providers/none/accept-list'],
    [409, '/v1/clusters/ml/refuse-rollup'],
    [404, '/v1/clusters/none/refuse-rollup'],
  ])('given a shard that refuses, then %i: %s', async (status, path) => {
    const { shard, call } = await served();
    shard.result = { isDone: false, message: 'It is not to be.' };
    const code = status === 409 ? 'refused' : 'not_found';
    expect(await call('POST', path, WHO)).toMatchObject({ status, value: refusal(code, 'It is not to be.') });
  });

  it('given a freeze that does not exist, then 404', async () => {
    const { shard, call } = await served();
    shard.result = { isDone: false, message: 'There is no freeze x.' };
    expect(await call('DELETE', '/v1/freezes/x?who=a')).toMatchObject({ status: 404 });
  });

  it.each([
    ['a misspelt field', { ...WHO, why: 'w', clsuter: 'ml' }],
    ['no who', { why: 'w' }],
    ['no why', WHO],
    ['an empty cluster', { ...WHO, why: 'w', cluster: ' ' }],
    ['an unknown kind', { ...WHO, why: 'w', action: 'recycle' }],
    ['a number', { ...WHO, why: 7 }],
    ['a long text', { ...WHO, why: 'w'.repeat(1_001) }],
    ['a list', []],
    ['no JSON', '{'],
    ['nothing', ''],
  ])('given %s, then 400 and nothing is frozen', async (_what, body) => {
    const { shard, call } = await served();
    expect(await call('POST', '/v1/freezes', body)).toMatchObject({
      status: 400,
      value: refusal('bad_request'),
    });
    expect(shard.orders).toEqual([]);
  });

  it('given a body of more than 64 KiB, then 413 and the connection is closed', async () => {
    const { shard, call } = await served();
    const answer = await call('POST', '/v1/freezes', { ...WHO, why: 'w'.repeat(65_536) });
    expect(answer).toMatchObject({
      status: 413,
      headers: { connection: 'close' },
      value: refusal('too_large'),
    });
    expect(shard.orders).toEqual([]);
  });

  it('given several wrong fields, then one refusal names all of them', async () => {
    const { call } = await served();
    const message =
      'The field "action" must be one of bind, buy, preempt, reclaim, release. The field "who" is missing. ' +
      'The field "why" must be a text. Unknown field: clsuter. Did you mean cluster? There are cluster, action, who, why, forSeconds.';
    expect(
      await call('POST', '/v1/freezes', { clsuter: 'ml', action: 'recycle', who: null, why: 7 }),
    ).toMatchObject({ status: 400, value: refusal('bad_request', message) });
  });

  it('given a field named __proto__, then 400 and nothing is frozen', async () => {
    const { shard, call } = await served();
    const body = '{"who":"ann@desk","why":"w","__proto__":{"cluster":"ml"}}';
    expect(await call('POST', '/v1/freezes', body)).toMatchObject({ status: 400 });
    expect(shard.orders).toEqual([]);
  });

  it('given an order without a content type, then 415', async () => {
    const { call } = await served();
    expect(await call('POST', '/v1/freezes')).toMatchObject({ status: 415, value: refusal('not_json') });
  });

  it('given a DELETE with a body, then the body is ignored', async () => {
    const { shard, call } = await served();
    for (const type of ['text/plain', 'application/json']) {
      const headers = { 'content-type': type, 'content-length': '7' };
      expect(await call('DELETE', '/v1/freezes/x?who=a', 'no JSON', headers)).toMatchObject({ status: 200 });
    }
    expect(shard.orders).toHaveLength(2);
  });

  it('given another method, then 405 with the methods that exist', async () => {
    const { server, call } = await served();
    const head = await send(`${server.url}/v1/status`, { method: 'HEAD' });
    expect(head).toMatchObject({ status: 405, headers: { allow: 'GET' } });
    expect(await call('PROPFIND', '/v1/status')).toMatchObject({ status: 405, headers: { allow: 'GET' } });
    expect(await call('PUT', '/v1/machines/')).toMatchObject({ status: 404 });
    expect(await call('POST', '/v1/status', 'no JSON', { 'content-type': 'text/plain' })).toMatchObject({
      status: 405,
    });
    expect(await call('PUT', '/v1/freezes')).toMatchObject({ status: 405, headers: { allow: 'GET, POST' } });
    expect(await call('GET', '/v1/machines/m-1/retry')).toMatchObject({
      status: 405,
      headers: { allow: 'POST' },
    });
  });
});

describe('pages of other sites', () => {
  const ORDER = { who: 'a', why: 'w' };

  it('given a page of another site, then all its requests are refused', async () => {
    const { shard, server, call } = await served();
    const evil = { origin: 'http://evil.example' };
    expect(await call('POST', '/v1/freezes', ORDER, evil)).toMatchObject({ status: 403 });
    expect(await call('GET', '/v1/status', undefined, evil)).toMatchObject({ status: 403 });
    expect(await call('POST', '/v1/freezes', ORDER, { origin: 'null' })).toMatchObject({ status: 403 });
    const form = { 'content-type': 'text/plain' };
    expect(await call('POST', '/v1/freezes', ORDER, form)).toMatchObject({
      status: 415,
      value: refusal('not_json'),
    });
    const port = server.address.split(':')[1];
    const rebound = { host: `evil.example:${port}`, origin: `http://evil.example:${port}` };
    expect(await call('POST', '/v1/freezes', ORDER, rebound)).toMatchObject({ status: 403 });
    const asked = await call('OPTIONS', '/v1/freezes', undefined, evil);
    expect(Object.keys(asked.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(shard.orders).toEqual([]);
  });

  it('given a page of the shard itself, then its order is carried out', async () => {
    const { server, call } = await served();
    expect(await call('POST', '/v1/freezes', ORDER, { origin: server.url })).toMatchObject({ status: 200 });
  });

  it('given pages, then they serve paths outside the API, and accept only JSON', async () => {
    const seen: string[] = [];
    const { call } = await served({
      pages: ({ url }, response) => {
        seen.push(url ?? '');
        if (url === '/elsewhere' || url?.startsWith('/assets/none')) return false;
        response.writeHead(200, { 'content-type': 'text/html' });
        response.end('<p>fleet</p>');
        return true;
      },
    });
    expect(await call('GET', '/')).toMatchObject({
      status: 200,
      body: '<p>fleet</p>',
      headers: { 'x-frame-options': 'DENY', 'x-content-type-options': 'nosniff' },
    });
    expect(await call('GET', '/assets/app.js?v=1')).toMatchObject({ status: 200 });
    expect(await call('GET', '/assets/none.js')).toMatchObject({ status: 404 });
    expect(await call('GET', '/elsewhere')).toMatchObject({ status: 404 });
    expect(await call('GET', '/v1/elsewhere')).toMatchObject({ status: 404 });
    expect(await call('POST', '/go', {})).toMatchObject({ status: 200 });
    expect(await call('POST', '/go', 'text')).toMatchObject({ status: 400 });
    expect(await call('PUT', '/', {})).toMatchObject({ status: 404 });
    expect(seen).toEqual(['/', '/assets/app.js?v=1', '/assets/none.js', '/elsewhere', '/go']);
  });
});

describe('event streams', () => {
  async function reader(url: string, query = '', headers: Record<string, string> = {}) {
    const response = await new Promise<IncomingMessage>((resolve) =>
      get(`${url}/v1/events${query}`, { headers }, resolve),
    );
    response.on('error', () => {});
    let content = '';
    response.on('data', (chunk: Buffer) => (content += chunk.toString()));
    const until = async (part: string) => {
      while (!content.includes(part)) await new Promise((resolve) => setTimeout(resolve, 2));
      return content;
    };
    /** Waits for a text, and then discards everything received. */
    const past = async (part: string) => {
      while (!content.includes(part)) await new Promise((resolve) => setImmediate(resolve));
      content = '';
    };
    return { response, until, past };
  }

  it('given a reader that asks for past events, then it gets them first, and no event twice', async () => {
    const { shard, server } = await served();
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const { promise: answer, resolve: go } = Promise.withResolvers<object>();
    shard.answers.events = () => {
      ask();
      return answer as never;
    };
    const late = await reader(server.url, '?since=0');
    await asked;
    // The first is among the past events when the shard answers, the second is not.
    shard.publish(EVENTS[1]!);
    shard.publish({ kind: 'log', level: 'info', event: 'after', fields: {}, id: '3-3', atMs: 5 });
    go({ items: EVENTS, total: EVENTS.length });
    const content = await late.until('"after"');
    expect([...content.matchAll(/^id: (.*)$/gm)].map(([, id]) => id)).toEqual(['3-1', '3-2', '3-3']);
    expect(content).toContain(`"atMs":${EVENTS[1]!.atMs}`);
  });

  it('given a shard that does not return past events, then the buffer of the reader stays bounded', async () => {
    const events = { maxReaders: 1, maxWaitingBytes: 10_000, heartbeatMs: 5000 };
    const { shard, server } = await served({ events });
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    shard.answers.events = () => {
      ask();
      return new Promise<never>(() => {}) as never;
    };
    const { response } = await reader(server.url, '?since=0');
    const gone = new Promise((resolve) => response.once('close', resolve));
    await asked;
    for (let i = 0; i < 3; i++)
      shard.publish({ kind: 'log', level: 'info', event: 'e', fields: { filler: 'x'.repeat(4000) } });
    await gone;
    expect(shard.listeners.size).toBe(0);
  });

  it('given a browser that reconnects, then the shard is asked for the events that it missed', async () => {
    const { shard, server } = await served();
    const again = await reader(server.url, '?since=0', { 'last-event-id': '3-1' });
    await again.until('3-2');
    expect(shard.asked).toEqual([{ name: 'events', ask: { afterId: '3-1', limit: 500, maxBytes: 500_000 } }]);
  });

  it('given an event, then every reader receives it', async () => {
    const { shard, server } = await served();
    const readers = [await reader(server.url), await reader(server.url)];
    expect(readers[0]!.response.headers['content-type']).toBe('text/event-stream');
    expect(shard.listeners.size).toBe(1);
    shard.publish({ kind: 'action-started', action: BOOTSTRAP });
    shard.publish({ kind: 'log', level: 'info', event: 'e', fields: { epoch: 3n, text: 'a\nb' } });
    for (const { until } of readers) {
      const content = await until('"epoch"');
      expect(content).toContain(`event: action-started\ndata: {"kind":"action-started","action":{"id":"a-1"`);
      expect(content).toContain('"fields":{"epoch":"3","text":"a\\nb"}}\n\n');
    }
    for (const { response } of readers) response.destroy();
    while (shard.listeners.size > 0) await new Promise((resolve) => setTimeout(resolve, 2));
  });

  it('given no events, then readers receive heartbeats', async () => {
    const { server } = await served({ events: { maxReaders: 1, maxWaitingBytes: 1000, heartbeatMs: 5 } });
    const { until } = await reader(server.url);
    await until('\n\n:\n\n:\n\n');
  });

  it('given more readers than the limit, then 503', async () => {
    const { server, call } = await served({
      events: { maxReaders: 1, maxWaitingBytes: 1000, heartbeatMs: 5000 },
    });
    await reader(server.url);
    expect(await call('GET', '/v1/events')).toMatchObject({ status: 503, value: refusal('unavailable') });
  });

  it('given a reader that does not read, then it is disconnected and the others are not', async () => {
    const { shard, server } = await served({
      events: { maxReaders: 10, maxWaitingBytes: 256 * 1024, heartbeatMs: 5000 },
    });
    const [host, port] = server.address.split(':');
    const mute = tcpConnect(Number(port), host!);
    cleanups.push(() => mute.destroy());
    mute.on('error', () => {});
    mute.write(`GET /v1/events HTTP/1.1\r\nhost: ${server.address}\r\n\r\n`);
    await new Promise((resolve) => mute.once('data', resolve));
    mute.pause();
    const { until, past } = await reader(server.url);
    const gone = new Promise((resolve) => mute.once('close', resolve));
    const filler = 'x'.repeat(50_000);
    for (let i = 0; i < 400; i++) {
      shard.publish({ kind: 'log', level: 'info', event: `e${i}`, fields: { filler } });
      // The buffer of this reader must be empty, or it would be disconnected as well.
      await past(`"e${i}"`);
    }
    mute.resume();
    await gone;
    shard.publish({ kind: 'log', level: 'info', event: 'last', fields: {} });
    await until('"last"');
  });

  it('given the server closes, then the streams end', async () => {
    const { server } = await served();
    const { response } = await reader(server.url);
    const ended = new Promise((resolve) => response.once('end', resolve));
    await server.close();
    await ended;
  });
});

describe('probes and metrics', () => {
  it('given hooks, then their texts are the answers', async () => {
    let why: string | null = 'starting: 2 providers have not been read';
    const { call } = await served({ metrics: async () => 'both 2\n', unready: () => why });
    expect(await call('GET', '/healthz')).toMatchObject({ status: 200, body: 'ok\n' });
    expect(await call('GET', '/readyz')).toMatchObject({ status: 503, body: `${why}\n` });
    why = null;
    expect(await call('GET', '/readyz')).toMatchObject({ status: 200, body: 'ok\n' });
    expect(await call('GET', '/metrics')).toMatchObject({
      status: 200,
      type: 'text/plain; version=0.0.4; charset=utf-8',
      body: 'both 2\n',
    });
  });

  it.each(['starting', 'fenced', 'stopping'] as const)(
    'given no hooks, then a shard that is %s is not ready',
    async (phase) => {
      const { shard, call } = await served();
      shard.answers.status = () => ({ ...STATUS, phase });
      expect(await call('GET', '/readyz')).toMatchObject({ status: 503, body: `${phase}\n` });
      expect(await call('GET', '/metrics')).toMatchObject({ body: '# HELP up one\nup 1\n' });
    },
  );
});

describe('addresses', () => {
  const codeOf = async (address: string, options: ApiOptions) => {
    const server = await serveApi(new FakeShard(), address, options).catch((error: unknown) => error);
    if (server instanceof BigFleetError) return server.code;
    await (server as { close(): Promise<void> }).close();
    return 'served';
  };

  it('given no TLS, then only loopback is served, unless `insecure` is set and callers have tokens', async () => {
    expect(await codeOf('0.0.0.0:0', { tls: null })).toBe('BF_PLAINTEXT_REFUSED');
    expect(await codeOf('0.0.0.0:0', { tls: null, insecure: true })).toBe('BF_API_WITHOUT_IDENTITY');
    expect(await codeOf('localhost:0', { tls: null })).toBe('served');
  });

  it('given an address that is invalid or in use, then the error has its code', async () => {
    expect(await codeOf('127.0.0.1', { tls: null })).toBe('BF_USAGE');
    expect(await codeOf('127.0.0.1:70000', { tls: null })).toBe('BF_USAGE');
    const { server } = await served();
    expect(await codeOf(server.address, { tls: null })).toBe('BF_LISTEN_FAILED');
  });
});
