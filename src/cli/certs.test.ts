// `bigfleet certs`: a server and a client of ours accept the files it writes, and it never overwrites files by mistake.

import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeShard } from '../../testing/support/fake-shard.ts';
import { serveApi } from '../shard/index.ts';
import { identityOf } from '../wire/index.ts';
import { certsCommand } from './certs.ts';

let dir: string;
beforeEach(() => {
  dir = join(mkdtempSync(join(tmpdir(), 'bigfleet-certs-')), 'tls');
});
afterEach(() => {
  rmSync(join(dir, '..'), { recursive: true });
});

async function certs(...args: string[]): Promise<string> {
  let text = '';
  const command = certsCommand((each) => {
    text += each;
  });
  for (const each of command.commands) each.exitOverride().configureOutput({ writeErr: () => {} });
  await command.parseAsync([...args, '--dir', dir], { from: 'user' });
  return text;
}

const file = (name: string): string => readFileSync(join(dir, name), 'utf8');
const modeOf = (name: string): number => statSync(join(dir, name)).mode & 0o777;

describe('bigfleet certs', () => {
  it('given an identity and hosts, then it writes an authority and a certificate whose keys only their owner can read', async () => {
    await certs('init');
    const said = await certs('issue', 'shard/shard-0', '--host', 'shard.example.com', '--host', '10.0.0.7');
    expect(said).toContain('bigfleet://shard/shard-0');
    const files = ['.gitignore', 'ca.crt', 'ca.key', 'shard-shard-0.crt', 'shard-shard-0.key'];
    expect(readdirSync(dir).sort()).toEqual(files);
    expect([modeOf('ca.key'), modeOf('shard-shard-0.key')]).toEqual([0o600, 0o600]);
    const leaf = new X509Certificate(file('shard-shard-0.crt'));
    expect(leaf.verify(new X509Certificate(file('ca.crt')).publicKey)).toBe(true);
    expect(leaf.subjectAltName).toBe(
      'DNS:shard.example.com, URI:bigfleet://shard/shard-0, IP Address:10.0.0.7',
    );
  });

  it.each([
    ['cluster/web', 'URI:bigfleet://cluster/web'],
    ['admin', 'URI:bigfleet://admin'],
    ['bigfleet://readonly', 'URI:bigfleet://readonly'],
    [
      'provider/metal',
      'DNS:localhost, URI:bigfleet://provider/metal, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1',
    ],
  ])('given %s, then the certificate names %s', async (identity, names) => {
    await certs('init');
    await certs('issue', identity);
    const name = identity.replace('bigfleet://', '').replace('/', '-');
    expect(new X509Certificate(file(`${name}.crt`)).subjectAltName).toBe(names);
  });

  it('given certificates of both ends, then a TLS 1.3 connection opens and the server reads the identity of the caller', async () => {
    await certs('init');
    await certs('issue', 'shard/s');
    await certs('issue', 'cluster/web');
    const ca = file('ca.crt');
    const demands = { requestCert: true, rejectUnauthorized: true, minVersion: 'TLSv1.3' } as const;
    const caller = new Promise<TLSSocket>((resolve) => {
      const server = createServer(
        { cert: file('shard-s.crt'), key: file('shard-s.key'), ca, ...demands },
        (socket) => {
          server.close();
          resolve(socket);
        },
      );
      server.listen(0, '127.0.0.1', () => {
        const { port } = server.address() as { port: number };
        const own = { cert: file('cluster-web.crt'), key: file('cluster-web.key'), ca };
        const client = connect({ port, host: '127.0.0.1', ...own }, () => client.end());
        // The server closes the connection as soon as it knows the caller, also with data in flight.
        client.on('error', () => {});
      });
    });
    const socket = await caller;
    const seen = identityOf({
      getAuthContext: () => ({ sslPeerCertificate: socket.getPeerCertificate() }),
    });
    expect(seen).toEqual({ kind: 'cluster', id: 'web' });
    socket.destroy();
  });

  it('given a directory in a git repository, then git ignores all files', async () => {
    const repository = join(dir, '..');
    const git = (...args: string[]) => execFileSync('git', ['-C', repository, ...args], { encoding: 'utf8' });
    git('init', '--quiet');
    await certs('init');
    await certs('issue', 'cluster/web');
    expect(git('status', '--porcelain', '--untracked-files=all')).toBe('');
  });

  it('given a directory with other files, then git still sees those, and the command warns about the keys', async () => {
    mkdirSync(dir);
    writeFileSync(join(dir, 'README.md'), 'mine');
    expect(await certs('init')).toContain(
      'tls has other files too: keep its *.key and *.token out of version control',
    );
    expect(readdirSync(dir)).not.toContain('.gitignore');
    rmSync(join(dir, 'README.md'));
    writeFileSync(join(dir, '.gitignore'), '*.key\n');
    expect(await certs('issue', 'admin')).not.toContain('version control');
    expect(file('.gitignore')).toBe('*.key\n');
  });

  it('given existing files, then it overwrites none of them without --replace', async () => {
    await certs('init');
    await certs('issue', 'cluster/web');
    const [ca, before] = [file('ca.key'), file('cluster-web.crt')];
    await expect(certs('init')).rejects.toThrow('BF_CERT_EXISTS');
    await expect(certs('issue', 'cluster/web')).rejects.toThrow('BF_CERT_EXISTS');
    expect([file('ca.key'), file('cluster-web.crt')]).toEqual([ca, before]);
    await certs('issue', 'cluster/web', '--replace');
    expect(file('cluster-web.crt')).not.toBe(before);
    expect(modeOf('cluster-web.key')).toBe(0o600);
    expect(readdirSync(dir).filter((name) => name.endsWith('.new'))).toEqual([]);
  });

  it('given only the certificate exists, then it leaves no key behind', async () => {
    await certs('init');
    writeFileSync(join(dir, 'admin.crt'), 'mine');
    await expect(certs('issue', 'admin')).rejects.toThrow('BF_CERT_EXISTS');
    expect(readdirSync(dir)).not.toContain('admin.key');
    expect(file('admin.crt')).toBe('mine');
  });

  it('given no authority or the key of another one, then it refuses and says why', async () => {
    await expect(certs('issue', 'admin')).rejects.toThrow('BF_CERT_AUTHORITY');
    await certs('init');
    await certs('issue', 'admin');
    writeFileSync(join(dir, 'ca.key'), file('admin.key'));
    await expect(certs('issue', 'readonly')).rejects.toThrow('is not the key of');
    writeFileSync(join(dir, 'ca.crt'), file('admin.crt'));
    await expect(certs('issue', 'readonly')).rejects.toThrow('is not the certificate of an authority');
  });

  it.each(['cluster', 'cluster/', 'cluster/a/b', 'cluster/../x', 'root', 'bigfleet://cluster/a%2Fb'])(
    'given the identity %s, then it refuses it',
    async (identity) => {
      await certs('init');
      await expect(certs('issue', identity)).rejects.toThrow('It must be cluster/ID');
    },
  );

  it('given an IPv6 address with an embedded IPv4 address, then the certificate has that address', async () => {
    await certs('init');
    await certs('issue', 'admin', '--host', '::ffff:10.0.0.7');
    const { subjectAltName } = new X509Certificate(file('admin.crt'));
    expect(subjectAltName).toContain('IP Address:0:0:0:0:0:FFFF:A00:7');
  });

  it('given a host with a port or a zone, then it refuses it', async () => {
    await certs('init');
    await expect(certs('issue', 'shard/a', '--host', 'a:1')).rejects.toThrow('without a port');
    await expect(certs('issue', 'shard/a', '--host', 'fe80::1%eth0')).rejects.toThrow('a zone');
  });

  it('given the name of a person, then the certificate has it as common name and files of its own', async () => {
    await certs('init');
    await certs('issue', 'admin', '--name', 'Ann Lee');
    const leaf = new X509Certificate(file('admin-ann-lee.crt'));
    expect(leaf.subject).toBe('CN=Ann Lee');
    expect(leaf.subjectAltName).toBe('URI:bigfleet://admin');
    const server = certs('issue', 'shard/s', '--name', 'Ann Lee');
    await expect(server).rejects.toThrow('BF_USAGE: --name is for admin and readonly.');
  });
});

