// Who may call the API over HTTP, and in which name orders are recorded: tokens, logins of browsers and certificates.

import { createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeShard } from '../../../testing/support/fake-shard.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { issueCertificate, makeAuthority } from '../../wire/grpc/certificates.ts';
import type { TlsFiles } from '../../wire/index.ts';
import { ROUTES } from './routes.ts';
import { type ApiOptions, type ApiServer, serveApi } from './serve.ts';

const VALID = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 3_600_000) };
const authority = makeAuthority({ name: 'ours', ...VALID });

const VIEWER = 'token-of-vera-0123456789';
const OPERATOR = 'token-of-otto-0123456789';
const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');
const TOKENS = `
- { name: vera, role: view, sha256: ${hashOf(VIEWER)} }
- { name: otto, role: operate, token: ${OPERATOR} }
`;
const WATCHED_MS = 6_000;
const HOUR_MS = 3_600_000;

let folder: string;
let made = 0;
const cleanups: (() => unknown)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bigfleet-access-'));
});
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
  rmSync(folder, { recursive: true });
});

function fileOf(content: string, mode = 0o600): string {
  const path = join(folder, `file-${made++}`);
  writeFileSync(path, content, { mode });
  return path;
}

function certificateOf(uri: string, name = 'x'): TlsFiles {
  const subject = { name, uris: [uri], ipAddresses: ['127.0.0.1'], ...VALID };
  const { certificate, key } = issueCertificate(authority, subject);
  return { cert: fileOf(certificate), key: fileOf(key), ca: fileOf(authority.certificate) };
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Sent {
  readonly token?: string;
  readonly certificate?: TlsFiles;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

function send(url: string, method: string, sent: Sent): Promise<Answer> {
  const { token, certificate, body, headers } = sent;
  const options: RequestOptions = {
    method,
    agent: false,
    ca: authority.certificate,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(certificate === undefined
      ? {}
      : { cert: readFileSync(certificate.cert), key: readFileSync(certificate.key) }),
  };
  return new Promise((resolve, reject) => {
    const started = (url.startsWith('https') ? httpsRequest : httpRequest)(url, options, (response) => {
      const { statusCode: status = 0, headers: received } = response;
      text(response).then((content) => resolve({ status, headers: received, body: content }), reject);
    });
    started.on('error', reject);
    started.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Plaintext off loopback, where a token is the only way to be known; reached by 127.0.0.1 all the same. */
const OFF_LOOPBACK = { address: '0.0.0.0:0', tls: null, insecure: true };

async function served(options: Partial<ApiOptions> & { readonly address?: string } = {}) {
  const { address = '127.0.0.1:0', ...rest } = options;
  const shard = new FakeShard();
  const clock = new VirtualClock(1_000_000);
  const logged: string[] = [];
  const tokensFile = 'tokensFile' in rest ? rest.tokensFile : fileOf(TOKENS);
  const server = await serveApi(shard, address, {
    tls: null,
    clock,
    log: (_level, event) => logged.push(event),
    ...rest,
    tokensFile,
  });
  cleanups.push(() => server.close());
  const call = (method: string, path: string, sent: Sent = {}) => send(urlOf(server, path), method, sent);
  const login = async (token: string): Promise<Record<string, string>> => {
    const { headers } = await call('POST', '/v1/login', { body: { token } });
    return { cookie: headers['set-cookie']![0]!.split(';')[0]! };
  };
  return { shard, server, clock, logged, tokensFile: tokensFile!, call, login, origin: urlOf(server, '') };
}

function urlOf({ url }: ApiServer, path: string): string {
  return url.replace('0.0.0.0', '127.0.0.1') + path;
}

const FREEZE = { who: 'a name that proves nothing', why: 'w' };

describe('an API off loopback', () => {
  it('given no identity, then every route and page but the probes and the login is refused with 401', async () => {
    const { shard, call } = await served({ ...OFF_LOOPBACK, pages: () => true });
    for (const { method, path, access } of ROUTES) {
      if (access === 'open') continue;
      const { status, headers } = await call(method, path, method === 'POST' ? { body: {} } : {});
      expect([path, status]).toEqual([path, 401]);
      expect(headers['www-authenticate']).toBe('Bearer realm="bigfleet"');
    }
    for (const path of ['/', '/assets/page/main.js', '/up/stories'])
      expect([path, (await call('GET', path)).status]).toEqual([path, 401]);
    expect((await call('GET', '/healthz')).status).toBe(200);
    expect((await call('GET', '/readyz')).status).toBe(200);
    expect(shard.orders).toEqual([]);
  });

  it('given tokens, then view may read and operate may also order, and others are refused', async () => {
    const { shard, call } = await served(OFF_LOOPBACK);
    const read = async (token: string) => (await call('GET', '/v1/status', { token })).status;
    const order = (token: string) => call('POST', '/v1/freezes', { token, body: FREEZE });
    expect([await read(VIEWER), await read(OPERATOR), await read('guess')]).toEqual([200, 200, 401]);
    const refusal = await order(VIEWER);
    expect(refusal.status).toBe(403);
    expect(refusal.body).toContain('vera may view; this is for');
    expect((await order('guess')).headers['www-authenticate']).toContain('error="invalid_token"');
    expect(shard.orders).toEqual([]);
    expect((await order(OPERATOR)).status).toBe(200);
    expect(shard.orders).toHaveLength(1);
  });

  it.each(['Basic dG9rZW4=', 'Bearer', `Bearer ${OPERATOR} x`, `Bearer ${OPERATOR}x`, 'Bearer a b'])(
    'given the header %j, then it is refused',
    async (authorization) => {
      const { call } = await served(OFF_LOOPBACK);
      expect((await call('GET', '/v1/status', { headers: { authorization } })).status).toBe(401);
    },
  );
});

describe('the author of an order', () => {
  it('given a token, then its name is recorded and not the text of the request', async () => {
    const { shard, call } = await served(OFF_LOOPBACK);
    await call('POST', '/v1/freezes', { token: OPERATOR, body: FREEZE });
    await call('POST', '/v1/machines/m-1/retry', { token: OPERATOR, body: {} });
    await call('DELETE', '/v1/freezes/fleet?who=another', { token: OPERATOR });
    expect(shard.orders.map(({ who }) => who)).toEqual(['otto', 'otto', 'otto']);
  });

  it('given a certificate, then its common name is recorded, or its identity without one', async () => {
    const { shard, call } = await served({ tls: certificateOf('bigfleet://shard/s') });
    const ana = certificateOf('bigfleet://admin', 'Ana Lee');
    await call('POST', '/v1/freezes', { certificate: ana, body: FREEZE });
    await call('POST', '/v1/freezes', { certificate: certificateOf('bigfleet://admin', ' '), body: FREEZE });
    expect(shard.orders.map(({ who }) => who)).toEqual(['Ana Lee', 'bigfleet://admin']);
  });

  it('given no identity on loopback, then it is the text of the request, which is required', async () => {
    const { shard, call } = await served();
    expect((await call('POST', '/v1/freezes', { body: FREEZE })).status).toBe(200);
    expect((await call('POST', '/v1/freezes', { body: { why: 'w' } })).status).toBe(400);
    expect(shard.orders.map(({ who }) => who)).toEqual([FREEZE.who]);
  });

  it('given callers, then whoami names them', async () => {
    const { call } = await served();
    const whoami = async (sent: Sent) => JSON.parse((await call('GET', '/v1/whoami', sent)).body) as unknown;
    expect(await whoami({})).toEqual({ name: null, role: 'operate' });
    expect(await whoami({ token: VIEWER })).toEqual({ name: 'vera', role: 'view' });
    expect((await call('GET', '/v1/whoami', { token: 'guess' })).status).toBe(401);
  });
});

describe('TLS with tokens', () => {
  it('given a certificate, a token or both, then one is enough and a token that is sent decides', async () => {
    const { call } = await served({ tls: certificateOf('bigfleet://shard/s') });
    const admin = certificateOf('bigfleet://admin');
    const cluster = certificateOf('bigfleet://cluster/ml');
    const statuses = [];
    for (const sent of [
      {},
      { certificate: admin },
      { token: OPERATOR },
      { certificate: cluster },
      { certificate: cluster, token: OPERATOR },
      { certificate: admin, token: VIEWER },
      { certificate: admin, token: 'guess' },
    ])
      statuses.push((await call('POST', '/v1/freezes', { ...sent, body: FREEZE })).status);
    expect(statuses).toEqual([401, 200, 200, 403, 200, 403, 401]);
  });

  it('given a login, then the cookie is for this host over TLS only, and out of reach of scripts', async () => {
    const { call } = await served({ tls: certificateOf('bigfleet://shard/s') });
    const { status, headers, body } = await call('POST', '/v1/login', { body: { token: VIEWER } });
    expect([status, JSON.parse(body)]).toEqual([200, { name: 'vera', role: 'view' }]);
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(
        /^__Host-bigfleet-\d+=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/,
      ),
    ]);
    const cookie = headers['set-cookie']![0]!.split(';')[0]!;
    expect((await call('GET', '/v1/status', { headers: { cookie } })).status).toBe(200);
  });
});

describe('a login', () => {
  it('given a token that is not valid, then there is no cookie', async () => {
    const { call, logged } = await served(OFF_LOOPBACK);
    const { status, headers } = await call('POST', '/v1/login', { body: { token: 'guess' } });
    expect([status, headers['set-cookie']]).toEqual([401, undefined]);
    expect(logged).toEqual(['api-login-refused']);
  });

  it('given a cookie, then orders need a page of this site as their sender, and reads do not', async () => {
    const { shard, call, login, origin } = await served(OFF_LOOPBACK);
    const cookie = await login(OPERATOR);
    const order = async (headers: Record<string, string>) =>
      (await call('POST', '/v1/freezes', { body: FREEZE, headers: { ...cookie, ...headers } })).status;
    expect(await order({})).toBe(403);
    expect(await order({ 'sec-fetch-site': 'none' })).toBe(403);
    expect(await order({ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' })).toBe(403);
    expect(await order({ 'sec-fetch-site': 'same-site', origin: `${origin}1` })).toBe(403);
    expect(await order({ origin: 'null' })).toBe(403);
    expect(shard.orders).toEqual([]);
    expect(await order({ origin })).toBe(200);
    expect(await order({ 'sec-fetch-site': 'same-origin' })).toBe(200);
    expect(shard.orders.map(({ who }) => who)).toEqual(['otto', 'otto']);
    expect((await call('GET', '/v1/status', { headers: cookie })).status).toBe(200);
  });

  it('given a cookie of the role view, then orders are refused', async () => {
    const { call, login, origin } = await served(OFF_LOOPBACK);
    const headers = { ...(await login(VIEWER)), origin };
    expect((await call('POST', '/v1/freezes', { body: FREEZE, headers })).status).toBe(403);
  });

  it('given twelve hours or a logout, then the cookie is worth nothing', async () => {
    const { call, login, clock } = await served(OFF_LOOPBACK);
    const [first, second] = [await login(VIEWER), await login(VIEWER)];
    const status = async (headers: Record<string, string>) =>
      (await call('GET', '/v1/status', { headers })).status;
    const { headers } = await call('POST', '/v1/logout', { body: {}, headers: first });
    expect(headers['set-cookie']![0]).toMatch(/=; Path=\/; Max-Age=0;/);
    expect([await status(first), await status(second)]).toEqual([401, 200]);
    await clock.advance(12 * HOUR_MS - 1);
    expect(await status(second)).toBe(200);
    await clock.advance(1);
    expect(await status(second)).toBe(401);
  });

  it('given more logins than are kept, then the oldest end', async () => {
    const { call, login } = await served(OFF_LOOPBACK);
    const first = await login(VIEWER);
    const second = await login(VIEWER);
    for (let i = 0; i < 999; i++) await login(VIEWER);
    expect((await call('GET', '/v1/status', { headers: first })).status).toBe(401);
    expect((await call('GET', '/v1/status', { headers: second })).status).toBe(200);
  });
});

describe('pages of other sites', () => {
  it('given requests that a browser sends for them, then they are refused, but for links', async () => {
    const { call } = await served();
    const status = async (method: string, headers: Record<string, string>) =>
      (await call(method, '/v1/status', { headers })).status;
    for (const site of ['cross-site', 'same-site']) {
      expect(await status('GET', { 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors' })).toBe(403);
      expect(await status('GET', { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate' })).toBe(200);
      const order = { body: FREEZE, headers: { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate' } };
      expect((await call('POST', '/v1/freezes', order)).status).toBe(403);
    }
    expect(await status('GET', { 'sec-fetch-site': 'same-origin' })).toBe(200);
  });

  it('given any answer, then no header lets another site read it', async () => {
    const { call } = await served();
    for (const path of ['/v1/status', '/healthz', '/nothing']) {
      const { headers } = await call('GET', path, { headers: { 'sec-fetch-site': 'same-origin' } });
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });
});

describe('the file with tokens', () => {
  it('given a change, then it is in force soon, and a mistake leaves the last content in force', async () => {
    const { call, clock, tokensFile, logged, login } = await served(OFF_LOOPBACK);
    const status = async (token: string) => (await call('GET', '/v1/status', { token })).status;
    const cookie = await login(VIEWER);
    const replace = async (content: string) => {
      writeFileSync(tokensFile, content);
      await clock.advance(WATCHED_MS);
    };
    await replace('- { name: vera, role: admin, sha256: oops }');
    expect([await status(VIEWER), await status(OPERATOR)]).toEqual([200, 200]);
    await clock.advance(WATCHED_MS);
    expect(logged).toEqual(['api-login', 'api-tokens-refused']);
    await replace(`- { name: otto, role: view, token: ${OPERATOR} }`);
    expect([await status(VIEWER), await status(OPERATOR)]).toEqual([401, 200]);
    expect((await call('GET', '/v1/status', { headers: cookie })).status).toBe(401);
    expect((await call('POST', '/v1/freezes', { token: OPERATOR, body: FREEZE })).status).toBe(403);
    rmSync(tokensFile);
    await clock.advance(WATCHED_MS);
    expect(await status(OPERATOR)).toBe(200);
    expect(logged.slice(2)).toEqual(['api-tokens-loaded', 'api-tokens-refused']);
  });

  it('given a reader of events whose token is removed, then its stream ends', async () => {
    const { shard, call, clock, tokensFile } = await served(OFF_LOOPBACK);
    const ended = call('GET', '/v1/events', { token: VIEWER }).then(
      () => 'ended',
      () => 'ended',
    );
    await expect.poll(() => shard.listeners.size).toBe(1);
    await clock.advance(WATCHED_MS);
    expect(await Promise.race([ended, Promise.resolve('open')])).toBe('open');
    writeFileSync(tokensFile, '[]');
    await clock.advance(WATCHED_MS);
    expect(await ended).toBe('ended');
  });

  it.each([
    ['not a list', 'token: x', /Expected a list/],
    ['empty', '', /Expected a list/],
    ['an entry of another kind', `- ${OPERATOR}`, /Expected \{ name, role, sha256 \}/],
    ['another role', `- { name: a, role: ${OPERATOR}, sha256: ${hashOf('a')} }`, /Expected view or operate/],
    ['no secret', '- { name: a, role: view }', /Expected sha256 or token/],
    ['two secrets', `- { name: a, role: view, sha256: ${hashOf('a')}, token: ${OPERATOR} }`, /and not both/],
    ['a short token', '- { name: a, role: view, token: abc }', /at least 20 characters/],
    ['a number', '- { name: a, role: view, token: 12345678901234567890 }', /Expected a token as text/],
    ['no hash', `- { name: a, role: view, sha256: ${OPERATOR} }`, /Expected 64 hexadecimal digits/],
    ['a name with a line break', `- { name: "a\\nb", role: view, sha256: ${hashOf('a')} }`, /control char/],
    ['an unknown field', `- { name: a, role: view, secret: ${OPERATOR} }`, /Unknown field/],
    [
      'one token twice',
      `- { name: a, role: view, token: ${OPERATOR} }\n- { name: b, role: view, token: ${OPERATOR} }`,
      /Entry 2 has the token of another entry/,
    ],
    ['no YAML', `- { name: *${OPERATOR}`, /Line 1 is not YAML/],
  ])(
    'given %s, then the API does not start, and the error does not contain the value',
    async (_, content, why) => {
      const started = served({ tokensFile: fileOf(content) });
      await expect(started).rejects.toMatchObject({ code: 'BF_API_TOKENS_INVALID' });
      await expect(started).rejects.toThrow(why);
      await expect(started).rejects.not.toThrow(OPERATOR);
    },
  );

  it.each([
    [0o604, 'BF_API_TOKENS_INVALID'],
    [0o620, 'BF_API_TOKENS_INVALID'],
    [0o602, 'BF_API_TOKENS_INVALID'],
  ])('given the mode %o, then the API does not start', async (mode, code) => {
    const tokensFile = fileOf(TOKENS);
    chmodSync(tokensFile, mode);
    await expect(served({ tokensFile })).rejects.toMatchObject({ code });
    await expect(served({ tokensFile })).rejects.toThrow(`mode ${mode.toString(8)}`);
  });

  it('given a group that may read, then that is a warning where the file has tokens, and fine where it has hashes', async () => {
    const [tokens, hashes] = [fileOf(TOKENS), fileOf(TOKENS.split('\n').slice(0, 2).join('\n'))];
    for (const file of [tokens, hashes]) chmodSync(file, 0o640);
    expect((await served({ tokensFile: tokens })).logged).toEqual(['api-tokens-readable']);
    expect((await served({ tokensFile: hashes })).logged).toEqual([]);
  });

  it('given no such file, then the API does not start', async () => {
    const started = served({ tokensFile: join(folder, 'missing') });
    await expect(started).rejects.toMatchObject({ code: 'BF_API_TOKENS_INVALID' });
  });
});

describe('the login page', () => {
  const loginPages: ApiOptions['loginPages'] = ({ url }, response) => {
    if (url === '/assets/page/main.js') return false;
    response.writeHead(401).end('log in');
    return true;
  };
  const pages: ApiOptions['pages'] = (_, response) => {
    response.end('the page');
    return true;
  };

  it('given no identity, then it is served in place of a page, and of nothing else', async () => {
    const { call, login } = await served({ ...OFF_LOOPBACK, loginPages, pages });
    expect(await call('GET', '/')).toMatchObject({ status: 401, body: 'log in' });
    expect(await call('GET', '/machines?state=idle')).toMatchObject({ status: 401, body: 'log in' });
    expect((await call('GET', '/assets/page/main.js')).body).toContain('unauthenticated');
    expect((await call('GET', '/v1/status')).body).toContain('unauthenticated');
    expect((await call('POST', '/up/stories/x', { body: {} })).body).toContain('unauthenticated');
    const headers = await login(VIEWER);
    expect(await call('GET', '/', { headers })).toMatchObject({ status: 200, body: 'the page' });
    // A link on another site brings no cookie, but the files of the page that is then shown do.
    expect(await call('GET', '/login/login.js', { headers })).toMatchObject({ body: 'log in' });
  });

  it('given no tokens, then there is no login page', async () => {
    const { call } = await served({
      tls: certificateOf('bigfleet://shard/s'),
      tokensFile: undefined,
      loginPages,
      pages,
    });
    expect((await call('GET', '/')).body).toContain('unauthenticated');
    const login = await call('POST', '/v1/login', { body: { token: OPERATOR } });
    expect(login.status).toBe(401);
    expect(login.body).toContain('has no apiTokensFile');
  });
});
