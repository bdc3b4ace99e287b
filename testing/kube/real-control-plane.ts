// A real control plane as processes on loopback: etcd, kube-apiserver, kube-scheduler and kube-controller-manager, from the
// programs that kubebox.ts finds. Starts in 3 to 5 s and takes about 600 MiB. Ends with SIGKILL: on SIGTERM the API
// server waits for open watches. Started by control-plane.ts.

import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { issueCertificate, makeAuthority } from '../../src/wire/grpc/certificates.ts';
import { quietPort } from '../support/quiet-port.ts';
import {
  Access,
  type ControlPlane,
  type ControlPlaneOptions,
  eventually,
  Hopeless,
  tokenOf,
  usersOf,
} from './control-plane.ts';
import { findKubebox, notRun, type Program } from './kubebox.ts';
import type { User } from './rbac.ts';

const DAY_MS = 86_400_000;
/** A machine with other work to do may take a minute for what takes seconds otherwise. */
const START_MS = 180_000;
/** Lines of a log that an error shows. */
const LOG_LINES = 20;
const LOG_LINE = 300;

const CONTROLLERS = [
  'namespace-controller',
  'serviceaccount-controller',
  'garbage-collector-controller',
  'deployment-controller',
  'replicaset-controller',
  'disruption-controller',
  'job-controller',
  'daemonset-controller',
  'statefulset-controller',
  'node-lifecycle-controller',
  'taint-eviction-controller',
  'pod-garbage-collector-controller',
  'root-ca-certificate-publisher-controller',
  'clusterrole-aggregation-controller',
];

const SYSTEM_USERS: Readonly<Record<string, User>> = {
  scheduler: { name: 'system:kube-scheduler', groups: [] },
  controllers: { name: 'system:kube-controller-manager', groups: [] },
};

interface Ports {
  readonly api: number;
  readonly etcd: number;
  readonly peer: number;
}

/** Throws if there are no programs. */
export async function startReal(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { folder: programs, why } = findKubebox();
  if (programs === null) throw new Error(notRun(1, why));
  const processes = new Processes(programs, mkdtempSync(join(tmpdir(), 'bigfleet-kubebox-')));
  const ports = { api: await quietPort(), etcd: await quietPort(), peer: await quietPort() };
  const ca = writeFiles(processes.folder, ports, options);
  const url = `https://127.0.0.1:${ports.api}`;
  const access = new Access(url, ca);
  let starts = 0;
  const startApiServer = async (): Promise<void> => {
    starts++;
    processes.start('kube-apiserver', apiServerArgs(ports));
    await processes.ready('the API server', () => isReady(url, ca));
  };
  try {
    processes.start('etcd', etcdArgs(ports));
    await processes.ready('etcd', async () => (await fetch(`http://127.0.0.1:${ports.etcd}/health`)).ok);
    await startApiServer();
    processes.start('kube-scheduler', [
      '--config=scheduler.json',
      '--secure-port=0',
      '--authentication-skip-lookup',
    ]);
    processes.start('kube-controller-manager', controllerArgs(options));
    await processes.ready('the controllers', async () => {
      await access.admin.get('/api/v1/namespaces/default/serviceaccounts/default');
      return true;
    });
  } catch (error) {
    await processes.stop();
    access.close();
    throw error;
  }
  return {
    target: 'real',
    url,
    fake: null,
    admin: access.admin,
    connection: (user) => access.connection(user),
    client: (user) => access.client(user),
    kubeconfig: (user, server) => access.kubeconfig(user, server),
    apply: (objects, query) => access.apply(objects, query),
    stopApiServer: () => processes.kill('kube-apiserver'),
    startApiServer,
    get wasRestarted() {
      return starts > 1;
    },
    rotateToken: async (name = 'operator') => {
      const table = tokenTable(options, (user) => (user === name ? `${tokenOf(user)}-2` : tokenOf(user)));
      writeFileSync(join(processes.folder, 'tokens.csv'), table, { mode: 0o600 });
      // It reads the table only when it starts.
      await processes.kill('kube-apiserver');
      await startApiServer();
      return () => void access.writeToken(name, `${tokenOf(name)}-2`);
    },
    compact: async () => {
      await compactEtcd(ports);
      // The API server keeps recent changes in memory; a new process has none.
      await processes.kill('kube-apiserver');
      await startApiServer();
    },
    stop: async () => {
      await processes.stop();
      access.close();
    },
  };
}

/** Ready means that its roles exist as well; the controllers give up if that takes too long. */
async function isReady(url: string, ca: string): Promise<boolean> {
  const request = get(`${url}/readyz`, { ca, agent: false });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode === 200;
}

async function compactEtcd({ etcd }: Ports): Promise<void> {
  const call = async (path: string, body: unknown): Promise<{ header: { revision: string } }> => {
    const url = `http://127.0.0.1:${etcd}/v3/kv/${path}`;
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`etcd answered ${answer.status} to ${path}: ${await answer.text()}`);
    return (await answer.json()) as { header: { revision: string } };
  };
  const key = Buffer.from('/registry/').toString('base64');
  const { header } = await call('range', { key });
  await call('compaction', { revision: header.revision });
}

