import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ADMIN_TOKEN, ApiServer, type ApiServerOptions } from '../../../testing/kube/api-server.ts';
import { KubeError } from './client.ts';
import { tokenFileCredentials } from './connection.ts';
import { type HttpClientLimits, HttpKubeClient } from './http-client.ts';
import type { KubeObject, Pod } from './objects.ts';
import { pathOf, RESOURCES } from './paths.ts';

const PODS = pathOf(RESOURCES.pods, { namespace: 'default' });
const CONFIG_MAPS = pathOf(RESOURCES.configMaps, { namespace: 'default' });

async function scene(
  options: ApiServerOptions & { limits?: Partial<HttpClientLimits>; token?: string } = {},
) {
  const server = await ApiServer.start(options);
  onTestFinished(() => server.stop());
  const client = new HttpKubeClient({
    connection: server.connection(options.token ?? ADMIN_TOKEN),
    userAgent: 'test',
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  });
  onTestFinished(() => client.close());
  return { server, client, faults: server.api.faults };
}

const configMap = (name: string, data: Record<string, string> = {}) => ({ metadata: { name }, data });

async function failureOf(promise: Promise<unknown>): Promise<KubeError> {
  const error = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(KubeError);
  return error as KubeError;
}

describe('requests', () => {
  it.each([false, true])('given TLS %s, then objects are created, read, changed and deleted', async (tls) => {
    const { client } = await scene({ tls });
    const created = await client.create<KubeObject>(CONFIG_MAPS, configMap('a', { x: '1' }));
    expect(created.metadata).toMatchObject({ name: 'a', namespace: 'default' });
    const path = `${CONFIG_MAPS}/a`;
    await client.update(path, { ...created, data: { x: '2' } });
    await client.patch(path, 'merge', { data: { y: '3' } });
    await client.patch(path, 'json', [{ op: 'replace', path: '/data/x', value: '4' }]);
    expect(await client.get(path)).toMatchObject({ data: { x: '4', y: '3' } });
    await client.delete(path);
    expect((await failureOf(client.get(path))).isNotFound).toBe(true);
  });

  it('given an object that changed since it was read, then an update is a conflict', async () => {
    const { client } = await scene();
    const read = await client.create<KubeObject>(CONFIG_MAPS, configMap('a'));
    await client.patch(`${CONFIG_MAPS}/a`, 'merge', { data: { x: '1' } });
    const error = await failureOf(client.update(`${CONFIG_MAPS}/a`, read));
    expect(error).toMatchObject({ isConflict: true, reason: 'Conflict' });
  });

  it('given names with slashes and spaces, then the path is encoded', () => {
    expect(pathOf(RESOURCES.pods, { namespace: 'a/b', name: 'c d', subresource: 'status' })).toBe(
      '/api/v1/namespaces/a%2Fb/pods/c%20d/status',
    );
  });

  it('given 100 requests at once, then at most maxInFlight are in flight', async () => {
    const { client, server } = await scene({ limits: { maxInFlight: 4 } });
    let most = 0;
    server.api.faults.add({
      when: () => {
        most = Math.max(most, client.counters.inFlight);
        return false;
      },
      answer: 'reset',
    });
    await Promise.all(Array.from({ length: 100 }, () => client.list(PODS)));
    expect(most).toBe(4);
    expect(client.counters).toMatchObject({ requests: 100, inFlight: 0, waiting: 0 });
  });

  it('given more requests than may wait, then the others are refused at once', async () => {
    const { client, faults } = await scene({ limits: { maxInFlight: 1, maxWaiting: 2 } });
    faults.settings.delayMs = 20;
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => client.list(PODS)));
    expect(results.map(({ status }) => status)).toEqual([
      ...Array.from({ length: 3 }, () => 'fulfilled'),
      ...Array.from({ length: 2 }, () => 'rejected'),
    ]);
  });
});

