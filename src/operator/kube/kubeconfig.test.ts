import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { ADMIN_TOKEN, ApiServer } from '../../../testing/kube/api-server.ts';
import { VirtualClock } from '../../runtime/virtual-clock.ts';
import { HttpKubeClient } from './http-client.ts';
import { inClusterConnection, isInCluster } from './in-cluster.ts';
import { loadKubeconfig } from './kubeconfig.ts';

const PEM = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
const base64 = (text: string) => Buffer.from(text).toString('base64');

function scene() {
  const folder = mkdtempSync(join(tmpdir(), 'bigfleet-kubeconfig-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const write = (name: string, content: unknown): string => {
    const path = join(folder, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, typeof content === 'string' ? content : stringify(content), { mode: 0o755 });
    return path;
  };
  return { folder, write };
}

function config(cluster: object = {}, user: object = { token: 't' }, more: object = {}) {
  return {
    clusters: [{ name: 'c', cluster: { server: 'https://api.example.com:6443', ...cluster } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
    ...more,
  };
}

describe('a kubeconfig', () => {
  it('given data inside, then address, authority and token are those', async () => {
    const { write } = scene();
    const path = write(
      'config',
      config({ 'certificate-authority-data': base64(PEM), 'tls-server-name': 'kube' }),
    );
    const connection = loadKubeconfig({ path });
    expect(connection).toMatchObject({
      server: 'https://api.example.com:6443',
      serverName: 'kube',
      namespace: 'default',
    });
    expect(connection.ca?.read()).toBe(PEM);
    expect(await connection.credentials.current()).toEqual({ token: 't' });
    expect(connection.origin).toBe(`context x of ${path}`);
  });

  it('given files, then paths are relative to the kubeconfig and changes are seen', async () => {
    const { write } = scene();
    write('conf/ca.pem', PEM);
    const token = write('conf/token', 'first\n');
    const path = write('conf/config', config({ 'certificate-authority': 'ca.pem' }, { tokenFile: 'token' }));
    const { credentials, ca } = loadKubeconfig({ path });
    expect(await credentials.current()).toEqual({ token: 'first' });
    writeFileSync(token, 'second, longer\n');
    expect(await credentials.current()).toEqual({ token: 'second, longer' });
    // A file that is being replaced does not lose what was read.
    writeFileSync(token, '');
    expect(await credentials.current()).toEqual({ token: 'second, longer' });
    write('conf/ca.pem', `${PEM}${PEM}`);
    expect(ca?.read()).toBe(PEM + PEM);
  });

  it('given client certificates, then both parts are used, and one alone is refused', async () => {
    const { write } = scene();
    const data = { 'client-certificate-data': base64(PEM), 'client-key-data': base64(PEM) };
    const { credentials } = loadKubeconfig({ path: write('a', config({}, data)) });
    expect(await credentials.current()).toEqual({ certificate: PEM, key: PEM });
    const half = write('b', config({}, { 'client-key-data': base64(PEM) }));
    expect(() => loadKubeconfig({ path: half })).toThrow(/key without its certificate/);
  });

  it('given several files in KUBECONFIG, then the first that has a name wins and missing files are ignored', async () => {
    const { write, folder } = scene();
    const one = write('one', {
      contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'team' } }],
    });
    const two = write('two', config({}, { token: 'two' }));
    const three = write('three', config({ server: 'https://other' }, { token: 'three' }));
    const env = { KUBECONFIG: [one, join(folder, 'missing'), two, three].join(':') };
    const connection = loadKubeconfig({ env });
    expect(connection).toMatchObject({ server: 'https://api.example.com:6443', namespace: 'team' });
    expect(await connection.credentials.current()).toEqual({ token: 'two' });
  });

  it('given no KUBECONFIG, then ~/.kube/config is read, and --context chooses', () => {
    const { write, folder } = scene();
    const contexts = ['x', 'y'].map((name) => ({
      name,
      context: { cluster: 'c', user: 'u', namespace: name },
    }));
    write('.kube/config', config({}, {}, { contexts }));
    expect(loadKubeconfig({ env: {}, home: folder, context: 'y' }).namespace).toBe('y');
    expect(() => loadKubeconfig({ env: {}, home: folder, context: 'z' })).toThrow(
      /no context named z; there are: x, y/,
    );
  });

  it.each<readonly [string, unknown, RegExp]>([
    ['no such file', null, /ENOENT/],
    ['text that is not YAML', 'a: [', /not YAML/],
    ['a list', '[]', /Expected an object/],
    [
      'no current-context',
      config({}, {}, { 'current-context': '' }),
      /no current-context; give --context; there are: x/,
    ],
    ['a missing cluster', config({}, {}, { clusters: [] }), /no cluster named c/],
    ['a server that is no address', config({ server: 'api' }), /not an https/],
    ['plain http to another machine', config({ server: 'http://10.0.0.1' }), /without TLS to loopback only/],
    ['a proxy', config({ 'proxy-url': 'socks5://localhost:1080' }), /proxies are not supported/],
    ['an authority that is no PEM', config({ 'certificate-authority-data': 'AAAA' }), /not base64 of PEM/],
    ['an authority that is missing', config({ 'certificate-authority': 'none.pem' }), /none\.pem/],
    [
      'an insecure cluster with authority',
      config({ 'insecure-skip-tls-verify': true, 'certificate-authority-data': base64(PEM) }),
      /keep one/,
    ],
    ['a wrong type', config({ server: 7 }), /server: Expected text, found the number 7/],
    ['an auth provider', config({}, { 'auth-provider': { name: 'gcp' } }), /use an exec plugin/],
    ['a password', config({}, { username: 'a', password: 'b' }), /use a token/],
    [
      'an exec of an unknown version',
      config({}, { exec: { apiVersion: 'v0', command: 'x' } }),
      /exec\.apiVersion/,
    ],
  ])('given %s, then it is refused and says why', (_what, content, expected) => {
    const { write, folder } = scene();
    const path = content === null ? join(folder, 'none') : write('config', content);
    expect(() => loadKubeconfig({ path })).toThrow(expected);
    expect(() => loadKubeconfig({ path })).toThrow(/^BF_KUBECONFIG/);
  });

  it('given no file at all, then it says where it looked', () => {
    const { folder } = scene();
    expect(() => loadKubeconfig({ env: {}, home: folder })).toThrow(
      /\.kube\/config does not exist, \$KUBECONFIG is not set/,
    );
    expect(() => loadKubeconfig({ env: { KUBECONFIG: '/none/a:/none/b' } })).toThrow(
      /None of the files.*\/none\/a, \/none\/b/,
    );
  });
});

