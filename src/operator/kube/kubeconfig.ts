// Reads kubeconfig files as kubectl does: --kubeconfig, else the files of $KUBECONFIG merged, else ~/.kube/config. Used by
// `bigfleet operator --kubeconfig` and `bigfleet explain pod`. Refuses what it cannot do (proxies, auth providers, user
// names with passwords) instead of connecting differently than kubectl would.

import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import * as z from 'zod';
import { BigFleetError, excerpt } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import { didYouMean } from '../../runtime/nearest.ts';
import { systemClock } from '../../runtime/system-clock.ts';
import { given, requireValid } from '../../runtime/validation.ts';
import { isLoopback } from '../../wire/grpc/tls-files.ts';
import {
  type CredentialSource,
  certificateCredentials,
  fixedText,
  type KubeConnection,
  staticCredentials,
  type TextSource,
  tokenFileCredentials,
  WatchedFile,
} from './connection.ts';
import { EXEC, ExecCredentials } from './exec-plugin.ts';

const MAX_FILE_BYTES = 4 * 1024 * 1024;

const text = given(z.string(), '');

/** Fields that are not listed are ignored, as kubectl does. */
const CLUSTER = z.object({
  server: z.string().min(1),
  'certificate-authority': text,
  'certificate-authority-data': text,
  'insecure-skip-tls-verify': given(z.boolean(), false),
  'tls-server-name': text,
  'proxy-url': text,
});

const USER = z.object({
  token: text,
  tokenFile: text,
  'client-certificate': text,
  'client-certificate-data': text,
  'client-key': text,
  'client-key-data': text,
  username: text,
  'auth-provider': given(z.unknown(), null),
  exec: given(EXEC, null),
});

const CONTEXT = z.object({ cluster: z.string(), user: text, namespace: text });

const NAMED = (field: string) =>
  given(
    z.array(z.object({ name: z.string().min(1), [field]: given(z.record(z.string(), z.unknown()), {}) })),
    [],
  );

const FILE = z.object({
  clusters: NAMED('cluster'),
  users: NAMED('user'),
  contexts: NAMED('context'),
  'current-context': text,
});

interface Entry {
  readonly value: unknown;
  /** File that has it; relative paths are relative to its folder. */
  readonly file: string;
}

interface Merged {
  readonly clusters: ReadonlyMap<string, Entry>;
  readonly users: ReadonlyMap<string, Entry>;
  readonly contexts: ReadonlyMap<string, Entry>;
  readonly currentContext: string;
  readonly files: readonly string[];
}

export interface KubeconfigOptions {
  /** --kubeconfig. */
  readonly path?: string | undefined;
  /** --context; default: current-context. */
  readonly context?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly home?: string;
  readonly clock?: Clock;
}

/** How to reach the cluster of a context, by the name of that context in the kubeconfig. */
export interface ContextConnection extends KubeConnection {
  readonly context: string;
}

export function loadKubeconfig(options: KubeconfigOptions = {}): ContextConnection {
  const files = filesOf(options);
  const merged = merge(files);
  const name = options.context ?? merged.currentContext;
  const where = files.join(', ');
  if (name === '')
    throw refuse(`${where} has no current-context; give --context${listing(merged.contexts)}.`);
  const context = entry(merged.contexts, CONTEXT, 'context', name, where);
  const cluster = entry(merged.clusters, CLUSTER, 'cluster', context.value.cluster, where);
  const user =
    context.value.user === '' ? null : entry(merged.users, USER, 'user', context.value.user, where);
  const connection = connectionOf(cluster, user, {
    namespace: context.value.namespace === '' ? 'default' : context.value.namespace,
    origin: `context ${name} of ${context.file}`,
    clock: options.clock ?? systemClock,
  });
  return { ...connection, context: name };
}

/** Files that exist, in the order of their precedence. */
function filesOf({ path, env = process.env, home = homedir() }: KubeconfigOptions): readonly string[] {
  if (path !== undefined) return [resolve(path)];
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((each) => each !== '');
  const files = (listed.length > 0 ? listed : [join(home, '.kube', 'config')]).map((each) => resolve(each));
  const existing = files.filter((file) => existsSync(file));
  if (existing.length > 0) return existing;
  throw refuse(
    listed.length > 0
      ? `None of the files in $KUBECONFIG exists: ${files.join(', ')}.`
      : `${files[0]} does not exist, $KUBECONFIG is not set, and this process is not in a pod.`,
  );
}

/** The first file that has a name wins, as in kubectl. */
function merge(files: readonly string[]): Merged {
  const clusters = new Map<string, Entry>();
  const users = new Map<string, Entry>();
  const contexts = new Map<string, Entry>();
  let currentContext = '';
  for (const file of files) {
    const config = requireValid(FILE, readYaml(file), 'BF_KUBECONFIG', file);
    const add = (to: Map<string, Entry>, list: readonly Record<string, unknown>[], field: string): void => {
      for (const each of list) {
        const name = String(each['name']);
        if (!to.has(name)) to.set(name, { value: each[field], file });
      }
    };
    add(clusters, config.clusters, 'cluster');
    add(users, config.users, 'user');
    add(contexts, config.contexts, 'context');
    if (currentContext === '') currentContext = config['current-context'];
  }
  return { clusters, users, contexts, currentContext, files };
}