describe('an API server that asks to wait', () => {
  it('given 429 with Retry-After, then the request is repeated', async () => {
    const { client, faults } = await scene();
    faults.add({ when: () => true, answer: { status: 429, retryAfterSeconds: 0 }, times: 2 });
    await expect(client.list(PODS)).resolves.toMatchObject({ items: [] });
    expect(client.counters).toMatchObject({ requests: 3, throttled: 2 });
  });

  it('given 429 without end, then the request fails after maxRetries', async () => {
    const { client, faults } = await scene({ limits: { maxRetries: 3 } });
    faults.add({ when: () => true, answer: { status: 429, retryAfterSeconds: 0 } });
    expect(await failureOf(client.list(PODS))).toMatchObject({ status: 429, retryAfterMs: 0 });
    expect(client.counters.requests).toBe(4);
  });

  it('given a request that the caller repeats itself, then it fails at once', async () => {
    const { client, faults } = await scene();
    faults.add({ when: () => true, answer: { status: 429, retryAfterSeconds: 0 } });
    const error = await failureOf(client.create(`${PODS}/a/eviction`, {}, { maxRetries: 0 }));
    expect(error).toMatchObject({ status: 429, retryAfterMs: 0 });
    expect(client.counters).toMatchObject({ requests: 1, throttled: 0 });
  });

  it('given a Retry-After longer than the bound, then the request fails at once and says how long', async () => {
    const { client, faults } = await scene();
    faults.add({ when: () => true, answer: { status: 503, retryAfterSeconds: 3600 } });
    expect(await failureOf(client.list(PODS))).toMatchObject({ status: 503, retryAfterMs: 3_600_000 });
    expect(client.counters.requests).toBe(1);
  });

  it('given 429 or 500 without Retry-After, then the request is not repeated', async () => {
    const { client, faults } = await scene();
    faults.add({ when: () => true, answer: { status: 429 }, times: 1 });
    faults.add({ when: () => true, answer: { status: 500 }, times: 1 });
    expect((await failureOf(client.list(PODS))).status).toBe(429);
    expect((await failureOf(client.list(PODS))).status).toBe(500);
    expect(client.counters.requests).toBe(2);
  });

  it('given an abort during the wait, then the request ends with its reason', async () => {
    const { client, faults } = await scene();
    faults.add({ when: () => true, answer: { status: 429, retryAfterSeconds: 9 } });
    const stop = new AbortController();
    const request = client.list(PODS, { signal: stop.signal });
    await expect.poll(() => client.counters.throttled).toBe(1);
    stop.abort(new Error('enough'));
    await expect(request).rejects.toThrow('enough');
  });
});

