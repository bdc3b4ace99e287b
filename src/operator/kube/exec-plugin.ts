// Credential plugins of a kubeconfig (`users[].user.exec`): commands such as `aws eks get-token`, with which managed
// clusters authenticate people. The result is cached until shortly before it expires or the API server refuses it. Used
// by kubeconfig.ts, for `bigfleet explain pod` and operators outside of their cluster.

import { execFile } from 'node:child_process';
import * as z from 'zod';
import { BigFleetError, printable } from '../../model/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import { given, TIME, validate } from '../../runtime/validation.ts';
import type { CredentialSource, Credentials } from './connection.ts';

/** A plugin may open a browser and wait for its user. */
const TIMEOUT_MS = 120_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;
/** Credentials are renewed this long before they expire, because a request takes time to arrive. */
const MARGIN_MS = 60_000;

const VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'] as const;

/** `users[].user.exec`. */
export const EXEC = z.object({
  apiVersion: z.enum(VERSIONS),
  command: z.string().min(1),
  args: given(z.array(z.string()), []),
  env: given(z.array(z.object({ name: z.string().min(1), value: z.string() })), []),
  installHint: given(z.string(), ''),
  provideClusterInfo: given(z.boolean(), false),
  interactiveMode: given(z.string(), 'IfAvailable'),
});

export type ExecSettings = z.output<typeof EXEC>;

export interface ExecCluster {
  readonly server: string;
  readonly caData: string | null;
  readonly skipTlsVerify: boolean;
  readonly serverName: string | null;
}

const OUTPUT = z.object({
  kind: z.literal('ExecCredential'),
  apiVersion: z.enum(VERSIONS),
  status: z.object({
    token: given(z.string(), ''),
    clientCertificateData: given(z.string(), ''),
    clientKeyData: given(z.string(), ''),
    expirationTimestamp: given(TIME, null),
  }),
});

export class ExecCredentials implements CredentialSource {
  readonly origin: string;
  readonly #settings: ExecSettings;
  readonly #cluster: ExecCluster;
  readonly #folder: string;
  readonly #clock: Clock;
  #cached: { readonly credentials: Credentials; readonly expiresMs: number } | null = null;
  /** Requests that come while the command runs share its result. */
  #running: Promise<Credentials> | null = null;

  constructor(settings: ExecSettings, cluster: ExecCluster, folder: string, clock: Clock) {
    this.#settings = settings;
    this.#cluster = cluster;
    this.#folder = folder;
    this.#clock = clock;
    this.origin = `the credentials of ${settings.command}`;
  }

  current(): Credentials | Promise<Credentials> {
    const cached = this.#cached;
    if (cached !== null && this.#clock.now() < cached.expiresMs - MARGIN_MS) return cached.credentials;
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  refused(): void {
    this.#cached = null;
  }

  async #run(): Promise<Credentials> {
    const { command } = this.#settings;
    const output = await this.#output();
    let value: unknown;
    try {
      value = JSON.parse(output);
    } catch {
      throw this.#error(`printed no JSON: ${JSON.stringify(printable(output.slice(0, 80)))}`);
    }
    const result = validate(OUTPUT, value);
    if (!result.ok) {
      const problems = result.problems.map(({ path, message }) => `${path}: ${message}`);
      throw this.#error(`printed no usable ExecCredential: ${problems.join(' ')}`);
    }
    const { token, clientCertificateData, clientKeyData, expirationTimestamp } = result.value.status;
    if (token === '' && (clientCertificateData === '' || clientKeyData === ''))
      throw this.#error('printed neither a token nor a certificate with its key');
    const credentials = {
      ...(token === '' ? {} : { token }),
      ...(clientCertificateData === '' ? {} : { certificate: clientCertificateData, key: clientKeyData }),
    };
    const expiresMs = expirationTimestamp ?? Number.POSITIVE_INFINITY;
    if (expiresMs <= this.#clock.now())
      throw this.#error(
        `printed credentials that expired at ${new Date(expiresMs).toISOString()}; log in to ${command} again`,
      );
    this.#cached = { credentials, expiresMs };
    return credentials;
  }

  #output(): Promise<string> {
    const { command, args, env } = this.#settings;
    const own = Object.fromEntries(env.map(({ name, value }) => [name, value]));
    const options = {
      env: { ...process.env, ...own, KUBERNETES_EXEC_INFO: JSON.stringify(this.#info()) },
      cwd: this.#folder,
      timeout: TIMEOUT_MS,
      maxBuffer: MAX_OUTPUT_BYTES,
      encoding: 'utf8',
    } as const;
    return new Promise((resolve, reject) => {
      execFile(command, args, options, (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(this.#error(`failed: ${reasonOf(error, stderr)}`));
      });
    });
  }

  #info(): unknown {
    const { apiVersion, provideClusterInfo } = this.#settings;
    const { server, caData, skipTlsVerify, serverName } = this.#cluster;
    const cluster = {
      server,
      ...(caData === null ? {} : { 'certificate-authority-data': Buffer.from(caData).toString('base64') }),
      ...(skipTlsVerify ? { 'insecure-skip-tls-verify': true } : {}),
      ...(serverName === null ? {} : { 'tls-server-name': serverName }),
    };
    const spec = { interactive: false, ...(provideClusterInfo ? { cluster } : {}) };
    return { kind: 'ExecCredential', apiVersion, spec };
  }

  #error(what: string): BigFleetError {
    const { command, installHint } = this.#settings;
    const hint = installHint === '' ? '' : ` ${printable(installHint.trim().slice(0, 500))}`;
    return new BigFleetError('BF_KUBECONFIG', `The credential plugin ${command} ${what}.${hint}`);
  }
}

function reasonOf(
  error: Error & { readonly code?: unknown; readonly killed?: boolean },
  stderr: string,
): string {
  if (error.code === 'ENOENT') return 'it is not installed, or not in PATH';
  if (error.killed === true) return `it did not end within ${TIMEOUT_MS / 1000} s, or printed too much`;
  const said = printable(stderr.trim().slice(-300));
  return said === '' ? `it ended with ${String(error.code)}` : said;
}