describe('a credential plugin', () => {
  const credential = (status: object) =>
    JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status });

  function plugin(script: string, more: object = {}) {
    const { folder, write } = scene();
    write('plugin', `#!/bin/sh\n${script}\n`);
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: './plugin', ...more };
    const path = write('config', config({}, { exec }));
    const clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
    return { folder, clock, credentials: loadKubeconfig({ path, clock }).credentials };
  }

  it('given a token that expires, then it is cached until shortly before, and requests share one run', async () => {
    const output = credential({ token: 'x', expirationTimestamp: '2026-01-01T01:00:00Z' });
    const { credentials, clock, folder } = plugin(`echo run >> runs; echo '${output}'`);
    const runs = () => readFileSync(join(folder, 'runs'), 'utf8').trim().split('\n').length;
    const results = await Promise.all([credentials.current(), credentials.current()]);
    expect(results).toEqual([{ token: 'x' }, { token: 'x' }]);
    await clock.advance(58 * 60_000);
    await credentials.current();
    expect(runs()).toBe(1);
    await clock.advance(90_000);
    await credentials.current();
    expect(runs()).toBe(2);
    credentials.refused();
    await credentials.current();
    expect(runs()).toBe(3);
  });

  it('given arguments, environment and cluster info, then the command gets them', async () => {
    const script = `printf '%s' "$KUBERNETES_EXEC_INFO" > info; echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"'$1-$MORE'"}}'`;
    const env = [{ name: 'MORE', value: 'env' }];
    const { credentials, folder } = plugin(script, { args: ['arg'], env, provideClusterInfo: true });
    expect(await credentials.current()).toEqual({ token: 'arg-env' });
    const info = JSON.parse(readFileSync(join(folder, 'info'), 'utf8')) as unknown;
    expect(info).toMatchObject({
      kind: 'ExecCredential',
      spec: { cluster: { server: 'https://api.example.com:6443' } },
    });
  });

  it.each([
    ['that fails', 'echo "please log in" >&2; exit 3', /failed: please log in/],
    ['that prints no JSON', 'echo hello', /printed no JSON: "hello/],
    ['that prints another kind', `echo '{"kind":"Other"}'`, /no usable ExecCredential/],
    ['that prints nothing usable', `echo '${credential({})}'`, /neither a token nor a certificate/],
    [
      'whose token has expired',
      `echo '${credential({ token: 'x', expirationTimestamp: '2025-12-31T00:00:00Z' })}'`,
      /expired at 2025/,
    ],
  ])(
    'given a command %s, then the error says so, with the hint how to install it',
    async (_what, script, expected) => {
      const { credentials } = plugin(script, { installHint: 'see example.com' });
      const failure = (async () => await credentials.current())();
      await expect(failure).rejects.toThrow(expected);
      await expect((async () => await credentials.current())()).rejects.toThrow(/see example\.com/);
    },
  );

  it('given a command that is not installed, then the error says so', async () => {
    const { credentials } = plugin('', { command: 'no-such-plugin-here' });
    await expect((async () => await credentials.current())()).rejects.toThrow(
      /not installed, or not in PATH/,
    );
  });
});