describe('credentials', () => {
  it('given a token that is replaced on disk when the old one expires, then requests go on', async () => {
    const { server } = await scene();
    const folder = mkdtempSync(join(tmpdir(), 'bigfleet-token-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'token');
    const user = { name: 'u', groups: ['system:masters'] };
    server.api.addToken('first', user);
    writeFileSync(path, 'first\n');
    const connection = { ...server.connection(), credentials: tokenFileCredentials(path) };
    const client = new HttpKubeClient({ connection, userAgent: 'test' });
    onTestFinished(() => client.close());
    await client.list(PODS);
    server.api.expireToken('first');
    const error = await failureOf(client.list(PODS));
    expect(error.status).toBe(401);
    expect(error.message).toContain(path);
    expect(error.message).toMatch(/expired/);
    // The kubelet replaces the token; the next request uses it without a failure.
    server.api.addToken('second', user);
    writeFileSync(path, 'second\n');
    await client.list(PODS);
    expect(client.counters.requests).toBe(3);
  });

  it('given credentials that change after 401, then the request is repeated once with the new ones', async () => {
    const { server } = await scene();
    let token = 'stale';
    const credentials = {
      current: () => ({ token }),
      refused: () => {
        token = ADMIN_TOKEN;
      },
      origin: 'a test',
    };
    const connection = { ...server.connection(), credentials };
    const client = new HttpKubeClient({ connection, userAgent: 'test' });
    onTestFinished(() => client.close());
    await client.list(PODS);
    expect(client.counters).toMatchObject({ requests: 2, renewals: 1 });
  });

  it('given a token file that does not exist, then the error names it', async () => {
    const { server } = await scene();
    const credentials = tokenFileCredentials('/nowhere/token');
    const client = new HttpKubeClient({
      connection: { ...server.connection(), credentials },
      userAgent: 't',
    });
    const error = await failureOf(client.list(PODS));
    expect(error).toMatchObject({ status: 0, reason: 'NoCredentials' });
    expect(error.message).toContain('/nowhere/token');
  });

  it('given a user without the right, then the error says which right is missing and where to get it', async () => {
    const { server, client } = await scene({ token: 'weak' });
    server.api.addToken('weak', { name: 'system:serviceaccount:bigfleet:operator', groups: [] });
    const error = await failureOf(client.list(pathOf(RESOURCES.pods)));
    expect(error.status).toBe(403);
    expect(error.message).toContain(
      'User "system:serviceaccount:bigfleet:operator" cannot list resource "pods" in API group "" at the cluster scope',
    );
    expect(error.message).toContain('bigfleet operator manifests');
  });
});

describe('bad answers', () => {
  it.each([
    ['not JSON', '<html>proxy login</html>', 'Malformed'],
    ['not an object', '"text"', 'Malformed'],
    ['not a list', '{"kind":"Pod"}', 'Malformed'],
    ['too large', JSON.stringify({ items: ['x'.repeat(5000)] }), 'ResponseTooLarge'],
  ])('given an answer that is %s, then the request fails with a clear error', async (_what, body, reason) => {
    const { client, faults } = await scene({ limits: { maxResponseBytes: 4096 } });
    faults.add({ when: () => true, answer: { status: 200, body } });
    const error = await failureOf(client.list(PODS));
    expect(error).toMatchObject({ status: 0, reason });
    expect(error.message).toContain('/api/v1/namespaces/default/pods');
  });

  it('given an error page that is not a Status, then its text is in the message', async () => {
    const { client, faults } = await scene();
    faults.add({ when: () => true, answer: { status: 502, body: 'bad gateway\u001b[2J' } });
    const error = await failureOf(client.list(PODS));
    expect(error.message).toContain('502: bad gateway\\u001b[2J');
  });

  it('given no answer, then the request fails after its timeout', async () => {
    const { client, faults } = await scene({ limits: { requestMs: 50 } });
    faults.add({ when: () => true, answer: 'hang' });
    expect(await failureOf(client.get(`${PODS}/a`))).toMatchObject({ status: 0, reason: 'Timeout' });
  });

  it('given nothing that listens, then the error says so', async () => {
    const { client, server } = await scene();
    await server.stop();
    const error = await failureOf(client.list(PODS));
    expect(error.status).toBe(0);
    expect(error.message).toContain('nothing listens there');
  });

  it('given a certificate of another authority, then the error says so', async () => {
    const { server } = await scene({ tls: true });
    const other = await ApiServer.start({ tls: true });
    onTestFinished(() => other.stop());
    const connection = { ...server.connection(), ca: other.connection().ca };
    const client = new HttpKubeClient({ connection, userAgent: 'test' });
    const error = await failureOf(client.list(PODS));
    expect(error.message).toContain('not signed by the authority');
  });

  it('given a port that does not speak TLS, then the error says so', async () => {
    const { server } = await scene();
    const connection = { ...server.connection(), server: server.url.replace('http:', 'https:') };
    const client = new HttpKubeClient({ connection, userAgent: 'test' });
    expect((await failureOf(client.list(PODS))).message).toContain('does not speak TLS');
  });

  it('given an idle connection that broke, then reads are repeated on a new one', async () => {
    const { client, faults, server } = await scene();
    await client.list(PODS);
    // The connection is kept; the next request on it is answered by closing it.
    faults.add({ when: () => true, answer: 'reset', times: 1 });
    await expect(client.list(PODS)).resolves.toBeDefined();
    faults.add({ when: ({ verb }) => verb === 'create', answer: 'reset', times: 1 });
    await failureOf(client.create(CONFIG_MAPS, configMap('a')));
    expect(server.api.counts.get('create configmaps')).toBeUndefined();
  });
});

describe('watches', () => {
  const pod = (name: string) => ({ metadata: { name }, spec: { containers: [{ name: 'c' }] } });

  it('given changes after a version, then all of them arrive in order, and a close ends the watch', async () => {
    const { client, server } = await scene();
    const { metadata } = await client.list<Pod>(PODS);
    const seen: string[] = [];
    let isOpen = false;
    const query = { resourceVersion: metadata.resourceVersion };
    const watch = (async () => {
      for await (const { type, object } of client.watch<Pod>(
        PODS,
        query,
        new AbortController().signal,
        () => {
          isOpen = true;
        },
      ))
        seen.push(`${type} ${(object as Pod).metadata.name}`);
    })();
    await expect.poll(() => isOpen).toBe(true);
    await client.create(PODS, pod('a'));
    await client.patch(`${PODS}/a`, 'merge', { metadata: { labels: { x: 'ü'.repeat(40_000) } } });
    await client.delete(`${PODS}/a`);
    await expect.poll(() => seen.length).toBe(3);
    server.api.watches.closeAll();
    await watch;
    expect(seen).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a']);
  });

  it('given an abort, then the watch ends with its reason and the server forgets it', async () => {
    const { client, server } = await scene();
    const stop = new AbortController();
    const iterator = client.watch<Pod>(PODS, {}, stop.signal)[Symbol.asyncIterator]();
    const next = iterator.next();
    await expect.poll(() => server.api.watches.size).toBe(1);
    stop.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
    await expect.poll(() => server.api.watches.size).toBe(0);
  });

  it.each([
    ['a line that is not JSON', 'nonsense\n', 'Malformed'],
    ['a line that is no event', '{"type":"OTHER","object":{}}\n', 'Malformed'],
    ['a line without end', `{"type":"ADDED","object":"${'x'.repeat(9000)}`, 'ResponseTooLarge'],
  ])('given %s, then the watch fails with a clear error', async (_what, body, reason) => {
    const { client, faults } = await scene({ limits: { maxLineBytes: 4096 } });
    faults.add({ when: ({ verb }) => verb === 'watch', answer: { status: 200, body } });
    const next = client.watch<Pod>(PODS, {}, new AbortController().signal)[Symbol.asyncIterator]().next();
    expect(await failureOf(next)).toMatchObject({ status: 0, reason });
  });

  it('given a connection that breaks inside an event, then the watch fails, and half an event is not seen', async () => {
    const { client, faults } = await scene();
    await client.create(PODS, pod('a'));
    faults.settings.cutWatchChance = 1;
    const seen: unknown[] = [];
    const watch = (async () => {
      for await (const event of client.watch<Pod>(PODS, {}, new AbortController().signal)) seen.push(event);
    })();
    await expect.poll(() => seen.length).toBe(1);
    await client.create(PODS, pod('b'));
    expect((await failureOf(watch)).status).toBe(0);
    expect(seen.length).toBe(1);
  });

  it('given a version that is too old, as HTTP status, then the error is gone', async () => {
    const { client, server, faults } = await scene();
    faults.settings.goneForm = 'http';
    const { metadata } = await client.list<Pod>(PODS);
    server.api.compact();
    const { resourceVersion } = metadata;
    const next = client
      .watch<Pod>(PODS, { resourceVersion }, new AbortController().signal)
      [Symbol.asyncIterator]()
      .next();
    expect((await failureOf(next)).isGone).toBe(true);
  });

  it('given a server that accepts and says nothing, then opening fails after the timeout', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void silent.close());
    await expect.poll(() => silent.listening).toBe(true);
    const { server } = await scene();
    const { port } = silent.address() as { port: number };
    const connection = { ...server.connection(), server: `http://127.0.0.1:${port}` };
    const client = new HttpKubeClient({ connection, userAgent: 'test', limits: { requestMs: 50 } });
    const next = client.watch<Pod>(PODS, {}, new AbortController().signal)[Symbol.asyncIterator]().next();
    expect((await failureOf(next)).reason).toBe('Timeout');
  });
});
