// `bigfleet certs`: what it writes is taken by a server and a client of ours, and nothing is ever overwritten by mistake.

import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { identityOf } from '../wire/index.ts';
import { certsCommand } from './certs.ts';

let dir: string;
beforeEach(() => {
  dir = join(mkdtempSync(join(tmpdir(), 'bigfleet-certs-')), 'tls');
});
afterEach(() => {
  rmSync(join(dir, '..'), { recursive: true });
});

function certs(...args: string[]): string {
  let text = '';
  const command = certsCommand((each) => {
    text += each;
  });
  for (const each of command.commands) each.exitOverride().configureOutput({ writeErr: () => {} });
  command.parse([...args, '--dir', dir], { from: 'user' });
  return text;
}

const file = (name: string): string => readFileSync(join(dir, name), 'utf8');
const modeOf = (name: string): number => statSync(join(dir, name)).mode & 0o777;

describe('bigfleet certs', () => {
  it('makes an authority and leaves whose keys only their owner reads', () => {
    certs('init');
    const said = certs('issue', 'shard/shard-0', '--host', 'shard.example.com', '--host', '10.0.0.7');
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
  ])('given %s, then the certificate names %s', (identity, names) => {
    certs('init');
    certs('issue', identity);
    const name = identity.replace('bigfleet://', '').replace('/', '-');
    expect(new X509Certificate(file(`${name}.crt`)).subjectAltName).toBe(names);
  });

  it('gives certificates that open a connection of TLS 1.3, both ends known', async () => {
    certs('init');
    certs('issue', 'shard/s');
    certs('issue', 'cluster/web');
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
        // The server hangs up as soon as it knows the caller, whatever is still on its way.
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

  it('given a git repository around it, then git sees none of the files', () => {
    const repository = join(dir, '..');
    const git = (...args: string[]) => execFileSync('git', ['-C', repository, ...args], { encoding: 'utf8' });
    git('init', '--quiet');
    certs('init');
    certs('issue', 'cluster/web');
    expect(git('status', '--porcelain', '--untracked-files=all')).toBe('');
  });

  it('given a directory with other files, then those stay visible to git, and it says what to do', () => {
    mkdirSync(dir);
    writeFileSync(join(dir, 'README.md'), 'mine');
    expect(certs('init')).toContain('tls has other files too: keep its *.key out of version control');
    expect(readdirSync(dir)).not.toContain('.gitignore');
    rmSync(join(dir, 'README.md'));
    writeFileSync(join(dir, '.gitignore'), '*.key\n');
    expect(certs('issue', 'admin')).not.toContain('version control');
    expect(file('.gitignore')).toBe('*.key\n');
  });

  it('never overwrites, unless a leaf is to be replaced', () => {
    certs('init');
    certs('issue', 'cluster/web');
    const [ca, before] = [file('ca.key'), file('cluster-web.crt')];
    expect(() => certs('init')).toThrow('BF_CERT_EXISTS');
    expect(() => certs('issue', 'cluster/web')).toThrow('BF_CERT_EXISTS');
    expect([file('ca.key'), file('cluster-web.crt')]).toEqual([ca, before]);
    certs('issue', 'cluster/web', '--replace');
    expect(file('cluster-web.crt')).not.toBe(before);
    expect(modeOf('cluster-web.key')).toBe(0o600);
    expect(readdirSync(dir).filter((name) => name.endsWith('.new'))).toEqual([]);
  });

  it('given a certificate alone in the way, then no key is left behind', () => {
    certs('init');
    writeFileSync(join(dir, 'admin.crt'), 'mine');
    expect(() => certs('issue', 'admin')).toThrow('BF_CERT_EXISTS');
    expect(readdirSync(dir)).not.toContain('admin.key');
    expect(file('admin.crt')).toBe('mine');
  });

  it('given no authority, or a key of another, then it says so', () => {
    expect(() => certs('issue', 'admin')).toThrow('BF_CERT_AUTHORITY');
    certs('init');
    certs('issue', 'admin');
    writeFileSync(join(dir, 'ca.key'), file('admin.key'));
    expect(() => certs('issue', 'readonly')).toThrow('is not the key of');
    writeFileSync(join(dir, 'ca.crt'), file('admin.crt'));
    expect(() => certs('issue', 'readonly')).toThrow('is not the certificate of an authority');
  });

  it.each(['cluster', 'cluster/', 'cluster/a/b', 'cluster/../x', 'root', 'bigfleet://cluster/a%2Fb'])(
    'refuses the identity %s',
    (identity) => {
      certs('init');
      expect(() => certs('issue', identity)).toThrow('It must be cluster/ID');
    },
  );

  it('refuses hosts that are none', () => {
    certs('init');
    expect(() => certs('issue', 'shard/a', '--host', 'a:1')).toThrow('without a port');
  });
});