describe('bigfleet certs token', () => {
  it('given a name and a role, then an API with the printed line knows the token', async () => {
    const said = await certs('token', 'true', '--role', 'view');
    expect(modeOf('true.token')).toBe(0o600);
    expect(readdirSync(dir).sort()).toEqual(['.gitignore', 'true.token']);
    const tokensFile = join(dir, 'tokens.yaml');
    writeFileSync(tokensFile, /^- .*$/m.exec(said)![0], { mode: 0o600 });
    const server = await serveApi(new FakeShard(), '127.0.0.1:0', { tls: null, tokensFile });
    const headers = { authorization: `Bearer ${file('true.token').trim()}` };
    const answer = await fetch(`${server.url}/v1/whoami`, { headers });
    await server.close();
    expect(await answer.json()).toEqual({ name: 'true', role: 'view' });
  });

  it('given a second time, then the first token stays, unless it is replaced', async () => {
    await certs('token', 'ann', '--role', 'view');
    const first = file('ann.token');
    await expect(certs('token', 'ann', '--role', 'view')).rejects.toThrow('BF_CERT_EXISTS');
    expect(file('ann.token')).toBe(first);
    await certs('token', 'ann', '--role', 'view', '--replace');
    expect(file('ann.token')).not.toBe(first);
  });

  it.each([
    ['../x', 'view'],
    ['a b', 'view'],
    ['a"b', 'view'],
    ['ann', 'admin'],
  ])('given the name %j and the role %s, then it is refused', async (name, role) => {
    await expect(certs('token', name, '--role', role)).rejects.toThrow();
    await expect(certs('token', 'ann')).rejects.toThrow(/--role/);
  });
});