/** Certificates, tokens and settings. Returns the certificate of the authority. */
function writeFiles(folder: string, ports: Ports, options: ControlPlaneOptions): string {
  const validity = {
    notBefore: new Date(Date.now() - 3_600_000),
    notAfter: new Date(Date.now() + 30 * DAY_MS),
  };
  const authority = makeAuthority({ name: 'test-ca', ...validity });
  const server = issueCertificate(authority, {
    name: 'kube-apiserver',
    dnsNames: ['localhost', 'kubernetes.default.svc'],
    ipAddresses: ['127.0.0.1', '10.0.0.1'],
    ...validity,
  });
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const kubeconfig = (user: string) => ({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'test',
        cluster: { server: `https://127.0.0.1:${ports.api}`, 'certificate-authority': 'ca.crt' },
      },
    ],
    users: [{ name: user, user: { token: tokenOf(user) } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user } }],
    'current-context': 'test',
  });
  const scheduler = {
    apiVersion: 'kubescheduler.config.k8s.io/v1',
    kind: 'KubeSchedulerConfiguration',
    // Without these it binds at most 50 pods a second.
    clientConnection: { kubeconfig: join(folder, 'scheduler.kubeconfig'), qps: 2000, burst: 4000 },
    leaderElection: { leaderElect: false },
  };
  const files: Readonly<Record<string, string>> = {
    'ca.crt': authority.certificate,
    'apiserver.crt': server.certificate,
    'apiserver.key': server.key,
    'sa.key': privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    'sa.pub': publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    'tokens.csv': tokenTable(options, tokenOf),
    'scheduler.kubeconfig': JSON.stringify(kubeconfig('scheduler')),
    'controllers.kubeconfig': JSON.stringify(kubeconfig('controllers')),
    'scheduler.json': JSON.stringify(scheduler),
  };
  mkdirSync(join(folder, 'etcd'), { mode: 0o700 });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 });
  return authority.certificate;
}

function tokenTable(options: ControlPlaneOptions, tokenFor: (user: string) => string): string {
  const users = new Map([...Object.entries(SYSTEM_USERS), ...usersOf(options)]);
  const lines = [...users].map(
    ([user, { name, groups }]) => `${tokenFor(user)},${name},uid-${user},"${groups.join(',')}"\n`,
  );
  return lines.join('');
}

function etcdArgs({ etcd, peer }: Ports): readonly string[] {
  const client = `http://127.0.0.1:${etcd}`;
  const peers = `http://127.0.0.1:${peer}`;
  return [
    '--name=test',
    '--data-dir=etcd',
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peers}`,
    `--initial-advertise-peer-urls=${peers}`,
    `--initial-cluster=test=${peers}`,
    '--unsafe-no-fsync',
  ];
}

function apiServerArgs({ api, etcd }: Ports): readonly string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${etcd}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${api}`,
    '--advertise-address=127.0.0.1',
    '--endpoint-reconciler-type=none',
    '--tls-cert-file=apiserver.crt',
    '--tls-private-key-file=apiserver.key',
    '--client-ca-file=ca.crt',
    '--service-account-issuer=https://kubernetes.default.svc',
    '--service-account-key-file=sa.pub',
    '--service-account-signing-key-file=sa.key',
    '--token-auth-file=tokens.csv',
    '--enable-bootstrap-token-auth',
    '--authorization-mode=RBAC',
    '--service-cluster-ip-range=10.0.0.0/16',
  ];
}

function controllerArgs({ nodeMonitorGraceSeconds = 300 }: ControlPlaneOptions): readonly string[] {
  return [
    '--kubeconfig=controllers.kubeconfig',
    '--leader-elect=false',
    '--secure-port=0',
    '--use-service-account-credentials=true',
    '--service-account-private-key-file=sa.key',
    '--root-ca-file=ca.crt',
    '--kube-api-qps=2000',
    '--kube-api-burst=4000',
    `--node-monitor-grace-period=${nodeMonitorGraceSeconds}s`,
    '--node-monitor-period=1s',
    `--controllers=${CONTROLLERS.join(',')}`,
  ];
}

class Processes {
  readonly folder: string;
  readonly #programs: string;
  readonly #running = new Map<Program, ChildProcess>();
  readonly #killAll = (): void => {
    for (const child of this.#running.values()) child.kill('SIGKILL');
  };

  constructor(programs: string, folder: string) {
    this.#programs = programs;
    this.folder = folder;
    // A test that ends early must not leave them behind.
    process.once('exit', this.#killAll);
  }

  start(program: Program, args: readonly string[]): void {
    const log = openSync(join(this.folder, `${program}.log`), 'a');
    const child = spawn(join(this.#programs, program), args, {
      cwd: this.folder,
      stdio: ['ignore', log, log],
      // Fewer collections: with tokens this halves the CPU of the API server.
      env: { ...process.env, GOGC: '400' },
    });
    closeSync(log);
    this.#running.set(program, child);
    child.once('exit', () => {
      if (this.#running.get(program) === child) this.#running.delete(program);
    });
    child.once('error', () => {});
  }

  /** Waits until `isReady` returns true; errors count as no. Fails early if a process has ended. */
  async ready(what: string, isReady: () => Promise<boolean>): Promise<void> {
    const started = [...this.#running.keys()];
    const poll = async (): Promise<boolean> => {
      const ended = started.find((program) => !this.#running.has(program));
      if (ended !== undefined) throw new Hopeless(`${ended} ended:\n${this.#log(ended)}`);
      try {
        return await isReady();
      } catch {
        return false;
      }
    };
    try {
      await eventually(`${what} is ready`, poll, START_MS);
    } catch (error) {
      const logs = started.map((program) => `${program}:\n${this.#log(program)}`);
      throw new Error(`${(error as Error).message}\n${logs.join('\n')}`, { cause: error });
    }
  }

  async kill(program: Program): Promise<void> {
    const child = this.#running.get(program);
    if (child === undefined) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((program) => this.kill(program)));
    process.removeListener('exit', this.#killAll);
    rmSync(this.folder, { recursive: true, force: true });
  }

  #log(program: Program): string {
    const text = readFileSync(join(this.folder, `${program}.log`), 'utf8');
    const lines = text.trimEnd().split('\n').slice(-LOG_LINES);
    return lines.map((line) => line.slice(0, LOG_LINE)).join('\n');
  }
}