function readYaml(file: string): unknown {
  let content: string;
  try {
    content = readFileSync(file, 'utf8');
  } catch (cause) {
    throw refuse(`${(cause as Error).message}.`, cause);
  }
  if (content.length > MAX_FILE_BYTES) throw refuse(`${file} has more than ${MAX_FILE_BYTES} bytes.`);
  const document = parseDocument(content);
  const [error] = document.errors;
  if (error !== undefined) throw refuse(`${file} is not YAML: ${error.message.split('\n')[0]}.`);
  return document.toJS({ maxAliasCount: 100 }) ?? {};
}

function entry<T>(
  entries: ReadonlyMap<string, Entry>,
  schema: z.ZodType<T>,
  kind: string,
  name: string,
  where: string,
): { readonly value: T; readonly file: string } {
  const found = entries.get(name);
  if (found === undefined) {
    const hint = didYouMean(name, [...entries.keys()]);
    throw refuse(`${where} has no ${kind} named ${excerpt(name)}${listing(entries)}.${hint}`);
  }
  const what = `${found.file}, ${kind} ${excerpt(name)}`;
  return { value: requireValid(schema, found.value, 'BF_KUBECONFIG', what), file: found.file };
}

function listing(entries: ReadonlyMap<string, Entry>): string {
  const names = [...entries.keys()].slice(0, 20);
  return names.length === 0 ? '' : `; there are: ${names.map((name) => excerpt(name)).join(', ')}`;
}

interface Found<T> {
  readonly value: T;
  readonly file: string;
}

function connectionOf(
  cluster: Found<z.output<typeof CLUSTER>>,
  user: Found<z.output<typeof USER>> | null,
  rest: { readonly namespace: string; readonly origin: string; readonly clock: Clock },
): KubeConnection {
  const { value } = cluster;
  if (value['proxy-url'] !== '')
    throw refuse(
      `${cluster.file} has proxy-url ${excerpt(value['proxy-url'])}: proxies are not supported. Connect to the API server directly, or tunnel to it and give the address of the tunnel as server.`,
    );
  const server = serverOf(value.server, cluster.file);
  const ca = sourceOf(
    value['certificate-authority-data'],
    value['certificate-authority'],
    cluster.file,
    'certificate-authority',
  );
  const skipTlsVerify = value['insecure-skip-tls-verify'];
  if (skipTlsVerify && ca !== null)
    throw refuse(
      `${cluster.file} has insecure-skip-tls-verify together with a certificate authority; keep one.`,
    );
  const serverName = value['tls-server-name'] === '' ? null : value['tls-server-name'];
  const execCluster = { server, caData: ca?.read() ?? null, skipTlsVerify, serverName };
  const credentials =
    user === null
      ? staticCredentials({}, 'a request without credentials')
      : credentialsOf(user, execCluster, rest.clock);
  const { namespace, origin } = rest;
  return { server, serverName, ca, skipTlsVerify, credentials, namespace, origin };
}

function serverOf(server: string, file: string): string {
  const url = URL.parse(server);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw refuse(`${file}: server is ${excerpt(server)}, not an https:// address.`);
  if (url.protocol === 'http:' && !isLoopback(url.host))
    throw refuse(`${file}: server is ${excerpt(server)}: credentials are sent without TLS to loopback only.`);
  return server.replace(/\/+$/, '');
}

/** In the order in which kubectl prefers them. */
function credentialsOf(
  { value, file }: Found<z.output<typeof USER>>,
  cluster: ConstructorParameters<typeof ExecCredentials>[1],
  clock: Clock,
): CredentialSource {
  if (value['auth-provider'] !== null)
    throw refuse(`${file} has an auth-provider, which Kubernetes removed in 1.26; use an exec plugin.`);
  const certificate = sourceOf(
    value['client-certificate-data'],
    value['client-certificate'],
    file,
    'client-certificate',
  );
  const key = sourceOf(value['client-key-data'], value['client-key'], file, 'client-key');
  if ((certificate === null) !== (key === null))
    throw refuse(`${file} has a client certificate without its key, or a key without its certificate.`);
  if (value.exec !== null) {
    const { command } = value.exec;
    // Names without a slash are looked up in PATH; relative paths are relative to the file.
    const isRelative = /[/\\]/.test(command) && !isAbsolute(command);
    const settings = isRelative ? { ...value.exec, command: join(dirname(file), command) } : value.exec;
    return new ExecCredentials(settings, cluster, dirname(file), clock);
  }
  if (value.tokenFile !== '') return tokenFileCredentials(resolve(dirname(file), value.tokenFile));
  if (value.token !== '') return staticCredentials({ token: value.token }, `the token in ${file}`);
  if (certificate !== null && key !== null)
    return certificateCredentials(certificate, key, `the client certificate of ${file}`);
  if (value.username !== '')
    throw refuse(`${file} has a user name and password, which API servers no longer accept; use a token.`);
  return staticCredentials({}, 'a request without credentials');
}

/** Inline data wins over a file, as in kubectl. */
function sourceOf(data: string, path: string, file: string, what: string): TextSource | null {
  if (data !== '') {
    const pem = Buffer.from(data, 'base64').toString('utf8');
    if (!pem.includes('-----BEGIN')) throw refuse(`${file}: ${what}-data is not base64 of PEM.`);
    return fixedText(pem);
  }
  if (path === '') return null;
  const source = new WatchedFile(resolve(dirname(file), path));
  try {
    source.read();
  } catch (cause) {
    throw refuse(`${file}, ${what}: ${(cause as Error).message}.`, cause);
  }
  return source;
}

function refuse(message: string, cause?: unknown): BigFleetError {
  return new BigFleetError('BF_KUBECONFIG', message, cause === undefined ? {} : { cause });
}
