// A Kubernetes control plane for tests, real or fake, behind one interface, so that one suite runs on both. Several may
// run at once, each with its own ports and state.
//
//   const plane = await startControlPlane('fake');              // or 'real', if findKubebox().folder !== null
//   await plane.apply(manifests);                               // as administrator
//   const client = plane.client('operator');                    // with the rights that the manifests grant
//   await plane.stop();

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  apiVersionOf,
  fixedText,
  HttpKubeClient,
  type KubeConnection,
  type KubeObject,
  pathOf,
  RESOURCES,
  type Resource,
  staticCredentials,
} from '../../src/operator/kube/index.ts';
import type { ApiServer } from './api-server.ts';
import type { User } from './rbac.ts';

export type Target = 'fake' | 'real';

/** Service account that the manifests of the operator bind. */
export const OPERATOR: User = {
  name: 'system:serviceaccount:bigfleet-system:bigfleet-operator',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:bigfleet-system'],
};

export interface ControlPlaneOptions {
  /** Users by name; each has the token NAME-token. 'admin' and 'operator' exist in any case. */
  readonly users?: Readonly<Record<string, User>>;
  /**
   * A node whose Lease is older than this becomes NotReady and its pods are evicted. Default 300 s: a busy machine renews
   * Leases late, and a real controller manager then deletes pods.
   */
  readonly nodeMonitorGraceSeconds?: number;
  /** Of the fake: see FakeApiOptions. */
  readonly seed?: number;
}

export interface ApplyQuery {
  /** Nothing changes. */
  readonly dryRun?: 'All';
}

export interface ControlPlane {
  readonly target: Target;
  readonly url: string;
  /** Client with all rights. */
  readonly admin: HttpKubeClient;
  /** The fake, for faults; null for a real one. */
  readonly fake: ApiServer | null;
  /** Default 'operator'. */
  connection(user?: string): KubeConnection;
  client(user?: string): HttpKubeClient;
  /** Path of a kubeconfig file. `server`: the URL of a proxy without TLS in front of the API server. */
  kubeconfig(user?: string, server?: string): string;
  /** Server-side apply as administrator, in the order of the list. Returns when the API serves custom resources among them. */
  apply(objects: readonly KubeObject[], query?: ApplyQuery): Promise<void>;
  /** Kills the API server. Objects stay. */
  stopApiServer(): Promise<void>;
  startApiServer(): Promise<void>;
  /** Whether the API server has been started again: a real one refuses requests with 403 until it knows its roles. */
  readonly wasRestarted: boolean;
  /**
   * The API server refuses the token of a user from now on, open connections included. The returned function writes the
   * one that it accepts instead to the file that the kubeconfig of the user names.
   */
  rotateToken(user?: string): Promise<() => void>;
  /** Forgets all past versions: watches from an earlier one end with 410. Restarts a real API server. */
  compact(): Promise<void>;
  /** Ends everything at once. */
  stop(): Promise<void>;
}

export async function startControlPlane(
  target: Target,
  options: ControlPlaneOptions = {},
): Promise<ControlPlane> {
  // Loaded on demand: neither needs the other.
  if (target === 'fake') return await (await import('./fake-control-plane.ts')).startFake(options);
  return await (await import('./real-control-plane.ts')).startReal(options);
}

export function usersOf({ users = {} }: ControlPlaneOptions): ReadonlyMap<string, User> {
  const admin: User = { name: 'admin', groups: ['system:masters'] };
  return new Map(Object.entries({ admin, operator: OPERATOR, ...users }));
}

export function tokenOf(user: string): string {
  return `${user}-token`;
}

/** What both targets have in common: clients, kubeconfig files and apply. */
export class Access {
  readonly admin: HttpKubeClient;
  readonly #url: string;
  readonly #ca: string | null;
  readonly #folder = mkdtempSync(join(tmpdir(), 'bigfleet-kube-'));
  readonly #clients: HttpKubeClient[] = [];

  constructor(url: string, ca: string | null) {
    this.#url = url;
    this.#ca = ca;
    this.admin = this.client('admin');
  }

  connection(user = 'operator'): KubeConnection {
    return {
      server: this.#url,
      serverName: null,
      ca: this.#ca === null ? null : fixedText(this.#ca),
      skipTlsVerify: false,
      credentials: staticCredentials({ token: tokenOf(user) }, `the token of ${user}`),
      namespace: 'default',
      origin: 'the test',
    };
  }

  client(user = 'operator'): HttpKubeClient {
    const limits = { qps: 10_000, burst: 10_000, maxInFlight: 64 };
    const client = new HttpKubeClient({
      connection: this.connection(user),
      userAgent: `test-${user}`,
      limits,
    });
    this.#clients.push(client);
    return client;
  }