describe('a pod', () => {
  it('given a service account, then it connects with its token and authority', async () => {
    const { folder, write } = scene();
    const server = await ApiServer.start({ tls: true });
    onTestFinished(() => server.stop());
    write('ca.crt', server.ca!);
    write('token', `${ADMIN_TOKEN}\n`);
    write('namespace', 'bigfleet-system');
    const { port } = new URL(server.url);
    const env = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: port };
    expect(isInCluster(env, folder)).toBe(true);
    const connection = inClusterConnection(env, folder);
    expect(connection.namespace).toBe('bigfleet-system');
    const client = new HttpKubeClient({ connection, userAgent: 'test' });
    onTestFinished(() => client.close());
    expect(await client.get('/version')).toMatchObject({ major: '1' });
    await client.list('/api/v1/pods');
  });

  it('given a replaced authority, then new connections trust it', async () => {
    const { folder, write } = scene();
    const [one, two] = await Promise.all([ApiServer.start({ tls: true }), ApiServer.start({ tls: true })]);
    onTestFinished(() => one.stop());
    onTestFinished(() => two.stop());
    write('ca.crt', one.ca!);
    write('token', ADMIN_TOKEN);
    const env = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: new URL(two.url).port };
    const client = new HttpKubeClient({ connection: inClusterConnection(env, folder), userAgent: 'test' });
    onTestFinished(() => client.close());
    await expect(client.list('/api/v1/pods')).rejects.toThrow(/not signed by the authority/);
    // Not PEM: the last good one stays in use, and nothing crashes.
    write('ca.crt', 'garbage that is longer');
    await expect(client.list('/api/v1/pods')).rejects.toThrow(/not signed by the authority/);
    write('ca.crt', `${one.ca}${two.ca}`);
    await client.list('/api/v1/pods');
  });

  it('given no service account, then it says what is missing', () => {
    const { folder } = scene();
    expect(isInCluster({}, folder)).toBe(false);
    expect(() => inClusterConnection({}, folder)).toThrow(/not in a pod; give --kubeconfig/);
    expect(() => inClusterConnection({ KUBERNETES_SERVICE_HOST: '::1' }, folder)).toThrow(
      /automountServiceAccountToken/,
    );
  });
});
