// The connection of a process inside a pod: the service account that the kubelet mounts, and the address in the
// environment. Tokens expire after about an hour; the kubelet replaces the file before. Used by `bigfleet operator`.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BigFleetError } from '../../model/index.ts';
import { type KubeConnection, tokenFileCredentials, WatchedFile } from './connection.ts';

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

type Environment = Readonly<Record<string, string | undefined>>;

/** Whether this process runs in a pod with a service account. */
export function isInCluster(env: Environment = process.env, folder = SERVICE_ACCOUNT): boolean {
  return (env['KUBERNETES_SERVICE_HOST'] ?? '') !== '' && existsSync(join(folder, 'token'));
}

export function inClusterConnection(
  env: Environment = process.env,
  folder = SERVICE_ACCOUNT,
): KubeConnection {
  const host = env['KUBERNETES_SERVICE_HOST'] ?? '';
  const port = env['KUBERNETES_SERVICE_PORT'] ?? '443';
  if (host === '')
    throw new BigFleetError(
      'BF_KUBECONFIG',
      'KUBERNETES_SERVICE_HOST is not set, so this process is not in a pod; give --kubeconfig.',
    );
  if (!/^\d{1,5}$/.test(port))
    throw new BigFleetError(
      'BF_KUBECONFIG',
      `KUBERNETES_SERVICE_PORT is ${JSON.stringify(port)}, not a port.`,
    );
  const ca = new WatchedFile(join(folder, 'ca.crt'));
  const token = join(folder, 'token');
  const namespace = new WatchedFile(join(folder, 'namespace'));
  const credentials = tokenFileCredentials(token);
  try {
    ca.read();
    void credentials.current();
  } catch (cause) {
    throw new BigFleetError(
      'BF_KUBECONFIG',
      `${(cause as Error).message}. The pod needs a service account with automountServiceAccountToken.`,
      { cause },
    );
  }
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    serverName: null,
    ca,
    skipTlsVerify: false,
    credentials,
    namespace: readOr(namespace, 'default'),
    origin: 'the service account of this pod',
  };
}

function readOr(file: WatchedFile, fallback: string): string {
  try {
    return file.read().trim();
  } catch {
    return fallback;
  }
}