  /** The token is in a file of its own, as that of a service account. */
  kubeconfig(user = 'operator', server = this.#url): string {
    const path = join(this.#folder, `${user}.kubeconfig`);
    const tokenFile = this.writeToken(user, tokenOf(user));
    const data =
      this.#ca === null || server !== this.#url
        ? {}
        : { 'certificate-authority-data': Buffer.from(this.#ca).toString('base64') };
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'test', cluster: { server, ...data } }],
      users: [{ name: user, user: { tokenFile } }],
      contexts: [{ name: 'test', context: { cluster: 'test', user } }],
      'current-context': 'test',
    };
    writeFileSync(path, JSON.stringify(config));
    return path;
  }

  writeToken(user: string, token: string): string {
    const path = join(this.#folder, `${user}.token`);
    writeFileSync(path, token, { mode: 0o600 });
    return path;
  }

  async apply(objects: readonly KubeObject[], query: ApplyQuery = {}): Promise<void> {
    for (const object of objects) {
      const resource = resourceOf(object);
      const { name, namespace } = object.metadata;
      const path = pathOf(resource, {
        namespace: resource.isNamespaced ? (namespace ?? 'default') : undefined,
        name,
      });
      await this.admin.patch(path, 'apply', object, {
        fieldManager: 'kubectl',
        force: true,
        query: { ...query },
      });
    }
    if (query.dryRun !== undefined) return;
    const definitions = objects.filter(({ kind }) => kind === RESOURCES.customResourceDefinitions.kind);
    await Promise.all(definitions.map((definition) => this.#served(definition)));
  }

  close(): void {
    for (const client of this.#clients) client.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** `Established` comes about two seconds before the path answers, so the path is asked. */
  async #served(definition: KubeObject): Promise<void> {
    const { group, names, versions } = (definition as unknown as { spec: DefinitionSpec }).spec;
    for (const { name, served } of versions) {
      if (!served) continue;
      await eventually(`${names.plural}.${group} is served`, async () => {
        await this.admin.list(`/apis/${group}/${name}/${names.plural}`, { query: { limit: 1 } });
        return true;
      });
    }
  }
}

interface DefinitionSpec {
  readonly group: string;
  readonly names: { readonly plural: string };
  readonly versions: readonly { readonly name: string; readonly served: boolean }[];
}

/** Kinds of manifests that are not among the resources of the operator. */
const OTHERS: readonly Resource[] = [
  { base: '/api/v1', plural: 'services', kind: 'Service', isNamespaced: true },
  { base: '/apis/apps/v1', plural: 'replicasets', kind: 'ReplicaSet', isNamespaced: true },
  { base: '/apis/storage.k8s.io/v1', plural: 'storageclasses', kind: 'StorageClass', isNamespaced: false },
];

function resourceOf({ apiVersion, kind }: KubeObject): Resource {
  const all: readonly Resource[] = [...Object.values(RESOURCES), ...OTHERS];
  const found = all.find((each) => each.kind === kind && apiVersionOf(each) === apiVersion);
  if (found === undefined) throw new Error(`tests know no path for ${apiVersion} ${kind}`);
  return found;
}

const POLL_MS = 50;

/** An error that `eventually` passes on at once, since waiting cannot help. */
export class Hopeless extends Error {}

/** Asks until the answer is true. An error counts as no: API servers refuse requests for a moment all the time. */
export async function eventually(
  what: string,
  isTrue: () => Promise<boolean> | boolean,
  timeoutMs = 60_000,
): Promise<void> {
  const lastMs = Date.now() + timeoutMs;
  for (;;) {
    let cause: unknown;
    try {
      if (await isTrue()) return;
    } catch (error) {
      if (error instanceof Hopeless) throw error;
      cause = error;
    }
    if (Date.now() > lastMs) {
      const trouble =
        cause === undefined
          ? ''
          : `; last error: ${cause instanceof Error ? cause.message : JSON.stringify(cause)}`;
      throw new Error(`not within ${timeoutMs / 1000} s: ${what}${trouble}`, { cause });
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Runs all of them in order, each although an earlier one failed, and throws the first error. */
async function runAll(ends: readonly (() => unknown)[]): Promise<void> {
  const errors: unknown[] = [];
  for (const end of ends)
    try {
      await end();
    } catch (error) {
      errors.push(error);
    }
  if (errors.length > 0) throw errors[0];
}

/** Runs a body that collects what must end after it. An error of the body counts more than one of an end. */
export async function withEnds(body: (ends: (() => unknown)[]) => Promise<void>): Promise<void> {
  const ends: (() => unknown)[] = [];
  try {
    await body(ends);
  } catch (error) {
    await runAll(ends).catch(() => {});
    throw error;
  }
  await runAll(ends);
}
