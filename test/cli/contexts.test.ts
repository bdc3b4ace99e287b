// Contexts: `bigfleet config`, and the shard and credentials that commands take from the file.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configCommand } from '../../src/cli/remote/config.ts';
import { getCommand } from '../../src/cli/remote/get.ts';
import { serveApi } from '../../src/shard/index.ts';
import { issueCertificate, makeAuthority } from '../../src/wire/grpc/certificates.ts';
import { FakeShard } from '../../testing/support/fake-shard.ts';
import { output, type Served, servedShard } from './served.ts';

let folder: string;
let path: string;
let served: Served;
const before = { ...process.env };
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bigfleet-contexts-'));
  path = join(folder, 'new', 'config.yaml');
  process.env['BIGFLEET_CONFIG'] = path;
  delete process.env['BIGFLEET_SHARD'];
  served = await servedShard();
});
afterEach(async () => {
  for (const name of ['BIGFLEET_CONFIG', 'BIGFLEET_SHARD', 'BIGFLEET_CONTEXT']) {
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
  }
  rmSync(folder, { recursive: true });
  await served.close();
});

const config = (...words: string[]) => output(configCommand, words);
const get = (...words: string[]) => output(getCommand, words);

describe('bigfleet config', () => {
  it('given the first context, then it is current, and commands use it', async () => {
    await config('set-context', 'demo', '--shard', served.url);
    expect(await config('current-context')).toBe('demo\n');
    expect(await get('machines', '-o', 'name')).toContain('machine/m-1');
  });

  it('given two contexts, then one is used, and flags, BIGFLEET_SHARD and BIGFLEET_CONTEXT win', async () => {
    await config('set-context', 'gone', '--shard', 'http://127.0.0.1:1');
    expect(await config('set-context', 'demo', '--shard', served.url)).toContain('use-context demo');
    await expect(get('machines')).rejects.toThrow('No shard at http://127.0.0.1:1');
    expect(await get('machines', '--shard', served.url, '-o', 'name')).toContain('m-1');
    process.env['BIGFLEET_SHARD'] = served.url;
    expect(await get('machines', '-o', 'name')).toContain('m-1');
    process.env['BIGFLEET_SHARD'] = '';
    process.env['BIGFLEET_CONTEXT'] = 'demo';
    expect(await get('machines', '-o', 'name')).toContain('m-1');
    expect(await config('use-context', 'demo')).toContain(served.url);
    expect(await config('get-contexts')).toMatch(/\n {3}gone .*\n\* {2}demo +http/);
  });

  it('given what is not the URL of a shard, then nothing is written', async () => {
    await expect(config('set-context', 'demo', '--shard', 'ftp://shard')).rejects.toThrow(
      '"ftp://shard" is not the URL of a shard',
    );
    expect(await config('get-contexts')).toBe('No contexts.\n');
  });

  it('given a deleted context, then it is gone, and none is current', async () => {
    await config('set-context', 'demo', '--shard', served.url);
    expect(await config('delete-context', 'demo')).toContain('No context is current now.');
    await expect(config('current-context')).rejects.toThrow('There is no current context.');
    await expect(config('use-context', 'demo')).rejects.toThrow(
      /no context demo in .*config.yaml.*get-contexts/,
    );
    expect(await config('get-contexts')).toBe('No contexts.\n');
  });

  it('given a file that is written, then only its owner can read it, and no part of it is left', async () => {
    mkdirSync(join(folder, 'new'));
    writeFileSync(path, 'contexts: {}\n');
    chmodSync(path, 0o644);
    await config('set-context', 'demo', '--shard', served.url);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(folder, 'new'))).toEqual(['config.yaml']);
  });

  it.each([
    ['contexts:\n  a:\n    shard: http://x\n    colour: red\n', 'line 4: unknown field "colour"'],
    ['contexts:\n  a:\n    shard: 7\n', 'line 3: "shard" must be a text'],
    ['contexts:\n  a:\n    ca: x\n', 'line 3: the field "shard" is missing'],
    ['contexts: [\n', 'line 2: '],
    ['currentContext: a\ncontexts: []\n', 'line 2: expected contexts by name'],
    ['other: 1\n', 'line 1: unknown field "other"'],
    ['- a\n', 'expected "currentContext" and "contexts"'],
  ])('given the file %j, then the error names the line: %s', async (text, message) => {
    mkdirSync(join(folder, 'new'));
    writeFileSync(path, text);
    await expect(get('machines')).rejects.toThrow(message);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it.each([
    [['--cert', 'x'], 'give --cert and --key'],
    [['--cert', 'x', '--key', 'x'], 'give --ca'],
    [['--ca', 'missing'], 'There is no file'],
  ])('given the flags %j, then it says what to give, and writes nothing', async (flags, message) => {
    await expect(config('set-context', 'a', '--shard', 'x', ...flags)).rejects.toThrow(message);
    expect(existsSync(path)).toBe(false);
  });
});

describe('credentials of a context', () => {
  it('given a certificate, then commands present it; flags with other files win', async () => {
    const valid = { notBefore: new Date(Date.now() - 3_600_000), notAfter: new Date(Date.now() + 3_600_000) };
    const authority = makeAuthority({ name: 'fleet', ...valid });
    const write = (name: string, text: string): string => {
      const file = join(folder, name);
      writeFileSync(file, text);
      return file;
    };
    const files = (name: string, uri: string) => {
      const parts = { uris: [uri], dnsNames: [], ipAddresses: ['127.0.0.1'] };
      const { certificate, key } = issueCertificate(authority, { name, ...parts, ...valid });
      return { cert: write(`${name}.crt`, certificate), key: write(`${name}.key`, key) };
    };
    const ca = write('ca.crt', authority.certificate);
    const admin = files('admin', 'bigfleet://admin');
    const provider = files('provider', 'bigfleet://provider/p');
    const tls = { ...files('shard', 'bigfleet://shard/s'), ca };
    const server = await serveApi(new FakeShard(), '127.0.0.1:0', { tls });
    try {
      const place = ['--shard', server.url, '--ca', ca];
      await config('set-context', 'prod', ...place, '--cert', admin.cert, '--key', admin.key);
      expect(await get('machines', '-o', 'name')).toContain('m-1');
      const others = ['--tls-cert', provider.cert, '--tls-key', provider.key, '--tls-ca', ca];
      await expect(get('machines', ...others)).rejects.toThrow('The certificate names bigfleet://provider/p');
    } finally {
      await server.close();
    }
  });

  it('given a token, then it is sent, but not in plain text to another machine', async () => {
    const seen: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.end(JSON.stringify({ items: [], total: 0, next: null, nowMs: 0 }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const token = join(folder, 'token');
    writeFileSync(token, 'secret-1\n');
    const { port } = server.address() as AddressInfo;
    await config('set-context', 'demo', '--shard', `http://127.0.0.1:${port}`, '--token-file', token);
    await get('machines', '-o', 'name');
    expect(seen).toEqual(['Bearer secret-1']);
    await expect(get('machines', '--shard', 'http://shard.example', '--token-file', token)).rejects.toThrow(
      'A token is sent over https only',
    );
    server.close();
  });
});
